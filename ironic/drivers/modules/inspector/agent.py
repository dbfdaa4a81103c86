"""Inspect interface `agent`: boot a ramdisk, wait for the data it posts, process them.

Managed boot: the node's boot and network interfaces prepare the ramdisk. Unmanaged boot: DHCP and TFTP servers outside
the service do, and the machine is only set to boot from the network. The node stores which of them applies, for the
clean-up. Ports for the MAC addresses that the BMC knows are created before the ramdisk boots: with them a look-up finds
the node even where no BMC address helps. Source: doc/contract/inspection.md#start.

The hooks and rules of `ironic.inspection` process the data; they are loaded and checked when the conductor starts. The
conductor changes the node's state and stores the node with it.
"""

import logging
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue, TakenOver, UnsupportedDriverExtension
from ironic.core.errors.resource_errors import MACAlreadyExists
from ironic.core.flows import states
from ironic.core.flows.flow import INSPECT
from ironic.core.keys.internal_keys import InternalKey
from ironic.core.memory import introspection
from ironic.core.texts.syntax import machine_mac_of, reported_mac_of
from ironic.drivers.contract import boot_devices
from ironic.drivers.contract.interfaces import InspectInterface
from ironic.drivers.contract.step_declarations import Suspended
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.agent import ramdisk_boot, ramdisk_logs
from ironic.drivers.nodes import fast_track
from ironic.inspection import bmc_addresses, boot_tokens
from ironic.inspection.hooks.base import hook_names
from ironic.inspection.pipeline import Pipeline
from ironic.inspection.rules import RuleBook, load_built_in
from ironic.services.row_limits import check_found_ports

LOG = logging.getLogger(__name__)

_LABEL: Final = "inspection"
MANAGED: Final = InternalKey("inspector_manage_boot", bool, "The service boots the ramdisk of its inspection.")
_CALLBACK: Final = "/v1/continue_inspection"


class AgentInspect(InspectInterface):
    """In-band inspection by a ramdisk."""

    def __init__(self) -> None:
        self.pipeline = Pipeline.load(
            hook_names(CONF.inspector.hooks), RuleBook(load_built_in(CONF.inspection_rules.built_in))
        )

    def get_properties(self) -> dict[str, str]:
        return {}

    def validate(self, task: Task) -> None:
        """Raise UnsupportedDriverExtension or InvalidParameterValue when the ramdisk can't be booted."""
        if boots_itself(task):
            if CONF.inspector.require_managed_boot:
                raise InvalidParameterValue(
                    err=f"Node {task.node.uuid}: the service boots the inspection ramdisk itself. Leave that to it, or "
                    "set [inspector]require_managed_boot to false where machines boot it by other means."
                )
            return
        obstacle = obstacle_to_boot(task)
        if obstacle is None:
            callback_url()
        elif CONF.inspector.require_managed_boot:
            raise UnsupportedDriverExtension(
                f"The interfaces of node {task.node.uuid} can't boot the inspection ramdisk: {obstacle} Choose others, "
                "or set [inspector]require_managed_boot to false where the machines boot it by other means."
            )

    def inspect_hardware(self, task: Task) -> str:
        """Boot the ramdisk and return INSPECTWAIT; its data arrive later."""
        if CONF.inspector.pre_create_ports:
            _create_known_ports(task)
        node = task.node
        addresses = bmc_addresses.collect(node.driver_info, keys=task.driver.bmc_address_keys)
        managed = not boots_itself(task) and obstacle_to_boot(task) is None
        MANAGED.set(node, managed)
        boot_tokens.forget(node)
        token = boot_tokens.issue(node) if managed and CONF.inspector.boot_token else None
        LOG.info("Node %s: inspection begins, boot is %s", node.uuid, "managed" if managed else "not managed")
        if boots_itself(task):
            bmc_addresses.remember(task.store, node, addresses)
            return states.INSPECTWAIT
        # The flags are stored before the machine is changed, by this call if it has to change the power, else with the
        # next power target and the addresses: a conductor that takes over must know what to clean up.
        try:
            ramdisk_boot.switch_off(task)
            node.target_power_state = states.POWER_ON
            bmc_addresses.remember(task.store, node, addresses)
            if managed:
                task.network.connect(task, INSPECT.network)
                task.boot.prepare_ramdisk(task, ramdisk_parameters(token, stays=fast_track.is_wanted(node)))
            else:
                task.management.set_boot_device(task, boot_devices.PXE, persistent=False)
            ramdisk_boot.switch_on(task)
        except (TakenOver, Suspended):
            raise
        except Exception:
            end_quietly(task)
            raise
        return states.INSPECTWAIT

    def continue_inspection(
        self, task: Task, inventory: Mapping[str, Any], plugin_data: dict[str, object] | None = None
    ) -> str | None:
        """Run hooks and rules on the data, then clean up, whether they succeeded or not."""
        posted = (plugin_data or {}).get("logs")
        try:
            proven = boot_tokens.was_shown(task.node.driver_internal_info)
            self.pipeline.run(
                task, dict(inventory), plugin_data, is_proven=proven, before_storing=lambda: _announce_end(task)
            )
        except TakenOver:
            raise
        except Exception:
            ramdisk_logs.keep(task, _LABEL, posted, failed=True)
            end_quietly(task)
            raise
        ramdisk_logs.keep(task, _LABEL, posted, failed=False)
        # The driver_info of a machine that has just enrolled itself may not be set yet.
        (end_quietly if task.node.provision_state == states.ENROLL else end)(task)
        return None

    def abort(self, task: Task) -> None:
        """Stop waiting: forget the ramdisk's identification, and leave the machine as the end of an inspection does."""
        bmc_addresses.forget(task.store, task.node)
        end(task)

    reapplies_data = True

    def reapply_inspection(self, task: Task, inventory: Mapping[str, Any], plugin_data: dict[str, object]) -> None:
        """Run hooks and rules on the data."""
        self.pipeline.run(task, dict(inventory), plugin_data, is_proven=False)


def boots_itself(task: Task) -> bool:
    """Return whether the inspection was asked for with the machine's boot and power left to others."""
    return introspection.of(task.node.driver_internal_info).boots_itself


def obstacle_to_boot(task: Task) -> UnsupportedDriverExtension | None:
    """Return why the node's interfaces can't boot the ramdisk, None when they can; raise errors in their settings."""
    try:
        task.boot.validate_inspection(task)
        task.network.validate_inspection(task)
    except UnsupportedDriverExtension as error:
        return error
    return None


# Ports


def _create_known_ports(task: Task) -> None:
    """Create a port for each MAC address that the BMC reports and no port of the node has."""
    try:
        reported = task.management.get_mac_addresses(task) or ()
    except UnsupportedDriverExtension:
        return  # most BMCs can't report them
    node, missing = task.node, new_macs(reported, (port.address for port in task.ports))
    taken: list[str] = []
    while missing and (mac := _taken_among(task, missing)):
        missing.remove(mac)
        taken.append(mac)
    if taken:
        LOG.warning(
            "Node %s: its BMC reports MAC addresses of other nodes' ports, which become no ports of this node: %s. "
            "Delete those ports if the network cards were moved, or correct the BMC address of one of the nodes",
            node.uuid,
            ", ".join(taken),
        )
    if missing:
        task.ports = None
        created = ", ".join(missing)
        LOG.info("Node %s: ports are created for the MAC addresses that its BMC reports: %s", node.uuid, created)


def _taken_among(task: Task, macs: Sequence[str]) -> str | None:
    """Create ports for all addresses, or none; return one that has a port already, None when they are created."""
    try:
        with task.store.writing():
            task.store.nodes.require_held(task.node)
            check_found_ports(task.store, task.node, len(macs))
            for mac in macs:
                task.store.ports.create({"node_id": task.node.id, "address": mac})
    except MACAlreadyExists as error:
        return str(error.facts["value"])
    return None


def new_macs(reported: Iterable[str], present: Iterable[str]) -> list[str]:
    """Return the valid addresses among the reported ones that are not present, each once."""
    valid = dict.fromkeys(mac for text in reported if (mac := machine_mac_of(reported_mac_of(text))))
    known = set(present)
    return [mac for mac in valid if mac not in known]


# Kernel parameters


def ramdisk_parameters(token: str | None = None, *, stays: bool = False) -> dict[str, object]:
    """Return the kernel parameters of the ramdisk; one without a value is a flag.

    ``stays`` makes a ramdisk that stays for fast track send heartbeats.
    """
    query = f"?{boot_tokens.PARAMETER}={token}" if token else ""
    parameters: dict[str, Any] = {"ipa-inspection-callback-url": callback_url() + query}
    if CONF.inspector.force_dhcp:
        parameters["ipa-collect-lldp"] = "1"
    if stays:
        parameters["ipa-api-url"] = _service_url()
    return parameters | extra_parameters(CONF.inspector.extra_kernel_params)


def callback_url() -> str:
    """Return the URL that the ramdisk posts its data to, or raise InvalidParameterValue."""
    return f"{_service_url()}{_CALLBACK}"


def _service_url() -> str:
    base = (
        CONF.inspector.callback_endpoint_override or CONF.service_catalog.endpoint_override or CONF.api.public_endpoint
    )
    if not base:
        raise InvalidParameterValue(
            err="No URL is known that a ramdisk can post its data to: set [service_catalog]endpoint_override to the "
            "URL of this service."
        )
    return str(base).rstrip("/")


def extra_parameters(text: str) -> dict[str, str | None]:
    """Return the parameters of a kernel command line by name."""
    pairs = (word.partition("=") for word in shlex.split(text))
    return {name: value if equals else None for name, equals, value in pairs if name}


# The end


def _announce_end(task: Task) -> None:
    """Set the power target of the end, which is stored with the data: that saves an UPDATE."""
    node = task.node
    # The driver_info of a machine that has just enrolled itself may not be set yet, so its power is only tried.
    is_known = node.provision_state != states.ENROLL and node.power_state != states.POWER_OFF
    if is_known and _switches_off(task) and not ramdisk_boot.stays_on(task):
        node.target_power_state = states.POWER_OFF


def _switches_off(task: Task) -> bool:
    # With fast track the next operation continues with the running ramdisk.
    return CONF.inspector.power_off and not fast_track.is_wanted(task.node) and not boots_itself(task)


def end(task: Task) -> None:
    """Switch the machine off if that is wanted, and undo the preparation of the ramdisk, whatever comes of that.

    A machine that is still on then keeps what its ramdisk runs from.
    """
    try:
        if _switches_off(task):
            ramdisk_boot.switch_off(task)
    finally:
        _clean_up_boot(task)


def end_quietly(task: Task) -> None:
    """Clean up where a failure is only logged: it must not fail the inspection or hide why it has failed."""
    try:
        end(task)
    except Exception as error:
        LOG.warning("Node %s: clearing up after its inspection failed: %s", task.node.uuid, error)


def _clean_up_boot(task: Task) -> None:
    """Undo the preparation of the ramdisk, if there was one."""
    boot_tokens.forget(task.node)
    if MANAGED.delete(task.node):
        ramdisk_boot.clean_up(task, INSPECT, runs_on=True)
