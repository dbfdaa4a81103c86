"""The traits of the nodes that a runbook is for."""

from collections.abc import Callable
from typing import Final

from ironic.api import answers, input
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.errors import InvalidParameterValue
from ironic.core.values import TraitName, TraitNames

_NEW_TRAITS: Final = (("traits", TraitNames()),)
_NEW_TRAIT: Final = (("trait", TraitName()),)


def index(request: Request, runbook: str) -> Answer:
    """List the traits of the nodes that a runbook is for."""
    input.query(request.query(), {})
    (found,) = request.store.runbooks.row(("id",), runbook)
    return answers.document({"traits": request.store.runbooks.traits.of([found])[found]})


def replace(request: Request, runbook: str) -> Answer:
    """Give a runbook exactly these traits."""
    input.query(request.query(), {})
    given = input.arguments(input.require_object(request.json()), (), _NEW_TRAITS)["traits"]
    return _with_traits(request, runbook, lambda found: request.store.runbooks.traits.replace(found, given))


def add(request: Request, runbook: str, trait: str) -> Answer:
    """Give a runbook one more trait."""
    input.query(request.query(), {})
    if request.json():
        raise InvalidParameterValue(err="The trait stands in the path; there must not be a request body.")
    input.arguments({"trait": trait}, (), _NEW_TRAIT)
    _with_traits(request, runbook, lambda found: request.store.runbooks.traits.add(found, trait))
    return Answer(204, None, request.url(f"/v1/runbooks/{runbook}/traits/{trait}"))


def clear(request: Request, runbook: str) -> Answer:
    """Take all traits from a runbook, so that it is for no node."""
    input.query(request.query(), {})
    return _with_traits(request, runbook, lambda found: request.store.runbooks.traits.replace(found, ()))


def remove(request: Request, runbook: str, trait: str) -> Answer:
    """Take one trait from a runbook; one that it has not is no fault."""
    input.query(request.query(), {})
    return _with_traits(request, runbook, lambda found: request.store.runbooks.traits.discard(found, trait))


def _with_traits(request: Request, runbook: str, change: Callable[[int], object]) -> Answer:
    with request.store.writing():
        change(request.store.runbooks.lock_row(runbook).id)
    return NO_CONTENT


_TRAITS: Final = "/v1/runbooks/{runbook}/traits"
_TRAIT: Final = f"{_TRAITS}/{{trait}}"
_UPDATE: Final = "baremetal:runbook:update"

ROUTES = (
    Route("GET", _TRAITS, index, since=112, rule="baremetal:runbook:get"),
    Route("PUT", _TRAITS, replace, since=112, rule=_UPDATE),
    Route("DELETE", _TRAITS, clear, since=112, rule=_UPDATE),
    Route("PUT", _TRAIT, add, since=112, rule=_UPDATE),
    Route("DELETE", _TRAIT, remove, since=112, rule=_UPDATE),
)
