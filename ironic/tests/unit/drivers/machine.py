"""A node and a task as drivers see them, without a conductor behind them."""

import tempfile
import weakref
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from sqlalchemy.engine import Engine

from ironic.conductor import power
from ironic.core.clock import CLOCK, Clock
from ironic.core.context import RequestContext
from ironic.core.errors import InterfaceNotFoundInEntrypoint
from ironic.core.flows.node_waits import NodeWait
from ironic.db import NodeRecord, PortgroupRecord, Store
from ironic.db.column_types import decode_json, encode_json
from ironic.db.node_items import NodeItems
from ironic.drivers.contract import waits
from ironic.drivers.contract.interfaces import BaseInterface
from ironic.drivers.contract.task import BareDriver, HasInterfaces, Notes, Waiter
from ironic.tests.databases import sqlite_store

UUID = "0d8a1c62-5d4c-4b0c-8a2e-6f0f6a4f3b11"


class NoDatabase:
    """Where the record of a machine would go."""

    def save(self, record: Any) -> None:
        # It refuses what the store refuses.
        record.stored_changes()
        record.saved = record.as_dict()
        record.saved_waits = dict(record.pending_waits)

    def read_again(self, record: Any) -> dict[str, Any]:
        found: dict[str, Any] = record.form.of_all(record.saved)
        return found

    clock = CLOCK

    def now(self) -> datetime:
        return datetime(2026, 1, 1)


class Machine(NodeRecord, extra=("held_by", "held_token", "pending_waits", "saved", "saved_waits")):
    """A node's record; what was saved is kept apart, so that a forgotten save shows."""

    saved: dict[str, Any]
    saved_waits: dict[str, NodeWait | None]

    def __init__(self, **columns: Any) -> None:
        super().__init__(NoDatabase(), dict(self.form.defaults))
        usual = {"id": 1, "uuid": UUID, "driver": "fake-hardware", "provision_state": "manageable"}
        for name, value in {"saved": {}, "saved_waits": {}, **usual, **columns}.items():
            setattr(self, name, value)


class OwnStore:
    """A real store with node 1, made at its first use: a stand-in for tables is easily kinder than they are."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)

    @cached_property
    def _made(self) -> Store:
        directory = tempfile.TemporaryDirectory(prefix="ironic-tests-")
        store = sqlite_store(Path(directory.name))
        # Connections to BMCs that are kept have it for longer than the task.
        weakref.finalize(store, _remove, store.engine, directory)
        store.nodes.create({"driver": "fake-hardware"})
        return store


def _remove(engine: Engine, directory: "tempfile.TemporaryDirectory[str]") -> None:
    engine.dispose()
    directory.cleanup()


def items_of(items: NodeItems) -> list[dict[str, Any]]:
    """Return the stored items of node 1 with all columns, as values."""
    return items.values([column.name for column in items.table.c], 1)


@dataclass
class Work(HasInterfaces):
    """A task."""

    node: Machine = field(default_factory=Machine)
    store: Any = field(default_factory=OwnStore)
    context: RequestContext = field(default_factory=RequestContext)
    host: str = "here"
    shared: bool = False
    ports: Any = ()
    portgroups: Sequence[PortgroupRecord] = ()
    driver: BareDriver = field(default_factory=BareDriver)
    alternatives: dict[str, Any] = field(default_factory=dict)
    notes: Notes = field(default_factory=Notes)
    waiter: Waiter = Waiter.WORK
    clock: Clock = CLOCK

    def change_power(self, target: str, timeout: int | None = None) -> None:
        power.change(cast(Any, self), target, timeout)

    def upgrade_lock(self, purpose: str, retry: bool = True) -> None:
        self.shared = False

    def writing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def choices(self, kind: str) -> Sequence[str]:
        return [f"no-{kind}", *self.alternatives]

    def alternative(self, kind: str, name: str) -> Any:
        if name not in self.alternatives:
            raise InterfaceNotFoundInEntrypoint(kind=kind, name=name, enabled=", ".join(self.alternatives))
        return self.alternatives[name]


def remembered(task: Work, kind: str) -> dict[str, Any]:
    """Return what was saved of a wait of the node."""
    wait = task.node.saved_waits[kind]
    assert wait is not None
    found: dict[str, Any] = decode_json(encode_json(wait.memory))
    return found


def remember(task: Work, kind: str, **more: Any) -> None:
    """Change what was saved of a wait, as if the conductor had ended at another moment."""
    wait = task.node.saved_waits[kind]
    assert wait is not None
    task.node.saved_waits[kind] = replace(wait, memory={**wait.memory, **more})


def look(task: Work, interface: BaseInterface, kind: str) -> Any:
    """Look at a wait of the node as it was saved, as any conductor does; fail if there is none."""
    node = task.node
    node.driver_internal_info = decode_json(encode_json(node.saved["driver_internal_info"]))
    node.pending_waits = dict(node.saved_waits)
    wait = waits.of(task, kind)
    assert wait is not None
    name, _ = interface.looks[kind]
    return getattr(interface, name)(task, replace(wait, memory=remembered(task, kind)))


def work_on(**columns: Any) -> Work:
    """Return a task on a node with these columns."""
    return Work(Machine(**columns))
