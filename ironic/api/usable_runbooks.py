"""Using a runbook on a node: who may, for which nodes, and what it stands for.

A runbook is for nodes that have one of its traits. Before it could have traits its name was the trait, and to callers
of that time it still is. Source: doc/contract/versions.md#runbooks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ironic.api import access
from ironic.api.request import Request
from ironic.api.verbs import RUNBOOK_NAMES_SINCE
from ironic.core import user_steps
from ironic.core.errors import InvalidParameterValue
from ironic.core.resource_errors import InvalidRunbook, RunbookNotFound
from ironic.core.step_lists import OF_NODE, have_trait_in_common, in_order

if TYPE_CHECKING:
    from ironic.core.node_rules import NodeValues
    from ironic.db import RunbookRecord


@dataclass(frozen=True, slots=True)
class UsableRunbook:
    """What a runbook stands for in a request."""

    steps: Sequence[dict[str, Any]]
    disable_ramdisk: bool


def finder(request: Request, node: "NodeValues") -> Callable[[str], UsableRunbook]:
    """Return what finds a runbook for a node, or refuses it."""
    return lambda ident: _found(request, node, ident)


def _found(request: Request, node: "NodeValues", ident: str) -> UsableRunbook:
    runbooks = request.store.runbooks
    book = runbooks.get(ident)
    steps = in_order(runbooks.steps.of([book.id])[book.id])
    require_use(request, book, ident, steps, node.owner, node.lessee)
    (node_id,) = request.store.nodes.row(("id",), node.uuid)
    present = set(request.store.traits.of([node_id])[node_id])
    if not is_for(present, runbooks.traits.of([book.id])[book.id], book.name, request.minor):
        raise InvalidRunbook(runbook=book.uuid, node=node.uuid, reason="they have no trait in common")
    return UsableRunbook(steps, book.disable_ramdisk)


def require_use(
    request: Request,
    book: "RunbookRecord",
    ident: str,
    steps: Sequence[Mapping[str, object]],
    owner: str | None,
    lessee: str | None,
) -> None:
    """Refuse a runbook that the caller may not use, or that has steps which the caller may not have run on the node."""
    access.require_own(request, "baremetal:runbook:use", "runbook", ident, book.owner, book.public)
    if not (book.public and request.settings.trust_public_runbooks):
        access.require_steps(request, user_steps.names(steps), owner, lessee)


def check_named_in(
    request: Request, before: Mapping[str, Any], driver_info: Mapping[str, Any], owner: str | None, lessee: str | None
) -> None:
    """Refuse that a project has its node cleaned by a runbook that it may not use there.

    ``before`` is the driver_info until now. Where the operator lets nodes name one, cleaning runs it as the service.
    """
    ident = driver_info.get(OF_NODE)
    if ident in (None, "", before.get(OF_NODE)) or not access.acts_for_project(request, f"{access.LIST_RUNBOOKS}_all"):
        return
    try:
        book = request.store.runbooks.get(str(ident))
        steps = request.store.runbooks.steps.of([book.id])[book.id]
        require_use(request, book, str(ident), steps, owner, lessee)
    except RunbookNotFound:
        raise InvalidParameterValue(err=f"{OF_NODE} in driver_info names no runbook.") from None


def is_for(present: set[str], traits: Sequence[str], name: str, minor: int) -> bool:
    """Tell whether a runbook is for a node with these traits."""
    return have_trait_in_common(traits, present) if minor >= RUNBOOK_NAMES_SINCE else name in present
