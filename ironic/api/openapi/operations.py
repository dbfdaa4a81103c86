"""One operation of the document: a route with its parameters, body and answers.

All of it is read off the row of the route table. Routes whose handlers only refuse are left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ironic.api import idents, versions
from ironic.api.arguments import Argument, BodyOrQuery, Form
from ironic.api.forms import Create, List, One, Patch
from ironic.api.openapi.bodies import body
from ironic.api.openapi.values import argument, given, whole
from ironic.api.refusing import Refuses
from ironic.api.routes import Route
from ironic.api.schema import Schema, ref
from ironic.core import syntax
from ironic.core.model.fields import REQUIRED, FieldNames, Resource
from ironic.core.values import Bool, Enum, Integer, Uuid, Words

# Where resources are declared; tests declare some of their own.
_DECLARED: Final = "ironic.core.model."

_ALWAYS: Final = (400, 401, 403, 404, 406, 500, 503)
_CONFLICT: Final = 409
_TOO_LARGE: Final = 413
_NOT_MODIFIED: Final = 304


def resources() -> dict[str, type[Resource]]:
    """Return the resources by the name of their collection, in the order of their own names."""
    declared = (one for one in Resource.__subclasses__() if one.__module__.startswith(_DECLARED))
    return {one.collection: one for one in sorted(declared, key=lambda one: one.__name__)}


@dataclass(frozen=True, slots=True)
class Told:
    """What a route takes and answers in one version."""

    ok: int
    answer: Schema | None = None
    body: Schema | None = None
    query: tuple[Argument, ...] = ()
    location: bool = False


def is_shown(route: Route, minor: int) -> bool:
    """Tell whether a route is worth a place in the document of a version."""
    serves = route.since <= minor and minor not in route.gap
    return serves and not isinstance(route.handler, Refuses) and "*" not in route.path and route.method != "HEAD"


def told(route: Route, minor: int) -> Told:
    """Return what a route takes and answers in a version that has it."""
    query = tuple(one for one in route.query or () if one.since <= minor)
    if route.of is not None:
        return _of_form(route.of, query, minor)
    answer = route.oldest if route.oldest is not None and minor == versions.MINIMUM else route.answer
    return Told(route.ok, answer, body(route.body, minor), query, route.location)


def _of_form(form: Form, query: tuple[Argument, ...], minor: int) -> Told:
    resource = form.resource
    name = resource.__name__
    match form:
        case List():
            parameters = _list_query(resource, minor, detailed=form.detailed)
            query = tuple(one for one in parameters if one.name not in form.without)
            return Told(form.ok, ref(f"{name}List"), query=query)
        case One():
            chooses = resource.since_fields is not None and resource.since_fields <= minor
            return Told(form.ok, ref(name), query=(Argument("fields", FieldNames(resource)),) if chooses else ())
        case Create():
            return Told(form.ok, ref(name), ref(f"{name}Create"), query, location=True)
        case Patch():
            return Told(form.ok, ref(name), ref(f"{name}Patch"), query)
    return Told(form.ok)


def _list_query(resource: type[Resource], minor: int, *, detailed: bool) -> Iterator[Argument]:
    choices = (("fields", resource.since_fields, FieldNames(resource)), ("detail", resource.since_detail, Bool()))
    for name, since, kind in choices:
        if since is not None and since <= minor and not detailed:
            yield Argument(name, kind)
    sortable = [one.name for one in resource.visible(minor) if one.sortable]
    yield Argument("limit", Integer(1, None))
    yield Argument("marker", resource.marker)
    # An empty one always counted as none.
    yield Argument("sort_key", Enum("id", *sortable, ""))
    yield Argument("sort_dir", Enum("asc", "desc"))
    for name, one in resource.table.filters.items():
        if one.since_in(detailed=detailed) <= minor:
            yield Argument(name, one.type)


def operation(route: Route, minor: int) -> dict[str, object]:
    """Return the operation of a route."""
    action = told(route, minor)
    # The root answers every method alike.
    method, path = "GET" if route.method == "*" else route.method, route.path
    said: dict[str, Any] = {
        "operationId": re.sub(r"\W+", "_", f"{method.lower()}{path}").rstrip("_"),
        "summary": _summary(route),
        "tags": [path.removeprefix("/v1").strip("/").split("/")[0] or "versions"],
        "parameters": list(_parameters(path, method, action, minor)),
        "responses": {str(status): response for status, response in _responses(route, method, action)},
    }
    if action.body is not None:
        needed = {"required": True} if _needs_body(route, action.body, minor) else {}
        said["requestBody"] = {"content": {"application/json": {"schema": action.body}}} | needed
    if isinstance(route.body, BodyOrQuery) and route.body.declared:
        said["description"] = "Each key of the body may stand in the query instead."
    return said | ({"security": []} if route.public else {})


def _needs_body(route: Route, schema: Schema, minor: int) -> bool:
    """Tell whether no body, which counts as an object without keys, is always refused."""
    match route.of:
        case Create():
            known = route.of.resource.writable("create").values()
            return any(one.empty is REQUIRED and one.since <= minor for one in known)
        case Patch():
            return True
    return "required" in schema and not isinstance(route.body, BodyOrQuery)


def _summary(route: Route) -> str:
    summary = (route.handler.__doc__ or "").strip().splitlines()[0]
    is_detailed = isinstance(route.of, List) and route.of.detailed
    return f"{summary.rstrip('.')} with all fields; the older spelling of `detail=true`." if is_detailed else summary


def _parameters(path: str, method: str, action: Told, minor: int) -> Iterator[dict[str, Any]]:
    for name in re.findall(r"\{(\w+)\}", path):
        yield {"name": name, "in": "path", "required": True, "schema": _ident(name)}
    for one in action.query:
        needed = {"required": True} if one.required else {}
        listed = {"style": "form", "explode": False} if isinstance(one.type, Words) else {}
        yield {"name": one.name, "in": "query", "schema": argument(one, minor)} | needed | listed
    yield {"$ref": "#/components/parameters/Version"}
    if method == "GET":
        yield {"$ref": "#/components/parameters/IfNoneMatch"}


def _ident(name: str) -> Schema:
    if idents.is_uuid(name):
        return given(Uuid())
    if idents.is_name(name):
        return {"type": "string", "pattern": whole(syntax.LOGICAL_NAME.pattern)}
    return {"type": "string", "minLength": 1}


def _responses(route: Route, method: str, action: Told) -> Iterator[tuple[int, dict[str, Any]]]:
    statuses = {action.ok, *route.also, *_ALWAYS}
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
        yield status, _success(route, method, action, status) if status < _NOT_MODIFIED else error


def _success(route: Route, method: str, action: Told, status: int) -> dict[str, Any]:
    response: dict[str, Any] = {"description": _MEANING[status], "headers": _headers(method, action)}
    if action.answer is not None and status == action.ok:
        response["content"] = {route.kind: {"schema": action.answer}}
    return response


def _headers(method: str, action: Told) -> dict[str, Any]:
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
