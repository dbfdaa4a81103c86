"""How one step is performed: by a driver, or by the engine itself for the reserved ones.

This is the door to third-party drivers: whatever they return or raise becomes an outcome here. A driver's method
says None when it is finished and the flow's wait state when it goes on elsewhere; anything else is a failure.
"""

from typing import Final

from ironic.conductor.flows.outcomes import Done, Failed, Hold, Outcome, Pause, Wait, attempt
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core import states
from ironic.core.flow import Flow
from ironic.core.steps import Step

_POWER: Final = {"power_on": states.POWER_ON, "power_off": states.POWER_OFF, "reboot": states.REBOOT}


def perform(task: Task, flow: Flow, step: Step) -> Outcome:
    """Perform one step and tell how it ended."""
    if step.is_reserved:
        return _by_engine(task, step)
    return judge(flow, attempt(task, _by_driver, flow, step))


def judge(flow: Flow, answer: object) -> Outcome:
    """Turn what a driver answered into an outcome."""
    if answer is None or answer in flow.finished_words:
        return Done()
    if isinstance(answer, Failed):
        return answer
    if answer == flow.waiting:
        return Wait()
    who = f"the {flow.interfaces[0]} interface" if flow.is_one_step else "the step"
    return Failed(f"{who} answered {answer!r}, which means nothing here")


def _by_driver(task: Task, flow: Flow, step: Step) -> object:
    return task.driver.require(step.interface).execute_step(flow.name, task, step.as_dict())


def _by_engine(task: Task, step: Step) -> Outcome:
    if step.step == "hold":
        return Hold()
    if step.step == "wait":
        return _wait(step)
    answer = attempt(task, _power, step)
    return Done() if answer is None else answer


def _power(task: Task, step: Step) -> None:
    task.change_power(_POWER[step.step])


def _wait(step: Step) -> Outcome:
    """Wait for the next sign of life of the agent or, with ``seconds``, for that long."""
    seconds = (step.args or {}).get("seconds")
    if seconds is None:
        return Wait()
    lasts = min(float(seconds), CONF.conductor.max_conductor_wait_step_seconds)
    return Pause(lasts) if lasts else Done()
