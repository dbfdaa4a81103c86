"""Deploy templates and runbooks, which are named lists of steps, and the use of a runbook on a node.

The steps of a list are shown, written and checked as a whole. Secrets in the arguments of steps are stored and never
shown. Source: doc/contract/steps.md#schemas.

A runbook may be used on nodes that have one of its traits. Before runbooks had traits, the name of a runbook was its
trait, and for requests of those versions it still is. Source: doc/contract/versions.md#runbooks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ironic.api import access, answers, json_patch, projection
from ironic.api.answers import Answer
from ironic.api.json_patch import Change
from ironic.api.projection import Gather
from ironic.api.request import Request
from ironic.api.routes import refuse_collection
from ironic.api.version_negotiation import RUNBOOK_NAMES_SINCE
from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.resource_errors import InvalidRunbook, RunbookNotFound
from ironic.core.model.fields import Resource
from ironic.core.model.step_lists import Runbook
from ironic.core.secrets import masking, secret_updates
from ironic.core.values import user_steps
from ironic.core.values.user_steps import CLEANING_RUNBOOK_KEY, have_trait_in_common, in_run_order
from ironic.services import row_changes
from ironic.services.row_limits import Room

if TYPE_CHECKING:
    from ironic.core.node_rules import NodeValues
    from ironic.db import RunbookRecord, Store
    from ironic.db.step_lists import NamedSteps


_USE: Final = "baremetal:runbook:use"
STEP_LIST_WHOLE: Final = refuse_collection("a UUID or name")

# Gets the stored list and the values that a patch leads to, returns the values to store; may raise.
Settle = Callable[[Any, dict[str, Any]], dict[str, Any]]


def shown_steps(lists: "Callable[[Store], NamedSteps[Any]]") -> Gather:
    """Return the function that computes the field `steps` of a page of lists."""

    def gather(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
        steps = lists(request.store).steps.of([row[0] for row in rows])
        return [masking.masked(steps[row[0]]) for row in rows]

    return gather


def create_step_list(
    request: Request,
    resource: type[Resource],
    lists: "NamedSteps[Any]",
    values: Mapping[str, Any],
    *,
    echo: bool,
    room: Room | None = None,
) -> Answer:
    """Store a new list and return its document as the answer; ``echo``: with the steps as they were sent."""
    columns = {name: value for name, value in values.items() if name != "steps"}
    record = row_changes.add_step_list(request.store, lists, columns, values["steps"], room)
    document = projection.full(resource, request.minor).of_record(request, record, {})
    document["steps"] = masking.masked(values["steps"] if echo else lists.steps.of([record.id])[record.id])
    return answers.created(document, request.url(f"/v1/{resource.collection}/{record.uuid}"))


def change_step_list(
    request: Request,
    resource: type[Resource],
    lists: "NamedSteps[Any]",
    ident: str,
    changes: Sequence[Change],
    rule: str,
    settle: Settle = lambda record, values: values,
    room: Callable[[str], Room | None] = lambda owner: None,
) -> Answer:
    """Patch a list in one transaction and return its document as the answer; ``settle`` may adjust the values.

    ``rule`` guards changes of the steps; ``room`` returns the limit of the rows of a new owner.
    """

    def revise(record: Any) -> dict[str, Any]:
        before = {name: getattr(record, name) for name in resource.writable("patch") if name != "steps"}
        if any(change.root == "steps" for change in changes):
            before["steps"] = lists.steps.of([record.id])[record.id]
        values = json_patch.patched(resource, before, changes, request)
        if "steps" in values and access.acts_for_project(request, rule):
            written = json_patch.written(changes)["steps"]
            names = secret_updates.redirected_step_secrets(before["steps"], values["steps"], written)
            secret_updates.refuse_redirected(names, "steps")
        return settle(record, values)

    record = row_changes.change_step_list(request.store, lists, ident, revise, room)
    return answers.document(projection.full(resource, request.minor).of_record(request, record, {}))


@dataclass(frozen=True, slots=True)
class UsableRunbook:
    """The steps that a runbook contributes to a request."""

    steps: Sequence[dict[str, Any]]
    disable_ramdisk: bool


def runbook_finder(request: Request, node: "NodeValues") -> Callable[[str], UsableRunbook]:
    """Return a function that finds a runbook by UUID or name; it raises an error if the node can't use it."""

    def find(ident: str) -> UsableRunbook:
        runbooks = request.store.runbooks
        with access.as_if_foreign(request, _USE, see="baremetal:runbook:get"):
            book = runbooks.get(ident)
        # Before its steps are read: one that the caller may not see must not take longer than one that is missing.
        access.require_own(request, _USE, Runbook, ident, book.owner, book.public)
        steps = in_run_order(runbooks.steps.of([book.id])[book.id])
        _require_steps(request, book, steps, node.owner, node.lessee)
        (node_id,) = request.store.nodes.row(("id",), node.uuid)
        present = set(request.store.traits.of([node_id])[node_id])
        if not is_runbook_for(present, runbooks.traits.of([book.id])[book.id], book.name, request.minor):
            raise InvalidRunbook(runbook=book.uuid, node=node.uuid, reason="they have no trait in common")
        return UsableRunbook(steps, book.disable_ramdisk)

    return find


def require_use(
    request: Request,
    book: "RunbookRecord",
    ident: str,
    steps: Sequence[Mapping[str, object]],
    owner: str | None,
    lessee: str | None,
) -> None:
    """Raise 403 or 404 for a runbook that the caller may not use, or with a step that the caller may not run."""
    access.require_own(request, _USE, Runbook, ident, book.owner, book.public)
    _require_steps(request, book, steps, owner, lessee)


def _require_steps(
    request: Request,
    book: "RunbookRecord",
    steps: Sequence[Mapping[str, object]],
    owner: str | None,
    lessee: str | None,
) -> None:
    if not (book.public and request.settings.trust_public_runbooks):
        access.require_steps(request, user_steps.names(steps), owner, lessee)


def check_named_in(
    request: Request, before: Mapping[str, Any], driver_info: Mapping[str, Any], owner: str | None, lessee: str | None
) -> None:
    """Raise an error when a project sets a cleaning runbook in driver_info that it may not use on the node.

    ``before`` is the present driver_info. Cleaning runs the runbook with the rights of the service.
    """
    ident = driver_info.get(CLEANING_RUNBOOK_KEY)
    if ident in (None, "", before.get(CLEANING_RUNBOOK_KEY)) or not access.acts_for_project(
        request, f"{access.LIST_RUNBOOKS}_all"
    ):
        return
    try:
        book = request.store.runbooks.get(str(ident))
        steps = request.store.runbooks.steps.of([book.id])[book.id]
        require_use(request, book, str(ident), steps, owner, lessee)
    except RunbookNotFound:
        raise InvalidParameterValue(
            err=f"{CLEANING_RUNBOOK_KEY} in driver_info names a runbook that does not exist."
        ) from None


def is_runbook_for(present: set[str], traits: Sequence[str], name: str, minor: int) -> bool:
    """Return whether a runbook may be used on a node with the traits ``present``."""
    return have_trait_in_common(traits, present) if minor >= RUNBOOK_NAMES_SINCE else name in present
