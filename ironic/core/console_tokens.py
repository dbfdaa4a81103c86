"""Tokens of graphical consoles: who has the token of a node may see and use its screen until the token expires.

The token is in the node's ``driver_internal_info``, beside the address of the VNC server. Its name has it masked in
every answer and notification.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Self

from ironic.core import syntax

_HOST: Final = "vnc_host"
_PORT: Final = "vnc_port"
TOKEN: Final = "novnc_secret_token"
_CREATED: Final = "novnc_secret_token_created"

KEYS: Final = (_HOST, _PORT, TOKEN, _CREATED)


@dataclass(frozen=True, slots=True)
class ConsoleAccess:
    """Where the VNC server of a console is, its token, and when the token was made (UTC)."""

    host: str
    port: int
    token: str
    created: datetime

    @classmethod
    def granted(cls, host: str, port: int, now: datetime) -> Self:
        """Return the access to a console that was opened just now, with a new token."""
        return cls(host, port, secrets.token_urlsafe(32), now)

    @classmethod
    def of(cls, internal_info: Mapping[str, Any]) -> Self | None:
        """Return the access that ``driver_internal_info`` has; None when no console is open."""
        host, port, token, written = (internal_info.get(key) for key in KEYS)
        created = syntax.moment_of(written)
        if not (isinstance(host, str) and isinstance(port, int) and isinstance(token, str) and token and created):
            return None
        return cls(host, port, token, created)

    def as_internal_info(self) -> dict[str, object]:
        """Return what is kept of it."""
        return dict(zip(KEYS, (self.host, self.port, self.token, self.created.isoformat()), strict=True))

    def is_over(self, now: datetime, seconds: float) -> bool:
        """Return whether a token that is valid for so many seconds has expired."""
        return now - self.created >= timedelta(seconds=seconds)

    def admits(self, token: str, now: datetime, seconds: float) -> bool:
        """Return whether a token is the right one and has not expired; it takes the same time for every token."""
        is_same = secrets.compare_digest(token.encode(errors="replace"), self.token.encode())
        return is_same and not self.is_over(now, seconds)
