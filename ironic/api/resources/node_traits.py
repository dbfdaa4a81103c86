"""Traits of a node: the words by which schedulers find it.

Only rows change, in one transaction with the node's row held still, so the limit holds whoever else adds traits at the
same time. A node that an operation holds is waited for a moment, then refused.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ironic.api import answers, input
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.request import Request, printable
from ironic.api.resources import node_idents, node_writes
from ironic.api.routes import ABORT, FAULT, Route
from ironic.core.errors import InvalidParameterValue
from ironic.core.resource_errors import NodeTraitNotFound
from ironic.core.traits import MOST_OF_NODE, is_trait
from ironic.core.values import Array

if TYPE_CHECKING:
    from ironic.db import NodeRecord

_TRAITS: Final = (("traits", Array()),)


def index(request: Request, node: str) -> Answer:
    """List the traits of a node."""
    input.query(request.query(), {})
    (node_id,) = node_idents.row(request, ("id",), node)
    return answers.document({"traits": request.store.traits.of([node_id])[node_id]})


def replace(request: Request, node: str) -> Answer:
    """Give a node exactly these traits."""
    input.query(request.query(), {})
    given = input.arguments(input.require_object(request.json()), (), _TRAITS)["traits"]
    traits = set(map(_checked, given))
    _check_number(len(traits))
    return _changed(request, node, lambda record: request.store.traits.replace(record.id, traits))


def add(request: Request, node: str, trait: str) -> Answer:
    """Give a node one more trait."""
    input.query(request.query(), {})
    if request.json():
        raise InvalidParameterValue(err="The trait stands in the path; there must not be a request body.")
    _checked(trait)
    _changed(request, node, lambda record: _add(request, record, trait))
    return Answer(204, None, request.url(f"/v1/nodes/{node}/traits/{trait}"))


def _add(request: Request, record: "NodeRecord", trait: str) -> None:
    _check_number(len({*request.store.traits.of([record.id])[record.id], trait}))
    request.store.traits.add(record.id, trait)


def clear(request: Request, node: str) -> Answer:
    """Take all traits from a node."""
    input.query(request.query(), {})
    return _changed(request, node, lambda record: request.store.traits.replace(record.id, ()))


def remove(request: Request, node: str, trait: str) -> Answer:
    """Take one trait from a node."""
    input.query(request.query(), {})
    return _changed(request, node, lambda record: _remove(request, record, trait))


def _remove(request: Request, record: "NodeRecord", trait: str) -> None:
    if not is_trait(trait):
        raise NodeTraitNotFound(node=record.uuid, trait=printable(trait))
    request.store.traits.remove(record.id, trait)


def _changed(request: Request, node: str, change: "Callable[[NodeRecord], None]") -> Answer:
    node_writes.when_free(request, node, change)
    return NO_CONTENT


def _checked(trait: Any) -> str:
    if not is_trait(trait):
        raise InvalidParameterValue(err="A trait has to be CUSTOM_ and A to Z, 0 to 9 or _, or a known one.")
    return trait


def _check_number(number: int) -> None:
    if number > MOST_OF_NODE:
        raise InvalidParameterValue(err=f"A node can have {MOST_OF_NODE} traits at most.")


_ALL: Final = "/v1/nodes/{node}/traits"
_ONE: Final = f"{_ALL}/{{trait}}"
_SET: Final = "baremetal:node:traits:set"
_DELETE: Final = "baremetal:node:traits:delete"

ROUTES = (
    Route("GET", _ALL, index, since=37, below=406, shape=FAULT, rule="baremetal:node:traits:list"),
    Route("PUT", _ALL, replace, since=37, below=405, shape=ABORT, rule=_SET),
    Route("DELETE", _ALL, clear, since=37, shape=FAULT, rule=_DELETE),
    Route("PUT", _ONE, add, since=37, below=405, shape=ABORT, rule=_SET),
    Route("DELETE", _ONE, remove, since=37, shape=FAULT, rule=_DELETE),
)
