import threading
from functools import partial

import pytest
from oslo_db.exception import DBConnectionError

from ironic.conductor.periodic_tasks import PeriodicTask, PeriodicTaskRunner
from ironic.conductor.workers import Workers
from ironic.integrations.metrics import METRICS
from ironic.tests.unit.conductor.conftest import wait_until


@pytest.fixture
def run(pool):
    """Return a function that runs jobs until the test ends."""
    running = []

    def run(*jobs, limit=8, pool=pool):
        periodics = PeriodicTaskRunner(jobs, pool, limit)
        periodics.start()
        running.append(periodics)
        return periodics

    yield run
    for periodics in running:
        periodics.stop()


def test_a_job_comes_round_on_a_worker(run):
    seen = []
    run(PeriodicTask("count", 0.01, lambda: seen.append(threading.current_thread())))
    wait_until(lambda: len(seen) >= 3)
    assert threading.main_thread() not in seen


def test_a_job_that_fails_comes_again(run, caplog):
    seen = []

    def fail():
        seen.append(1)
        raise RuntimeError("no luck")

    run(PeriodicTask("unlucky", 0.01, fail))
    wait_until(lambda: len(seen) >= 2)
    assert "Periodic task 'unlucky' failed; it runs again in 0.01 seconds" in caplog.text


@pytest.mark.parametrize(
    ("error", "has_traceback"),
    [(OSError("too many open files"), False), (DBConnectionError("gone"), False), (RuntimeError("a mistake"), True)],
)
def test_an_outage_needs_no_traceback(caplog, error, has_traceback):
    def fail():
        raise error

    PeriodicTask("unlucky", 1, fail)()
    assert "Periodic task 'unlucky' failed; it runs again in 1 seconds" in caplog.text
    assert str(error.args[0]) in caplog.text
    assert ("Traceback" in caplog.text) is has_traceback


def test_a_job_never_runs_twice_at_once(run):
    running, most = set(), []

    def work():
        running.add(threading.get_ident())
        most.append(len(running))
        threading.Event().wait(0.02)
        running.discard(threading.get_ident())

    run(PeriodicTask("slow", 0.001, work))
    wait_until(lambda: len(most) >= 4)
    assert max(most) == 1


def test_a_job_without_spacing_is_off(run):
    seen, other = [], []
    run(PeriodicTask("off", 0, lambda: seen.append(1)), PeriodicTask("on", 0.01, lambda: other.append(1)))
    wait_until(lambda: len(other) >= 2)
    assert seen == []


def test_no_more_jobs_run_than_allowed(run):
    gate, started = threading.Event(), []

    def wait(name):
        started.append(name)
        gate.wait(5)

    jobs = [PeriodicTask(str(n), 0.01, partial(wait, n)) for n in range(3)]
    run(*jobs, limit=2)
    wait_until(lambda: len(started) == 2)
    assert not threading.Event().wait(0.1)
    assert len(started) == 2
    gate.set()
    wait_until(lambda: len(set(started)) == 3)


def test_a_full_pool_only_delays_the_jobs(run):
    pool = Workers("c1", 2)
    slots = [pool.take("user"), pool.take("user")]
    seen = []
    run(PeriodicTask("count", 0.01, lambda: seen.append(1)), pool=pool)
    assert not threading.Event().wait(0.1)
    assert seen == []
    for slot in slots:
        slot.release()
    wait_until(lambda: seen)


def test_stopping_waits_for_the_job_that_runs(run):
    began, ended = threading.Event(), []

    def work():
        began.set()
        threading.Event().wait(0.1)
        ended.append(1)

    periodics = run(PeriodicTask("slow", 0.01, work))
    assert began.wait(30)
    periodics.stop()
    assert ended == [1]
    assert "conductor-periodics" not in {thread.name for thread in threading.enumerate()}


def test_there_may_be_no_jobs(run):
    run().stop()


def test_a_run_is_measured_unless_it_fails(conf, measure):
    conf(metrics__backend="collector")
    measure()

    def fail():
        raise OSError("too many open files")

    PeriodicTask("idle workers", 1, lambda: None)()
    PeriodicTask("power interface x: poll", 1, lambda: None)()
    PeriodicTask("unlucky", 1, fail)()
    front = "ironic.conductor.manager.ConductorManager"
    assert set(METRICS.collected()) == {f"{front}.idle_workers", f"{front}.power_interface_x_poll"}
