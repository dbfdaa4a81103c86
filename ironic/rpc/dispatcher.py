"""The conductor's side of the conversation, the same for every transport: a name becomes a method of the endpoint.

What goes wrong inside becomes an envelope here, so that no transport has its own idea of an error. An exception that
is none of ours is logged with its request and reaches the caller as a plain IronicError: what broke is for the
operator's eyes.
"""

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from ironic.core.call_errors import CallCameTooLate, ConductorAbsent
from ironic.core.context import RequestContext
from ironic.core.errors import CallNotUnderstood, IronicError
from ironic.rpc import codec
from ironic.rpc.call import Call, calls_of
from ironic.rpc.conversation import ConductorCalls
from ironic.rpc.envelope import Envelope

LOG = logging.getLogger(__name__)

_NONE: Final[Mapping[str, object]] = {}


class Dispatcher:
    """Answers calls with one endpoint."""

    def __init__(self, host: str, endpoint: ConductorCalls) -> None:
        self._host = host
        self._endpoint = endpoint
        self._calls = calls_of(type(endpoint))
        self._leaving = False
        self._under_way = 0
        self._changed = threading.Condition()

    def retire(self) -> None:
        """Begin no call any more: the conductor is leaving, and its callers shall look for another one."""
        self._leaving = True

    def await_quiet(self) -> None:
        """Wait until every call that was begun has its answer."""
        with self._changed:
            self._changed.wait_for(lambda: not self._under_way)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._changed:
            self._under_way += 1
        try:
            yield
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def answer(
        self,
        context: Mapping[str, object],
        name: str,
        arguments: Mapping[str, object],
        envelope: Mapping[str, object] = _NONE,
    ) -> dict[str, object]:
        """Do one call and return the envelope of its result or error, plain JSON; raises nothing."""
        with self._counted():
            return self._answer(RequestContext.from_dict(context), name, arguments, envelope)

    def _answer(
        self, asker: RequestContext, name: str, arguments: Mapping[str, object], envelope: Mapping[str, object]
    ) -> dict[str, object]:
        try:
            self._check(name, envelope)
            return codec.result(codec.copied(self._perform(asker, name, arguments)))
        except CallCameTooLate as error:
            LOG.warning("%s (request %s, %s): %s", name, asker.request_id, _named(arguments), error)
            return codec.failure(error)
        except IronicError as error:
            LOG.debug("%s (request %s) ends with %s: %s", name, asker.request_id, type(error).__name__, error)
            return codec.failure(error)
        except Exception:
            LOG.exception("%s failed, request %s, arguments %s", name, asker.request_id, _named(arguments))
            return codec.failure(IronicError(request_id=asker.request_id))

    def _check(self, name: str, envelope: Mapping[str, object]) -> None:
        if self._leaving:
            raise ConductorAbsent(host=self._host, call=name, reason="it is leaving")
        try:
            read = Envelope.read(envelope)
        except (ValueError, TypeError) as error:
            raise CallNotUnderstood(host=self._host, call=name, reason=f"its envelope can't be read: {error}") from None
        read.check(self._host, name, time.time())

    def _perform(self, context: RequestContext, name: str, arguments: Mapping[str, object]) -> object:
        if name not in self._calls:
            raise CallNotUnderstood(host=self._host, call=name, reason="it is not known here")
        call = self._calls[name]
        try:
            known = call.arguments(**_meant(call, arguments))
        except TypeError as error:
            raise CallNotUnderstood(host=self._host, call=name, reason=str(error)) from None
        return getattr(self._endpoint, name)(context, **known)


def _meant(call: Call, arguments: Mapping[str, object]) -> dict[str, object]:
    """Leave out arguments of a later release that say nothing; those that do say something are not passed over."""
    known = call.signature.parameters
    return {name: value for name, value in arguments.items() if name in known or value is not None}


def _named(arguments: Mapping[str, object]) -> str:
    """Describe arguments for the log: what identifies something in full, of the rest (secrets!) only the names."""
    return ", ".join(f"{key}={value}" if key.endswith("_id") else key for key, value in arguments.items())
