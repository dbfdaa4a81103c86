"""The parts of a service process: database, message bus, conductor, API server.

Each comes up and goes down by itself and knows nothing of the others; `ironic.command.wiring` makes them from the
options and `ironic.command.lifecycle` runs them.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from oslo_config import cfg

from ironic.command import waiting
from ironic.command.lifecycle import Part, ToldToEnd
from ironic.command.serving import ApiServer, Listening
from ironic.command.signals import Pause
from ironic.command.wsgi_bridge import Application
from ironic.conductor.service import Conductor
from ironic.db import Store, require_current
from ironic.rpc.notifications import NOTICES

if TYPE_CHECKING:
    from ironic.rpc.message_bus import MessageBus
    from ironic.rpc.placement import Placement

LOG = logging.getLogger(__name__)


class Database(Part):
    """The store and the picture of the conductors in it; other parts hold them, this one closes the store last."""

    def __init__(self, store: Store, placement: "Placement", conf: cfg.ConfigOpts, pause: Pause) -> None:
        self._store, self._placement, self._conf, self._pause = store, placement, conf, pause

    def start(self) -> None:
        """Wait for the database and make sure that it is one to work with."""
        waiting.for_database(self._store.engine, self._conf, self._pause)
        require_current(self._store)

    def stop(self) -> None:
        """Close every connection."""
        self._store.close()

    def reload(self) -> None:
        """Judge the life of conductors by the new limit."""
        self._placement.reset(heartbeat_timeout=self._conf.conductor.heartbeat_timeout)


class Bus(Part):
    """The connection to the message bus; only there when conductors are asked over one."""

    def __init__(self, bus: "MessageBus", pause: Pause, *, needed: bool) -> None:
        """Put it together; with ``needed`` nothing works without it, else it is looked for in the background."""
        self._bus, self._pause, self._needed = bus, pause, needed
        self._stopping = threading.Event()

    def start(self) -> None:
        """Wait for the broker; an API answers much without one, and says what it can't."""
        if self._needed:
            waiting.for_broker(self._bus.is_open, self._bus.address, self._pause)
        elif not self._bus.is_open(0):
            threading.Thread(target=self._watch, name="message-bus-watch", daemon=True).start()

    def stop(self) -> None:
        """Leave the bus."""
        self._stopping.set()
        self._bus.close()

    def _watch(self) -> None:
        try:
            waiting.for_broker(self._bus.is_open, self._bus.address, self._stopping.wait)
        except ToldToEnd:
            LOG.info("The message broker was not found before the end")


class Notifying(Part):
    """What is told to those who listen to notifications; nothing unless the options ask for it."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf

    def start(self) -> None:
        """Begin to hand on; who doesn't, doesn't load the library for it."""
        if self._conf.notification_level is not None:
            from ironic.rpc.notifications import sending

            sending.open_from(self._conf)

    def stop(self) -> None:
        """Send what is left."""
        NOTICES.close()


class Ear(Protocol):
    """Where the calls to a conductor come in."""

    def retire(self) -> None:
        """Begin no call any more; those under way go on."""

    def stop(self) -> None:
        """End the calls under way and close."""


class ConductorPart(Part):
    """A conductor and the ear through which it is asked."""

    def __init__(self, conductor: Conductor, listen: Callable[[], Ear], graceful_timeout: float) -> None:
        """Put both together; ``listen`` begins to take calls."""
        self._conductor, self._listen, self._patience = conductor, listen, graceful_timeout
        self._ear: Ear | None = None

    @property
    def is_idle(self) -> bool:
        """Tell whether the conductor has no work and holds no node."""
        return self._conductor.is_idle

    def start(self) -> None:
        """Start the conductor, which takes calls as soon as it is ready for them."""
        try:
            self._conductor.start(self._take_calls)
        except BaseException:
            self.stop()
            raise

    def _take_calls(self) -> None:
        self._ear = self._listen()

    def retire(self) -> None:
        """Leave the nodes to others; whoever still asks here is sent there."""
        self._conductor.retire()
        if self._ear:
            self._ear.retire()

    def stop(self) -> None:
        """Take no more calls, let those under way and the work end, then free what is held."""
        until = time.monotonic() + self._patience
        self.retire()
        closing = self._close_ear()
        closing.join(self._patience)
        self.unfinished = self._conductor.stop(max(0.0, until - time.monotonic())) + self._calls_left(closing)

    def _close_ear(self) -> threading.Thread:
        """Close the ear in a thread of its own: it waits for the calls under way, and a BMC may never answer."""
        closing = threading.Thread(target=self._ear.stop if self._ear else lambda: None, name="ear", daemon=True)
        closing.start()
        return closing

    @staticmethod
    def _calls_left(closing: threading.Thread) -> list[str]:
        return ["a call that is being answered"] if closing.is_alive() else []

    def reload(self) -> None:
        """The conductor reads options when it needs them."""
        self._conductor.reload()


class Api(Part):
    """The API behind its server."""

    def __init__(self, build: Callable[[], Application], listening: Listening) -> None:
        """Take what makes the application, because new options make a new one."""
        self._build = build
        self._server = ApiServer(build(), listening)

    @property
    def url(self) -> str:
        """Where it listens, once started."""
        return self._server.url

    def start(self) -> None:
        """Listen."""
        self._server.start()

    def stop(self) -> None:
        """Finish running requests and close."""
        self._server.stop()

    def reload(self) -> None:
        """Serve later requests by the new options."""
        self._server.replace(self._build())
