"""How the parts of the endpoint take nodes: one line per call, the purpose said in words that users see."""

from ironic.conductor.task import Task
from ironic.conductor.tasks import Tasks
from ironic.core.context import RequestContext


class HoldsNodes:
    """Takes nodes through the conductor's tasks."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks

    def _exclusive(self, context: RequestContext, node_id: str | int, purpose: str) -> Task:
        return self._tasks.acquire(context, node_id, purpose=purpose)

    def _shared(self, context: RequestContext, node_id: str, purpose: str) -> Task:
        return self._tasks.acquire(context, node_id, shared=True, purpose=purpose)
