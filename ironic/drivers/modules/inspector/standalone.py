"""Inspect interface `inspector`: a standalone ironic-inspector inspects the machine.

The inspector begins at a request. This service boots the ramdisk, as for interface `agent`; where it can't, the
inspector does. The ramdisk posts its report to this service, whose conductor hands it on before it answers, so that no
report which was accepted can be lost; or it posts to the inspector itself.
The inspector sets ports and properties through the bare metal API, so the node waits unlocked; a periodic method asks
for the end, by which any conductor finds the wait again. At the end the data are fetched and stored as an inventory,
and rules of this service run on them. Source: demand S111.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, Final, NoReturn

from ironic.conf import CONF
from ironic.core.errors import (
    HardwareInspectionFailure,
    InvalidParameterValue,
    IronicError,
    NodeLocked,
    TakenOver,
    UnsupportedDriverExtension,
)
from ironic.core.errors.call_errors import ReportNotTaken
from ironic.core.flows import node_waits, states
from ironic.core.flows.node_waits import Follows, NodeWait
from ironic.core.keys.internal_keys import InternalKey
from ironic.drivers.contract import waits
from ironic.drivers.contract.step_declarations import StepDone, StepFailed, Suspended
from ironic.drivers.contract.task import Task
from ironic.drivers.contract.wait_declarations import looks
from ironic.drivers.contract.waits import Ended
from ironic.drivers.modules.inspector import agent
from ironic.drivers.modules.inspector.agent import AgentInspect
from ironic.inspection import bmc_addresses
from ironic.inspection.pipeline import Pipeline
from ironic.inspection.rules import RuleBook, load_built_in
from ironic.integrations.standalone_inspector import Inspector, InspectorFailed

LOG = logging.getLogger(__name__)

# The kind of the wait for an inspector that was asked to begin.
_KIND: Final = "standalone_inspection"
_HANDED_ON: Final = InternalKey(
    "standalone_inspection_reported", bool, "The standalone inspector has the report of the ramdisk."
)
# The inspector may be slow, and each report holds a thread that answers its ramdisk.
_REPORTS_AT_ONCE: Final = 8


class _ReportsUnderWay:
    """The nodes whose reports are being handed on by this process."""

    def __init__(self) -> None:
        self._nodes: set[str] = set()
        self._changing = threading.Lock()

    @contextmanager
    def of(self, node_uuid: str) -> Iterator[None]:
        """Have a report under way; raise NodeLocked for a second one of a node, ReportNotTaken if there are many."""
        with self._changing:
            if node_uuid in self._nodes:
                raise NodeLocked(node=node_uuid, host=CONF.host)
            if len(self._nodes) == _REPORTS_AT_ONCE:
                raise ReportNotTaken(node=node_uuid)
            self._nodes.add(node_uuid)
        try:
            yield
        finally:
            with self._changing:
                self._nodes.remove(node_uuid)


class InspectorInspect(AgentInspect):
    """In-band inspection by a standalone ironic-inspector."""

    reapplies_data = False

    def __init__(self) -> None:
        # The hooks are the inspector's.
        self.pipeline = Pipeline((), RuleBook(load_built_in(CONF.inspection_rules.built_in)))
        self._inspector: Inspector | None = None
        self._reports = _ReportsUnderWay()
        self._silent_until = 0.0  # monotonic

    @property
    def inspector(self) -> Inspector:
        """The client, made at its first use: an implementation that no node uses needs no options."""
        if self._inspector is None:
            self._inspector = Inspector()
        return self._inspector

    def validate(self, task: Task) -> None:
        """Raise InvalidParameterValue without an inspector; raise as `agent` when the ramdisk can't be booted."""
        if not (CONF.inspector.endpoint_override or CONF.inspector.auth_type):
            raise InvalidParameterValue(
                err="No standalone inspector is known: set [inspector]endpoint_override to its URL, or [inspector]"
                "auth_type and the credentials to find it in the catalog of Keystone."
            )
        super().validate(task)

    def inspect_hardware(self, task: Task) -> str:
        """Have the inspector begin, boot the ramdisk unless the inspector does, and return INSPECTWAIT."""
        node = task.node
        others_boot = agent.boots_itself(task)
        by_inspector = not others_boot and agent.obstacle_to_boot(task) is not None
        _HANDED_ON.delete(node)
        what = "the standalone inspector to end its introspection"
        waits.begin(task, _KIND, what, None, interface="inspect", seconds=None, follows=Follows.FLOW)
        self._ask(lambda inspector: inspector.start(node.uuid, manages_boot=by_inspector))
        if by_inspector:
            agent.MANAGED.set(node, False)
            addresses = bmc_addresses.collect(node.driver_info, keys=task.driver.bmc_address_keys)
            bmc_addresses.remember(task.store, node, addresses)
            LOG.info("Node %s: its inspection begins, and the standalone inspector boots it", node.uuid)
            return states.INSPECTWAIT
        try:
            return super().inspect_hardware(task)
        except TakenOver:
            raise
        except Suspended:
            # It begins again after the restart.
            self._abort_quietly(task)
            node_waits.end(node, _KIND)
            raise
        except Exception:
            self._abort_quietly(task)
            raise

    hands_reports_on = True

    def has_report(self, task: Task) -> bool:
        """Return whether the inspector has the report of the ramdisk."""
        return bool(_HANDED_ON.of(task.node))

    def note_report(self, task: Task) -> None:
        """Note that the inspector has the report."""
        _HANDED_ON.set(task.node, True)

    def hand_report_on(
        self, node_uuid: str, inventory: Mapping[str, object], plugin_data: Mapping[str, object]
    ) -> None:
        """Post the report to the inspector, as the ramdisk would have done."""
        with self._reports.of(node_uuid):
            try:
                self.inspector.hand_on({**plugin_data, "inventory": inventory})
            except InspectorFailed as error:
                if not self._has_report(node_uuid):
                    self._refuse(node_uuid, error)
        LOG.info("Node %s: the report of its ramdisk is handed on to the standalone inspector", node_uuid)

    def _has_report(self, node_uuid: str) -> bool:
        """Return whether the inspector has a report although handing one on failed: an earlier post had no answer."""
        try:
            return self.inspector.state(node_uuid).has_report
        except InspectorFailed:
            return False

    def _refuse(self, node_uuid: str, error: InspectorFailed) -> NoReturn:
        """Have the ramdisk post its report again if the inspector is out of order, else fail the inspection."""
        if error.is_silent or (error.answered or 0) >= HTTPStatus.INTERNAL_SERVER_ERROR:
            LOG.warning("Node %s: %s Its ramdisk is asked to post the report again.", node_uuid, error)
            raise ReportNotTaken(node=node_uuid)
        raise _failed(error)

    def continue_inspection(
        self, task: Task, inventory: Mapping[str, Any], plugin_data: dict[str, object] | None = None
    ) -> str | None:
        """Refuse the data of a machine that has just enrolled itself: the inspector was not asked to begin."""
        raise UnsupportedDriverExtension(f"Inspect interface inspector enrolls no machine, such as {task.node.uuid}.")

    def finish_inspection(self, task: Task) -> None:
        """Fetch the data of a finished introspection, store them and run rules on them, then clean up."""
        try:
            self._store_data(task)
        except TakenOver:
            raise
        except Exception:
            self._end_after_failure(task)
            raise
        if self._forget(task):
            agent.end(task)

    def abort(self, task: Task) -> None:
        """Stop waiting, have the inspector abort, and clean up what this service has booted."""
        # With the report the inspector's own wait has ended. An abort would make it switch the machine off later, and
        # that would remove the error from the node.
        if not _HANDED_ON.of(task.node):
            self._abort_quietly(task)
        if self._forget(task):
            super().abort(task)
        else:
            bmc_addresses.forget(task.store, task.node)

    @looks(_KIND, interval=lambda: CONF.inspector.status_check_period)
    def look_at_introspection(self, task: Any, wait: NodeWait) -> Ended | None:
        """Return how the introspection of a node has ended, None while it runs or the inspector does not answer.

        An inspector that does not answer is not asked for other nodes meanwhile.
        """
        if task.clock.monotonic() < self._silent_until:
            return None
        try:
            found = self.inspector.state(task.node.uuid)
        except InspectorFailed as error:
            LOG.warning("Node %s: %s It is asked again.", task.node.uuid, error)
            if error.is_silent:
                self._silent_until = task.clock.monotonic() + CONF.inspector.status_check_period / 2
            return None
        if not found.is_finished:
            return None
        task.upgrade_lock("ending a standalone inspection", retry=False)
        if not wait.is_same(waits.of(task, _KIND)):
            return None
        if found.error:
            _HANDED_ON.set(task.node, True)
            return StepFailed(f"the standalone inspector says: {found.error}")
        return StepDone()

    def _ask(self, act: Callable[[Inspector], None]) -> None:
        try:
            act(self.inspector)
        except InspectorFailed as error:
            raise _failed(error) from None

    def _store_data(self, task: Task) -> None:
        try:
            data = self.inspector.data(task.node.uuid)
        except InspectorFailed as error:
            raise HardwareInspectionFailure(error=error) from None
        if data is None:
            LOG.warning(
                "Node %s: the standalone inspector has stored no data, so there is no inventory. Set option "
                "store_data of its processing.",
                task.node.uuid,
            )
            return
        inventory = data.pop("inventory", None)
        if not isinstance(inventory, dict):
            raise HardwareInspectionFailure(error="the data of the standalone inspector have no inventory")
        self.pipeline.run(task, inventory, data, is_proven=False)

    def _forget(self, task: Task) -> bool:
        """Forget the introspection; return whether the ramdisk was not booted by the inspector."""
        node_waits.end(task.node, _KIND)
        _HANDED_ON.delete(task.node)
        if agent.MANAGED.of(task.node) is not False or agent.boots_itself(task):
            return True
        agent.MANAGED.delete(task.node)
        return False

    def _end_after_failure(self, task: Task) -> None:
        if self._forget(task):
            agent.end_quietly(task)

    def _abort_quietly(self, task: Task) -> None:
        try:
            self.inspector.abort(task.node.uuid)
        except IronicError as error:
            LOG.warning("Node %s: its introspection is not aborted: %s", task.node.uuid, error)


def _failed(error: InspectorFailed) -> HardwareInspectionFailure:
    return HardwareInspectionFailure(error=f"{error} Look at its log, then inspect the node again")
