"""The last inspections of nodes, by their start.

The start is not stored for ever: after an inspection its end stands in for it, after a failed one the time at which the
node failed. One statement reads a page.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from ironic.core.errors import MarkerNotFound
from ironic.core.flows import states
from ironic.core.flows.flow import INSPECT
from ironic.db.column_types import decode_json
from ironic.db.tables import nodes
from ironic.db.transactions import Transactions

WAITING: Final = "waiting"
WORKING: Final = "working"
FAILED: Final = "failed"
FINISHED: Final = "finished"


class IntrospectionRow(NamedTuple):
    """What a node's columns say of its last inspection; ``progress`` is one of the four words above."""

    uuid: str
    owner: str | None
    lessee: str | None
    provision_updated_at: datetime | None
    inspection_started_at: datetime | None
    inspection_finished_at: datetime | None
    last_error: str | None
    progress: str
    driver_internal_info: dict[str, Any]


# A node that discovery has created stays in its state while its data are processed, and after a failure.
_IS_NEW: Final = sa.and_(nodes.c.auto_discovered, nodes.c.provision_state == states.ENROLL)
_PROGRESS: Final = sa.case(
    (nodes.c.provision_state == INSPECT.waiting, WAITING),
    (nodes.c.provision_state == INSPECT.working, WORKING),
    (nodes.c.provision_state == INSPECT.failed, FAILED),
    (nodes.c.inspection_finished_at.is_not(None), FINISHED),
    (sa.and_(_IS_NEW, nodes.c.last_error.is_not(None)), FAILED),
    (_IS_NEW, WORKING),
)
_COLUMNS: Final = [
    _PROGRESS.label("progress") if name == "progress" else nodes.c[name] for name in IntrospectionRow._fields
]


def _start(table: Any) -> Any:
    return sa.func.coalesce(
        table.c.inspection_started_at, table.c.inspection_finished_at, table.c.provision_updated_at, table.c.created_at
    )


class Introspections:
    """The last inspections of all nodes."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions

    def of(self, node_id: int) -> IntrospectionRow | None:
        """Return the last inspection of a node, None if there was none."""
        found = self._read(sa.select(*_COLUMNS).where(_PROGRESS.is_not(None), nodes.c.id == node_id))
        return found[0] if found else None

    def page(
        self,
        *,
        limit: int,
        marker: str | None = None,
        progress: Sequence[str] | None = None,
        project: str | None = None,
    ) -> list[IntrospectionRow]:
        """Return the newest inspections, or those that follow the one of the node ``marker``; raises MarkerNotFound.

        ``progress`` has the words to list; ``project`` narrows the list to nodes that it owns or leases.
        """
        visible: list[sa.ColumnElement[bool]] = [_PROGRESS.is_not(None)]
        if project is not None:
            visible.append(sa.or_(nodes.c.owner == project, nodes.c.lessee == project))
        chosen = list(visible) if progress is None else [*visible, _PROGRESS.in_(progress)]
        start = _start(nodes)
        if marker is not None:
            self._require(marker, visible)
            marked = nodes.alias("marked")
            is_later = sa.or_(start < _start(marked), sa.and_(start == _start(marked), nodes.c.id < marked.c.id))
            chosen.append(sa.exists().where(marked.c.uuid == marker, is_later))
        return self._read(sa.select(*_COLUMNS).where(*chosen).order_by(start.desc(), nodes.c.id.desc()).limit(limit))

    def _require(self, marker: str, visible: Sequence[sa.ColumnElement[bool]]) -> None:
        found = sa.select(nodes.c.id).where(nodes.c.uuid == marker, *visible)
        if self.transactions.read(lambda connection: connection.execute(found).first()) is None:
            raise MarkerNotFound(marker=marker)

    def _read(self, statement: sa.Select[Any]) -> list[IntrospectionRow]:
        rows = self.transactions.read(lambda connection: connection.execute(statement).all())
        return [IntrospectionRow(*(*row[:-1], decode_json(row[-1] or "{}"))) for row in rows]
