"""Import path for third-party plug-ins: the task that the methods of an interface get, for annotations."""

from ironic.drivers.contract.task import SHUTS_DOWN, BareDriver, Task

__all__ = ["SHUTS_DOWN", "BareDriver", "Task"]
