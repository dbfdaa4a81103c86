"""One operation of the OpenAPI document: a route with its parameters, body and responses.

Everything is read from the row of the route table. Routes whose handlers only refuse are left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ironic.api import routes, version_negotiation
from ironic.api.arguments import Argument, BodyOrQuery
from ironic.api.crud import Create, List, One, Patch
from ironic.api.json_schema import Schema, ref
from ironic.api.openapi.schemas import argument, body, given, whole
from ironic.api.routes import Refusing, Route
from ironic.core.model.fields import REQUIRED, FieldNames, Resource
from ironic.core.texts import syntax
from ironic.core.values.value_types import Bool, Enum, Integer, Uuid, Words

# The package of the service's own resources; tests declare others.
_DECLARED: Final = "ironic.core.model."

_ALWAYS: Final = (400, 401, 403, 404, 406, 429, 500, 503)
_CONFLICT: Final = 409
_TOO_LARGE: Final = 413
_NOT_MODIFIED: Final = 304


def resources() -> dict[str, type[Resource]]:
    """Return the resources by their collections, in the order of their names."""
    declared = (one for one in Resource.__subclasses__() if one.__module__.startswith(_DECLARED))
    return {one.collection: one for one in sorted(declared, key=lambda one: one.__name__)}


@dataclass(frozen=True, slots=True)
class OperationContent:
    """Input and output of a route in one version."""

    ok: int
    answer: Schema | None = None
    body: Schema | None = None
    query: tuple[Argument, ...] = ()
    location: bool = False


def is_shown(route: Route, minor: int) -> bool:
    """Return whether the document of a version contains a route."""
    serves = route.since <= minor and minor not in route.gap
    return serves and not isinstance(route.handler, Refusing) and "*" not in route.path and route.method != "HEAD"


def content_of(route: Route, minor: int) -> OperationContent:
    """Return the input and output of a route in a version that has it."""
    query = tuple(one for one in route.query or () if one.since <= minor)
    if route.of is None:
        answer = route.oldest if route.oldest is not None and minor == version_negotiation.MINIMUM else route.answer
        return OperationContent(route.ok, answer, body(route.body, minor), query, route.location)
    form, resource = route.of, route.of.resource
    name = resource.__name__
    match form:
        case List():
            parameters = _list_query(resource, minor, detailed=form.detailed)
            query = tuple(one for one in parameters if one.name not in form.without)
            return OperationContent(form.ok, ref(f"{name}List"), query=query)
        case One():
            has_choice = resource.since_fields is not None and resource.since_fields <= minor
            fields = (Argument("fields", FieldNames(resource)),) if has_choice else ()
            return OperationContent(form.ok, ref(name), query=fields)
        case Create():
            return OperationContent(form.ok, ref(name), ref(f"{name}Create"), query, location=True)
        case Patch():
            return OperationContent(form.ok, ref(name), ref(f"{name}Patch"), query)
    return OperationContent(form.ok)


def _list_query(resource: type[Resource], minor: int, *, detailed: bool) -> Iterator[Argument]:
    """Yield the parameters of a list in one version."""
    choices = (("fields", resource.since_fields, FieldNames(resource)), ("detail", resource.since_detail, Bool()))
    for name, since, kind in choices:
        if since is not None and since <= minor and not detailed:
            yield Argument(name, kind)
    sortable = [one.name for one in resource.visible(minor) if one.sortable]
    yield Argument("limit", Integer(1, None))
    yield Argument("marker", resource.marker)
    # An empty sort_key counts as not given.
    yield Argument("sort_key", Enum("id", *sortable, ""))
    yield Argument("sort_dir", Enum("asc", "desc"))
    for name, one in resource.table.filters.items():
        if one.since_in(detailed=detailed) <= minor:
            yield Argument(name, one.type)


def operation(route: Route, minor: int) -> dict[str, object]:
    """Return the operation object of a route."""
    content = content_of(route, minor)
    # The root answers all methods alike.
    method, path = "GET" if route.method == "*" else route.method, route.path
    summary = (route.handler.__doc__ or "").strip().splitlines()[0]
    if isinstance(route.of, List) and route.of.detailed:
        summary = f"{summary.rstrip('.')} with all fields; older spelling of `detail=true`."
    described: dict[str, Any] = {
        "operationId": re.sub(r"\W+", "_", f"{method.lower()}{path}").rstrip("_"),
        "summary": summary,
        "tags": [path.removeprefix("/v1").strip("/").split("/")[0] or "versions"],
        "parameters": list(_parameters(path, method, content, minor)),
        "responses": {str(status): response for status, response in _responses(route, method, content)},
    }
    if content.body is not None:
        needed = {"required": True} if _needs_body(route, content.body, minor) else {}
        described["requestBody"] = {"content": {"application/json": {"schema": content.body}}} | needed
    if isinstance(route.body, BodyOrQuery) and route.body.declared:
        described["description"] = "Each key of the body may be sent as a query parameter instead."
    return described | ({"security": []} if route.public else {})


def _needs_body(route: Route, schema: Schema, minor: int) -> bool:
    """Return whether a request without a body, which counts as an empty object, is always refused."""
    match route.of:
        case Create():
            known = route.of.resource.writable("create").values()
            return any(one.empty is REQUIRED and one.since <= minor for one in known)
        case Patch():
            return True
    return "required" in schema and not isinstance(route.body, BodyOrQuery)


def _parameters(path: str, method: str, content: OperationContent, minor: int) -> Iterator[dict[str, Any]]:
    """Yield the parameters in the path, the query and the headers."""
    for name in re.findall(r"\{(\w+)\}", path):
        schema: Schema = {"type": "string", "minLength": 1}
        if routes.is_uuid(name):
            schema = given(Uuid())
        elif routes.is_name(name):
            schema = {"type": "string", "pattern": whole(syntax.LOGICAL_NAME.pattern)}
        yield {"name": name, "in": "path", "required": True, "schema": schema}
    for one in content.query:
        needed = {"required": True} if one.required else {}
        listed = {"style": "form", "explode": False} if isinstance(one.type, Words) else {}
        yield {"name": one.name, "in": "query", "schema": argument(one, minor)} | needed | listed
    yield {"$ref": "#/components/parameters/Version"}
    if method == "GET":
        yield {"$ref": "#/components/parameters/IfNoneMatch"}


def _responses(route: Route, method: str, content: OperationContent) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the responses by status."""
    headers = {"X-OpenStack-Ironic-API-Version": {"$ref": "#/components/headers/Version"}}
    statuses = {content.ok, *route.also, *_ALWAYS}
    if method == "GET":
        headers["ETag"] = {"$ref": "#/components/headers/ETag"}
        yield _NOT_MODIFIED, {"description": "The ETag of If-None-Match is still current."}
    else:
        statuses.add(_CONFLICT)
    if content.location:
        headers["Location"] = {"$ref": "#/components/headers/Location"}
    if content.body is not None:
        statuses.add(_TOO_LARGE)
    if route.since > 1:
        # A request without a version header has the oldest version.
        statuses.add(route.below)
    for status in sorted(statuses):
        if status > _NOT_MODIFIED:
            yield status, {"$ref": f"#/components/responses/Error{status}"}
            continue
        response: dict[str, Any] = {"description": _MEANING[status], "headers": headers}
        if content.answer is not None and status == content.ok:
            response["content"] = {route.kind: {"schema": content.answer}}
        yield status, response


_MEANING: Final = {
    200: "OK.",
    201: "Created.",
    202: "Accepted: the request is processed in the background.",
    204: "Done, without a body.",
}
