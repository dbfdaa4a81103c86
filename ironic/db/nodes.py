"""The repository of nodes and their filters.

`reservations` has the part that reserves nodes; traits, inventory and history have repositories of their own.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql.elements import ColumnElement

from ironic.core.errors import (
    DuplicateName,
    InstanceAssociated,
    InvalidParameterValue,
    IronicError,
    NodeAlreadyExists,
)
from ironic.db.column_types import decode_json
from ironic.db.record import NodeRecord
from ironic.db.repository import Errors
from ironic.db.reservations import Reservations
from ironic.db.row_selection import Contains, Filter, Virtual, any_of, before, given, none_of
from ironic.db.tables import allocations, chassis, node_bmc_addresses, nodes, ports
from ironic.db.traits import Traits
from ironic.db.transactions import unit_of_work


class Share(NamedTuple):
    """One of several equal parts of all nodes, and the nodes with these ids in addition."""

    parts: int
    number: int
    also: Collection[int] = ()

    def condition(self) -> ColumnElement[bool]:
        """Return the condition that a node is in the share."""
        by_number = nodes.c.id % self.parts == self.number
        return sa.or_(by_number, nodes.c.id.in_(self.also)) if self.also else by_number


_REMEMBERED: Final = sa.type_coerce(nodes.c.driver_internal_info, sa.Text)

# Beside these, every column is a filter for one value.

NODE_FILTERS: Mapping[str, Filter] = {
    "id_in": any_of(nodes.c.id),
    "uuid_in": any_of(nodes.c.uuid),
    "provision_state_in": any_of(nodes.c.provision_state),
    "provision_state_not_in": none_of(nodes.c.provision_state),
    "share": Share.condition,
    "shard": any_of(nodes.c.shard),
    "associated": given(nodes.c.instance_uuid),
    "sharded": given(nodes.c.shard),
    "reserved": given(nodes.c.reservation),
    "description_contains": Contains(nodes.c.description),
    # Nodes with these words in driver_internal_info; exact for the name of a key that is no part of others.
    "remembers": Contains(_REMEMBERED, in_either_case=False),
    # Nodes with any of these keys in driver_internal_info.
    "remembers_any": lambda keys: sa.or_(*(_REMEMBERED.contains(f'"{key}":', autoescape=True) for key in keys)),
    "provision_updated_before": before(nodes.c.provision_updated_at),
    "project": lambda project: sa.or_(nodes.c.owner == project, nodes.c.lessee == project),
    "chassis_uuid": lambda uuid: (
        nodes.c.chassis_id == sa.select(chassis.c.id).where(chassis.c.uuid == uuid).scalar_subquery()
    ),
    "top_level": lambda yes: given(nodes.c.parent_node)(not yes),
}


class NodeRow(NamedTuple):
    """The columns of a node that a look-up needs."""

    id: int
    uuid: str
    name: str | None
    provision_state: str
    driver: str
    conductor_group: str


_NODE_ROWS = sa.select(*(nodes.c[name] for name in NodeRow._fields)).order_by(nodes.c.id)


_NO_PARENT: Final = {"parent_node": None}


class Nodes(Reservations):
    """All nodes."""

    filters: ClassVar[Mapping[str, Filter]] = NODE_FILTERS
    virtual: ClassVar[Mapping[str, Virtual]] = {
        "chassis_uuid": Virtual(chassis.c.uuid, nodes.c.chassis_id == chassis.c.id),
        "allocation_uuid": Virtual(allocations.c.uuid, nodes.c.allocation_id == allocations.c.id),
    }
    duplicates: ClassVar[Errors] = {
        "uuid": lambda value: NodeAlreadyExists(resource="node", field="uuid", value=value),
        "name": lambda value: DuplicateName(resource="node", name=value),
        "instance_uuid": lambda value: InstanceAssociated(instance=value),
    }

    def parent_not_found(self, values: Mapping[str, object]) -> IronicError | None:
        """Return the error for a node whose chassis was deleted a moment ago."""
        if values.get("chassis_id") is None:
            return None
        return InvalidParameterValue(err="The chassis was deleted by another request. Choose another one.")

    def traits_of(self, node_id: int) -> list[str]:
        """Return the sorted traits of a node."""
        return Traits(self.transactions).of([node_id])[node_id]

    @unit_of_work
    def delete(self, connection: Connection, ident: str | int) -> None:
        """Remove a node with all that belongs to it; its allocation is the only row without a cascade.

        Child nodes have no parent then, or they would be in no plain list any more.
        """
        uuid = connection.scalar(sa.select(nodes.c.uuid).where(self._matches(ident)))
        connection.execute(sa.update(nodes).where(nodes.c.parent_node == uuid).values(self._with_time(_NO_PARENT)))
        node_id = sa.select(nodes.c.id).where(self._matches(ident)).scalar_subquery()
        connection.execute(sa.delete(allocations).where(allocations.c.node_id == node_id))
        super().delete(ident)

    @unit_of_work
    def delete_held(self, connection: Connection, record: NodeRecord) -> list[str]:
        """Remove a node under the reservation of this record; raises TakenOver if that has ended.

        Returns the UUIDs of its child nodes, which have no parent now.
        """
        self.require_held(record)
        children = [str(uuid) for (uuid,) in self.rows(("uuid",), filters={"parent_node": record.uuid})]
        self.delete(record.id)
        return children

    def count_by_shard(self) -> list[tuple[str | None, int]]:
        """Return each shard and its number of nodes; None stands for nodes without a shard."""
        counted = sa.select(nodes.c.shard, sa.func.count()).group_by(nodes.c.shard).order_by(nodes.c.shard)
        with self.transactions.reading() as connection:
            return [(name, number) for name, number in connection.execute(counted)]

    def are_all_of(self, project: str | None) -> bool:
        """Return whether no node belongs to another project, as owner or, without one, as lessee; None is the site."""
        whose = sa.func.coalesce(nodes.c.owner, nodes.c.lessee)
        other = whose.is_not(None) if project is None else sa.or_(whose.is_(None), whose != project)
        statement = sa.select(nodes.c.id).where(other).limit(1)
        return self.transactions.read(lambda connection: connection.execute(statement).first()) is None

    def by_macs(self, macs: Sequence[str]) -> list[NodeRow]:
        """Return each node that has a port with one of these MAC addresses, once."""
        owners = sa.select(ports.c.node_id).where(ports.c.address.in_([mac.lower() for mac in macs]))
        return self._look_up(_NODE_ROWS.where(nodes.c.id.in_(owners)))

    def by_bmc_addresses(self, addresses: Iterable[str], state: str | None) -> list[NodeRow]:
        """Return each node whose BMC has one of these addresses, once; with a state only nodes in that state."""
        owners = sa.select(node_bmc_addresses.c.node_id).where(node_bmc_addresses.c.address.in_(list(addresses)))
        found = _NODE_ROWS.where(nodes.c.id.in_(owners))
        return self._look_up(found if state is None else found.where(nodes.c.provision_state == state))

    def mentioning(self, texts: Sequence[str]) -> list[tuple[NodeRow, dict[str, object]]]:
        """Return the nodes with one of these texts in their driver_info, and that; the database reads every row."""
        if not texts:
            return []
        columns = [nodes.c[name] for name in NodeRow._fields]
        # The comparison is with the stored JSON text.
        stored = sa.type_coerce(nodes.c.driver_info, sa.Text)
        found = sa.select(*columns, stored).where(sa.or_(*(stored.icontains(text, autoescape=True) for text in texts)))
        rows = self.transactions.read(lambda connection: connection.execute(found).all())
        return [(NodeRow(*row[:-1]), decode_json(row[-1])) for row in rows]

    def discovered_since(self, moment: datetime) -> int:
        """Return how many nodes have been discovered after a time."""
        counted = sa.select(sa.func.count()).where(nodes.c.auto_discovered, nodes.c.created_at > moment)
        with self.transactions.reading() as connection:
            return int(connection.execute(counted).scalar_one())

    def _look_up(self, statement: sa.Select[Any]) -> list[NodeRow]:
        return [NodeRow(*row) for row in self.transactions.read(lambda connection: connection.execute(statement).all())]

    @unit_of_work
    def set_bmc_addresses(self, connection: Connection, node_id: int, addresses: Iterable[str]) -> None:
        """Store the addresses of this node's BMC, which ramdisks are looked up by, in place of the earlier ones."""
        connection.execute(sa.delete(node_bmc_addresses).where(node_bmc_addresses.c.node_id == node_id))
        rows = [{"node_id": node_id, "address": address} for address in sorted(set(addresses))]
        if rows:
            connection.execute(sa.insert(node_bmc_addresses), rows)

    def bmc_addresses(self, node_id: int) -> list[str]:
        """Return the addresses of this node's BMC."""
        column = node_bmc_addresses.c.address
        of_node = sa.select(column).where(node_bmc_addresses.c.node_id == node_id).order_by(column)
        with self.transactions.reading() as connection:
            return list(connection.execute(of_node).scalars())
