"""What a request emits when it creates, updates or deletes something.

The notification of a route follows from its row in the route table; handlers know nothing of it. `start` is sent once
everything has been checked: before the first commit, or before a conductor is called. No notification is sent of a
request that is refused before that.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ironic.api.answers import Answer
from ironic.api.crud import Create, Delete, Patch
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.errors import IronicError
from ironic.core.model.allocation import Allocation
from ironic.core.model.inspection_rule import InspectionRule
from ironic.core.rules.inspector import INSPECTOR
from ironic.rpc.notifications import END, ERROR, NOTIFIER, START, Subject, subjects
from ironic.rpc.notifications.notifier import API

if TYPE_CHECKING:
    from ironic.db import Store


Values = dict[str, Any]

_NOTHING: Final[Mapping[str, int]] = {}

CREATE, UPDATE, DELETE, MAINTENANCE = "create", "update", "delete", "maintenance_set"

# Statuses of requests that are refused before anything changes.
_REFUSED: Final = frozenset({400, 403, 404, 406})


@dataclass(frozen=True, slots=True)
class RouteNotification:
    """The notification of a route: the kind of its payload, the action of its event type, and the rows it is about."""

    subject: Subject
    action: str
    idents: "Callable[[Store, tuple[str, ...]], Sequence[str]]" = lambda _store, path: path[:1]


def _allocation_of_node(store: "Store", path: tuple[str, ...]) -> Sequence[str]:
    (uuid,) = store.nodes.row(("allocation_uuid",), path[0])
    return (uuid,) if uuid else ()


def _all_inspection_rules(store: "Store", _path: tuple[str, ...]) -> Sequence[str]:
    return [row[0] for row in store.rules.rows(("uuid",))]


_INSPECTION_RULE: Final = subjects.about(InspectionRule)

# Routes that are no plain create, patch or delete of one row.
OTHERS: Final[Mapping[tuple[str, str], RouteNotification]] = {
    **{
        (method, "/v1/nodes/{node}/maintenance"): RouteNotification(subjects.NODE_IN_MAINTENANCE, MAINTENANCE)
        for method in ("PUT", "DELETE")
    },
    **{
        (method, path): RouteNotification(subjects.NODE, UPDATE)
        for method in ("PUT", "DELETE")
        for path in ("/v1/nodes/{node}/traits", "/v1/nodes/{node}/traits/{trait}")
    },
    ("DELETE", "/v1/nodes/{node}/allocation"): RouteNotification(
        subjects.about(Allocation), DELETE, _allocation_of_node
    ),
    ("DELETE", "/v1/inspection_rules"): RouteNotification(_INSPECTION_RULE, DELETE, _all_inspection_rules),
    # In the API of the standalone inspector.
    ("POST", "/v1/rules"): RouteNotification(_INSPECTION_RULE, CREATE),
    ("PUT", "/v1/rules/{rule}"): RouteNotification(_INSPECTION_RULE, UPDATE),
    ("DELETE", "/v1/rules/{rule}"): RouteNotification(_INSPECTION_RULE, DELETE),
    ("DELETE", "/v1/rules"): RouteNotification(
        _INSPECTION_RULE,
        DELETE,
        lambda store, _path: [row[0] for row in store.rules.rows(("uuid",), filters={"dialect": INSPECTOR})],
    ),
}


def notification_of(route: Route) -> RouteNotification | None:
    """Return the notification of a route, None for a route without one."""
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
    subject = subjects.of(route.of.resource.word)
    return None if subject is None else RouteNotification(subject, action)


def call_and_notify(request: Request, handler: Callable[..., Answer], args: tuple[Any, ...]) -> Answer:
    """Call the handler and send the notifications of its route; the caller has checked that notifications are on."""
    route = request.route
    declared = notification_of(route) if isinstance(route, Route) else None
    if declared is None:
        return handler(*args)
    notifications = _RequestNotifications(request, declared, args[1:])
    request.announce = notifications.start
    with request.store.announcing(notifications.start):
        try:
            answer = handler(*args)
        except Exception as error:
            notifications.fail(error)
            raise
    notifications.end(answer)
    return answer


def notify_enrolled(request: Request, uuid: str) -> None:
    """Send the notifications of a node that the discovery of a machine has created."""
    if NOTIFIER.on and (node := _read(request, subjects.NODE, uuid)):
        for status in (START, END):
            NOTIFIER.emit(API, request.context, f"{subjects.NODE.kind}.{CREATE}", status, subjects.NODE.payload, node)


class _RequestNotifications:
    """Send start, end and error of one request, for each row that it is about."""

    def __init__(self, request: Request, declared: RouteNotification, path: tuple[str, ...]) -> None:
        self._request, self._declared = request, declared
        self._started = False
        # The rows as they are before the change; the handler answers for rows that do not exist.
        self._before: list[Values] = []
        if declared.action != CREATE:
            try:
                self._before = self._read(declared.idents(request.store, path))
            except IronicError:
                self._before = []

    def start(self, created: Mapping[str, int] = _NOTHING) -> bool:
        """Send start once, when the rows are known; return whether it was sent.

        ``created`` has the ids of the rows that the transaction has created, by table.
        """
        if not self._started and self._declared.action == CREATE:
            new = created.get(self._declared.subject.table)
            self._before = self._read([] if new is None else [new])
        if not self._started and self._before:
            self._started = True
            self._send(START, self._before)
        return self._started

    def fail(self, error: Exception) -> None:
        """Send error, unless the request was refused before anything changed."""
        if self._started or getattr(error, "status", 500) not in _REFUSED:
            self.start()
            self._send(ERROR, self._before)

    def end(self, answer: Answer) -> None:
        """Send end, with the rows as they are after the change."""
        if self._declared.action == DELETE:
            after = self._before
        else:
            # By UUID, because the change may have been one of the name.
            after = self._read([each["uuid"] for each in self._before] or [(answer.location or "").rpartition("/")[2]])
        self._before = self._before or after
        self.start()
        self._send(END, after)

    def _read(self, idents: "Sequence[str | int]") -> list[Values]:
        found = (_read(self._request, self._declared.subject, ident) for ident in idents)
        return [values for values in found if values is not None]

    def _send(self, status: str, rows: Sequence[Values]) -> None:
        subject = self._declared.subject
        event = f"{subject.kind}.{self._declared.action}"
        for values in rows:
            NOTIFIER.emit(API, self._request.context, event, status, subject.payload, values)


def _read(request: Request, subject: Subject, ident: str | int) -> Values | None:
    """Return the values of a row for its payload, None for a row that does not exist: the handler answers for it."""
    try:
        return subject.read(request.store, ident)
    except IronicError:
        return None
