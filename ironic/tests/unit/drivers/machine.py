"""A node and a task as drivers see them, without a database or a conductor behind them."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from ironic.conductor import power
from ironic.core.context import RequestContext
from ironic.core.errors import InterfaceNotFoundInEntrypoint
from ironic.db import NodeRecord, PortgroupRecord
from ironic.db.bmc_logins import Turn
from ironic.drivers.task import BareDriver, HasInterfaces, Notes

UUID = "0d8a1c62-5d4c-4b0c-8a2e-6f0f6a4f3b11"


class NoDatabase:
    """Where the record of a machine would go."""

    def save(self, record: Any) -> None:
        record.saved = record.as_dict()

    def read_again(self, record: Any) -> dict[str, Any]:
        return dict(record.saved)

    def now(self) -> datetime:
        return datetime(2026, 1, 1)


class Machine(NodeRecord, extra=("held_by", "held_token", "saved")):
    """A node's record; what was saved is kept apart, so that a forgotten save shows."""

    saved: dict[str, Any]

    def __init__(self, **columns: Any) -> None:
        super().__init__(NoDatabase(), dict(self.form.defaults))
        usual = {"id": 1, "uuid": UUID, "driver": "fake-hardware", "provision_state": "manageable"}
        for name, value in {"saved": {}, **usual, **columns}.items():
            setattr(self, name, value)


class Remembered:
    """Things of nodes, by the last word about each node."""

    def __init__(self) -> None:
        self.of: dict[int, list[dict[str, Any]]] = {}

    def sync(self, node_id: int, items: Iterable[Mapping[str, Any]]) -> None:
        self.of[node_id] = [dict(item) for item in items]

    def rows(self, columns: Sequence[str], node_id: int) -> list[tuple[Any, ...]]:
        return [tuple(item.get(name) for name in columns) for item in self.of.get(node_id, ())]

    def put(self, node_id: int, items: Iterable[Mapping[str, Any]]) -> None:
        self.of.setdefault(node_id, []).extend(dict(item) for item in items)


class Volumes:
    """The volume targets of a node."""

    def __init__(self) -> None:
        self.of: list[dict[str, Any]] = []

    def rows(self, columns: Sequence[str], *, filters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return [tuple(target[name] for name in columns) for target in self.of]

    def count(self, **filters: Any) -> int:
        return len(self.of)


class Logins:
    """Logins at BMCs, counted as the store does."""

    def __init__(self) -> None:
        self.of: dict[str, int] = {}

    def refused(self, login: str) -> int:
        return self.of.get(login, 0)

    def reserve(self, login: str, address: str, limit: int) -> Turn:
        return Turn.REFUSED if self.refused(login) >= limit else Turn.GRANTED

    def accept(self, login: str) -> None:
        self.of.pop(login, None)

    def refuse(self, login: str) -> None:
        self.of[login] = self.refused(login) + 1

    def give_back(self, login: str) -> None:
        pass


@dataclass
class Shelves:
    """The part of the store that interfaces write to."""

    bios_settings: Remembered = field(default_factory=Remembered)
    firmware: Remembered = field(default_factory=Remembered)
    volume_targets: Volumes = field(default_factory=Volumes)
    bmc_logins: Logins = field(default_factory=Logins)


@dataclass
class Work(HasInterfaces):
    """A task."""

    node: Machine = field(default_factory=Machine)
    store: Any = field(default_factory=Shelves)
    context: RequestContext = field(default_factory=RequestContext)
    host: str = "here"
    shared: bool = False
    ports: Any = ()
    portgroups: Sequence[PortgroupRecord] = ()
    driver: BareDriver = field(default_factory=BareDriver)
    alternatives: dict[str, Any] = field(default_factory=dict)
    notes: Notes = field(default_factory=Notes)

    def change_power(self, target: str, timeout: int | None = None) -> None:
        power.change(cast(Any, self), target, timeout)

    def upgrade_lock(self, purpose: str, retry: bool = True) -> None:
        self.shared = False

    def writing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def alternative(self, kind: str, name: str) -> Any:
        if name not in self.alternatives:
            raise InterfaceNotFoundInEntrypoint(kind=kind, name=name, enabled=", ".join(self.alternatives))
        return self.alternatives[name]


def work_on(**columns: Any) -> Work:
    """Return a task on a node with these columns."""
    return Work(Machine(**columns))
