"""Restarts by which orders take effect: whether one can be ordered, and the wait until the BMC reports a setting."""

import logging
from collections.abc import Callable

from ironic.conf import CONF
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.flows import states
from ironic.drivers.contract import awaited_setting
from ironic.drivers.contract.task import Task
from ironic.drivers.contract.wait_declarations import ORDERED, Ordered
from ironic.drivers.modules.redfish.tree.machine_state import power_of
from ironic.drivers.modules.redfish.wire.bmc_access import access_of
from ironic.drivers.modules.redfish.wire.bmc_connection import read

LOG = logging.getLogger(__name__)


def check_restart(task: Task, operation: str) -> None:
    """Raise RedfishError when the machine can't be restarted, as its power state is not known.

    To be called before an order that takes effect with a restart.
    """
    if read(task, "reading the power state", lambda system: power_of(system).shown(None)) is None:
        raise state_unknown(task, operation)


def state_unknown(task: Task, operation: str) -> RedfishError:
    """Return the error of an operation that needs a restart in an unknown power state."""
    reason = (
        f"BMC {access_of(task.node).address} shows no power state that is known, so a restart could leave the machine "
        "off; nothing was ordered. Look at the BMC, or switch the power on or off"
    )
    return RedfishError(node=task.node.uuid, operation=operation, error=reason)


def check_order(task: Task, operation: str) -> None:
    """Raise RedfishError when a restart may be needed for a setting and can't be ordered."""
    if CONF.redfish.boot_mode_config_timeout and awaited_setting.is_restart_allowed(task):
        check_restart(task, operation)


def take_effect(
    task: Task, what: str, column: str, wanted: str | bool, shown: Callable[[Task], object]
) -> Ordered | None:
    """Restart the machine until the BMC reports a setting; raise RedfishError if it does not.

    ``column`` is the field of the node for the setting, ``shown`` reads it. The power state is as before afterwards. A
    BMC that fails to answer as it takes a setting over is read again. Work that does not wait itself ends with the
    restart; `look_at_setting` of the management interface looks on.
    """
    seconds = CONF.redfish.boot_mode_config_timeout

    def is_reported() -> bool:
        try:
            return shown(task) == wanted
        except RedfishError as error:
            LOG.debug("Node %s: whether %s has taken effect can't be read: %s", task.node.uuid, what, error)
            return False

    if not seconds or is_reported():
        return None
    if not awaited_setting.is_restart_allowed(task):
        return ORDERED
    LOG.info("Node %s: it is restarted, for %s to take effect", task.node.uuid, what)
    awaited_setting.suspend(task, column, wanted, seconds)
    before = task.power.get_power_state(task)
    task.change_power(states.REBOOT)
    if not task.clock.until(is_reported, timeout=seconds, interval=CONF.redfish.boot_mode_status_interval):
        reason = f"the BMC has accepted {what}, but does not report it within {seconds} seconds after a restart"
        raise RedfishError(node=task.node.uuid, operation=f"setting {what}", error=reason)
    if before == states.POWER_OFF and not task.node.disable_power_off:
        task.change_power(states.POWER_OFF)
    return None
