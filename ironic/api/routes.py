"""The table of routes and the tree that finds one.

A row says which method of which path leads to which handler, since which version, what older callers get instead, which
rule guards it, what it takes and what it answers. Arguments are read before the handler runs (`arguments`, `forms`);
the description of the API is read off the same rows. The tree has one dictionary per path segment and one wildcard per
level, so a look-up costs one step per segment. Rows are collected in `ironic.api.resources`, nothing is registered
anywhere else.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from ironic.api import idents
from ironic.api.answers import Answer
from ironic.api.arguments import Argument, Form, Reader, reader
from ironic.api.errors import Abort, Refusal, Refused, Silent
from ironic.api.request import Request
from ironic.api.schema import Schema
from ironic.core.errors import InvalidParameterValue

Handler = Callable[..., Answer]

ABORT: Final = "abort"
FAULT: Final = "fault"

_NEWEST: Final = 10**6

# Stands for the path `/v1` alone; no segment of a request can spell it.
_V1: Final = "v1/"


@dataclass(frozen=True, slots=True)
class Route:
    """One row: what a method of a path does."""

    method: str
    path: str
    handler: Handler
    since: int = 1
    # What callers of an older version get, and in which shape.
    below: int = 404
    shape: str = ABORT
    # What guards it: a rule that is asked before the handler runs, or the handler itself where the rule depends on what
    # it finds. One of them stands in every row that is neither public nor does nothing but refuse.
    rule: str | None = None
    judges: bool = False
    public: bool = False
    body_limit: str = "max_body"
    # Who is refused before the arguments are looked at: it raises, or returns what the handler gets as the parameter
    # that `learns` names.
    first: Callable[[Request], object] | None = None
    learns: str = ""
    # What it takes: parameters of the query (None: nobody looks at it) and a body, or `of` which resource it is a list,
    # a document, a creation, a patch or a deletion.
    query: tuple[Argument, ...] | None = ()
    body: Reader | None = None
    of: Form | None = None
    # What it answers, unless `of` tells: the status of success, others that are no common refusal, a schema (None: no
    # body), the kind of content, and whether it says where to look next.
    ok: int = 0
    also: tuple[int, ...] = ()
    answer: Schema | None = None
    kind: str = "application/json"
    location: bool = False
    # What only the oldest version answers; versions without the path though older ones have it (`first` refuses them).
    oldest: Schema | None = None
    gap: range = range(0)
    # Reads the arguments of a request, as parameters of the handler.
    read: Callable[[Request], dict[str, Any]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # What answers nothing only refuses, whatever is sent.
        answers = self.of is not None or self.ok
        object.__setattr__(self, "read", reader(self.query if answers else None, self.body, self.of))

    def run(self, request: Request, *names: str) -> Answer:
        """Check what a request brings along, and call the handler; ``names`` are those of the path."""
        learnt = self.first(request) if self.first is not None else None
        given = self.read(request)
        if self.learns:
            given[self.learns] = learnt
        return self.handler(request, *names, **given)

    def too_new(self) -> Exception:
        """Build the error for a caller of an older version."""
        text = f"This needs API version 1.{self.since} or later."
        return Abort(self.below, text) if self.shape == ABORT else Refused(self.below, text)


class _Place:
    """One point of the tree."""

    __slots__ = ("ident", "methods", "named", "rest", "wild")

    def __init__(self) -> None:
        self.named: dict[str, _Place] = {}
        self.wild: _Place | None = None
        self.ident = ""
        self.rest: _Place | None = None
        self.methods: dict[str, Route] = {}


class Routes:
    """Finds the route of a request."""

    def __init__(self, rows: Iterable[Route]) -> None:
        self._root = _Place()
        self.rows = tuple(rows)
        # Paths whose ending is their own, whatever old versions do to endings.
        whole = {row.path for row in self.rows if row.path.endswith(".json")}
        self.whole = frozenset(whole | {path.removeprefix("/v1") for path in whole})
        for row in self.rows:
            self._add(row)

    def _add(self, row: Route) -> None:
        place = self._root
        for segment in _segments(row.path):
            place = _child(place, segment)
        if row.method in place.methods:
            raise ValueError(f"{row.method} {row.path} is in the route table twice")
        place.methods[row.method] = row

    def find(self, method: str, path: str, minor: int = _NEWEST) -> tuple[Route, tuple[str, ...]]:
        """Return the row and the values of its wildcards; a miss is a 404 or 405.

        What can't name a thing is refused where its version has the route: whoever has not learns that first.
        """
        malformed: list[InvalidParameterValue] = []
        place, values = self._walk(path, malformed)
        route = place.methods.get(method) or place.methods.get("*")
        if route is None:
            raise _refuse_method(method, place)
        if malformed and route.since <= minor:
            raise malformed[0]
        return route, values

    def _walk(self, path: str, malformed: list[InvalidParameterValue]) -> tuple[_Place, tuple[str, ...]]:
        values: list[str] = []
        place, rest, before = self._root, None, 0
        segments = _segments(path)
        for segment in segments:
            if place.rest is not None:
                rest, before = place.rest, len(values)
            if (known := place.named.get(segment)) is not None:
                place = known
            elif place.wild is not None:
                try:
                    idents.check(place.ident, segment)
                except InvalidParameterValue as error:
                    malformed.append(error)
                values.append(segment)
                place = place.wild
            elif rest is not None:
                return rest, (*values[:before], path)
            else:
                raise _no_path(malformed)
        if not place.methods:
            if rest is not None:
                return rest, (*values[:before], path)
            raise _no_path(malformed)
        return place, tuple(values)


def _no_path(malformed: list[InvalidParameterValue]) -> Exception:
    return malformed[0] if malformed else Abort(404, "There is no such path.")


def _child(place: _Place, segment: str) -> _Place:
    if segment == "*":
        place.rest = place.rest or _Place()
        return place.rest
    if not segment.startswith("{"):
        return place.named.setdefault(segment, _Place())
    if place.wild is None:
        place.wild, place.ident = _Place(), segment[1:-1]
    elif place.ident != segment[1:-1]:
        raise ValueError(f"{segment} and {{{place.ident}}} meet at one place of the route table")
    return place.wild


def _segments(path: str) -> list[str]:
    """Split a path; `/v1` may be left out, and one slash may end it."""
    if path.endswith("/"):
        path = path[:-1]
    parts = path.split("/")[1:]
    if not parts or parts[0] != "v1":
        return parts
    return parts[1:] or [_V1]


def _refuse_method(method: str, place: _Place) -> Exception:
    if method == "HEAD":
        return Silent(405)
    allow = [("Allow", ", ".join(sorted(place.methods)))]
    refusal: Refusal = Abort(405, f"Allowed here: {', '.join(sorted(place.methods))}.", allow)
    return refusal


def empty_answer(request: Request) -> Answer:
    """Answer OPTIONS: 200 and nothing else."""
    return Answer(200)
