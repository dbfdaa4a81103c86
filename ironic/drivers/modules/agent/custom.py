"""Deploy interface `custom-agent`: an agent comes up, and steps that the user asks for do the rest.

Nothing is written here. What puts a system on the machine is an in-band step of the user's own hardware manager, named
in a deploy template or in the request; around it stand the steps that every deployment by an agent has.
"""

import logging
from typing import Final

from ironic.conf import CONF
from ironic.core import states, syntax
from ironic.core.errors import IronicError
from ironic.core.flow import DEPLOY
from ironic.drivers import boot_devices, fast_track, waiting
from ironic.drivers.lasting_boot_device import is_persistent
from ironic.drivers.modules.agent import logs, machine, ramdisk, wishes
from ironic.drivers.modules.agent.base import AgentBase
from ironic.drivers.modules.agent.client import Agent
from ironic.drivers.steps import deploy_step
from ironic.drivers.task import Task

LOG = logging.getLogger(__name__)

_REBOOT_OUT_OF_BAND: Final = "deploy_forces_oob_reboot"

# Where a deployment stands when it is cleared up after a failure or an abort.
_FAILING: Final = (*DEPLOY.busy, DEPLOY.failed)


class CustomAgentDeploy(AgentBase):
    """Boots the agent before a deployment's steps, and the system after them."""

    def get_properties(self) -> dict[str, str]:
        about = "true has the BMC switch the machine off after the deployment, instead of the agent."
        return {**super().get_properties(), _REBOOT_OUT_OF_BAND: about}

    def validate(self, task: Task) -> None:
        task.boot.validate(task)
        wishes.check(task.node, "local")
        wishes.check_root_device(task.node)

    def supports_deploy(self, task: Task) -> bool:
        """Anything can be deployed by steps of one's own: useful as the last of several choices."""
        return True

    # Around the steps

    def prepare(self, task: Task) -> None:
        network = task.network
        goes_on = machine.runs_ramdisk(task)
        if not goes_on:
            machine.switch_off(task)
        network.unconfigure_tenant_networks(task)
        machine.add_network(task, DEPLOY)
        if not goes_on:
            task.boot.prepare_ramdisk(task, ramdisk.parameters())
        task.node.save()

    def clean_up(self, task: Task) -> None:
        failed = task.node.provision_state in _FAILING
        if failed:
            logs.collect(task, "deployment", failed=True)
        if failed and CONF.deploy.power_off_after_deploy_failure:
            machine.switch_off(task)
        super().clean_up(task)

    # The steps

    @deploy_step(priority=100)
    def deploy(self, task: Task) -> str | None:
        """Boot the agent, unless it runs already."""
        if fast_track.can_go_on(task.node):
            return None
        machine.switch_on(task)
        return states.DEPLOYWAIT

    @deploy_step(priority=60)
    def prepare_instance_boot(self, task: Task) -> str | None:
        """Have the machine boot from the disk from now on."""
        task.boot.prepare_instance(task)
        persistent = is_persistent(task.node, default=True)
        task.management.set_boot_device(task, boot_devices.DISK, persistent=persistent)
        return None

    @deploy_step(priority=40)
    def tear_down_agent(self, task: Task) -> str | None:
        """End the agent: it switches the machine off in an orderly way, or else the BMC does."""
        logs.collect(task, "deployment", failed=False)
        if machine.stays_on(task) or syntax.truth_of(str(task.node.driver_info.get(_REBOOT_OUT_OF_BAND))):
            Agent(task.node).ask("standby.sync")
        elif not _agent_switched_off(task):
            LOG.warning("Node %s: the agent did not switch the machine off, the BMC does now", task.node.uuid)
        machine.switch_off(task)
        return None

    @deploy_step(priority=30)
    def switch_to_tenant_network(self, task: Task) -> str | None:
        """Put the machine where its user wants it."""
        network = task.network
        with machine.powered_for_network(task):
            machine.remove_network(task, DEPLOY)
            network.configure_tenant_networks(task)
        return None

    @deploy_step(priority=20)
    def boot_instance(self, task: Task) -> str | None:
        """Start what was deployed."""
        machine.switch_on(task)
        return None


def _agent_switched_off(task: Task) -> bool:
    """Ask the agent to switch the machine off, and look whether it is."""
    try:
        Agent(task.node).begin("standby.power_off")
    except IronicError as error:
        LOG.warning("Node %s: the agent can't be told to switch the machine off: %s", task.node.uuid, error)
        return False
    interval = CONF.agent.post_deploy_get_power_state_retry_interval
    limit = interval * CONF.agent.post_deploy_get_power_state_retries
    power = task.power
    return waiting.until(lambda: power.get_power_state(task) == states.POWER_OFF, timeout=limit, interval=interval)
