"""For third-party plug-ins: the task under the name and path they import it from.

Tasks come from the manager that a periodic method gets (``manager.acquire``); there is no global one.
"""

from ironic.conductor.tasks import TaskManager, require_exclusive_lock

__all__ = ["TaskManager", "require_exclusive_lock"]
