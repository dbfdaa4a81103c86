"""For third-party plug-ins: the task under the name and path they import it from, and how to take a node anywhere."""

from ironic.conductor.process_tasks import acquire
from ironic.conductor.tasks import TaskManager, require_exclusive_lock

__all__ = ["TaskManager", "acquire", "require_exclusive_lock"]
