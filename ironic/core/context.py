"""The context of a request, and the mark of background work in the purpose of a lock.

The context says on whose behalf work is done; it travels with every call to a conductor and into every task. A lock
held by background work carries a mark in its stored purpose: callers wait for such a lock, because it is short, instead
of reporting a conflict to the user.
"""

import re
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from ironic.core.errors import NodeLocked


def new_request_id() -> str:
    """Return a new request identifier: ``req-`` and a UUID."""
    return f"req-{uuid.uuid4()}"


_REQUEST_ID: Final = re.compile(r"req-[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", re.ASCII)


def global_request_id(given: object) -> str | None:
    """Return the identifier that a caller gives to all requests of one operation; None for any other text."""
    return given if isinstance(given, str) and _REQUEST_ID.fullmatch(given) else None


@dataclass(slots=True)
class RequestContext:
    """The caller of one request: user, project and roles. Holds no secret.

    ``global_request_id`` is what a service that calls this one has sent, for the log alone: it is not to be trusted.
    """

    request_id: str = field(default_factory=new_request_id)
    user_id: str | None = None
    project_id: str | None = None
    project_name: str | None = None
    system_scope: str | None = None
    roles: tuple[str, ...] = ()
    is_public_api: bool = False
    # The domain that a token is for, and those of user and project; only custom policy rules use the latter.
    domain_id: str | None = None
    user_domain_id: str | None = None
    project_domain_id: str | None = None
    # Whether the project is Keystone's admin project; true for every project where Keystone names none.
    is_admin_project: bool = True
    global_request_id: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the context as a dictionary for the message bus."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "RequestContext":
        """Build a context from the result of :meth:`to_dict`; keys of a later release are ignored."""
        known = {name: values[name] for name in cls.__slots__ if name in values}
        if "roles" in known:
            known["roles"] = tuple(known["roles"])
        return cls(**known)


# On whose behalf this thread works, for the log; none for work that no request has begun.
_LOGGED: Final[ContextVar[RequestContext | None]] = ContextVar("logged", default=None)


@contextmanager
def logged(context: RequestContext) -> Iterator[None]:
    """Have the lines that are logged in the block name the request, the user and the project."""
    token = _LOGGED.set(context)
    try:
        yield
    finally:
        _LOGGED.reset(token)


def log_values() -> dict[str, object] | None:
    """Return what lines of the log may have of the present request, by the names of oslo.log; None without one."""
    if (context := _LOGGED.get()) is None:
        return None
    return {
        "request_id": context.request_id,
        "global_request_id": context.global_request_id or "-",
        "user": context.user_id,
        "user_id": context.user_id,
        "project": context.project_id,
        "project_id": context.project_id,
        "tenant": context.project_id,
        "project_name": context.project_name,
        "domain": context.domain_id,
        "user_domain": context.user_domain_id,
        "project_domain": context.project_domain_id,
        "system_scope": context.system_scope,
    }


def service_context() -> RequestContext:
    """Return the context of work that no user has requested (periodic jobs, start-up)."""
    return RequestContext()


_MARK: Final = "background: "


def background_purpose(purpose: str) -> str:
    """Return a purpose marked as background work."""
    return _MARK + purpose


def is_background_lock(locked: NodeLocked) -> bool:
    """Return whether a node is locked by background work."""
    return str(locked.facts.get("purpose") or "").startswith(_MARK)
