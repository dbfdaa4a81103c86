"""Pages of a collection.

Reads the query (paging, sorting, `fields`, `detail`, the resource's filters) through the input reader, selects exactly
the columns the answer needs in one statement, and adds the link to the next page when the page is full. The link's
parameters are those clients know (doc/contract/fields.md#paging).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol
from urllib.parse import urlencode

import orjson

from ironic.api import access, answers, input, projection
from ironic.api.answers import Answer
from ironic.api.errors import unacceptable
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.fields import Resource
from ironic.core.values import Bool, Enum, Integer, Text, ValueType, Words

CHUNK = 100


class Rows(Protocol):
    """The one thing a listing wants of a repository."""

    def rows(
        self,
        columns: Sequence[str],
        *,
        filters: Mapping[str, Any] = ...,
        marker: str | None = ...,
        limit: int | None = ...,
        sort_key: str = ...,
        sort_dir: str = ...,
        visible: Mapping[str, Any] = ...,
    ) -> Sequence[Sequence[Any]]:
        """Return the rows of one page."""


class Keep(NamedTuple):
    """Which rows of a page stay: the test gets these columns."""

    needs: tuple[str, ...]
    test: Callable[..., bool]


@dataclass(slots=True)
class Page:
    """What a caller asked a list for."""

    projection: Projection
    limit: int
    marker: str | None = None
    sort_key: str = "id"
    sort_dir: str = "asc"
    fields: list[str] = field(default_factory=list)
    detail: bool | None = None
    # Whether it was asked for by the older spelling, a path that ends in `/detail`.
    is_detailed: bool = False
    # Whether it has the fields that a list has when nothing is asked for.
    is_plain: bool = False
    # Whether masks are lifted for the caller.
    is_secret: bool = False
    # The filters given, by the names callers use.
    filters: dict[str, Any] = field(default_factory=dict)


_PAGING: dict[str, ValueType] = {
    "limit": Integer(1, None, digits=True),
    "sort_key": Text(None),
    "sort_dir": Enum("asc", "desc", name="direction"),
}
_CHOICE: dict[str, ValueType] = {"fields": Words(), "detail": Bool()}
_FIELDS = {"fields": _CHOICE["fields"]}
_ANYTHING = ValueType()


def read(request: Request, resource: type[Resource], *, detailed: bool = False) -> Page:
    """Read the query of a list; `detailed` is the older spelling as a path."""
    types, since = _known_to(request.minor, resource, detailed)
    given = input.query(request.query(), types)
    page = Page(_projection(request, resource, given, detailed), request.settings.max_limit)
    page.limit = min(given.get("limit", page.limit), page.limit)
    page.marker, page.sort_dir = given.get("marker"), given.get("sort_dir", "asc")
    # Each name once and in lower case: the link to the next page has them so.
    page.fields = list(dict.fromkeys(name.lower() for name in given.get("fields", ())))
    page.detail = given.get("detail")
    page.is_detailed, page.is_secret = detailed, page.projection.is_unmasked
    page.is_plain = not (page.fields or page.detail or detailed)
    page.sort_key = _sort_key(request, resource, given.get("sort_key") or resource.sorted_by)
    page.filters = {name: value for name, value in given.items() if name in since}
    for name in page.filters:
        if since[name] > request.minor:
            raise unacceptable(f"Filter {name}", since[name])
    return page


Known = tuple[Mapping[str, ValueType], Mapping[str, int]]
# By version, resource and spelling: as many as there are.
_KNOWN: dict[tuple[int, Any, bool], Known] = {}


def _known_to(minor: int, resource: type[Resource], detailed: bool) -> Known:
    """Return the types of all parameters of a list as a version judges them, and since when there are its filters."""
    key = (minor, resource, detailed)
    if (found := _KNOWN.get(key)) is None:
        choice = {} if detailed else {"fields": resource.since_fields, "detail": resource.since_detail}
        chosen = {name: _CHOICE[name] for name, first in choice.items() if first is not None}
        filters = resource.table.filters.items()
        since = {name: one.since_in(detailed=detailed) for name, one in filters}
        # What a version does not know it does not judge either.
        judged = {name: one.type if since[name] <= minor else _ANYTHING for name, one in filters}
        found = _KNOWN[key] = {**_PAGING, "marker": resource.marker, **chosen, **judged}, since
    return found


def _projection(request: Request, resource: type[Resource], given: Mapping[str, Any], detailed: bool) -> Projection:
    names, detail = given.get("fields"), given.get("detail")
    if detail is not None and request.minor < (resource.since_detail or 0):
        raise InvalidParameterValue(err=f"detail needs API version 1.{resource.since_detail} or later.")
    _check_fields(request, resource, names)
    if names and detail:
        raise InvalidParameterValue(err="fields and detail can't be used together.")
    sight = projection.sight(request, resource)
    if names:
        return projection.chosen(resource, request.minor, names, sight)
    return (projection.full if detail or detailed else projection.plain)(resource, request.minor, sight)


def _check_fields(request: Request, resource: type[Resource], names: list[str] | None) -> None:
    since = resource.since_fields
    if names is not None and since is not None and request.minor < since:
        raise unacceptable("fields", since)


def _sort_key(request: Request, resource: type[Resource], name: str) -> str:
    if name == "id":
        return name
    one = resource.table.fields.get(name)
    if one is None or not one.sortable:
        raise InvalidParameterValue(err="sort_key names no field that lists can be sorted by.")
    if one.since > request.minor:
        raise unacceptable(f"Sorting by {name}", one.since)
    # The order would tell what is hidden of some of the rows.
    access.require_all_seen(request, one.rules)
    return str(one.column)


def one(request: Request, resource: type[Resource]) -> Projection:
    """Read the query of a single thing: all of it, or the `fields` asked for."""
    names = input.query(request.query(), _FIELDS if resource.since_fields is not None else {}).get("fields")
    _check_fields(request, resource, names)
    sight = projection.sight(request, resource)
    if names is None:
        return projection.full(resource, request.minor, sight)
    # An empty value chooses nothing but the links here; in a list it counts as not given.
    return projection.chosen(resource, request.minor, names, sight)


_NO_MORE: Final[Mapping[str, Any]] = {}


def store_filters(resource: type[Resource], page: Page) -> dict[str, Any]:
    """Return the filters as the store knows them."""
    table = resource.table.filters
    return {key: value for name, value in page.filters.items() if (key := table[name].key) is not None}


def answer(
    request: Request,
    resource: type[Resource],
    repository: Rows,
    page: Page,
    filters: Mapping[str, Any] = _NO_MORE,
    *,
    path: str | None = None,
    keep: Keep | None = None,
) -> Answer:
    """Fetch a page and answer with it.

    ``filters`` narrow it further than the request, or otherwise where it names the same. ``keep`` drops rows after
    paging, where clients know it so. ``path`` is that of the list, where it is not that of the collection.
    """
    view, filters = page.projection, {**store_filters(resource, page), **filters}
    wanted = [*view.columns, resource.key, *(keep.needs if keep else ())]
    columns = tuple(dict.fromkeys(wanted))
    rows = repository.rows(
        columns,
        filters=filters,
        marker=page.marker,
        limit=page.limit,
        sort_key=page.sort_key,
        sort_dir=page.sort_dir,
        visible=_visible(request, filters),
    )
    tail = b"]"
    if len(rows) == page.limit and not any(resource.table.filters[name].single for name in page.filters):
        last = rows[-1][columns.index(resource.key)]
        whole = f"{path or resource.collection}{'/detail' if page.is_detailed else ''}"
        tail += b',"next":' + orjson.dumps(_next(request, resource, page, whole, last))
    if keep is not None:
        at = [columns.index(name) for name in keep.needs]
        rows = [row for row in rows if keep.test(*(row[index] for index in at))]
    return Answer(200, _encode(request, resource, view, rows, tail + b"}"), is_secret=page.is_secret)


def _visible(request: Request, filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filters that keep a project to what it may see, so that a marker is no way around them."""
    if not request.is_judged or access.is_site_operator(request):
        return {}
    return {name: filters[name] for name in _OF_PROJECT if name in filters}


_OF_PROJECT: Final = ("project", "owner", "visible_to", "node_id")


def _encode(
    request: Request,
    resource: type[Resource],
    view: Projection,
    rows: Sequence[Sequence[Any]],
    tail: bytes,
) -> list[bytes]:
    """Encode rows chunk by chunk, so that a long list never stands in memory as objects."""
    chunks, separator = [b'{"' + resource.collection.encode() + b'":['], b""
    batch = view.batch(request, rows)
    for start in range(0, len(rows), CHUNK):
        documents = batch.documents(start, start + CHUNK)
        chunks += [separator, orjson.dumps(documents, option=answers.OPTIONS)[1:-1]]
        separator = b","
    return [*chunks, tail]


def _next(request: Request, resource: type[Resource], page: Page, path: str, last: str) -> str:
    parameters: list[tuple[str, Any]] = [("sort_key", page.sort_key), ("sort_dir", page.sort_dir)]
    table = resource.table.filters
    parameters += [(name, value) for name, value in page.filters.items() if value is True and table[name].kept]
    if page.detail is not None:
        parameters.append(("detail", page.detail))
    query = urlencode(parameters)
    if names := resource.plain_fields(request.minor) if page.is_plain else page.fields:
        # Commas stay as they are, clients compare the link as text.
        query += "&fields=" + ",".join(names)
    return request.url(f"/v1/{path}?{query}&limit={page.limit}&marker={last}")
