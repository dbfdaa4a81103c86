"""Vendor interface `ipmitool`: raw requests and restarts of the BMC."""

from typing import Any, Final

from ironic.core.errors import InvalidParameterValue
from ironic.core.texts import syntax
from ironic.drivers.contract.interfaces import VendorInterface
from ironic.drivers.contract.interfaces.passthru import passthru
from ironic.drivers.contract.step_declarations import clean_step, deploy_step, service_step
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.ipmi import raw_requests
from ironic.drivers.modules.ipmi.bmc_access import PROPERTIES, access_of
from ironic.drivers.modules.ipmi.command_line import check_tool
from ironic.drivers.modules.ipmi.conversation import change

_RAW: Final = {
    "raw_bytes": {
        "description": "Network function, command and data of the request, such as 0x00 0x01.",
        "required": True,
    }
}


class IPMIVendorPassthru(VendorInterface):
    """Vendor methods of IPMI machines."""

    def __init__(self) -> None:
        check_tool()

    def get_properties(self) -> dict[str, str]:
        return dict(PROPERTIES)

    def validate(self, task: Task, method: str | None = None, **kwargs: Any) -> None:
        access_of(task.node)
        if method == "send_raw":
            raw_requests.check(kwargs.get("raw_bytes"))
        elif method == "bmc_reset":
            _is_warm(kwargs.get("warm", True))

    @clean_step(priority=0, argsinfo=_RAW, requires_ramdisk=False)
    @deploy_step(priority=0, argsinfo=_RAW)
    @service_step(argsinfo=_RAW)
    @passthru(["POST"], description="Sends raw bytes to the BMC: raw_bytes (required), such as 0x00 0x01.")
    def send_raw(self, task: Task, http_method: str | None = None, raw_bytes: object = None) -> None:
        """Send raw bytes to the BMC."""
        raw_requests.send(task, raw_requests.check(raw_bytes))

    @passthru(["POST"], description="Restarts the BMC: warm (default true), or cold with warm=false.")
    def bmc_reset(self, task: Task, http_method: str | None = None, warm: object = True) -> None:
        """Restart the BMC."""
        change(task, ("bmc", "reset", "warm" if _is_warm(warm) else "cold"), once=True)


def _is_warm(given: object) -> bool:
    truth = syntax.truth_of(given)
    if truth is None:
        raise InvalidParameterValue(err="warm of bmc_reset must be true or false.")
    return truth
