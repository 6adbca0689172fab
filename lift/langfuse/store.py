"""One dataset on the server: read, listed and written, each item once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from urllib.parse import quote

from lift.daemons import each
from lift.langfuse.client import Connection
from lift.langfuse.contents import Content, marked, same
from lift.langfuse.faults import Refused, is_entry, odd

DATASETS, ITEMS = "/api/public/v2/datasets", "/api/public/dataset-items"

WRITERS = 16
"""Requests at once."""

Told = Callable[[int, int], None]
"""Told how many items are written, and of how many."""


class Store(NamedTuple):
    """A dataset of this name."""

    connection: Connection
    name: str

    def head(self) -> Content | None:
        """The dataset as the server has it; None where it has none of that name.

        Raises:
            LangfuseError: it cannot be asked.
        """
        try:
            there = self.connection.get(f"{DATASETS}/{quote(self.name, safe='')}")
        except Refused as refused:
            if refused.status != 404:
                raise
            return None
        self._keep_id(there)
        return {**there, "description": there.get("description") or ""}

    def items(self) -> dict[str, Content]:
        """Id → item, of all that are not archived.

        Raises:
            LangfuseError: it cannot be asked.
        """
        listed = self.connection.numbered(ITEMS, {"datasetName": self.name})
        return {item["id"]: item for item in listed}

    def write_head(self, head: Content) -> None:
        """Make the dataset, or write its description, metadata and schemas.

        Raises:
            LangfuseError: it cannot be written.
        """
        try:
            made = self.connection.post(DATASETS, {"name": self.name, **marked(head)}).body
        except Refused as refused:
            if refused.status == 400:  # schemas are held against what is there already
                refused.fix = "correct or archive the items that others added, then sync again"
            raise
        self._keep_id(made)

    def active(self, id: str, content: Content) -> Content:
        """The request that writes an item; one that was archived is back."""
        return {"datasetName": self.name, "id": id, **marked(content), "status": "ACTIVE"}

    def archived(self, id: str) -> Content:
        """The request that archives an item."""
        return {"datasetName": self.name, "id": id, "status": "ARCHIVED"}

    def write_items(
        self, bodies: Iterable[Content], *, told: Told = lambda _done, _all: None
    ) -> None:
        """Write items, some at once; the first error stops those that have not begun.

        Args:
            bodies: made by `active` and `archived`.
            told: first of none, then of each that is written, in their order.

        Raises:
            LangfuseError: one cannot be written.
        """
        wanted: Sequence[Content] = list(bodies)
        if not wanted:
            return
        told(0, len(wanted))
        for number, _ in enumerate(each(self._write, wanted, workers=WRITERS), 1):
            told(number, len(wanted))

    def _write(self, body: Content) -> None:
        self.connection.make(ITEMS, body, found=lambda: self._found(body))

    def _found(self, body: Content) -> Content | None:
        try:
            there = self.connection.get(f"{ITEMS}/{quote(body['id'], safe='')}")
        except Refused as refused:
            if refused.status != 404:
                raise
            return None
        return there if same(body, there) else None

    def _keep_id(self, there: Content) -> None:
        if not is_entry(there):
            raise odd(f"{self.connection.base_url}{DATASETS}")
        self.connection.dataset_ids[self.name] = str(there["id"])


def dataset_id(connection: Connection, dataset: str) -> str | None:
    """The id that the server gave to a dataset; None where it has none of that name.

    Raises:
        LangfuseError: it cannot be asked.
    """
    if dataset not in connection.dataset_ids:
        Store(connection, dataset).head()
    return connection.dataset_ids.get(dataset)
