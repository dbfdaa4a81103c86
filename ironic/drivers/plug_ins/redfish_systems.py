"""The system of a Redfish BMC as third-party plug-ins read it: by node, and without a session of their own.

What a plug-in gets has the attributes and methods of the resource of sushy, and so have the resources that it leads to.
Each access is an operation of the service at the BMC: under the node's login and its guard, through the gateway of the
BMC, with its repetitions and its errors.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from sushy.resources.base import ResourceBase

from ironic.core.clock import Clock
from ironic.core.errors import InvalidParameterValue
from ironic.db import Store
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.orders import virtual_media
from ironic.drivers.modules.redfish.tree.members import seen_chassis, seen_managers
from ironic.drivers.modules.redfish.wire.bmc_access import PROPERTIES, ROOT, access_of
from ironic.drivers.modules.redfish.wire.bmc_connection import change, read
from ironic.drivers.modules.redfish.wire.bmc_failures import UnusableAnswer
from ironic.drivers.modules.redfish.wire.bmc_system import System
from ironic.services import process_store

COMMON_PROPERTIES: Final = dict(PROPERTIES)

_BMC_WAIT: Final = "firmware_update_unresponsive_bmc_wait"


class _OfNode:
    """What an operation at the BMC takes of a task."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.clock: Clock = node.clock
        self.store: Store = process_store.database().store


class BmcResource:
    """A resource of a BMC; raises RedfishError where it can't be read, and RedfishConnectionError for a silent BMC."""

    def __init__(self, of_node: Any, resource: Any) -> None:
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
        return f"<{type(self._resource).__name__} of the BMC of node {self._of_node.node.uuid}>"


def get_system(node: Node) -> Any:
    """Return the system of a node; raises RedfishConnectionError, RedfishError, or what is wrong with driver_info."""
    return _resource(node, "the system", lambda system: system)


def get_manager(node: Node, _system: object = None) -> Any:
    """Return the first manager of a node's system; raises RedfishError if none is shown, as all functions here."""
    return _resource(node, "the manager", lambda system: _first(seen_managers(system).items, "manager"))


def get_chassis(node: Node, _system: object = None) -> Any:
    """Return the first chassis of a node's system."""
    return _resource(node, "the chassis", lambda system: _first(seen_chassis(system).items, "chassis"))


def get_system_collection(node: Node) -> Any:
    """Return the systems of the node's BMC."""
    return _resource(node, "the systems", lambda system: system.root.get_system_collection())


def get_update_service(node: Node) -> Any:
    """Return the update service of the node's BMC."""
    return _resource(node, "the update service", lambda system: system.root.get_update_service())


def get_event_service(node: Node) -> Any:
    """Return the event service of the node's BMC."""
    return _resource(node, "the event service", lambda system: system.root.get_event_service())


def get_task_monitor(node: Node, uri: str) -> Any:
    """Return the monitor of a task of the node's BMC, as it is when it is read."""
    return _resource(node, "the task monitor", lambda system: system.root.get_task_monitor(uri))


def _resource(node: Node, what: str, find: Callable[[System], Any]) -> Any:
    of_node: Any = _OfNode(node)
    return BmcResource(of_node, read(of_node, f"reading {what}", find))


def _first(found: Sequence[Any], kind: str) -> Any:
    if not found:
        raise UnusableAnswer(f"it shows no {kind} of the system")
    return found[0]


def parse_driver_info(node: Node) -> dict[str, Any]:
    """Return how a node's BMC is reached: address, username, password, verify_ca, auth_type, node_uuid, system_id.

    ``root_prefix``, ``tls_minimum_version`` and ``tls_ciphers`` are there if they are not the usual ones, and
    ``firmware_update_unresponsive_bmc_wait``, which only plug-ins read, as driver_info has it.
    """
    access = access_of(node)
    more = {
        "tls_minimum_version": access.tls_minimum_version,
        "tls_ciphers": access.tls_ciphers,
        _BMC_WAIT: node.driver_info.get(_BMC_WAIT),
    }
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


# Virtual drives


def insert_vmedia(task: Task, image_url: str, device_type: str) -> None:
    """Insert the image of a URL into a drive for cdrom, floppy or disk; raises as the management interface does."""
    RedfishManagement().attach_virtual_media(task, device_type, image_url)


def eject_vmedia(task: Task, boot_device: str | None = None) -> None:
    """Empty the drives for cdrom, floppy or disk, None means all; raises as the management interface does."""
    if boot_device not in (None, *virtual_media.MEDIA):
        raise InvalidParameterValue(err=f"{str(boot_device)[:64]!r} is none of: {', '.join(virtual_media.MEDIA)}.")
    RedfishManagement().detach_virtual_media(task, None if boot_device is None else [boot_device])


def get_vmedia(task: Task) -> list[dict[str, object]]:
    """Return ``media_types``, ``inserted`` and ``image`` of each drive; raises InvalidParameterValue without any."""
    return RedfishManagement().get_virtual_media(task)
