"""Nodes: what is asked of them beyond what is asked of all rows.

Holding a node is next door, in `reservations`; traits, inventory and history have repositories of their own.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.core.errors import DuplicateName, InstanceAssociated, NodeAlreadyExists
from ironic.db.filters import Filter
from ironic.db.listing import Virtual
from ironic.db.node_filters import NODE_FILTERS
from ironic.db.node_record import NodeRecord
from ironic.db.repository import Errors
from ironic.db.reservations import Reservations
from ironic.db.stored_text import decode
from ironic.db.tables import allocations, chassis, conductors, node_bmc_addresses, nodes, ports
from ironic.db.transactions import unit_of_work


class NodeRow(NamedTuple):
    """What a look-up needs to know of a node."""

    id: int
    uuid: str
    name: str | None
    provision_state: str
    driver: str
    conductor_group: str


_LOOKED_UP = sa.select(*(nodes.c[name] for name in NodeRow._fields)).order_by(nodes.c.id)

# Of the conductors the one that was there first; PostgreSQL lets others refer to it meanwhile.
_TURNSTILE = sa.select(conductors.c.id).order_by(conductors.c.id).limit(1).with_for_update(key_share=True)


class Nodes(Reservations):
    """All nodes."""

    filters: ClassVar[Mapping[str, Filter]] = NODE_FILTERS
    virtual: ClassVar[Mapping[str, Virtual]] = {
        "chassis_uuid": Virtual(chassis.c.uuid, nodes.c.chassis_id == chassis.c.id),
        "allocation_uuid": Virtual(allocations.c.uuid, nodes.c.allocation_id == allocations.c.id),
    }
    taken: ClassVar[Errors] = {
        "uuid": lambda value: NodeAlreadyExists(resource="node", field="uuid", value=value),
        "name": lambda value: DuplicateName(resource="node", name=value),
        "instance_uuid": lambda value: InstanceAssociated(instance=value),
    }

    @unit_of_work
    def delete(self, connection: Connection, ident: str | int) -> None:
        """Remove a node with all that belongs to it; its allocation is the one thing that no cascade reaches."""
        mine = sa.select(nodes.c.id).where(self._is(ident)).scalar_subquery()
        connection.execute(sa.delete(allocations).where(allocations.c.node_id == mine))
        super().delete(ident)

    @unit_of_work
    def delete_held(self, connection: Connection, record: NodeRecord) -> None:
        """Remove a node while it is in the hands it was taken by, or raise TakenOver."""
        self.require_held(record)
        self.delete(record.id)

    def count_by_shard(self) -> list[tuple[str | None, int]]:
        """Return the shards there are and how many nodes each has; None stands for those without one."""
        counted = sa.select(nodes.c.shard, sa.func.count()).group_by(nodes.c.shard).order_by(nodes.c.shard)
        with self.transactions.reading() as connection:
            return [(name, number) for name, number in connection.execute(counted)]

    def count_others(self, record: NodeRecord, **filters: Any) -> int:
        """Count the nodes that match, beside one that is about to; nobody else gets to count before this is committed.

        To be called first in a transaction: on MariaDB it sees what others have committed before its first SELECT.
        """
        connection = self.transactions.require_writing()
        if self.transactions.dialect != "sqlite":
            # SQLite has one writer at a time. Elsewhere a row that all conductors know is the turnstile; the server
            # frees it with the transaction, however that ends.
            connection.execute(_TURNSTILE)
        statement = sa.select(sa.func.count()).select_from(nodes)
        statement = statement.where(*self._listing.conditions(filters), nodes.c.id != record.id)
        return int(connection.execute(statement).scalar_one())

    def by_macs(self, macs: Sequence[str]) -> list[NodeRow]:
        """Return the nodes that own a port with any of these addresses, each once."""
        owners = sa.select(ports.c.node_id).where(ports.c.address.in_([mac.lower() for mac in macs]))
        return self._look_up(_LOOKED_UP.where(nodes.c.id.in_(owners)))

    def by_bmc_addresses(self, addresses: Iterable[str], state: str | None) -> list[NodeRow]:
        """Return the nodes in this provision state, or any, whose BMC has any of these addresses, each once."""
        owners = sa.select(node_bmc_addresses.c.node_id).where(node_bmc_addresses.c.address.in_(list(addresses)))
        found = _LOOKED_UP.where(nodes.c.id.in_(owners))
        return self._look_up(found if state is None else found.where(nodes.c.provision_state == state))

    def mentioning(self, texts: Sequence[str]) -> list[tuple[NodeRow, dict[str, object]]]:
        """Return the nodes, with their driver_info, that have any of these texts in it; looks at every row."""
        if not texts:
            return []
        columns = [nodes.c[name] for name in NodeRow._fields]
        # As text: the look goes over what is stored.
        stored = sa.type_coerce(nodes.c.driver_info, sa.Text)
        found = sa.select(*columns, stored).where(sa.or_(*(stored.icontains(text, autoescape=True) for text in texts)))
        rows = self.transactions.read(lambda connection: connection.execute(found).all())
        return [(NodeRow(*row[:-1]), decode(row[-1])) for row in rows]

    def discovered_since(self, moment: datetime) -> int:
        """Return how many nodes have been discovered since then."""
        counted = sa.select(sa.func.count()).where(nodes.c.auto_discovered, nodes.c.created_at > moment)
        with self.transactions.reading() as connection:
            return int(connection.execute(counted).scalar_one())

    def _look_up(self, statement: sa.Select[Any]) -> list[NodeRow]:
        return [NodeRow(*row) for row in self.transactions.read(lambda connection: connection.execute(statement).all())]

    @unit_of_work
    def set_bmc_addresses(self, connection: Connection, node_id: int, addresses: Iterable[str]) -> None:
        """Say by which addresses a calling ramdisk may name this node's BMC; earlier ones are forgotten."""
        connection.execute(sa.delete(node_bmc_addresses).where(node_bmc_addresses.c.node_id == node_id))
        rows = [{"node_id": node_id, "address": address} for address in sorted(set(addresses))]
        if rows:
            connection.execute(sa.insert(node_bmc_addresses), rows)

    def bmc_addresses(self, node_id: int) -> list[str]:
        """Return the addresses of this node's BMC."""
        column = node_bmc_addresses.c.address
        with self.transactions.reading() as connection:
            return list(
                connection.execute(
                    sa.select(column).where(node_bmc_addresses.c.node_id == node_id).order_by(column)
                ).scalars()
            )
