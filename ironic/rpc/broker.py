"""Connecting to the message broker: the transport of oslo.messaging, a check of the connection, calls that may block.

The broker deletes a conductor's queue when its last listener has gone, so that a message to a dead conductor is
returned at once. Only queues of calls are declared so, on an exchange that every broker has; what other programs have
declared for notifications stays as it is. Options in a configuration file override those set here.
"""

import queue
import socket
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from oslo_config import cfg

from ironic.conf import config_files
from ironic.core.threads import THREADS, Threads
from ironic.rpc.library import oslo_messaging

# The default of [DEFAULT]control_exchange.
NAME: Final = "ironic"

# Every broker has it, so no other program can declare it differently, and it stays without queues.
EXCHANGE: Final = "amq.topic"

_GROUP: Final = "oslo_messaging_rabbit"

# Options of RabbitMQ for calls: queues that end with their listener, and at most 5 seconds between reconnections.
_OPTIONS: Final = {"amqp_auto_delete": "true", "rabbit_interval_max": "5"}


class LibraryTransport(Protocol):
    """A transport of oslo.messaging."""

    def cleanup(self) -> None:
        """Close its connections."""


class LibraryTarget(Protocol):
    """A target of oslo.messaging."""

    version: str | None


def transport_for_calls(conf: cfg.ConfigOpts, url: str | None) -> LibraryTransport:
    """Return the transport for calls; it connects when it is used."""
    oslo_messaging.set_transport_defaults(control_exchange=NAME)
    # This one registers the options of the driver, which are read below, and never connects.
    plain: LibraryTransport = oslo_messaging.get_rpc_transport(conf, url=url)
    address = oslo_messaging.TransportURL.parse(conf, url)
    if address.transport != "rabbit":
        return plain
    plain.cleanup()
    options = {name: value for name, value in _OPTIONS.items() if not config_files.is_set(conf, _GROUP, name)}
    if conf[_GROUP].rabbit_quorum_queue:
        # Quorum queues are not deleted automatically; of a dead conductor there are then no signs of life.
        options.pop("amqp_auto_delete", None)
    address.query = options | address.query
    tuned: LibraryTransport = oslo_messaging.get_rpc_transport(conf, url=address)
    return tuned


def target_of_calls(conf: cfg.ConfigOpts, host: str | None = None) -> LibraryTarget:
    """Return the target of calls; services with another control_exchange have others."""
    target: LibraryTarget = oslo_messaging.Target(
        exchange=EXCHANGE, topic=f"{conf.control_exchange}.conductors", server=host
    )
    return target


def masked_url(conf: cfg.ConfigOpts, url: str | None) -> str:
    """Return the address of the broker for log messages, without user and password."""
    address = oslo_messaging.TransportURL.parse(conf, url)
    hosts = ", ".join(f"{host.hostname}:{host.port or 'default port'}" for host in address.hosts) or "localhost"
    return f"{address.transport}://{hosts}/{address.virtual_host or ''}"


# The first bytes of a client of AMQP, to which a broker answers at once.
_GREETING: Final = b"AMQP\x00\x00\x09\x01"
# Seconds to wait for a connection, and for the answer to the greeting.
_PROBE_SECONDS: Final = 1.0
_ANSWER_SECONDS: Final = 3.0


class BrokerProbe:
    """Checks by plain connections whether the broker can be reached, which the library does not report."""

    def __init__(self, conf: cfg.ConfigOpts, url: str | None) -> None:
        address = oslo_messaging.TransportURL.parse(conf, url)
        self._is_plain = address.transport == "rabbit" and not conf[_GROUP].ssl
        # The drivers of other brokers are not checked.
        self._addresses = [(one.hostname, one.port or 5672) for one in address.hosts if address.transport == "rabbit"]
        self._is_suspect = False

    @property
    def hosts(self) -> int:
        """Return the number of hosts of a RabbitMQ broker; 0 for others."""
        return len(self._addresses)

    def check(self, *, greets: bool = False) -> None:
        """Raise OSError if no host of the broker accepts a connection and, with ``greets``, answers to a greeting."""
        faults = []
        for address in self._addresses:
            try:
                _connect(address, greets=greets and self._is_plain)
            except OSError as fault:
                faults.append(fault)
        is_gone = bool(faults) and len(faults) == len(self._addresses)
        # That it accepts connections does not clear one that has failed all the same.
        self._is_suspect = is_gone or (self._is_suspect and not greets)
        if is_gone:
            raise faults[-1]

    def suspect(self) -> None:
        """Have the next `check_again` check the broker, which has failed although it accepts connections."""
        self._is_suspect = True

    def check_again(self) -> None:
        """Check the broker if it was unreachable the last time, or has failed otherwise: each try takes long then."""
        if self._is_suspect:
            self.check(greets=True)


def _connect(address: tuple[str, int], *, greets: bool) -> None:
    """Connect and close; raise OSError for a server that refuses, or that does not answer to a greeting."""
    with socket.create_connection(address, timeout=_PROBE_SECONDS) as connection:
        if greets:
            connection.settimeout(_ANSWER_SECONDS)
            connection.sendall(_GREETING)
            if not connection.recv(1):
                raise ConnectionError("the broker closes connections at once")


T = TypeVar("T")


def run_in_thread(act: Callable[[], T], check: Callable[[], None], every: float, threads: Threads = THREADS) -> T:
    """Return what ``act`` returns or raise what it raises.

    It may block forever, as the library does without a broker. ``check`` is called every so many seconds, and its
    exception ends the wait; ``act`` then continues in its daemon thread, and its outcome is dropped.
    """
    outcome: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcome.put((act(), None))
        except BaseException as error:
            outcome.put((None, error))

    threads.make("aside", run).start()
    while True:
        try:
            value, error = outcome.get(timeout=every)
        except queue.Empty:
            check()
        else:
            if error is not None:
                raise error
            return value  # type: ignore[return-value]  # None only where T is None
