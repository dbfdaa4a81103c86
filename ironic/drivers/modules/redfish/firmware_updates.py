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
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from sushy import exceptions as sushy_errors

from ironic.conf import CONF
from ironic.core import syntax
from ironic.core.hardware_errors import RedfishError
from ironic.core.values import utc_now
from ironic.drivers.modules.redfish import firmware_images, waiting_step
from ironic.drivers.modules.redfish.bmc_answer import UnusableAnswer
from ironic.drivers.modules.redfish.bmc_connection import System, change, connector_of, read
from ironic.drivers.modules.redfish.bmc_survey import has_link
from ironic.drivers.modules.redfish.bmc_tasks import monitor_of, read_task
from ironic.drivers.modules.redfish.firmware_images import Update
from ironic.drivers.modules.redfish.flashed_versions import has_changed, versions_of
from ironic.drivers.modules.redfish.members import chassis_of, managers_of, whole_systems
from ironic.drivers.modules.redfish.resets import check_restart
from ironic.drivers.modules.redfish.task_ends import BmcTask, End
from ironic.drivers.modules.redfish.waiting_step import Ended, Memory, Verdict
from ironic.drivers.step_declarations import StepDone, StepFailed
from ironic.drivers.task import Node, Task

if TYPE_CHECKING:
    from ironic.db import Store

LOG = logging.getLogger(__name__)

BIOS: Final = "bios"
BMC: Final = "bmc"
NIC: Final = "nic:"

_SIMPLE_UPDATE: Final = "#UpdateService.SimpleUpdate"


@dataclass(frozen=True, slots=True)
class FirmwareUpdates:
    """The updates of one kind of step, which remembers them under a key of driver_internal_info."""

    key: str

    def begin(self, task: Task, updates: list[Update]) -> str:
        """Begin with checked updates (``component``, ``url``); return the state in which the node waits."""
        for update in updates:
            firmware_images.check(task.node, update)
        if any(update.get("component") != BMC for update in updates):
            check_restart(task, f"updating the firmware of {', '.join(map(name_of, updates))}")
        memory: Memory = {"updates": updates, "began_at": utc_now().isoformat(), "phase": "fetching"}
        waiting_step.remember(task, self.key, memory)
        try:
            for update in updates:
                firmware_images.stage(task.node, update)
            self._send_next(task, memory)
        except Exception:
            firmware_images.withdraw(task.node.uuid, updates)
            task.node.del_driver_internal_info(self.key)
            task.node.save()
            raise
        return waiting_step.begin(task, _awaited(updates[0]), CONF.redfish.firmware_update_overall_timeout)

    def watch(self, task: Any) -> Ended | None:
        """Continue the updates of a node that waits; return how they have ended."""
        updates = task.node.driver_internal_info[self.key].get("updates", [])
        ended = waiting_step.look(task, self.key, self._judge, has_own_end=True)
        if ended is not None:
            firmware_images.withdraw(task.node.uuid, updates)
        return ended

    def _send_next(self, task: Task, memory: Memory) -> None:
        """Order the first of the remaining updates, and store which task the BMC does it in."""
        update = memory["updates"][0]
        url = firmware_images.url_for_bmc(task.node, update)
        kept: Memory = {name: memory[name] for name in ("updates", "began_at", *waiting_step.CARRIED) if name in memory}
        kept["versions"] = read(task, "reading the firmware versions before an update", versions_of, anew=True)
        waiting_step.remember(task, self.key, {**kept, "phase": "sending"})
        uri = change(task, f"updating the firmware of {name_of(update)}", lambda system: _order(system, url))
        LOG.info("Node %s: the firmware of %s is being updated", task.node.uuid, name_of(update))
        if "began_at" in kept:
            seconds = CONF.redfish.firmware_update_overall_timeout
            waiting_step.announce(task, _awaited(update), seconds and max(1.0, seconds - _age(kept, "began_at")))
        waiting_step.remember(task, self.key, {**kept, "phase": "task", "task": uri, "sent_at": utc_now().isoformat()})

    def _judge(self, task: Task, memory: Memory) -> Verdict:
        """Return what is next; reads the BMC only."""
        limit = CONF.redfish.firmware_update_overall_timeout
        if limit and _age(memory, "began_at") > limit:
            name = name_of(memory["updates"][0])
            return StepFailed(f"the firmware updates took longer than {limit} seconds; {name} was under way")
        phases = {
            "fetching": self._judge_fetching,
            "sending": self._judge_sending,
            "task": self._judge_task,
            "restart": self._judge_restart,
            "pause": self._judge_pause,
            "settle": self._judge_settle,
        }
        return phases[memory["phase"]](task, memory)

    def _judge_fetching(self, task: Task, memory: Memory) -> Verdict:
        """Go on where a conductor ended before it has sent an order."""
        return self._send_next

    def _judge_sending(self, task: Task, memory: Memory) -> Verdict:
        """Fail: a conductor ended as it sent the order, which must not be sent twice."""
        return StepFailed(
            f"the conductor ended while it ordered the update of {name_of(memory['updates'][0])}; whether the BMC has "
            "begun it is not known"
        )

    def _judge_task(self, task: Task, memory: Memory) -> Verdict:
        update = memory["updates"][0]
        state = read(task, "watching a firmware update", lambda system: read_task(system, memory["task"]), anew=True)
        is_restarted = memory.get("restarted_for") == memory["task"]
        wants_restart = not is_restarted and _wants_restart(update.get("component"), state, memory)
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
        more = {"unsaid": state.text} if is_unsaid else {}
        if not seconds:
            return lambda task, memory: self._settle(task, {**memory, **more})
        until = (utc_now() + timedelta(seconds=seconds)).isoformat()
        return lambda task, memory: self._enter(task, memory, "pause", until=until, **more)

    def _restart(self, task: Task, memory: Memory) -> None:
        """Restart the machine for an update; it is stored before, so that the restart is not lost."""
        waiting_step.restart(task, self.key, {**memory, "phase": "restart"})
        self._after_restart(task, dict(task.node.driver_internal_info[self.key]))

    def _after_restart(self, task: Task, memory: Memory) -> None:
        self._enter(task, {**memory, "restarted_for": memory["task"]}, "task")

    def _judge_restart(self, task: Task, memory: Memory) -> Verdict:
        """Find out whether a conductor that died has restarted the machine: a second restart may harm an update."""

        def is_done(system: System) -> bool:
            state = read_task(system, memory["task"])
            since, last = memory.get("restarted_at") or "", syntax.moment_of(system.json.get("LastResetTime"))
            began = syntax.moment_of(since)
            return state.is_over or state.word == "Running" or bool(began and last and last >= began)

        is_restarted = read(task, "watching a firmware update", is_done, anew=True)
        return self._after_restart if is_restarted else self._restart

    def _judge_pause(self, task: Task, memory: Memory) -> Verdict:
        until = syntax.moment_of(memory.get("until"))
        if until is not None and utc_now() < until:
            return None
        return self._settle

    def _settle(self, task: Task, memory: Memory) -> None:
        """Enter the phase in which the BMC, which may restart, has to answer steadily."""
        self._enter(task, memory, "settle", settles_since=utc_now().isoformat(), answers=0)

    def _judge_settle(self, task: Task, memory: Memory) -> Verdict:
        options = CONF.redfish
        limit, answers = options.firmware_update_resource_validation_timeout, memory.get("answers", 0)
        if limit and answers < options.firmware_update_required_successes:
            if answers and _age(memory, "answered_at") < options.firmware_update_validation_interval:
                return None
            if _answers(task):
                now = utc_now().isoformat()
                return lambda task, memory: self._enter(task, memory, "settle", answers=answers + 1, answered_at=now)
            if _age(memory, "settles_since") > limit:
                return StepFailed(f"the BMC did not answer steadily within {limit} seconds after a firmware update")
            return (lambda task, memory: self._enter(task, memory, "settle", answers=0)) if answers else None
        if "unsaid" in memory and not _was_flashed(task, memory):
            if limit and _age(memory, "settles_since") <= limit:
                return None
            name = name_of(memory["updates"][0])
            return StepFailed(
                f"updating {name} may have failed: {memory['unsaid']}, and the BMC shows no other version than before; "
                "look at the version that it should have"
            )
        if len(memory["updates"]) > 1:
            return lambda task, memory: self._send_next(task, {**memory, "updates": memory["updates"][1:]})
        is_ready = "restarted_at" not in memory or waiting_step.has_booted(task.node, memory)
        return StepDone() if is_ready else None

    def _enter(self, task: Task, memory: Memory, phase: str, **more: object) -> None:
        waiting_step.remember(task, self.key, {**memory, "phase": phase, **more})


# Of the firmware interface, and of the older step of the management interface.
UPDATES: Final = FirmwareUpdates("redfish_fw_updates")
UNNAMED_UPDATES: Final = FirmwareUpdates("firmware_updates")
_ALL: Final = (UPDATES, UNNAMED_UPDATES)


def are_under_way(node: Node) -> bool:
    """Return whether firmware of a node is updated: what a step has left behind that was aborted is no update."""
    return any(waiting_step.is_under_way(node, kind.key) for kind in _ALL)


def remove_leftovers(store: "Store") -> None:
    """Remove the images on this host that no update needs any more."""
    firmware_images.remove_leftovers(store, are_under_way)


def name_of(update: Update) -> str:
    """Return what an update is called in messages."""
    return str(update.get("component") or "the image")


def _order(system: System, url: str) -> str:
    """Order an update; return the monitor of the BMC's task."""
    service = system.root.get_update_service()
    action = service.json["Actions"].get(_SIMPLE_UPDATE)
    if action is None:
        raise sushy_errors.MissingActionError(action=_SIMPLE_UPDATE, resource=service.path)
    order: dict[str, Any] = {"ImageURI": url, "TransferProtocol": urlsplit(url).scheme.upper()}
    if len(whole_systems(system)) > 1:
        order["Targets"] = [system.path]
    answer = connector_of(system).post(action["target"], data=order)
    monitor = monitor_of(answer)
    if monitor is None:
        raise UnusableAnswer(
            f"it took the order with status {answer.status_code} and names no task, so the end of the update can't be "
            "seen; look at the BMC whether it goes on"
        )
    return monitor


def _was_flashed(task: Task, memory: Memory) -> bool:
    """Return whether the component of an update has another version than before it."""
    now = read(task, "reading the firmware versions after an update", versions_of, anew=True)
    return has_changed(memory.get("versions", {}), now, memory["updates"][0].get("component"))


def _awaited(update: Update) -> str:
    return f"the BMC to update the firmware of {name_of(update)}"


def _wants_restart(component: str | None, state: BmcTask, memory: Memory) -> bool:
    """Return whether the machine must be restarted for an update to go on, or to take effect."""
    if component == BMC:
        return False
    if state.is_over or component is None or component == BIOS:
        return True
    # A card that is being written must not lose its power.
    return state.word != "Running" and _age(memory, "sent_at") > CONF.redfish.firmware_update_nic_starting_wait


def _answers(task: Task) -> bool:
    """Return whether the BMC shows system, managers, chassis and network adapters, as far as it has them."""

    def touch(system: System) -> None:
        # A link may be dead for good, but not all.
        if system.json.get("Links", {}).get("ManagedBy") and not managers_of(system):
            raise UnusableAnswer("it shows none of its managers")
        faults: list[sushy_errors.SushyError] = []
        chassis = [one for one in chassis_of(system) if has_link(one, "NetworkAdapters")]
        for one in chassis:
            try:
                _ = one.network_adapters
            except sushy_errors.BadRequestError as error:
                # HPE's has no network adapters while the machine is off.
                LOG.debug("A BMC does not show a resource: %s", error)
            except sushy_errors.HTTPError as error:
                faults.append(error)
        if faults and len(faults) == len(chassis):
            raise faults[0]

    try:
        read(task, "looking whether the BMC answers after a firmware update", touch, anew=True)
    except RedfishError as error:
        LOG.info("Node %s: its BMC is not ready after a firmware update: %s", task.node.uuid, error)
        return False
    return True


def _age(memory: Memory, name: str) -> float:
    moment = syntax.moment_of(memory.get(name))
    return (utc_now() - moment).total_seconds() if moment else 0.0
