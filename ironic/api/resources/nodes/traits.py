"""`/v1/nodes/{node}/traits`: the traits of a node, by which schedulers find it.

Only rows change, in one transaction that locks the row of the node, so that the limit holds when several requests add
traits at the same time. A node that an operation has locked is waited for a moment, then refused.
"""

from collections.abc import Sequence
from typing import Final

from ironic.api import answers, arguments, named_nodes
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.arguments import Argument, Body, EmptyBody
from ironic.api.json_schema import TEXT, items
from ironic.api.request import Request, printable
from ironic.api.routes import ABORT, FAULT, Route
from ironic.core.errors.resource_errors import NodeTraitNotFound
from ironic.core.values.traits import is_trait
from ironic.core.values.value_types import TraitName, TraitNames
from ironic.services import node_changes

_TRAIT: Final = TraitName()


def index(request: Request, node: str) -> Answer:
    """List the traits of a node."""
    (node_id,) = named_nodes.row(request, ("id",), node)
    return answers.document({"traits": request.store.traits.of([node_id])[node_id]})


def replace(request: Request, node: str, traits: Sequence[str]) -> Answer:
    """Replace the traits of a node."""
    node_changes.set_node_traits(
        request.store, named_nodes.check_ident(request, node), traits, named_nodes.lock_retries(request)
    )
    return NO_CONTENT


def add(request: Request, node: str, trait: str) -> Answer:
    """Add a trait to a node."""
    arguments.checked("trait", _TRAIT, trait)
    node_changes.add_node_trait(
        request.store, named_nodes.check_ident(request, node), trait, named_nodes.lock_retries(request)
    )
    return Answer(204, None, request.url(f"/v1/nodes/{node}/traits/{trait}"))


def clear(request: Request, node: str) -> Answer:
    """Remove all traits from a node."""
    node_changes.set_node_traits(
        request.store, named_nodes.check_ident(request, node), (), named_nodes.lock_retries(request)
    )
    return NO_CONTENT


def remove(request: Request, node: str, trait: str) -> Answer:
    """Remove a trait from a node."""
    if not is_trait(trait):
        (uuid,) = named_nodes.row(request, ("uuid",), node)
        raise NodeTraitNotFound(node=uuid, trait=printable(trait))
    node_changes.remove_node_traits(
        request.store, named_nodes.check_ident(request, node), trait, named_nodes.lock_retries(request)
    )
    return NO_CONTENT


_ALL: Final = "/v1/nodes/{node}/traits"
_ONE: Final = f"{_ALL}/{{trait}}"
_SET: Final = "baremetal:node:traits:set"
_DELETE: Final = "baremetal:node:traits:delete"

ROUTES = (
    Route(
        "GET",
        _ALL,
        index,
        since=37,
        below=406,
        shape=FAULT,
        rule="baremetal:node:traits:list",
        ok=200,
        answer=items("traits", TEXT),
    ),
    Route(
        "PUT",
        _ALL,
        replace,
        since=37,
        below=405,
        shape=ABORT,
        rule=_SET,
        body=Body(Argument("traits", TraitNames(), required=True)),
        ok=204,
    ),
    Route("DELETE", _ALL, clear, since=37, shape=FAULT, rule=_DELETE, ok=204),
    Route("PUT", _ONE, add, since=37, below=405, shape=ABORT, rule=_SET, body=EmptyBody(), ok=204, location=True),
    Route("DELETE", _ONE, remove, since=37, shape=FAULT, rule=_DELETE, ok=204),
)
