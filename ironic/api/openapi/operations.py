"""One operation of the document: a route with its parameters, body and answers.

Lists, creation, reading, patching and deletion of a resource are told by the path; every other route has a row in
`actions`. Routes whose handlers only refuse are left out.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ironic.api import idents
from ironic.api.openapi import actions
from ironic.api.openapi.actions import Action
from ironic.api.openapi.bodies import ref
from ironic.api.openapi.values import Schema, given, whole
from ironic.api.refusing import Refuses
from ironic.api.routes import Route
from ironic.core import syntax
from ironic.core.model.fields import Filter, Resource
from ironic.core.values import Bool, Enum, Integer, Uuid, ValueType, Words

# Where resources are declared; tests declare some of their own.
_DECLARED: Final = "ironic.core.model."

_ALWAYS: Final = (400, 401, 403, 404, 406, 500, 503)
_CONFLICT: Final = 409
_TOO_LARGE: Final = 413
_NOT_MODIFIED: Final = 304

_UUIDS: Final = {name for name, check in idents.CHECKS.items() if check is idents.CHECKS["chassis"]}
_NAMES: Final = {name for name, check in idents.CHECKS.items() if check is idents.CHECKS["port"]} | {
    "node",
    "portgroup",
}


def resources() -> dict[str, type[Resource]]:
    """Return the resources by the name of their collection, in the order of their own names."""
    declared = (one for one in Resource.__subclasses__() if one.__module__.startswith(_DECLARED))
    return {one.collection: one for one in sorted(declared, key=lambda one: one.__name__)}


def is_shown(route: Route, minor: int) -> bool:
    """Tell whether a route is worth a place in the document of a version."""
    action = actions.find(*_key(route), minor)
    first = max(route.since, action.since if action else 1)
    return (
        first <= minor and not isinstance(route.handler, Refuses) and "*" not in route.path and route.method != "HEAD"
    )


def _key(route: Route) -> tuple[str, str]:
    # The root answers every method alike.
    return ("GET" if route.method == "*" else route.method), route.path


def told(route: Route, minor: int) -> Action | None:
    """Return what a route takes and answers; None: nobody has said it."""
    return actions.find(*_key(route), minor) or _usual(route, minor)


def _usual(route: Route, minor: int) -> Action | None:
    *_, above, last = ["", *route.path.removesuffix("/detail").split("/")]
    known = resources()
    if resource := known.get(last):
        return _of_all(route, resource, minor)
    return _of_one(route, known[above], minor) if above in known and last.startswith("{") else None


def _of_all(route: Route, resource: type[Resource], minor: int) -> Action | None:
    name = resource.__name__
    match route.method:
        case "GET":
            query = _list_query(resource, minor, detailed=route.path.endswith("/detail"))
            return Action(answer=ref(f"{name}List"), query=query)
        case "POST":
            return Action(201, ref(name), ref(f"{name}Create"), location=True)
    return None


def _of_one(route: Route, resource: type[Resource], minor: int) -> Action | None:
    name, since = resource.__name__, resource.since_fields
    match route.method:
        case "GET":
            return Action(answer=ref(name), query={} if since is None or since > minor else {"fields": Words()})
        case "PATCH":
            query: dict[str, ValueType] = {"reset_interfaces": Bool()} if name == "Node" and minor >= 45 else {}
            return Action(200, ref(name), ref(f"{name}Patch"), query)
        case "DELETE":
            return Action(204)
    return None


def _list_query(resource: type[Resource], minor: int, *, detailed: bool) -> dict[str, ValueType]:
    found: dict[str, ValueType] = {}
    for name, since, kind in (("fields", resource.since_fields, Words()), ("detail", resource.since_detail, Bool())):
        if since is not None and since <= minor and not detailed:
            found[name] = kind
    if resource.paged:
        sortable = [one.name for one in resource.visible(minor) if one.sortable]
        found |= {"limit": Integer(1, None), "marker": resource.marker}
        # An empty one always counted as none.
        found |= {"sort_key": Enum("id", *sortable, ""), "sort_dir": Enum("asc", "desc")}
    filters: Mapping[str, Filter] = resource.table.filters
    return found | {name: one.type for name, one in filters.items() if one.since_in(detailed=detailed) <= minor}


def operation(route: Route, minor: int) -> dict[str, Any]:
    """Return the operation of a route."""
    action = told(route, minor)
    assert action is not None, f"{route.method} {route.path} is described nowhere"
    method, path = _key(route)
    said: dict[str, Any] = {
        "operationId": re.sub(r"\W+", "_", f"{method.lower()}{path}").rstrip("_"),
        "summary": (route.handler.__doc__ or "").strip().splitlines()[0],
        "tags": [path.removeprefix("/v1").strip("/").split("/")[0] or "versions"],
        "parameters": list(_parameters(path, method, action)),
        "responses": {str(status): response for status, response in _responses(route, method, action)},
    }
    if (body := action.body_at(minor)) is not None:
        said["requestBody"] = {"content": {"application/json": {"schema": body}}}
    return said | ({"security": []} if route.public else {})


def _parameters(path: str, method: str, action: Action) -> Iterator[dict[str, Any]]:
    for name in re.findall(r"\{(\w+)\}", path):
        yield {"name": name, "in": "path", "required": True, "schema": _ident(name)}
    for name, kind in action.query.items():
        listed = {"style": "form", "explode": False} if isinstance(kind, Words) else {}
        yield {"name": name, "in": "query", "schema": given(kind)} | listed
    yield {"$ref": "#/components/parameters/Version"}
    if method == "GET":
        yield {"$ref": "#/components/parameters/IfNoneMatch"}


def _ident(name: str) -> Schema:
    if name in _UUIDS:
        return given(Uuid())
    if name in _NAMES:
        return {"type": "string", "pattern": whole(syntax.LOGICAL_NAME.pattern)}
    return {"type": "string", "minLength": 1}


def _responses(route: Route, method: str, action: Action) -> Iterator[tuple[int, dict[str, Any]]]:
    statuses = {action.ok, *action.also, *_ALWAYS}
    if method == "GET":
        yield _NOT_MODIFIED, {"description": "The client has this document already."}
    else:
        statuses.add(_CONFLICT)
    if action.body is not None:
        statuses.add(_TOO_LARGE)
    if route.since > 1:
        # Whoever forgets to ask for a version speaks the oldest.
        statuses.add(route.below)
    for status in sorted(statuses):
        error = {"$ref": f"#/components/responses/Error{status}"}
        yield status, _success(method, action, status) if status < _NOT_MODIFIED else error


def _success(method: str, action: Action, status: int) -> dict[str, Any]:
    response: dict[str, Any] = {"description": _MEANING[status], "headers": _headers(method, action)}
    if action.answer is not None and status == action.ok:
        response["content"] = {action.kind: {"schema": action.answer}}
    return response


def _headers(method: str, action: Action) -> dict[str, Any]:
    found = {"X-OpenStack-Ironic-API-Version": {"$ref": "#/components/headers/Version"}}
    if method == "GET":
        found["ETag"] = {"$ref": "#/components/headers/ETag"}
    if action.location:
        found["Location"] = {"$ref": "#/components/headers/Location"}
    return found


_MEANING: Final = {
    200: "Here it is.",
    201: "It exists now.",
    202: "It was begun and goes on in the background.",
    204: "Done; there is nothing to say.",
}
