"""What implementations have in common that need nothing of a node."""

from ironic.drivers.interfaces import BaseInterface
from ironic.drivers.task import Task


class Undemanding(BaseInterface):
    """Understands nothing in ``driver_info`` and takes every node as it is."""

    def get_properties(self) -> dict[str, str]:
        return {}

    def validate(self, task: Task) -> None:
        pass
