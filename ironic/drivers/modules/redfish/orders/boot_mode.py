"""The boot mode of a Redfish machine: read, and set until it has taken effect."""

import logging
from collections.abc import Callable
from typing import Final

from ironic.core.errors.hardware_errors import RedfishConnectionError, RedfishError
from ironic.core.readings import Known
from ironic.drivers.contract.interfaces.base_interface import unsupported
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.redfish.orders import boot_override, restarts
from ironic.drivers.modules.redfish.orders.boot_override import MODES
from ironic.drivers.modules.redfish.tree.boot_settings import boot_of
from ironic.drivers.modules.redfish.wire.bmc_connection import read

LOG = logging.getLogger(__name__)

_NAMES: Final = {mode: name for name, mode in MODES.items()}


def shown_mode(task: Task) -> str | None:
    """Return the boot mode that the BMC shows, None for none or one that is not known."""
    return _NAMES.get(read(task, "reading the boot mode", boot_of).mode.shown(None))


def change_mode(task: Task, mode: str, shown: Callable[[Task], str | None]) -> None:
    """Set the boot mode, and restart the machine if the BMC does not report it yet.

    ``shown`` reads the mode. Raise UnsupportedDriverExtension where the BMC shows no mode and refuses to set one, and
    RedfishError for other failures.
    """
    before = read(task, "reading the boot mode", boot_of).mode
    if isinstance(before, Known) and before.value != MODES[mode]:
        restarts.check_order(task, f"setting boot mode {mode}")
    try:
        boot_override.set_mode(task, mode)
    except RedfishError as error:
        if not isinstance(before, Known) and not isinstance(error, RedfishConnectionError):
            LOG.info("Node %s: its BMC shows no boot mode and refuses to set one: %s", task.node.uuid, error)
            raise unsupported(task, "set_boot_mode") from error
        raise
    if not isinstance(before, Known) and _shows_no_mode(task):
        LOG.warning("Node %s: boot mode %s is set, but its BMC does not report the mode", task.node.uuid, mode)
        return
    restarts.take_effect(task, f"boot mode {mode}", "boot_mode", mode, shown)


def _shows_no_mode(task: Task) -> bool:
    """Return whether the BMC has no boot mode to show; raise RedfishError where it shows one that can't be read."""
    return read(task, "reading the boot mode", lambda system: boot_of(system).mode.certain(), anew=True) is None
