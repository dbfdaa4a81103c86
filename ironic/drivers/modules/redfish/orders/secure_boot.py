"""Secure boot of a Redfish machine: its state, and its keys."""

from collections.abc import Callable

import sushy
from sushy import exceptions as sushy_errors

from ironic.conf import CONF
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.readings import Known
from ironic.drivers.contract.interfaces.base_interface import unsupported
from ironic.drivers.contract.task import Task
from ironic.drivers.contract.wait_declarations import Ordered
from ironic.drivers.modules.redfish.orders import restarts
from ironic.drivers.modules.redfish.orders.bmc_tasks import read_task, task_begun_by
from ironic.drivers.modules.redfish.tree.boot_settings import boot_of, secure_boot_of
from ironic.drivers.modules.redfish.tree.certainty import certain_target
from ironic.drivers.modules.redfish.tree.task_ends import BmcTask
from ironic.drivers.modules.redfish.wire.bmc_connection import change, read
from ironic.drivers.modules.redfish.wire.bmc_system import System, connector_of


def shown_state(task: Task) -> bool | None:
    """Return whether secure boot is on, None where the BMC does not say it in a way that can be read.

    Raise UnsupportedDriverExtension where the machine has none.
    """

    def state(system: System) -> bool | None:
        try:
            return secure_boot_of(system).shown(None)
        except sushy_errors.MissingAttributeError:
            raise unsupported(task, "get_secure_boot_state") from None

    return read(task, "reading the secure boot state", state)


def change_state(task: Task, state: bool, shown: Callable[[Task], bool | None]) -> Ordered | None:
    """Turn secure boot on or off, and restart the machine if the BMC does not report it yet.

    ``shown`` reads the state. Raise UnsupportedDriverExtension where the machine has none, and RedfishError for other
    failures.
    """
    operation = f"turning secure boot {'on' if state else 'off'}"

    def is_set(system: System) -> bool:
        try:
            present = secure_boot_of(system).certain()
        except sushy_errors.MissingAttributeError:
            raise unsupported(task, "set_secure_boot_state") from None
        # Some BMCs refuse a change to the present state; where that is odd, no restart would show the wanted one.
        if present == state:
            return True
        if state and boot_of(system).mode == Known(sushy.BootSourceOverrideMode.LEGACY):
            reason = "the machine boots in mode bios, which has no secure boot; set boot mode uefi first"
            raise RedfishError(node=task.node.uuid, operation=operation, error=reason)
        return False

    if read(task, operation, is_set, anew=True):
        return None
    restarts.check_order(task, operation)
    change(task, operation, lambda system: system.secure_boot.set_enabled(state))
    what = f"secure boot {'on' if state else 'off'}"
    return restarts.take_effect(task, what, "secure_boot", state, shown)


def change_keys(task: Task, how: sushy.SecureBootResetKeysType) -> None:
    """Restore or delete the keys, until the BMC's task for it is over; raise RedfishError when it fails."""
    operation = f"secure boot action {how.value}"

    def reset(system: System) -> str | None:
        secure_boot = system.secure_boot
        allowed = secure_boot.get_allowed_reset_keys_values()
        if how not in allowed:
            raise sushy_errors.InvalidParameterValueError(parameter="reset_type", value=how, valid_values=allowed)
        target = certain_target(secure_boot, "SecureBoot.ResetKeys")
        return task_begun_by(connector_of(system).post(target, data={"ResetKeysType": how.value}))

    if (monitor := change(task, operation, reset)) is None:
        return
    ends: list[BmcTask] = []

    def is_over() -> bool:
        ends[:] = [read(task, operation, lambda system: read_task(system, monitor), anew=True)]
        return ends[0].is_over

    seconds = CONF.redfish.boot_mode_config_timeout
    task.clock.until(is_over, timeout=seconds, interval=CONF.redfish.boot_mode_status_interval)
    if not ends[0].is_good:
        reason = ends[0].text or f"its task is not over after {seconds} seconds"
        raise RedfishError(node=task.node.uuid, operation=operation, error=reason)
