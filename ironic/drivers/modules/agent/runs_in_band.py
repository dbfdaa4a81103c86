"""What interfaces have in common whose steps run on the machine: some of their own, others that the agent brings.

A step that the class decorates is ours, though the agent may have to do it; any other one is the agent's.
"""

from collections.abc import Mapping
from typing import Any

from ironic.drivers.interfaces import BaseInterface
from ironic.drivers.modules.agent import in_band
from ironic.drivers.steps import StepKind
from ironic.drivers.task import Task


class RunsInBand(BaseInterface):
    """An interface that an agent may add steps to."""

    def agent_steps(self, task: Task, kind: StepKind) -> list[dict[str, object]]:
        return in_band.offered(task.node, kind, self.interface_type)

    def get_clean_steps(self, task: Task) -> list[dict[str, Any]]:
        offered = {step["step"]: step for step in self.agent_steps(task, "clean")}
        own = [_as_offered(step, offered.pop(step["step"], step)) for step in self.all_steps("clean")]
        enabled = [step for step in (*own, *offered.values()) if step["priority"]]
        return sorted(enabled, key=lambda step: -step["priority"])

    def _execute(self, kind: StepKind, task: Task, step: Mapping[str, object]) -> str | None:
        if any(known["step"] == step["step"] for known in self.all_steps(kind)):
            return super()._execute(kind, task, step)
        return in_band.begin(task, kind, step)


def _as_offered(own: Mapping[str, object], offered: Mapping[str, object]) -> dict[str, object]:
    """Return a step of ours with the priority that the operator, or else the agent, gives it."""
    return in_band.prioritised("clean", {**own, "priority": offered["priority"]})
