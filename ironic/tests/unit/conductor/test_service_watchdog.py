"""Work that never ends: a driver that opens a pipe into which nothing is ever written holds neither node nor worker."""

import contextlib
import os
import threading

import pytest

from ironic.conductor.periodic_tasks import PeriodicTask
from ironic.conductor.service import Conductor
from ironic.conductor.takeover import TakeOver
from ironic.conductor.tasks import TaskFactory
from ironic.conductor.workers import Workers
from ironic.core.errors import NoFreeConductorWorker, TakenOver
from ironic.core.flows import states
from ironic.tests.unit.conductor.conftest import fake_composition, wait_until

SIZE = 4


class Pipe:
    """A pipe without a writer, as a driver may read one."""

    def __init__(self, path):
        self.path, self.readers, self.ended = path, 0, 0
        os.mkfifo(path)

    def read(self, *args):
        self.readers += 1
        try:
            return self.path.read_text()
        finally:
            self.ended += 1

    def let_go(self):
        """End all who read."""
        wait_until(self._are_gone)

    def _are_gone(self):
        with contextlib.suppress(OSError):  # that no one reads just now
            os.close(os.open(self.path, os.O_WRONLY | os.O_NONBLOCK))
        return self.readers == self.ended


@pytest.fixture
def pipe(tmp_path):
    made = Pipe(tmp_path / "pipe")
    yield made
    made.let_go()


@pytest.fixture
def tasks(store):
    return TaskFactory(store, fake_composition(), Workers("c1", SIZE), "c1")


@pytest.fixture
def running(tasks, store, hash_ring, conf):
    """Run a conductor that has patience for a second."""
    conf(conductor__work_deadline=1)
    conductor = Conductor("c1", store, fake_composition(), hash_ring, tasks, graceful_timeout=0.1)
    conductor.start()
    yield conductor
    conductor.stop()


def hang(tasks, context, node, pipe, after=lambda task: None):
    def work(task):
        pipe.read()
        after(task)

    with tasks.acquire(context, node, purpose="cleaning") as task:
        task.spawn_after(work, task)
    wait_until(lambda: pipe.readers)


@pytest.mark.parametrize("state", sorted(states.WORKING | states.WAITING))
def test_the_node_fails_with_a_reason_and_the_pool_keeps_its_size(
    running, tasks, context, make_node, store, pipe, state
):
    node = make_node(provision_state=state, target_provision_state="available")
    fates: list[object] = []

    def write_late(task):
        task.node.extra["late"] = True
        try:
            task.node.save()
        except TakenOver as error:
            fates.append(error)
            raise
        fates.append("written")

    hang(tasks, context, node, pipe, write_late)
    assert tasks.pool.taken == 1
    wait_until(lambda: store.nodes.get(node).reservation is None and not tasks.pool.taken)
    found = store.nodes.get(node)
    assert found.provision_state == states.after(state, "fail")
    assert "cleaning did not end within 1 seconds" in found.last_error
    assert running.is_idle
    # All slots can be used at once, in addition to the lost thread.
    meeting = threading.Barrier(SIZE, timeout=60)
    futures = [tasks.pool.take("meet").start(meeting.wait) for _ in range(SIZE)]
    assert sorted(future.result(60) for future in futures) == list(range(SIZE))
    # Another one has the node by now; what the first one still does can't be written, nor free it.
    with tasks.acquire(context, node, purpose="something else") as task:
        pipe.let_go()
        wait_until(lambda: fates)
        assert isinstance(fates[0], TakenOver)
        assert set(tasks.held) == {task.node_id}
        assert store.nodes.get(node).reservation == "c1"
    assert "late" not in store.nodes.get(node).extra


def test_a_node_that_was_in_no_operation_is_freed_and_says_why(running, tasks, context, make_node, store, pipe):
    node = make_node(provision_state="active", target_power_state="power off")
    hang(tasks, context, node, pipe)
    wait_until(lambda: store.nodes.get(node).reservation is None)
    found = store.nodes.get(node)
    assert (found.provision_state, found.target_power_state) == ("active", None)
    assert "did not end within 1 seconds" in found.last_error
    other = make_node(provision_state="active")
    with tasks.acquire(context, other, purpose="held without a worker"):
        wait_until(lambda: store.nodes.get(other).reservation is None)
    assert "held without a worker did not end" in store.nodes.get(other).last_error


def test_a_pool_that_is_lost_as_a_whole_comes_back(running, tasks, context, make_node, pipe):
    for _ in range(SIZE):
        tasks.pool.take("reading").start(pipe.read)
    with pytest.raises(NoFreeConductorWorker):
        tasks.pool.take("one more")
    wait_until(lambda: not tasks.pool.taken)
    assert tasks.pool.take("one more").start(int, "7").result(60) == 7


def test_a_job_that_hangs_comes_round_again(tasks, store, hash_ring, conf, pipe):
    conf(conductor__work_deadline=1)
    runs: list[int] = []

    def act():
        runs.append(len(runs))
        if len(runs) == 1:
            pipe.read()

    conductor = Conductor(
        "c1", store, fake_composition(), hash_ring, tasks, jobs=[PeriodicTask("looking", 0.1, act)], graceful_timeout=1
    )
    conductor.start()
    wait_until(lambda: len(runs) > 1)
    # What never ended is named, so that the process does not wait for it.
    assert conductor.stop() == ["periodic task"]


def test_what_is_within_its_time_is_left_alone(tasks, store, hash_ring, context, make_node, pipe, conf):
    node = make_node(provision_state="cleaning")
    hang(tasks, context, node, pipe)
    TakeOver(tasks, hash_ring).of_the_endless(3600)
    tasks.pool.write_off(3600)
    assert (store.nodes.get(node).reservation, tasks.pool.taken) == ("c1", 1)
    pipe.let_go()
    wait_until(lambda: not tasks.held and not tasks.pool.taken)
