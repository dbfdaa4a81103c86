"""Reading the power state of many machines: several at once, but gently with each BMC.

Machines behind one BMC address are read one after another with a pause between; the others are spread over as many
workers as the option allows and are free. A stop ends a round between two readings.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from ironic.conductor.tasks import Tasks
from ironic.conf import CONF
from ironic.core.context import service_context
from ironic.core.errors import IronicError, NoFreeConductorWorker
from ironic.core.power_readings import KNOWN
from ironic.inspection.bmc_addresses import hosts

if TYPE_CHECKING:
    from ironic.conductor.task import Task
    from ironic.db import NodeRecord

LOG = logging.getLogger(__name__)

# Gets the task on a node and what ``state_of`` found.
Heard = Callable[["Task", str | None, str], None]

_Group = list["NodeRecord"]


class Readings:
    """Asks machines for their power state and hands on the answers."""

    def __init__(self, tasks: Tasks, purpose: str, heard: Heard) -> None:
        self._tasks, self._purpose, self._heard = tasks, purpose, heard
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Have a round that is under way end after the present readings."""
        self._stopping.set()

    def take(self, nodes: Iterable["NodeRecord"]) -> None:
        """Read all of them; returns when all answers were handed on."""
        groups: SimpleQueue[_Group] = SimpleQueue()
        for group in by_bmc(nodes):
            groups.put(group)
        helpers = self._helpers(groups, min(CONF.conductor.sync_power_state_workers, groups.qsize()) - 1)
        self._drain(groups)
        for done in helpers:
            done.wait()

    def _helpers(self, groups: "SimpleQueue[_Group]", number: int) -> list[threading.Event]:
        """Have some workers help; where none is free, it goes on with fewer."""
        ends: list[threading.Event] = []
        try:
            for _ in range(number):
                place = self._tasks.pool.take(self._purpose, background=True)
                end = threading.Event()
                place.start(self._help, groups, end)
                ends.append(end)
        except NoFreeConductorWorker:
            LOG.info("Only %d workers are free for %s; it takes longer", len(ends) + 1, self._purpose)
        return ends

    def _help(self, groups: "SimpleQueue[_Group]", end: threading.Event) -> None:
        try:
            self._drain(groups)
        finally:
            end.set()

    def _drain(self, groups: "SimpleQueue[_Group]") -> None:
        while not self._stopping.is_set():
            try:
                group = groups.get_nowait()
            except Empty:
                return
            self._read_all(group)

    def _read_all(self, group: _Group) -> None:
        for number, node in enumerate(group):
            if number and self._stopping.wait(CONF.conductor.sync_power_state_bmc_interval):
                return
            try:
                self._read(node)
            except Exception:
                LOG.exception("Node %s: %s failed; its turn comes again", node.uuid, self._purpose)

    def _read(self, node: "NodeRecord") -> None:
        with self._tasks.looking_at(service_context(), node, purpose=self._purpose) as task:
            power = task.driver.power
            if power is not None and power.supports_power_sync(task):
                self._heard(task, *state_of(task))


def state_of(task: "Task") -> tuple[str | None, str]:
    """Return what the machine says and "", or None and why there is no answer; None and "" if it does not tell."""
    try:
        power = task.power
        power.validate(task)
        state = power.get_power_state(task)
    except IronicError as error:
        return None, str(error)
    except Exception as error:
        LOG.exception("Node %s: reading the power state raised an error that nobody expected", task.node.uuid)
        return None, f"unexpected {type(error).__name__}: {error}"
    if state == "error":
        return None, "the BMC reports an error as power state"
    return (state if state in KNOWN else None), ""


def by_bmc(nodes: Iterable["NodeRecord"]) -> list[_Group]:
    """Return the nodes in groups that share a BMC address."""
    groups: dict[str, _Group] = {}
    for node in nodes:
        address = next(iter(hosts(node.driver_info)), node.uuid)
        groups.setdefault(address, []).append(node)
    return list(groups.values())
