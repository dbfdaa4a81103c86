"""Console interface `ipmitool-socat`: Serial over LAN, offered on a TCP port.

For each viewer socat runs `ipmitool sol activate`. The password reaches it through the environment of the console, so
it is gone when the console ends, in whatever way; there is no file that a crash leaves behind. Also for machines of
hardware type `redfish` whose BMC speaks IPMI too, with the driver_info keys of this one.
"""

import logging
import threading

from ironic.core.bmc_readings import Console
from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import ConsoleError, IPMIFailure
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.bmc.bmc_gateway import CallClass
from ironic.drivers.modules.console.console_servers import SERVERS
from ironic.drivers.modules.console.serial_console import SerialConsole
from ironic.drivers.modules.console.socat_command import ConsoleCommand
from ironic.drivers.modules.ipmi.bmc_access import (
    CONSOLE_PROPERTIES,
    PROPERTIES,
    PROTOCOLS,
    access_of,
    terminal_port_of,
)
from ironic.drivers.modules.ipmi.command_line import check_tool, command_line
from ironic.drivers.modules.ipmi.conversation import change, with_checked_address
from ironic.integrations.allowed_destinations import UNREACHABLE, Refused
from ironic.integrations.hidden_faults import hidden

LOG = logging.getLogger(__name__)


class IPMISocatConsole(SerialConsole):
    """Serial over LAN of IPMI 2.0."""

    def __init__(self) -> None:
        check_tool()
        self._lock = threading.Lock()
        # The nodes whose line is being freed for who has asked.
        self._freeing: set[str] = set()

    def get_properties(self) -> dict[str, str]:
        return {**PROPERTIES, **CONSOLE_PROPERTIES}

    def validate(self, task: Task) -> None:
        """Check driver_info and that there is a port; the BMC is not asked."""
        if access_of(task.node).protocol != PROTOCOLS["2.0"]:
            raise InvalidParameterValue(
                err=f"Node {task.node.uuid} needs ipmi_protocol_version 2.0 in its driver_info for a console: 1.5 has "
                "no Serial over LAN."
            )
        super().validate(task)

    def own_port(self, task: Task) -> int | None:
        return terminal_port_of(task.node)

    def console_command(self, task: Task) -> ConsoleCommand:
        access = access_of(task.node)
        try:
            access = with_checked_address(access)
        except (Refused, OSError) as error:
            if access.by_project:
                told = hidden(UNREACHABLE, f"BMC {access.server} of node {task.node.uuid}", error)
                raise ConsoleError(node=task.node.uuid, error=told) from error
            raise ConsoleError(node=task.node.uuid, error=f"ipmi_address can't be used: {error}") from error
        line = command_line(access, ("sol", "activate"), None)
        return ConsoleCommand(line.arguments, line.environment)

    def free_line(self, task: Task) -> None:
        """End the session of another client, as a BMC has room for one; a BMC that fails may recover later."""
        try:
            change(task, ("sol", "deactivate"), kind=CallClass.TELEMETRY)
        except IPMIFailure as error:
            LOG.debug("Node %s: no session of its console was ended: %s", task.node.uuid, error)

    def get_console(self, task: Task) -> Console:
        """Return the address on which the console is offered, with a line that is free for the next viewer.

        A request that comes meanwhile does not wait for it: a crowd at one console must not take all workers.
        """
        console, uuid = super().get_console(task), task.node.uuid
        with self._lock:
            if not console or uuid in self._freeing:
                return console
            self._freeing.add(uuid)
        try:
            # A viewer that the BMC only forgets would keep the place of the next one.
            SERVERS.disconnect_viewers(uuid)
            self.free_line(task)
        finally:
            self._freeing.discard(uuid)
        return console
