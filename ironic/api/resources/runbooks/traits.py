"""The traits of the nodes that a runbook is for."""

from collections.abc import Callable, Sequence
from typing import Final

from ironic.api import answers, input
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.arguments import Argument, Body, NoBody
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.api.schema import TEXT, items
from ironic.core.values import TraitName, TraitNames
from ironic.services import traits as runbook_traits

_NAME: Final = TraitName()


def index(request: Request, runbook: str) -> Answer:
    """List the traits of the nodes that a runbook is for."""
    (found,) = request.store.runbooks.row(("id",), runbook)
    return answers.document({"traits": request.store.runbooks.traits.of([found])[found]})


def replace(request: Request, runbook: str, traits: Sequence[str]) -> Answer:
    """Give a runbook exactly these traits."""
    return _with_traits(request, runbook, lambda found: request.store.runbooks.traits.replace(found, traits))


def add(request: Request, runbook: str, trait: str) -> Answer:
    """Give a runbook one more trait."""
    input.checked("trait", _NAME, trait)
    _with_traits(request, runbook, lambda found: request.store.runbooks.traits.add(found, trait))
    return Answer(204, None, request.url(f"/v1/runbooks/{runbook}/traits/{trait}"))


def clear(request: Request, runbook: str) -> Answer:
    """Take all traits from a runbook, so that it is for no node."""
    return _with_traits(request, runbook, lambda found: request.store.runbooks.traits.replace(found, ()))


def remove(request: Request, runbook: str, trait: str) -> Answer:
    """Take one trait from a runbook; one that it has not is no fault."""
    return _with_traits(request, runbook, lambda found: request.store.runbooks.traits.discard(found, trait))


def _with_traits(request: Request, runbook: str, change: Callable[[int], object]) -> Answer:
    runbook_traits.change_of_runbook(request.store, runbook, change)
    return NO_CONTENT


_TRAITS: Final = "/v1/runbooks/{runbook}/traits"
_TRAIT: Final = f"{_TRAITS}/{{trait}}"
_UPDATE: Final = "baremetal:runbook:update"

ROUTES = (
    Route("GET", _TRAITS, index, since=112, rule="baremetal:runbook:get", ok=200, answer=items("traits", TEXT)),
    Route(
        "PUT",
        _TRAITS,
        replace,
        since=112,
        rule=_UPDATE,
        body=Body(Argument("traits", TraitNames(), required=True)),
        ok=204,
    ),
    Route("DELETE", _TRAITS, clear, since=112, rule=_UPDATE, ok=204),
    Route("PUT", _TRAIT, add, since=112, rule=_UPDATE, body=NoBody(), ok=204, location=True),
    Route("DELETE", _TRAIT, remove, since=112, rule=_UPDATE, ok=204),
)
