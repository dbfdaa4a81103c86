"""What the API tells those who listen to notifications: things that are created, changed and deleted through it.

Rows of the route table say which request does what; handlers know nothing of it. The start is told when everything was
checked: before the first commit, or before a conductor is asked. A request that is refused is told to nobody.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ironic.api.answers import Answer
from ironic.api.forms import Create, Delete, Patch
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.errors import IronicError
from ironic.rpc.notifications import END, ERROR, NOTICES, START, Subject, subjects
from ironic.rpc.notifications.notices import API

if TYPE_CHECKING:
    from ironic.db import Store

Values = dict[str, Any]

_NOTHING: Final[Mapping[str, int]] = {}

CREATE, UPDATE, DELETE, MAINTENANCE = "create", "update", "delete", "maintenance_set"


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of a route: of what kind of thing, what happens to it, and which ones the path names."""

    subject: Subject
    action: str
    idents: "Callable[[Store, tuple[str, ...]], Sequence[str]]" = lambda _store, path: path[:1]


def _allocation_of(store: "Store", path: tuple[str, ...]) -> Sequence[str]:
    (uuid,) = store.nodes.row(("allocation_uuid",), path[0])
    return (uuid,) if uuid else ()


def _all_rules(store: "Store", _path: tuple[str, ...]) -> Sequence[str]:
    return [row[0] for row in store.rules.rows(("uuid",))]


# Besides creating, changing and deleting one thing.
OTHERS: Final[Mapping[tuple[str, str], Told]] = {
    **{
        (method, "/v1/nodes/{node}/maintenance"): Told(subjects.NODE_IN_MAINTENANCE, MAINTENANCE)
        for method in ("PUT", "DELETE")
    },
    **{
        (method, path): Told(subjects.NODE, UPDATE)
        for method in ("PUT", "DELETE")
        for path in ("/v1/nodes/{node}/traits", "/v1/nodes/{node}/traits/{trait}")
    },
    ("DELETE", "/v1/nodes/{node}/allocation"): Told(subjects.SUBJECTS["allocation"], DELETE, _allocation_of),
    ("DELETE", "/v1/inspection_rules"): Told(subjects.SUBJECTS["inspectionrule"], DELETE, _all_rules),
}


def told_of(route: Route) -> Told | None:
    """Return what is told of a route; None when nobody hears of it."""
    if (other := OTHERS.get((route.method, route.path))) is not None:
        return other
    match route.of:
        case Create():
            action = CREATE
        case Patch():
            action = UPDATE
        case Delete():
            action = DELETE
        case _:
            return None
    subject = subjects.SUBJECTS.get(route.of.resource.__name__.lower())
    return None if subject is None else Told(subject, action)


def answered(request: Request, handler: Callable[..., Answer], args: tuple[Any, ...]) -> Answer:
    """Call the handler and tell what it did; only to be used when somebody listens."""
    route = request.route
    told = told_of(route) if isinstance(route, Route) else None
    if told is None:
        return handler(*args)
    news = _News(request, told, args[1:])
    request.announce = news.start
    with request.store.announcing(news.start):
        try:
            answer = handler(*args)
        except Exception as error:
            news.fail(error)
            raise
    news.end(answer)
    return answer


class _News:
    """What there is to tell of one request."""

    def __init__(self, request: Request, told: Told, path: tuple[str, ...]) -> None:
        self._request, self._told = request, told
        self._started = False
        self._before: list[Values] = [] if told.action == CREATE else self._find(path)

    def start(self, created: Mapping[str, int] = _NOTHING) -> bool:
        """Tell that the change begins, if it is known of what; tell whether it is."""
        if not self._started and self._told.action == CREATE:
            new = created.get(self._told.subject.table)
            self._before = self._read([] if new is None else [new])
        if not self._started and self._before:
            self._started = True
            self._tell(START, self._before)
        return self._started

    def fail(self, error: Exception) -> None:
        """Tell that it failed, unless it was refused before it began."""
        if self._started or not _is_refusal(error):
            self.start()
            self._tell(ERROR, self._before)

    def end(self, answer: Answer) -> None:
        """Tell what has become of it."""
        if self._told.action == DELETE:
            after = self._before
        else:
            # By UUID: its name may be another one now.
            after = self._read([each["uuid"] for each in self._before] or [(answer.location or "").rpartition("/")[2]])
        self._before = self._before or after
        self.start()
        self._tell(END, after)

    def _find(self, path: tuple[str, ...]) -> list[Values]:
        try:
            return self._read(self._told.idents(self._request.store, path))
        except IronicError:
            return []  # what is not there is the handler's to say

    def _read(self, idents: "Sequence[str | int]") -> list[Values]:
        found = (_read(self._request, self._told.subject, ident) for ident in idents)
        return [values for values in found if values is not None]

    def _tell(self, status: str, things: Sequence[Values]) -> None:
        for values in things:
            _tell(self._request, self._told.subject, self._told.action, (status, values))


def enrolled(request: Request, uuid: str) -> None:
    """Tell of a node that was made of a machine which reported itself."""
    if NOTICES.on and (node := _read(request, subjects.NODE, uuid)):
        _tell(request, subjects.NODE, CREATE, (START, node), (END, node))


def _read(request: Request, subject: Subject, ident: str | int) -> Values | None:
    try:
        return subject.read(request.store, ident)
    except IronicError:
        return None  # what is not there is the handler's to say


def _is_refusal(error: Exception) -> bool:
    return getattr(error, "status", 500) in (400, 403, 404, 406)


def _tell(request: Request, subject: Subject, action: str, *told: tuple[str, Values]) -> None:
    for status, values in told:
        NOTICES.tell(API, request.context, f"{subject.kind}.{action}", status, subject.payload, values)
