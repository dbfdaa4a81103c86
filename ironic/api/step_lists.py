"""What deploy templates and runbooks have in common: a name, and steps that are shown, written and judged as a whole.

Secrets in the arguments of steps are stored and never shown. Source: doc/contract/steps.md#schemas.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ironic.api import answers, patching, projection
from ironic.api.answers import Answer
from ironic.api.computed import Gather
from ironic.api.json_patch import Change
from ironic.api.refusing import needs_one
from ironic.api.request import Request
from ironic.core import secrets
from ironic.core.model.fields import Resource
from ironic.services import records

if TYPE_CHECKING:
    from ironic.db import Store
    from ironic.db.step_lists import NamedSteps

WHOLE: Final = needs_one("a UUID or name")

# Given the stored list and the values a patch leads to, returns the values to store.
Settle = Callable[[Any, dict[str, Any]], dict[str, Any]]


def shown(lists: "Callable[[Store], NamedSteps[Any]]") -> Gather:
    """Return what shows the steps of a whole page of lists at once."""

    def gather(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
        steps = lists(request.store).steps.of([row[0] for row in rows])
        return [secrets.masked(steps[row[0]]) for row in rows]

    return gather


def created(request: Request, resource: type[Resource], lists: "NamedSteps[Any]", values: Mapping[str, Any]) -> Answer:
    """Store a new list and answer with it."""
    record = lists.create_with({name: value for name, value in values.items() if name != "steps"}, values["steps"])
    document = projection.full(resource, request.minor).of_record(request, record, {})
    # As they were given: a number that was written as text is stored as a number, but shown so only later.
    document["steps"] = secrets.masked(values["steps"])
    return answers.created(document, request.url(f"/v1/{resource.collection}/{record.uuid}"))


def changed(
    request: Request,
    resource: type[Resource],
    lists: "NamedSteps[Any]",
    ident: str,
    changes: Sequence[Change],
    settle: Settle = lambda record, values: values,
) -> Answer:
    """Change a list in one transaction and answer with it."""

    def revise(record: Any) -> dict[str, Any]:
        before = {name: getattr(record, name) for name in resource.writable("patch") if name != "steps"}
        if any(change.root == "steps" for change in changes):
            before["steps"] = lists.steps.of([record.id])[record.id]
        return settle(record, patching.patched(resource, before, changes, request.minor))

    record = records.change_step_list(request.store, lists, ident, revise)
    return answers.document(projection.full(resource, request.minor).of_record(request, record, {}))
