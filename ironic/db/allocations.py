"""Allocations: requests for a node, and which node each of them got.

The row of an unfinished allocation has the id of the conductor that works on it, and a conductor writes only while it
is that one: a conductor that was replaced because it seemed dead can't overwrite the work of its successor.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql.elements import ColumnElement

from ironic.core.allocation_matching import ALLOCATING, POWER_UNKNOWN, AllocationRequest
from ironic.core.errors import DuplicateName, IronicError
from ironic.core.errors.resource_errors import AllocationAlreadyExists, AllocationNotFound
from ironic.core.flows import states
from ironic.db.record import Record
from ironic.db.repository import Errors, Repository
from ironic.db.row_selection import Virtual, equals
from ironic.db.tables import AllocationColumns, allocations, conductors, node_traits, nodes
from ironic.db.transactions import unit_of_work


class AllocationRecord(Record, AllocationColumns):
    """One allocation."""


class CandidateRow(NamedTuple):
    """A node that fits an allocation."""

    id: int
    uuid: str
    name: str | None


class Allocations(Repository[AllocationRecord], record=AllocationRecord):
    """All allocations."""

    virtual: ClassVar[Mapping[str, Virtual]] = {
        "node_uuid": Virtual(nodes.c.uuid, allocations.c.node_id == nodes.c.id),
    }
    duplicates: ClassVar[Errors] = {
        "uuid": lambda value: AllocationAlreadyExists(resource="allocation", field="uuid", value=value),
        "name": lambda value: DuplicateName(resource="allocation", name=value),
    }

    def not_found(self, ident: str | int) -> IronicError:
        """Return the error for an allocation that does not exist."""
        return AllocationNotFound(allocation=ident)

    # Search for a node

    def uuids_of(self, idents: Iterable[str], project: str | None = None) -> dict[str, str]:
        """Return the UUIDs of nodes given by UUID or name, keyed by both; with a project only of its nodes."""
        names = list(idents)
        named = sa.or_(nodes.c.uuid.in_(names), nodes.c.name.in_(names))
        statement = sa.select(nodes.c.uuid, nodes.c.name).where(named, *_of_project(project))
        with self.transactions.reading() as connection:
            found = connection.execute(statement).all()
        return {ident: uuid for uuid, name in found for ident in (uuid, name) if ident is not None}

    def candidates(self, wanted: AllocationRequest) -> list[CandidateRow]:
        """Return the nodes that fit now, reserved ones included, in one statement."""
        conditions = [
            nodes.c.provision_state == states.AVAILABLE,
            nodes.c.maintenance.is_(False),
            nodes.c.instance_uuid.is_(None),
            nodes.c.power_state.is_not(None),
            nodes.c.power_state.not_in(POWER_UNKNOWN),
            nodes.c.resource_class == wanted.resource_class,
            *_of_project(wanted.owner),
        ]
        if wanted.traits:
            has_trait = sa.and_(node_traits.c.node_id == nodes.c.id, node_traits.c.trait.in_(wanted.traits))
            number = sa.select(sa.func.count()).where(has_trait).scalar_subquery()
            conditions.append(number == len(set(wanted.traits)))
        if wanted.candidates:
            conditions.append(nodes.c.uuid.in_(wanted.candidates))
        fitting = sa.select(*(nodes.c[name] for name in CandidateRow._fields)).where(*conditions).order_by(nodes.c.id)
        rows = self.transactions.read(lambda connection: connection.execute(fitting).all())
        return [CandidateRow(*row) for row in rows]

    # Work on an allocation

    @unit_of_work
    def claim(
        self,
        connection: Connection,
        allocation_id: int,
        host: str,
        *,
        after: int | None,
        incarnation: str | None = None,
    ) -> bool:
        """Assign an allocation to a conductor if it was assigned to ``after``; return whether it is.

        With an incarnation this succeeds only for the newest one of the conductor.
        """
        before = equals(allocations.c.conductor_affinity)(after)
        unfinished = sa.update(allocations).where(_is_unfinished(allocation_id), before)
        if incarnation is not None:
            unfinished = unfinished.where(_conductor_id(host, incarnation).exists())
        return bool(
            connection.execute(unfinished.values(conductor_affinity=_conductor_id(host).scalar_subquery())).rowcount
        )

    @unit_of_work
    def finish(
        self,
        connection: Connection,
        allocation_id: int,
        host: str,
        values: Mapping[str, object],
        incarnation: str | None = None,
    ) -> bool:
        """Store the result if the allocation is unfinished and assigned to this conductor; return whether it was."""
        stored = self._form.of_all({"updated_at": self.now(), **values})
        conductor_id = _conductor_id(host, incarnation).scalar_subquery()
        assigned = sa.update(allocations).where(
            _is_unfinished(allocation_id), allocations.c.conductor_affinity == conductor_id
        )
        return bool(connection.execute(assigned.values(stored)).rowcount)

    # Deletion

    @unit_of_work
    def withdraw(self, connection: Connection, allocation_id: int) -> bool:
        """Remove an unfinished allocation that no conductor works on; return whether there was one."""
        unassigned = sa.delete(allocations).where(
            _is_unfinished(allocation_id), allocations.c.conductor_affinity.is_(None)
        )
        return bool(connection.execute(unassigned).rowcount)

    @unit_of_work
    def delete_unmatched(self, connection: Connection, uuid: str) -> bool:
        """Remove an allocation that has no node; return whether there was one."""
        unmatched = sa.delete(allocations).where(allocations.c.uuid == uuid, allocations.c.node_id.is_(None))
        return bool(connection.execute(unmatched).rowcount)

    @unit_of_work
    def delete_of(self, connection: Connection, node_id: int) -> None:
        """Remove the allocation of a node, if it has one."""
        connection.execute(sa.delete(allocations).where(allocations.c.node_id == node_id))


def _is_unfinished(allocation_id: int) -> ColumnElement[bool]:
    return sa.and_(allocations.c.id == allocation_id, allocations.c.state == ALLOCATING)


def _conductor_id(host: str, incarnation: str | None = None) -> sa.Select[tuple[int]]:
    """Return the query of a conductor's id; with an incarnation it finds nothing unless that is the newest."""
    one = sa.select(conductors.c.id).where(conductors.c.hostname == host)
    return one if incarnation is None else one.where(conductors.c.incarnation == incarnation)


def _of_project(project: str | None) -> Sequence[ColumnElement[bool]]:
    return [] if project is None else [sa.or_(nodes.c.owner == project, nodes.c.lessee == project)]
