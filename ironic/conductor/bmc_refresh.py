"""Refresh what the node records of its machine: vendor, boot mode, secure boot, health, BIOS settings, firmware.

Operations refresh everything while they hold the node. Power synchronisation reads the health with each power state,
and the rest of the columns once in many rounds. A reading that fails fails no operation: it is logged once per node and
moment, and the record stays as it is. Source: doc/contract/states.md#refresh.
"""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ironic.conductor.node_events import add_history
from ironic.conf import CONF
from ironic.core.errors import TakenOver, UnsupportedDriverExtension
from ironic.core.errors.hardware_errors import DriverOperationError
from ironic.drivers.contract.task import Task

if TYPE_CHECKING:
    from ironic.conductor.node_events import HostTask

LOG = logging.getLogger(__name__)

# The type of entries in node history about the health of a machine.
MONITORING: Final = "monitoring"

_SEVERITIES: Final = {"WARNING": "WARNING", "CRITICAL": "ERROR"}


class Readings:
    """The readings of one machine at one moment."""

    def __init__(self, task: Task) -> None:
        self._task, self._is_reachable = task, True
        # By the text of an error, what could not be read because of it.
        self._failed: dict[str, list[str]] = {}

    @property
    def failures(self) -> str:
        """What could not be read and why; empty when nothing failed."""
        return "; ".join(f"{', '.join(failed)} ({error})" for error, failed in self._failed.items())

    def columns(self) -> dict[str, Any]:
        """Return the columns of the node as the BMC reports them, without those that it does not report."""
        management, found = self._task.driver.management, dict[str, Any]()
        if management is None:
            return found
        for column, read in (
            ("boot_mode", management.get_boot_mode),
            ("secure_boot", management.get_secure_boot_state),
        ):
            if (value := self._read(column, read)) is not None:
                found[column] = value
        properties = self._task.node.properties
        if not properties.get("vendor") and (vendor := self._read("vendor", management.detect_vendor)):
            found["properties"] = {**properties, "vendor": vendor}
        return found

    def health(self) -> dict[str, Any]:
        """Return the column `health` as the BMC reports it; nothing where it can't be read or is not monitored."""
        management = self._task.driver.management
        if management is None or not CONF.conductor.enable_health_monitoring:
            return {}
        unread = object()
        value = self._read("health", management.get_node_health, unread)
        return {} if value is unread else {"health": value}

    def settings(self) -> None:
        """Have the interface store the BIOS settings of the node."""
        if (bios := self._task.driver.bios) is not None:
            self._read("BIOS settings", bios.cache_bios_settings)

    def firmware(self) -> None:
        """Have the interface store the firmware components of the node."""
        if (firmware := self._task.driver.firmware) is not None:
            self._read("firmware components", firmware.cache_firmware_components)

    def log_failures(self, moment: str) -> None:
        """Write what could not be read into the log, once."""
        if self.failures:
            LOG.warning("Node %s: not refreshed from the BMC at %s: %s", self._task.node.uuid, moment, self.failures)

    def _read(self, what: str, read: Callable[[Task], Any], otherwise: Any = None) -> Any:
        """Return what ``read`` returns, or ``otherwise`` if it fails or the BMC could not be reached before."""
        if not self._is_reachable:
            return otherwise
        try:
            return read(self._task)
        except TakenOver:
            raise
        except UnsupportedDriverExtension:
            return otherwise
        except Exception as error:
            # Further readings would only wait for the same time-out.
            self._is_reachable = not (isinstance(error, DriverOperationError) and error.is_unreachable)
            self._failed.setdefault(str(error), []).append(what)
            return otherwise


def health_event(before: str | None, now: str | None) -> tuple[str, str]:
    """Return the line of node history about a changed health, and its severity."""
    event = f"The health of the machine is {now or 'unknown'} now; it was {before or 'unknown'}"
    return event, _SEVERITIES.get(now or "", "INFO")


def refresh(task: "HostTask", moment: str) -> None:
    """Refresh everything on a node that is held; the caller saves the node. ``moment`` is for the log."""
    readings = Readings(task)
    columns, health = readings.columns(), readings.health()
    if health and health["health"] != task.node.health:
        event, severity = health_event(task.node.health, health["health"])
        if severity != "INFO":
            LOG.warning("Node %s: %s", task.node.uuid, event)
        add_history(task, MONITORING, event, severity)
    for column, value in {**columns, **health}.items():
        setattr(task.node, column, value)
    readings.settings()
    readings.firmware()
    readings.log_failures(moment)


def refresh_firmware(task: Task, moment: str) -> None:
    """Refresh the firmware components while the machine is on: some BMCs show network cards only then."""
    readings = Readings(task)
    readings.firmware()
    readings.log_failures(moment)
