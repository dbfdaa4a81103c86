"""`/` and `/v1` of the inspector's API: the versions and the resources that it has."""

from typing import Any, Final

from ironic.api import answers
from ironic.api.answers import Answer
from ironic.api.inspector import inspector_versions
from ironic.api.json_schema import OPEN
from ironic.api.request import Request
from ironic.api.routes import Route

_RESOURCES: Final = ("continue", "introspection", "rules")


def links(request: Request, path: str) -> list[dict[str, str]]:
    """Return the link to a path below /v1, as every document of this API has it."""
    return [{"href": request.url(f"/v1/{path}".rstrip("/")), "rel": "self"}]


def show_root(request: Request) -> Answer:
    """Show the versions of the API."""
    newest, oldest = (
        inspector_versions.text(minor) for minor in (inspector_versions.NEWEST, inspector_versions.OLDEST)
    )
    # Clients compare the id; the other two are what discovery by the common libraries reads.
    version: dict[str, Any] = {"id": newest, "links": links(request, ""), "status": "CURRENT"}
    return answers.document({"versions": [version | {"min_version": oldest, "version": newest}]})


def show_v1(request: Request) -> Answer:
    """Show the resources of the API."""
    return answers.document({"resources": [{"name": name, "links": links(request, name)} for name in _RESOURCES]})


ROUTES = (
    Route("GET", "/", show_root, public=True, ok=200, answer=OPEN, query=None),
    Route("GET", "/v1", show_v1, public=True, ok=200, answer=OPEN, query=None),
)
