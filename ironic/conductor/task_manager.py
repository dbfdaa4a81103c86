"""A door for third-party plug-ins: the task under the name and path they import it from.

Tasks come from the manager that a periodic method is handed (``manager.acquire``); there is no global one.
"""

from ironic.conductor.task import Task as TaskManager
from ironic.conductor.task import require_exclusive_lock

__all__ = ["TaskManager", "require_exclusive_lock"]
