"""The life of one conductor: from its registration to the last thread.

Start: clean up after an earlier life, take calls, tell the others what is served, begin the heartbeat and the jobs.
Stop: serve no node any more, let the present work end within its time, give back every lock, leave the table. What a
conductor does for its callers is the endpoint's; this only keeps it alive, and leaves nothing behind.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ironic.conductor.differences import differences
from ironic.conductor.jobs import Job, Periodics
from ironic.conductor.presence import Heartbeat
from ironic.conductor.takeover import RESTARTED, STOPPED, TakeOver
from ironic.conductor.tasks import Tasks
from ironic.conductor.timeouts import Handler, Timeouts
from ironic.conductor.watch import Watch
from ironic.conf import CONF
from ironic.core.errors import ConductorNotFound, ConductorSuperseded, DriverLoadError
from ironic.db import ServedInterface
from ironic.drivers import waiting
from ironic.rpc.placement import Placement

if TYPE_CHECKING:
    from ironic.db import Store
    from ironic.drivers.composition import Composition

LOG = logging.getLogger(__name__)

_SHRINK_SECONDS = 60
# How long work may take to end once its waits were cut short.
_LAST_SECONDS = 1


class Conductor:
    """One conductor under one host name."""

    def __init__(
        self,
        host: str,
        store: "Store",
        composition: "Composition",
        placement: Placement,
        tasks: Tasks,
        *,
        group: str = "",
        heartbeat_interval: float = 10,
        check_interval: float = 60,
        graceful_timeout: float = 60,
        periodic_workers: int = 8,
        jobs: Sequence[Job] = (),
        on_timeout: Mapping[str, Handler] | None = None,
        on_superseded: Callable[[], None] = lambda: None,
    ) -> None:
        """Put a conductor together; nothing runs yet.

        ``jobs`` are the periodic jobs of flows and drivers; ``on_timeout`` says per waiting state how a flow fails;
        ``on_superseded`` is called once when a newer process of the same name has taken over.
        """
        self._host, self._group = host, group
        self._store, self._composition, self._placement = store, composition, placement
        self._pool, self._held, self._locks = tasks.pool, tasks.held, tasks.locks
        self._on_superseded, self._superseded = on_superseded, False
        self._announced = self._retired = False
        self._graceful_timeout = graceful_timeout
        self._heartbeat = Heartbeat(host, self._beat, heartbeat_interval)
        self._takeover = TakeOver(tasks, placement)
        self._watch = Watch(self._give_up_the_endless)
        # Three statements; a death shall be noticed soon after it can be.
        often = min(check_interval, heartbeat_interval)
        own_jobs = (
            Job("overdue waits", check_interval, Timeouts(tasks, placement, on_timeout or {})),
            Job("work of dead conductors", often, self._take_over),
            Job("forgotten locks", often, self._takeover.forgotten),
            Job("idle workers", _SHRINK_SECONDS, self._pool.shrink),
        )
        self._periodics = Periodics([*own_jobs, *jobs], self._pool, periodic_workers)

    @property
    def is_idle(self) -> bool:
        """Tell whether nothing is under way here and no node is held."""
        return not self._pool.taken and not self._held

    def start(self, take_calls: Callable[[], None] = lambda: None) -> None:
        """Take up work, or raise what stands in the way.

        ``take_calls`` is called in between: no call may meet locks of an earlier life, and nobody shall be told of a
        conductor that can't be asked yet.
        """
        if not self._composition.hardware_types:
            raise DriverLoadError(faults=["no hardware type is enabled; set enabled_hardware_types"])
        waiting.allow()
        self._locks.incarnation = self._store.conductors.begin(self._host)
        self._takeover.own(RESTARTED)
        self._warn_of_differences()
        take_calls()
        self._register()
        self._placement.reset()
        self._heartbeat.start()
        self._periodics.start()
        self._watch.start()
        LOG.info("Conductor %s (group '%s') serves %s", self._host, self._group, ", ".join(self._hardware_types()))

    def retire(self) -> None:
        """Serve no node any more: others own them from now on, while work under way here goes on and keeps its locks.

        The others still see a living conductor, so they leave its locks alone, but one that serves no driver.
        """
        if self._retired:
            return
        self._retired = True
        self._periodics.stop()
        if self._announced:
            self._attempt("tell the others that it leaves", self._register)
        self._placement.reset()
        LOG.info("Conductor %s serves no node any more; %d pieces of work go on", self._host, self._pool.taken)

    def stop(self, patience: float | None = None) -> list[str]:
        """Lay down all work; return what could not be ended in time (its nodes are freed and fenced all the same)."""
        patience = self._graceful_timeout if patience is None else patience
        self.retire()
        LOG.info("Conductor %s stops; it waits up to %.0f seconds for its work", self._host, patience)
        unfinished = self._pool.drain(patience)
        if unfinished:
            # Whoever waits for a machine gives up now and can still say so.
            waiting.interrupt()
            unfinished = self._pool.drain(_LAST_SECONDS)
        for work in unfinished:
            LOG.error("Conductor %s gave up on %s, which did not end in time", self._host, work)
        self._watch.stop()
        self._attempt("give back its nodes", lambda: self._takeover.own(STOPPED))
        self._heartbeat.stop()
        if self._announced:
            self._attempt("leave the table of conductors", self._leave)
        self._placement.reset()
        self._pool.close()
        return unfinished

    def reload(self) -> None:
        """Take the new values of options: they are read where they are used, only the picture of others is old."""
        self._placement.reset()

    def _register(self) -> None:
        rows = [] if self._retired else self._composition.interface_rows()
        drivers = [] if self._retired else self._hardware_types()
        self._store.conductors.register(self._host, self._group, drivers, rows, self._locks.incarnation)
        self._announced = True

    def _give_up_the_endless(self, limit: int) -> None:
        # The nodes first: they are what users wait for, and are fenced from then on.
        try:
            self._takeover.of_the_endless(limit)
        finally:
            self._pool.write_off(limit)

    def _take_over(self) -> None:
        """Take over from the dead, unless everybody looks dead because nobody could say otherwise."""
        if self._heartbeat.is_steady:
            self._takeover.of_the_dead()

    def _beat(self) -> None:
        """Renew the row; one that others have removed in the meantime is written anew."""
        try:
            with self._store.in_a_hurry():  # the next beat comes soon
                self._store.conductors.touch(self._host, self._locks.incarnation)
        except ConductorSuperseded:
            self._fenced()
        except ConductorNotFound:
            LOG.warning("Conductor %s was missing in the table of conductors and registers again", self._host)
            self._register()

    def _fenced(self) -> None:
        """Take note that another process has this name now; whatever this one still does can't be written."""
        if self._superseded:
            return
        self._superseded = True
        LOG.error(
            "A newer process runs as conductor %s, so this one ends and its work is lost. If it is not a restart, give "
            "each conductor its own [DEFAULT]host",
            self._host,
        )
        self._on_superseded()

    def _leave(self) -> None:
        self._store.conductors.unregister(self._host, self._locks.incarnation)

    def _hardware_types(self) -> list[str]:
        return sorted(self._composition.hardware_types)

    def _warn_of_differences(self) -> None:
        """Tell the operator where others serve the same hardware types with other interfaces (S34)."""
        served = self._store.conductors.served_interfaces(CONF.conductor.heartbeat_timeout)
        others = [row for row in served if row.hostname != self._host]
        mine = [ServedInterface(self._host, self._group, *row) for row in self._composition.interface_rows()]
        for difference in differences([*mine, *others]):
            if self._host in difference.offered:
                LOG.warning("%s", difference)

    def _attempt(self, what: str, act: Callable[[], object]) -> None:
        """Do one part of the ending; the rest must follow even without a database."""
        try:
            with self._store.in_a_hurry():
                act()
        except ConductorSuperseded as error:
            LOG.warning("Conductor %s did not %s: %s", self._host, what, error)
        except Exception:
            LOG.exception("Conductor %s could not %s; its next start or another conductor will", self._host, what)
