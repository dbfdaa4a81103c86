"""Creating, changing and deleting runbooks: who may, and with which steps. No conductor has a part in it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ironic.api import access, step_lists
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.forms import Create, Delete, Patch
from ironic.api.json_patch import Change
from ironic.api.request import Request
from ironic.api.resources.runbooks import rules
from ironic.api.routes import Route
from ironic.core import user_steps
from ironic.core.model.runbook import Runbook

if TYPE_CHECKING:
    from ironic.db import RunbookRecord


def create(request: Request, values: dict[str, object]) -> Answer:
    """Add a runbook."""
    settled = rules.settled_new(values, _caller(request))
    _check_new(request, settled)
    return step_lists.created(request, Runbook, request.store.runbooks, settled)


def _check_new(request: Request, values: dict[str, Any]) -> None:
    """Ask what a patch would ask: whose it is, whether it is everybody's, and which steps it has."""
    owner = values.get("owner")
    if values.get("public"):
        access.require_right(request, "baremetal:runbook:update:public")
    if owner is not None and owner != request.context.project_id:
        access.require_right(request, "baremetal:runbook:update:owner")
    _check_steps(request, values, owner)


def _check_steps(request: Request, values: dict[str, Any], owner: str | None) -> None:
    """Refuse steps that the caller could not run on a node of the project whose the runbook is."""
    access.require_steps(request, user_steps.names(values.get("steps", [])), owner, owner)


def _caller(request: Request) -> rules.Caller:
    return rules.Caller(request.context.project_id, not access.is_site_operator(request))


def patch(request: Request, runbook: str, changes: Sequence[Change]) -> Answer:
    """Change a runbook."""

    def settle(record: "RunbookRecord", values: dict[str, object]) -> dict[str, object]:
        _check_rights(request, record, changes)
        settled = rules.settled(values, was_public=record.public)
        _check_steps(request, settled, settled.get("owner", record.owner))
        return settled

    return step_lists.changed(request, Runbook, request.store.runbooks, runbook, changes, settle)


def _check_rights(request: Request, record: "RunbookRecord", changes: Sequence[Change]) -> None:
    for rule in rules.rules_for(changes):
        access.require_own(request, rule, "runbook", record.uuid, record.owner, record.public)


def delete(request: Request, runbook: str) -> Answer:
    """Delete a runbook."""
    request.store.runbooks.delete(runbook)
    return NO_CONTENT


_ALL, _ONE = "/v1/runbooks", "/v1/runbooks/{runbook}"

# The rules of a patch depend on what is changed: see the handler.
ROUTES = (
    Route(
        "POST",
        _ALL,
        create,
        since=92,
        below=405,
        rule="baremetal:runbook:create",
        of=Create(Runbook, rules.check_new, rules.OF_NEW),
    ),
    Route("PATCH", _ALL, step_lists.WHOLE, since=92, below=405),
    Route("DELETE", _ALL, step_lists.WHOLE, since=92, below=405),
    Route("POST", _ONE, step_lists.WHOLE, since=92, below=405),
    Route("PATCH", _ONE, patch, since=92, below=405, rule="baremetal:runbook:get", of=Patch(Runbook)),
    Route("DELETE", _ONE, delete, since=92, below=405, rule="baremetal:runbook:delete", of=Delete(Runbook)),
)
