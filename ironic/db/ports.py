"""Ports of nodes."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import sqlalchemy as sa
from oslo_db.exception import DBDuplicateEntry
from sqlalchemy.engine import Connection
from sqlalchemy.sql.elements import ColumnElement

from ironic.core import states
from ironic.core.errors import DuplicateName, IronicError, NodeNotFound
from ironic.core.resource_errors import MACAlreadyExists, PortAlreadyExists, PortNotFound
from ironic.db.filters import Contains, Filter, any_of
from ironic.db.listing import Virtual
from ironic.db.record import Record
from ironic.db.repository import Errors, Repository
from ironic.db.tables import PortColumns, nodes, portgroups, ports
from ironic.db.transactions import unit_of_work


class PortRecord(Record, PortColumns):
    """One port."""


def _of_nodes(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    return ports.c.node_id.in_(sa.select(nodes.c.id).where(condition))


def _in_portgroup(uuid: str) -> ColumnElement[bool]:
    return ports.c.portgroup_id == sa.select(portgroups.c.id).where(portgroups.c.uuid == uuid).scalar_subquery()


class Ports(Repository[PortRecord], record=PortRecord):
    """All ports."""

    filters: ClassVar[Mapping[str, Filter]] = {
        "node_id": any_of(ports.c.node_id),
        "node_uuid": lambda uuid: _of_nodes(nodes.c.uuid == uuid),
        "address": any_of(ports.c.address),
        "uuid_in": any_of(ports.c.uuid),
        "portgroup_uuid": _in_portgroup,
        "shard": lambda shards: _of_nodes(any_of(nodes.c.shard)(shards)),
        "conductor_groups": lambda groups: _of_nodes(any_of(nodes.c.conductor_group)(groups)),
        "project": lambda project: _of_nodes(sa.or_(nodes.c.owner == project, nodes.c.lessee == project)),
        "description_contains": Contains(ports.c.description),
    }
    virtual: ClassVar[Mapping[str, Virtual]] = {
        "node_uuid": Virtual(nodes.c.uuid, ports.c.node_id == nodes.c.id),
        "portgroup_uuid": Virtual(portgroups.c.uuid, ports.c.portgroup_id == portgroups.c.id),
    }
    taken: ClassVar[Errors] = {
        "uuid": lambda value: PortAlreadyExists(resource="port", field="uuid", value=value),
        "name": lambda value: DuplicateName(resource="port", name=value),
        "address": lambda value: MACAlreadyExists(resource="port", field="address", value=value),
    }

    @unit_of_work
    def create_all(self, connection: Connection, ports_of_one_node: Sequence[Mapping[str, object]]) -> None:
        """Store new ports in one statement; they have their UUIDs."""
        stored = [self._form.defaults | self._form.of_all(self._identified(values)) for values in ports_of_one_node]
        for values in stored:
            del values["id"]
        # What comes after a refusal asks the database once more, which PostgreSQL allows behind a savepoint only.
        guard: AbstractContextManager[Any] = nullcontext()
        if self.transactions.dialect == "postgresql":
            guard = connection.begin_nested()
        try:
            with guard:
                connection.execute(sa.insert(ports), stored)
        except DBDuplicateEntry as error:
            raise self._taken_address(connection, stored) or self._duplicate(error, {}) from None

    @staticmethod
    def _taken_address(connection: Connection, stored: Sequence[Mapping[str, object]]) -> IronicError | None:
        """Return the error for an address that another port has, or two of these; ours may be half stored."""
        addresses, uuids = ([one[name] for one in stored] for name in ("address", "uuid"))
        others = sa.select(ports.c.address).where(ports.c.address.in_(addresses), ports.c.uuid.not_in(uuids))
        taken = list(connection.execute(others.order_by(ports.c.id)).scalars())
        taken += [address for address in addresses if addresses.count(address) > 1]
        return MACAlreadyExists(resource="port", field="address", value=taken[0]) if taken else None

    def inspected(self, interfaces: Sequence[str]) -> tuple[dict[str, bool], bool]:
        """Return for each address whether its node is being inspected through one of these interfaces, and whether
        any node is, one without ports included."""
        inspecting = sa.and_(
            nodes.c.provision_state.in_((states.INSPECTING, states.INSPECTWAIT)),
            nodes.c.inspect_interface.in_(list(interfaces)),
        )
        of_ports = sa.select(ports.c.address, inspecting).join(nodes, ports.c.node_id == nodes.c.id)
        with self.transactions.reading() as connection:
            found = {address: bool(yes) for address, yes in connection.execute(of_ports)}
            return found, connection.execute(sa.select(nodes.c.id).where(inspecting).limit(1)).first() is not None

    def missing(self, ident: str | int) -> IronicError:
        """Return the error for a port that is not there."""
        return PortNotFound(port=ident)

    def parent_missing(self, values: Mapping[str, object]) -> IronicError | None:
        """Return the error for a port whose node went away."""
        return NodeNotFound(node=values.get("node_id"))
