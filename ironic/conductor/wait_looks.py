"""The looks at what nodes wait for: a node that waits holds neither lock nor worker, and is looked at when it is time.

One indexed query finds the nodes whose next look is due. The look is put off first, so that one conductor looks, then
the interface that is asked looks without a lock; it takes the lock only to act. What the conductor waits for itself is
here: a pause of a flow, and a machine that shuts down. Any conductor goes on where another one has ended.
"""

import logging
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Final

from ironic.conductor import node_events, power
from ironic.conductor.flows import engine, wait_ends
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.locking import LockMode
from ironic.conductor.party_rounds import PartyRounds
from ironic.conductor.periodic_tasks import PeriodicTask
from ironic.conductor.power import AwaitedShutdown
from ironic.conductor.tasks import TaskFactory, TaskManager
from ironic.core.context import service_context
from ironic.core.errors import IronicError, NodeLocked, NodeNotFound, NoFreeConductorWorker
from ironic.core.flows import node_waits, states
from ironic.core.flows.node_waits import Follows, NodeWait, decoded
from ironic.core.projects.fair_shares import party_of
from ironic.drivers.contract import waits
from ironic.drivers.contract.interfaces import BaseInterface
from ironic.drivers.contract.waits import SOON
from ironic.rpc.hash_ring import HashRingManager

LOG = logging.getLogger(__name__)

_SECONDS: Final = 1.0
_AFTER_FAILURE: Final = 60.0
_PURPOSE: Final = "looking at what a node waits for"

Look = Callable[[TaskManager, NodeWait], object]


def jobs(tasks: TaskFactory, hash_ring: HashRingManager) -> tuple[PeriodicTask, ...]:
    """Return the periodic tasks that look; those of hardware, which may take long, keep no pause waiting."""
    return (
        PeriodicTask("waits for hardware", _SECONDS, WaitLooks(tasks, hash_ring, of_conductor=False)),
        PeriodicTask("pauses and shutdowns", _SECONDS, WaitLooks(tasks, hash_ring, of_conductor=True)),
    )


class WaitLooks:
    """The periodic task that looks at what is due: what the conductor waits for itself, or what interfaces do."""

    def __init__(self, tasks: TaskFactory, hash_ring: HashRingManager, *, of_conductor: bool) -> None:
        self._tasks, self._hash_ring, self._of_conductor = tasks, hash_ring, of_conductor
        self._rounds = PartyRounds(tasks, _PURPOSE, lambda uuids: list(map(self._visit, uuids)))

    def __call__(self) -> None:
        """Look once at each node of this conductor for which it is time."""
        self._rounds.visit(
            (node.uuid, party_of(node.owner, node.lessee))
            for node in self._tasks.store.node_waits.due(of_conductor=self._of_conductor)
            if self._hash_ring.is_mine(self._tasks.host, node.uuid, node.driver, node.conductor_group)
        )

    def _visit(self, uuid: str) -> None:
        try:
            with self._tasks.acquire(service_context(), uuid, LockMode.PERIODIC_SHARED, purpose=_PURPOSE) as task:
                for wait in self._tasks.store.node_waits.of(task.node.id):
                    is_mine = (wait.interface is None) is self._of_conductor
                    if is_mine and wait.next_look <= task.node.now() and task.shared:
                        self._look(task, wait)
        except (NodeLocked, NodeNotFound, NoFreeConductorWorker) as error:
            LOG.debug("Node %s is looked at later: %s", uuid, error)
        except Exception:
            LOG.exception("Node %s: looking at what it waits for failed; it is looked at again in a minute", uuid)
            store = self._tasks.store
            store.node_waits.put_off(uuid, store.clock.now() + timedelta(seconds=_AFTER_FAILURE))

    def _look(self, task: TaskManager, wait: NodeWait) -> None:
        """Look at one wait, unless another conductor does."""
        look, interval = _look_of(task, wait)
        now, node_id = task.node.now(), task.node.id
        is_request = wait.follows is Follows.REQUEST
        if task.node.maintenance and not is_request:
            return
        if not self._tasks.store.node_waits.claim(node_id, wait, waits.after_look(wait, now, interval)):
            return
        if not is_request and wait.run != node_waits.run_of(task.node):
            task.upgrade_lock("forgetting a wait that is over", retry=False)
            if wait.is_same(waits.of(task, wait.kind)) and wait.run != node_waits.run_of(task.node):
                node_waits.end(task.node, wait.kind)
                task.node.save()
        elif look is not None and interval:
            wait_ends.end_look(task, look(task, wait), wait.follows)


def _look_of(task: TaskManager, wait: NodeWait) -> tuple[Look | None, float]:
    """Return what looks at a wait, None if this conductor has nothing that does, and at most how often in seconds."""
    if wait.interface is None:
        return _OWN.get(wait.kind), SOON
    interface: BaseInterface | None = getattr(task.driver, wait.interface, None)
    if interface is None or wait.kind not in interface.looks:
        return None, SOON
    name, terms = interface.looks[wait.kind]
    return getattr(interface, name), terms.interval()


def _end_pause(task: TaskManager, wait: NodeWait) -> None:
    """Resume a flow whose pause is over."""
    task.upgrade_lock("resuming after a pause", retry=False)
    if wait.is_same(waits.of(task, wait.kind)):
        wait_ends.continue_flow(task)


def _look_at_shutdown(task: TaskManager, wait: NodeWait) -> None:
    """End the change if the machine is off, or if its time is over; a BMC that does not answer is asked again."""
    try:
        is_off = task.power.get_power_state(task) == states.POWER_OFF
    except IronicError as error:
        LOG.info("Node %s: whether it has shut down can't be read: %s", task.node.uuid, error)
        is_off = False
    if is_off or wait.until is None or task.node.now() >= wait.until:
        task.upgrade_lock("ending a soft power change", retry=False)
        if not wait.is_same(waits.of(task, wait.kind)):
            return
        if task.node.target_power_state is None:
            node_waits.end(task.node, wait.kind)  # the change was given up
            task.node.save()
        else:
            target = decoded(AwaitedShutdown, wait.memory).target
            task.spawn_after(partial(_end_shutdown, task, target, is_off=is_off))


def _end_shutdown(task: TaskManager, target: str, *, is_off: bool) -> None:
    answer = attempt(task, power.end_shutdown, target, is_off)
    if isinstance(answer, Failed):
        power.set_error(task.node, power.failure_text(task.node.uuid, target, answer.reason))
    node_events.power_was_set(task, target, has_failed=isinstance(answer, Failed))
    task.save_and_release()


_OWN: Final[Mapping[str, Look]] = {engine.PAUSE: _end_pause, power.SHUTDOWN: _look_at_shutdown}
