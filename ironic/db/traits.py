"""Traits: a set of names per node, or per runbook."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql.elements import ColumnElement

from ironic.core.errors.resource_errors import NodeTraitNotFound
from ironic.db.tables import node_traits, nodes
from ironic.db.transactions import Transactions, unit_of_work


class NodeTrait(NamedTuple):
    """One trait of a node."""

    node_id: int
    trait: str


class NodeTraits:
    """The traits of one node as they were read; ``objects`` has them in the order of their names."""

    def __init__(self, node_id: int, names: Iterable[str]) -> None:
        self.objects = [NodeTrait(node_id, name) for name in names]

    def get_trait_names(self) -> list[str]:
        """Return the names."""
        return [one.trait for one in self.objects]


class TraitSets:
    """The traits of all rows of one table; ``owner`` is the column with the id of a trait's row."""

    def __init__(self, transactions: Transactions, table: sa.Table, owner: str) -> None:
        self.transactions = transactions
        self._table, self._owner, self._trait = table, table.c[owner], table.c.trait
        # Built once: that costs as much as executing it.
        of_these = self._owner.in_(sa.bindparam("owners", expanding=True))
        self._pairs = sa.select(self._owner, self._trait).where(of_these)

    def of(self, owner_ids: Sequence[int]) -> dict[int, list[str]]:
        """Return the sorted traits of these rows by id, in one statement; a row without traits has an empty list."""
        found: dict[int, list[str]] = {owner_id: [] for owner_id in owner_ids}
        if not found:
            return found
        owners = {"owners": list(found)}
        for owner_id, trait in self.transactions.read(lambda connection: connection.execute(self._pairs, owners).all()):
            found[owner_id].append(trait)
        for traits in found.values():
            traits.sort()
        return found

    @unit_of_work
    def replace(self, connection: Connection, owner_id: int, traits: Iterable[str]) -> None:
        """Replace the traits of a row."""
        connection.execute(sa.delete(self._table).where(self._owner == owner_id))
        rows = [{self._owner.name: owner_id, "trait": trait} for trait in sorted(set(traits))]
        if rows:
            connection.execute(sa.insert(self._table), rows)

    @unit_of_work
    def add(self, connection: Connection, owner_id: int, trait: str) -> None:
        """Add one trait to a row unless it has it."""
        if connection.execute(sa.select(self._trait).where(self._matches(owner_id, trait))).first() is None:
            connection.execute(sa.insert(self._table).values({self._owner.name: owner_id, "trait": trait}))

    @unit_of_work
    def discard(self, connection: Connection, owner_id: int, trait: str) -> bool:
        """Remove one trait from a row; return whether it had it."""
        return bool(connection.execute(sa.delete(self._table).where(self._matches(owner_id, trait))).rowcount)

    def _matches(self, owner_id: int, trait: str) -> ColumnElement[bool]:
        return sa.and_(self._owner == owner_id, self._trait == trait)


class Traits(TraitSets):
    """The traits of all nodes."""

    def __init__(self, transactions: Transactions) -> None:
        super().__init__(transactions, node_traits, "node_id")

    def remove(self, node_id: int, trait: str) -> None:
        """Remove one trait from a node; raises NodeTraitNotFound if it does not have it."""
        if not self.discard(node_id, trait):
            with self.transactions.reading() as connection:
                node = connection.scalar(sa.select(nodes.c.uuid).where(nodes.c.id == node_id))
            raise NodeTraitNotFound(node=node, trait=trait)
