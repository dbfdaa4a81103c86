"""Conversations with Redfish BMCs: connections that are kept, questions that are repeated, errors that are ours.

Logging in to a BMC is slow and its sessions are few, so connections are kept by address and user, up to a number, and
given up at the first sign that something is wrong with them. A question (`read`) may be asked again after a lost
connection; an order (`change`) is sent once, for the BMC may have heard it. No login appears in any text.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

import requests
import sushy
from sushy import auth as sushy_auth
from sushy import exceptions as sushy_errors

from ironic.conf import CONF
from ironic.core.management_errors import RedfishConnectionError, RedfishError
from ironic.core.servers import PORTS
from ironic.drivers.modules.redfish.access import Access, access_of
from ironic.drivers.task import Node
from ironic.drivers.waiting import retrying
from ironic.integrations import destinations

LOG = logging.getLogger(__name__)

T = TypeVar("T")
System = Any

# What the library lets through when an answer is not shaped like Redfish, from a web page to a list in the wrong place.
_NOT_REDFISH = (ValueError, TypeError, AttributeError, KeyError)

_AUTHENTICATION = {
    "auto": sushy_auth.SessionOrBasicAuth,
    "session": sushy_auth.SessionAuth,
    "basic": sushy_auth.BasicAuth,
}


class NoLogin(sushy_auth.AuthBase):  # type: ignore[misc]  # the library brings no types
    """For a BMC that lets anybody in; the library would send an empty login."""

    def _do_authenticate(self) -> None:
        pass

    def can_refresh_session(self) -> bool:
        return False


@dataclass(slots=True)
class Connection:
    """A BMC that we are logged in to."""

    access: Access
    root: Any
    login: Any

    def abandon(self) -> None:
        """Make the library forget its session: saying goodbye to a BMC that is gone would only take time."""
        if isinstance(self.login, sushy_auth.SessionAuth):
            self.login.reset_session_attrs()

    def system(self, access: Access) -> System:
        """Read the machine's system resource."""
        return self.root.get_system(access.system_id)


class Connections:
    """Connections in use lately; safe to use from any thread."""

    def __init__(self, connect: Callable[[Access], Connection]) -> None:
        self._connect = connect
        self._kept: OrderedDict[tuple[str, str | None], Connection] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, access: Access) -> Connection:
        """Return a kept connection, or make one; another system of the same BMC shares it."""
        with self._lock:
            kept = self._kept.get(access.key)
            if kept is not None and _same_login(kept.access, access):
                self._kept.move_to_end(access.key)
                return kept
        # Outside the lock: one slow BMC must not hold up the others.
        made = self._connect(access)
        self._keep(made)
        return made

    def drop(self, connection: Connection) -> None:
        """Forget a connection that failed."""
        with self._lock:
            if self._kept.get(connection.access.key) is connection:
                del self._kept[connection.access.key]
        connection.abandon()

    def __len__(self) -> int:
        return len(self._kept)

    def _keep(self, connection: Connection) -> None:
        with self._lock:
            self._kept[connection.access.key] = connection
            self._kept.move_to_end(connection.access.key)
            # What falls out may still be in use; its session ends when nobody holds it any more.
            while len(self._kept) > CONF.redfish.connection_cache_size:
                self._kept.popitem(last=False)


def connect(access: Access) -> Connection:
    """Log in to a BMC; raises Refused for an address that is none of a BMC's."""
    place = urlsplit(access.address)
    destinations.check_bmc(place.hostname or "", place.port or PORTS[place.scheme])
    scheme = _AUTHENTICATION[access.auth_type] if access.username else NoLogin
    login = scheme(username=access.username, password=access.password)
    root = sushy.Sushy(
        access.address,
        auth=login,
        verify=access.verify,
        read_timeout=CONF.redfish.read_timeout,
        connect_timeout=CONF.redfish.connect_timeout,
        tls_min_version=access.tls_minimum_version,
        tls_ciphers=access.tls_ciphers,
        # The library would repeat everything after a lost connection, orders to the machine included.
        server_side_retries=1,
        server_side_retries_delay=1,
    )
    return Connection(access, root, login)


CONNECTIONS = Connections(connect)


def read(node: Node, operation: str, question: Callable[[System], T]) -> T:
    """Ask something of a node's system; ``question`` may run several times."""
    access = access_of(node)
    with _our_errors(node, access, operation):
        return _repeated(lambda: _asked(access, question))


def change(node: Node, operation: str, order: Callable[[System], T]) -> T:
    """Have a node's system do something; ``order`` runs at most once."""
    access = access_of(node)
    with _our_errors(node, access, operation):
        connection, system = _repeated(lambda: _connected(access, lambda *both: both))
        with _dropped_on_error(connection):
            return order(system)


def _asked(access: Access, question: Callable[[System], T]) -> T:
    return _connected(access, lambda _connection, system: question(system))


def _connected(access: Access, use: Callable[[Connection, System], T]) -> T:
    connection = CONNECTIONS.get(access)
    with _dropped_on_error(connection):
        return use(connection, connection.system(access))


def _repeated(attempt: Callable[[], T]) -> T:
    """Try again after a lost connection, as often as configured."""
    options = CONF.redfish
    return retrying(
        options.connection_attempts,
        options.connection_retry_interval,
        lambda error: isinstance(error, sushy_errors.ConnectionError) and not _is_final(error),
        lambda error: LOG.debug("No connection to a Redfish BMC, trying again: %s", error),
    )(attempt)


@contextmanager
def _dropped_on_error(connection: Connection) -> Iterator[None]:
    try:
        yield
    except (sushy_errors.ConnectionError, sushy_errors.AccessError):
        CONNECTIONS.drop(connection)
        raise


@contextmanager
def _our_errors(node: Node, access: Access, operation: str) -> Iterator[None]:
    """Say what went wrong with which node and BMC, and what to look at."""
    try:
        yield
    except destinations.Refused as error:
        raise _failed(node, access, operation, f"its address is {error}") from error
    except sushy_errors.ConnectionError as error:
        raise RedfishConnectionError(
            node=node.uuid, address=access.address, operation=operation, error=str(error)
        ) from error
    except sushy_errors.AccessError as error:
        raise _failed(
            node, access, operation, "it refuses the login; check redfish_username and redfish_password"
        ) from error
    except sushy_errors.UnknownDefaultError as error:
        raise _failed(
            node, access, operation, "it has several systems or none; say which in redfish_system_id"
        ) from error
    except sushy_errors.SushyError as error:
        raise _failed(node, access, operation, str(error)) from error
    except _NOT_REDFISH as error:
        LOG.debug("The answer of BMC %s could not be read.", access.address, exc_info=True)
        reason = f"its answer can't be read ({type(error).__name__}: {error}); check redfish_address"
        raise _failed(node, access, operation, reason) from error


def _failed(node: Node, access: Access, operation: str, reason: str) -> RedfishError:
    return RedfishError(
        node=node.uuid, address=access.address, operation=operation, error=f"BMC {access.address}: {reason}"
    )


def _is_final(error: Exception) -> bool:
    """Tell whether another try is useless: a certificate does not get better by waiting."""
    return isinstance(error.__context__, requests.exceptions.SSLError)


def _same_login(one: Access, other: Access) -> bool:
    """Tell whether two nodes can share a connection: all but the system has to be the same."""
    return _login(one) == _login(other)


def _login(access: Access) -> tuple[object, ...]:
    return (
        access.key,
        access.password,
        access.verify,
        access.auth_type,
        access.tls_minimum_version,
        access.tls_ciphers,
    )
