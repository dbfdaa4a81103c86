"""Runbooks: steps under a name that operators let others run on the nodes they are for.

Rows and nothing more; no conductor has a part in them. What is done with one is `runbook_use`.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from ironic.api import access, answers, input, json_patch, listing
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.json_patch import Change
from ironic.api.request import Request
from ironic.api.resources import runbook_rules, step_lists
from ironic.api.resources.runbook_fields import Runbook
from ironic.api.routes import Route
from ironic.core import user_steps
from ironic.core.errors import InvalidParameterValue
from ironic.core.values import TraitName, TraitNames

if TYPE_CHECKING:
    from ironic.db import RunbookRecord

_NEW_TRAITS: Final = (("traits", TraitNames()),)
_NEW_TRAIT: Final = (("trait", TraitName()),)


def index(request: Request) -> Answer:
    """List the runbooks that the caller may see."""
    page = listing.read(request, Runbook)
    filters: dict[str, Any] = {}
    if (project := access.own_project(request, access.LIST_RUNBOOKS)) is not None:
        filters["visible_to"] = project
    if page.filters.get("project") and request.context.project_id is not None:
        filters["owner"] = request.context.project_id
    return listing.answer(request, Runbook, request.store.runbooks, page, filters)


def show(request: Request, runbook: str) -> Answer:
    """Show one runbook."""
    view = listing.one(request, Runbook)
    return answers.document(view.document(request, request.store.runbooks.row(view.columns, runbook)))


def create(request: Request) -> Answer:
    """Add a runbook."""
    input.query(request.query(), {})
    runbook_rules.check_new(input.require_object(request.json()), request.minor)
    values = input.create(Runbook, request.json(), request.minor)
    settled = runbook_rules.settled_new(values, _caller(request))
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


def _caller(request: Request) -> runbook_rules.Caller:
    return runbook_rules.Caller(request.context.project_id, not access.is_site_operator(request))


def patch(request: Request, runbook: str) -> Answer:
    """Change a runbook."""
    input.query(request.query(), {})
    known = {name: one for name, one in Runbook.writable("patch").items() if one.since <= request.minor}
    changes = json_patch.read(request.json(), known, request.minor, request.settings.max_patch_operations)

    def settle(record: "RunbookRecord", values: dict[str, Any]) -> dict[str, Any]:
        _check_rights(request, record, changes)
        settled = runbook_rules.settled(values, was_public=record.public)
        _check_steps(request, settled, settled.get("owner", record.owner))
        return settled

    return step_lists.changed(request, Runbook, request.store.runbooks, runbook, changes, settle)


def _check_rights(request: Request, record: "RunbookRecord", changes: Sequence[Change]) -> None:
    for rule in runbook_rules.rules_for(changes):
        access.require_own(request, rule, "runbook", record.uuid, record.owner, record.public)


def delete(request: Request, runbook: str) -> Answer:
    """Delete a runbook."""
    input.query(request.query(), {})
    request.store.runbooks.delete(runbook)
    return NO_CONTENT


def list_traits(request: Request, runbook: str) -> Answer:
    """List the traits of the nodes that a runbook is for."""
    input.query(request.query(), {})
    (found,) = request.store.runbooks.row(("id",), runbook)
    return answers.document({"traits": request.store.runbooks.traits.of([found])[found]})


def replace_traits(request: Request, runbook: str) -> Answer:
    """Give a runbook exactly these traits."""
    input.query(request.query(), {})
    given = input.arguments(input.require_object(request.json()), (), _NEW_TRAITS)["traits"]
    return _with_traits(request, runbook, lambda found: request.store.runbooks.traits.replace(found, given))


def add_trait(request: Request, runbook: str, trait: str) -> Answer:
    """Give a runbook one more trait."""
    input.query(request.query(), {})
    if request.json():
        raise InvalidParameterValue(err="The trait stands in the path; there must not be a request body.")
    input.arguments({"trait": trait}, (), _NEW_TRAIT)
    _with_traits(request, runbook, lambda found: request.store.runbooks.traits.add(found, trait))
    return Answer(204, None, request.url(f"/v1/runbooks/{runbook}/traits/{trait}"))


def clear_traits(request: Request, runbook: str) -> Answer:
    """Take all traits from a runbook, so that it is for no node."""
    input.query(request.query(), {})
    return _with_traits(request, runbook, lambda found: request.store.runbooks.traits.replace(found, ()))


def remove_trait(request: Request, runbook: str, trait: str) -> Answer:
    """Take one trait from a runbook; one that it has not is no fault."""
    input.query(request.query(), {})
    return _with_traits(request, runbook, lambda found: request.store.runbooks.traits.discard(found, trait))


def _with_traits(request: Request, runbook: str, change: Callable[[int], object]) -> Answer:
    with request.store.writing():
        change(request.store.runbooks.lock_row(runbook).id)
    return NO_CONTENT


_ALL, _ONE = "/v1/runbooks", "/v1/runbooks/{runbook}"
_TRAITS, _TRAIT = f"{_ONE}/traits", f"{_ONE}/traits/{{trait}}"
_GET, _UPDATE = "baremetal:runbook:get", "baremetal:runbook:update"

# The rules of a patch depend on what is changed: see the handler.
ROUTES = (
    Route("GET", _ALL, index, since=92, rule=access.LIST_RUNBOOKS),
    Route("POST", _ALL, create, since=92, below=405, rule="baremetal:runbook:create"),
    Route("PATCH", _ALL, step_lists.WHOLE, since=92, below=405),
    Route("DELETE", _ALL, step_lists.WHOLE, since=92, below=405),
    Route("GET", _ONE, show, since=92, rule=_GET),
    Route("POST", _ONE, step_lists.WHOLE, since=92, below=405),
    Route("PATCH", _ONE, patch, since=92, below=405, rule=_GET),
    Route("DELETE", _ONE, delete, since=92, below=405, rule="baremetal:runbook:delete"),
    Route("GET", _TRAITS, list_traits, since=112, rule=_GET),
    Route("PUT", _TRAITS, replace_traits, since=112, rule=_UPDATE),
    Route("DELETE", _TRAITS, clear_traits, since=112, rule=_UPDATE),
    Route("PUT", _TRAIT, add_trait, since=112, rule=_UPDATE),
    Route("DELETE", _TRAIT, remove_trait, since=112, rule=_UPDATE),
)
