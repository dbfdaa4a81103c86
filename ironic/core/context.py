"""On whose behalf work is done; travels with every call to a conductor and into every task."""

import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


def new_request_id() -> str:
    """Return a fresh request identifier, ``req-`` and a UUID."""
    return f"req-{uuid.uuid4()}"


@dataclass(slots=True)
class RequestContext:
    """The caller of one request: who, for which project, with which roles. Holds no secret."""

    request_id: str = field(default_factory=new_request_id)
    user_id: str | None = None
    project_id: str | None = None
    project_name: str | None = None
    system_scope: str | None = None
    roles: tuple[str, ...] = ()
    is_public_api: bool = False
    # The domain that a token is for, and those that user and project live in; only sites' own rules look at the latter.
    domain_id: str | None = None
    user_domain_id: str | None = None
    project_domain_id: str | None = None
    # Whether the project is the site's own; every project is where Keystone names none.
    is_admin_project: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return the plain form that crosses the message bus."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "RequestContext":
        """Build a context from :meth:`to_dict`'s answer; keys of a later release are left out."""
        known = {name: values[name] for name in cls.__slots__ if name in values}
        if "roles" in known:
            known["roles"] = tuple(known["roles"])
        return cls(**known)


def service_context() -> RequestContext:
    """Return the context of work that no user asked for (periodic jobs, start-up)."""
    return RequestContext()
