"""The route table: its rows, the tree that finds a row by path, and the identifiers in paths.

A row states which method of which path calls which handler, since which version, what older versions get instead, which
rule guards it, what it takes and what it answers. Arguments are read before the handler runs (`ironic.api.arguments`,
`ironic.api.crud`), and the OpenAPI document is derived from the same rows. Rows are collected in
`ironic.api.resources`; nothing is registered anywhere else. The tree has a dictionary per path segment and one wildcard
per level, so a look-up costs one step per segment.

The wildcard of a path (`{node}`) selects the check of the identifier; a resource without a check is identified by its
UUID. A malformed identifier is refused before the handler runs, in the shape that clients know for its kind; whether
the row exists is checked later. Before 1.91 a path may end in `.json`, which is removed; a resource whose name really
ends so is found by its whole name if no shorter one exists. Source: doc/contract/versions.md#endings-in-json.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ironic.api.answers import Answer
from ironic.api.arguments import Argument, Form, Reader, reader
from ironic.api.error_responses import Abort, Refusal, Refused, Silent
from ironic.api.json_schema import Schema
from ironic.api.request import Request
from ironic.core.errors import InvalidParameterValue, IronicError
from ironic.core.model.fields import RESOURCES, Resource
from ironic.core.texts import syntax

if TYPE_CHECKING:
    pass


Handler = Callable[..., Answer]

ABORT: Final = "abort"
FAULT: Final = "fault"

_NEWEST: Final = 10**6
# Identifiers in the paths of requests without credentials. Ramdisks use UUIDs; other callers can authenticate.
_PLAIN: Final = re.compile(r"[a-z0-9-]+")


@dataclass(frozen=True, slots=True)
class Route:
    """A row of the route table: one method of one path."""

    method: str
    path: str
    handler: Handler
    since: int = 1
    # Status and shape of the response to an older version.
    below: int = 404
    shape: str = ABORT
    # Access: a rule that is checked before the handler runs, or a handler that checks rules itself because they depend
    # on what it finds. Every row has one of the two unless it is public or only refuses.
    rule: str | None = None
    handler_authorizes: bool = False
    public: bool = False
    # Whether it counts for the limit of ramdisks' calls in place of the limit of requests.
    of_ramdisks: bool = False
    # Whether access is checked before the version.
    rights_first: bool = False
    # Name of the limit in ApiSettings.
    body_limit: str = "max_body"
    # Called before the arguments are read, to refuse a request: it raises, or returns what the handler gets as the
    # parameter that `precheck_as` names.
    precheck: Callable[[Request], object] | None = None
    precheck_as: str = ""
    # Input: parameters of the query (None: the query is ignored) and a body, or `of` the operation on a resource.
    query: tuple[Argument, ...] | None = ()
    body: Reader | None = None
    of: Form | None = None
    # Output, unless `of` determines it: the status of success, further statuses that few routes have, the schema (None:
    # no body), the content type, and whether the response has a Location header.
    ok: int = 0
    also: tuple[int, ...] = ()
    answer: Schema | None = None
    kind: str = "application/json"
    location: bool = False
    # The schema in version 1.1 where it differs; versions that lack the path although older ones have it, which
    # `precheck` refuses.
    oldest: Schema | None = None
    gap: range = range(0)
    # Reads the arguments of a request as parameters of the handler.
    read: Callable[[Request], dict[str, Any]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # A row without an answer only refuses, whatever the query contains.
        answers = self.of is not None or self.ok
        object.__setattr__(self, "read", reader(self.query if answers else None, self.body, self.of))

    @property
    def subject(self) -> str:
        """The kind of the first identifier in the path; empty if it has none."""
        return self.path.partition("{")[2].partition("}")[0]

    def run(self, request: Request, *idents: str) -> Answer:
        """Read the arguments of a request and call the handler; ``idents`` are the identifiers in the path."""
        result = self.precheck(request) if self.precheck is not None else None
        given = self.read(request)
        if self.precheck_as:
            given[self.precheck_as] = result
        return self.handler(request, *idents, **given)

    def too_new(self) -> Exception:
        """Return the error for a request of an older version."""
        text = f"This needs API version 1.{self.since} or later."
        return Abort(self.below, text) if self.shape == ABORT else Refused(self.below, text)


def empty_answer(request: Request) -> Answer:
    """Answer OPTIONS: 200 without a body."""
    return Answer(200)


class Refusing:
    """A handler that raises an error for every request; ``precheck`` may raise another one first."""

    def __init__(self, error: Callable[[], Exception], precheck: Callable[[Request], object] | None = None) -> None:
        self._error, self._precheck = error, precheck

    @property
    def is_of_method(self) -> bool:
        """Whether it refuses the method (405), not what is asked with it."""
        return getattr(self._error(), "status", None) == 405

    def __call__(self, request: Request, *ignored: Any) -> NoReturn:
        """Raise the error."""
        if self._precheck is not None:
            self._precheck(request)
        raise self._error()


def refuses(text: str) -> Refusing:
    """Return a handler that answers 400 with this text."""
    return Refusing(lambda: InvalidParameterValue(err=text))


def refuse_collection(ident: str) -> Refusing:
    """Return a handler for changes of a whole collection, and for creating below an existing path."""
    return refuses(f"POST takes the path of the collection; PATCH and DELETE need {ident} in the path.")


def _check_name_or_uuid(text: str) -> None:
    if not syntax.is_name_or_uuid(text):
        raise InvalidParameterValue(err="The identifier in the path has to be a UUID or a logical name.")


def _check_uuid(text: str) -> None:
    if not syntax.is_uuid(text):
        raise InvalidParameterValue(err="The identifier in the path has to be a UUID.")


def _check_of(resource: type[Resource], text: str) -> None:
    """Check the identifier of a resource of the model."""
    if text in resource.no_names:
        raise Abort(404, f"There is no such path: the UUID or name of a {resource.singular} is missing.")
    if not resource.has_name:
        _check_uuid(text)
    elif not resource.aborts:
        _check_name_or_uuid(text)
    elif not syntax.is_name_or_uuid(text):
        raise Abort(400, f"The identifier of a {resource.singular} has to be a UUID or a logical name.")


def _check_text(text: str) -> None:
    # A name that is only compared: drivers, hosts. Some databases can't compare with this character.
    if "\0" in text:
        raise Abort(404, "There is no such path.")


# Identifiers of what is no resource of the model.
_CHECKS: Final[dict[str, Callable[[str], None]]] = {
    "agent_node": _check_name_or_uuid,
    "trait": _check_text,
    "driver": _check_text,
    "hostname": _check_text,
    "indicator": _check_text,
    "setting": _check_text,
    "vif": _check_name_or_uuid,
    "method": _check_text,
    "entry": _check_text,
    "shard": _check_text,
}


def check_ident(kind: str, text: str) -> None:
    """Raise an error for text that can't identify a resource of this kind; ``kind`` is the wildcard of the path."""
    if (resource := RESOURCES.get(kind)) is not None:
        _check_of(resource, text)
    else:
        _CHECKS.get(kind, _check_uuid)(text)


def is_uuid(kind: str) -> bool:
    """Return whether resources of this kind are identified by their UUID only."""
    return not is_name(kind) and kind not in _CHECKS


def is_name(kind: str) -> bool:
    """Return whether resources of this kind are identified by a UUID or a logical name."""
    return _CHECKS.get(kind) is _check_name_or_uuid or (kind in RESOURCES and RESOURCES[kind].has_name)


# Stands for the path `/v1` alone; no segment of a request can spell it.
_V1: Final = "v1/"


class _TreeNode:
    """A node of the route tree, at one path."""

    __slots__ = ("kind", "literals", "methods", "rest", "wildcard")

    def __init__(self) -> None:
        self.literals: dict[str, _TreeNode] = {}
        # The child for an identifier, and the kind of the identifier.
        self.wildcard: _TreeNode | None = None
        self.kind = ""
        # The child for all paths below: a last segment `*`.
        self.rest: _TreeNode | None = None
        self.methods: dict[str, Route] = {}


class Routes:
    """The route tree; raises ValueError for rows that contradict each other."""

    def __init__(self, rows: Iterable[Route]) -> None:
        self._root = _TreeNode()
        self.rows = tuple(rows)
        # Paths that end in `.json` themselves, so that old versions do not remove it.
        whole = {row.path for row in self.rows if row.path.endswith(".json")}
        self.whole = frozenset(whole | {path.removeprefix("/v1") for path in whole})
        # What paths of ramdisks begin with after the version, which may be left out.
        self._ramdisks_paths = {row.path.partition("{")[0].removeprefix("/v1") for row in self.rows if row.of_ramdisks}
        for row in self.rows:
            node = self._root
            for segment in _segments(row.path):
                node = _child(node, segment)
            if row.method in node.methods:
                raise ValueError(f"{row.method} {row.path} is in the route table twice")
            node.methods[row.method] = row

    def find(self, method: str, path: str, minor: int = _NEWEST) -> tuple[Route, tuple[str, ...]]:
        """Return the row of a path and its identifiers; raises 404 or 405 for a path or method that does not exist.

        A malformed identifier is refused only if the version has the route: otherwise the version is refused first.
        """
        malformed: list[InvalidParameterValue] = []
        node, idents = self._walk(path, malformed)
        route = node.methods.get(method) or node.methods.get("*")
        if route is None:
            if (later := _later(node, minor)) is not None:
                raise later.too_new()
            if method == "HEAD":
                raise Silent(405)
            raise Abort(405, f"Allowed here: {_served_by(node, minor) or 'no method'}.")
        if malformed and route.since <= minor:
            raise malformed[0]
        return route, idents

    def allowed(self, path: str, minor: int) -> str:
        """Return the methods that a path takes in a version, as the header Allow has them."""
        try:
            node, _ = self._walk(path, [])
        except (Refusal, IronicError):
            return ""
        return _served_by(node, minor)

    def is_public(self, environ: Mapping[str, Any]) -> bool:
        """Return whether a request needs no authentication."""
        route = self._unguarded(environ)
        return route is not None and route.public

    def is_of_ramdisks(self, environ: Mapping[str, Any], negotiate: Callable[[Mapping[str, Any]], int]) -> bool:
        """Return whether the limits for ramdisks count a request: if its version has such a route.

        ``negotiate`` gives the version; a refused one has none.
        """
        path = environ.get("PATH_INFO", "")
        if not any(word in path for word in self._ramdisks_paths):
            return False
        route = self._unguarded(environ)
        if route is None or not route.of_ramdisks:
            return False
        try:
            minor = negotiate(environ)
        except Refusal:
            return False
        return route.since <= minor and minor not in route.gap

    def _unguarded(self, environ: Mapping[str, Any]) -> Route | None:
        """Return the row of a request whose identifiers need no credentials, None if it has none."""
        try:
            route, idents = self.find(environ["REQUEST_METHOD"], environ.get("PATH_INFO", ""))
        except (Refusal, IronicError):
            return None
        return route if all(map(_PLAIN.fullmatch, idents)) else None

    def _walk(self, path: str, malformed: list[InvalidParameterValue]) -> tuple[_TreeNode, tuple[str, ...]]:
        """Return the tree node of a path and its identifiers; errors of malformed ones are added to ``malformed``."""
        idents: list[str] = []
        node, rest, before = self._root, None, 0
        for segment in _segments(path):
            if node.rest is not None:
                rest, before = node.rest, len(idents)
            if (literal := node.literals.get(segment)) is not None:
                node = literal
            elif node.wildcard is not None:
                try:
                    check_ident(node.kind, segment)
                except InvalidParameterValue as error:
                    malformed.append(error)
                idents.append(segment)
                node = node.wildcard
            else:
                break
        else:
            if node.methods:
                return node, tuple(idents)
        if rest is not None:
            return rest, (*idents[:before], path)
        raise malformed[0] if malformed else Abort(404, "There is no such path.")


def _served_by(node: _TreeNode, minor: int) -> str:
    rows = (row for row in node.methods.values() if row.method != "*" and row.since <= minor)
    return ", ".join(
        sorted(row.method for row in rows if not (isinstance(row.handler, Refusing) and row.handler.is_of_method))
    )


def _later(node: _TreeNode, minor: int) -> Route | None:
    """Return a row of a path that no row has in a version yet."""
    rows = node.methods.values()
    return next(iter(rows)) if rows and all(row.since > minor for row in rows) else None


def _child(node: _TreeNode, segment: str) -> _TreeNode:
    """Return the child of a tree node for a segment of a row's path; it is created if necessary."""
    if segment == "*":
        node.rest = node.rest or _TreeNode()
        return node.rest
    if not segment.startswith("{"):
        return node.literals.setdefault(segment, _TreeNode())
    if node.wildcard is None:
        node.wildcard, node.kind = _TreeNode(), segment[1:-1]
    elif node.kind != segment[1:-1]:
        raise ValueError(f"{segment} and {{{node.kind}}} are wildcards at the same position of the route table")
    return node.wildcard


def _segments(path: str) -> list[str]:
    """Split a path into segments; `/v1` may be left out, and one slash may end it."""
    if path.endswith("/"):
        path = path[:-1]
    parts = path.split("/")[1:]
    if not parts or parts[0] != "v1":
        return parts
    return parts[1:] or [_V1]


def with_json_suffix(request: Request, route: Route, idents: tuple[str, ...]) -> tuple[str, ...]:
    """Return the identifiers of a path that lost its suffix, with `.json` restored where it is part of the name."""
    kind = route.path.rpartition("{")[2].removesuffix("}")
    resource = RESOURCES.get(kind) if route.path.endswith("}") else None
    if resource is None or not resource.has_dotted_name:
        return idents
    try:
        request.store.named(resource.stored_in).row(("uuid",), idents[-1])
    except IronicError:
        return (*idents[:-1], f"{idents[-1]}.json")
    return idents
