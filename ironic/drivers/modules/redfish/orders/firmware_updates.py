"""Updates of firmware, one after another, through the BMC's update service.

Between two looks of a periodic method nothing is held; what is next is stored before it is done, so that another
conductor can go on:

    fetching  images that the BMC does not fetch itself are fetched, before the first order is sent
    sending   the order is being sent
    task      the BMC works on the update; all but the BMC's own need a restart of the machine for that
    restart   the machine is being restarted
    pause     the component needs time, as a BMC that restarts does
    settle    the BMC must answer again before the next update, or the end
"""

import logging
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from ironic.conf import CONF
from ironic.core.flows import node_waits
from ironic.core.flows.node_waits import NodeWait
from ironic.drivers.contract.step_declarations import StepDone, StepFailed
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.contract.waits import Ended
from ironic.drivers.modules.redfish.orders import firmware_images, update_progress
from ironic.drivers.modules.redfish.orders.bmc_tasks import monitor_of, read_task
from ironic.drivers.modules.redfish.orders.firmware_images import Update
from ironic.drivers.modules.redfish.orders.restarts import check_restart
from ironic.drivers.modules.redfish.orders.update_progress import UpdatesLeft, name_of, seconds_since
from ironic.drivers.modules.redfish.orders.waiting_step import BmcStep, Verdict
from ironic.drivers.modules.redfish.tree.certainty import certain_target
from ironic.drivers.modules.redfish.tree.flashed_versions import BMC, versions_of
from ironic.drivers.modules.redfish.tree.members import whole_systems
from ironic.drivers.modules.redfish.tree.task_ends import End
from ironic.drivers.modules.redfish.wire.bmc_connection import change, read
from ironic.drivers.modules.redfish.wire.bmc_failures import UnusableAnswer
from ironic.drivers.modules.redfish.wire.bmc_system import System, connector_of

if TYPE_CHECKING:
    from ironic.db import Store

LOG = logging.getLogger(__name__)

SIMPLE_UPDATE: Final = "UpdateService.SimpleUpdate"


class FirmwareUpdates(BmcStep[UpdatesLeft]):
    """The updates of one kind of step."""

    def update(self, task: Task, updates: list[Update]) -> str:
        """Begin with checked updates (``component``, ``url``); return the state in which the node waits."""
        for update in updates:
            firmware_images.check(task.node, update)
        if any(update.get("component") != BMC for update in updates):
            check_restart(task, f"updating the firmware of {', '.join(map(name_of, updates))}")
        left = self.remember(task, UpdatesLeft(updates=updates, began_at=task.clock.now()))
        try:
            for update in updates:
                firmware_images.stage(task.node, update)
            self._send_next(task, left)
        except Exception:
            firmware_images.withdraw(task.node.uuid, updates)
            node_waits.end(task.node, self.kind)
            task.node.save()
            raise
        return self.begin(task, _awaited(updates[0]), CONF.redfish.firmware_update_overall_timeout)

    def watch(self, task: Any, wait: NodeWait) -> Ended | None:
        """Continue the updates of a node that waits; return how they have ended."""
        ended = self.look(task, wait, self._judge, has_own_end=True)
        if ended is not None:
            firmware_images.withdraw(task.node.uuid, wait.memory["updates"])
        return ended

    def _send_next(self, task: Task, left: UpdatesLeft) -> None:
        """Order the first of the remaining updates, and store which task the BMC does it in."""
        update = left.updates[0]
        url = firmware_images.url_for_bmc(task.node, update)
        kept = UpdatesLeft(
            updates=left.updates,
            began_at=left.began_at,
            versions=read(task, "reading the firmware versions before an update", versions_of, anew=True),
            restarted_at=left.restarted_at,
            with_agent=left.with_agent,
            agent_later=left.agent_later,
        )
        self.remember(task, replace(kept, phase="sending"))
        uri = change(task, f"updating the firmware of {name_of(update)}", lambda system: _order(system, url))
        LOG.info("Node %s: the firmware of %s is being updated", task.node.uuid, name_of(update))
        if kept.began_at:
            seconds = CONF.redfish.firmware_update_overall_timeout
            self.announce(task, _awaited(update), seconds and max(1.0, seconds - seconds_since(task, kept.began_at)))
        self.remember(task, replace(kept, phase="task", task=uri, sent_at=task.clock.now()))

    def _judge(self, task: Task, left: UpdatesLeft) -> Verdict[UpdatesLeft]:
        """Return what is next; reads the BMC only."""
        limit = CONF.redfish.firmware_update_overall_timeout
        if limit and seconds_since(task, left.began_at) > limit:
            name = name_of(left.updates[0])
            return StepFailed(f"the firmware updates took longer than {limit} seconds; {name} was under way")
        phases = {
            "fetching": self._judge_fetching,
            "sending": self._judge_sending,
            "task": self._judge_task,
            "restart": self._judge_restart,
            "pause": self._judge_pause,
            "settle": self._judge_settle,
        }
        return phases[left.phase](task, left)

    def _judge_fetching(self, task: Task, left: UpdatesLeft) -> Verdict[UpdatesLeft]:
        """Go on where a conductor ended before it has sent an order."""
        return self._send_next

    def _judge_sending(self, task: Task, left: UpdatesLeft) -> Verdict[UpdatesLeft]:
        """Fail: a conductor ended as it sent the order, which must not be sent twice."""
        return StepFailed(
            f"the conductor ended while it ordered the update of {name_of(left.updates[0])}; whether the BMC has "
            "begun it is not known"
        )

    def _judge_task(self, task: Task, left: UpdatesLeft) -> Verdict[UpdatesLeft]:
        update, monitor = left.updates[0], left.task
        assert monitor is not None, "the phase begins with the answer to an order"
        state = read(task, "watching a firmware update", lambda system: read_task(system, monitor), anew=True)
        is_restarted = left.restarted_for == monitor
        wants_restart = not is_restarted and update_progress.wants_restart(task, state, left)
        # A task that says nothing may have done its work, which versions show; but no machine is restarted for that.
        is_unsaid = state.end is End.UNSAID and not state.word and not wants_restart
        if state.is_over and not state.is_good and not is_unsaid:
            return StepFailed(f"updating {name_of(update)} from {update['url']} failed: {state.text}")
        if wants_restart:
            return self._restart
        if not state.is_over:
            return None
        seconds = update.get("wait")
        if seconds is None and update.get("component") == BMC:
            seconds = CONF.redfish.firmware_update_reboot_delay
        ended = replace(left, unsaid=state.text) if is_unsaid else left
        if not seconds:
            return lambda task, _: self._settle(task, ended)
        until = task.clock.now() + timedelta(seconds=seconds)
        return lambda task, _: self._enter(task, replace(ended, phase="pause", until=until))

    def _restart(self, task: Task, left: UpdatesLeft) -> None:
        """Restart the machine for an update; it is stored before, so that the restart is not lost."""
        self._after_restart(task, self.restart(task, replace(left, phase="restart")))

    def _after_restart(self, task: Task, left: UpdatesLeft) -> None:
        self._enter(task, replace(left, phase="task", restarted_for=left.task))

    def _judge_restart(self, task: Task, left: UpdatesLeft) -> Verdict[UpdatesLeft]:
        """Find out whether a conductor that died has restarted the machine: a second restart may harm an update."""
        return self._after_restart if update_progress.was_restarted(task, left) else self._restart

    def _judge_pause(self, task: Task, left: UpdatesLeft) -> Verdict[UpdatesLeft]:
        if left.until is not None and task.clock.now() < left.until:
            return None
        return self._settle

    def _settle(self, task: Task, left: UpdatesLeft) -> None:
        """Enter the phase in which the BMC, which may restart, has to answer steadily."""
        self._enter(task, replace(left, phase="settle", settles_since=task.clock.now(), answers=0))

    def _judge_settle(self, task: Task, left: UpdatesLeft) -> Verdict[UpdatesLeft]:
        options = CONF.redfish
        limit, answers = options.firmware_update_resource_validation_timeout, left.answers
        if limit and answers < options.firmware_update_required_successes:
            if answers and seconds_since(task, left.answered_at) < options.firmware_update_validation_interval:
                return None
            if update_progress.bmc_answers(task):
                answered = replace(left, answers=answers + 1, answered_at=task.clock.now())
                return lambda task, _: self._enter(task, answered)
            if seconds_since(task, left.settles_since) > limit:
                return StepFailed(f"the BMC did not answer steadily within {limit} seconds after a firmware update")
            return (lambda task, _: self._enter(task, replace(left, answers=0))) if answers else None
        if left.unsaid is not None and not update_progress.was_flashed(task, left):
            if limit and seconds_since(task, left.settles_since) <= limit:
                return None
            name = name_of(left.updates[0])
            return StepFailed(
                f"updating {name} may have failed: {left.unsaid}, and the BMC shows no other version than before; "
                "look at the version that it should have"
            )
        if len(left.updates) > 1:
            return lambda task, _: self._send_next(task, replace(left, updates=left.updates[1:]))
        is_ready = left.restarted_at is None or left.has_booted(task.node)
        return StepDone() if is_ready else None

    def _enter(self, task: Task, left: UpdatesLeft) -> None:
        self.remember(task, left)


# Of the firmware interface, and of the older step of the management interface.
UPDATES: Final = FirmwareUpdates("redfish_fw_updates", "firmware", UpdatesLeft)
UNNAMED_UPDATES: Final = FirmwareUpdates("firmware_updates", "management", UpdatesLeft)
_ALL: Final = (UPDATES, UNNAMED_UPDATES)


def are_under_way(node: Node) -> bool:
    """Return whether firmware of a node is updated: what a step has left behind that was aborted is no update."""
    return any(kind.is_under_way(node) for kind in _ALL)


def remove_leftovers(store: "Store") -> None:
    """Remove the images on this host that no update needs any more."""
    firmware_images.remove_leftovers(store, are_under_way)


def _order(system: System, url: str) -> str:
    """Order an update; return the monitor of the BMC's task."""
    service = system.root.get_update_service()
    target = certain_target(service, SIMPLE_UPDATE)
    order: dict[str, Any] = {"ImageURI": url, "TransferProtocol": urlsplit(url).scheme.upper()}
    if len(whole_systems(system)) > 1:
        order["Targets"] = [system.path]
    answer = connector_of(system).post(target, data=order)
    monitor = monitor_of(answer)
    if monitor is None:
        raise UnusableAnswer(
            f"it took the order with status {answer.status_code} and names no task, so the end of the update can't be "
            "seen; look at the BMC whether it goes on"
        )
    return monitor


def _awaited(update: Update) -> str:
    return f"the BMC to update the firmware of {name_of(update)}"
