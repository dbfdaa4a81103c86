"""What nodes wait for: a row per node and kind, found by the time of its next look.

The rows of a node are written with the node itself, in one transaction (`Reservations.save`). Only the time of the next
look is moved without the node's lock: the conductor that moves it looks.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.core.flows.node_waits import Follows, NodeWait
from ironic.db.column_types import decode_json
from ironic.db.tables import node_waits, nodes
from ironic.db.transactions import Transactions, repeatable_work

_C: Final = node_waits.c
_WAIT: Final = [
    *(_C.kind, _C.interface, _C.words, _C.since, _C.until, _C.next_look, _C.follows, _C.run, _C.changed, _C.memory),
]


class NodeWithWait(NamedTuple):
    """A node that has to be looked at: what decides which conductor and whose share of its workers that takes."""

    uuid: str
    driver: str
    conductor_group: str
    owner: str | None
    lessee: str | None


class NodeWaits:
    """What all nodes wait for."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions

    def of(self, node_id: int) -> list[NodeWait]:
        """Return what a node waits for, the innermost last."""
        return self._read(sa.select(*_WAIT).where(_C.node_id == node_id).order_by(_C.id))

    def get(self, node_id: int, kind: str) -> NodeWait | None:
        """Return the wait of a kind, None if the node has none."""
        found = self._read(sa.select(*_WAIT).where(_C.node_id == node_id, _C.kind == kind))
        return found[0] if found else None

    def due(self, *, of_conductor: bool) -> list[NodeWithWait]:
        """Return the unlocked nodes with a wait that it is time to look at, the longest overdue first.

        ``of_conductor``: those that no interface looks at. In maintenance a flow stands still.
        """
        columns = [nodes.c[name] for name in NodeWithWait._fields]
        stands_still = sa.and_(nodes.c.maintenance, _C.follows != Follows.REQUEST)
        is_due = (_C.next_look <= self.transactions.clock.now(), nodes.c.reservation.is_(None), sa.not_(stands_still))
        found = (
            sa.select(*columns)
            .join_from(node_waits, nodes, nodes.c.id == _C.node_id)
            .where(*is_due, _C.interface.is_(None) if of_conductor else _C.interface.is_not(None))
            .group_by(*columns)
            .order_by(sa.func.min(_C.next_look))
        )
        rows = self.transactions.read(lambda connection: connection.execute(found).all())
        return [NodeWithWait(*row) for row in rows]

    @repeatable_work
    def claim(self, connection: Connection, node_id: int, wait: NodeWait, next_look: datetime) -> bool:
        """Put a look off to a later time; return whether no one else has done so, so that the caller looks now."""
        seen = (_C.node_id == node_id, _C.kind == wait.kind, _C.next_look == wait.next_look)
        return bool(connection.execute(sa.update(node_waits).where(*seen).values(next_look=next_look)).rowcount)

    @repeatable_work
    def put_off(self, connection: Connection, uuid: str, next_look: datetime) -> None:
        """Put off all looks at a node that are due."""
        node_id = sa.select(nodes.c.id).where(nodes.c.uuid == uuid).scalar_subquery()
        due = (_C.node_id == node_id, _C.next_look < next_look)
        connection.execute(sa.update(node_waits).where(*due).values(next_look=next_look))

    def write(self, connection: Connection, node_id: int, waits: Mapping[str, NodeWait | None]) -> None:
        """Store waits of a node by kind, and remove those that are None; writing them twice changes nothing."""
        if ended := [kind for kind, wait in waits.items() if wait is None]:
            connection.execute(sa.delete(node_waits).where(_C.node_id == node_id, _C.kind.in_(ended)))
        for kind, wait in waits.items():
            if wait is None:
                continue
            values = {column.name: getattr(wait, column.name) for column in _WAIT}
            row = sa.update(node_waits).where(_C.node_id == node_id, _C.kind == kind)
            if not connection.execute(row, values).rowcount:
                connection.execute(sa.insert(node_waits), {"node_id": node_id, **values})

    def _read(self, statement: sa.Select[Any]) -> list[NodeWait]:
        rows: Sequence[Any] = self.transactions.read(lambda connection: connection.execute(statement).all())
        return [
            NodeWait(**{**row._mapping, "follows": Follows(row.follows), "memory": decode_json(row.memory or "{}")})
            for row in rows
        ]
