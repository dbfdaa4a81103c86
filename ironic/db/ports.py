"""The repositories of ports and port groups."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import ClassVar

import sqlalchemy as sa
from oslo_db.exception import DBDuplicateEntry
from sqlalchemy.engine import Connection
from sqlalchemy.sql.elements import ColumnElement

from ironic.core.errors import DuplicateName, IronicError, NodeNotFound
from ironic.core.errors.resource_errors import (
    MACAlreadyExists,
    PortAlreadyExists,
    PortgroupAlreadyExists,
    PortgroupMACAlreadyExists,
    PortgroupNotEmpty,
    PortgroupNotFound,
    PortNotFound,
)
from ironic.core.flows import states
from ironic.db.record import Record
from ironic.db.repository import Errors, Repository
from ironic.db.row_selection import Contains, Filter, Virtual, any_of
from ironic.db.tables import PortColumns, PortgroupColumns, nodes, portgroups, ports
from ironic.db.transactions import unit_of_work


class PortRecord(Record, PortColumns):
    """One port."""


def _of_nodes(table: sa.Table, condition: ColumnElement[bool]) -> ColumnElement[bool]:
    return table.c.node_id.in_(sa.select(nodes.c.id).where(condition))


class Ports(Repository[PortRecord], record=PortRecord):
    """All ports."""

    filters: ClassVar[Mapping[str, Filter]] = {
        "node_id": any_of(ports.c.node_id),
        "node_uuid": lambda uuid: _of_nodes(ports, nodes.c.uuid == uuid),
        "address": any_of(ports.c.address),
        "uuid_in": any_of(ports.c.uuid),
        "portgroup_id": any_of(ports.c.portgroup_id),
        "portgroup_uuid": lambda uuid: (
            ports.c.portgroup_id == sa.select(portgroups.c.id).where(portgroups.c.uuid == uuid).scalar_subquery()
        ),
        "shard": lambda shards: _of_nodes(ports, any_of(nodes.c.shard)(shards)),
        "conductor_groups": lambda groups: _of_nodes(ports, any_of(nodes.c.conductor_group)(groups)),
        "project": lambda project: _of_nodes(ports, sa.or_(nodes.c.owner == project, nodes.c.lessee == project)),
        "description_contains": Contains(ports.c.description),
    }
    virtual: ClassVar[Mapping[str, Virtual]] = {
        "node_uuid": Virtual(nodes.c.uuid, ports.c.node_id == nodes.c.id),
        "portgroup_uuid": Virtual(portgroups.c.uuid, ports.c.portgroup_id == portgroups.c.id),
    }
    duplicates: ClassVar[Errors] = {
        "uuid": lambda value: PortAlreadyExists(resource="port", field="uuid", value=value),
        "name": lambda value: DuplicateName(resource="port", name=value),
        "address": lambda value: MACAlreadyExists(resource="port", field="address", value=value),
    }

    @unit_of_work
    def create_all(self, connection: Connection, ports_of_one_node: Sequence[Mapping[str, object]]) -> None:
        """Store new ports of one node, with UUIDs, in one statement; raises the error of the first duplicate."""
        stored = [self._form.defaults | self._form.of_all(self._identified(values)) for values in ports_of_one_node]
        for values in stored:
            del values["id"]
        # After a refused statement PostgreSQL executes another one only if there is a savepoint.
        savepoint = connection.begin_nested() if self.transactions.dialect == "postgresql" else nullcontext()
        try:
            with savepoint:
                connection.execute(sa.insert(ports), stored)
        except DBDuplicateEntry as error:
            # Some engines have stored a part of these ports, so their own rows do not count.
            addresses, uuids = ([one[name] for one in stored] for name in ("address", "uuid"))
            others = sa.select(ports.c.address).where(ports.c.address.in_(addresses), ports.c.uuid.not_in(uuids))
            taken = list(connection.execute(others.order_by(ports.c.id)).scalars())
            taken += [address for address in addresses if addresses.count(address) > 1]
            if not taken:
                raise self._duplicate(error, {}) from None
            raise MACAlreadyExists(resource="port", field="address", value=taken[0]) from None

    def inspected(self, interfaces: Sequence[str]) -> tuple[dict[str, bool], bool]:
        """Return for each address whether its node is being inspected by one of these inspect interfaces.

        The second value is whether any node is, nodes without ports included.
        """
        inspecting = sa.and_(_is_in_inspection(), nodes.c.inspect_interface.in_(list(interfaces)))
        of_ports = sa.select(ports.c.address, inspecting).join(nodes, ports.c.node_id == nodes.c.id)
        with self.transactions.reading() as connection:
            found = {address: bool(yes) for address, yes in connection.execute(of_ports)}
        return found, self.in_inspection(interfaces)[1]

    def in_inspection(self, interfaces: Sequence[str]) -> tuple[frozenset[str], bool]:
        """Return the addresses of the nodes being inspected through one of these interfaces, and whether any node is.

        Reads only nodes in inspection and their ports: the index on the state finds few rows, that on the interface
        would find nearly all.
        """
        found = (
            sa.select(nodes.c.inspect_interface, ports.c.address)
            .select_from(nodes.outerjoin(ports, ports.c.node_id == nodes.c.id))
            .where(_is_in_inspection())
        )
        with self.transactions.reading() as connection:
            rows = [address for interface, address in connection.execute(found) if interface in interfaces]
        return frozenset(address for address in rows if address is not None), bool(rows)

    def not_found(self, ident: str | int) -> IronicError:
        """Return the error for a port that does not exist."""
        return PortNotFound(port=ident)

    def parent_not_found(self, values: Mapping[str, object]) -> IronicError | None:
        """Return the error for a port whose node does not exist."""
        return NodeNotFound(node=values.get("node_id"))


def _is_in_inspection() -> ColumnElement[bool]:
    """Return the condition that a node is being inspected."""
    return nodes.c.provision_state.in_((states.INSPECTING, states.INSPECTWAIT))


class PortgroupRecord(Record, PortgroupColumns):
    """One port group."""


_IS_EMPTY = ~sa.exists().where(ports.c.portgroup_id == portgroups.c.id)


class Portgroups(Repository[PortgroupRecord], record=PortgroupRecord):
    """All port groups."""

    filters: ClassVar[Mapping[str, Filter]] = {
        "node_id": any_of(portgroups.c.node_id),
        "node_uuid": lambda uuid: (
            portgroups.c.node_id == sa.select(nodes.c.id).where(nodes.c.uuid == uuid).scalar_subquery()
        ),
        "shard": lambda shards: _of_nodes(portgroups, any_of(nodes.c.shard)(shards)),
        "conductor_groups": lambda groups: _of_nodes(portgroups, any_of(nodes.c.conductor_group)(groups)),
        "project": lambda project: _of_nodes(portgroups, sa.or_(nodes.c.owner == project, nodes.c.lessee == project)),
    }
    virtual: ClassVar[Mapping[str, Virtual]] = {
        "node_uuid": Virtual(nodes.c.uuid, portgroups.c.node_id == nodes.c.id),
    }
    duplicates: ClassVar[Errors] = {
        "uuid": lambda value: PortgroupAlreadyExists(resource="port group", field="uuid", value=value),
        "name": lambda value: DuplicateName(resource="port group", name=value),
        "address": lambda value: PortgroupMACAlreadyExists(resource="port group", field="address", value=value),
    }

    def not_found(self, ident: str | int) -> IronicError:
        """Return the error for a port group that does not exist."""
        return PortgroupNotFound(portgroup=ident)

    def parent_not_found(self, values: Mapping[str, object]) -> IronicError | None:
        """Return the error for a port group whose node does not exist."""
        return NodeNotFound(node=values.get("node_id"))

    @unit_of_work
    def delete(self, connection: Connection, ident: str | int) -> None:
        """Remove a port group; raises PortgroupNotEmpty if it has ports."""
        # Locked first, so that the statement sees a port that was created in the group a moment ago.
        self.lock_row(ident)
        if not connection.execute(sa.delete(portgroups).where(self._matches(ident), _IS_EMPTY)).rowcount:
            raise PortgroupNotEmpty(portgroup=self.get(ident).uuid)
