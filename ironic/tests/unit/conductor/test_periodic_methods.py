"""Periodic methods of interfaces come round: once each per tick, and for the nodes they are meant for."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.conductor import periodic_tasks
from ironic.conductor.periodic_tasks import PeriodicTask, PeriodicTaskRunner
from ironic.conductor.periodics import node_periodic, periodic
from ironic.conductor.tasks import TaskFactory
from ironic.conductor.workers import Workers
from ironic.core.context import RequestContext
from ironic.core.errors import DriverLoadError, NoFreeConductorWorker
from ironic.core.hardware_interfaces import KINDS, interface_field
from ironic.db import Store
from ironic.drivers.composition.composed_drivers import Composition
from ironic.drivers.modules import fake
from ironic.integrations.metrics import METRICS
from ironic.rpc.hash_ring import HashRingManager
from ironic.tests.databases import sqlite_store
from ironic.tests.unit.conductor.conftest import wait_until
from ironic.tests.unit.drivers.plugins import AcmeHardware, compose, registry, wanted

SEEN: list[tuple[Any, ...]] = []


class Ticking(fake.FakePower):
    @periodic(spacing=0.02)
    def tick(self, manager: Any, context: RequestContext) -> None:
        SEEN.append((type(self).__name__, "tick", manager.host))


class TickingToo(Ticking):
    """Inherits the method: with the base enabled as well, each has its own."""


class Watching(fake.FakePower):
    @node_periodic(
        purpose="watching",
        spacing=30,
        filters={"maintenance": False},
        predicate=lambda node: node.name != "unwanted",
        predicate_extra_fields=["driver_info", "name"],
        limit=2,
        node_count_metric_name="Watching.count",
    )
    def watch(self, task: Any, manager: Any, context: RequestContext, info: dict[str, Any], name: str) -> None:
        if name == "trouble":
            raise RuntimeError("oops")
        if name == "end":
            raise NoFreeConductorWorker(host=manager.host)
        SEEN.append((task.node.uuid, task.shared, manager.host, info, name))

    @node_periodic(purpose="holding", spacing=30, shared_task=False)
    def hold(self, task: Any, manager: Any, context: RequestContext) -> None:
        SEEN.append((task.node.uuid, task.node.reservation, task.node.reservation_purpose))

    @node_periodic(purpose="nothing", spacing=30, enabled=False)
    def off(self, task: Any, manager: Any, context: RequestContext) -> None:
        raise AssertionError("switched off")


class Clockwork(AcmeHardware):
    supported_power_interfaces = [Ticking, TickingToo, Watching]


POWER = {"ticking": Ticking, "ticking-too": TickingToo, "watching": Watching}


def composition_of(*names: str) -> Composition:
    return compose(wanted("clockwork", power=names), registry({"clockwork": Clockwork}, power=POWER))


@pytest.fixture(autouse=True)
def fresh() -> None:
    SEEN.clear()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = sqlite_store(tmp_path)
    yield store
    store.close()


@pytest.fixture
def pool() -> Iterator[Workers]:
    pool = Workers("c1", 8)
    yield pool
    pool.close()


@pytest.fixture
def jobs(store: Store, pool: Workers) -> Callable[..., dict[str, PeriodicTask]]:
    """Return a function that makes the jobs of one of two conductors; they are known by the method's name."""

    def make(*names: str) -> dict[str, PeriodicTask]:
        composition = composition_of(*names)
        for host in ("c1", "c2"):
            store.conductors.register(host, "", ["clockwork"], composition.interface_rows())
        tasks = TaskFactory(store, composition, pool, "c1")
        hash_ring = HashRingManager(store, heartbeat_timeout=60)
        return {job.name.rpartition(" ")[2]: job for job in periodic_tasks.jobs_of(composition, tasks, hash_ring)}

    return make


def add_nodes(store: Store, count: int, **values: Any) -> list[str]:
    composition = composition_of("watching", "ticking")
    common = {interface_field(kind): composition.default("clockwork", kind) for kind in KINDS}
    values = common | {"driver": "clockwork", "power_interface": "watching"} | values
    return [store.nodes.create(values).uuid for _ in range(count)]


def mine(store: Store, uuids: list[str]) -> list[str]:
    hash_ring = HashRingManager(store, heartbeat_timeout=60)
    return [uuid for uuid in uuids if hash_ring.is_mine("c1", uuid, "clockwork", "")]


@pytest.mark.demand("S18")
def test_base_and_subclass_both_run_once_each_per_tick(store: Store, pool: Workers) -> None:
    composition = composition_of("ticking", "ticking-too")
    tasks = TaskFactory(store, composition, pool, "c1")
    made = periodic_tasks.jobs_of(composition, tasks, HashRingManager(store, heartbeat_timeout=60))
    assert [job.name for job in made] == ["power interface ticking: tick", "power interface ticking-too: tick"]
    for job in made:
        job()
    assert SEEN == [("Ticking", "tick", "c1"), ("TickingToo", "tick", "c1")]

    running = PeriodicTaskRunner(made, pool, limit=8)
    running.start()
    wait_until(lambda: len(SEEN) >= 10)
    running.stop()
    ticks = [sum(seen[0] == name for seen in SEEN) for name in ("Ticking", "TickingToo")]
    assert abs(ticks[0] - ticks[1]) <= 2


def test_a_method_for_nodes_gets_those_of_its_own_conductor_and_interface(
    store: Store, jobs: Callable[..., dict[str, PeriodicTask]]
) -> None:
    uuids = add_nodes(store, 30)
    add_nodes(store, 6, power_interface="ticking")
    hold = jobs("watching", "ticking")["hold"]
    own = mine(store, uuids)
    assert 0 < len(own) < 30
    hold()
    assert [(uuid, "c1", "background: holding") for uuid in own] == SEEN
    assert not store.nodes.rows(("uuid",), filters={"reserved": True})


def test_a_method_for_nodes_gets_what_it_asked_for(store: Store, jobs: Callable[..., dict[str, PeriodicTask]]) -> None:
    watch = jobs("watching")["watch"]
    while not (wanted := mine(store, add_nodes(store, 1, name="wanted", driver_info={"a": 1}))):
        store.nodes.delete("wanted")
    add_nodes(store, 3, maintenance=True)
    while not mine(store, add_nodes(store, 1, name="unwanted")):
        store.nodes.delete("unwanted")
    watch()
    assert [(wanted[0], True, "c1", {"a": 1}, "wanted")] == SEEN


def test_a_limit_is_kept(store: Store, jobs: Callable[..., dict[str, PeriodicTask]]) -> None:
    watch = jobs("watching")["watch"]
    own = mine(store, add_nodes(store, 30))
    assert len(own) > 2
    watch()
    assert [seen[0] for seen in SEEN] == own[:2]


def test_one_nodes_trouble_is_no_others(
    store: Store, jobs: Callable[..., dict[str, PeriodicTask]], caplog: pytest.LogCaptureFixture
) -> None:
    watch = jobs("watching")["watch"]
    while not (trouble := mine(store, add_nodes(store, 1, name="trouble"))):
        store.nodes.delete("trouble")
    own = mine(store, add_nodes(store, 30))
    watch()
    assert [seen[0] for seen in SEEN] == own[:1]
    assert f"Node {trouble[0]}: power interface watching: watch failed" in caplog.text


def test_an_end_without_a_free_worker_is_left_for_the_next_time(
    store: Store, jobs: Callable[..., dict[str, PeriodicTask]], caplog: pytest.LogCaptureFixture
) -> None:
    watch = jobs("watching")["watch"]
    while not mine(store, add_nodes(store, 1, name="end")):
        store.nodes.delete("end")
    own = mine(store, add_nodes(store, 30))
    watch()
    assert [seen[0] for seen in SEEN] == own[:2]
    assert "ERROR" not in {record.levelname for record in caplog.records}


def test_a_node_that_is_locked_is_left_for_the_next_time(
    store: Store, jobs: Callable[..., dict[str, PeriodicTask]]
) -> None:
    hold = jobs("watching")["hold"]
    own = mine(store, add_nodes(store, 30))
    store.nodes.update(own[0], {"reservation": "elsewhere"})
    hold()
    assert [seen[0] for seen in SEEN] == own[1:]
    store.nodes.update(own[0], {"reservation": None})
    hold()
    assert [seen[0] for seen in SEEN[-len(own) :]] == own


def test_an_instance_with_another_interface_is_left_out(
    store: Store, jobs: Callable[..., dict[str, PeriodicTask]]
) -> None:
    hold = jobs("watching", "ticking")["hold"]
    add_nodes(store, 4, instance_info={"power_interface": "ticking"})
    hold()
    assert SEEN == []


@pytest.mark.parametrize(
    "terms, error",
    [
        ({"filters": {"color": "red"}}, "filters nodes by color"),
        ({"predicate_extra_fields": ["color"]}, "wants color of nodes"),
    ],
)
def test_what_the_store_does_not_know_stops_the_start(
    store: Store, pool: Workers, terms: dict[str, Any], error: str
) -> None:
    class Wrong(fake.FakePower):
        @node_periodic(purpose="x", spacing=1, **terms)
        def look(self, task: Any, manager: Any, context: RequestContext) -> None:
            raise AssertionError("never called")

    class WrongHardware(AcmeHardware):
        supported_power_interfaces = [Wrong]

    published = registry({"wrong": WrongHardware}, power={"wrong": Wrong})
    composition = compose(wanted("wrong", power=("wrong",)), published)
    with pytest.raises(DriverLoadError, match=error):
        periodic_tasks.jobs_of(
            composition, TaskFactory(store, composition, pool, "c1"), HashRingManager(store, heartbeat_timeout=60)
        )


def test_a_failing_tick_is_logged_and_forgotten(store: Store, pool: Workers, caplog: pytest.LogCaptureFixture) -> None:
    class Failing(fake.FakePower):
        @periodic(spacing=1)
        def tick(self, manager: Any, context: RequestContext) -> None:
            raise RuntimeError("oops")

    class FailingHardware(AcmeHardware):
        supported_power_interfaces = [Failing]

    published = registry({"failing": FailingHardware}, power={"failing": Failing})
    composition = compose(wanted("failing", power=("failing",)), published)
    tasks = TaskFactory(store, composition, pool, "c1")
    (job,) = periodic_tasks.jobs_of(composition, tasks, HashRingManager(store, heartbeat_timeout=60))
    job()
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    assert "power interface failing: tick" in caplog.text


def test_the_number_of_visited_nodes_is_a_gauge(jobs, store, conf, measure) -> None:
    conf(metrics__backend="collector")
    add_nodes(store, 30)
    run = jobs("watching")["watch"]
    measure()
    run()
    gauges = {name: entry["value"] for name, entry in METRICS.collected().items() if entry["type"] == "gauge"}
    assert gauges == {f"{__name__}.Watching.count": 2} and len(SEEN) == 2
