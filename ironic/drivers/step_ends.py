"""What a sign of life of an agent may mean for the step that a node waits in, as values.

A deploy interface that talks to an agent answers a heartbeat with one of these, or with None when nothing has come to
an end. Whoever runs the steps acts on it.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class StepDone:
    """The step is finished; ``reboot`` when the machine must be restarted before the next one begins.

    ``result`` is what the agent says came of it, if ``has_result``; it may be anything, None as well.
    """

    reboot: bool = False
    has_result: bool = False
    result: Any = None


@dataclass(frozen=True, slots=True)
class StepFailed:
    """The step failed, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class AgentArrived:
    """The step was to bring an agent up, and here it is, with steps of its own that may belong into the plan."""


@dataclass(frozen=True, slots=True)
class StepsChanged:
    """The agent is not the one whose steps are planned: its hardware managers are others now."""


StepEnd = StepDone | StepFailed | AgentArrived | StepsChanged
