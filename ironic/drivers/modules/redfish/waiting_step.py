"""Steps that continue in a BMC while the node waits and no worker is held.

A step gives its orders, restarts the machine and calls `begin`. From then on a periodic method of its interface looks
at the BMC through `look`, without a lock, and takes the lock only when there is something to do. What the step
remembers is in driver_internal_info, so any conductor can continue it. With an agent the step ends after the first
heartbeat that follows the restart: the next step may need the agent.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from ironic.conf import CONF
from ironic.core import states
from ironic.core.agent_memory import AgentMemory, KnownAgent
from ironic.core.errors import IronicError, TakenOver
from ironic.core.flow import FLOWS, Flow, in_state
from ironic.core.hardware_errors import RedfishError
from ironic.core.step_cursor import StepCursor
from ironic.core.values import utc_now
from ironic.drivers import awaited_event, awaited_setting
from ironic.drivers.modules.agent import ramdisk_boot
from ironic.drivers.step_declarations import SettingAwaited, StepDone, StepFailed
from ironic.drivers.task import Node, Task

LOG = logging.getLogger(__name__)

# The filters of a periodic method that looks at such nodes.
WAITING: Final = {
    "reserved": False,
    "maintenance": False,
    "provision_state_in": [flow.waiting for flow in FLOWS if flow.has_steps and flow.waiting],
}

_RESTARTED: Final = "restarted_at"
_AGENT: Final = "with_agent"
# The machine has restarted for a setting of its firmware, so the agent is booted once the BMC has done its work.
_AGENT_LATER: Final = "agent_later"
# Seconds until the second look at what a BMC does.
_SOON: Final = 5.0
# So many looks are known at most; without theirs, others are looked at once more.
_MOST_LOOKS: Final = 10_000
# What a step remembers from one order to the next.
CARRIED: Final = (_RESTARTED, _AGENT, _AGENT_LATER)
_RUN: Final = "step_began"
# Shorter than any time-out of a wait that makes sense, and long enough to write seldom.
_TOUCH_AFTER: Final = timedelta(minutes=5)

Memory = dict[str, Any]


def restart(task: Task, key: str, memory: Memory) -> None:
    """Restart the machine, into the agent's ramdisk if an agent runs on it; remember when, and save the node."""
    with_agent = memory.get(_AGENT) or AgentMemory(task.node).is_known
    memory = {**memory, _AGENT: with_agent, _RESTARTED: utc_now().isoformat()}
    remember(task, key, memory)
    if with_agent:
        try:
            # A step that has given its orders is not repeated.
            with awaited_setting.suspendable_by_step():
                task.boot.prepare_ramdisk(task, ramdisk_boot.kernel_parameters())
        except SettingAwaited:
            remember(task, key, {**memory, _AGENT_LATER: True})
            return
    task.change_power(states.REBOOT)


def remember(task: Task, key: str, memory: Memory) -> None:
    """Store what a step remembers, and which run of the step it belongs to."""
    task.node.set_driver_internal_info(key, {**memory, _RUN: _run_of(task.node)})
    task.node.save()


def begin(task: Task, what: str, seconds: float | None = None) -> str:
    """Let the node wait for the BMC; return the waiting state of its flow. Heartbeats do not end the wait.

    ``what`` is what it waits for, in words, and ``seconds`` how long, by default as long as its flow lets it.
    """
    flow = _flow_of(task.node)
    announce(task, what, seconds)
    replace(StepCursor.of(task.node, flow), is_polled=True).put(task.node)
    task.node.save()
    assert flow.waiting is not None, "flows with steps have a waiting state"
    return flow.waiting


def announce(task: Task, what: str, seconds: float | None = None) -> None:
    """Put on the node what it waits for; the caller saves the node."""
    wait = _flow_of(task.node).wait
    limit = CONF.conductor[wait.option] if seconds is None and wait is not None else seconds
    awaited_event.announce(task.node, what, limit)


def end(task: Task, key: str) -> None:
    """Forget what the step remembered; stored with the end of the step, which is found again until then."""
    flow = _flow_of(task.node)
    replace(StepCursor.of(task.node, flow), is_polled=False).put(task.node)
    task.node.del_driver_internal_info(key)
    awaited_event.forget(task.node)


def record(task: Task, what: str, store: Callable[[Task], None]) -> None:
    """Store what the BMC shows after a step; a failure is only logged, as the step has ended."""
    try:
        store(task)
    except TakenOver:
        raise
    except Exception as error:
        LOG.warning("Node %s: %s not stored after a step: %s", task.node.uuid, what, error)


def is_under_way(node: Node, key: str) -> bool:
    """Return whether the step that the node is in remembers something under a key."""
    memory = node.driver_internal_info.get(key) or {}
    return _RUN in memory and in_state(node.provision_state) is not None and memory[_RUN] == _run_of(node)


def boots_agent(memory: Memory) -> bool:
    """Return whether the machine was restarted into an agent, whose heartbeat shows that it has started."""
    return bool(memory.get(_AGENT) and not memory.get(_AGENT_LATER))


def has_booted(node: Node, memory: Memory) -> bool:
    """Return whether an agent has sent a heartbeat since the restart; True where none runs, or is booted later."""
    if not boots_agent(memory):
        return True
    came, since = KnownAgent(node.driver_internal_info).last_heartbeat, memory.get(_RESTARTED)
    return bool(since and came and came > datetime.fromisoformat(since) and AgentMemory(node).is_known)


def seconds_since_restart(memory: Memory) -> float:
    """Return how long ago the machine was restarted."""
    since = memory.get(_RESTARTED)
    return (utc_now() - datetime.fromisoformat(since)).total_seconds() if since else 0.0


Ended = StepDone | StepFailed
Verdict = Ended | Callable[[Task, Memory], Ended | None] | None


def look(task: Any, key: str, judge: Callable[[Task, Memory], Verdict], *, has_own_end: bool = False) -> Ended | None:
    """Return how the step of a node has ended; None while it goes on.

    ``judge`` reads the BMC without a lock. It returns None to look again, the end of the step, or a function that gives
    further orders with the node locked. A BMC that does not answer, as it restarts, is looked at again. The wait of a
    step that has an end of its own does not time out while the BMC answers.
    """
    memory = task.node.driver_internal_info[key]
    if memory.get(_RUN) != _run_of(task.node):
        _forget(task, key)
        return None
    try:
        verdict = judge(task, memory)
    except RedfishError as error:
        LOG.info("Node %s: its step continues in the BMC, which gave no answer: %s", task.node.uuid, error)
        return None
    if verdict is None:
        if has_own_end and utc_now() - task.node.provision_updated_at > _TOUCH_AFTER:
            task.upgrade_lock("prolonging the wait for a BMC", retry=False)
            task.node.provision_updated_at = utc_now()
            task.node.save()
        return None
    task.upgrade_lock("continuing a step at the BMC", retry=False)
    if task.node.driver_internal_info.get(key) != memory or not in_state(task.node.provision_state):
        return None  # another conductor or a user was faster
    if isinstance(verdict, StepDone | StepFailed):
        ended: Ended | None = verdict
    else:
        try:
            ended = verdict(task, memory)
        except IronicError as error:
            ended = StepFailed(str(error))
    if isinstance(ended, StepDone) and memory.get(_AGENT_LATER):
        ended = _boot_agent(task, key, memory)
    if ended is not None:
        end(task, key)
    return ended


def _boot_agent(task: Task, key: str, memory: Memory) -> Ended | None:
    """Boot the agent at the end of a step, once the setting is as it should be for which it was not booted before."""
    if awaited_setting.is_awaited(task.node):
        return None
    try:
        # If this conductor ends meanwhile, another boots it again.
        restart(task, key, memory)
    except IronicError as error:
        return StepFailed(f"the agent could not be booted again: {error}")
    if not awaited_setting.is_awaited(task.node):
        kept = {name: value for name, value in task.node.driver_internal_info[key].items() if name != _AGENT_LATER}
        remember(task, key, kept)
    return None


def _forget(task: Any, key: str) -> None:
    """Forget what a step has left behind that was aborted or ran out of time."""
    task.upgrade_lock("forgetting a step that is over", retry=False)
    memory = task.node.driver_internal_info.get(key)
    if memory is not None and memory.get(_RUN) != _run_of(task.node):
        task.node.del_driver_internal_info(key)
        task.node.save()


def _run_of(node: Node) -> str | None:
    """Return when the step that the node is in has begun, if it polls."""
    flow = in_state(node.provision_state)
    began = StepCursor.of(node, flow).began if flow is not None else None
    return None if began is None else began.isoformat()


@dataclass(slots=True)
class _Looks:
    """When this conductor has looked for what is remembered, by a clock that only goes on."""

    memory: object
    first: float
    last: float


_looks: Final[dict[tuple[str, str], _Looks]] = {}


def spacing(interval: int) -> float:
    """Return how often a periodic method has to run that looks at nodes at most every ``interval`` seconds."""
    return min(_SOON, float(interval))


def waiting_for(key: str) -> dict[str, Any]:
    """Return the filters of a periodic method that looks at nodes whose step waits under a key."""
    return {**WAITING, "remembers": key}


def is_due(
    key: str, interval: Callable[[], int], clock: Callable[[], float] = time.monotonic
) -> Callable[[Node], bool]:
    """Return whether it is time to look at what waits under a key, as a predicate of nodes.

    Most BMCs are done in seconds, some after many minutes. So the time from look to look grows with the time since the
    first one, up to the interval: at 0, 5, 10, 20, 40 seconds and so on. Something else to wait for begins anew.
    """

    def is_due_now(node: Node) -> bool:
        memory, now = node.driver_internal_info.get(key), clock()
        if not memory:
            return False
        looks = _looks.get((node.uuid, key))
        if looks is None or looks.memory != memory:
            if len(_looks) >= _MOST_LOOKS:
                _looks.clear()
            _looks[node.uuid, key] = _Looks(memory, now, now)
            return True
        # The method runs at multiples of its spacing, more or less.
        if now - looks.last < min(interval(), max(_SOON, looks.last - looks.first)) - _SOON / 2:
            return False
        looks.last = now
        return True

    return is_due_now


def _flow_of(node: Node) -> Flow:
    flow = in_state(node.provision_state)
    assert flow is not None, "steps run in flows"
    return flow
