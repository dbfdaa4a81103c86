"""Port groups of nodes."""

from collections.abc import Mapping
from typing import ClassVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql.elements import ColumnElement

from ironic.core.errors import DuplicateName, IronicError, NodeNotFound
from ironic.core.resource_errors import (
    PortgroupAlreadyExists,
    PortgroupMACAlreadyExists,
    PortgroupNotEmpty,
    PortgroupNotFound,
)
from ironic.db.filters import Filter, any_of
from ironic.db.listing import Virtual
from ironic.db.record import Record
from ironic.db.repository import Errors, Repository
from ironic.db.tables import PortgroupColumns, nodes, portgroups, ports
from ironic.db.transactions import unit_of_work


class PortgroupRecord(Record, PortgroupColumns):
    """One port group."""


def _of_nodes(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    return portgroups.c.node_id.in_(sa.select(nodes.c.id).where(condition))


def _of_node(uuid: str) -> ColumnElement[bool]:
    return portgroups.c.node_id == sa.select(nodes.c.id).where(nodes.c.uuid == uuid).scalar_subquery()


_IS_EMPTY = ~sa.exists().where(ports.c.portgroup_id == portgroups.c.id)


class Portgroups(Repository[PortgroupRecord], record=PortgroupRecord):
    """All port groups."""

    filters: ClassVar[Mapping[str, Filter]] = {
        "node_id": any_of(portgroups.c.node_id),
        "node_uuid": _of_node,
        "shard": lambda shards: _of_nodes(any_of(nodes.c.shard)(shards)),
        "conductor_groups": lambda groups: _of_nodes(any_of(nodes.c.conductor_group)(groups)),
        "project": lambda project: _of_nodes(sa.or_(nodes.c.owner == project, nodes.c.lessee == project)),
    }
    virtual: ClassVar[Mapping[str, Virtual]] = {
        "node_uuid": Virtual(nodes.c.uuid, portgroups.c.node_id == nodes.c.id),
    }
    taken: ClassVar[Errors] = {
        "uuid": lambda value: PortgroupAlreadyExists(resource="port group", field="uuid", value=value),
        "name": lambda value: DuplicateName(resource="port group", name=value),
        "address": lambda value: PortgroupMACAlreadyExists(resource="port group", field="address", value=value),
    }

    def missing(self, ident: str | int) -> IronicError:
        """Return the error for a port group that is not there."""
        return PortgroupNotFound(portgroup=ident)

    def parent_missing(self, values: Mapping[str, object]) -> IronicError | None:
        """Return the error for a port group whose node went away."""
        return NodeNotFound(node=values.get("node_id"))

    @unit_of_work
    def delete(self, connection: Connection, ident: str | int) -> None:
        """Remove a port group that has no ports."""
        if not connection.execute(sa.delete(portgroups).where(self._is(ident), _IS_EMPTY)).rowcount:
            raise PortgroupNotEmpty(portgroup=self.get(ident).uuid)
