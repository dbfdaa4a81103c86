"""Connections to Redfish BMCs: reads and changes of a machine, errors mapped to Ironic errors.

A read may be repeated after a lost connection. A change is sent once, because the BMC may have received it. No login
appears in any text. Connections are kept in `connection_cache`; how requests travel is decided in `bmc_connector`,
`bmc_login` and `transport`.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from sushy import exceptions as sushy_errors

from ironic.conf import CONF
from ironic.core.clock import Clock
from ironic.core.errors.hardware_errors import RedfishConnectionError, RedfishError
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.bmc.bmc_gateway import BmcBusy, CallClass, Exhausted
from ironic.drivers.modules.bmc.error_texts import safe_text
from ironic.drivers.modules.bmc.login_guard import LoginBarred, LoginGuard, guard_of
from ironic.drivers.modules.redfish.wire.bmc_access import Access, access_of
from ironic.drivers.modules.redfish.wire.bmc_connector import BmcConnector
from ironic.drivers.modules.redfish.wire.bmc_failures import NOT_REDFISH, LostConnection
from ironic.drivers.modules.redfish.wire.bmc_messages import details_of
from ironic.drivers.modules.redfish.wire.bmc_system import System
from ironic.drivers.modules.redfish.wire.connection_cache import CONNECTIONS, Connection
from ironic.integrations.allowed_destinations import UNREACHABLE
from ironic.integrations.hidden_faults import hidden

LOG = logging.getLogger(__name__)

T = TypeVar("T")


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


def read_document(
    task: Task, what: str, *, anew: bool = False, kind: CallClass = CallClass.READ
) -> Mapping[str, object]:
    """Return the document of the node's system as the BMC sent it; raises as `read` does.

    For one value, whose type its reader sees to: the library reads all of them, and what they lead to.
    """
    return _at_bmc(task, what, kind, dict, anew=anew, repeats=True, find=Connection.document)


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
    find: Callable[[Connection, str | None], Any] = Connection.system,
) -> T:
    """Run an operation on the system; a lost connection repeats reading the system, or with ``repeats`` all of it."""
    node = task.node
    access = access_of(node)

    def attempt(act: Callable[[System], T]) -> T:
        connection.login.check()
        with _doubted_on_error(connection):
            return act(find(connection, access.system_id))

    with (
        _ironic_errors(node, access, what),
        CONNECTIONS.used_by(node.uuid, access, lambda: _made(task, access)) as connection,
        connection.connector.gateway.operation(kind, anew=anew, seconds=seconds),
    ):
        if seconds is not None:
            return attempt(act)
        if repeats:
            return _with_retries(task.clock, lambda: attempt(act))
        system = _with_retries(task.clock, lambda: attempt(lambda system: system))
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


def _made(task: Task, access: Access) -> Connection:
    # The digest of the guard takes time.
    connector = BmcConnector(access, _guard(task, access))
    return Connection(access, connector, connector.login)


def _guard(task: Task, access: Access) -> LoginGuard | None:
    return guard_of(task.store, access.address, access.username or "", access.password) if access.has_login else None


def _with_retries(clock: Clock, attempt: Callable[[], T]) -> T:
    """Repeat after a lost connection, as configured; a refused certificate and a late answer stay what they are."""
    options = CONF.redfish
    return clock.retrying(
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
        reason = safe_text(error.details if isinstance(error, LostConnection) else str(error), access.password)
        if access.by_project:
            raise _hidden(RedfishConnectionError, node, access, what, reason) from error
        raise RedfishConnectionError(node=node.uuid, address=access.address, operation=what, error=reason) from error
    except (LoginBarred, Exhausted) as error:
        raise _failed(node, access, what, str(error)) from error
    except (sushy_errors.SushyError, *NOT_REDFISH) as error:
        raise _failed(node, access, what, details_of(error, access.password)) from error


def _failed(node: Node, access: Access, what: str, reason: str) -> RedfishError:
    if access.by_project:
        return _hidden(RedfishError, node, access, what, reason)
    return RedfishError(node=node.uuid, address=access.address, operation=what, error=f"BMC {access.address}: {reason}")


def _hidden(kind: type[RedfishError], node: Node, access: Access, what: str, reason: str) -> RedfishError:
    """Return an error with the one text of all faults: what answers may be no BMC, its words not for the project."""
    told = hidden(UNREACHABLE, f"BMC {access.address} of node {node.uuid}", reason)
    text = RedfishConnectionError.text.format(node=node.uuid, address=access.address, error=told)
    return kind(f"{text}.", node=node.uuid, address=access.address, operation=what, error=told)
