"""The task that hooks and rules get: it collects their changes and stores them in one transaction per phase.

`task.node.save()` and `port.save()` of a hook do nothing; the end of the phase stores all changes at once (S82). When
the phase fails nothing of it is stored, and the node is as it was before.
"""

import logging
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, cast

from ironic.core.context import RequestContext
from ironic.core.errors import HardwareInspectionFailure, IronicError, TakenOver
from ironic.core.errors.resource_errors import MACAlreadyExists
from ironic.db import NodeRecord, PortgroupRecord, PortRecord, Store
from ironic.db.column_types import JsonText
from ironic.db.record import Record
from ironic.db.traits import NodeTraits
from ironic.inspection.task import Task
from ironic.services.row_limits import check_found_ports

LOG = logging.getLogger(__name__)


class Staged:
    """A proxy of a record whose `save` does nothing."""

    __slots__ = ("_record",)

    _record: "Record | NewPort"

    def __init__(self, record: "Record | NewPort") -> None:
        object.__setattr__(self, "_record", record)

    def save(self) -> None:
        """Do nothing: the changes are stored when the phase ends."""

    def __getattr__(self, name: str) -> object:
        return getattr(self._record, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._record, name, value)

    def is_new(self) -> bool:
        """Return whether the record is one that is still to be created."""
        return isinstance(self._record, NewPort)

    def is_stored_as(self, record: Record) -> None:
        """Go on as the proxy of the record that was created."""
        object.__setattr__(self, "_record", record)


class StagedNode(Staged):
    """The proxy of a node, with the traits that it will have."""

    __slots__ = ("_node_id", "_task")

    _node_id: int
    _task: "StagedTask"

    def __init__(self, task: "StagedTask", record: Record) -> None:
        super().__init__(record)
        object.__setattr__(self, "_task", task)
        object.__setattr__(self, "_node_id", record.id)

    @property
    def traits(self) -> NodeTraits:
        """The traits of the node as they will be."""
        return NodeTraits(self._node_id, self._task.traits)


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


def _is_new(port: PortRecord) -> bool:
    return cast(Staged, port).is_new()


class StagedTask:
    """A task whose changes are staged; other attributes are those of the task itself."""

    def __init__(self, task: Task, *, is_proven: bool = True) -> None:
        self._task = task
        self.is_proven = is_proven  # the data certainly come from the node's machine
        self.node: NodeRecord = cast(NodeRecord, StagedNode(self, task.node))
        self._traits: list[str] | None = None
        self._new_traits: Sequence[str] | None = None
        self._found: tuple[JsonText, JsonText] | None = None
        self._also: list[Callable[[], object]] = []
        self._ports: list[PortRecord] | None = None
        self._removed: list[PortRecord] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._task, name)

    @property
    def context(self) -> RequestContext:
        """The request context of the task."""
        return self._task.context

    @property
    def store(self) -> Store:
        """The database; hooks only read from it."""
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
        port = cast(PortRecord, Staged(NewPort(self._task.node.id, values)))
        self._ports = [*self.ports, port]
        return port

    def remove_port(self, port: PortRecord) -> None:
        """Delete a port when the phase ends."""
        self._ports = [one for one in self.ports if one is not port]
        if not _is_new(port):
            self._removed.append(port)

    def store_found(self, texts: tuple[JsonText, JsonText]) -> None:
        """Store inventory and plug-in data, as JSON, when the phase ends."""
        self._found = texts

    def also_store(self, work: Callable[[], object]) -> None:
        """Call ``work`` in the transaction that stores the phase."""
        self._also.append(work)

    def commit(self) -> None:
        """Store all changes in one transaction; raises HardwareInspectionFailure or TakenOver.

        A new port whose address another node has is left out: cards of a BMC, or that were moved, are seen so.
        """
        while not self._is_committed():
            pass
        self._forget()

    def _is_committed(self) -> bool:
        """Store all changes and return True, or leave out one new port that can't be stored and return False."""
        try:
            others = self._removed or self._also or self._changed_ports()
            if others or self._new_traits is not None or self._found is not None:
                self._task.store.run(lambda _connection: self._store_all())
            else:
                self._task.node.save()
        except TakenOver:
            raise
        except MACAlreadyExists as error:
            mac = error.facts.get("value")
            refused = next((port for port in self.ports if _is_new(port) and port.address == mac), None)
            if refused is None:
                raise self._mac_taken(error) from None
            self.remove_port(refused)
            LOG.warning("%s.", self._mac_taken(error))
            return False
        except IronicError as error:
            raise HardwareInspectionFailure(error=f"what was found can't be stored: {error}") from None
        return True

    def flush(self) -> None:
        """Store what is staged by now, for a hook that asks the database itself; the phase goes on.

        Its ports stay the same objects, those of new ports too. Traits are read again.
        """
        while not self._is_committed():
            pass
        if new := {port.uuid: port for port in self._ports or () if _is_new(port)}:
            for record in self._task.store.ports.find(uuid_in=sorted(new)):
                cast(Staged, new[record.uuid]).is_stored_as(record)
        self._task.ports = None
        self._removed, self._found, self._also = [], None, []
        self._traits = self._new_traits = None

    def discard(self) -> None:
        """Drop all changes that are not stored, and read the node again."""
        self._forget()
        self._task.node.refresh()

    def _store_all(self) -> None:
        store, node = self._task.store, self._task.node
        if not node.stored_changes():
            store.nodes.require_held(node)  # else saving the node below checks it
        # Deleted first: their MAC addresses may belong to other ports of this phase.
        for port in self._removed:
            store.ports.delete(port.id)
        changed = self._changed_ports()
        for port in changed:
            if not _is_new(port):
                cast(Staged, port)._record.save()
        if new := [port.as_dict() for port in changed if _is_new(port)]:
            check_found_ports(store, node, len(new))
            store.ports.create_all(new)
        if self._new_traits is not None:
            store.traits.replace(node.id, self._new_traits)
        if self._found is not None:
            store.inventories.put_texts(node.id, *self._found)
        for work in self._also:
            work()
        node.save()

    def _changed_ports(self) -> list[PortRecord]:
        return [port for port in self._ports or () if _is_new(port) or port.stored_changes()]

    def _forget(self) -> None:
        self._ports, self._removed, self._found = None, [], None
        self._also = []
        self._traits = self._new_traits = None
        self._task.ports = None

    def _mac_taken(self, error: MACAlreadyExists) -> HardwareInspectionFailure:
        mac = str(error.facts.get("value"))
        owners: Iterable[str] = [node.uuid for node in self._task.store.nodes.by_macs([mac])]
        return HardwareInspectionFailure(
            error=f"MAC address {mac} can't become a port of node {self._task.node.uuid}: it belongs to a port of node "
            f"{', '.join(owners) or 'another inspection'}. Delete that port if the network card was moved"
        )


# The task whose hook runs in this thread.
_RUNNING: Final[ContextVar[StagedTask | None]] = ContextVar("running", default=None)


@contextmanager
def running(task: StagedTask) -> Iterator[None]:
    """Have `flush_running` find the task while the block, one call of a hook, runs."""
    token = _RUNNING.set(task)
    try:
        yield
    finally:
        _RUNNING.reset(token)


def flush_running() -> None:
    """Store what is staged by the hook that runs in this thread, if one does; raises HardwareInspectionFailure."""
    if (task := _RUNNING.get()) is not None:
        task.flush()
