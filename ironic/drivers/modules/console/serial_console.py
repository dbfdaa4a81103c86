"""Base of console interfaces that offer a machine's serial line on a TCP port of the conductor's host."""

import logging
from abc import abstractmethod
from typing import Final

from ironic.conf import CONF
from ironic.core.bmc_readings import Console
from ironic.core.errors import MissingParameterValue
from ironic.core.errors.hardware_errors import ConsoleSubprocessFailed, NoFreeIPMITerminalPorts
from ironic.core.keys.internal_keys import InternalKey
from ironic.core.texts import syntax
from ironic.drivers.contract.interfaces import ConsoleInterface
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.console.console_ports import PORTS, is_free
from ironic.drivers.modules.console.console_servers import SERVERS
from ironic.drivers.modules.console.socat_command import ConsoleCommand

LOG = logging.getLogger(__name__)

_PORT: Final = InternalKey("allocated_ipmi_terminal_port", int, "The port that was chosen for its serial console.")

# Another program may take a free port before socat does; then the next one is tried.
_MOST_ATTEMPTS: Final = 3


class SerialConsole(ConsoleInterface):
    """Runs the command of a subclass behind socat. Without a port in driver_info, one of the options is chosen."""

    @abstractmethod
    def console_command(self, task: Task) -> ConsoleCommand:
        """Return the command that connects its terminal with the machine."""

    @abstractmethod
    def own_port(self, task: Task) -> int | None:
        """Return the port that driver_info gives to the node; None when any will do."""

    def free_line(self, task: Task) -> None:
        """End a session on the machine's line that another program may have left."""

    def validate(self, task: Task) -> None:
        """Check that there is a port for the console."""
        if self.own_port(task) is None and not CONF.console.port_range:
            raise MissingParameterValue(
                err=f"Node {task.node.uuid} has no port for its console. Give it one in its driver_info, or set "
                "[console]port_range."
            )

    def start_console(self, task: Task) -> None:
        """Open the console, in the place of an earlier one."""
        SERVERS.stop(task.node.uuid)
        self._release_port(task)
        self.free_line(task)
        command = self.console_command(task)
        own = self.own_port(task)
        if own is not None:
            SERVERS.start(task.node.uuid, command, own)
        else:
            self._start_on_free_port(task, command)

    def _start_on_free_port(self, task: Task, command: ConsoleCommand) -> None:
        address = str(CONF.console.socat_address)
        tried: set[int] = set()
        while (port := PORTS.take(address, CONF.console.port_range or (), tried)) is not None:
            tried.add(port)
            try:
                SERVERS.start(task.node.uuid, command, port)
            except ConsoleSubprocessFailed:
                PORTS.release(port)
                if len(tried) == _MOST_ATTEMPTS or is_free(address, port):
                    raise
                LOG.info(
                    "Node %s: port %s was taken by another program, its console gets another", task.node.uuid, port
                )
            else:
                _PORT.set(task.node, port)
                task.node.save()
                return
        raise NoFreeIPMITerminalPorts(host=address, node=task.node.uuid)

    def stop_console(self, task: Task) -> None:
        """Close the console and free its port."""
        try:
            SERVERS.stop(task.node.uuid)
        finally:
            self._release_port(task)
        self.free_line(task)

    def get_console(self, task: Task) -> Console:
        """Return the address on which the console is offered; there is no login."""
        port = self.own_port(task) or _PORT.of(task.node)
        if port is None:
            return {}
        return {"type": "socat", "url": f"tcp://{syntax.host_in_url(str(CONF.console.socat_address))}:{port}"}

    def _release_port(self, task: Task) -> None:
        port = _PORT.of(task.node)
        if port is not None:
            PORTS.release(port)
            _PORT.delete(task.node)
            task.node.save()
