"""The system of a Redfish BMC as third-party plug-ins read it: by node, and without a session of their own.

What a plug-in gets has the attributes and methods of the resource of sushy, and so have the resources that it leads to.
Each access is an operation of the service at the BMC: under the node's login and its guard, through the gateway of the
BMC, with its repetitions and its errors.
"""

from typing import Any, Final

from sushy.resources.base import ResourceBase

from ironic.core.clock import Clock
from ironic.db import Store
from ironic.drivers.modules.redfish.wire.bmc_access import PROPERTIES, ROOT, access_of
from ironic.drivers.modules.redfish.wire.bmc_connection import change, read
from ironic.drivers.task import Node
from ironic.services import process_store

COMMON_PROPERTIES: Final = dict(PROPERTIES)


class _OfNode:
    """What an operation at the BMC takes of a task."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.clock: Clock = node.clock
        self.store: Store = process_store.database().store


class BmcResource:
    """A resource of a BMC; raises RedfishError where it can't be read, and RedfishConnectionError for a silent BMC."""

    def __init__(self, of_node: Any, resource: ResourceBase) -> None:
        self._of_node, self._resource = of_node, resource

    def __getattr__(self, name: str) -> Any:
        if name not in dir(self._resource):
            raise AttributeError(f"{type(self._resource).__name__} of a Redfish BMC has no attribute {name}")
        return self._shown(read(self._of_node, f"reading {name}", lambda _: getattr(self._resource, name)), name)

    def _shown(self, value: Any, name: str) -> Any:
        if isinstance(value, ResourceBase):
            return BmcResource(self._of_node, value)
        if isinstance(value, list | tuple):
            return type(value)(self._shown(one, name) for one in value) if type(value) in (list, tuple) else value
        if callable(value) and not isinstance(value, type):
            return lambda *args, **more: self._shown(
                change(self._of_node, f"calling {name}", lambda _: value(*args, **more)), name
            )
        return value

    def __repr__(self) -> str:
        return f"<{type(self._resource).__name__} {self._resource.path} of node {self._of_node.node.uuid}>"


def get_system(node: Node) -> Any:
    """Return the system of a node; raises RedfishConnectionError, RedfishError, or what is wrong with driver_info."""
    of_node: Any = _OfNode(node)
    return BmcResource(of_node, read(of_node, "reading the system", lambda system: system))


def parse_driver_info(node: Node) -> dict[str, Any]:
    """Return how a node's BMC is reached: address, username, password, verify_ca, auth_type, node_uuid, system_id.

    ``root_prefix``, ``tls_minimum_version`` and ``tls_ciphers`` are there if they are not the usual ones.
    """
    access = access_of(node)
    more = {"tls_minimum_version": access.tls_minimum_version, "tls_ciphers": access.tls_ciphers}
    if access.root_prefix != ROOT:
        more["root_prefix"] = access.root_prefix
    return {
        "address": access.address,
        "username": access.username,
        "password": access.password,
        "verify_ca": access.verify,
        "auth_type": access.auth_type,
        "node_uuid": node.uuid,
        "system_id": access.system_id,
        **{name: value for name, value in more.items() if value is not None},
    }
