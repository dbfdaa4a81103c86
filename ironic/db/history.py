"""The history of nodes: one row per event, never changed; old events are trimmed.

Text that is too long is cut, not refused: recording an event must not fail the work that it records.
"""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.core.errors import IronicError
from ironic.core.errors.resource_errors import NodeHistoryNotFound
from ironic.core.secrets.masking import masked_text
from ironic.db.column_types import storable
from ironic.db.record import Record
from ironic.db.repository import Repository
from ironic.db.row_selection import Virtual
from ironic.db.tables import HistoryColumns, node_history, nodes
from ironic.db.transactions import unit_of_work

LONGEST_EVENT = 64 * 1024
_DELETED_AT_ONCE = 500
_INSERT = sa.insert(node_history)
_LENGTHS = {str(column.name): getattr(column.type, "length", None) for column in node_history.c}


class HistoryRecord(Record, HistoryColumns):
    """One event."""


class History(Repository[HistoryRecord], record=HistoryRecord):
    """The events of all nodes."""

    virtual: ClassVar[Mapping[str, Virtual]] = {
        "node_uuid": Virtual(nodes.c.uuid, node_history.c.node_id == nodes.c.id),
    }

    def not_found(self, ident: str | int) -> IronicError:
        """Return the error for an entry that does not exist."""
        return NodeHistoryNotFound(entry=ident)

    @unit_of_work
    def add(
        self,
        connection: Connection,
        node_id: int,
        *,
        event: str,
        event_type: str,
        severity: str,
        conductor: str | None,
        user: str | None = None,
        project: str | None = None,
        state: str | None = None,
        target: str | None = None,
        seconds: int | None = None,
    ) -> None:
        """Record an event; ``seconds`` is the duration of the work that ended with it.

        ``conductor`` is None for what an API process has done.
        """
        texts: dict[str, str | None] = {
            "event": masked_text(event),
            "event_type": event_type,
            "severity": severity,
            "conductor": conductor,
            "user": user,
            "project": project,
            "state": state,
            "target_provision_state": target,
        }
        values: dict[str, Any] = {
            "node_id": node_id,
            "uuid": str(uuid.uuid4()),
            "created_at": self.now(),
            "duration_seconds": seconds,
        }
        for name, text in texts.items():
            values[name] = text and storable(text, _LENGTHS[name] or LONGEST_EVENT)
        connection.execute(_INSERT, values)

    def trim(self, keep: int, older_than: datetime, limit: int | None = None) -> int:
        """Remove what is older and not among a node's newest ``keep``, at most ``limit`` entries; return how many."""
        entries = sa.func.count()
        long = sa.select(node_history.c.node_id).group_by(node_history.c.node_id).having(entries > keep)
        with self.transactions.reading() as connection:
            node_ids = list(connection.execute(long).scalars())
        removed = 0
        for node_id in node_ids:
            left = None if limit is None else limit - removed
            if left == 0:
                break
            removed += self._trim_node(node_id, keep, older_than, left)
        return removed

    @unit_of_work
    def _trim_node(
        self, connection: Connection, node_id: int, keep: int, older_than: datetime, limit: int | None
    ) -> int:
        of_node = node_history.c.node_id == node_id
        newest = sa.select(node_history.c.id).where(of_node).order_by(node_history.c.id.desc()).offset(keep).limit(1)
        last = connection.execute(newest).scalar()
        if last is None:
            return 0
        old = sa.select(node_history.c.id).where(
            of_node, node_history.c.id <= last, node_history.c.created_at < older_than
        )
        # By id: MySQL has no LIMIT in a subquery of the table that is deleted from.
        ids = connection.execute(old.order_by(node_history.c.id).limit(limit)).scalars().all()
        for first in range(0, len(ids), _DELETED_AT_ONCE):
            part = ids[first : first + _DELETED_AT_ONCE]
            connection.execute(sa.delete(node_history).where(node_history.c.id.in_(part)))
        return len(ids)
