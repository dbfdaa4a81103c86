"""What a BMC lacks for the interfaces of its node: found out by reading, in one operation with a short time.

A fault of the BMC itself (wrong login, untrusted certificate, no such system) is a fault of all interfaces. Otherwise
each interface says what it misses in the machine's system resource.
"""

import logging
from collections.abc import Mapping
from typing import Final, Protocol, cast

from sushy import exceptions as sushy_errors

from ironic.conf import CONF
from ironic.core.errors.hardware_errors import RedfishError
from ironic.drivers.contract.interfaces import BaseInterface
from ironic.drivers.contract.interfaces.base_interface import Finding
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.bmc.bmc_gateway import Exhausted
from ironic.drivers.modules.redfish.wire.bmc_connection import read
from ironic.drivers.modules.redfish.wire.bmc_failures import NOT_REDFISH
from ironic.drivers.modules.redfish.wire.bmc_messages import reason_of
from ironic.drivers.modules.redfish.wire.bmc_system import System

LOG = logging.getLogger(__name__)


class Surveyed(Protocol):
    """An interface that knows what it needs of a BMC."""

    # Whether a node without it is at fault; else only steps can't be run that few nodes need.
    is_needed: bool

    def lacks(self, system: System) -> str | None:
        """Return what the system lacks, as the end of "the BMC has ..."; read little, and raise what reading raises."""


class RedfishSurvey:
    """The survey of all interfaces of this package."""

    def findings(self, task: Task, interfaces: Mapping[str, BaseInterface]) -> dict[str, Finding]:
        """Return the findings by kind; none when BMCs are not to be tried."""
        seconds: float = CONF.bmc.validation_timeout
        if not seconds:
            return {}
        wanted = cast(Mapping[str, Surveyed], interfaces)
        try:
            found = read(task, "trying the BMC", lambda system: _missing(system, wanted), seconds=seconds)
        except RedfishError as error:
            return dict.fromkeys(interfaces, Finding(str(error)))
        return {
            kind: Finding(f"Node {task.node.uuid}: its BMC has {text}.", wanted[kind].is_needed)
            for kind, text in found.items()
        }


SURVEY: Final = RedfishSurvey()


def _missing(system: System, interfaces: Mapping[str, Surveyed]) -> dict[str, str]:
    found = {}
    for kind, interface in interfaces.items():
        try:
            text = interface.lacks(system)
        except (sushy_errors.ConnectionError, sushy_errors.AccessError, Exhausted):
            raise
        except (sushy_errors.SushyError, *NOT_REDFISH) as error:
            LOG.debug("Trying a BMC for interface %s failed", kind, exc_info=True)
            text = f"an answer for interface {kind} that can't be used ({reason_of(error)})"
        if text is not None:
            found[kind] = text
    return found
