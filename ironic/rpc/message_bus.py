"""RPC over a message bus: oslo.messaging, usually with RabbitMQ.

Each conductor listens to a queue of its own on one topic. One method carries all calls; the dispatcher and the message
format encode names, arguments and errors, so oslo.messaging never transports an exception. A dead conductor has no
queue, which the broker reports at once. One whose host has failed is noticed by its silence: during a call a conductor
sends signs of life, and the caller stops to wait when they stop.

Import this module only if a bus is used: oslo.messaging takes a quarter of a second.
"""

import contextlib
import logging
import threading
import uuid
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from ironic.conf import CONF
from ironic.core.clock import CLOCK, Clock
from ironic.core.context import RequestContext
from ironic.core.errors.call_errors import ConductorAbsent, ConductorSilent, ConductorUnreachable, MessageBusFailure
from ironic.core.threads import THREADS, Threads
from ironic.rpc import broker
from ironic.rpc.broker import run_in_thread
from ironic.rpc.conversation import LIVENESS_SECONDS, Conversation, Outgoing
from ironic.rpc.dispatcher import Dispatcher
from ironic.rpc.library import BUS_ERRORS, exceptions, oslo_messaging
from ironic.rpc.rpc_api import Call, ConductorAPI

LOG = logging.getLogger(__name__)

# The version of the one method that carries calls; that of the calls is in ironic.rpc.rpc_versions.
CARRIER_VERSION: Final = "1.0"

# Seconds for which a leaving conductor sends callers to others before it stops listening.
_LEAVE_SECONDS: Final = 0.5

# Seconds to wait for threads of the library, which may take five seconds to end; nothing depends on their end.
_CLOSE_SECONDS: Final = 1.0

# Seconds between two attempts to find the broker: at first, and at most after doubling.
_SHORTEST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 4.0

# How many times a message is sent again if the broker does not take it.
_SEND_RETRIES: Final = 2

# The broker returns a message without a queue at once, instead of dropping it.
_FAIL_IF_ABSENT: Final = oslo_messaging.TransportOptions(at_least_once=True)


class _Endpoint:
    """The object whose methods oslo.messaging calls for a conductor."""

    target = oslo_messaging.Target(version=CARRIER_VERSION)

    def __init__(self, dispatcher: Dispatcher, clock: Clock) -> None:
        self._dispatcher, self._clock = dispatcher, clock

    def answer(
        self,
        context: Mapping[str, object],
        name: str,
        arguments: Mapping[str, object],
        envelope: Mapping[str, object] | None = None,
        **later: object,
    ) -> dict[str, object]:
        """Make one call and return its message; ``later``, the fields of a later release, is ignored."""
        return self._dispatcher.answer(context, name, arguments, envelope or {}) | {"clock": self._clock.epoch()}


class _LibraryServer(Protocol):
    """An RPC server of oslo.messaging."""

    def stop(self) -> None: ...
    def wait(self) -> None: ...


class MessageBusServer:
    """The RPC server of one conductor."""

    def __init__(
        self, server: _LibraryServer, dispatcher: Dispatcher, clock: Clock = CLOCK, threads: Threads = THREADS
    ) -> None:
        self._server, self._dispatcher, self._clock, self._threads = server, dispatcher, clock, threads

    def retire(self) -> None:
        """Begin no more calls; those under way continue."""
        self._dispatcher.retire()

    def stop(self) -> None:
        """Begin no more calls, answer those that were begun, and end the threads.

        A call that arrives while the library closes is lost, and its caller waits for the time-out. So calls are
        refused for a moment before, and the library closes only when no call is under way, which is quick.
        """
        self.retire()
        self._clock.delay(_LEAVE_SECONDS)
        self._dispatcher.await_quiet()

        def close() -> None:
            self._server.stop()
            self._server.wait()

        _close_in_background(close, self._threads)


class MessageBus:
    """The transport to conductors of any process."""

    def __init__(
        self,
        url: str | None = None,
        *,
        liveness_seconds: int = LIVENESS_SECONDS,
        clock: Clock = CLOCK,
        threads: Threads = THREADS,
    ) -> None:
        """Use the broker of [DEFAULT]transport_url, or of ``url``; ``liveness_seconds`` is at least 2."""
        self._clock, self._threads = clock, threads
        self._transport = broker.transport_for_calls(CONF, url)
        self.address = broker.masked_url(CONF, url)
        self._probe = broker.BrokerProbe(CONF, url)
        target = broker.target_of_calls(CONF)
        target.version = CARRIER_VERSION
        self._client = oslo_messaging.get_rpc_client(self._transport, target)
        self._liveness_seconds = liveness_seconds
        self._conversation = Conversation(self._carry, liveness_seconds, clock)
        self._connecting: threading.Thread | None = None
        self._connecting_lock = threading.Lock()
        self._connected, self._closed = clock.event(), clock.event()

    def serve(self, host: str, endpoint: ConductorAPI) -> MessageBusServer:
        """Make the calls for a conductor until the returned server is stopped."""
        dispatcher = Dispatcher(host, endpoint, self._clock)
        target = broker.target_of_calls(CONF, host)
        server = oslo_messaging.get_rpc_server(self._transport, target, [_Endpoint(dispatcher, self._clock)])
        server.start()
        return MessageBusServer(server, dispatcher, self._clock, self._threads)

    def send(self, host: str, context: RequestContext, call: Call, arguments: Mapping[str, object]) -> object:
        """Make one call and return its result; without ``call.wait`` it only has to reach the broker."""
        return self._conversation.send(host, context, call, arguments)

    def is_open(self, timeout: float) -> bool:
        """Return whether the broker has been reached, after waiting for it for so many seconds at most."""
        with self._connecting_lock:
            if self._connecting is None and not self._closed.is_set():
                self._connecting = self._threads.make("message-bus-opening", self._connect)
                self._connecting.start()
        return self._connected.wait(timeout)

    def close(self) -> None:
        """Close the connections, and end the search for a broker that was not found yet."""
        with self._connecting_lock:
            self._closed.set()

        def close() -> None:
            if self._connecting is not None:
                self._connecting.join()
            self._transport.cleanup()

        _close_in_background(close, self._threads)

    def _connect(self) -> None:
        """Try to reach the broker until that succeeds or the bus is closed."""
        logged, pause = "", _SHORTEST_PAUSE
        while True:
            try:
                # First, as the library logs an error for every host that it can't reach.
                self._probe.check()
                self._exchange_test_messages()
                break
            except Exception as error:
                # Any exception of three libraries: the thread has to continue in any case.
                fault = f"{type(error).__name__}: {error}"
            if fault != logged:
                LOG.warning("The message broker at %s can't be used yet: %s", self.address, fault)
            if self._closed.wait(pause):
                return
            logged, pause = fault, min(pause * 2, _LONGEST_PAUSE)
        self._connected.set()

    def _exchange_test_messages(self) -> None:
        """Have the library connect and declare its queue for answers, or raise why it can't.

        Both messages are for a host that does not exist, so that the broker returns them.
        """
        absent = {"server": f"unserved-{uuid.uuid4()}", "transport_options": _FAIL_IF_ABSENT}
        # The library tries one host of the URL at each retry.
        sending = self._client.prepare(**absent, retry=max(self._probe.hosts - 1, 0))
        with contextlib.suppress(exceptions.MessageUndeliverable):
            sending.cast({}, "answer", name="", arguments={})
        if self._closed.is_set():
            return
        # A call declares the queue for answers. It retries without end, so it comes after a message got through.
        calling = self._client.prepare(**absent, timeout=1)
        with contextlib.suppress(exceptions.MessagingException, exceptions.MessageUndeliverable):
            calling.call({}, "answer", name="", arguments={})

    def _carry(self, outgoing: Outgoing) -> object:
        """Send one call and return its result; errors of the library become errors of this service."""
        host, call, began = outgoing.host, outgoing.call, self._clock.monotonic()
        limit = call.timeout or CONF.rpc_response_timeout
        try:
            self._probe.check_again()
            if not self.is_open(self._liveness_seconds):
                raise exceptions.MessageDeliveryFailure("there is no connection to the broker yet")
            message = outgoing.message()
            return run_in_thread(
                lambda: self._exchange(outgoing, message),
                self._probe.check,
                self._liveness_seconds,
                self._threads,
            )
        except exceptions.MessageUndeliverable:
            raise ConductorAbsent(host=host, call=call.name, reason="it does not listen to the message bus") from None
        except exceptions.MessagingTimeout:
            waited = round(self._clock.monotonic() - began, 1)
            kind = ConductorSilent if waited < limit else ConductorUnreachable
            raise kind(host=host, call=call.name, seconds=waited) from None
        except BUS_ERRORS as error:
            self._probe.suspect()
            raise MessageBusFailure(host=host, call=call.name, reason=str(error)) from error

    def _exchange(self, outgoing: Outgoing, message: Mapping[str, object]) -> object:
        """Send a message by the library, which may block as long as there is no broker; return the result."""
        context = outgoing.context.to_dict()
        client = self._client.prepare(
            server=outgoing.host,
            timeout=outgoing.call.timeout,
            call_monitor_timeout=self._liveness_seconds,
            retry=_SEND_RETRIES,
            transport_options=_FAIL_IF_ABSENT,
        )
        if not outgoing.call.wait:
            return client.cast(context, "answer", **message)
        return outgoing.result(client.call(context, "answer", **message))


def _close_in_background(close: Callable[[], None], threads: Threads) -> None:
    """Close something in a thread, and wait for it for a short time only."""
    closing = threads.make("message-bus-closing", close)
    closing.start()
    closing.join(_CLOSE_SECONDS)
