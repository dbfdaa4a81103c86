"""The way to the message broker: oslo.messaging's transport for calls, with the terms that calls need.

A conductor's queue goes when its last listener does, so that a message to a dead conductor comes back at once instead
of lying about. Only queues of calls are made so, on an exchange that every broker has: what others have declared for
notifications stays as it is. The operator's own word in a file wins over every term set here.
"""

import socket
from typing import Final, Protocol

from oslo_config import cfg

from ironic.conf import written
from ironic.rpc.library import oslo_messaging

# What the service calls itself on the bus, unless [DEFAULT]control_exchange says otherwise.
NAME: Final = "ironic"

# It can't be declared differently by somebody else and doesn't go when its last queue does.
EXCHANGE: Final = "amq.topic"

_GROUP: Final = "oslo_messaging_rabbit"

# What calls need of RabbitMQ: queues that go with their listener, and a look for a lost broker every few seconds.
_TERMS: Final = {"amqp_auto_delete": "true", "rabbit_interval_max": "5"}


class LibraryTransport(Protocol):
    """A transport of oslo.messaging."""

    def cleanup(self) -> None:
        """Close its connections."""


class LibraryTarget(Protocol):
    """A target of oslo.messaging."""

    version: str | None


def transport_for_calls(conf: cfg.ConfigOpts, url: str | None) -> LibraryTransport:
    """Return the transport that calls travel by; nothing is connected yet."""
    oslo_messaging.set_transport_defaults(control_exchange=NAME)
    # The first one registers the driver's options, which say whether the terms fit; it never connects.
    plain: LibraryTransport = oslo_messaging.get_rpc_transport(conf, url=url)
    address = oslo_messaging.TransportURL.parse(conf, url)
    if address.transport != "rabbit":
        return plain
    plain.cleanup()
    address.query = _terms(conf) | address.query
    tuned: LibraryTransport = oslo_messaging.get_rpc_transport(conf, url=address)
    return tuned


def target_of_calls(conf: cfg.ConfigOpts, host: str | None = None) -> LibraryTarget:
    """Return where calls go; what has another control_exchange never meets."""
    target: LibraryTarget = oslo_messaging.Target(
        exchange=EXCHANGE, topic=f"{conf.control_exchange}.conductors", server=host
    )
    return target


def shown(conf: cfg.ConfigOpts, url: str | None) -> str:
    """Return where the broker is, for log lines: without user and password."""
    address = oslo_messaging.TransportURL.parse(conf, url)
    hosts = ", ".join(f"{host.hostname}:{host.port or 'default port'}" for host in address.hosts) or "localhost"
    return f"{address.transport}://{hosts}/{address.virtual_host or ''}"


class Door:
    """Whether the broker can be reached at all, found out beside the library, which keeps that to itself."""

    def __init__(self, conf: cfg.ConfigOpts, url: str | None) -> None:
        address = oslo_messaging.TransportURL.parse(conf, url)
        # Other drivers have no such door; their word counts.
        self._places = [(one.hostname, one.port or 5672) for one in address.hosts if address.transport == "rabbit"]
        self._was_shut = False

    @property
    def hosts(self) -> int:
        """Return how many hosts a broker is known under; none for what is no broker of that kind."""
        return len(self._places)

    def check(self) -> None:
        """Raise OSError if nobody lets us in."""
        faults = [fault for place in self._places if (fault := _knocked(place))]
        self._was_shut = bool(faults) and len(faults) == len(self._places)
        if self._was_shut:
            raise faults[-1]

    def check_again(self) -> None:
        """Do the same, but only if it was shut the last time."""
        if self._was_shut:
            self.check()


def _knocked(place: tuple[str, int]) -> OSError | None:
    try:
        socket.create_connection(place, timeout=1).close()
    except OSError as fault:
        return fault
    return None


def _terms(conf: cfg.ConfigOpts) -> dict[str, str]:
    terms = {name: value for name, value in _TERMS.items() if not written.holds(conf, _GROUP, name)}
    if conf[_GROUP].rabbit_quorum_queue:
        # Queues of that kind can't go by themselves; a dead conductor then shows by its silence only.
        terms.pop("amqp_auto_delete", None)
    return terms
