"""The conversation over a message bus: oslo.messaging, RabbitMQ as a rule.

Every conductor listens on its own queue of one topic. One method carries all calls; names, arguments and errors are
the dispatcher's and the codec's business, so oslo.messaging never transports an exception. A conductor that vanished
shows by its silence: while it works on a call it gives signs of life, and the caller stops waiting when they stop.

Import this module only when a bus is used: oslo.messaging takes a quarter of a second.
"""

import contextlib
import threading
import time
import uuid
from collections.abc import Mapping
from typing import Any, Final

from ironic.conf import CONF
from ironic.core.context import RequestContext
from ironic.core.errors import ConductorUnreachable, MessageBusFailure
from ironic.rpc import codec
from ironic.rpc.conversation import Call, ConductorCalls
from ironic.rpc.dispatcher import Dispatcher
from ironic.rpc.library import exceptions, oslo_messaging

TOPIC: Final = "ironic.conductor_manager"
EXCHANGE: Final = "ironic"
VERSION: Final = "1.0"

# How many times a message is offered to a broker that does not take it before the caller hears of it.
_SEND_RETRIES: Final = 2

# Without a queue of that name the broker says so at once, instead of swallowing the message.
_TELL_IF_ABSENT: Final = oslo_messaging.TransportOptions(at_least_once=True)


class _Endpoint:
    """What oslo.messaging sees of a conductor."""

    target = oslo_messaging.Target(version=VERSION)

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    def answer(self, context: Mapping[str, Any], name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Do one call and return its envelope."""
        return self._dispatcher.answer(context, name, arguments)


class Server:
    """One conductor's ear on the bus."""

    def __init__(self, server: Any) -> None:
        self._server = server

    def stop(self) -> None:
        """Take no more calls, answer those that came, and let the threads go."""
        self._server.stop()
        self._server.wait()


class MessageBus:
    """Transport to conductors anywhere."""

    def __init__(self, url: str | None = None, *, silence: int = 10) -> None:
        """Connect as [DEFAULT]transport_url says, or to ``url``.

        ``silence`` is how many seconds a conductor may give no sign of life while it is asked something.
        """
        oslo_messaging.set_transport_defaults(control_exchange=EXCHANGE)
        self._transport = oslo_messaging.get_rpc_transport(CONF, url=url)
        self._client = oslo_messaging.get_rpc_client(
            self._transport, oslo_messaging.Target(topic=TOPIC, version=VERSION)
        )
        self._silence = silence
        self._opening: threading.Thread | None = None
        self._opening_lock = threading.Lock()

    def serve(self, host: str, endpoint: ConductorCalls) -> Server:
        """Answer the calls for a conductor until the returned server is stopped."""
        target = oslo_messaging.Target(topic=TOPIC, server=host)
        answering = _Endpoint(Dispatcher(host, endpoint))
        server = oslo_messaging.get_rpc_server(self._transport, target, [answering])
        server.start()
        return Server(server)

    def ask(self, host: str, context: RequestContext, call: Call, arguments: dict[str, Any]) -> Any:
        """Make one call; a call nobody waits for only has to reach the broker."""
        began = time.monotonic()
        try:
            self._open()
            return self._send(host, context, call, codec.copied(arguments))
        except (exceptions.MessagingTimeout, exceptions.MessageUndeliverable):
            waited = round(time.monotonic() - began, 1)
            raise ConductorUnreachable(host=host, call=call.name, seconds=waited) from None
        except exceptions.MessagingException as error:
            raise MessageBusFailure(host=host, call=call.name, reason=str(error)) from error

    def close(self) -> None:
        """Leave the bus."""
        self._transport.cleanup()

    def _open(self) -> None:
        """Wait for the first connection, but not for ever as the library would do in the caller's thread."""
        with self._opening_lock:
            if self._opening is None:
                self._opening = threading.Thread(target=self._knock, name="message-bus-opening", daemon=True)
                self._opening.start()
        self._opening.join(self._silence)
        if self._opening.is_alive():
            raise exceptions.MessageDeliveryFailure("there is no connection to the broker yet")

    def _knock(self) -> None:
        """Have the library set up its queue for answers, by a call that reaches nobody."""
        nobody = self._client.prepare(server=f"nobody-{uuid.uuid4()}", timeout=1, transport_options=_TELL_IF_ABSENT)
        with contextlib.suppress(exceptions.MessagingException, exceptions.MessageUndeliverable):
            nobody.call({}, "answer", name="", arguments={})

    def _send(self, host: str, context: RequestContext, call: Call, arguments: dict[str, Any]) -> Any:
        ready = self._client.prepare(
            server=host,
            timeout=call.timeout,
            call_monitor_timeout=self._silence,
            retry=_SEND_RETRIES,
            transport_options=_TELL_IF_ABSENT,
        )
        message = {"name": call.name, "arguments": arguments}
        if call.wait:
            return codec.opened(ready.call(context.to_dict(), "answer", **message))
        return ready.cast(context.to_dict(), "answer", **message)
