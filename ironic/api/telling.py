"""What the API tells those who listen to notifications: things that are created, changed and deleted through it.

One table names the routes; handlers know nothing of it. A request that is refused for what it asks is nobody's news; of
one that was carried out, or failed, start and end are told together, as the thing was before and as it is after.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from ironic.api.answers import Answer
from ironic.api.request import Request
from ironic.core.errors import IronicError
from ironic.rpc.notifications import END, ERROR, NOTICES, START, Subject, subjects
from ironic.rpc.notifications.notices import API

Values = dict[str, Any]

CREATE, UPDATE, DELETE, MAINTENANCE = "create", "update", "delete", "maintenance_set"

# Path of a collection and of one of its members -> what there is to tell about.
_COLLECTIONS: Final = {
    "/v1/nodes": ("{node}", "node"),
    "/v1/ports": ("{port}", "port"),
    "/v1/portgroups": ("{portgroup}", "portgroup"),
    "/v1/chassis": ("{chassis}", "chassis"),
    "/v1/volume/connectors": ("{connector}", "volumeconnector"),
    "/v1/volume/targets": ("{target}", "volumetarget"),
    "/v1/allocations": ("{allocation}", "allocation"),
    "/v1/deploy_templates": ("{template}", "deploytemplate"),
    "/v1/runbooks": ("{runbook}", "runbook"),
    "/v1/inspection_rules": ("{rule}", "inspectionrule"),
}


def _routes() -> dict[tuple[str, str], tuple[Subject, str]]:
    routes: dict[tuple[str, str], tuple[Subject, str]] = {}
    for path, (member, kind) in _COLLECTIONS.items():
        subject = subjects.SUBJECTS[kind]
        routes["POST", path] = (subject, CREATE)
        routes["PATCH", f"{path}/{member}"] = (subject, UPDATE)
        routes["DELETE", f"{path}/{member}"] = (subject, DELETE)
    for method in ("PUT", "DELETE"):
        routes[method, "/v1/nodes/{node}/maintenance"] = (subjects.NODE_IN_MAINTENANCE, MAINTENANCE)
    return routes


TOLD: Final[Mapping[tuple[str, str], tuple[Subject, str]]] = _routes()


def answered(request: Request, handler: Callable[..., Answer], args: tuple[Any, ...]) -> Answer:
    """Call the handler and tell what it did; only to be used when somebody listens."""
    route = request.route
    told = TOLD.get((route.method, route.path)) if route else None
    if told is None:
        return handler(*args)
    subject, action = told
    before = None if action == CREATE else _read(request, subject, args[1])
    try:
        answer = handler(*args)
    except Exception as error:
        if before is not None and not _is_refusal(error):
            _tell(request, subject, action, (START, before), (ERROR, before))
        raise
    after = before if action == DELETE else _read(request, subject, _ident(answer, before))
    if after is not None:
        _tell(request, subject, action, (START, before or after), (END, after))
    return answer


def _ident(answer: Answer, before: Values | None) -> str:
    """Return by what the thing is found after the request: its UUID, for its name may be another one now."""
    return before["uuid"] if before else (answer.location or "").rpartition("/")[2]


def _read(request: Request, subject: Subject, ident: str) -> Values | None:
    try:
        return subject.read(request.store, ident)
    except IronicError:
        return None  # what is not there is the handler's to say


def _is_refusal(error: Exception) -> bool:
    return getattr(error, "status", 500) in (400, 403, 404, 406)


def _tell(request: Request, subject: Subject, action: str, *told: tuple[str, Values]) -> None:
    for status, values in told:
        NOTICES.tell(API, request.context, f"{subject.kind}.{action}", status, subject.payload, values)
