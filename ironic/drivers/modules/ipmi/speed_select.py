"""Management interface `intel-ipmitool`: that of ipmitool, and Intel Speed Select profiles."""

from typing import Final

from ironic.core.errors import InvalidParameterValue
from ironic.drivers.contract.step_declarations import deploy_step
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.ipmi import raw_requests
from ironic.drivers.modules.ipmi.management import IPMIManagement

_REQUEST: Final = ("0x2c", "0x41", "0x04", "0x00")
_PROFILES: Final = ("0x00", "0x01", "0x02")
_MOST_SOCKETS: Final = 16
_ARGSINFO: Final = {
    "intel_speedselect_config": {
        "description": f"Profile of the processors: {', '.join(_PROFILES)}.",
        "required": True,
    },
    "socket_count": {"description": "Number of processor sockets, 1 by default.", "required": False},
}


class IntelIPMIManagement(IPMIManagement):
    """Also chooses the Speed Select profile of the processors."""

    @deploy_step(priority=200, argsinfo=_ARGSINFO)
    def configure_intel_speedselect(
        self, task: Task, intel_speedselect_config: object, socket_count: object = 1
    ) -> None:
        """Choose a Speed Select profile for each processor socket."""
        sockets = _count(socket_count)
        if intel_speedselect_config not in _PROFILES:
            raise InvalidParameterValue(err=f"intel_speedselect_config must be one of {', '.join(_PROFILES)}.")
        for socket in range(sockets):
            raw_requests.send(task, (*_REQUEST, f"{socket:#04x}", str(intel_speedselect_config)))


def _count(given: object) -> int:
    text = str(given)
    if isinstance(given, bool) or not (text.isascii() and text.isdigit() and 1 <= int(text) <= _MOST_SOCKETS):
        raise InvalidParameterValue(err=f"socket_count must be a number from 1 to {_MOST_SOCKETS}.")
    return int(text)
