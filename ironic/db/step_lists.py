"""Lists of steps under a name: deploy templates and runbooks.

Both are a row with a name and the steps that belong to it, kept in the order they were given in. A list is written as a
whole; the steps of many lists are read in one statement.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql.elements import ColumnElement

from ironic.core.errors import DuplicateName, IronicError
from ironic.core.resource_errors import (
    DeployTemplateAlreadyExists,
    DeployTemplateNotFound,
    RunbookAlreadyExists,
    RunbookNotFound,
)
from ironic.core.steps import number
from ironic.db.filters import Filter, any_of
from ironic.db.record import Record
from ironic.db.repository import Errors, R, Repository
from ironic.db.stored_form import StoredForm
from ironic.db.stored_text import decode
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
    """The steps of all lists of one kind; ``place`` is the key that says where a step stands among others."""

    def __init__(self, transactions: Transactions, table: sa.Table, owner: str, place: str) -> None:
        self.transactions = transactions
        self._table, self._owner, self._place = table, table.c[owner], place
        self._form = StoredForm(table)
        self._keys = ("interface", "step", "args", place)

    def of(self, owner_ids: Sequence[int]) -> dict[int, Steps]:
        """Return the steps of these lists, each list in its order. One statement."""
        found: dict[int, Steps] = {owner_id: [] for owner_id in owner_ids}
        if found:
            self._read_into(found)
        return found

    def _read_into(self, found: dict[int, Steps]) -> None:
        columns = [self._table.c[key] for key in self._keys]
        theirs = sa.select(self._owner, *columns).where(self._owner.in_(list(found))).order_by(self._table.c.id)
        with self.transactions.reading() as connection:
            for owner_id, *values in connection.execute(theirs):
                step = dict(zip(self._keys, values, strict=True))
                found[owner_id].append(step | {"args": decode(step["args"])})

    @unit_of_work
    def replace(self, connection: Connection, owner_id: int, steps: Sequence[Mapping[str, object]]) -> None:
        """Give the list exactly these steps."""
        connection.execute(sa.delete(self._table).where(self._owner == owner_id))
        self.append(owner_id, steps)

    @unit_of_work
    def append(self, connection: Connection, owner_id: int, steps: Sequence[Mapping[str, object]]) -> None:
        """Give the list these steps after those it has."""
        if rows := [self._row(owner_id, step) for step in steps]:
            connection.execute(sa.insert(self._table), rows)

    def _row(self, owner_id: int, step: Mapping[str, object]) -> dict[str, object]:
        values = {key: step[key] for key in ("interface", "step")} | {"args": step.get("args") or {}}
        return self._form.of_all(values | {self._owner.name: owner_id, self._place: number(step[self._place])})


class NamedSteps(Repository[R]):
    """What the two kinds of list have in common."""

    steps: StepLists

    def create_with(self, values: Mapping[str, object], steps: Sequence[Mapping[str, object]]) -> R:
        """Store a new list with its steps, in one transaction."""
        return self.transactions.run(lambda _: self._created_with(values, steps))

    def _created_with(self, values: Mapping[str, object], steps: Sequence[Mapping[str, object]]) -> R:
        record = self.create(values)
        self.steps.append(record.id, steps)
        return record


class DeployTemplateRecord(Record, DeployTemplateColumns):
    """One deploy template."""


class DeployTemplates(NamedSteps[DeployTemplateRecord], record=DeployTemplateRecord):
    """All deploy templates; the steps of one join a deployment whose instance asks for the trait it is named after."""

    filters: ClassVar[Mapping[str, Filter]] = {"name_in": any_of(deploy_templates.c.name)}
    taken: ClassVar[Errors] = {
        "uuid": lambda value: DeployTemplateAlreadyExists(resource="deploy template", field="uuid", value=value),
        "name": lambda value: DuplicateName(resource="deploy template", name=value),
    }

    def __init__(self, transactions: Transactions) -> None:
        super().__init__(transactions)
        self.steps = StepLists(transactions, deploy_template_steps, "deploy_template_id", "priority")

    def steps_of(self, names: Sequence[str]) -> dict[str, Steps]:
        """Return the steps of the templates with these names, by name; a name that is no template's is left out."""
        rows = self.rows(("id", "name"), filters={"name_in": names}) if names else []
        steps = self.steps.of([row[0] for row in rows])
        return {name: steps[owner_id] for owner_id, name in rows}

    def missing(self, ident: str | int) -> IronicError:
        """Return the error for a template that is not there."""
        return DeployTemplateNotFound(template=ident)


class RunbookRecord(Record, RunbookColumns):
    """One runbook."""


def _visible_to(project: str) -> ColumnElement[bool]:
    return sa.or_(runbooks.c.owner == project, runbooks.c.public.is_(True))


class Runbooks(NamedSteps[RunbookRecord], record=RunbookRecord):
    """All runbooks; one is for the nodes it shares a trait with."""

    filters: ClassVar[Mapping[str, Filter]] = {"visible_to": _visible_to}
    taken: ClassVar[Errors] = {
        "uuid": lambda value: RunbookAlreadyExists(resource="runbook", field="uuid", value=value),
        "name": lambda value: DuplicateName(resource="runbook", name=value),
    }

    def __init__(self, transactions: Transactions) -> None:
        super().__init__(transactions)
        self.steps = StepLists(transactions, runbook_steps, "runbook_id", "order")
        self.traits = TraitSets(transactions, runbook_traits, "runbook_id")

    def missing(self, ident: str | int) -> IronicError:
        """Return the error for a runbook that is not there."""
        return RunbookNotFound(runbook=ident)
