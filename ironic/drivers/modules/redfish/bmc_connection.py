"""Connections to Redfish BMCs: reads and changes of a machine, errors mapped to Ironic errors.

Connections are cached by address and user, up to a number, and dropped at the first error. A read may be repeated after
a lost connection. A change is sent once, because the BMC may have received it. No login appears in any text. Many BMCs
lack a branch of the Redfish tree, and some answer with a server error there: `optional` reads such branches. How
requests travel is decided in `bmc_connector`.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import sushy
from sushy import exceptions as sushy_errors

from ironic.conf import CONF
from ironic.core.hardware_errors import RedfishConnectionError, RedfishError
from ironic.drivers.interruptible_wait import retrying
from ironic.drivers.modules.bmc.bmc_gateway import BmcBusy, CallClass, Exhausted
from ironic.drivers.modules.bmc.login_guard import LoginBarred, LoginGuard, guard_of
from ironic.drivers.modules.redfish.bmc_access import Access, access_of
from ironic.drivers.modules.redfish.bmc_connector import BmcConnector, LostConnection, NoLogin, operation
from ironic.drivers.task import Node, Task

LOG = logging.getLogger(__name__)

T = TypeVar("T")
System = Any

# Errors that sushy does not catch when an answer has not the form of Redfish.
_NOT_REDFISH = (ValueError, TypeError, AttributeError, KeyError, IndexError, RecursionError)

# A BMC may say what it wants in an error; users see that much.
_LONGEST_ERROR: Final = 600


# Reads and changes


def read(
    task: Task,
    what: str,
    get: Callable[[System], T],
    *,
    anew: bool = False,
    kind: CallClass = CallClass.READ,
) -> T:
    """Return what ``get`` reads from the node's system; it may run several times.

    With ``anew`` the BMC is asked even if it was a moment ago: for what changes by itself. Raise RedfishConnectionError
    when the BMC can't be reached or has no room for the request, RedfishError for any other failure. ``what`` names the
    read in errors.
    """
    return _at_bmc(task, what, kind, get, anew=anew, repeats=True)


def change(task: Task, what: str, action: Callable[[System], T], *, kind: CallClass = CallClass.CHANGE) -> T:
    """Run ``action`` on the node's system at most once and return its result; raises as `read` does."""
    return _at_bmc(task, what, kind, action, anew=False, repeats=False)


def _at_bmc(task: Task, what: str, kind: CallClass, act: Callable[[System], T], *, anew: bool, repeats: bool) -> T:
    """Run an operation on the system; a lost connection repeats reading the system, or with ``repeats`` all of it."""
    node = task.node
    access = access_of(node)

    def guard() -> LoginGuard | None:
        return (
            guard_of(task.store, access.address, access.username or "", access.password) if access.has_login else None
        )

    def attempt(act: Callable[[System], T]) -> T:
        connection.connector.check_login()
        with _dropped_on_error(connection):
            connection.open()
            return act(connection.system(access.system_id))

    with _ironic_errors(node, access, what):
        connection = CONNECTIONS.get(access, guard)
        with operation(connection.connector.gateway, kind, anew=anew):
            if repeats:
                return _with_retries(lambda: attempt(act))
            system = _with_retries(lambda: attempt(lambda system: system))
            try:
                with _dropped_on_error(connection):
                    return act(system)
            finally:
                # It also ends the moment when it fails before it sends an order.
                connection.connector.gateway.machine_changes()


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


def _with_retries(attempt: Callable[[], T]) -> T:
    """Repeat after a lost connection, as configured; a refused certificate and a late answer stay what they are."""
    options = CONF.redfish
    return retrying(
        options.connection_attempts,
        options.connection_retry_interval,
        lambda error: isinstance(error, LostConnection) and error.is_passing,
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
def _ironic_errors(node: Node, access: Access, what: str) -> Iterator[None]:
    """Raise an error of sushy as one of Ironic that names the node, the BMC and what to check."""
    try:
        yield
    except (LostConnection, BmcBusy) as error:
        reason = _safe(access, error.text if isinstance(error, LostConnection) else str(error))
        raise RedfishConnectionError(node=node.uuid, address=access.address, operation=what, error=reason) from error
    except (LoginBarred, Exhausted) as error:
        raise _failed(node, access, what, str(error)) from error
    except sushy_errors.AccessError as error:
        raise _failed(
            node, access, what, "it refuses the login; check redfish_username and redfish_password"
        ) from error
    except sushy_errors.UnknownDefaultError as error:
        raise _failed(node, access, what, "it has several systems or none; set redfish_system_id") from error
    except sushy_errors.SushyError as error:
        raise _failed(node, access, what, str(error)) from error
    except _NOT_REDFISH as error:
        LOG.debug("The answer of BMC %s could not be read.", access.address, exc_info=True)
        reason = f"its answer can't be read ({type(error).__name__}: {error}); check redfish_address"
        raise _failed(node, access, what, reason) from error


def _failed(node: Node, access: Access, what: str, reason: str) -> RedfishError:
    text = f"BMC {access.address}: {_safe(access, reason)}"
    return RedfishError(node=node.uuid, address=access.address, operation=what, error=text)


def _safe(access: Access, text: str) -> str:
    """Return a text of a BMC without the password, which it may repeat, and not longer than users want to read."""
    if access.password:
        text = text.replace(access.password, "***")
    return text if len(text) <= _LONGEST_ERROR else f"{text[:_LONGEST_ERROR]}..."


# Connections


class ServiceRoot(sushy.Sushy):  # type: ignore[misc]  # the library brings no types
    """The service root of a BMC, with the connector it was read by."""

    def __init__(self, address: str, *, connector: BmcConnector, **terms: Any) -> None:
        super().__init__(address, connector=connector, **terms)
        self.bmc_connector = connector


def connector_of(system: System) -> BmcConnector:
    """Return the connector of a system, for resources that the library does not lead to."""
    connector: BmcConnector = system.root.bmc_connector
    return connector


class Connection:
    """A BMC that the service is logged in to, once it is open."""

    def __init__(self, access: Access, guard: LoginGuard | None) -> None:
        self.access, self.connector = access, BmcConnector(access, guard)
        self.root: Any = None
        self._opening = threading.Lock()

    def open(self) -> None:
        """Read the service root and log in, unless that was done before."""
        with self._opening:
            if self.root is None:
                self.root = self._read_root()

    def _read_root(self) -> Any:
        root = ServiceRoot(
            self.access.address,
            auth=NoLogin(),
            connector=self.connector,
            root_prefix=self.access.root_prefix,
            # The library would fetch registries from any server that a BMC names.
            public_connector=self.connector,
        )
        self.connector.find_sessions(root)
        self.connector.log_in()
        return root

    def system(self, system_id: str | None) -> System:
        """Return the machine's system resource."""
        return self.root.get_system(system_id)


class Connections:
    """A cache of the connections used last; safe to use from any thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str | None], Connection] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, access: Access, guard: Callable[[], LoginGuard | None] = lambda: None) -> Connection:
        """Return a cached connection or a new one, which is not open yet; systems of the same BMC share it."""
        with self._lock:
            kept = self._kept.get(access.key)
            if kept is not None and _login(kept.access) == _login(access):
                self._kept.move_to_end(access.key)
                return kept
        # The digest of the guard takes time.
        made = Connection(access, guard())
        with self._lock:
            others = self._kept.get(access.key)
            if others is not None and _login(others.access) == _login(access):
                return others
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
        connection.connector.forget_session()

    def __len__(self) -> int:
        return len(self._kept)


def _login(access: Access) -> tuple[object, ...]:
    """Return what must be equal for two nodes to share a connection: all but the system."""
    return (
        access.key,
        access.root_prefix,
        access.password,
        access.verify,
        access.auth_type,
        access.tls_minimum_version,
        access.tls_ciphers,
    )


CONNECTIONS = Connections()
