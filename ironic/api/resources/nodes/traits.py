"""Traits of a node: the words by which schedulers find it.

Only rows change, in one transaction with the node's row held still, so the limit holds whoever else adds traits at the
same time. A node that an operation holds is waited for a moment, then refused.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from ironic.api import answers, input
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.arguments import Argument, Body, NoBody
from ironic.api.request import Request, printable
from ironic.api.resources.nodes import idents, writes
from ironic.api.routes import ABORT, FAULT, Route
from ironic.api.schema import TEXT, items
from ironic.core.errors import InvalidParameterValue
from ironic.core.resource_errors import NodeTraitNotFound
from ironic.core.traits import MOST_OF_NODE, is_trait
from ironic.core.values import TraitName, TraitNames

if TYPE_CHECKING:
    from ironic.db import NodeRecord

_TRAIT: Final = TraitName()


def index(request: Request, node: str) -> Answer:
    """List the traits of a node."""
    (node_id,) = idents.row(request, ("id",), node)
    return answers.document({"traits": request.store.traits.of([node_id])[node_id]})


def replace(request: Request, node: str, traits: Sequence[str]) -> Answer:
    """Give a node exactly these traits."""
    _check_number(len(traits))
    return _changed(request, node, lambda record: request.store.traits.replace(record.id, traits))


def add(request: Request, node: str, trait: str) -> Answer:
    """Give a node one more trait."""
    input.checked("trait", _TRAIT, trait)
    _changed(request, node, lambda record: _add(request, record, trait))
    return Answer(204, None, request.url(f"/v1/nodes/{node}/traits/{trait}"))


def _add(request: Request, record: "NodeRecord", trait: str) -> None:
    _check_number(len({*request.store.traits.of([record.id])[record.id], trait}))
    request.store.traits.add(record.id, trait)


def clear(request: Request, node: str) -> Answer:
    """Take all traits from a node."""
    return _changed(request, node, lambda record: request.store.traits.replace(record.id, ()))


def remove(request: Request, node: str, trait: str) -> Answer:
    """Take one trait from a node."""
    return _changed(request, node, lambda record: _remove(request, record, trait))


def _remove(request: Request, record: "NodeRecord", trait: str) -> None:
    if not is_trait(trait):
        raise NodeTraitNotFound(node=record.uuid, trait=printable(trait))
    request.store.traits.remove(record.id, trait)


def _changed(request: Request, node: str, change: "Callable[[NodeRecord], None]") -> Answer:
    writes.when_free(request, node, change)
    return NO_CONTENT


def _check_number(number: int) -> None:
    if number > MOST_OF_NODE:
        raise InvalidParameterValue(err=f"A node can have {MOST_OF_NODE} traits at most.")


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
