"""Deploy interfaces `direct` (the agent writes an image) and `custom-agent` (only the steps that the user requests).

A deployment is a sequence of steps: boot the agent (100), with `direct` write the image (80), set the boot device (60),
end the agent (40), move the machine to the tenant networks (30), start the instance (20).

`custom-agent` writes nothing. An in-band step of the user's own hardware manager does, which a deploy template or the
request names.
"""

import logging

from ironic.conf import CONF
from ironic.core.clock import FIRST_PAUSE
from ironic.core.errors import IronicError
from ironic.core.flows import states
from ironic.core.flows.flow import DEPLOY
from ironic.core.texts import syntax
from ironic.drivers import info_keys
from ironic.drivers.contract import boot_devices
from ironic.drivers.contract.interfaces.networks import TENANT
from ironic.drivers.contract.step_declarations import deploy_step
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.agent import (
    config_drive,
    deployment_image,
    in_band_steps,
    partition_images,
    ramdisk_boot,
    ramdisk_logs,
)
from ironic.drivers.modules.agent.agent_base import FAILING, AgentBase
from ironic.drivers.modules.agent.agent_client import Agent
from ironic.drivers.nodes import fast_track, instance_capabilities, volumes
from ironic.drivers.nodes.node_attributes import is_boot_device_persistent
from ironic.integrations import own_directories
from ironic.integrations.own_directories import OwnDirectory

LOG = logging.getLogger(__name__)


class CustomAgentDeploy(AgentBase):
    """Boots the agent before the requested steps, and the instance after them."""

    def get_properties(self) -> dict[str, str]:
        return {**super().get_properties(), **info_keys.DEPLOYMENT}

    def validate(self, task: Task) -> None:
        task.boot.validate(task)
        instance_capabilities.check_capabilities(task.node, "local")
        instance_capabilities.check_root_device(task.node)

    def supports_deploy(self, task: Task) -> bool:
        """Return True: requested steps can deploy anything. Useful as the last of several choices."""
        return True

    # Around the steps

    def prepare(self, task: Task) -> None:
        uses_agent = volumes.is_image_written(task)
        running = uses_agent and ramdisk_boot.runs_ramdisk(task)
        if not running:
            ramdisk_boot.switch_off(task)
        task.network.disconnect(task, TENANT)
        if uses_agent:
            task.network.connect(task, DEPLOY.network)
            if not running:
                task.boot.prepare_ramdisk(task, ramdisk_boot.kernel_parameters())
        task.node.save()

    def clean_up(self, task: Task) -> None:
        if task.node.provision_state in FAILING:
            ramdisk_logs.collect(task, "deployment", failed=True)
        super().clean_up(task)

    # The steps

    @deploy_step(priority=100)
    def deploy(self, task: Task) -> str | None:
        """Boot the agent, unless fast track continues with a running one or the machine boots from a volume."""
        if not volumes.is_image_written(task) or fast_track.can_continue(task.node):
            return None
        ramdisk_boot.switch_on(task)
        return states.DEPLOYWAIT

    @deploy_step(priority=60)
    def prepare_instance_boot(self, task: Task) -> str | None:
        """Set the disk as the boot device; the boot interface chooses the device of a machine with a boot volume."""
        task.boot.prepare_instance(task)
        if volumes.is_image_written(task) and not task.boot.sets_boot_device:
            persistent = is_boot_device_persistent(task.node, default=True)
            task.management.set_boot_device(task, boot_devices.DISK, persistent=persistent)
        return None

    @deploy_step(priority=40)
    def tear_down_agent(self, task: Task) -> str | None:
        """Switch the machine off through the agent, so that the ramdisk shuts down cleanly, or else through the BMC."""
        if not volumes.is_image_written(task):
            ramdisk_boot.switch_off(task)
            return None
        ramdisk_logs.collect(task, "deployment", failed=False)
        if ramdisk_boot.stays_on(task) or syntax.truth_of(str(task.node.driver_info.get(info_keys.REBOOT_OUT_OF_BAND))):
            Agent(task.node).execute("standby.sync")
            ramdisk_boot.lock_down(task)
        elif not _switched_off_by_agent(task):
            LOG.warning("Node %s: the agent did not switch the machine off; the BMC does", task.node.uuid)
        ramdisk_boot.switch_off(task)
        if task.boot.holds_ramdisk:
            task.boot.clean_up_ramdisk(task)
        return None

    @deploy_step(priority=30)
    def switch_to_tenant_network(self, task: Task) -> str | None:
        """Move the machine from the provisioning network to the tenant networks."""
        with ramdisk_boot.powered_for_network(task):
            task.network.disconnect(task, DEPLOY.network)
            task.network.connect(task, TENANT)
        return None

    @deploy_step(priority=20)
    def boot_instance(self, task: Task) -> str | None:
        """Start the deployed instance."""
        ramdisk_boot.switch_on(task)
        return None


def _switched_off_by_agent(task: Task) -> bool:
    """Request the power-off from the agent; return whether the machine is off within the time of [agent]."""
    try:
        Agent(task.node).start("standby.power_off")
    except IronicError as error:
        LOG.warning("Node %s: the request to switch the machine off did not reach the agent: %s", task.node.uuid, error)
        return False
    interval = CONF.agent.post_deploy_get_power_state_retry_interval
    limit = interval * CONF.agent.post_deploy_get_power_state_retries
    power = task.power
    return task.clock.until(
        lambda: power.get_power_state(task) == states.POWER_OFF,
        timeout=limit,
        interval=interval,
        first=FIRST_PAUSE,
    )


class AgentDeploy(CustomAgentDeploy):
    """Deploys an image that the agent downloads and writes to the disk."""

    def get_properties(self) -> dict[str, str]:
        return {**super().get_properties(), **info_keys.IMAGES}

    def written_directories(self) -> tuple[OwnDirectory, ...]:
        is_local = CONF.agent.image_download_source == "local"
        return (own_directories.INSTANCES, own_directories.IMAGES, own_directories.WEB) if is_local else ()

    def validate(self, task: Task) -> None:
        super().validate(task)
        if not volumes.is_image_written(task):
            return
        deployment_image.check_image(task.node)
        config_drive.check_config_drive(task.node)
        partition_images.check_boot_loader(task.node)

    def supports_deploy(self, task: Task) -> bool:
        return bool(task.node.instance_info.get("image_source")) or not volumes.is_image_written(task)

    def prepare(self, task: Task) -> None:
        partition_images.forget_boot_loader(task.node)
        if volumes.is_image_written(task):
            deployment_image.prepare_image(task.node)
        super().prepare(task)

    def clean_up(self, task: Task) -> None:
        super().clean_up(task)
        deployment_image.forget_image(task.node)

    @deploy_step(priority=80)
    def write_image(self, task: Task) -> str | None:
        """Start the agent's step that writes the image and the config drive; with a boot volume write nothing."""
        if not volumes.is_image_written(task):
            return None
        args = {
            "image_info": deployment_image.image_info_of(task.node),
            "configdrive": config_drive.config_drive_of(task.node),
        }
        return in_band_steps.start_step(task, "deploy", {"interface": "deploy", "step": "write_image", "args": args})

    @deploy_step(priority=60)
    def prepare_instance_boot(self, task: Task) -> str | None:
        """Withdraw the published image, install the boot loader and set the disk as the boot device."""
        if volumes.is_image_written(task):
            deployment_image.withdraw_image(task.node)
            if not partition_images.install_boot_loader(task.node):
                return in_band_steps.run_again(task, DEPLOY)
        answer = super().prepare_instance_boot(task)
        partition_images.forget_boot_loader(task.node)
        return answer
