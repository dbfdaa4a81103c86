"""A console whose line is a harmless command; installed as a third party's interface beside a live service."""

from typing import Any

from ironic.drivers.modules.console.serial_console import SerialConsole
from ironic.drivers.modules.console.socat_command import ConsoleCommand


class LineConsole(SerialConsole):
    """A serial console without a BMC: its command and port come with the node, as a third party's may."""

    def get_properties(self) -> dict[str, str]:
        return {"line_command": "The words of the command.", "line_port": "Its TCP port."}

    def console_command(self, task: Any) -> ConsoleCommand:
        return ConsoleCommand(task.node.driver_info.get("line_command", ["cat"]), {"LINE": "yes"})

    def own_port(self, task: Any) -> int | None:
        port: int | None = task.node.driver_info.get("line_port")
        return port
