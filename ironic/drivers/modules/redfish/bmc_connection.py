"""Connections to Redfish BMCs: reads and changes of a machine, errors mapped to Ironic errors.

A read may be repeated after a lost connection. A change is sent once, because the BMC may have received it. No login
appears in any text. Many BMCs lack a branch of the Redfish tree, and some answer with a server error there: `optional`
reads such branches. Connections are kept in `connection_cache`; how requests travel is decided in `bmc_connector`.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, TypeVar

import sushy
from sushy import exceptions as sushy_errors

from ironic.conf import CONF
from ironic.core.hardware_errors import RedfishConnectionError, RedfishError
from ironic.drivers.interruptible_wait import retrying
from ironic.drivers.modules.bmc.bmc_gateway import BmcBusy, CallClass, Exhausted
from ironic.drivers.modules.bmc.error_texts import safe_text
from ironic.drivers.modules.bmc.login_guard import LoginBarred, LoginGuard, guard_of
from ironic.drivers.modules.redfish.bmc_access import Access, access_of
from ironic.drivers.modules.redfish.bmc_connector import BmcConnector, LostConnection, operation
from ironic.drivers.modules.redfish.connection_cache import CONNECTIONS, Connection
from ironic.drivers.task import Node, Task

LOG = logging.getLogger(__name__)

S = TypeVar("S")
T = TypeVar("T")
System = Any

# Errors that sushy does not catch when an answer has not the form of Redfish.
NOT_REDFISH = (ValueError, TypeError, AttributeError, KeyError, IndexError, RecursionError)


# Reads and changes


def read(
    task: Task,
    what: str,
    get: Callable[[System], T],
    *,
    anew: bool = False,
    kind: CallClass = CallClass.READ,
    seconds: float | None = None,
) -> T:
    """Return what ``get`` reads from the node's system; it may run several times.

    With ``anew`` the BMC is asked even if it was a moment ago: for what changes by itself. With ``seconds`` there is
    one attempt that ends in this time. Raise RedfishConnectionError when the BMC can't be reached or has no room for
    the request, RedfishError for any other failure. ``what`` names the read in errors.
    """
    return _at_bmc(task, what, kind, get, anew=anew, repeats=True, seconds=seconds)


def change(task: Task, what: str, action: Callable[[System], T], *, kind: CallClass = CallClass.CHANGE) -> T:
    """Run ``action`` on the node's system at most once and return its result; raises as `read` does."""
    return _at_bmc(task, what, kind, action, anew=False, repeats=False)


def _at_bmc(
    task: Task,
    what: str,
    kind: CallClass,
    act: Callable[[System], T],
    *,
    anew: bool,
    repeats: bool,
    seconds: float | None = None,
) -> T:
    """Run an operation on the system; a lost connection repeats reading the system, or with ``repeats`` all of it."""
    node = task.node
    access = access_of(node)

    def attempt(act: Callable[[System], T]) -> T:
        connection.connector.check_login()
        with _doubted_on_error(connection):
            return act(connection.system(access.system_id))

    with (
        _ironic_errors(node, access, what),
        CONNECTIONS.used_by(node.uuid, access, lambda: _guard(task, access)) as connection,
        operation(connection.connector.gateway, kind, anew=anew, seconds=seconds),
    ):
        if seconds is not None:
            return attempt(act)
        if repeats:
            return _with_retries(lambda: attempt(act))
        system = _with_retries(lambda: attempt(lambda system: system))
        try:
            with _doubted_on_error(connection):
                return act(system)
        finally:
            # It also ends the moment when it fails before it sends an order.
            connection.connector.gateway.machine_changes()


def check_login(task: Task, what: str) -> None:
    """Raise RedfishError when the BMC has refused the node's login too often; nothing is sent."""
    access = access_of(task.node)
    with _ironic_errors(task.node, access, what):
        if (guard := _guard(task, access)) is not None:
            guard.check()


def _guard(task: Task, access: Access) -> LoginGuard | None:
    return guard_of(task.store, access.address, access.username or "", access.password) if access.has_login else None


def optional(branch: Callable[[], T], otherwise: T) -> T:
    """Return what ``branch`` reads, or ``otherwise`` when the BMC lacks it; a refused login is still raised.

    Some BMCs show a branch to administrators only, or with a licence.
    """
    try:
        return branch()
    except (sushy_errors.MissingAttributeError, sushy_errors.HTTPError) as error:
        if isinstance(error, sushy_errors.AccessError) and error.status_code != HTTPStatus.FORBIDDEN:
            raise
        LOG.debug("A Redfish BMC lacks a resource: %s", error)
        return otherwise


def of_each(sources: Callable[[], Iterable[S]], read_one: Callable[[S], Iterable[T]]) -> Iterator[T]:
    """Yield what is read of each source; one that the BMC lacks or can't show takes nothing away from the others."""
    no_sources: list[S] = []
    for source in optional(lambda: list(sources()), no_sources):
        nothing: list[T] = []
        yield from optional(lambda source=source: list(read_one(source)), nothing)  # type: ignore[misc]


def enabled_interfaces(system: System) -> Iterator[Any]:
    """Iterate over the network interfaces that have a MAC address and are enabled; those without a state count too."""
    for interface in system.ethernet_interfaces.get_members():
        state = interface.status.state if interface.status is not None else None
        if interface.mac_address and state in (None, sushy.STATE_ENABLED):
            yield interface


def drives_of(storage: Any) -> list[Any]:
    """Return the drives of a storage, without those that its list names and the BMC lacks, as of an empty bay."""
    found = (optional(lambda path=path: storage.get_drive(path), None) for path in storage.drives_identities or ())  # type: ignore[misc]
    return [drive for drive in found if drive is not None]


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
def _doubted_on_error(connection: Connection) -> Iterator[None]:
    try:
        yield
    except sushy_errors.ConnectionError:
        # The session may still be good, and BMCs have few of them.
        connection.reopen()
        raise
    except sushy_errors.AccessError:
        CONNECTIONS.retire(connection)
        raise


@contextmanager
def _ironic_errors(node: Node, access: Access, what: str) -> Iterator[None]:
    """Raise an error of sushy as one of Ironic that names the node, the BMC and what to check."""
    try:
        yield
    except (LostConnection, BmcBusy) as error:
        reason = safe_text(error.text if isinstance(error, LostConnection) else str(error), access.password)
        raise RedfishConnectionError(node=node.uuid, address=access.address, operation=what, error=reason) from error
    except (LoginBarred, Exhausted) as error:
        raise _failed(node, access, what, str(error)) from error
    except sushy_errors.AccessError as error:
        reason = "it refuses the login; check redfish_username and redfish_password"
        if error.status_code == HTTPStatus.FORBIDDEN:
            reason = f"it forbids that to the user of redfish_username; check the rights of that user ({error})"
        raise _failed(node, access, what, reason) from error
    except sushy_errors.UnknownDefaultError as error:
        raise _failed(node, access, what, "it has several systems or none; set redfish_system_id") from error
    except sushy_errors.SushyError as error:
        raise _failed(node, access, what, str(error)) from error
    except NOT_REDFISH as error:
        LOG.debug("The answer of BMC %s could not be read.", access.address, exc_info=True)
        reason = f"its answer can't be read ({type(error).__name__}: {error}); check redfish_address"
        raise _failed(node, access, what, reason) from error


def _failed(node: Node, access: Access, what: str, reason: str) -> RedfishError:
    text = f"BMC {access.address}: {safe_text(reason, access.password)}"
    return RedfishError(node=node.uuid, address=access.address, operation=what, error=text)


def connector_of(system: System) -> BmcConnector:
    """Return the connector of a system, for resources that the library does not lead to."""
    connector: BmcConnector = system.root.bmc_connector
    return connector
