"""Lists of a resource, page by page, and the query of a single document.

`read` checks the query: paging, sorting, `fields`, `detail`, and the filters of the resource. `answer` selects exactly
the columns that the projection needs in one statement and adds the link to the next page when the page is full: when
it has as many rows as it may have, or so many bytes that no reader needs more memory than for a few large rows. The
parameters of the link are those that clients know (doc/contract/fields.md#paging).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol
from urllib.parse import urlencode

import orjson

from ironic.api import access, answers, arguments, projection
from ironic.api.answers import Answer
from ironic.api.error_responses import unacceptable
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.fields import Resource
from ironic.core.permit import PERMIT
from ironic.core.values.value_types import Bool, Enum, Integer, Text, ValueType, Words
from ironic.db import PageOfRows, Stretch

CHUNK = 100
_PIECES: Final = 32


class Rows(Protocol):
    """The method of a repository that a list needs."""

    def page(self, columns: Sequence[str], page: PageOfRows, visible: Mapping[str, Any] = ...) -> Stretch:
        """Return these columns of the rows of one page, and whether its limit of bytes has ended it."""


class PostFilter(NamedTuple):
    """A filter on the rows of a page that the database can't apply: ``test`` gets the columns ``needs``."""

    needs: tuple[str, ...]
    test: Callable[..., bool]


@dataclass(slots=True)
class Page:
    """The checked query of a list."""

    projection: Projection
    limit: int
    marker: str | None = None
    sort_key: str = "id"
    sort_dir: str = "asc"
    fields: list[str] = field(default_factory=list)
    detail: bool | None = None
    # Whether the path ends in `/detail`, the older spelling of detail=true.
    is_detailed: bool = False
    # Whether it has the default fields of a list.
    is_plain: bool = False
    # Whether the caller sees secrets unmasked.
    is_secret: bool = False
    # Values of the filters, by their names in the query.
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
    """Return the checked query of a list; ``detailed`` is True for the path `/detail`."""
    types, since = _known_to(request.minor, resource, detailed)
    given = arguments.checked_query(request.query(), types)
    names, detail = given.get("fields"), given.get("detail")
    if detail is not None and request.minor < (resource.since_detail or 0):
        raise InvalidParameterValue(err=f"detail needs API version 1.{resource.since_detail} or later.")
    _check_fields(request, resource, names)
    view = projection.selected(
        resource,
        request.minor,
        names or (),
        detail=bool(detail or detailed),
        visibility=projection.visibility_of(request, resource),
    )
    page = Page(view, request.settings.max_limit)
    page.limit = min(given.get("limit", page.limit), page.limit)
    page.marker, page.sort_dir = given.get("marker"), given.get("sort_dir", "asc")
    # Each name once and in lower case, as the link to the next page has them.
    page.fields = list(dict.fromkeys(name.lower() for name in names or ()))
    page.detail = detail
    page.is_detailed, page.is_secret = detailed, view.is_unmasked
    page.is_plain = not (page.fields or detail or detailed)
    page.sort_key = _sort_column(request, resource, given.get("sort_key") or resource.sorted_by)
    page.filters = {name: value for name, value in given.items() if name in since}
    for name in page.filters:
        if since[name] > request.minor:
            raise unacceptable(f"Filter {name}", since[name])
    return page


Known = tuple[Mapping[str, ValueType], Mapping[str, int]]
# By version, resource and spelling, of which there is a fixed number.
_KNOWN: dict[tuple[int, Any, bool], Known] = {}


def _known_to(minor: int, resource: type[Resource], detailed: bool) -> Known:
    """Return the types of all parameters of a list in a version, and the first version of each filter."""
    key = (minor, resource, detailed)
    if (found := _KNOWN.get(key)) is None:
        choice = {} if detailed else {"fields": resource.since_fields, "detail": resource.since_detail}
        chosen = {name: _CHOICE[name] for name, first in choice.items() if first is not None}
        filters = resource.table.filters.items()
        since = {name: one.since_in(detailed=detailed) for name, one in filters}
        # The value of a filter that is newer than the version is not checked.
        checked = {name: one.type if since[name] <= minor else _ANYTHING for name, one in filters}
        found = _KNOWN[key] = {**_PAGING, "marker": resource.marker, **chosen, **checked}, since
    return found


def _check_fields(request: Request, resource: type[Resource], names: list[str] | None) -> None:
    since = resource.since_fields
    if names is not None and since is not None and request.minor < since:
        raise unacceptable("fields", since)


def _sort_column(request: Request, resource: type[Resource], name: str) -> str:
    """Return the column of a sort key; raises an error for a field that the caller can't sort by."""
    if name == "id":
        return name
    one = resource.table.fields.get(name)
    if one is None or not one.sortable:
        fields = resource.table.fields.values()
        known = ", ".join(sorted(each.name for each in fields if each.sortable and each.since <= request.minor))
        raise InvalidParameterValue(
            err=f"sort_key names no field by which the list can be sorted. Known ones: {known}."
        )
    if one.since > request.minor:
        raise unacceptable(f"Sorting by {name}", one.since)
    # The order would reveal values that are hidden on some of the rows.
    access.require_all_seen(request, one.rules)
    return str(one.column)


def one(request: Request, resource: type[Resource]) -> Projection:
    """Return the projection of a single document: the whole of it, or the `fields` of the query."""
    names = arguments.checked_query(request.query(), _FIELDS if resource.since_fields is not None else {}).get("fields")
    _check_fields(request, resource, names)
    visibility = projection.visibility_of(request, resource)
    if names is None:
        return projection.full(resource, request.minor, visibility)
    # An empty value selects only the links here; in a list it counts as not given.
    return projection.chosen(resource, request.minor, names, visibility)


_NO_MORE: Final[Mapping[str, Any]] = {}


def store_filters(resource: type[Resource], page: Page) -> dict[str, Any]:
    """Return the values of the filters by the names that the store knows them by."""
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
    keep: PostFilter | None = None,
) -> Answer:
    """Select a page and answer with it.

    ``filters`` are added to those of the query and win over them. ``keep`` drops rows after paging, as
    clients know it, where the database can't filter. ``path`` is that of the list, unless it is the collection's.
    """
    view, filters = page.projection, {**store_filters(resource, page), **filters}
    columns = tuple(dict.fromkeys([*view.columns, resource.key, *(keep.needs if keep else ())]))
    # A project sees the marker only if it sees its row, so that a marker does not reveal rows of others.
    is_narrowed = request.is_judged and not access.is_site_operator(request)
    visible = {name: filters[name] for name in _VISIBILITY_FILTERS if name in filters} if is_narrowed else {}
    order = (page.limit, page.sort_key, page.sort_dir)
    wanted = PageOfRows(filters, page.marker, *order, request.settings.page_bytes, tuple(view.names))
    found, is_cut = repository.page(columns, wanted, visible)
    if is_cut:
        PERMIT.check_may_wait()  # it takes long
    rows: Sequence[Sequence[Any]] = found
    tail = b"]"
    if (is_cut or len(rows) == page.limit) and not any(resource.table.filters[name].single for name in page.filters):
        last = rows[-1][columns.index(resource.key)]
        whole = f"{path or resource.collection}{'/detail' if page.is_detailed else ''}"
        tail += b',"next":' + orjson.dumps(_next(request, resource, page, whole, last))
    if keep is not None:
        at = [columns.index(name) for name in keep.needs]
        rows = [row for row in rows if keep.test(*(row[index] for index in at))]
    # Chunk by chunk, so that a long list never stands in memory as objects.
    chunks, separator = [b'{"' + resource.collection.encode() + b'":['], b""
    batch = view.batch(request, rows)
    # Encoding holds the interpreter, so a page of large rows is encoded in smaller pieces.
    step = min(CHUNK, len(rows) // _PIECES + 1) if is_cut else CHUNK
    for start in range(0, len(rows), step):
        if is_cut:
            with PERMIT.waiting():  # short answers go first
                time.sleep(0)
        documents = batch.documents(start, start + step)
        chunks += [separator, orjson.dumps(documents, option=answers.OPTIONS)[1:-1]]
        separator = b","
    return Answer(200, [*chunks, tail + b"}"], is_secret=page.is_secret)


# Filters by which a list is narrowed to what a project may see.
_VISIBILITY_FILTERS: Final[tuple[str, ...]] = ("project", "owner", "visible_to", "node_id")


def _next(request: Request, resource: type[Resource], page: Page, path: str, last: str) -> str:
    """Return the URL of the next page; ``last`` is the key of the last row of this one."""
    parameters: list[tuple[str, Any]] = [("sort_key", page.sort_key), ("sort_dir", page.sort_dir)]
    # Filters as the client has written them, so that they are read alike again; only booleans have one spelling.
    for name, text in request.query():
        if (value := page.filters.get(name)) is not None:
            parameters.append((name, value if isinstance(value, bool) else text))
    if page.detail is not None:
        parameters.append(("detail", page.detail))
    query = urlencode(parameters)
    if names := resource.plain_fields(request.minor) if page.is_plain else page.fields:
        # Commas are not encoded: clients compare the link as text.
        query += "&fields=" + ",".join(names)
    return request.url(f"/v1/{path}?{query}&limit={page.limit}&marker={last}")
