"""Tokens of graphical consoles: who has the token of a node may see and use its screen until the token expires.

The token is in the node's ``driver_internal_info``, beside the address of the VNC server. Its name has it masked in
every answer and notification.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Self

from ironic.core.keys.internal_keys import InternalKey, Record
from ironic.core.texts import syntax

_HOST: Final = InternalKey("vnc_host", str, "The host of the screen of a graphical console that is open.")
_PORT: Final = InternalKey("vnc_port", int, "Its port.")
TOKEN: Final = InternalKey("novnc_secret_token", str, "The token of who may see it; masked in answers.")
_CREATED: Final = InternalKey("novnc_secret_token_created", str, "When the token was made.")

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
        host, port, token = _HOST.read(internal_info), _PORT.read(internal_info), TOKEN.read(internal_info)
        created = syntax.moment_of(_CREATED.read(internal_info))
        if host is None or port is None or not token or created is None:
            return None
        return cls(host, port, token, created)

    def put(self, node: Record) -> None:
        """Put the access on its node; the caller saves the node."""
        _HOST.set(node, self.host)
        _PORT.set(node, self.port)
        TOKEN.set(node, self.token)
        _CREATED.set(node, self.created.isoformat())

    def is_over(self, now: datetime, seconds: float) -> bool:
        """Return whether a token that is valid for so many seconds has expired."""
        return now - self.created >= timedelta(seconds=seconds)

    def admits(self, token: str, now: datetime, seconds: float) -> bool:
        """Return whether a token is the right one and has not expired; it takes the same time for every token."""
        is_same = secrets.compare_digest(token.encode(errors="replace"), self.token.encode())
        return is_same and not self.is_over(now, seconds)


def forget(node: Record) -> None:
    """Remove the access from a node; the caller saves the node."""
    for key in KEYS:
        key.delete(node)
