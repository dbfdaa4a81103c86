"""What every deploy interface with an agent has in common: cleaning, servicing, tearing down, and steps that run there.

The boot interface brings the agent up, its heartbeats lead on.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from ironic.conf import CONF
from ironic.core import flow, states
from ironic.core.agent_memory import AgentMemory
from ironic.drivers import fast_track
from ironic.drivers.interfaces import DeployInterface
from ironic.drivers.modules.agent import access, in_band, logs, machine, ramdisk
from ironic.drivers.modules.agent.runs_in_band import RunsInBand
from ironic.drivers.step_ends import AgentArrived, StepDone, StepEnd
from ironic.drivers.steps import StepKind
from ironic.drivers.task import Task


class AgentBase(RunsInBand, DeployInterface):
    """Deploy interface of a machine that boots an agent."""

    brings_agent: ClassVar[bool] = True

    def get_properties(self) -> dict[str, str]:
        return dict(access.PROPERTIES)

    # Steps

    def learn_steps(self, task: Task, kind: StepKind) -> None:
        in_band.learn(task, kind)

    def heartbeat(
        self,
        task: Task,
        callback_url: str,
        agent_version: str,
        agent_verify_ca: str | None = None,
        agent_status: str | None = None,
        agent_status_message: str | None = None,
    ) -> StepEnd | None:
        kind = in_band.flow_of(task.node)
        step = getattr(task.node, f"{kind}_step")
        if kind == "deploy" and (step["interface"], step["step"]) == ("deploy", "deploy"):
            return AgentArrived()
        return self._with_result_taken(task, in_band.look(task, kind, step), step)

    def _with_result_taken(self, task: Task, end: StepEnd | None, step: Mapping[str, Any]) -> StepEnd | None:
        """Let the interface that the step belongs to make something of what the agent found out or did."""
        if isinstance(end, StepDone) and end.has_result:
            task.driver.require(step["interface"]).take_result(task, step, end.result)
        return end

    # The instance

    def clean_up(self, task: Task) -> None:
        task.boot.clean_up_ramdisk(task)
        task.boot.clean_up_instance(task)

    def tear_down(self, task: Task) -> str | None:
        network = task.network
        machine.switch_off(task)
        network.unconfigure_tenant_networks(task)
        machine.remove_network(task, flow.DEPLOY)
        return states.DELETED

    def take_over(self, task: Task) -> None:
        """A machine that boots from its own disk needs nothing of the conductor that deployed it."""

    # Cleaning and servicing

    def prepare_cleaning(self, task: Task) -> str | None:
        AgentMemory(task.node).tell_how_to_erase(CONF.deploy)
        return None if machine.boot_into(task, flow.CLEAN, ramdisk.parameters()) else states.CLEANWAIT

    def tear_down_cleaning(self, task: Task) -> None:
        """After a failure the machine stays as it is, for people to look at it (S55); after an abort it goes off."""
        aborted = task.node.provision_state == states.CLEANFAIL
        failed = task.node.fault is not None and not aborted
        logs.collect(task, "cleaning", failed=failed or aborted)
        if aborted or not (failed or fast_track.can_go_on(task.node)):
            machine.switch_off(task)
        machine.clean_up(task, flow.CLEAN)

    def prepare_service(self, task: Task) -> str | None:
        network = task.network
        machine.switch_off(task)
        network.unconfigure_tenant_networks(task)
        task.boot.clean_up_instance(task)
        machine.boot_into(task, flow.SERVICE, ramdisk.parameters())
        return states.SERVICEWAIT

    def tear_down_service(self, task: Task) -> None:
        network = task.network
        logs.collect(task, "servicing", failed=task.node.fault is not None)
        machine.switch_off(task)
        machine.clean_up(task, flow.SERVICE)
        network.configure_tenant_networks(task)
        task.boot.prepare_instance(task)
        task.node.save()
        machine.switch_on(task)
