"""The task as hooks and rules see it: their changes wait until the phase ends, then all are stored at once.

`task.node.save()` and `port.save()` of a hook only mean "this is to be stored"; what follows at the end of the phase is
one transaction (S82). When the phase fails nothing of it is stored, and the node is as it was before.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from ironic.core.context import RequestContext
from ironic.core.errors import HardwareInspectionFailure, IronicError, TakenOver
from ironic.core.resource_errors import MACAlreadyExists
from ironic.db import NodeRecord, PortgroupRecord, PortRecord, Store
from ironic.db.record import Record
from ironic.db.stored_text import JsonText
from ironic.inspection.task import Task


class Staged:
    """A record whose `save` waits; else it is all that the record is."""

    __slots__ = ("_record",)

    _record: Record

    def __init__(self, record: Record) -> None:
        object.__setattr__(self, "_record", record)

    def save(self) -> None:
        """Do nothing: what was changed is stored when the phase ends."""

    def __getattr__(self, name: str) -> object:
        return getattr(self._record, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._record, name, value)


class NewPort:
    """A port that will be created when the phase ends; its attributes are those of a stored one."""

    address: str

    def __init__(self, node_id: int, values: Mapping[str, object]) -> None:
        form = PortRecord.form
        usual = {name: value for name, value in form.defaults.items() if name not in ("created_at", "updated_at")}
        objects = {name: kind() for name, kind in form.empties.items()}
        given = {"uuid": str(uuid.uuid4()), "node_id": node_id, **values}
        self.__dict__.update(usual | objects | given)

    def save(self) -> None:
        """Do nothing: the port is stored when the phase ends."""

    def as_dict(self) -> dict[str, object]:
        """Return the values to store."""
        return {name: value for name, value in self.__dict__.items() if name != "id"}


class StagedTask:
    """What hooks get; what is not named here is that of the task itself."""

    def __init__(self, task: Task, *, is_proven: bool = True) -> None:
        self._task = task
        self.is_proven = is_proven  # whether it certainly is the node's machine that reported
        self.node: NodeRecord = cast(NodeRecord, Staged(task.node))
        self._traits: list[str] | None = None
        self._new_traits: Sequence[str] | None = None
        self._found: tuple[JsonText, JsonText] | None = None
        self._also: list[Callable[[], None]] = []
        self._ports: list[PortRecord] | None = None
        self._removed: list[PortRecord] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._task, name)

    @property
    def context(self) -> RequestContext:
        """On whose behalf the work is done."""
        return self._task.context

    @property
    def store(self) -> Store:
        """Where everything is stored; hooks only look something up in it."""
        return self._task.store

    @property
    def ports(self) -> Sequence[PortRecord]:
        """The node's ports as they will be."""
        if self._ports is None:
            self._ports = [cast(PortRecord, Staged(port)) for port in self._task.ports]
        return tuple(self._ports)

    @property
    def portgroups(self) -> Sequence[PortgroupRecord]:
        """The node's port groups."""
        return self._task.portgroups

    @property
    def traits(self) -> Sequence[str]:
        """The node's traits as they will be."""
        if self._new_traits is not None:
            return self._new_traits
        if self._traits is None:
            node_id = self._task.node.id
            self._traits = self._task.store.traits.of([node_id])[node_id]
        return self._traits

    @traits.setter
    def traits(self, traits: Sequence[str]) -> None:
        self._new_traits = tuple(traits)

    def add_port(self, **values: object) -> PortRecord:
        """Create a port when the phase ends."""
        port = cast(PortRecord, NewPort(self._task.node.id, values))
        self._ports = [*self.ports, port]
        return port

    def remove_port(self, port: PortRecord) -> None:
        """Delete a port when the phase ends."""
        self._ports = [one for one in self.ports if one is not port]
        if not isinstance(port, NewPort):
            self._removed.append(port)

    def store_found(self, texts: tuple[JsonText, JsonText]) -> None:
        """Keep what was found, inventory and plug-in data as JSON, with the node when the phase ends."""
        self._found = texts

    def also_store(self, work: Callable[[], None]) -> None:
        """Have something stored in the transaction that keeps what was found."""
        self._also.append(work)

    def commit(self) -> None:
        """Store everything at once, or nothing."""
        try:
            if self._has_more_than_the_node():
                self._task.store.run(lambda _connection: self._store())
            else:
                self._task.node.save()
        except TakenOver:
            raise
        except MACAlreadyExists as error:
            raise self._taken(error) from None
        except IronicError as error:
            raise HardwareInspectionFailure(error=f"what was found can't be stored: {error}") from None
        self._forget()

    def discard(self) -> None:
        """Drop everything that was not stored."""
        self._forget()
        self._task.node.refresh()

    def _has_more_than_the_node(self) -> bool:
        others = self._removed or self._also or self._changed_ports()
        return bool(others) or self._new_traits is not None or self._found is not None

    def _store(self) -> None:
        store, node = self._task.store, self._task.node
        if not node.stored_changes():
            store.nodes.require_held(node)  # else saving it, below, finds out
        # Ports that go first make room for addresses that others take over.
        for port in self._removed:
            store.ports.delete(port.id)
        changed = self._changed_ports()
        for port in changed:
            if isinstance(port, Staged):
                port._record.save()
        if new := [port.as_dict() for port in changed if isinstance(port, NewPort)]:
            store.ports.create_all(new)
        if self._new_traits is not None:
            store.traits.replace(node.id, self._new_traits)
        if self._found is not None:
            store.inventories.put_texts(node.id, *self._found)
        for work in self._also:
            work()
        node.save()

    def _changed_ports(self) -> list[PortRecord]:
        return [port for port in self._ports or () if isinstance(port, NewPort) or port.stored_changes()]

    def _forget(self) -> None:
        self._ports, self._removed, self._found = None, [], None
        self._also = []
        self._traits = self._new_traits = None
        self._task.ports = None

    def _taken(self, error: MACAlreadyExists) -> HardwareInspectionFailure:
        mac = str(error.facts.get("value"))
        owners: Iterable[str] = [node.uuid for node in self._task.store.nodes.by_macs([mac])]
        return HardwareInspectionFailure(
            error=f"MAC address {mac} can't become a port of node {self._task.node.uuid}: it belongs to a port of node "
            f"{', '.join(owners) or 'another inspection'}. Delete that port if the network card was moved"
        )
