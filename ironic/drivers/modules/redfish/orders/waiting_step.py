"""Steps that continue in a BMC while the node waits and no worker is held.

A step gives its orders, restarts the machine and calls `begin`. From then on its interface looks at the BMC
(`drivers/contract/waits.py`), without a lock, and takes the lock only when there is something to do. What the step
remembers is stored with its wait, so any conductor can continue it. With an agent the step ends after the first
heartbeat that follows the restart: the next step may need the agent.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Generic, TypeVar

from ironic.conf import CONF
from ironic.core.errors import IronicError, TakenOver
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.flows import node_waits, states
from ironic.core.flows.flow import Flow, in_state
from ironic.core.flows.node_waits import Follows, NodeWait, decoded
from ironic.core.flows.step_cursor import StepCursor
from ironic.core.memory.agent_memory import AgentMemory, KnownAgent
from ironic.drivers.contract import awaited_setting, waits
from ironic.drivers.contract.step_declarations import StepDone, StepFailed, Suspended
from ironic.drivers.contract.task import Node, Task, Waiter
from ironic.drivers.contract.waits import Ended
from ironic.drivers.modules.agent import ramdisk_boot

LOG = logging.getLogger(__name__)

# Shorter than any time-out of a wait that makes sense, and long enough to write seldom.
_TOUCH_AFTER: Final = timedelta(minutes=5)
# What is awaited until the step says it.
_ORDERS: Final = "the BMC to take its orders"


@dataclass(frozen=True, slots=True, kw_only=True)
class AtBmc:
    """What every such step remembers: its restart of the machine, and whether that boots an agent.

    ``agent_later``: the machine has restarted for a setting of its firmware, so the agent is booted once the BMC has
    done its work.
    """

    restarted_at: datetime | None = None
    with_agent: bool = False
    agent_later: bool = False

    @property
    def boots_agent(self) -> bool:
        """Whether the machine was restarted into an agent, whose heartbeat shows that it has started."""
        return self.with_agent and not self.agent_later

    def seconds_since_restart(self, now: datetime) -> float:
        """Return how long ago the machine was restarted; ``now`` is UTC without time zone."""
        return (now - self.restarted_at).total_seconds() if self.restarted_at else 0.0

    def has_booted(self, node: Node) -> bool:
        """Return whether an agent has sent a heartbeat since the restart; True where none runs, or is booted later."""
        if not self.boots_agent:
            return True
        came, since = KnownAgent(node.driver_internal_info).last_heartbeat, self.restarted_at
        return bool(since and came and came > since and AgentMemory(node).is_known)


M = TypeVar("M", bound=AtBmc)
Verdict = Ended | Callable[[Task, M], Ended | None] | None


@dataclass(frozen=True, slots=True)
class BmcStep(Generic[M]):
    """One kind of such steps: the kind of its wait, the interface that looks, and what it remembers."""

    kind: str
    interface: str
    memory: type[M]

    def restart(self, task: Task, memory: M) -> M:
        """Restart the machine, into the agent's ramdisk if an agent runs on it; save the node, and return when."""
        with_agent = memory.with_agent or AgentMemory(task.node).is_known
        memory = self.remember(task, replace(memory, with_agent=with_agent, restarted_at=task.clock.now()))
        if with_agent:
            # A step that has given its orders is not repeated.
            try:
                with waits.waiting(task, Waiter.STEP):
                    task.boot.prepare_ramdisk(task, ramdisk_boot.kernel_parameters())
            except Suspended:
                return self.remember(task, replace(memory, agent_later=True))
        task.change_power(states.REBOOT)
        return memory

    def remember(self, task: Task, memory: M) -> M:
        """Store what a step remembers, and look at once; return it."""
        present = waits.of(task, self.kind)
        if present is None or present.run != node_waits.run_of(task.node):
            limit = _limit(task.node, None) or None
            waits.begin(task, self.kind, _ORDERS, memory, interface=self.interface, seconds=limit, follows=Follows.FLOW)
        else:
            node_waits.put(task.node, node_waits.remembering(present, memory, task.node.now()))
        task.node.save()
        return memory

    def begin(self, task: Task, what: str, seconds: float | None = None) -> str:
        """Let the node wait for the BMC; return the waiting state of its flow. Heartbeats do not end the wait.

        ``what`` is what it waits for, in words, and ``seconds`` how long, by default as long as its flow lets it.
        """
        flow = _flow_of(task.node)
        self.announce(task, what, seconds)
        replace(StepCursor.of(task.node, flow), is_polled=True).put(task.node)
        task.node.save()
        assert flow.waiting is not None, "flows with steps have a waiting state"
        return flow.waiting

    def announce(self, task: Task, what: str, seconds: float | None = None) -> None:
        """Say what the step waits for, and for how long; the caller saves the node."""
        present = waits.of(task, self.kind)
        assert present is not None, "a step remembers something before it waits"
        until = None if not (limit := _limit(task.node, seconds)) else task.node.now() + timedelta(seconds=limit)
        node_waits.put(task.node, replace(present, words=what, until=until))

    def end(self, task: Task) -> None:
        """Forget the wait; stored with the end of the step, which is found again until then."""
        flow = _flow_of(task.node)
        replace(StepCursor.of(task.node, flow), is_polled=False).put(task.node)
        node_waits.end(task.node, self.kind)

    def is_under_way(self, node: Node) -> bool:
        """Return whether a node is in such a step."""
        return node_waits.is_open(node, self.kind)

    def look(
        self, task: Any, wait: NodeWait, judge: Callable[[Task, M], Verdict[M]], *, has_own_end: bool = False
    ) -> Ended | None:
        """Return how the step of a node has ended; None while it goes on.

        ``judge`` reads the BMC without a lock. It returns None to look again, the end of the step, or a function that
        gives further orders with the node locked. A BMC that does not answer, as it restarts, is looked at again. The
        wait of a step that has an end of its own does not time out while the BMC answers.
        """
        memory = decoded(self.memory, wait.memory)
        try:
            verdict = judge(task, memory)
        except RedfishError as error:
            LOG.info("Node %s: its step continues in the BMC, which gave no answer: %s", task.node.uuid, error)
            return None
        if verdict is None:
            if has_own_end and task.clock.now() - task.node.provision_updated_at > _TOUCH_AFTER:
                task.upgrade_lock("prolonging the wait for a BMC", retry=False)
                if wait.is_same(waits.of(task, self.kind)):
                    task.node.provision_updated_at = task.clock.now()
                    task.node.save()
            return None
        task.upgrade_lock("continuing a step at the BMC", retry=False)
        if not wait.is_same(waits.of(task, self.kind)) or not in_state(task.node.provision_state):
            return None  # another conductor or a user was faster
        if isinstance(verdict, StepDone | StepFailed):
            ended: Ended | None = verdict
        else:
            try:
                ended = verdict(task, memory)
            except IronicError as error:
                ended = StepFailed(str(error))
        if isinstance(ended, StepDone) and memory.agent_later:
            ended = self._boot_agent(task, memory)
        if ended is not None:
            self.end(task)
        return ended

    def _boot_agent(self, task: Task, memory: M) -> Ended | None:
        """Boot the agent at the end of a step, once the setting is as it should be for which it was not booted."""
        if awaited_setting.is_awaited(task.node):
            return None
        try:
            # If this conductor ends meanwhile, another boots it again.
            memory = self.restart(task, memory)
        except IronicError as error:
            return StepFailed(f"the agent could not be booted again: {error}")
        if not awaited_setting.is_awaited(task.node):
            self.remember(task, replace(memory, agent_later=False))
        return None


def record(task: Task, what: str, store: Callable[[Task], None]) -> None:
    """Store what the BMC shows after a step; a failure is only logged, as the step has ended."""
    try:
        store(task)
    except TakenOver:
        raise
    except Exception as error:
        LOG.warning("Node %s: %s not stored after a step: %s", task.node.uuid, what, error)


def _limit(node: Node, seconds: float | None) -> float:
    wait = _flow_of(node).wait
    limit: float = CONF.conductor[wait.option] if seconds is None and wait is not None else seconds or 0
    return limit


def _flow_of(node: Node) -> Flow:
    flow = in_state(node.provision_state)
    assert flow is not None, "steps run in flows"
    return flow
