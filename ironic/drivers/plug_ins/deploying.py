"""Small decisions about a deployment that third-party deploy and boot interfaces ask for, by node or task."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.errors.hardware_errors import IPMIFailure
from ironic.core.flows import states
from ironic.core.flows.flow import FLOWS, Flow, in_state
from ironic.core.flows.step_cursor import StepCursor
from ironic.core.projects.kernel_parameters import APPEND_PARAMS, DEFAULT
from ironic.drivers.contract import boot_devices
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.agent import ramdisk_boot, ramdisk_logs
from ironic.drivers.nodes import instance_capabilities, node_attributes, volumes
from ironic.drivers.plug_ins import boot_modes

LOG = logging.getLogger(__name__)

RESCUE: Final = "rescue"


def check_for_missing_params(info_dict: Mapping[str, object], error_msg: str, param_prefix: str = "") -> None:
    """Raise MissingParameterValue, which names all keys without a value, each with the prefix and a dot."""
    prefix = f"{param_prefix}." if param_prefix else ""
    if missing := [f"{prefix}{key}" for key, value in info_dict.items() if not value]:
        raise MissingParameterValue(err=f"{error_msg} Missing are: {', '.join(missing)}.")


def build_agent_options(_node: Node) -> dict[str, object]:
    """Return the kernel parameters by which an agent finds this service."""
    return ramdisk_boot.kernel_parameters()


def rescue_or_deploy_mode(node: Node) -> str:
    """Return which ramdisk the state of the node needs: rescue or deploy."""
    state = node.provision_state
    needs_rescue = any(flow.topic == RESCUE and state in (*flow.busy, flow.failed) for flow in FLOWS)
    return RESCUE if needs_rescue else "deploy"


def get_disk_label(node: Node) -> str | None:
    """Return the partition table that the instance requests, None if it requests none."""
    return instance_capabilities.requested_capabilities(node).get("disk_label")


def try_set_boot_device(task: Task, device: str, persistent: bool = True) -> None:
    """Set the boot device, persistently as driver_info may require; a node that is being adopted stays as it is.

    A failure over IPMI is only logged in UEFI mode, in which the firmware knows what to boot. Raises what the
    management interface raises.
    """
    if task.node.provision_state == states.ADOPTING:
        return
    lasts = node_attributes.is_boot_device_persistent(task.node, default=persistent)
    try:
        task.management.set_boot_device(task, device, persistent=lasts)
    except IPMIFailure as error:
        if boot_modes.get_boot_mode(task.node) != boot_devices.UEFI:
            raise
        LOG.warning(
            "Node %s: its boot device can't be set to %s, which it may not need: %s", task.node.uuid, device, error
        )


def is_iscsi_boot(task: Task) -> bool:
    """Return whether the instance boots from a volume over iSCSI: it names no image, and a boot volume is of iSCSI."""
    kinds = task.store.volume_targets.rows(("boot_index", "volume_type"), filters={"node_id": task.node.id})
    return volumes.boots_from_volume(task) and (0, "iscsi") in [tuple(row) for row in kinds]


def get_single_nic_with_vif_port_id(task: Task) -> str | None:
    """Return the MAC address of the first port that a virtual interface uses now, or None."""
    return next((port.address for port in task.ports if task.network.get_current_vif(task, port)), None)


def get_kernel_append_params(node: Node, default: str | None) -> str | None:
    """Return the kernel parameters of the node, or else the default, which also stands for %default% in them.

    Those of driver_info count, as what a user has put into instance_info is for the user's own kernel.
    """
    given = node.driver_info.get(APPEND_PARAMS)
    return default if given is None else str(given).replace(DEFAULT, default or "")


def store_ramdisk_logs(node: Node, logs: str, label: str | None = None) -> None:
    """Store logs, base64 of an archive, where [agent]deploy_logs_storage_backend says.

    Raises ValueError for other text, OSError, or the error of the object store.
    """
    LOG.info("Node %s: the ramdisk's logs are in %s", node.uuid, ramdisk_logs.store(node, label or "", logs))


def power_off_and_on(task: Task) -> None:
    """Switch the machine off and on again; raises PowerStateFailure."""
    task.change_power(states.POWER_OFF)
    task.change_power(states.POWER_ON)


# Steps that go on after they have returned


def _flow_of(node: Node, step_type: str | None = None) -> Flow:
    flow = in_state(node.provision_state)
    if flow is None or flow.waiting is None or not flow.keeps_place or step_type not in (None, flow.name):
        raise InvalidParameterValue(
            err=f"Node {node.uuid} is in state {node.provision_state}, which runs no {step_type or ''} steps."
        )
    return flow


def set_async_step_flags(
    node: Node,
    reboot: bool | None = None,
    skip_current_step: bool | None = None,
    polling: bool | None = None,
    step_type: str | None = None,
) -> None:
    """Say how the running step goes on, and save the node; None leaves a mark as it is.

    ``reboot``: the machine restarts before the next step. ``skip_current_step`` false: the step runs again.
    ``polling``: its interface finds its end, heartbeats do not end it. Raises InvalidParameterValue in another state.
    """
    cursor = StepCursor.of(node, _flow_of(node, step_type))
    replace(
        cursor,
        restarts=cursor.restarts if reboot is None else reboot,
        repeats=cursor.repeats if skip_current_step is None else not skip_current_step,
        is_polled=cursor.is_polled if polling is None else polling,
    ).put(node)
    node.save()


def get_async_step_return_state(node: Node) -> str:
    """Return the waiting state of the node's flow, which a step returns that goes on."""
    return str(_flow_of(node).waiting)


def prepare_agent_boot(task: Task) -> None:
    """Prepare the machine to boot the ramdisk with the agent."""
    task.boot.prepare_ramdisk(task, ramdisk_boot.kernel_parameters())


def reboot_to_finish_step(task: Task) -> str:
    """Restart the machine into the agent, after which the flow goes on, and return the waiting state."""
    state = get_async_step_return_state(task.node)
    prepare_agent_boot(task)
    set_async_step_flags(task.node, reboot=True)
    task.change_power(states.REBOOT)
    return state
