"""What both ends of a call between processes agree on, whatever carries it: versions, deadlines, signs of life.

A message has the name and the arguments of a call, as far as the pinned release knows them, and an envelope with the
time until which the call may begin. During a call the conductor sends signs of life, and its answer has the time of its
clock. A conductor whose signs stay away gets no calls for a moment.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ironic.conf import CONF
from ironic.core.clock import CLOCK, Clock
from ironic.core.context import RequestContext
from ironic.core.errors.call_errors import CallCameTooLate
from ironic.core.permit import PERMIT
from ironic.rpc import message_format, rpc_versions
from ironic.rpc.circuit_breaker import CircuitBreaker
from ironic.rpc.message_format import Clocks, Envelope
from ironic.rpc.rpc_api import Call

# Seconds without a sign of life after which a call fails; a conductor sends two in that time. On a small machine a busy
# conductor may not keep a shorter one.
LIVENESS_SECONDS: Final = 4


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A call on its way to a conductor, with arguments in JSON values."""

    host: str
    context: RequestContext
    call: Call
    arguments: Mapping[str, Any]
    version: rpc_versions.Version
    clocks: Clocks
    liveness_seconds: float

    def message(self) -> dict[str, object]:
        """Return the message to send now: the time in which the call may begin counts from here."""
        message: dict[str, object] = {"name": self.call.name, "arguments": self.arguments}
        if self.version == rpc_versions.FIRST:
            return message
        begin_before = self.clocks.there(self.host) + self.liveness_seconds if self.call.wait else None
        return message | {"envelope": Envelope(self.version, begin_before).to_wire()}

    def result(self, answer: Mapping[str, Any]) -> object:
        """Return the result of an answer, or raise its error."""
        self.clocks.learn(self.host, answer)
        return message_format.result_of(answer)


class Conversation:
    """The calls of this process to conductors."""

    def __init__(
        self, carry: Callable[[Outgoing], object], liveness_seconds: float = LIVENESS_SECONDS, clock: Clock = CLOCK
    ) -> None:
        """Take what carries one call and returns its result; it raises an error of `ironic.core.errors.call_errors`."""
        self._carry, self._liveness_seconds = carry, liveness_seconds
        self._circuits = CircuitBreaker(liveness_seconds, clock=clock.monotonic)
        self._clocks = Clocks(clock.epoch)

    def send(self, host: str, context: RequestContext, call: Call, arguments: Mapping[str, object]) -> object:
        """Make one call and return its result."""
        version = rpc_versions.pinned_version(CONF.pin_release_version)
        known = message_format.json_copy(rpc_versions.restricted_to(version, call, arguments))
        outgoing = Outgoing(host, context, call, known, version, self._clocks, self._liveness_seconds)
        with PERMIT.waiting(), self._circuits.guard(host, call.name):
            try:
                return self._carry(outgoing)
            except CallCameTooLate:
                # The answer came in time, so only the clocks differ, and by how much is known from it.
                return self._carry(outgoing)
