"""The RPC server: turns a message into a call of the conductor's endpoint, and its result into an answer.

An error becomes a message here, so that all transports treat it alike. An exception that is no IronicError is logged
with its request, and the caller gets a plain IronicError: its text is for the operator only.
"""

import logging
from collections.abc import Mapping
from typing import Final

from ironic.core.clock import CLOCK, Clock
from ironic.core.context import RequestContext, logged
from ironic.core.errors import IronicError
from ironic.core.errors.call_errors import CallCameTooLate, CallNotUnderstood, ConductorAbsent
from ironic.rpc import message_format
from ironic.rpc.message_format import Envelope
from ironic.rpc.rpc_api import ConductorAPI, calls_of

LOG = logging.getLogger(__name__)


_NONE: Final[Mapping[str, object]] = {}


class Dispatcher:
    """Makes the calls of one endpoint."""

    def __init__(self, host: str, endpoint: ConductorAPI, clock: Clock = CLOCK) -> None:
        self._host, self._clock = host, clock
        self._endpoint = endpoint
        self._calls = calls_of(type(endpoint))
        self._leaving = False
        self._under_way = 0
        self._changed = clock.condition()

    def retire(self) -> None:
        """Begin no more calls: the conductor leaves, and callers get ConductorAbsent and find another one."""
        self._leaving = True

    def await_quiet(self) -> None:
        """Wait until all calls under way have ended."""
        with self._changed:
            self._changed.wait_for(lambda: not self._under_way)

    def answer(
        self,
        context: Mapping[str, object],
        name: str,
        arguments: Mapping[str, object],
        envelope: Mapping[str, object] = _NONE,
    ) -> dict[str, object]:
        """Make one call and return the message of its result or error, plain JSON; raises nothing."""
        with self._changed:
            self._under_way += 1
        try:
            try:
                caller = RequestContext.from_dict(context)
            except (TypeError, ValueError) as error:
                reason = f"its context can't be read: {error}"
                return message_format.error_message(CallNotUnderstood(host=self._host, call=name, reason=reason))
            with logged(caller):
                return self._answer(caller, name, arguments, envelope)
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def _answer(
        self, caller: RequestContext, name: str, arguments: Mapping[str, object], envelope: Mapping[str, object]
    ) -> dict[str, object]:
        try:
            self._check(name, envelope)
            call = self._calls.get(name)
            if call is None:
                raise CallNotUnderstood(host=self._host, call=name, reason="it is not known here")
            # Unknown arguments of a later release are ignored if they are None, and refused otherwise.
            known = call.signature.parameters
            given = {key: value for key, value in arguments.items() if key in known or value is not None}
            try:
                bound = call.arguments(**given)
            except TypeError as error:
                raise CallNotUnderstood(host=self._host, call=name, reason=str(error)) from None
            result = getattr(self._endpoint, name)(caller, **bound)
            return message_format.result_message(message_format.json_copy(result))
        except CallCameTooLate as error:
            LOG.warning("%s (request %s, %s): %s", name, caller.request_id, _described(arguments), error)
            return message_format.error_message(error)
        except IronicError as error:
            LOG.debug("%s (request %s) ends with %s: %s", name, caller.request_id, type(error).__name__, error)
            return message_format.error_message(error)
        except Exception:
            LOG.exception("%s failed, request %s, arguments %s", name, caller.request_id, _described(arguments))
            return message_format.error_message(IronicError(request_id=caller.request_id))

    def _check(self, name: str, envelope: Mapping[str, object]) -> None:
        """Refuse a call if the conductor leaves, or if the envelope is unknown or expired."""
        if self._leaving:
            raise ConductorAbsent(host=self._host, call=name, reason="it is leaving")
        try:
            read = Envelope.read(envelope)
        except (ValueError, TypeError) as error:
            raise CallNotUnderstood(host=self._host, call=name, reason=f"its envelope can't be read: {error}") from None
        read.check(self._host, name, self._clock.epoch())


def _described(arguments: Mapping[str, object]) -> str:
    """Return the names of the arguments for the log, with the values of ids only: others may be secret."""
    return ", ".join(f"{key}={value}" if key.endswith("_id") else key for key, value in arguments.items())
