"""Console of a fake machine: it can be opened and closed, and leads nowhere."""

from ironic.core.machine_documents import Console
from ironic.drivers.interfaces import ConsoleInterface
from ironic.drivers.modules.undemanding import Undemanding
from ironic.drivers.task import Task


class FakeConsole(Undemanding, ConsoleInterface):
    """Has no address."""

    def start_console(self, task: Task) -> None:
        pass

    def stop_console(self, task: Task) -> None:
        pass

    def get_console(self, task: Task) -> Console:
        return {}
