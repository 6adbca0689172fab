"""Datasets to Langfuse, by difference: what is there already is not written again.

Every item written carries a mark: that lift owns it, and the hash of what it wrote. An item
without the mark is somebody else's and never touched; one whose content has another hash than
its mark was edited in the UI.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple
from urllib.parse import quote

from lift.dataset import Dataset
from lift.langfuse import ids
from lift.langfuse.client import Connection
from lift.langfuse.faults import Refused, Unclear, is_entry, odd
from lift.langfuse.masking import masked_item
from lift.langfuse.traces import expected_output
from lift.langfuse.wire import Redact, prepared
from lift.schema import digest

MARK = "_sync"
SOURCE = "lift"
DATASETS, ITEMS = "/api/public/v2/datasets", "/api/public/dataset-items"
WRITERS = 8
"""Requests at once."""

Content = dict[str, Any]
"""What an item or a dataset holds, without the mark."""

ITEM_FIELDS = ("input", "expectedOutput", "metadata")
DATASET_FIELDS = ("description", "metadata")


class Synced(NamedTuple):
    """What a sync did, or would do: ids of items in Langfuse.

    The dataset itself is named like an item where it was written.
    """

    created: tuple[str, ...] = ()
    """New, or back from the archive."""
    updated: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    """Ours, and no more in the dataset."""
    unchanged: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    """Somebody else's: not touched."""
    edited: tuple[str, ...] = ()
    """Changed in the UI since they were written: not touched, unless by force."""

    @property
    def writes(self) -> int:
        """How many of them are, or would be, written."""
        return len(self.created) + len(self.updated) + len(self.archived)


def sync(
    connection: Connection,
    dataset: Dataset,
    *,
    redact: Redact,
    check: bool = False,
    force: bool = False,
) -> Synced:
    """Make Langfuse's dataset like ours.

    Args:
        connection: where to.
        dataset: the source of truth.
        redact: masks strings; the difference is of masked content.
        check: only say what would be written.
        force: write over what was edited in the UI.

    Raises:
        LangfuseError: it cannot be read or written; what was written stays, and doing it again
            goes on from there.
    """
    about = {"skill": dataset.skill, "system": dataset.system}
    head = {"description": dataset.description, "metadata": about}
    items = [item.model_dump(mode="json") for item in dataset.items]
    local = _contents(dataset.name, items, redact)
    options = _Options(archive=True, force=force, check=check)
    return _Sync(connection, dataset.name, prepared(head, redact), local, options).all()


def ensure(
    connection: Connection, dataset: str, items: Iterable[Mapping[str, Any]], *, redact: Redact
) -> str:
    """Have a dataset hold these items; returns its id there.

    The others are left as they are, and so is what was edited in the UI.

    Args:
        connection: where to.
        dataset: its name.
        items: as Item.model_dump(mode="json") gives them.
        redact: masks strings.

    Raises:
        LangfuseError: it cannot be read or written.
    """
    _Sync(connection, dataset, None, _contents(dataset, items, redact), _Options()).all()
    return connection.dataset_ids[dataset]


def dataset_id(connection: Connection, dataset: str) -> str | None:
    """The id that the server gave to a dataset; None where it has none of that name.

    Raises:
        LangfuseError: it cannot be asked.
    """
    if dataset not in connection.dataset_ids:
        _found(connection, dataset)
    return connection.dataset_ids.get(dataset)


class _Options(NamedTuple):
    archive: bool = False
    force: bool = False
    check: bool = False


class _Sync(NamedTuple):
    """One dataset, ours and theirs."""

    connection: Connection
    name: str
    head: Content | None
    """Description and metadata of the dataset; None leaves them as they are."""
    local: Mapping[str, Content]
    options: _Options

    def all(self) -> Synced:
        """Write what differs; returns what that was."""
        there = _found(self.connection, self.name)
        found = self._difference(there)
        if self.options.check:
            return found
        self._write_head(found)
        try:
            self._write_items(found)
        except Unclear:
            # what broke off may have been taken, so look again; the same write is a version more
            self._write_items(self._difference(_found(self.connection, self.name)))
        return found

    def _difference(self, there: Content | None) -> Synced:
        remote: dict[str, Content] = {}
        if there is not None:
            listed = self.connection.numbered(ITEMS, {"datasetName": self.name})
            remote = {item["id"]: item for item in listed}
        states = {
            id: _state(content, remote.get(id), ITEM_FIELDS) for id, content in self.local.items()
        }
        if self.options.archive:
            states |= {
                id: _state(None, remote[id], ITEM_FIELDS) for id in remote if id not in self.local
            }
        head = _state(self.head, there, DATASET_FIELDS)
        if head == "created" or (head in ("updated", "edited") and self.head is not None):
            states = {self.name: head, **states}
        return _grouped(states, self.options, gone=remote.keys() - self.local.keys())

    def _write_head(self, found: Synced) -> None:
        if self.name in (*found.created, *found.updated):
            head = self.head or {"description": "", "metadata": {}}
            made = self.connection.post(DATASETS, {"name": self.name, **_marked(head)}).body
            _keep_id(self.connection, self.name, made)

    def _write_items(self, found: Synced) -> None:
        wanted = [id for id in (*found.created, *found.updated) if id != self.name]
        bodies = [
            {"datasetName": self.name, "id": id, **_marked(self.local[id]), "status": "ACTIVE"}
            for id in wanted
        ]
        bodies += [
            {"datasetName": self.name, "id": id, "status": "ARCHIVED"} for id in found.archived
        ]
        _at_once(self._write_item, bodies)

    def _write_item(self, body: Content) -> None:
        # every write is a version of the item, so none is repeated blindly
        self.connection.post(ITEMS, body, repeatable=False)


def _contents(
    dataset: str, items: Iterable[Mapping[str, Any]], redact: Redact
) -> dict[str, Content]:
    masked = (masked_item(item, redact) for item in items)
    return {ids.item_id(dataset, item["id"]): _content(item) for item in masked}


def _content(item: Mapping[str, Any]) -> Content:
    names = ("category", "tags", "quick")
    return {
        "input": {"prompt": item["prompt"]},
        "expectedOutput": expected_output(item),
        "metadata": {name: item[name] for name in names if name in item},
    }


def _found(connection: Connection, name: str) -> Content | None:
    """The dataset as the server has it."""
    try:
        there = connection.get(f"{DATASETS}/{quote(name, safe='')}")
    except Refused as refused:
        if refused.status != 404:
            raise
        return None
    _keep_id(connection, name, there)
    return {**there, "description": there.get("description") or ""}


def _keep_id(connection: Connection, name: str, there: Content) -> None:
    if not is_entry(there):
        raise odd(f"{connection.base_url}{DATASETS}")
    connection.dataset_ids[name] = str(there["id"])


def _grouped(states: Mapping[str, str], options: _Options, *, gone: Set[str]) -> Synced:
    """The ids by what is to be done with them.

    Args:
        states: id → a field of Synced.
        options: whether edited ones are written.
        gone: ids that are no more ours.
    """
    if options.force:
        forced = {id: "archived" if id in gone else "updated" for id in states}
        states = {id: forced[id] if state == "edited" else state for id, state in states.items()}
    named = {
        field: tuple(id for id, state in states.items() if state == field)
        for field in Synced._fields
    }
    return Synced(**named)


def _state(ours: Content | None, theirs: Content | None, fields: Iterable[str]) -> str:
    """What is to be done with an item, as a field of Synced.

    Args:
        ours: None where it is no more.
        theirs: None where it is not listed.
        fields: that make up its content.
    """
    if theirs is None:
        return "created"
    metadata = theirs.get("metadata")
    mark = metadata.get(MARK) if isinstance(metadata, dict) else None
    if not isinstance(mark, dict) or mark.get("source") != SOURCE:
        return "foreign"
    there = _hash({name: theirs.get(name) for name in fields})
    if ours is not None and there == _hash(ours):
        return "unchanged"
    if there != mark.get("hash"):
        return "edited"
    return "updated" if ours is not None else "archived"


def _marked(content: Content) -> Content:
    mark = {MARK: {"source": SOURCE, "hash": _hash(content)}}
    return {**content, "metadata": {**content["metadata"], **mark}}


def _hash(content: Content) -> str:
    """Identifies a content, as written or as it comes back."""
    metadata = content.get("metadata")
    if isinstance(metadata, dict):
        metadata = {name: value for name, value in metadata.items() if name != MARK}
    return digest(_normal({**content, "metadata": metadata}))


def _normal(value: Any) -> Any:
    """The value with 1 for 1.0: servers keep one kind of number."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _normal(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_normal(inner) for inner in value]
    return value


def _at_once(write: Callable[[Content], None], bodies: Iterable[Content]) -> None:
    """Write them all, some at once; the first error stops those that have not begun."""
    with ThreadPoolExecutor(WRITERS) as pool:
        for _ in pool.map(write, bodies):
            pass
