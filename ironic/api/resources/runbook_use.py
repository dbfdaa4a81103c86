"""Using a runbook on a node: who may, for which nodes, and what it stands for.

A runbook is for nodes that have one of its traits. Before it could have traits its name was the trait, and to callers
of that time it still is. Source: facts/microversions.yaml, 1.92 and 1.112.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ironic.api import access
from ironic.api.request import Request
from ironic.api.resources.runbook_rules import NAMES_SINCE
from ironic.core.resource_errors import InvalidRunbook
from ironic.core.step_lists import have_trait_in_common, in_order

if TYPE_CHECKING:
    from ironic.api.resources.node_references import Facts


@dataclass(frozen=True, slots=True)
class UsableRunbook:
    """What a runbook stands for in a request."""

    steps: Sequence[dict[str, Any]]
    disable_ramdisk: bool


def finder(request: Request, node: "Facts") -> Callable[[str], UsableRunbook]:
    """Return what finds a runbook for a node, or refuses it."""
    return lambda ident: _found(request, node, ident)


def _found(request: Request, node: "Facts", ident: str) -> UsableRunbook:
    runbooks = request.store.runbooks
    book = runbooks.get(ident)
    access.require_own(request, "baremetal:runbook:use", "runbook", ident, book.owner, book.public)
    (node_id,) = request.store.nodes.row(("id",), node.uuid)
    present = set(request.store.traits.of([node_id])[node_id])
    if not is_for(present, runbooks.traits.of([book.id])[book.id], book.name, request.minor):
        raise InvalidRunbook(runbook=book.uuid, node=node.uuid, reason="they have no trait in common")
    return UsableRunbook(in_order(runbooks.steps.of([book.id])[book.id]), book.disable_ramdisk)


def is_for(present: set[str], traits: Sequence[str], name: str, minor: int) -> bool:
    """Tell whether a runbook is for a node with these traits."""
    return have_trait_in_common(traits, present) if minor >= NAMES_SINCE else name in present
