"""Where tasks come from: one factory per conductor, knowing its store, drivers, workers and name."""

from typing import TYPE_CHECKING

from ironic.conductor.lock import Locks
from ironic.conductor.task import Task, Workplace
from ironic.conductor.transitions import Recorder
from ironic.conductor.workers import Workers
from ironic.core.context import RequestContext

if TYPE_CHECKING:
    from ironic.db import NodeRecord, Store
    from ironic.drivers.composition import Composition


class Tasks:
    """Gives out tasks on nodes; ``held`` has those that are held right now, by row id."""

    def __init__(
        self,
        store: "Store",
        composition: "Composition",
        pool: Workers,
        host: str,
    ) -> None:
        self.store, self.composition, self.pool, self.host = store, composition, pool, host
        self.recorder = Recorder(store, host)
        self.locks = Locks()
        self.held = self.locks.held
        self.consoles: set[int] = set()
        # Row ids of the allocations that are worked on in this process.
        self.allocations: set[int] = set()
        self._workplace = Workplace(store, composition, pool, host, self.recorder, self.locks, self.consoles)

    def acquire(
        self,
        context: RequestContext,
        node_id: str | int,
        *,
        shared: bool = False,
        purpose: str,
        retry: bool = True,
        patient: bool = False,
        load_driver: bool = True,
        background: bool = False,
        unasked: bool = False,
    ) -> Task:
        """Take a node (UUID, name or row id) and return the task that holds it; to be used in a ``with`` statement.

        A locked node is tried again as [conductor]node_locked_retry_attempts and _interval say, longer when patient,
        once when ``retry`` is false; then NodeLocked. What follows a background task (a heartbeat, a periodic job)
        can't have the workers that are reserved for users' requests. The lock of work that is ``unasked`` for says so,
        and users wait for it.
        """
        return Task(
            self._workplace,
            context,
            node_id,
            shared=shared,
            purpose=purpose,
            retry=retry,
            patient=patient,
            load_driver=load_driver,
            background=background,
            unasked=unasked,
        )

    def looking_at(self, context: RequestContext, record: "NodeRecord", *, purpose: str) -> Task:
        """Return a shared background task on a node whose row was read a moment ago, without reading it again."""
        return Task(
            self._workplace,
            context,
            record.id,
            shared=True,
            purpose=purpose,
            retry=False,
            patient=False,
            load_driver=True,
            background=True,
            unasked=True,
            record=record,
        )
