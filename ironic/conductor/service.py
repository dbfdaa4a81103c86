"""The life of one conductor: registration, heartbeat, watchdog, periodic tasks, and an orderly end.

Start: free the locks of an earlier life, take calls, register what is served, start the heartbeat and the periodic
tasks. Stop: serve no node any more, let the present work end within its time, free every lock, leave the table. What a
conductor does for its callers is the endpoint's business.

The heartbeat touches the conductor's row at an interval, in a thread of its own, so that neither a full worker pool nor
a slow periodic task makes a living conductor look dead. It survives an outage of the database: meanwhile no conductor
can judge another. The watchdog gives up work that exceeds its deadline: every wait of ours ends, but one of a driver
may not, and neither a worker nor a node may be lost for ever. It is no periodic task, which would need a worker itself.
"""

import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ironic.conductor.interface_mismatch import differences
from ironic.conductor.periodic_tasks import PeriodicTask, PeriodicTaskRunner
from ironic.conductor.takeover import RESTARTED, STOPPED, TakeOver
from ironic.conductor.tasks import TaskFactory
from ironic.conductor.timeouts import Handler, Timeouts
from ironic.conf import CONF
from ironic.core.clock import CLOCK, Clock
from ironic.core.errors import ConductorNotFound, DriverLoadError
from ironic.core.errors.call_errors import ConductorSuperseded
from ironic.core.hardware_interfaces import with_fixed
from ironic.core.threads import THREADS, Threads
from ironic.db import ServedInterface
from ironic.drivers.contract import open_sessions
from ironic.integrations import metric_table
from ironic.rpc.hash_ring import HashRingManager

if TYPE_CHECKING:
    from ironic.db import Store
    from ironic.drivers.composition.composed_drivers import Composition

LOG = logging.getLogger(__name__)


# After so many beats of its own a conductor knows that the others had the time for theirs.
_BEATS_TO_TRUST: Final = 2

# Longest pause of the watchdog in seconds, and how often it checks within the time that work may take.
_LONGEST_PAUSE: Final = 60.0
_CHECKS_PER_DEADLINE: Final = 10

# How many seconds work may take to end once its waits were interrupted.
_LAST_SECONDS: Final = 1


class Heartbeat:
    """Calls ``beat`` every ``interval`` seconds until it is stopped."""

    def __init__(
        self,
        host: str,
        beat: Callable[[], None],
        interval: float,
        clock: Clock = CLOCK,
        threads: Threads = THREADS,
    ) -> None:
        self._host, self._beat, self._interval, self._clock = host, beat, interval, clock
        self._stop = clock.event()
        self._failures = 0
        self._steady_since = self._clock.monotonic()
        self._thread = threads.make("conductor-heartbeat", self._run)

    @property
    def is_steady(self) -> bool:
        """Return whether the table of conductors can be trusted.

        After an outage of the database all conductors look dead until they had the time to renew their rows.
        """
        return self._clock.monotonic() - self._steady_since >= _BEATS_TO_TRUST * self._interval

    def start(self) -> None:
        """Start; the first beat comes after one interval, because registration has just written the row."""
        self._thread.start()

    def stop(self) -> None:
        """Stop; no beat comes after this has returned."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._interval):
            try:
                self._beat()
            except Exception as error:
                self._failures += 1
                self._steady_since = self._clock.monotonic()
                text = "Conductor %s could not renew its heartbeat (%d in a row), trying again in %s seconds: %s"
                LOG.warning(text, self._host, self._failures, self._interval, error)
                continue
            if self._failures:
                LOG.info("Conductor %s renews its heartbeat again after %d failures", self._host, self._failures)
            self._failures = 0


class Watchdog:
    """Calls ``give_up(limit)`` from time to time, while [conductor]work_deadline sets a limit in seconds."""

    def __init__(self, give_up: Callable[[int], None], clock: Clock, threads: Threads) -> None:
        self._give_up = give_up
        self._stop = clock.event()
        self._thread = threads.make("conductor-watch", self._run)

    def start(self) -> None:
        """Start."""
        self._thread.start()

    def stop(self) -> None:
        """Stop; nothing is given up after this has returned."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(_pause()):
            limit = CONF.conductor.work_deadline
            try:
                if limit:
                    self._give_up(limit)
            except Exception:
                LOG.exception("Work that does not end could not be given up; trying again in %s seconds", _pause())


def _pause() -> float:
    deadline = CONF.conductor.work_deadline
    return min(_LONGEST_PAUSE, deadline / _CHECKS_PER_DEADLINE) if deadline else _LONGEST_PAUSE


class Conductor:
    """One conductor under one host name."""

    def __init__(
        self,
        host: str,
        store: "Store",
        composition: "Composition",
        hash_ring: HashRingManager,
        tasks: TaskFactory,
        *,
        group: str = "",
        heartbeat_interval: float = 10,
        check_interval: float = 60,
        graceful_timeout: float = 60,
        periodic_workers: int = 8,
        jobs: Sequence[PeriodicTask] = (),
        on_timeout: Mapping[str, Handler] | None = None,
        on_superseded: Callable[[], None] = lambda: None,
        begin: Callable[[], str] | None = None,
    ) -> None:
        """Build a conductor; nothing runs yet. Intervals and time-outs are in seconds.

        ``jobs`` are the periodic tasks of flows and drivers; ``on_timeout`` has per waiting state how a flow fails;
        ``on_superseded`` is called once when a newer process of the same name has taken over. ``begin`` begins a life
        under the name, once the caller has made sure that no other process has it, and returns the id.
        """
        self._host, self._group = host, group
        self._store, self._composition, self._hash_ring = store, composition, hash_ring
        self._pool, self._held, self._locks = tasks.pool, tasks.held, tasks.locks
        self._clock = tasks.clock
        self._on_superseded, self._superseded = on_superseded, False
        self._begin = begin or functools.partial(store.conductors.begin, host)
        self._announced = self._retired = False
        self._graceful_timeout = graceful_timeout
        self._heartbeat = Heartbeat(host, self._beat, heartbeat_interval, tasks.clock, tasks.pool.threads)
        self._takeover = TakeOver(tasks, hash_ring)
        self._watch = Watchdog(self._give_up_the_endless, tasks.clock, tasks.pool.threads)
        # It takes three statements; a conductor's death is to be noticed as soon as possible.
        often = min(check_interval, heartbeat_interval)
        own_jobs = (
            PeriodicTask("overdue waits", check_interval, Timeouts(tasks, hash_ring, on_timeout or {})),
            PeriodicTask("work of dead conductors", often, self._take_over),
            PeriodicTask("forgotten locks", often, self._takeover.forgotten),
        )
        self._periodics = PeriodicTaskRunner([*own_jobs, *jobs], self._pool, periodic_workers)

    @property
    def is_idle(self) -> bool:
        """Return whether no work is under way here and no node is held."""
        return not self._pool.taken and not self._held

    def start(self, take_calls: Callable[[], None] = lambda: None) -> None:
        """Start all threads, or raise what prevents the start: DriverLoadError, or an error of the database.

        ``take_calls`` starts the RPC server. It is called after the locks of an earlier life are freed, which no call
        may meet, and before the conductor is registered, because no caller may find one that can't be called yet.
        """
        if not self._composition.drivers:
            raise DriverLoadError(faults=["no driver is enabled; set enabled_hardware_types"])
        self._clock.allow()
        self._locks.incarnation = self._begin()
        self._takeover.own(RESTARTED)
        self._warn_of_differences()
        take_calls()
        self._register()
        self._hash_ring.reset()
        self._heartbeat.start()
        self._periodics.start()
        self._watch.start()
        LOG.info("Conductor %s (group '%s') serves %s", self._host, self._group, ", ".join(self._drivers()))

    def retire(self) -> None:
        """Serve no node any more: others own them from now on, while work under way here continues with its locks.

        The others still see a living conductor, so they don't free its locks, but one that serves no driver.
        """
        if self._retired:
            return
        self._retired = True
        self._periodics.retire()
        if self._announced:
            self._attempt("deregister its drivers", self._register)
        self._hash_ring.reset()
        LOG.info("Conductor %s serves no node any more; %d pieces of work continue", self._host, self._pool.taken)

    def stop(self, timeout: float | None = None) -> list[str]:
        """End all work; return the purposes of work that did not end within ``timeout`` seconds.

        The nodes of such work are freed all the same, and it can't write them any more.
        """
        timeout = self._graceful_timeout if timeout is None else timeout
        self.retire()
        LOG.info("Conductor %s stops; it waits up to %.0f seconds for its work", self._host, timeout)
        unfinished = self._pool.drain(timeout)
        if unfinished:
            # Work that waits for a machine fails now, and can still record that.
            self._clock.interrupt()
            unfinished = self._pool.drain(_LAST_SECONDS)
        for work in unfinished:
            LOG.error("Conductor %s gave up on %s, which did not end in time", self._host, work)
        open_sessions.close_all()
        self._watch.stop()
        self._attempt("give back its nodes", lambda: self._takeover.own(STOPPED))
        self._heartbeat.stop()
        if self._announced:
            leave = functools.partial(self._store.conductors.unregister, self._host, self._locks.incarnation)
            self._attempt("leave the table of conductors", leave)
        self._hash_ring.reset()
        if not unfinished:
            self._periodics.stop()
        self._pool.close()
        return unfinished

    def reload(self) -> None:
        """Apply changed options: they are read at each use, once priorities are checked; the hash ring is rebuilt."""
        self._composition.reload()
        self._hash_ring.reset()

    def _register(self) -> None:
        rows = [] if self._retired else self._composition.interface_rows()
        drivers = [] if self._retired else self._drivers()
        self._store.conductors.register(self._host, self._group, drivers, rows, self._locks.incarnation)
        self._announced = True

    def _give_up_the_endless(self, limit: int) -> None:
        # The nodes first: users wait for them, and the work can't write them from then on.
        try:
            self._takeover.of_the_endless(limit)
        finally:
            self._pool.write_off(limit)

    def _take_over(self) -> None:
        """Take over from dead conductors, unless all look dead because the database was away."""
        if self._heartbeat.is_steady:
            self._takeover.of_the_dead()

    def _beat(self) -> None:
        """Renew the row; register again if another conductor has removed it meanwhile."""
        try:
            with self._store.without_retries():  # the next beat comes soon
                self._store.conductors.touch(self._host, self._locks.incarnation)
        except ConductorSuperseded:
            if not self._superseded:
                self._superseded = True
                self._on_superseded()
        except ConductorNotFound:
            LOG.warning("Conductor %s was missing in the table of conductors and registers again", self._host)
            self._register()

    def _drivers(self) -> list[str]:
        return sorted(self._composition.drivers)

    def _warn_of_differences(self) -> None:
        """Warn the operator where others serve the same drivers with other interfaces (S34).

        The metric counts the differences among all conductors, so the one that started last reports the present number.
        """
        served = self._store.conductors.served_interfaces(CONF.conductor.heartbeat_timeout)
        others = [row for row in served if row.hostname != self._host]
        rows = with_fixed(self._drivers(), self._composition.interface_rows())
        mine = [ServedInterface(self._host, self._group, *row) for row in rows]
        found = differences([*mine, *others])
        metric_table.INTERFACE_DIFFERENCES.send(len(found))
        for difference in found:
            if self._host in difference.offered:
                LOG.warning("%s", difference)

    def _attempt(self, what: str, act: Callable[[], object]) -> None:
        """Do one part of the shutdown; the other parts must follow even without a database."""
        try:
            with self._store.without_retries():
                act()
        except ConductorSuperseded as error:
            LOG.warning("Conductor %s did not %s: %s", self._host, what, error)
        except Exception:
            LOG.exception("Conductor %s could not %s; its next start or another conductor will", self._host, what)
