"""Traits of nodes: a set of words per node, read for many nodes at once."""

from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.core.errors import NodeTraitNotFound
from ironic.db.tables import node_traits
from ironic.db.transactions import Transactions, unit_of_work


class Traits:
    """The traits of all nodes."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions

    def of(self, node_ids: Sequence[int]) -> dict[int, list[str]]:
        """Return the traits of these nodes, sorted; a node without any has an empty list. One statement."""
        found: dict[int, list[str]] = {node_id: [] for node_id in node_ids}
        if found:
            self._read_into(found)
        return found

    def _read_into(self, found: dict[int, list[str]]) -> None:
        pairs = sa.select(node_traits.c.node_id, node_traits.c.trait).where(node_traits.c.node_id.in_(list(found)))
        with self.transactions.reading() as connection:
            for node_id, trait in connection.execute(pairs):
                found[node_id].append(trait)
        for traits in found.values():
            traits.sort()

    @unit_of_work
    def replace(self, connection: Connection, node_id: int, traits: Iterable[str]) -> None:
        """Give the node exactly these traits."""
        connection.execute(sa.delete(node_traits).where(node_traits.c.node_id == node_id))
        rows = [{"node_id": node_id, "trait": trait} for trait in sorted(set(traits))]
        if rows:
            connection.execute(sa.insert(node_traits), rows)

    @unit_of_work
    def add(self, connection: Connection, node_id: int, trait: str) -> None:
        """Give the node one more trait; a trait it has already stays."""
        is_it = (node_traits.c.node_id == node_id) & (node_traits.c.trait == trait)
        if connection.execute(sa.select(node_traits.c.trait).where(is_it)).first() is None:
            connection.execute(sa.insert(node_traits).values(node_id=node_id, trait=trait))

    @unit_of_work
    def remove(self, connection: Connection, node_id: int, trait: str) -> None:
        """Take one trait from the node."""
        is_it = (node_traits.c.node_id == node_id) & (node_traits.c.trait == trait)
        if not connection.execute(sa.delete(node_traits).where(is_it)).rowcount:
            raise NodeTraitNotFound(node=node_id, trait=trait)
