"""What the tables of the API say came with which version, spelt as the history of the versions spells it."""

import functools
import re
from collections.abc import Iterator

from ironic.api import version_negotiation
from ironic.api.openapi import operations
from ironic.api.resources import ROUTES
from ironic.api.routes import Route

_REQUEST = re.compile(r"\S+ [^? ]+")


@functools.cache
def names() -> dict[str, int]:
    """Return the first version of every request, parameter, key of a body, word for one, and field."""
    found: dict[str, int] = {}
    for minor in version_negotiation.TEXTS:
        for route in ROUTES:
            if operations.is_shown(route, minor):
                for name in _of_route(route, minor):
                    found.setdefault(name, minor)
    return found | dict(_fields())


def meant(name: str, minor: int) -> set[str]:
    """Return all that came with a version and that its history means by a name."""
    return {one for one, since in names().items() if since == minor and (one == name or _is_in(one, name))}


def _is_in(one: str, whole: str) -> bool:
    request = _REQUEST.match(one)
    if request is None:
        return one.startswith(f"{whole}.") and names()[one] == _first(f"{whole}.")
    # What came later than its request has a name of its own.
    if names()[request[0]] != names()[one]:
        return False
    path = request[0].split(" ")[1]
    return request[0] == whole or path == whole or (whole[0] == "/" and path.startswith(f"{whole.rstrip('/')}/"))


@functools.cache
def _first(resource: str) -> int:
    return min(since for name, since in names().items() if name.startswith(resource))


def _fields() -> Iterator[tuple[str, int]]:
    for collection, resource in operations.resources().items():
        path = _list_path(collection)
        first = min(route.since for route in ROUTES if route.path == path and route.method == "GET")
        kind = re.sub(r"(?<!^)(?=[A-Z])", "_", resource.__name__).lower()
        for one in resource.table.fields.values():
            yield f"{kind}.{one.name}", max(one.since, first)


@functools.cache
def _list_path(collection: str) -> str:
    """Return the shortest path of the lists that show a resource; all of them take the same parameters."""
    return min((route.path for route in ROUTES if route.path.endswith(f"/{collection}")), key=len)


def _of_route(route: Route, minor: int) -> Iterator[str]:
    name = f"{route.method} {route.path}"
    yield name
    told = operations.content_of(route, minor)
    # What one document takes, and what longer paths to a list take, follows from the list.
    is_list = any(route.path == _list_path(one) for one in operations.resources())
    if is_list or route.method != "GET" or route.of is None:
        yield from (f"{name}?{parameter.name}" for parameter in told.query)
    for key, schema in ((told.body or {}).get("properties") or {}).items():
        yield f"{name} {key}"
        yield from (f"{name} {key}={word}" for word in schema.get("enum", ()))
