"""Base classes for boot, inspect, deploy and rescue interfaces.

Boot interfaces prepare what a machine boots. Inspect interfaces read its hardware. Deploy interfaces deploy a system,
and prepare cleaning and servicing. Rescue interfaces boot a rescue system and end it.
"""

import logging
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from ironic.core.keys.internal_keys import InternalKey
from ironic.drivers.contract.contract_types import Node, Task
from ironic.drivers.contract.interfaces.base_interface import BaseInterface, unsupported
from ironic.drivers.contract.step_declarations import StepEnd, StepKind

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ImagePublisherSettings:
    """How the images of a boot interface are published for machines."""

    swift_enabled: bool = False
    container: str | None = None
    timeout: int | None = None
    image_subdir: str | None = None
    file_permission: int = 0o644
    kernel_params: str = ""


class BootInterface(BaseInterface[Task]):
    """Boot of a machine. Every method may be repeated; cleaning up without a preparation does nothing."""

    interface_type: ClassVar[str] = "boot"

    # Names of features that deploy interfaces require, such as "pxe_boot" or "ramdisk_boot".
    capabilities: ClassVar[list[str]] = []
    # Whether :meth:`prepare_instance` sets the boot device too; otherwise the deploy interface sets it.
    sets_boot_device: ClassVar[bool] = False
    # Whether a ramdisk that runs may still read what :meth:`clean_up_ramdisk` takes away.
    holds_ramdisk: ClassVar[bool] = False

    @property
    def image_publisher_settings(self) -> ImagePublisherSettings | None:
        """The settings for publishing images; None when this interface publishes none."""
        return None

    @abstractmethod
    def prepare_ramdisk(self, task: Task, ramdisk_params: Mapping[str, object]) -> None:
        """Prepare the next boot to start the agent's ramdisk with these kernel parameters."""

    @abstractmethod
    def clean_up_ramdisk(self, task: Task) -> None:
        """Undo :meth:`prepare_ramdisk`."""

    @abstractmethod
    def prepare_instance(self, task: Task) -> None:
        """Prepare the machine to boot the deployed system."""

    @abstractmethod
    def clean_up_instance(self, task: Task) -> None:
        """Undo :meth:`prepare_instance`."""

    def validate_rescue(self, task: Task) -> None:
        """Raise InvalidParameterValue or MissingParameterValue when the node can't boot a rescue ramdisk."""
        raise unsupported(task, "validate_rescue")

    def validate_inspection(self, task: Task) -> None:
        """Raise InvalidParameterValue or MissingParameterValue when the node can't boot an inspection ramdisk.

        Raise UnsupportedDriverExtension when this interface can't boot one at all, so that the machine must be booted
        by other means.
        """
        raise unsupported(task, "validate_inspection")


class InspectInterface(BaseInterface[Task]):
    """Inspection, through the BMC or by an agent on the machine. The caller of every method holds the lock."""

    interface_type: ClassVar[str] = "inspect"

    enters_lists = True
    # The properties that every inspection should set.
    ESSENTIAL_PROPERTIES: ClassVar[list[str]] = ["cpu_arch", "local_gb", "memory_mb"]
    # Whether it can process the data of an earlier inspection again.
    reapplies_data: ClassVar[bool] = False

    @abstractmethod
    def inspect_hardware(self, task: Task) -> str:
        """Begin the inspection; return MANAGEABLE when finished, INSPECTWAIT when the data arrive later.

        Raise HardwareInspectionFailure.
        """

    def abort(self, task: Task) -> None:
        """Abort a waiting inspection; must be quick."""
        raise unsupported(task, "abort")

    def continue_inspection(
        self, task: Task, inventory: Mapping[str, object], plugin_data: dict[str, object] | None = None
    ) -> str | None:
        """Process the data that have arrived (S81).

        Return INSPECTWAIT when more data are to come, otherwise None or MANAGEABLE.
        """
        raise unsupported(task, "continue_inspection")

    # Whether reports of ramdisks are for another service; then the interface is a `ReportForwarder` too.
    hands_reports_on: ClassVar[bool] = False

    def finish_inspection(self, task: Task) -> None:
        """Store what another service has found, once a periodic method has reported by StepDone that it is done.

        Raise HardwareInspectionFailure.
        """
        raise unsupported(task, "finish_inspection")

    def reapply_inspection(self, task: Task, inventory: Mapping[str, object], plugin_data: dict[str, object]) -> None:
        """Process data of an earlier inspection without touching the machine, if ``reapplies_data``.

        Raise HardwareInspectionFailure.
        """
        raise unsupported(task, "reapply_inspection")


ORIGINAL: Final = InternalKey(
    "original_deploy_interface", str, "The deploy interface that is replaced until the instance is deleted."
)
_REPLACEMENT: Final = InternalKey("detected_deploy_interface", str, "The one in its place.")


class DeployInterface(BaseInterface[Task]):
    """Deployment of a machine. Every method may be repeated: a conductor that takes the node over calls it again."""

    interface_type: ClassVar[str] = "deploy"

    # True when a deployment boots an agent, which adds steps of its own to the plan.
    boots_agent: ClassVar[bool] = False

    @abstractmethod
    def deploy(self, task: Task) -> str | None:
        """Deploy the instance; return DEPLOYWAIT when it continues asynchronously, None or DEPLOYDONE when finished.

        Usually this is also the deploy step of priority 100.
        """

    @abstractmethod
    def tear_down(self, task: Task) -> str | None:
        """Undo a deployment; return DELETED when done."""

    @abstractmethod
    def prepare(self, task: Task) -> None:
        """Prepare the deployment, before its first step."""

    @abstractmethod
    def clean_up(self, task: Task) -> None:
        """Undo :meth:`prepare`; the caller may hold only a shared lock."""

    @abstractmethod
    def take_over(self, task: Task) -> None:
        """Set up on this host what the former conductor of the node had set up on its own."""

    def validate_adoption(self, task: Task) -> None:
        """Raise what keeps this interface from managing an instance that runs already."""
        self.validate(task)

    # Cleaning and servicing

    def validate_ramdisk(self, task: Task) -> None:
        """Raise what keeps the ramdisk from being booted that cleaning and servicing need, if they need one."""

    def prepare_cleaning(self, task: Task) -> str | None:
        """Prepare cleaning; return CLEANWAIT when an agent must boot first."""
        return None

    def tear_down_cleaning(self, task: Task) -> None:
        """Undo :meth:`prepare_cleaning`."""

    def prepare_service(self, task: Task) -> str | None:
        """Prepare servicing; return SERVICEWAIT when an agent must boot first."""
        return None

    def tear_down_service(self, task: Task) -> None:
        """Undo :meth:`prepare_service`."""

    # The agent

    def heartbeat(
        self,
        task: Task,
        callback_url: str,
        agent_version: str,
        agent_verify_ca: str | None = None,
        agent_status: str | None = None,
        agent_status_message: str | None = None,
    ) -> StepEnd | None:
        """Process an agent's heartbeat with the lock held; return how the current step has ended, None while it runs.

        By default only a warning is logged.
        """
        LOG.warning(
            "Node %s: an agent sent a heartbeat, but the deploy interface uses no agent. Check what the machine booted",
            task.node.uuid,
        )
        return None

    def refresh_steps(self, task: Task, kind: StepKind) -> None:
        """Get the steps of a kind from a running agent and store them on the node; do nothing without an agent."""

    # Replacement by another implementation (used by `autodetect`)

    def supports_deploy(self, task: Task) -> bool:
        """Return whether this interface can deploy what the node's instance_info names."""
        return False

    def switch_interface(self, task: Task) -> None:
        """Replace this implementation by another at the beginning of a deployment; the caller saves the node."""

    def switch_for_adoption(self, task: Task) -> None:
        """Replace this implementation at the beginning of an adoption; the caller saves the node."""
        self.switch_interface(task)

    def restore_interface(self, task: Task) -> None:
        """Undo :meth:`switch_interface`, unless a user has set another interface since; the caller saves the node."""
        node = task.node
        original, replacement = ORIGINAL.delete(node), _REPLACEMENT.delete(node)
        if original and replacement in (None, _current(node)):
            _set_current(node, original)


def replace_interface(node: Node, name: str) -> None:
    """Set another deploy interface until the original one is restored; the caller saves the node."""
    if current := _current(node):
        ORIGINAL.set(node, str(current))
    else:
        ORIGINAL.delete(node)
    _REPLACEMENT.set(node, name)
    _set_current(node, name)


def _current(node: Node) -> object:
    """Return the deploy interface in use: the instance may request another one than the node's own."""
    return node.instance_info.get("deploy_interface") or node.deploy_interface


def _set_current(node: Node, name: str) -> None:
    if node.instance_info.get("deploy_interface"):
        node.instance_info["deploy_interface"] = name
    else:
        node.deploy_interface = name


class RescueInterface(BaseInterface[Task]):
    """Rescue mode. Every method may be repeated."""

    interface_type: ClassVar[str] = "rescue"

    # Whether instance_info must hold the password itself besides its hash.
    requires_plain_password: ClassVar[bool] = True

    @abstractmethod
    def rescue(self, task: Task) -> str:
        """Boot the rescue system; return RESCUEWAIT or RESCUE. Raise InstanceRescueFailure."""

    @abstractmethod
    def unrescue(self, task: Task) -> str:
        """Boot the deployed system again; return ACTIVE. Raise InstanceUnrescueFailure."""

    def finish_rescue(self, task: Task) -> None:
        """Complete the rescue after the first heartbeat of its agent. Raise InstanceRescueFailure."""

    def clean_up(self, task: Task) -> None:
        """Undo the preparation of a rescue that has failed or was aborted."""
