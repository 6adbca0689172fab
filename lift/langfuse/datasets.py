"""Datasets to Langfuse, by difference: what is there already is not written again.

Every item written carries a mark: that lift owns it, and the hash of what it wrote. An item
without the mark is somebody else's and never touched; one whose content has another hash than
its mark was edited in the UI.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, NamedTuple

from lift.dataset import Dataset
from lift.langfuse.client import Connection
from lift.langfuse.contents import (
    DATASET_FIELDS,
    ITEM_FIELDS,
    SCHEMAS,
    Content,
    contents,
    state,
)
from lift.langfuse.masking import check_names
from lift.langfuse.store import Store, Told
from lift.langfuse.wire import Redact, prepared


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
    told: Told = lambda _done, _all: None,
) -> Synced:
    """Make Langfuse's dataset like ours.

    Args:
        connection: where to.
        dataset: the source of truth.
        redact: masks strings; the difference is of masked content.
        check: only say what would be written.
        force: write over what was edited in the UI.
        told: how many items are written, and of how many.

    Raises:
        LangfuseError: it cannot be read or written, or a name may not leave; what was written
            stays, and doing it again goes on from there.
    """
    names = [name for item in dataset.items for name in (item.id, item.category)]
    check_names([dataset.name, *names], redact)
    items = [item.model_dump(mode="json") for item in dataset.items]
    local = contents(dataset.name, items, redact)
    head = prepared(_head(dataset), redact)
    store = Store(connection, dataset.name)
    there = store.head()
    remote = store.items() if there else {}
    found = _difference(dataset.name, head, there, local, remote, force=force)
    if not check:
        if dataset.name in (*found.created, *found.updated):
            store.write_head(head)
        wanted = [id for id in (*found.created, *found.updated) if id != dataset.name]
        bodies = [store.active(id, local[id]) for id in wanted]
        store.write_items([*bodies, *map(store.archived, found.archived)], told=told)
    return found


class Shelves:
    """Datasets that are to hold the items of trials. What the server has is listed once.

    Others' items are left as they are, and so is what was edited in the UI.

    Args:
        connection: where to.
        redact: masks strings.
    """

    def __init__(self, connection: Connection, redact: Redact) -> None:
        self._connection, self._redact = connection, redact
        self._remote: dict[str, dict[str, Content]] = {}

    def hold(self, dataset: str, items: Iterable[Mapping[str, Any]]) -> str:
        """Have a dataset hold these items; returns its id there.

        Args:
            dataset: its name.
            items: as Item.model_dump(mode="json") gives them.

        Raises:
            LangfuseError: it cannot be read or written.
        """
        store = Store(self._connection, dataset)
        local = contents(dataset, items, self._redact)
        remote = self._remote.pop(dataset, None)  # whoever fails below lists it again
        if remote is None:
            remote = _listed(store)
        found = {id: state(content, remote.get(id), ITEM_FIELDS) for id, content in local.items()}
        wanted = [id for id in local if found[id] in ("created", "updated")]
        bodies = {id: store.active(id, local[id]) for id in wanted}
        store.write_items(bodies.values())
        self._remote[dataset] = remote | bodies
        return self._connection.dataset_ids[dataset]


def _listed(store: Store) -> dict[str, Content]:
    if store.head() is not None:
        return store.items()
    store.write_head({"description": "", "metadata": {}, **SCHEMAS})  # the rest comes with a sync
    return {}


def _head(dataset: Dataset) -> Content:
    about = {"skill": dataset.skill, "system": dataset.system}
    return {"description": dataset.description, "metadata": about, **SCHEMAS}


def _difference(
    name: str,
    head: Content,
    there: Content | None,
    local: Mapping[str, Content],
    remote: Mapping[str, Content],
    *,
    force: bool,
) -> Synced:
    states = {id: state(content, remote.get(id), ITEM_FIELDS) for id, content in local.items()}
    gone = remote.keys() - local.keys()
    states |= {id: state(None, remote[id], ITEM_FIELDS) for id in remote if id in gone}
    about = state(head, there, DATASET_FIELDS)
    if about in ("created", "updated", "edited"):
        states = {name: about, **states}
    return _grouped(states, force=force, gone=gone)


def _grouped(states: Mapping[str, str], *, force: bool, gone: Set[str]) -> Synced:
    """The ids by what is to be done with them.

    Args:
        states: id → a field of Synced.
        force: whether edited ones are written.
        gone: ids that are no more ours.
    """
    if force:
        forced = {id: "archived" if id in gone else "updated" for id in states}
        states = {id: forced[id] if state == "edited" else state for id, state in states.items()}
    named = {
        field: tuple(id for id, state in states.items() if state == field)
        for field in Synced._fields
    }
    return Synced(**named)
