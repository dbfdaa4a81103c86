"""`/v1/runbooks`: list, show, create, patch and delete runbooks, and set their traits.

A runbook is a named list of steps that operators let others run on the nodes it is for; its traits say which. It is a
row with steps and traits in other tables; no conductor is involved. Its use is in `ironic.api.step_lists`.

A runbook belongs to a project, is public, or belongs to the operators. A caller who is bound to a project can create
runbooks for that project only. Source: doc/contract/fields.md#runbook.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ironic.api import access, answers, arguments, listing, projection, row_rooms, step_lists
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.arguments import Argument, Body, EmptyBody
from ironic.api.crud import Create, Delete, List, One, Patch
from ironic.api.json_patch import Change
from ironic.api.json_schema import TEXT, items
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.api.version_negotiation import RUNBOOK_NAMES_SINCE
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.step_lists import Runbook
from ironic.core.values import user_steps
from ironic.core.values.value_types import LogicalName, StrictBool, TraitName, TraitNames, ValueType
from ironic.services import node_changes
from ironic.services.row_limits import Room

if TYPE_CHECKING:
    from ironic.db import RunbookRecord


_GET: Final = "baremetal:runbook:get"
_CREATE: Final = "baremetal:runbook:create"
_UPDATE: Final = "baremetal:runbook:update"
_UPDATE_PUBLIC: Final = "baremetal:runbook:update:public"
_UPDATE_OWNER: Final = "baremetal:runbook:update:owner"
_DELETE: Final = "baremetal:runbook:delete"


def shown_traits(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[list[str]]:
    """Return the traits of each runbook, in one query."""
    found = request.store.runbooks.traits.of([row[0] for row in rows])
    return [found[row[0]] for row in rows]


projection.bind_computed(Runbook, steps=step_lists.shown_steps(lambda store: store.runbooks), traits=shown_traits)


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller's project; ``is_bound`` to it, unless the caller is an operator of the whole site."""

    project: str | None
    is_bound: bool


class NewName(LogicalName):
    """The name of a new runbook: a trait in versions in which runbooks have no traits."""

    _before = TraitName()

    def at(self, minor: int) -> ValueType:
        """Return the type in one version."""
        return self if minor >= RUNBOOK_NAMES_SINCE else self._before


_TRAIT_NAME: Final = TraitName()
# A patch may spell true and false as words; a new runbook may not.
_STRICT_TYPES: Final = {"public": StrictBool(), "disable_ramdisk": StrictBool(), "name": NewName()}


def settled_new(values: dict[str, Any], caller: Caller) -> dict[str, Any]:
    """Return the values of a new runbook with its owner; raises InvalidParameterValue for one the caller can't give."""
    owner = values.get("owner")
    if values.get("public"):
        if caller.is_bound:
            raise InvalidParameterValue(err="Only operators of the whole site can make a runbook public.")
        _check_public(owner)
        return values | {"owner": None}
    if caller.is_bound and owner not in (None, caller.project):
        raise InvalidParameterValue(err="owner can only be your own project.")
    return values | {"owner": caller.project if owner is None else owner}


def settled_owner(values: dict[str, Any], *, was_public: bool) -> dict[str, Any]:
    """Return the new values of a runbook; one that becomes public loses its owner."""
    if values.get("public", was_public):
        _check_public(values.get("owner"))
    return values | {"owner": None} if values.get("public") else values


def _check_public(owner: str | None) -> None:
    if owner is not None:
        raise InvalidParameterValue(err="A public runbook must not have an owner.")


def rules_for(changes: Iterable[Change]) -> list[str]:
    """Return the rules that guard the operations of a patch."""
    fields = Runbook.table.fields
    return list(dict.fromkeys(fields[change.root].right or _UPDATE for change in changes))


def _check_steps(request: Request, values: Mapping[str, Any], owner: str | None) -> None:
    """Raise 403 for a step that the caller could not run on a node of the runbook's owner."""
    access.require_steps(request, user_steps.names(values.get("steps", [])), owner, owner)


def index(request: Request, page: Page) -> Answer:
    """List the runbooks that the caller may see."""
    filters: dict[str, Any] = {}
    if (project := access.own_project(request, access.LIST_RUNBOOKS)) is not None:
        filters["visible_to"] = project
    if page.filters.get("project") and request.context.project_id is not None:
        filters["owner"] = request.context.project_id
    return listing.answer(request, Runbook, request.store.runbooks, page, filters)


def show(request: Request, runbook: str, view: Projection) -> Answer:
    """Show one runbook."""
    return answers.document(view.document(request, request.store.runbooks.row(view.columns, runbook)))


def _check_version(values: Mapping[str, object], minor: int) -> None:
    """Raise InvalidParameterValue for a description in a version without it, where it counts as unknown."""
    if minor < RUNBOOK_NAMES_SINCE and values.get("description") is not None:
        raise InvalidParameterValue(err=f"description needs API version 1.{RUNBOOK_NAMES_SINCE} or later.")


def _gives_any_owner(request: Request) -> bool:
    """Return whether the caller may give runbooks to any project, without a limit of their number."""
    return access.is_site_operator(request) or access.allows(request, _UPDATE_OWNER)


def create(request: Request, values: dict[str, object]) -> Answer:
    """Create a runbook."""
    project = request.context.project_id
    gives_any_owner = _gives_any_owner(request)
    settled = settled_new(values, Caller(project, not gives_any_owner))
    # The rights that a patch to the same values would need.
    owner = settled.get("owner")
    if settled.get("public"):
        access.require_right(request, _UPDATE_PUBLIC)
    if owner is not None and owner != project:
        access.require_right(request, _UPDATE_OWNER)
    _check_steps(request, settled, owner)
    room = None if gives_any_owner else row_rooms.of_project(request, project, Runbook)
    return step_lists.create_step_list(request, Runbook, request.store.runbooks, settled, echo=False, room=room)


def patch(request: Request, runbook: str, changes: Sequence[Change]) -> Answer:
    """Change a runbook."""

    def settle(record: "RunbookRecord", values: dict[str, object]) -> dict[str, object]:
        for rule in rules_for(changes):
            access.require_own(request, rule, Runbook, record.uuid, record.owner, record.public)
        settled = settled_owner(values, was_public=record.public)
        _check_steps(request, settled, settled.get("owner", record.owner))
        return settled

    def room(owner: str) -> Room | None:
        return None if _gives_any_owner(request) else row_rooms.of_project(request, owner, Runbook)

    return step_lists.change_step_list(
        request, Runbook, request.store.runbooks, runbook, changes, _UPDATE, settle, room
    )


def delete(request: Request, runbook: str) -> Answer:
    """Delete a runbook."""
    request.store.runbooks.delete(runbook)
    return NO_CONTENT


def list_traits(request: Request, runbook: str) -> Answer:
    """List the traits of a runbook."""
    (found,) = request.store.runbooks.row(("id",), runbook)
    return answers.document({"traits": request.store.runbooks.traits.of([found])[found]})


def replace_traits(request: Request, runbook: str, traits: Sequence[str]) -> Answer:
    """Replace the traits of a runbook."""
    return _with_traits(request, runbook, lambda found: request.store.runbooks.traits.replace(found, traits))


def add_trait(request: Request, runbook: str, trait: str) -> Answer:
    """Add a trait to a runbook."""
    arguments.checked("trait", _TRAIT_NAME, trait)
    _with_traits(request, runbook, lambda found: request.store.runbooks.traits.add(found, trait))
    return Answer(204, None, request.url(f"/v1/runbooks/{runbook}/traits/{trait}"))


def clear_traits(request: Request, runbook: str) -> Answer:
    """Remove all traits from a runbook, so that no node can use it."""
    return _with_traits(request, runbook, lambda found: request.store.runbooks.traits.replace(found, ()))


def remove_trait(request: Request, runbook: str, trait: str) -> Answer:
    """Remove a trait from a runbook, if it has the trait."""
    return _with_traits(request, runbook, lambda found: request.store.runbooks.traits.discard(found, trait))


def _with_traits(request: Request, runbook: str, change: Callable[[int], object]) -> Answer:
    """Change the traits of a runbook in a transaction; ``change`` gets the ID of its row."""
    node_changes.change_runbook_traits(request.store, runbook, change)
    return NO_CONTENT


_ALL: Final = "/v1/runbooks"
_ONE: Final = "/v1/runbooks/{runbook}"
_TRAITS: Final = f"{_ONE}/traits"
_TRAIT: Final = f"{_TRAITS}/{{trait}}"

ROUTES = (
    Route("GET", _ALL, index, since=92, rule=access.LIST_RUNBOOKS, of=List(Runbook)),
    Route(
        "POST",
        _ALL,
        create,
        since=92,
        below=405,
        rule=_CREATE,
        of=Create(Runbook, _check_version, _STRICT_TYPES),
    ),
    Route("PATCH", _ALL, step_lists.STEP_LIST_WHOLE, since=92, below=405),
    Route("DELETE", _ALL, step_lists.STEP_LIST_WHOLE, since=92, below=405),
    Route("GET", _ONE, show, since=92, rule=_GET, of=One(Runbook)),
    Route("POST", _ONE, step_lists.STEP_LIST_WHOLE, since=92, below=405),
    # The handler checks the rules of the fields that change.
    Route("PATCH", _ONE, patch, since=92, below=405, rule=_GET, of=Patch(Runbook)),
    Route("DELETE", _ONE, delete, since=92, below=405, rule=_DELETE, of=Delete(Runbook)),
    Route("GET", _TRAITS, list_traits, since=112, rule=_GET, ok=200, answer=items("traits", TEXT)),
    Route(
        "PUT",
        _TRAITS,
        replace_traits,
        since=112,
        rule=_UPDATE,
        body=Body(Argument("traits", TraitNames(), required=True)),
        ok=204,
    ),
    Route("DELETE", _TRAITS, clear_traits, since=112, rule=_UPDATE, ok=204),
    Route("PUT", _TRAIT, add_trait, since=112, rule=_UPDATE, body=EmptyBody(), ok=204, location=True),
    Route("DELETE", _TRAIT, remove_trait, since=112, rule=_UPDATE, ok=204),
)
