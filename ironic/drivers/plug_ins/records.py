"""Records as third-party plug-ins make and find them: without a task, in the database of the process.

A plug-in acts as the service does: no project hides a row from it, and its changes obey the rules for what may be
stored, but not those for what users may do in a state of the node. A query of an inspection hook sees what the hooks
before it have found, which is stored by that (`ironic.inspection.staged_task.flush_running`).
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Self, cast

from ironic.conf import CONF
from ironic.core import node_rules
from ironic.core.errors import InvalidParameterValue, MissingParameterValue, NodeLocked
from ironic.core.flows import states
from ironic.core.model import node as node_model
from ironic.core.model import port as port_model
from ironic.core.model import volumes as volume_model
from ironic.core.model.fields import Resource
from ironic.db import (
    ChassisRecord,
    ConductorRecord,
    HistoryRecord,
    NodeRecord,
    PortgroupRecord,
    PortRecord,
    Store,
    VolumeConnectorRecord,
    VolumeTargetRecord,
)
from ironic.db.record import Record
from ironic.db.repository import Repository
from ironic.inspection import inventory_storage
from ironic.inspection.staged_task import flush_running
from ironic.services import node_parents, nodes, process_store, row_changes
from ironic.services.node_authors import Author

# The classes below have a method of this name.
Found = list


def register_all() -> None:
    """Do nothing: the records are there once they are imported."""


class _Kind(type):
    """Has a record that a task gave count as one of the class that a plug-in knows."""

    def __instancecheck__(cls, one: object) -> bool:
        return isinstance(one, cast(type[PlugInRecord], cls).stored_as)


class PlugInRecord(Record, metaclass=_Kind):
    """A row that plug-ins make, find, change and remove; the first argument of every query is not used.

    `Kind(context, **columns)` is a new row, which `create` stores. Errors are subclasses of IronicError.
    """

    stored_as: ClassVar[type[Record]] = Record
    # Its repository is the attribute of the store with this name.
    rows: ClassVar[str]
    # The resource whose fields say what may be written; None: what the columns take.
    resource: ClassVar[type[Resource] | None] = None

    def __init__(self, _context: object = None, **columns: Any) -> None:
        flush_running()
        form = self.form
        super().__init__(self._repository(), dict.fromkeys(form.names) | form.defaults)
        for name, value in columns.items():
            setattr(self, name, value)

    @classmethod
    def _repository(cls) -> Repository[Any]:
        rows: Repository[Any] = getattr(process_store.database().store, cls.rows)
        return rows

    @staticmethod
    def _store() -> Store:
        flush_running()
        return process_store.database().store

    @classmethod
    def _of(cls, stored: Sequence[object]) -> Self:
        one = cls.__new__(cls)
        Record.__init__(one, cls._repository(), dict(zip(cls.form.names, stored, strict=True)))
        return one

    @classmethod
    def _one(cls, what: str | int, **filters: object) -> Self:
        """Return the only row that matches, or raise the error for ``what``."""
        flush_running()
        rows = cls._repository()
        if not (found := rows.rows(cls.form.names, filters=filters, limit=1)):
            raise rows.not_found(what)
        return cls._of(found[0])

    @classmethod
    def get(cls, _context: object, ident: str | int) -> Self:
        """Return the row with this id (a number), UUID or name."""
        flush_running()
        return cls._of(cls._repository().row(cls.form.names, ident))

    @classmethod
    def get_by_id(cls, _context: object, row_id: int) -> Self:
        """Return the row with this id."""
        return cls._one(row_id, id=row_id)

    @classmethod
    def get_by_uuid(cls, _context: object, uuid: str) -> Self:
        """Return the row with this UUID."""
        return cls._one(uuid, uuid=uuid)

    @classmethod
    def list(
        cls,
        _context: object = None,
        limit: int | None = None,
        marker: str | None = None,
        sort_key: str | None = None,
        sort_dir: str | None = None,
        owner: str | None = None,
        project: str | None = None,
        conductor_groups: Collection[str] | None = None,
        filters: Mapping[str, object] | None = None,
        **also: object,
    ) -> Found[Self]:
        """Return a page of rows; ``filters`` are columns, or filters of the store by their names.

        ``owner`` and ``project`` find what belongs to a project. Raises InvalidParameterValue for an unknown filter.
        """
        flush_running()
        wanted: dict[str, object] = {**(filters or {}), **also}
        if (of := project or owner) is not None:
            wanted["project"] = of
        if conductor_groups is not None:
            wanted["conductor_groups"] = list(conductor_groups)
        rows = cls._repository()
        if unknown := wanted.keys() - rows.filters.keys():
            raise InvalidParameterValue(err=f"Rows of {cls.__name__} have no filter {', '.join(sorted(unknown))}.")
        found = rows.rows(
            cls.form.names,
            filters=wanted,
            marker=marker,
            limit=limit,
            sort_key=sort_key or "id",
            sort_dir=sort_dir or "asc",
        )
        return [cls._of(row) for row in found]

    def create(self, _context: object = None) -> None:
        """Store the new row; its id, UUID and times are set then."""
        store = self._store()
        made = store.run(lambda _: self._insert(store, self._given(self.changes())))
        self._take(made._stored)

    def _insert(self, store: Store, columns: dict[str, Any]) -> Record:
        """Store a new row in the open transaction and return its record."""
        made: Record = self._repository().create(columns)
        return made

    def save(self, _context: object = None) -> None:
        """Write the changed columns."""
        if self.stored_changes():
            store, changes = self._store(), self._given(self.changes())
            store.run(lambda _: self._update(store, changes))

    def _update(self, store: Store, changes: Mapping[str, Any]) -> None:
        """Write the checked changes in the open transaction."""
        Record.save(self)

    def _given(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Check values as the API does, set them in the form in which they are stored, and return them."""
        fields = self.resource.table.fields if self.resource is not None else {}
        for name, value in columns.items():
            if name in fields and value is not None:
                try:
                    columns[name] = (fields[name].by_rules or fields[name].type).validate(value)
                except ValueError as error:
                    raise InvalidParameterValue(err=f"{name} {error}.") from None
                setattr(self, name, columns[name])
        return columns

    def refresh(self, _context: object = None) -> None:
        """Read the row again; unsaved changes are lost."""
        flush_running()
        Record.refresh(self)

    def destroy(self, _context: object = None) -> None:
        """Remove the row."""
        flush_running()
        self._repository().delete(self.id)


class OfNode(PlugInRecord):
    """A row that belongs to a node."""

    @classmethod
    def list_by_node_id(cls, context: object, node_id: int, *page: Any, **more: Any) -> Found[Self]:
        """Return the rows of a node, in the order of their creation unless the page says otherwise."""
        return cls.list(context, *page, node_id=node_id, **more)


class Named(PlugInRecord):
    """A row with a name."""

    @classmethod
    def get_by_name(cls, _context: object, name: str) -> Self:
        """Return the row with this name."""
        return cls._one(name, name=name)


class AtSwitch(OfNode, Named):
    """A port or port group."""

    @classmethod
    def get_by_address(
        cls, context: object, address: str, owner: str | None = None, project: str | None = None
    ) -> Self:
        """Return the row with this MAC address."""
        whose = {"project": project or owner} if project or owner else {}
        return cls._one(address, address=address.lower(), **whose)

    @classmethod
    def list_by_node_shards(cls, context: object, shards: Sequence[str], *page: Any, **more: Any) -> Found[Self]:
        """Return the rows of the nodes of these shards."""
        return cls.list(context, *page, shard=shards, **more)


_OF_GROUP = frozenset({"portgroup_id", "physical_network", "pxe_enabled", "node_id"})


class Port(AtSwitch, PortRecord):
    """A network card of a node."""

    stored_as = PortRecord
    rows = "ports"
    resource = port_model.Port

    @classmethod
    def list_by_portgroup_id(cls, context: object, portgroup_id: int, *page: Any, **more: Any) -> Found[Self]:
        """Return the ports of a port group."""
        return cls.list(context, *page, portgroup_id=portgroup_id, **more)

    def _insert(self, store: Store, columns: dict[str, Any]) -> Record:
        for name in ("address", "node_id"):
            if columns.get(name) is None:
                raise MissingParameterValue(err=f"A port needs {name}.")
        self._join(store, columns)
        return super()._insert(store, columns)

    def _update(self, store: Store, changes: Mapping[str, Any]) -> None:
        if _OF_GROUP & changes.keys():
            self._join(store, changes)
        super()._update(store, changes)

    def _join(self, store: Store, changes: Mapping[str, Any]) -> None:
        """Check the port as a member of its group, whose ports share one physical network; raises Conflict."""
        if self.portgroup_id is not None:
            row_changes.join_group(
                store,
                self.portgroup_id,
                self.physical_network,
                node_id=self.node_id,
                pxe_enabled=self.pxe_enabled and bool({"portgroup_id", "pxe_enabled"} & changes.keys()),
                port_id=self.id,
            )

    @classmethod
    def supports_physical_network(cls) -> bool:
        """Return True: every release of this service stores it."""
        return True

    supports_is_smartnic = supports_physical_network

    def set_local_link_connection(self, key: str, value: object) -> None:
        """Set one key of local_link_connection."""
        self.local_link_connection[key] = value


class Portgroup(AtSwitch, PortgroupRecord):
    """Several network cards of a node that work as one."""

    stored_as = PortgroupRecord
    rows = "portgroups"
    resource = port_model.Portgroup

    def _insert(self, store: Store, columns: dict[str, Any]) -> Record:
        if columns.get("node_id") is None:
            raise MissingParameterValue(err="A port group needs node_id.")
        return super()._insert(store, {**columns, "mode": self.mode or CONF.default_portgroup_mode})

    def _update(self, store: Store, changes: Mapping[str, Any]) -> None:
        row_changes.save_group(store, self, changes, lambda: super(Portgroup, self)._update(store, changes))

    def update_physical_network(self, new_physical_network: str | None, context: object = None) -> None:
        """Set the physical network of the group and its ports, and save."""
        self.physical_network = new_physical_network
        self.save(context)


class Node(Named, NodeRecord, extra=("held_by", "held_token", "pending_waits")):
    """A node; one that a task has locked is changed through the task."""

    stored_as = NodeRecord
    rows = "nodes"
    resource = node_model.Node

    @classmethod
    def get_by_instance_uuid(cls, _context: object, instance_uuid: str) -> Self:
        """Return the node of an instance."""
        return cls._one(instance_uuid, instance_uuid=instance_uuid)

    @classmethod
    def get_by_port_addresses(cls, context: object, addresses: Sequence[str]) -> Self:
        """Return the node with a port of one of these MAC addresses; NodeNotFound unless it is the only one."""
        found = cls._store().nodes.by_macs(addresses)
        return cls.get_by_id(context, found[0].id) if len(found) == 1 else cls._one(", ".join(addresses), id_in=())

    @classmethod
    def list_by_node_shards(cls, context: object, shards: Sequence[str], *page: Any, **more: Any) -> Found[Self]:
        """Return the nodes of these shards."""
        return cls.list(context, *page, shard=shards, **more)

    def _insert(self, store: Store, columns: dict[str, Any]) -> Record:
        if not columns.get("driver"):
            raise MissingParameterValue(err="A node needs a driver.")
        author = Author(store, process_store.database().hash_ring)
        first = {"conductor_group": CONF.default_conductor_group, "provision_state": states.ENROLL}
        return nodes.enroll(nodes.completed(first | columns, author), author)

    def destroy(self, _context: object = None) -> None:
        """Remove the node with all that belongs to it; NodeLocked while a task holds it."""
        store, available_too = self._store(), CONF.conductor.allow_deleting_available_nodes

        def delete(_connection: object) -> None:
            stored = store.nodes.lock_row(self.id)
            if stored.reservation is not None:
                raise NodeLocked(node=stored.uuid, host=stored.reservation, purpose=stored.reservation_purpose)
            node_rules.check_deletable(stored, available_too=available_too)
            node_parents.check_children(store, stored, available_too=available_too)
            store.nodes.delete(stored.id)

        store.run(delete)
        inventory_storage.backend_from_conf().forget(self.uuid)

    def touch_provisioning(self, _context: object = None) -> None:
        """Set the time of the last sign of life of the provisioning to now, and save."""
        NodeRecord.touch_provisioning(self)

    def list_child_node_ids(self) -> Sequence[int]:
        """Return the ids of the nodes whose parent this node is."""
        rows = self._store().nodes.rows(("id",), filters={"parent_node": self.uuid})
        return [int(row_id) for (row_id,) in rows]


class Chassis(PlugInRecord, ChassisRecord):
    """A group of nodes."""

    stored_as = ChassisRecord
    rows = "chassis"
    resource = node_model.Chassis


class Conductor(PlugInRecord, ConductorRecord):
    """A conductor, which registers itself: plug-ins read only."""

    stored_as = ConductorRecord
    rows = "conductors"

    @classmethod
    def get_by_hostname(cls, _context: object, hostname: str, online: bool | None = True) -> Self:
        """Return the conductor of a host; with ``online`` only one that has not been stopped."""
        return cls._one(hostname, hostname=hostname, **({} if online is None else {"online": online}))


class NodeHistory(OfNode, HistoryRecord):
    """What happened to a node."""

    stored_as = HistoryRecord
    rows = "history"


class VolumeConnector(OfNode, VolumeConnectorRecord):
    """How a node connects to volumes."""

    stored_as = VolumeConnectorRecord
    rows = "volume_connectors"
    resource = volume_model.VolumeConnector


class VolumeTarget(OfNode, VolumeTargetRecord):
    """A volume of a node."""

    stored_as = VolumeTargetRecord
    rows = "volume_targets"
    resource = volume_model.VolumeTarget

    @classmethod
    def list_by_volume_id(cls, context: object, volume_id: str, *page: Any, **more: Any) -> Found[Self]:
        """Return the targets with this volume."""
        return cls.list(context, *page, volume_id=volume_id, **more)
