"""The conversation over a message bus: oslo.messaging, RabbitMQ as a rule.

Every conductor listens on its own queue of one topic. One method carries all calls; names, arguments and errors are
the dispatcher's and the codec's business, so oslo.messaging never transports an exception. A conductor that died has
no queue any more, which the broker says at once; one that vanished with its host shows by its silence: while it works
on a call it gives signs of life, and the caller stops waiting when they stop.

Import this module only when a bus is used: oslo.messaging takes a quarter of a second.
"""

import contextlib
import logging
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from ironic.conf import CONF
from ironic.core.call_errors import CallCameTooLate, ConductorAbsent, ConductorSilent
from ironic.core.context import RequestContext
from ironic.core.errors import ConductorUnreachable, MessageBusFailure
from ironic.core.permit import PERMIT
from ironic.rpc import broker, codec, versions
from ironic.rpc.aside import done_aside
from ironic.rpc.call import Call
from ironic.rpc.conversation import ConductorCalls
from ironic.rpc.dispatcher import Dispatcher
from ironic.rpc.envelope import Clocks, Envelope
from ironic.rpc.library import exceptions, oslo_messaging
from ironic.rpc.silence import Silence

LOG = logging.getLogger(__name__)

# Of the way a message is carried, not of what it says: that is in ironic.rpc.versions.
CARRIER_VERSION: Final = "1.0"

# Seconds without a sign of life after which a conductor that is asked something is taken for lost; it gives one twice
# in that time. Less than this a conductor busy on a small machine may miss.
SILENCE: Final = 4

# Seconds for which a leaving conductor sends callers to others before it stops listening.
_FAREWELL: Final = 0.5

# The library's threads may take five seconds until they notice that they are to end; nothing depends on that.
_CLOSING: Final = 1.0

# Seconds between two looks for a broker that was not found yet, at first and in the end.
_SHORTEST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 4.0

# How many times a message is offered to a broker that does not take it before the caller hears of it.
_SEND_RETRIES: Final = 2

# Without a queue of that name the broker says so at once, instead of swallowing the message.
_TELL_IF_ABSENT: Final = oslo_messaging.TransportOptions(at_least_once=True)


class _Endpoint:
    """What oslo.messaging sees of a conductor."""

    target = oslo_messaging.Target(version=CARRIER_VERSION)

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    def answer(
        self,
        context: Mapping[str, object],
        name: str,
        arguments: Mapping[str, object],
        envelope: Mapping[str, object] | None = None,
        **later: object,
    ) -> dict[str, object]:
        """Do one call and return its envelope; what a later release adds to a message is not looked at."""
        return self._dispatcher.answer(context, name, arguments, envelope or {}) | {"clock": time.time()}


class _LibraryServer(Protocol):
    """An RPC server of oslo.messaging."""

    def stop(self) -> None: ...
    def wait(self) -> None: ...


class Server:
    """One conductor's ear on the bus."""

    def __init__(self, server: _LibraryServer, dispatcher: Dispatcher) -> None:
        self._server, self._dispatcher = server, dispatcher

    def retire(self) -> None:
        """Begin no call any more; those under way go on."""
        self._dispatcher.retire()

    def stop(self) -> None:
        """Take no more calls, answer those that came, and let the threads go.

        What arrives while the library closes is lost, and its caller waits in vain: so callers are told first for a
        moment that the conductor leaves, and the rest is kept short by having no call under way.
        """
        self.retire()
        time.sleep(_FAREWELL)
        self._dispatcher.await_quiet()
        _without_waiting_long(self._close)

    def _close(self) -> None:
        self._server.stop()
        self._server.wait()


class MessageBus:
    """Transport to conductors anywhere."""

    def __init__(self, url: str | None = None, *, silence: int = SILENCE) -> None:
        """Connect as [DEFAULT]transport_url says, or to ``url``; ``silence`` as above, at least 2."""
        self._transport = broker.transport_for_calls(CONF, url)
        self.address = broker.shown(CONF, url)
        self._door = broker.Door(CONF, url)
        target = broker.target_of_calls(CONF)
        target.version = CARRIER_VERSION
        self._client = oslo_messaging.get_rpc_client(self._transport, target)
        self._silence = silence
        self._silent = Silence(silence)
        self._clocks = Clocks()
        self._opening: threading.Thread | None = None
        self._opening_lock = threading.Lock()
        self._reached, self._closed = threading.Event(), threading.Event()

    def serve(self, host: str, endpoint: ConductorCalls) -> Server:
        """Answer the calls for a conductor until the returned server is stopped."""
        dispatcher = Dispatcher(host, endpoint)
        target = broker.target_of_calls(CONF, host)
        server = oslo_messaging.get_rpc_server(self._transport, target, [_Endpoint(dispatcher)])
        server.start()
        return Server(server, dispatcher)

    def ask(self, host: str, context: RequestContext, call: Call, arguments: Mapping[str, object]) -> object:
        """Make one call; a call nobody waits for only has to reach the broker."""
        version = versions.spoken(CONF.pin_release_version)
        message = {"name": call.name, "arguments": codec.copied(versions.held_to(version, call, arguments))}
        with PERMIT.waiting(), self._silent.heeded(host, call.name):
            try:
                return self._carry(host, context, call, message, version)
            except CallCameTooLate:
                # This came as an answer in time, so it is only that the clocks differ, which is known now.
                return self._carry(host, context, call, message, version)

    def is_open(self, patience: float) -> bool:
        """Tell whether the broker has been reached, waiting that many seconds for it."""
        with self._opening_lock:
            if self._opening is None and not self._closed.is_set():
                self._opening = threading.Thread(target=self._open, name="message-bus-opening", daemon=True)
                self._opening.start()
        return self._reached.wait(patience)

    def close(self) -> None:
        """Leave the bus, and stop to look for the broker if it was not found yet."""
        with self._opening_lock:
            self._closed.set()
        _without_waiting_long(self._leave)

    def _leave(self) -> None:
        if self._opening is not None:
            self._opening.join()
        self._transport.cleanup()

    def _open(self) -> None:
        """Look for the broker until it is found or the bus is closed."""
        told, pause = "", _SHORTEST_PAUSE
        while (fault := self._fault_of_the_way()) is not None:
            if fault != told:
                LOG.warning("The message broker at %s can't be used yet: %s", self.address, fault)
            if self._closed.wait(pause):
                return
            told, pause = fault, min(pause * 2, _LONGEST_PAUSE)
        self._reached.set()

    def _fault_of_the_way(self) -> str | None:
        """Get ready to ask and to hear answers; return why that is not possible now, if so."""
        try:
            # First, as the library writes an error to the log for every host that is not there.
            self._door.check()
            self._knock()
            if not self._closed.is_set():
                self._set_up_answers()
        except Exception as error:
            # What can go wrong is the business of three libraries, and a thread that died of it would find no broker.
            return f"{type(error).__name__}: {error}"
        return None

    def _knock(self) -> None:
        """Have a message for nobody reach the broker, or raise why it does not."""
        # The library tries one host of the URL each time.
        nobody = self._nobody(retry=max(self._door.hosts - 1, 0), transport_options=_TELL_IF_ABSENT)
        with contextlib.suppress(exceptions.MessageUndeliverable):
            nobody.cast({}, "answer", name="", arguments={})

    def _set_up_answers(self) -> None:
        """Have the library set up its queue for answers, by a call that reaches nobody.

        It looks for the broker as long as it takes then and can't be told to stop, so this is done once a message has
        got through.
        """
        nobody = self._nobody(timeout=1, transport_options=_TELL_IF_ABSENT)
        with contextlib.suppress(exceptions.MessagingException, exceptions.MessageUndeliverable):
            nobody.call({}, "answer", name="", arguments={})

    def _nobody(self, **terms: Any) -> Any:
        return self._client.prepare(server=f"nobody-{uuid.uuid4()}", **terms)

    def _carry(
        self, host: str, context: RequestContext, call: Call, message: dict[str, object], version: versions.Version
    ) -> object:
        """Send one message and return what comes back; what the library raises becomes an error of ours."""
        began = time.monotonic()
        limit = call.timeout or CONF.rpc_response_timeout
        try:
            self._door.check_again()
            if not self.is_open(self._silence):
                raise exceptions.MessageDeliveryFailure("there is no connection to the broker yet")
            whole = message | self._enveloped(host, call, version)
            return done_aside(lambda: self._send(host, context, call, whole), self._door.check, self._silence)
        except exceptions.MessageUndeliverable:
            raise ConductorAbsent(host=host, call=call.name, reason="it does not listen to the message bus") from None
        except exceptions.MessagingTimeout:
            waited = round(time.monotonic() - began, 1)
            kind = ConductorSilent if waited < limit else ConductorUnreachable
            raise kind(host=host, call=call.name, seconds=waited) from None
        except (exceptions.MessagingException, OSError) as error:
            raise MessageBusFailure(host=host, call=call.name, reason=str(error)) from error

    def _enveloped(self, host: str, call: Call, version: versions.Version) -> dict[str, object]:
        if version == versions.FIRST:
            return {}
        begin_before = self._clocks.there(host) + self._silence if call.wait else None
        return {"envelope": Envelope(version, begin_before).to_wire()}

    def _send(self, host: str, context: RequestContext, call: Call, message: Mapping[str, object]) -> object:
        ready = self._client.prepare(
            server=host,
            timeout=call.timeout,
            call_monitor_timeout=self._silence,
            retry=_SEND_RETRIES,
            transport_options=_TELL_IF_ABSENT,
        )
        if not call.wait:
            return ready.cast(context.to_dict(), "answer", **message)
        answer = ready.call(context.to_dict(), "answer", **message)
        self._clocks.learn(host, answer)
        return codec.opened(answer)


def _without_waiting_long(close: Callable[[], None]) -> None:
    """Have something close, in a thread of its own once it takes long."""
    closing = threading.Thread(target=close, name="message-bus-closing", daemon=True)
    closing.start()
    closing.join(_CLOSING)
