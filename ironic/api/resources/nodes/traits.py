"""Traits of a node: the words by which schedulers find it.

Only rows change, in one transaction with the node's row held still, so the limit holds whoever else adds traits at the
same time. A node that an operation holds is waited for a moment, then refused.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ironic.api import answers, input, named_nodes
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.arguments import Argument, Body, NoBody
from ironic.api.request import Request, printable
from ironic.api.routes import ABORT, FAULT, Route
from ironic.api.schema import TEXT, items
from ironic.core.resource_errors import NodeTraitNotFound
from ironic.core.traits import is_trait
from ironic.core.values import TraitName, TraitNames
from ironic.services import traits as node_traits

if TYPE_CHECKING:
    pass

_TRAIT: Final = TraitName()


def index(request: Request, node: str) -> Answer:
    """List the traits of a node."""
    (node_id,) = named_nodes.row(request, ("id",), node)
    return answers.document({"traits": request.store.traits.of([node_id])[node_id]})


def replace(request: Request, node: str, traits: Sequence[str]) -> Answer:
    """Give a node exactly these traits."""
    node_traits.give_node(request.store, named_nodes.check(request, node), traits, named_nodes.patience(request))
    return NO_CONTENT


def add(request: Request, node: str, trait: str) -> Answer:
    """Give a node one more trait."""
    input.checked("trait", _TRAIT, trait)
    node_traits.add_to_node(request.store, named_nodes.check(request, node), trait, named_nodes.patience(request))
    return Answer(204, None, request.url(f"/v1/nodes/{node}/traits/{trait}"))


def clear(request: Request, node: str) -> Answer:
    """Take all traits from a node."""
    node_traits.give_node(request.store, named_nodes.check(request, node), (), named_nodes.patience(request))
    return NO_CONTENT


def remove(request: Request, node: str, trait: str) -> Answer:
    """Take one trait from a node."""
    if not is_trait(trait):
        (uuid,) = named_nodes.row(request, ("uuid",), node)
        raise NodeTraitNotFound(node=uuid, trait=printable(trait))
    node_traits.take_from_node(request.store, named_nodes.check(request, node), trait, named_nodes.patience(request))
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
    Route("PUT", _ONE, add, since=37, below=405, shape=ABORT, rule=_SET, body=NoBody(), ok=204, location=True),
    Route("DELETE", _ONE, remove, since=37, shape=FAULT, rule=_DELETE, ok=204),
)
