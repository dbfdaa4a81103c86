"""Named lists of steps: deploy templates and runbooks.

Each is a row with a name, and steps in a table of their own, in the order in which they were given. A list is written
as a whole; the steps of many lists are read in one statement.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql.elements import ColumnElement

from ironic.core.errors import DuplicateName, IronicError
from ironic.core.errors.resource_errors import (
    DeployTemplateAlreadyExists,
    DeployTemplateNotFound,
    RunbookAlreadyExists,
    RunbookNotFound,
)
from ironic.core.flows.steps import number
from ironic.db.column_types import StoredForm, decode_json
from ironic.db.record import Record
from ironic.db.repository import Errors, R, Repository
from ironic.db.row_selection import Filter, any_of
from ironic.db.stored_sizes import size
from ironic.db.tables import (
    DeployTemplateColumns,
    RunbookColumns,
    deploy_template_steps,
    deploy_templates,
    runbook_steps,
    runbook_traits,
    runbooks,
)
from ironic.db.traits import TraitSets
from ironic.db.transactions import Transactions, unit_of_work

Steps = list[dict[str, object]]


class StepLists:
    """The steps of all lists of one kind; ``place`` is the key that orders them: priority or order."""

    def __init__(self, transactions: Transactions, table: sa.Table, owner: str, place: str) -> None:
        self.transactions = transactions
        self._table, self._owner, self._place = table, table.c[owner], place
        self._form = StoredForm(table)
        self._keys = ("interface", "step", "args", place)

    def of(self, owner_ids: Sequence[int]) -> dict[int, Steps]:
        """Return the steps of these lists by id, in one statement."""
        found: dict[int, Steps] = {owner_id: [] for owner_id in owner_ids}
        if not found:
            return found
        columns = [self._table.c[key] for key in self._keys]
        statement = sa.select(self._owner, *columns).where(self._owner.in_(list(found))).order_by(self._table.c.id)
        with self.transactions.reading() as connection:
            for owner_id, *values in connection.execute(statement):
                step = dict(zip(self._keys, values, strict=True))
                found[owner_id].append(step | {"args": decode_json(step["args"])})
        return found

    @unit_of_work
    def replace(self, connection: Connection, owner_id: int, steps: Sequence[Mapping[str, object]]) -> None:
        """Replace the steps of a list."""
        connection.execute(sa.delete(self._table).where(self._owner == owner_id))
        self.append(owner_id, steps)

    @unit_of_work
    def append(self, connection: Connection, owner_id: int, steps: Sequence[Mapping[str, object]]) -> None:
        """Add steps at the end of a list."""
        rows = []
        for step in steps:
            values = {
                self._owner.name: owner_id,
                "interface": step["interface"],
                "step": step["step"],
                "args": step.get("args") or {},
                self._place: number(step[self._place]),
            }
            rows.append(self._form.of_all(values))
        if rows:
            connection.execute(sa.insert(self._table), rows)


class NamedSteps(Repository[R]):
    """The repository of one kind of list."""

    steps: StepLists

    def create_with(self, values: Mapping[str, object], steps: Sequence[Mapping[str, object]]) -> R:
        """Store a new list with its steps, in one transaction."""

        def work(_connection: Connection) -> R:
            record = self.create(values)
            self.steps.append(record.id, steps)
            return record

        return self.transactions.run(work)


# What the columns and the object of a step need besides its arguments, in bytes.
_STEP: Final = 500


def _size_of_steps(steps: sa.Table, owner: str, lists: sa.Table) -> ColumnElement[int]:
    """Return the bytes of all steps of a list."""
    every = sa.func.coalesce(sa.func.sum(size(steps.c.args) + _STEP), 0)
    return sa.select(every).where(steps.c[owner] == lists.c.id).scalar_subquery()


class DeployTemplateRecord(Record, DeployTemplateColumns):
    """One deploy template."""


class DeployTemplates(NamedSteps[DeployTemplateRecord], record=DeployTemplateRecord):
    """All deploy templates; the name of each is the instance trait whose deployments run its steps."""

    parts: ClassVar[Mapping[str, ColumnElement[int]]] = {
        "steps": _size_of_steps(deploy_template_steps, "deploy_template_id", deploy_templates)
    }
    filters: ClassVar[Mapping[str, Filter]] = {"name_in": any_of(deploy_templates.c.name)}
    duplicates: ClassVar[Errors] = {
        "uuid": lambda value: DeployTemplateAlreadyExists(resource="deploy template", field="uuid", value=value),
        "name": lambda value: DuplicateName(resource="deploy template", name=value),
    }

    def __init__(self, transactions: Transactions) -> None:
        super().__init__(transactions)
        self.steps = StepLists(transactions, deploy_template_steps, "deploy_template_id", "priority")

    def steps_of(self, names: Sequence[str]) -> dict[str, Steps]:
        """Return the steps of templates by name; names without a template are left out."""
        rows = self.rows(("id", "name"), filters={"name_in": names}) if names else []
        steps = self.steps.of([row[0] for row in rows])
        return {name: steps[owner_id] for owner_id, name in rows}

    def not_found(self, ident: str | int) -> IronicError:
        """Return the error for a template that does not exist."""
        return DeployTemplateNotFound(template=ident)


class RunbookRecord(Record, RunbookColumns):
    """One runbook."""


class Runbooks(NamedSteps[RunbookRecord], record=RunbookRecord):
    """All runbooks; each is for the nodes that have one of its traits."""

    parts: ClassVar[Mapping[str, ColumnElement[int]]] = {"steps": _size_of_steps(runbook_steps, "runbook_id", runbooks)}
    filters: ClassVar[Mapping[str, Filter]] = {
        "visible_to": lambda project: sa.or_(runbooks.c.owner == project, runbooks.c.public.is_(True)),
    }
    duplicates: ClassVar[Errors] = {
        "uuid": lambda value: RunbookAlreadyExists(resource="runbook", field="uuid", value=value),
        "name": lambda value: DuplicateName(resource="runbook", name=value),
    }

    def __init__(self, transactions: Transactions) -> None:
        super().__init__(transactions)
        self.steps = StepLists(transactions, runbook_steps, "runbook_id", "order")
        self.traits = TraitSets(transactions, runbook_traits, "runbook_id")

    def not_found(self, ident: str | int) -> IronicError:
        """Return the error for a runbook that does not exist."""
        return RunbookNotFound(runbook=ident)
