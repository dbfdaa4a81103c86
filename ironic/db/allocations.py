"""Allocations: requests for a node, and which node each of them got.

An allocation that is being matched carries the id of the conductor at work on it; every write of that conductor holds
only while it is still named there, so one that was taken for dead and came back can't undo what its successor did.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql.elements import ColumnElement

from ironic.core import states
from ironic.core.allocation import ALLOCATING, POWER_UNKNOWN, Wanted
from ironic.core.errors import DuplicateName, IronicError
from ironic.core.resource_errors import AllocationAlreadyExists, AllocationNotFound
from ironic.db.filters import equals
from ironic.db.listing import Virtual
from ironic.db.record import Record
from ironic.db.repository import Errors, Repository
from ironic.db.tables import AllocationColumns, allocations, conductors, node_traits, nodes
from ironic.db.transactions import unit_of_work


class AllocationRecord(Record, AllocationColumns):
    """One allocation."""


class CandidateRow(NamedTuple):
    """A node that fits an allocation at first sight."""

    id: int
    uuid: str
    name: str | None


class Allocations(Repository[AllocationRecord], record=AllocationRecord):
    """All allocations."""

    virtual: ClassVar[Mapping[str, Virtual]] = {
        "node_uuid": Virtual(nodes.c.uuid, allocations.c.node_id == nodes.c.id),
    }
    taken: ClassVar[Errors] = {
        "uuid": lambda value: AllocationAlreadyExists(resource="allocation", field="uuid", value=value),
        "name": lambda value: DuplicateName(resource="allocation", name=value),
    }

    def missing(self, ident: str | int) -> IronicError:
        """Return the error for an allocation that is not there."""
        return AllocationNotFound(allocation=ident)

    # Looking for a node

    def uuids_of(self, idents: Iterable[str], project: str | None = None) -> dict[str, str]:
        """Return the UUID of each node that is named, by UUID or name, out of those of a project if one is said."""
        names = list(idents)
        named = sa.or_(nodes.c.uuid.in_(names), nodes.c.name.in_(names))
        theirs = sa.select(nodes.c.uuid, nodes.c.name).where(named, *_of_project(project))
        with self.transactions.reading() as connection:
            found = connection.execute(theirs).all()
        return {ident: uuid for uuid, name in found for ident in (uuid, name) if ident is not None}

    def candidates(self, wanted: Wanted) -> list[CandidateRow]:
        """Return the nodes that fit at this moment, held ones too. One statement."""
        conditions = [
            nodes.c.provision_state == states.AVAILABLE,
            nodes.c.maintenance.is_(False),
            nodes.c.instance_uuid.is_(None),
            nodes.c.power_state.is_not(None),
            nodes.c.power_state.not_in(POWER_UNKNOWN),
            nodes.c.resource_class == wanted.resource_class,
            *_of_project(wanted.owner),
            *_with_traits(wanted.traits),
        ]
        if wanted.candidates:
            conditions.append(nodes.c.uuid.in_(wanted.candidates))
        fitting = sa.select(*(nodes.c[name] for name in CandidateRow._fields)).where(*conditions).order_by(nodes.c.id)
        return [
            CandidateRow(*row) for row in self.transactions.read(lambda connection: connection.execute(fitting).all())
        ]

    # Being at work

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
        """Make a conductor the one at work on an allocation, if the one before is as said; tell whether it is now.

        With an incarnation only its newest life can do that.
        """
        before = equals(allocations.c.conductor_affinity)(after)
        unfinished = sa.update(allocations).where(_is_unfinished(allocation_id), before)
        if incarnation is not None:
            unfinished = unfinished.where(_life(host, incarnation).exists())
        return bool(connection.execute(unfinished.values(conductor_affinity=_id_of(host))).rowcount)

    @unit_of_work
    def finish(
        self,
        connection: Connection,
        allocation_id: int,
        host: str,
        values: Mapping[str, object],
        incarnation: str | None = None,
    ) -> bool:
        """Write the result of the conductor at work; tell whether it was still its allocation."""
        stored = self._form.of_all({"updated_at": self.now(), **values})
        mine = sa.update(allocations).where(
            _is_unfinished(allocation_id), allocations.c.conductor_affinity == _id_of(host, incarnation)
        )
        return bool(connection.execute(mine.values(stored)).rowcount)

    # Going away

    @unit_of_work
    def withdraw(self, connection: Connection, allocation_id: int) -> bool:
        """Remove an allocation that no conductor has taken up; tell whether there was one."""
        untouched = sa.delete(allocations).where(
            _is_unfinished(allocation_id), allocations.c.conductor_affinity.is_(None)
        )
        return bool(connection.execute(untouched).rowcount)

    @unit_of_work
    def delete_unmatched(self, connection: Connection, uuid: str) -> bool:
        """Remove an allocation that has no node; tell whether there was one."""
        lonely = sa.delete(allocations).where(allocations.c.uuid == uuid, allocations.c.node_id.is_(None))
        return bool(connection.execute(lonely).rowcount)

    @unit_of_work
    def delete_of(self, connection: Connection, node_id: int) -> None:
        """Remove the allocation of a node, if it has one."""
        connection.execute(sa.delete(allocations).where(allocations.c.node_id == node_id))


def _is_unfinished(allocation_id: int) -> ColumnElement[bool]:
    return sa.and_(allocations.c.id == allocation_id, allocations.c.state == ALLOCATING)


def _id_of(host: str, incarnation: str | None = None) -> sa.ScalarSelect[int]:
    return _life(host, incarnation).scalar_subquery()


def _life(host: str, incarnation: str | None) -> sa.Select[tuple[int]]:
    """Return the id of a conductor, with an incarnation only if that is its newest."""
    one = sa.select(conductors.c.id).where(conductors.c.hostname == host)
    return one if incarnation is None else one.where(conductors.c.incarnation == incarnation)


def _of_project(project: str | None) -> Sequence[ColumnElement[bool]]:
    return [] if project is None else [sa.or_(nodes.c.owner == project, nodes.c.lessee == project)]


def _with_traits(traits: Sequence[str]) -> Sequence[ColumnElement[bool]]:
    """Return the condition that a node has all of these traits."""
    if not traits:
        return []
    its = sa.select(sa.func.count()).where(node_traits.c.node_id == nodes.c.id, node_traits.c.trait.in_(traits))
    return [its.scalar_subquery() == len(set(traits))]
