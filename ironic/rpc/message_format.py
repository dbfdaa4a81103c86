"""The format of RPC messages: the envelope of a call with version and deadline, plain JSON values, errors.

A caller without an answer reports the call as failed, so a conductor that resumes later must not begin it any more: the
envelope has the time until which it may. It is a time of the conductor's clock, which callers know from its answers, so
the clocks of two hosts may differ. Unknown keys (of a later release) are ignored; another major version is refused.

Values are plain JSON. An error is sent as its classes, HTTP status, message and facts, without a traceback, and becomes
the nearest class that the caller knows. An answer has either a result or an error.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from ironic.core.clock import CLOCK
from ironic.core.errors import IronicError, all_errors
from ironic.core.errors.call_errors import CallCameTooLate, CallNotUnderstood
from ironic.rpc.rpc_versions import FIRST, PRESENT, Version

_MOST_HOSTS: Final = 4096


@dataclass(frozen=True, slots=True)
class Envelope:
    """The envelope of one call; a call of the first version has none, and no deadline."""

    version: Version = FIRST
    begin_before: float | None = None

    @classmethod
    def read(cls, wire: Mapping[str, Any]) -> "Envelope":
        """Read an envelope; raises ValueError or TypeError if it is malformed."""
        begin_before = wire.get("begin_before")
        version = Version.parse(wire["version"]) if "version" in wire else FIRST
        return cls(version, None if begin_before is None else float(begin_before))

    def to_wire(self) -> dict[str, object]:
        """Return the envelope as JSON values."""
        return {"version": str(self.version), "begin_before": self.begin_before}

    def check(self, host: str, call: str, now: float) -> None:
        """Raise CallNotUnderstood for another major version, CallCameTooLate after the deadline."""
        if self.version.major != PRESENT.major:
            reason = f"it has version {self.version} of the RPC API, this conductor speaks {PRESENT}"
            raise CallNotUnderstood(host=host, call=call, reason=reason)
        if self.begin_before is not None and now > self.begin_before:
            raise CallCameTooLate(host=host, call=call, seconds=round(now - self.begin_before, 1))


class Clocks:
    """How far the clocks of conductors are ahead of this host's, by their last answers."""

    def __init__(self, epoch: Callable[[], float] = CLOCK.epoch) -> None:
        self._epoch = epoch
        self._ahead: dict[str, float] = {}

    def there(self, host: str) -> float:
        """Return the time of a conductor's clock; this host's for a conductor that has never answered."""
        return self._epoch() + self._ahead.get(host, 0.0)

    def learn(self, host: str, answer: Mapping[str, Any]) -> None:
        """Store the time in an answer; that of a conductor of the first version has none."""
        if (shown := answer.get("clock")) is not None:
            if len(self._ahead) >= _MOST_HOSTS:
                # Hosts come and go; the next answers have the times of those that exist.
                self._ahead.clear()
            self._ahead[host] = shown - self._epoch()


def json_copy(value: object) -> Any:
    """Return the value as it arrives at the other side; raises TypeError if it has no JSON form."""
    return orjson.loads(orjson.dumps(value))


def result_message(value: object) -> dict[str, object]:
    """Return the message of a result."""
    return {"result": value}


def error_message(error: IronicError) -> dict[str, object]:
    """Return the message of an error; facts without a JSON form are sent as text, so that every error can be sent."""
    try:
        facts = orjson.loads(orjson.dumps(error.facts, default=str, option=orjson.OPT_NON_STR_KEYS))
    except TypeError:
        facts = {key: _text(str(value)) for key, value in error.facts.items()}
    classes = [cls.__name__ for cls in type(error).__mro__ if issubclass(cls, IronicError)]
    return {"error": {"classes": classes, "status": error.status, "message": _text(error.message), "facts": facts}}


def _text(text: str) -> str:
    """Return text that can be encoded: what a BMC returns may contain anything."""
    return text.encode("utf-8", "replace").decode()


def result_of(message: Mapping[str, Any]) -> object:
    """Return the result of a message, or raise its error."""
    if "error" in message:
        raise error_of(message["error"])
    return message["result"]


def error_of(wire: Mapping[str, Any]) -> IronicError:
    """Return the error that was sent: of its own class, or the nearest base class known here, with its status."""
    known = all_errors()
    cls = next((known[name] for name in wire["classes"] if name in known), IronicError)
    # A class of a plug-in may have a constructor with other arguments, so only the one of the root class is called.
    error = cls.__new__(cls)
    IronicError.__init__(error, wire["message"], **{k: v for k, v in wire["facts"].items() if k != "message"})
    # Only the conductor may know the class of a plug-in. Earlier releases send no status.
    if wire.get("status", error.status) != error.status:
        vars(error).update(status=wire["status"])
    return error
