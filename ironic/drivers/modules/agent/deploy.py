"""Deploy interface `direct`: the agent fetches a whole-disk image and writes it to the disk.

A deployment is a row of steps. The first one boots the agent; when it has come, the agent writes the image, is told to
go, and the machine starts from its own disk in its user's network.
"""

import logging
from typing import Any, Final

from oslo_utils import strutils

from ironic.conf import CONF
from ironic.core import capabilities, states
from ironic.core.errors import InvalidParameterValue, IronicError
from ironic.drivers import boot_devices, waiting
from ironic.drivers.modules.agent import configdrive, images, in_band, logs, machine, ramdisk
from ironic.drivers.modules.agent.base import AgentBase
from ironic.drivers.modules.agent.client import Agent
from ironic.drivers.steps import deploy_step
from ironic.drivers.task import Node, Task

LOG = logging.getLogger(__name__)

_REBOOT_OUT_OF_BAND: Final = "deploy_forces_oob_reboot"
_UEFI: Final = "uefi"


class AgentDeploy(AgentBase):
    """Deploys by an agent that does it all."""

    def get_properties(self) -> dict[str, str]:
        about = "true has the BMC switch the machine off after the image was written, instead of the agent."
        return {**super().get_properties(), **images.PROPERTIES, _REBOOT_OUT_OF_BAND: about}

    def validate(self, task: Task) -> None:
        task.driver.require("boot").validate(task)
        images.check(task.node)
        boot_mode(task.node)

    # Around the steps

    def prepare(self, task: Task) -> None:
        network = task.driver.require("network")
        images.prepare(task.node)
        machine.switch_off(task)
        network.unconfigure_tenant_networks(task)
        network.add_provisioning_network(task)
        task.driver.require("boot").prepare_ramdisk(task, ramdisk.parameters())
        task.node.save()

    def clean_up(self, task: Task) -> None:
        failed = task.node.provision_state in _FAILING
        if failed:
            logs.collect(task, "deployment", failed=True)
        if failed and CONF.deploy.power_off_after_deploy_failure:
            machine.switch_off(task)
        task.driver.require("boot").clean_up_ramdisk(task)
        task.driver.require("boot").clean_up_instance(task)
        images.forget(task.node)

    def tear_down(self, task: Task) -> str | None:
        network = task.driver.require("network")
        machine.switch_off(task)
        network.unconfigure_tenant_networks(task)
        network.remove_provisioning_network(task)
        return states.DELETED

    def take_over(self, task: Task) -> None:
        """A machine that boots from its own disk needs nothing of the conductor that deployed it."""

    # The steps

    @deploy_step(priority=100)
    def deploy(self, task: Task) -> str | None:
        """Boot the agent."""
        machine.switch_on(task)
        return states.DEPLOYWAIT

    @deploy_step(priority=80)
    def write_image(self, task: Task) -> str | None:
        """Have the agent write the image, and the config drive behind it."""
        args = {"image_info": images.info_of(task.node), "configdrive": configdrive.of(task.node)}
        return in_band.begin(task, "deploy", {"interface": "deploy", "step": "write_image", "args": args})

    @deploy_step(priority=60)
    def prepare_instance_boot(self, task: Task) -> str | None:
        """Have the machine boot from the disk from now on."""
        if boot_mode(task.node) == _UEFI:
            _install_boot_loader(task.node)
        task.driver.require("boot").prepare_instance(task)
        task.driver.require("management").set_boot_device(task, boot_devices.DISK, persistent=True)
        return None

    @deploy_step(priority=40)
    def tear_down_agent(self, task: Task) -> str | None:
        """End the agent: it switches the machine off in an orderly way, or else the BMC does."""
        logs.collect(task, "deployment", failed=False)
        if task.node.disable_power_off or strutils.bool_from_string(task.node.driver_info.get(_REBOOT_OUT_OF_BAND)):
            Agent(task.node).ask("standby.sync")
        elif not _agent_switched_off(task):
            LOG.warning("Node %s: the agent did not switch the machine off, the BMC does now", task.node.uuid)
        machine.switch_off(task)
        return None

    @deploy_step(priority=30)
    def switch_to_tenant_network(self, task: Task) -> str | None:
        """Put the machine where its user wants it."""
        network = task.driver.require("network")
        with machine.powered_for_network(task):
            network.remove_provisioning_network(task)
            network.configure_tenant_networks(task)
        return None

    @deploy_step(priority=20)
    def boot_instance(self, task: Task) -> str | None:
        """Start what was deployed."""
        images.forget(task.node)
        machine.switch_on(task)
        return None


# Where a deployment stands when it is cleared up after a failure or an abort.
_FAILING: Final = (states.DEPLOYING, states.DEPLOYWAIT, states.DEPLOYFAIL)


def boot_mode(node: Node) -> str:
    """Return how the machine starts, from what the instance or the machine says, or else the option."""
    wanted = (node.instance_info.get("capabilities") or {}, _capabilities(node))
    for given in wanted:
        if isinstance(given, dict) and given.get("boot_mode"):
            return str(given["boot_mode"])
    return str(CONF.deploy.default_boot_mode)


def _capabilities(node: Node) -> dict[str, str]:
    try:
        return capabilities.parse(node.properties.get("capabilities"))
    except ValueError as error:
        raise InvalidParameterValue(err=f"properties of node {node.uuid}: {error}.") from error


def _install_boot_loader(node: Node) -> None:
    agent = Agent(node)
    found: dict[str, Any] = agent.ask("standby.get_partition_uuids") or {}
    agent.finish(
        "image.install_bootloader",
        root_uuid=found.get("root uuid"),
        efi_system_part_uuid=found.get("efi system partition uuid"),
        prep_boot_part_uuid=found.get("PReP Boot partition uuid"),
        target_boot_mode=_UEFI,
    )


def _agent_switched_off(task: Task) -> bool:
    """Ask the agent to switch the machine off, and look whether it is."""
    try:
        Agent(task.node).begin("standby.power_off")
    except IronicError as error:
        LOG.warning("Node %s: the agent can't be told to switch the machine off: %s", task.node.uuid, error)
        return False
    interval = CONF.agent.post_deploy_get_power_state_retry_interval
    limit = interval * CONF.agent.post_deploy_get_power_state_retries
    power = task.driver.require("power")
    is_off = waiting.until(lambda: power.get_power_state(task) == states.POWER_OFF, timeout=limit, interval=interval)
    if is_off:
        machine.note(task, states.POWER_OFF)
    return is_off
