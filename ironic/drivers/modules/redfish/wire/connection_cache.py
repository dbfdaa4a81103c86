"""The connections to Redfish BMCs that are kept: one per service root and user, up to a number.

BMCs have few places for sessions, some as few as four, and free them late. So a session is kept as long as its login is
used: it survives lost connections, and is logged out when its connection is not kept any more, because the login of its
last node has changed, the BMC refuses it, others need the place, or the service ends. A connection that is in use then
is logged out by the end of that use.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, wait
from contextlib import contextmanager
from typing import Any, Final
from weakref import WeakSet

import sushy
from sushy import auth as sushy_auth
from sushy import exceptions as sushy_errors

from ironic.conf import CONF
from ironic.core.threads import THREADS
from ironic.drivers.contract import open_sessions
from ironic.drivers.modules.redfish.wire.bmc_access import Access
from ironic.drivers.modules.redfish.wire.bmc_failures import UnusableAnswer
from ironic.drivers.modules.redfish.wire.bmc_login import BmcLogin
from ironic.drivers.modules.redfish.wire.bmc_system import Connector
from ironic.drivers.modules.redfish.wire.document_faults import collection_fault
from ironic.drivers.modules.redfish.wire.document_repair import TOLD_OF_ITSELF
from ironic.drivers.modules.redfish.wire.plain_paths import different_paths

LOG = logging.getLogger(__name__)

# Threads that log out, beside all work and at the end of the service.
_FEW: Final = 2
_MANY: Final = 32
_MOST_LISTED: Final = 16


class _NoLogin(sushy_auth.AuthBase):  # type: ignore[misc]  # the library brings no types
    """What the library needs in place of its own logins: the connector logs in itself."""

    def _do_authenticate(self) -> None:
        pass

    def can_refresh_session(self) -> bool:
        return False


class ServiceRoot(sushy.Sushy):  # type: ignore[misc]  # the library brings no types
    """The service root of a BMC, with the connector it was read by."""

    def __init__(self, address: str, *, connector: Connector, **terms: Any) -> None:
        super().__init__(address, connector=connector, **terms)
        self.bmc_connector = connector


class Connection:
    """A BMC that the service logs in to when it is first used."""

    def __init__(self, access: Access, connector: Connector, login: BmcLogin) -> None:
        self.access, self.connector, self.login = access, connector, login
        # Who uses it now, and the nodes that have used it.
        self.users, self.nodes = 0, set[str]()
        self.is_retired = False
        self._root: Any = None
        self._opening = threading.Lock()

    def system(self, system_id: str | None) -> Any:
        """Return a machine's system resource, after reading the service root and logging in if need be."""
        root = self._opened()
        return root.get_system(system_id or _only_system(root))

    def document(self, system_id: str | None) -> dict[str, Any]:
        """Return the document of a machine's system resource as the BMC sent it, opened in the same way."""
        root = self._opened()
        path = system_id or _only_system(root)
        document = self.connector.get(path).as_sent()
        # A collection has no Id, and what says nothing about itself is none of Redfish.
        if "Id" not in document and ("Members" in document or not document.keys() & TOLD_OF_ITSELF):
            raise sushy_errors.MissingAttributeError(attribute="Id", resource=path)
        return document

    def _opened(self) -> Any:
        with self.connector.gateway.held(self._opening):
            self._root = self._root or self._read_root()
            return self._root

    def reopen(self) -> None:
        """Read the service root again at the next use."""
        self._root = None
        self.login.doubt()

    def _read_root(self) -> Any:
        try:
            root = ServiceRoot(
                self.access.address,
                auth=_NoLogin(),
                connector=self.connector,
                root_prefix=self.access.root_prefix,
                # The library would fetch registries from any server that a BMC names.
                public_connector=self.connector,
            )
        except sushy_errors.MissingAttributeError:
            raise UnusableAnswer(
                f"what it shows at {self.access.root_prefix} is no service root of Redfish; check redfish_address"
            ) from None
        self.login.find_sessions(root)
        self.login.log_in()
        return root


def _only_system(root: ServiceRoot) -> str:
    """Return the path of the only machine; raise UnknownDefaultError when another may be meant.

    An entry that can't be read counts: it may be the machine of the node.
    """
    collection = root.get_system_collection()
    paths = different_paths(collection.members_identities or ())
    fault = collection_fault(collection.json)
    if len(paths) == 1 and fault is None:
        return str(paths[0])
    listed = ", ".join(paths[:_MOST_LISTED]) + (" ..." if len(paths) > _MOST_LISTED else "")
    reason = f"it has several systems; set redfish_system_id to one of {listed}"
    if not paths:
        reason = f"its list of systems {collection.path} names no system; set redfish_system_id"
    elif len(paths) == 1:
        reason = (
            f"its list of systems {collection.path} is incomplete, as {fault}; set redfish_system_id, for example to "
            f"{listed}"
        )
    raise sushy_errors.UnknownDefaultError(reason)


class Connections:
    """A cache of the connections used last; safe to use from any thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str, str | None, bool], Connection] = OrderedDict()
        self._of_nodes: dict[str, Connection] = {}
        # Those of connections that are not kept any more, as long as something uses them or logs out.
        self._retired: WeakSet[BmcLogin] = WeakSet()
        self._lock = threading.RLock()
        self._pool: Executor | None = None

    @contextmanager
    def used_by(self, node_uuid: str, access: Access, make: Callable[[], Connection]) -> Iterator[Connection]:
        """Hand out the connection for a node's login, cached or made; systems of the same BMC share it."""
        connection = self._take(node_uuid, access, make)
        try:
            yield connection
        finally:
            with self._lock:
                connection.users -= 1
                self._log_out_if_over(connection)

    def retire(self, connection: Connection) -> None:
        """Keep a connection no longer: its session is logged out as soon as nothing uses it."""
        with self._lock:
            if self._kept.get(connection.access.key) is connection:
                del self._kept[connection.access.key]
            for node_uuid in connection.nodes:
                self._of_nodes.pop(node_uuid, None)
            connection.nodes.clear()
            if not connection.is_retired:
                connection.is_retired = True
                self._retired.add(connection.login)
                self._log_out_if_over(connection)

    def log_out(self, seconds: float) -> None:
        """Log out everywhere, as far as that succeeds within this time: the service ends."""
        with self._lock:
            ending = [*(connection.login for connection in self._kept.values()), *self._retired]
            self._kept, self._of_nodes = OrderedDict(), {}
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
        ending = [login for login in ending if login.has_session]
        if not ending:
            return
        pool = THREADS.pool(min(_MANY, len(ending)), "bmc-logout")
        late = wait([pool.submit(login.log_out) for login in ending], seconds).not_done
        pool.shutdown(wait=False, cancel_futures=True)
        if late:
            LOG.info("%d sessions at BMCs are not logged out in time; the BMCs end them when they are idle", len(late))

    def _take(self, node_uuid: str, access: Access, make: Callable[[], Connection]) -> Connection:
        with self._lock:
            if (kept := self._find(access)) is not None:
                return self._hand_out(kept, node_uuid)
        # It takes time.
        made = make()
        with self._lock:
            if (kept := self._find(access)) is not None:
                return self._hand_out(kept, node_uuid)
            if (former := self._kept.get(access.key)) is not None:
                self.retire(former)
            self._kept[access.key] = made
            self._hand_out(made, node_uuid)
            while len(self._kept) > CONF.redfish.connection_cache_size:
                self.retire(next(iter(self._kept.values())))
            return made

    def _find(self, access: Access) -> Connection | None:
        kept = self._kept.get(access.key)
        return kept if kept is not None and _login(kept.access) == _login(access) else None

    def _hand_out(self, connection: Connection, node_uuid: str) -> Connection:
        self._kept.move_to_end(connection.access.key)
        connection.users += 1
        former = self._of_nodes.get(node_uuid)
        if former is not connection:
            self._of_nodes[node_uuid] = connection
            connection.nodes.add(node_uuid)
            if former is not None:
                former.nodes.discard(node_uuid)
                if not former.nodes:
                    self.retire(former)
        return connection

    def _log_out_if_over(self, connection: Connection) -> None:
        """Log out of a connection that is neither kept nor used; elsewhere, as a BMC may be dead."""
        if connection.is_retired and not connection.users and connection.login.has_session:
            self._pool = self._pool or THREADS.pool(_FEW, "bmc-logout")
            self._pool.submit(connection.login.log_out)

    def __len__(self) -> int:
        return len(self._kept)


def _login(access: Access) -> tuple[object, ...]:
    """Return what must be equal for two nodes to share the connection of a key: all but the system."""
    return (
        access.password,
        access.verify,
        access.auth_type,
        access.tls_minimum_version,
        access.tls_ciphers,
    )


CONNECTIONS: Final = Connections()
open_sessions.at_end(CONNECTIONS.log_out)
