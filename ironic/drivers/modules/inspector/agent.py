"""Inspect interface `agent`: boot a ramdisk, wait for what it posts, make something of it.

Booting and power are next door; what becomes of the data is decided by the hooks and rules of `ironic.inspection`,
which are loaded and checked when the conductor starts. The conductor moves the states and stores the node with them.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final

from ironic.conf import CONF
from ironic.core import states
from ironic.core.errors import TakenOver
from ironic.drivers import fast_track
from ironic.drivers.interfaces import InspectInterface
from ironic.drivers.modules.agent import logs, machine
from ironic.drivers.modules.inspector import booting, known_ports
from ironic.drivers.task import Task
from ironic.inspection import bmc_addresses, boot_token
from ironic.inspection.hooks.loading import names_of
from ironic.inspection.pipeline import Pipeline
from ironic.inspection.rules import RuleBook, load

LOG = logging.getLogger(__name__)

_LABEL: Final = "inspection"


class AgentInspect(InspectInterface):
    """In-band inspection."""

    def __init__(self) -> None:
        self.pipeline = Pipeline.load(names_of(CONF.inspector.hooks), RuleBook(load(CONF.inspection_rules.built_in)))

    def get_properties(self) -> dict[str, str]:
        return {}

    def validate(self, task: Task) -> None:
        """Raise when the machine could not be brought to boot the ramdisk."""
        booting.validate(task)

    def inspect_hardware(self, task: Task) -> str:
        """Boot the ramdisk; its data arrive later."""
        if CONF.inspector.pre_create_ports:
            known_ports.create(task)
        bmc_addresses.remember(task.store, task.node, bmc_addresses.collect(task.node.driver_info))
        booting.start(task)
        return states.INSPECTWAIT

    def continue_inspection(
        self, task: Task, inventory: Mapping[str, Any], plugin_data: dict[str, object] | None = None
    ) -> str | None:
        """Run hooks and rules on the data, then clear up, whether that went well or not."""
        posted = (plugin_data or {}).get("logs")
        try:
            proven = boot_token.was_shown(task.node.driver_internal_info)
            self.pipeline.run(task, dict(inventory), plugin_data, is_proven=proven)
        except TakenOver:
            raise
        except Exception:
            logs.keep(task, _LABEL, posted, failed=True)
            _end_quietly(task)
            raise
        logs.keep(task, _LABEL, posted, failed=False)
        # Of a machine that has just enrolled itself nobody may have said yet how its BMC is reached.
        (_end_quietly if task.node.provision_state == states.ENROLL else _end)(task)
        return None

    def abort(self, task: Task) -> None:
        """Stop waiting: forget how the ramdisk could be recognised, clear up, switch off."""
        bmc_addresses.forget(task.store, task.node)
        try:
            booting.clear_up(task)
        finally:
            machine.switch_off(task)


def _end(task: Task) -> None:
    booting.clear_up(task)
    # With fast track the next operation goes on with the ramdisk that runs.
    if CONF.inspector.power_off and not fast_track.is_wanted(task.node):
        machine.switch_off(task)


def _end_quietly(task: Task) -> None:
    """Clear up where failing to is no failure of the inspection, or must not cover that there is one."""
    try:
        _end(task)
    except Exception as error:
        LOG.warning("Node %s: clearing up after its inspection failed: %s", task.node.uuid, error)
