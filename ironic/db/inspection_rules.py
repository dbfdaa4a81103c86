"""Inspection rules that users have posted."""

from collections.abc import Mapping
from typing import ClassVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql.elements import ColumnElement

from ironic.core.errors import IronicError
from ironic.core.resource_errors import InspectionRuleAlreadyExists, InspectionRuleNotFound
from ironic.db.filters import Filter
from ironic.db.record import Record
from ironic.db.repository import Errors, Repository
from ironic.db.tables import InspectionRuleColumns, inspection_rule_hits, inspection_rules
from ironic.db.transactions import unit_of_work


class InspectionRuleRecord(Record, InspectionRuleColumns):
    """One rule."""


class InspectionRules(Repository[InspectionRuleRecord], record=InspectionRuleRecord):
    """All rules that are in the database."""

    filters: ClassVar[Mapping[str, Filter]] = {
        # A rule without a phase is one of phase main.
        "phases": lambda names: sa.func.coalesce(inspection_rules.c.phase, "main").in_(list(names)),
    }
    taken: ClassVar[Errors] = {
        "uuid": lambda value: InspectionRuleAlreadyExists(resource="inspection rule", field="uuid", value=value),
    }

    def missing(self, ident: str | int) -> IronicError:
        """Return the error for a rule that is not there."""
        return InspectionRuleNotFound(rule=ident)

    @unit_of_work
    def delete(self, connection: Connection, ident: str | int) -> None:
        """Remove a rule and its counters."""
        self._forget_hits(connection, self._is(ident))
        super().delete(ident)

    @unit_of_work
    def clear(self, connection: Connection) -> int:
        """Remove all rules with their counters; return how many there were."""
        self._forget_hits(connection, sa.true())
        return connection.execute(sa.delete(inspection_rules)).rowcount

    def _forget_hits(self, connection: Connection, which: ColumnElement[bool]) -> None:
        uuids = sa.select(inspection_rules.c.uuid).where(which)
        connection.execute(sa.delete(inspection_rule_hits).where(inspection_rule_hits.c.uuid.in_(uuids)))
