"""Base of the deploy interfaces that use an agent: heartbeats, tear-down, cleaning and servicing.

The boot interface boots the agent's ramdisk; from then on the agent's heartbeats advance the steps.
"""

from typing import ClassVar, Final

from ironic.conf import CONF
from ironic.core.flows import flow, states
from ironic.core.memory.agent_memory import AgentMemory
from ironic.drivers import info_keys
from ironic.drivers.contract.interfaces import DeployInterface
from ironic.drivers.contract.interfaces.networks import TENANT
from ironic.drivers.contract.step_declarations import AgentBooted, StepDone, StepEnd, StepKind
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.agent import in_band_steps, ramdisk_boot, ramdisk_logs, step_hooks
from ironic.drivers.modules.agent.in_band_steps import InBandSteps
from ironic.drivers.nodes import fast_track

# The states of a deployment that is cleaned up after a failure or an abort.
FAILING: Final = (*flow.DEPLOY.busy, flow.DEPLOY.failed)


class AgentBase(InBandSteps, DeployInterface):
    """Deploy interface of a machine that boots an agent."""

    boots_agent: ClassVar[bool] = True

    def get_properties(self) -> dict[str, str]:
        return dict(info_keys.AGENT)

    # Steps

    def refresh_steps(self, task: Task, kind: StepKind) -> None:
        in_band_steps.store_agent_steps(task, kind)

    def heartbeat(
        self,
        task: Task,
        callback_url: str,
        agent_version: str,
        agent_verify_ca: str | None = None,
        agent_status: str | None = None,
        agent_status_message: str | None = None,
    ) -> StepEnd | None:
        kind = in_band_steps.flow_of(task.node)
        step = getattr(task.node, f"{kind}_step")
        if kind == "deploy" and (step["interface"], step["step"]) == ("deploy", "deploy"):
            return AgentBooted()
        end = in_band_steps.check_progress(task, kind, step)
        if isinstance(end, StepDone) and end.has_result:
            task.driver.require(step["interface"]).process_step_result(task, step, end.result)
            if end.command is not None:
                step_hooks.run(task, kind, step["interface"], step["step"], end.command)
        if isinstance(end, StepDone) and end.reboot:
            # What booted the ramdisk was for one boot.
            task.boot.prepare_ramdisk(task, ramdisk_boot.kernel_parameters())
        return end

    # The end of an instance

    def clean_up(self, task: Task) -> None:
        is_failing = task.node.provision_state in FAILING
        if is_failing and CONF.deploy.power_off_after_deploy_failure:
            ramdisk_boot.switch_off(task)
        if not ramdisk_boot.needs_medium(task, runs_on=is_failing):
            task.boot.clean_up_ramdisk(task)
            # With virtual media this takes away the medium too.
            task.boot.clean_up_instance(task)

    def tear_down(self, task: Task) -> str | None:
        ramdisk_boot.switch_off(task)
        task.network.disconnect(task, TENANT)
        task.network.disconnect(task, flow.DEPLOY.network)
        return states.DELETED

    def validate_adoption(self, task: Task) -> None:
        """Accept every machine: one that boots from its own disk needs neither its image nor a ramdisk to run."""

    def take_over(self, task: Task) -> None:
        """Do nothing: a machine that boots from its own disk does not need the conductor that deployed it."""

    # Cleaning and servicing

    def validate_ramdisk(self, task: Task) -> None:
        if not fast_track.can_continue(task.node):
            task.boot.validate(task)

    def prepare_cleaning(self, task: Task) -> str | None:
        AgentMemory(task.node).set_erasure_options(CONF.deploy)
        return None if ramdisk_boot.boot_into(task, flow.CLEAN, ramdisk_boot.kernel_parameters()) else states.CLEANWAIT

    def tear_down_cleaning(self, task: Task) -> None:
        """Collect logs and clean up; the machine stays on after a failure, to be examined (S55), not after an abort."""
        aborted = task.node.provision_state == states.CLEANFAIL
        failed = task.node.fault is not None and not aborted
        ramdisk_logs.collect(task, "cleaning", failed=failed or aborted)
        stays = CONF.conductor.poweroff_in_cleanfail is False if failed else fast_track.can_continue(task.node)
        runs_on = stays and not aborted
        if not runs_on:
            ramdisk_boot.lock_down(task)
            ramdisk_boot.switch_off(task)
        ramdisk_boot.clean_up(task, flow.CLEAN, runs_on=runs_on)

    def prepare_service(self, task: Task) -> str | None:
        ramdisk_boot.switch_off(task)
        task.network.disconnect(task, TENANT)
        task.boot.clean_up_instance(task)
        ramdisk_boot.boot_into(task, flow.SERVICE, ramdisk_boot.kernel_parameters())
        return states.SERVICEWAIT

    def tear_down_service(self, task: Task) -> None:
        ramdisk_logs.collect(task, "servicing", failed=task.node.fault is not None)
        ramdisk_boot.lock_down(task)
        ramdisk_boot.switch_off(task)
        ramdisk_boot.clean_up(task, flow.SERVICE)
        task.network.connect(task, TENANT)
        task.boot.prepare_instance(task)
        task.node.save()
        ramdisk_boot.switch_on(task)
