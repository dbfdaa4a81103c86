"""The components of a service process: database, message bus, notifications, conductor, API server.

Each one starts and stops by itself and knows nothing of the others; `ironic.command.wiring` makes them from the options
and `ironic.command.lifecycle` runs them.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from oslo_config import cfg

from ironic.command import server_wait
from ironic.command.http_server import ApiServer, ServerSettings
from ironic.command.lifecycle import Component, Pause, StopRequested
from ironic.command.wsgi_call import Application
from ironic.conductor.service import Conductor
from ironic.core.clock import CLOCK
from ironic.core.errors.hardware_errors import ConsoleContainerError
from ironic.core.threads import THREADS
from ironic.db import Store, require_current
from ironic.drivers.modules.graphical import containers
from ironic.integrations.metrics import METRICS
from ironic.rpc.notifications import NOTIFIER
from ironic.rpc.notifications.readings import READINGS

if TYPE_CHECKING:
    from ironic.rpc.hash_ring import HashRingManager
    from ironic.rpc.json_rpc import JsonRpc
    from ironic.rpc.message_bus import MessageBus

LOG = logging.getLogger(__name__)


class Database(Component):
    """The store, and the hash rings of the conductors in it. Others use them; this one closes the store last."""

    def __init__(self, store: Store, hash_ring: "HashRingManager", conf: cfg.ConfigOpts, pause: Pause) -> None:
        self._store, self._hash_ring, self._conf, self._pause = store, hash_ring, conf, pause

    def start(self) -> None:
        """Wait for the database and check the version of its schema."""
        server_wait.for_database(self._store.engine, self._conf, self._pause)
        require_current(self._store)

    def stop(self) -> None:
        """Close every connection."""
        self._store.close()

    def reload(self) -> None:
        """Apply the new heartbeat time-out of conductors."""
        self._hash_ring.reset(heartbeat_timeout=self._conf.conductor.heartbeat_timeout)


class Bus(Component):
    """The connection to the message broker."""

    def __init__(self, bus: "MessageBus", pause: Pause, *, needed: bool) -> None:
        """Take the bus; unless it is ``needed`` by everything, the broker is waited for in the background."""
        self._bus, self._pause, self._needed = bus, pause, needed
        self._stopping = threading.Event()

    def start(self) -> None:
        """Wait for the broker; an API answers many requests without one, and the others with an error."""
        if self._needed:
            server_wait.for_broker(self._bus.is_open, self._bus.address, self._pause)
        elif not self._bus.is_open(0):

            def watch() -> None:
                try:
                    server_wait.for_broker(self._bus.is_open, self._bus.address, self._stopping.wait)
                except StopRequested:
                    LOG.info("The message broker was not found before the end")

            threading.Thread(target=watch, name="message-bus-watch", daemon=True).start()

    def stop(self) -> None:
        """Close the connection."""
        self._stopping.set()
        self._bus.close()


class Callers(Component):
    """The connections to conductors without a broker."""

    def __init__(self, transport: "JsonRpc") -> None:
        self._transport = transport

    def reload(self) -> None:
        """Trust the certificates that the files have now."""
        self._transport.renew()

    def stop(self) -> None:
        """Close them."""
        self._transport.close()


class Measurements(Component):
    """The metrics of this process. It stands before the conductor, which composes its drivers by what is measured."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        METRICS.open_from(conf)

    def stop(self) -> None:
        """Send what is left."""
        METRICS.close()


class Notifications(Component):
    """The notifiers of changes and of sensor readings, which send nothing unless the options ask for it."""

    def __init__(self, conf: cfg.ConfigOpts, *, readings: bool = False) -> None:
        """Take the options; ``readings`` says whether this process reads sensors."""
        self._conf = conf
        self._has_readings = readings and conf.sensor_data.send_sensor_data

    def start(self) -> None:
        """Enable notifications; the messaging library is only loaded for that."""
        if self._conf.notification_level is not None or self._has_readings:
            from ironic.rpc.notifications import bus_sender

            bus_sender.open_from(self._conf, CLOCK, THREADS)
            if self._has_readings:
                bus_sender.open_readings_from(self._conf, CLOCK, THREADS)

    def stop(self) -> None:
        """Send what is left."""
        NOTIFIER.close()
        READINGS.close()


class ConsoleContainers(Component):
    """The containers of graphical consoles, which end with their conductor; it opens the consoles again."""

    def start(self) -> None:
        """Remove what an earlier life has left."""
        self._remove("left by an earlier life of this conductor")

    def stop(self) -> None:
        """Remove those of this life."""
        self._remove("of this conductor")

    def _remove(self, which: str) -> None:
        if used := containers.in_use():
            try:
                used.stop_all_containers()
            except ConsoleContainerError as error:
                LOG.error("The containers of graphical consoles %s could not be removed: %s", which, error)


class RpcServer(Protocol):
    """Receives the calls to a conductor; in-process or on the message bus."""

    def retire(self) -> None:
        """Begin no more calls; those under way continue."""

    def stop(self) -> None:
        """End the calls under way and close."""


class ConductorComponent(Component):
    """A conductor and its RPC server."""

    def __init__(self, conductor: Conductor, serve: Callable[[], RpcServer], graceful_timeout: float) -> None:
        """Take the conductor, what starts its RPC server, and the seconds that work may take to end."""
        self._conductor, self._serve, self._graceful_timeout = conductor, serve, graceful_timeout
        self._server: RpcServer | None = None

    @property
    def is_idle(self) -> bool:
        """Return whether the conductor has no work and holds no node."""
        return self._conductor.is_idle

    def start(self) -> None:
        """Start the conductor, which starts its RPC server as soon as it is ready for calls."""

        def take_calls() -> None:
            self._server = self._serve()

        try:
            self._conductor.start(take_calls)
        except BaseException:
            self.stop()
            raise

    def retire(self) -> None:
        """Leave the nodes to other conductors, and send callers there."""
        self._conductor.retire()
        if self._server:
            self._server.retire()

    def stop(self) -> None:
        """Take no more calls, let calls and work under way end, then release what is held."""
        until = time.monotonic() + self._graceful_timeout
        self.retire()
        # In a thread of its own: closing waits for the calls under way, and a BMC may never answer.
        close = self._server.stop if self._server else lambda: None
        closing = threading.Thread(target=close, name="rpc-server-closing", daemon=True)
        closing.start()
        closing.join(self._graceful_timeout)
        unfinished = self._conductor.stop(max(0.0, until - time.monotonic()))
        self.unfinished = unfinished + (["a call that is being answered"] if closing.is_alive() else [])

    def reload(self) -> None:
        """Have the conductor apply new options."""
        self._conductor.reload()


class Listening(Protocol):
    """What serves at an address of its own."""

    def bind(self) -> None:
        """Take the address; raise OSError if another process has it."""

    def stop(self) -> None:
        """Give the address back; safe for what has stopped."""


class Addresses(Component):
    """The addresses of components that start later: they are bound before the conductor takes its name."""

    def __init__(self, servers: Sequence[Listening]) -> None:
        self._servers = servers

    def start(self) -> None:
        """Bind all of them, or none."""
        try:
            for server in self._servers:
                server.bind()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Give back what no component has served."""
        for server in self._servers:
            server.stop()


class Api(Component):
    """One or several APIs of one process, each with an HTTP server of its own."""

    def __init__(self, build: Callable[[], Sequence[Application]], settings: Sequence[ServerSettings]) -> None:
        """Take what makes the applications, because new options need new ones, and the settings of their servers."""
        self._build = build
        self._servers = [ApiServer(application, each) for application, each in zip(build(), settings, strict=True)]

    @property
    def places(self) -> Sequence[str]:
        """The URLs of the APIs."""
        return [server.url for server in self._servers]

    def bind(self) -> None:
        """Take the addresses; clients that connect from now on are answered once this has started."""
        for server in self._servers:
            server.bind()

    def start(self) -> None:
        """Serve, at the addresses that were bound or are bound now."""
        try:
            for server in self._servers:
                server.start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Finish running requests and close."""
        for server in reversed(self._servers):
            server.stop()

    def reload(self) -> None:
        """Serve later requests by the new options, and later connections with the certificate as it is now."""
        for server, application in zip(self._servers, self._build(), strict=True):
            server.replace(application)
            server.renew_certificate()
