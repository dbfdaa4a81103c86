"""Connections to Redfish BMCs: cached sessions, retried reads, errors mapped to Ironic errors.

A login is slow and a BMC has few sessions, so connections are cached by address and user, up to a number, and dropped
at the first error. A read may be repeated after a lost connection. A change is sent once, because the BMC may have
received it. No login appears in any text. Many BMCs lack a branch of the Redfish tree, and some answer with a server
error there: `optional` reads such branches.

A task that reads a system several times within a moment sends one request for it; a change ends the moment.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import requests
import sushy
from sushy import auth as sushy_auth
from sushy import exceptions as sushy_errors

from ironic.conf import CONF
from ironic.core.allowed_addresses import PORTS
from ironic.core.hardware_errors import RedfishConnectionError, RedfishError
from ironic.drivers.interruptible_wait import retrying
from ironic.drivers.modules.redfish.bmc_access import Access, access_of
from ironic.drivers.task import Node
from ironic.integrations import allowed_destinations

LOG = logging.getLogger(__name__)

T = TypeVar("T")
System = Any

# Errors that sushy does not catch when an answer has not the form of Redfish.
_NOT_REDFISH = (ValueError, TypeError, AttributeError, KeyError)

_AUTHENTICATION = {
    "auto": sushy_auth.SessionOrBasicAuth,
    "session": sushy_auth.SessionAuth,
    "basic": sushy_auth.BasicAuth,
}


# Reads and changes


def read(node: Node, operation: str, get: Callable[[System], T], *, anew: bool = False) -> T:
    """Return what ``get`` reads from the node's system; it may run several times.

    With ``anew`` the system is requested even if the task has read it a moment ago: for what changes by itself.
    Raise RedfishConnectionError when the BMC can't be reached, RedfishError for any other failure. ``operation`` names
    the read in errors.
    """
    access = access_of(node)
    if anew:
        RECENT.drop(node)

    def attempt() -> T:
        connection, system = _system(node, access)
        try:
            with _dropped_on_error(connection):
                return get(system)
        except sushy_errors.SushyError:
            RECENT.drop(node)
            raise

    with _ironic_errors(node, access, operation):
        return _with_retries(attempt)


def change(node: Node, operation: str, action: Callable[[System], T]) -> T:
    """Run ``action`` on the node's system at most once and return its result; raises as `read` does."""
    access = access_of(node)
    try:
        with _ironic_errors(node, access, operation):
            connection, system = _with_retries(lambda: _system(node, access))
            with _dropped_on_error(connection):
                return action(system)
    finally:
        RECENT.drop(node)


def optional(branch: Callable[[], T], otherwise: T) -> T:
    """Return what ``branch`` reads, or ``otherwise`` when the BMC lacks it; a refused login is still raised."""
    try:
        return branch()
    except sushy_errors.AccessError:
        raise
    except (sushy_errors.MissingAttributeError, sushy_errors.HTTPError) as error:
        LOG.debug("A Redfish BMC lacks a resource: %s", error)
        return otherwise


def enabled_interfaces(system: System) -> Iterator[Any]:
    """Iterate over the network interfaces that have a MAC address and are enabled; those without a state count too."""
    for interface in system.ethernet_interfaces.get_members():
        state = interface.status.state if interface.status is not None else None
        if interface.mac_address and state in (None, sushy.STATE_ENABLED):
            yield interface


def _system(node: Node, access: Access) -> tuple["Connection", System]:
    """Return the connection and the system resource, which is requested unless the task read it a moment ago."""
    recent = RECENT.get(node, access)
    if recent is not None:
        return recent
    connection = CONNECTIONS.get(access)
    with _dropped_on_error(connection):
        system = connection.system(access)
    RECENT.put(node, access, connection, system)
    return connection, system


def _with_retries(attempt: Callable[[], T]) -> T:
    """Repeat after a lost connection, as configured; a certificate that is refused once is refused again."""
    options = CONF.redfish
    return retrying(
        options.connection_attempts,
        options.connection_retry_interval,
        lambda error: (
            isinstance(error, sushy_errors.ConnectionError)
            and not isinstance(error.__context__, requests.exceptions.SSLError)
        ),
        lambda error: LOG.debug("No connection to a Redfish BMC, trying again: %s", error),
    )(attempt)


@contextmanager
def _dropped_on_error(connection: "Connection") -> Iterator[None]:
    try:
        yield
    except (sushy_errors.ConnectionError, sushy_errors.AccessError):
        CONNECTIONS.drop(connection)
        raise


@contextmanager
def _ironic_errors(node: Node, access: Access, operation: str) -> Iterator[None]:
    """Raise an error of sushy as one of Ironic that names the node, the BMC and what to check."""
    try:
        yield
    except allowed_destinations.Refused as error:
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
        raise _failed(node, access, operation, "it has several systems or none; set redfish_system_id") from error
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


# Connections


class NoLogin(sushy_auth.AuthBase):  # type: ignore[misc]  # the library brings no types
    """For a BMC that needs no login; the library would send an empty one."""

    def _do_authenticate(self) -> None:
        pass

    def can_refresh_session(self) -> bool:
        return False


@dataclass(slots=True)
class Connection:
    """A BMC that the service is logged in to."""

    access: Access
    root: Any
    login: Any

    def abandon(self) -> None:
        """Make the library forget its session: a request to end it at an unreachable BMC would only take time."""
        if isinstance(self.login, sushy_auth.SessionAuth):
            self.login.reset_session_attrs()

    def system(self, access: Access) -> System:
        """Return the machine's system resource, read anew."""
        return self.root.get_system(access.system_id)


class Connections:
    """A cache of the connections used last; safe to use from any thread."""

    def __init__(self, connect: Callable[[Access], Connection]) -> None:
        self._connect = connect
        self._kept: OrderedDict[tuple[str, str | None], Connection] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, access: Access) -> Connection:
        """Return a cached connection or a new one; systems of the same BMC share it."""
        with self._lock:
            kept = self._kept.get(access.key)
            if kept is not None and _login(kept.access) == _login(access):
                self._kept.move_to_end(access.key)
                return kept
        # Outside the lock: a slow BMC must not delay the others.
        made = self._connect(access)
        with self._lock:
            self._kept[access.key] = made
            self._kept.move_to_end(access.key)
            # A connection that is dropped here may be in use; its session ends with its last user.
            while len(self._kept) > CONF.redfish.connection_cache_size:
                self._kept.popitem(last=False)
        return made

    def drop(self, connection: Connection) -> None:
        """Forget a connection that failed."""
        with self._lock:
            if self._kept.get(connection.access.key) is connection:
                del self._kept[connection.access.key]
        connection.abandon()

    def __len__(self) -> int:
        return len(self._kept)


class RecentReads:
    """The system resources that were read a moment ago, each by the record of the node that one task has."""

    SECONDS: ClassVar[float] = 1.0
    # Power synchronisation reads many machines, and their records live until the round ends.
    _MOST: ClassVar[int] = 64

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: WeakKeyDictionary[Node, tuple[float, Access, Connection, System]] = WeakKeyDictionary()

    def get(self, node: Node, access: Access) -> tuple[Connection, System] | None:
        """Return what was read through the same access within the last second, or None."""
        with self._lock:
            found = self._read.get(node)
        if found is None or found[1] != access or self._is_over(found[0]):
            return None
        return found[2:]

    def put(self, node: Node, access: Access, connection: Connection, system: System) -> None:
        """Remember what was just read."""
        with self._lock:
            if len(self._read) >= self._MOST:
                for other in [other for other, entry in self._read.items() if self._is_over(entry[0])]:
                    del self._read[other]
            self._read[node] = (time.monotonic(), access, connection, system)

    def drop(self, node: Node) -> None:
        """Forget what was read; the machine is about to change, or has."""
        with self._lock:
            self._read.pop(node, None)

    def _is_over(self, since: float) -> bool:
        return time.monotonic() - since > self.SECONDS

    def __len__(self) -> int:
        return len(self._read)


RECENT = RecentReads()


def _login(access: Access) -> tuple[object, ...]:
    """Return what must be equal for two nodes to share a connection: all but the system."""
    return (
        access.key,
        access.password,
        access.verify,
        access.auth_type,
        access.tls_minimum_version,
        access.tls_ciphers,
    )


def connect(access: Access) -> Connection:
    """Return a new connection, logged in; raise Refused for an address that BMCs must not have."""
    url = urlsplit(access.address)
    allowed_destinations.check_bmc(url.hostname or "", url.port or PORTS[url.scheme])
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
        # More would make the library repeat every request after a lost connection, changes included.
        server_side_retries=1,
        server_side_retries_delay=1,
    )
    return Connection(access, root, login)


CONNECTIONS = Connections(connect)
