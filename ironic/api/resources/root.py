"""`/` and `/v1`: the versions and collections that the service has.

The model says which collections a version has; the order of keys has no meaning to clients.
"""

import functools
from typing import Any, Final

import orjson

from ironic.api import answers, projection, version_negotiation
from ironic.api.answers import Answer
from ironic.api.error_responses import Refused
from ironic.api.json_schema import OPEN
from ironic.api.request import Request
from ironic.api.routes import Refusing, Route
from ironic.core.model.fields import Resource

NAME = "OpenStack Ironic API"
DESCRIPTION = "Ironic provisions and inspects bare metal machines."
GUIDE = "https://docs.openstack.org/api-ref/baremetal/"

# What is listed beside the collections of the model -> first version that lists it.
_OTHERS: Final = {
    "lookup": 22,
    "heartbeat": 22,
    "volume": 32,
    "events": 54,
    "shards": 82,
    "continue_inspection": 84,
}


def collections() -> dict[str, int]:
    """Return what `/v1` lists, with the first version that does."""
    kinds = Resource.__subclasses__()
    return _OTHERS | {kind.collection: kind.listed_since for kind in kinds if kind.listed_since is not None}


def show_root(request: Request) -> Answer:
    """Show the versions of the API."""
    return _root(request.base)


def show_v1(request: Request) -> Answer:
    """Show the collections of a version."""
    return _v1(request.base, request.minor)


# Clients read these documents first; the base URL is theirs to choose, so the caches are limited.
@functools.lru_cache(maxsize=64)
def _root(base: str) -> Answer:
    version = _version(base)
    document = {"name": NAME, "description": DESCRIPTION, "default_version": version, "versions": [version]}
    return answers.ready_made(orjson.dumps(document))


@functools.lru_cache(maxsize=64)
def _v1(base: str, minor: int) -> Answer:
    document: dict[str, Any] = {
        "id": "v1",
        "links": [
            {"href": f"{base}/v1/", "rel": "self"},
            {"href": GUIDE, "rel": "describedby", "type": "text/html"},
        ],
        "media_types": {"base": "application/json", "type": "application/vnd.openstack.ironic.v1+json"},
        "version": _version(base),
    }
    for name, since in collections().items():
        if since <= minor:
            document[name] = projection.links(base, f"{name}/")
    return answers.ready_made(orjson.dumps(document))


def _version(base: str) -> dict[str, object]:
    return {
        "id": "v1",
        "links": [{"href": f"{base}/v1/", "rel": "self"}],
        "status": "CURRENT",
        "min_version": version_negotiation.text(version_negotiation.MINIMUM),
        "version": version_negotiation.text(version_negotiation.MAXIMUM),
    }


_ONLY_GET: Final = Refusing(lambda: Refused(405, "Only GET is allowed here."))
ROUTES = (
    Route("*", "/", show_root, public=True, ok=200, answer=OPEN, query=None),
    Route("GET", "/v1", show_v1, public=True, ok=200, answer=OPEN),
    Route("HEAD", "/v1", show_v1, public=True, ok=200),
    Route("*", "/v1", _ONLY_GET, public=True),
)
