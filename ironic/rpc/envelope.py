"""What stands around a call on its way: the version it is written in, and until when it may be begun.

A caller that hears nothing tells its user that the call failed; a conductor that comes back to life must not carry it
out after that. Times are those of the conductor's clock, which callers learn from its answers, so the clocks of two
hosts need not agree. Keys that a later release adds are ignored here; another major version is refused.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ironic.core.call_errors import CallCameTooLate
from ironic.core.errors import CallNotUnderstood
from ironic.rpc.versions import FIRST, PRESENT, Version

_MOST_HOSTS: Final = 4096


@dataclass(frozen=True, slots=True)
class Envelope:
    """One call's envelope; a call of the first version has none, which leaves everything open."""

    version: Version = FIRST
    begin_before: float | None = None

    @classmethod
    def read(cls, wire: Mapping[str, Any]) -> "Envelope":
        """Read an envelope; ValueError if it is none."""
        begin_before = wire.get("begin_before")
        version = Version.parse(wire["version"]) if "version" in wire else FIRST
        return cls(version, None if begin_before is None else float(begin_before))

    def to_wire(self) -> dict[str, object]:
        """Return the plain form."""
        return {"version": str(self.version), "begin_before": self.begin_before}

    def check(self, host: str, call: str, now: float) -> None:
        """Raise what stands against beginning the call on this host now."""
        if self.version.major != PRESENT.major:
            reason = f"it is written in version {self.version} of the conversation, this conductor speaks {PRESENT}"
            raise CallNotUnderstood(host=host, call=call, reason=reason)
        if self.begin_before is not None and now > self.begin_before:
            raise CallCameTooLate(host=host, call=call, seconds=round(now - self.begin_before, 1))


class Clocks:
    """How far the clocks of conductors are ahead of this host's, as far as they have answered."""

    def __init__(self) -> None:
        self._ahead: dict[str, float] = {}

    def there(self, host: str) -> float:
        """Return what a conductor's clock shows now; this host's time for one that has never answered."""
        return time.time() + self._ahead.get(host, 0.0)

    def learn(self, host: str, answer: Mapping[str, Any]) -> None:
        """Take note of the time that an answer shows; a conductor of the first version shows none."""
        if (shown := answer.get("clock")) is not None:
            if len(self._ahead) >= _MOST_HOSTS:
                # Hosts come and go; those that are there tell their time with their next answer.
                self._ahead.clear()
            self._ahead[host] = shown - time.time()
