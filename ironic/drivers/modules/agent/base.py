"""What every deploy interface with an agent has in common: cleaning, servicing, and steps that run on the machine.

The boot interface brings the agent up, its heartbeats lead on. A step that the class decorates is ours; any other of
the deploy interface is the agent's.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from ironic.core import states
from ironic.drivers.interfaces import DeployInterface
from ironic.drivers.modules.agent import access, erasure, in_band, logs, machine, ramdisk
from ironic.drivers.step_ends import AgentArrived, StepEnd
from ironic.drivers.steps import StepKind
from ironic.drivers.task import Task


class AgentBase(DeployInterface):
    """Deploy interface of a machine that boots an agent."""

    brings_agent: ClassVar[bool] = True

    def get_properties(self) -> dict[str, str]:
        return dict(access.PROPERTIES)

    # Steps

    def agent_steps(self, task: Task, kind: StepKind) -> list[dict[str, Any]]:
        return in_band.offered(task.node, kind, self.interface_type)

    def get_clean_steps(self, task: Task) -> list[dict[str, Any]]:
        mine = super().get_clean_steps(task)
        known = {step["step"] for step in self.all_steps("clean")}
        of_agent = [step for step in self.agent_steps(task, "clean") if step["step"] not in known and step["priority"]]
        return sorted([*mine, *of_agent], key=lambda step: -step["priority"])

    def learn_steps(self, task: Task, kind: StepKind) -> None:
        in_band.learn(task, kind)

    def _execute(self, kind: StepKind, task: Task, step: Mapping[str, Any]) -> str | None:
        if any(known["step"] == step["step"] for known in self.all_steps(kind)):
            return super()._execute(kind, task, step)
        return in_band.begin(task, kind, step)

    def heartbeat(
        self,
        task: Task,
        callback_url: str,
        agent_version: str,
        agent_verify_ca: str | None = None,
        agent_status: str | None = None,
        agent_status_message: str | None = None,
    ) -> StepEnd | None:
        flow = in_band.FLOWS[task.node.provision_state]
        step = getattr(task.node, f"{flow}_step")
        if flow == "deploy" and (step["interface"], step["step"]) == ("deploy", "deploy"):
            return AgentArrived()
        return in_band.look(task, flow, step)

    # Cleaning and servicing

    def prepare_cleaning(self, task: Task) -> str | None:
        erasure.describe(task.node)
        machine.boot_into(task, task.driver.require("network").add_cleaning_network, ramdisk.parameters())
        return states.CLEANWAIT

    def tear_down_cleaning(self, task: Task) -> None:
        """After a failure the machine stays as it is, for people to look at it (S55)."""
        failed = task.node.provision_state == states.CLEANFAIL or task.node.fault is not None
        logs.collect(task, "cleaning", failed=failed)
        if not failed:
            machine.switch_off(task)
        machine.clean_up(task, task.driver.require("network").remove_cleaning_network)

    def prepare_service(self, task: Task) -> str | None:
        network = task.driver.require("network")
        machine.switch_off(task)
        network.unconfigure_tenant_networks(task)
        task.driver.require("boot").clean_up_instance(task)
        machine.boot_into(task, network.add_servicing_network, ramdisk.parameters())
        return states.SERVICEWAIT

    def tear_down_service(self, task: Task) -> None:
        network = task.driver.require("network")
        logs.collect(task, "servicing", failed=task.node.fault is not None)
        machine.switch_off(task)
        machine.clean_up(task, network.remove_servicing_network)
        network.configure_tenant_networks(task)
        task.driver.require("boot").prepare_instance(task)
        task.node.save()
        machine.switch_on(task)
