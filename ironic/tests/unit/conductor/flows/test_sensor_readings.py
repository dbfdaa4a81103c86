"""Sensor readings of scripted machines, over a real store."""

import logging
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from ironic.conductor.node_shares import NodeShares
from ironic.conductor.sensor_readings import SensorReadings, jobs, of_types, send_metrics
from ironic.conductor.tasks import TaskFactory
from ironic.conductor.workers import Workers
from ironic.core.errors.hardware_errors import FailedToGetSensorData
from ironic.integrations.metrics import Metrics
from ironic.rpc.hash_ring import HashRingManager
from ironic.rpc.notifications.notifier import Notification
from ironic.rpc.notifications.readings import READINGS
from ironic.tests.databases import counting_statements
from ironic.tests.listening import Listener
from ironic.tests.site import eventually
from ironic.tests.unit.conductor.flows.bench import HOST, Bench

FOUND = {"Temperature": {"CPU": {"reading_celsius": 40}}, "Fan": {"F1": {"reading": 6000}}, "Extra": {}}


@pytest.fixture
def hash_ring(bench: Bench) -> HashRingManager:
    bench.store.conductors.register(HOST, "", ["fake-hardware"], [])
    return HashRingManager(bench.store, heartbeat_timeout=60)


@pytest.fixture
def sent() -> Iterator[list[Notification]]:
    """Listen to the readings of this process."""
    listener = Listener()
    READINGS.open(listener, host=HOST)
    yield listener.heard
    READINGS.close()


@pytest.fixture
def read(bench: Bench, hash_ring: HashRingManager) -> SensorReadings:
    bench.script.answers["get_sensors_data"] = FOUND
    return SensorReadings(bench.tasks, hash_ring)


def machine(bench: Bench, **values: object) -> str:
    return bench.node("management", **{"provision_state": "active", **values})


def node_of(notification: Notification) -> object:
    return notification.payload["node_uuid"]


def test_a_reading_is_sent_with_the_machine_it_is_of(
    bench: Bench, read: SensorReadings, sent: list[Notification]
) -> None:
    instance = "6a1c5f8e-6b57-4c3b-9d55-0d7c9f4c9c01"
    uuid = machine(bench, name="web-1", instance_uuid=instance)
    read()
    (heard,) = sent
    assert (heard.publisher, heard.level, heard.event_type) == (
        f"None.{HOST}",
        "info",
        "hardware.fake-hardware.metrics",
    )
    message = dict(heard.payload)
    assert message.pop("message_id") and message.pop("timestamp")
    assert message == {
        "node_uuid": uuid,
        "node_name": "web-1",
        "instance_uuid": instance,
        "event_type": "hardware.fake-hardware.metrics.update",
        "payload": FOUND,
    }


def test_a_round_is_one_statement_however_many_nodes(
    bench: Bench, read: SensorReadings, sent: list[Notification]
) -> None:
    uuids = {machine(bench) for _ in range(40)}
    read()
    with counting_statements(bench.store) as seen:
        read()
    assert (seen.selects, seen.writes) == (1, 0), seen.texts
    assert {node_of(each) for each in sent} == uuids and len(sent) == 80


def test_a_round_goes_over_all_shares(bench: Bench, hash_ring: HashRingManager, sent: list[Notification]) -> None:
    bench.script.answers["get_sensors_data"] = FOUND
    uuids = sorted(machine(bench) for _ in range(7))
    read = SensorReadings(bench.tasks, hash_ring, NodeShares(3))
    counts = []
    for _ in range(3):
        read()
        counts.append(len(sent))
    assert counts[0] in (2, 3) and counts[1] in (4, 5)
    assert sorted(map(node_of, sent), key=str) == uuids


@pytest.mark.parametrize(
    "values",
    [
        {"maintenance": True},
        {"provision_state": "available"},
        {"provision_state": "enroll"},
        {"conductor_group": "of others"},
    ],
)
def test_some_nodes_are_not_read(
    bench: Bench, read: SensorReadings, sent: list[Notification], values: dict[str, object]
) -> None:
    machine(bench, **values)
    read()
    assert bench.script.calls == [] and sent == []


@pytest.mark.parametrize("state, times", [("available", 1), ("clean wait", 1), ("enroll", 0)])
def test_undeployed_nodes_are_read_if_wanted(
    bench: Bench, read: SensorReadings, sent: list[Notification], conf: Callable[..., None], state: str, times: int
) -> None:
    conf(sensor_data__enable_for_undeployed_nodes=True)
    machine(bench, provision_state=state)
    read()
    assert len(sent) == times


def test_a_node_that_a_user_holds_is_read_all_the_same(
    bench: Bench, read: SensorReadings, sent: list[Notification]
) -> None:
    machine(bench, reservation="another")
    read()
    assert len(sent) == 1


def test_nothing_is_read_when_nothing_can_be_sent(bench: Bench, read: SensorReadings) -> None:
    machine(bench)
    read()
    assert bench.script.calls == []


@pytest.mark.parametrize(
    "types, names",
    [
        (["ALL"], ["Temperature", "Fan", "Extra"]),
        (["fan", "all"], ["Temperature", "Fan", "Extra"]),
        (["temperature", " FAN"], ["Temperature", "Fan"]),
        (["Current"], []),
        ([], []),
    ],
)
def test_types_are_filtered_in_any_case(types: list[str], names: list[str]) -> None:
    assert of_types(FOUND, types) == {name: FOUND[name] for name in names}


@pytest.mark.parametrize("found, types", [({}, "ALL"), (FOUND, "Current")])
def test_an_empty_reading_is_not_sent(
    bench: Bench,
    read: SensorReadings,
    sent: list[Notification],
    conf: Callable[..., None],
    found: dict[str, object],
    types: str,
) -> None:
    conf(sensor_data__data_types=types)
    bench.script.answers["get_sensors_data"] = found
    machine(bench)
    read()
    assert bench.script.calls == ["get_sensors_data"] and sent == []


def test_a_machine_without_sensors_is_no_failure(
    bench: Bench, read: SensorReadings, sent: list[Notification], caplog: pytest.LogCaptureFixture
) -> None:
    bench.node(provision_state="active", management_interface="noop")
    bench.script.answers["get_sensors_data"] = NotImplementedError()
    machine(bench)
    read()
    assert sent == [] and not [each for each in caplog.records if each.levelno >= logging.WARNING]


@pytest.mark.parametrize("answer", [FailedToGetSensorData(node="n", error="no route"), RuntimeError("no route"), None])
def test_a_failure_is_one_warning_until_the_machine_can_be_read(
    bench: Bench,
    read: SensorReadings,
    sent: list[Notification],
    caplog: pytest.LogCaptureFixture,
    answer: Exception | None,
) -> None:
    caplog.set_level(logging.INFO)
    machine(bench)
    bench.script.answers["get_sensors_data"] = answer
    for _ in range(8):
        read()
    assert len(bench.script.calls) == 3  # at first, and then in one of four rounds
    assert [each.levelname for each in caplog.records if "can't be read" in each.getMessage()] == ["WARNING"]
    bench.script.answers["get_sensors_data"] = FOUND
    for _ in range(8):
        read()
    assert len(sent) == 6  # from its turn on in every round
    assert "can be read again" in caplog.text


def test_readings_without_an_end_are_not_sent(
    bench: Bench, read: SensorReadings, sent: list[Notification], caplog: pytest.LogCaptureFixture
) -> None:
    # Any character may be in a name.
    odd = {"\x1b[31mFan\n\u2028": {"reading": "6000 RPM\0"}}
    bench.script.answers["get_sensors_data"] = {"Fan": {**odd, **{f"F{n}": {"text": "x" * 100} for n in range(9000)}}}
    uuid = machine(bench)
    read()
    eventually(lambda: f"Node {uuid}: its sensors can't be read" in caplog.text, True)
    assert sent == []
    assert "more than 1048576 bytes" in caplog.text
    bench.script.answers["get_sensors_data"] = {"Fan": odd}
    for _ in range(4):
        read()
    eventually(lambda: bool(sent), True)
    assert sent[0].payload["payload"] == {"Fan": odd}


def test_a_machine_that_fails_harms_no_other(bench: Bench, read: SensorReadings, sent: list[Notification]) -> None:
    bad, good = machine(bench), machine(bench)

    def answer(task: object) -> object:
        if task.node.uuid == bad:  # type: ignore[attr-defined]
            raise RuntimeError("no route")
        return FOUND

    bench.script.answers["get_sensors_data"] = answer
    read()
    assert list(map(node_of, sent)) == [good]


def test_a_full_pool_slows_it_down_only(bench: Bench, read: SensorReadings, sent: list[Notification]) -> None:
    machine(bench)
    machine(bench)
    bench.pool.full = True
    read()
    assert len(sent) == 2


def test_a_machine_whose_bmc_does_not_answer_others_is_read_less_often(
    bench: Bench, hash_ring: HashRingManager, sent: list[Notification]
) -> None:
    bench.script.answers["get_sensors_data"] = FOUND
    quiet, other = machine(bench), machine(bench)
    silent = {bench.row(quiet).id}
    read = SensorReadings(bench.tasks, hash_ring, silent=silent)
    for _ in range(4):
        read()
    assert sorted(map(node_of, sent), key=str) == sorted([quiet, *[other] * 4])
    silent.clear()
    read()
    assert len(sent) == 7


@pytest.fixture
def pool(conf: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    """Return real workers, of which two may read; a round is not waited for."""
    monkeypatch.setattr("ironic.conductor.bmc_reader._PATIENCE_SECONDS", 0)
    conf(sensor_data__workers=2)
    pool = Workers(HOST, 3)
    yield pool
    assert pool.drain(60) == []
    pool.close()


def test_a_machine_that_never_answers_costs_one_worker(
    bench: Bench, hash_ring: HashRingManager, sent: list[Notification], pool: Workers
) -> None:
    silent = machine(bench)
    others = {machine(bench) for _ in range(3)}
    hung, go_on, rounds = threading.Event(), threading.Event(), threading.Semaphore(0)

    def answer(task: object) -> object:
        if task.node.uuid == silent:  # type: ignore[attr-defined]
            hung.set()
            assert go_on.wait(60)
        rounds.release()
        return FOUND

    bench.script.answers["get_sensors_data"] = answer
    try:
        read = SensorReadings(TaskFactory(bench.store, bench.composition, pool, HOST), hash_ring)
        read()
        assert hung.wait(60)
        for _ in range(3):
            assert rounds.acquire(timeout=60)
        eventually(lambda: pool.taken, 1)
        read()
        for _ in range(3):
            assert rounds.acquire(timeout=60)
        assert bench.script.calls.count("get_sensors_data") == 7
    finally:
        go_on.set()
    eventually(lambda: pool.taken, 0)
    assert {node_of(each) for each in sent} == others | {silent}


def test_what_waited_too_long_is_left_for_its_next_turn(
    bench: Bench,
    hash_ring: HashRingManager,
    sent: list[Notification],
    pool: Workers,
    conf: Callable[..., None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    conf(sensor_data__workers=1, sensor_data__wait_timeout=1)
    hung, go_on, now = threading.Event(), threading.Event(), time.monotonic()
    for _ in range(3):
        machine(bench)

    def answer(_task: object) -> object:
        hung.set()
        assert go_on.wait(60)
        return FOUND

    bench.script.answers["get_sensors_data"] = answer
    read = SensorReadings(TaskFactory(bench.store, bench.composition, pool, HOST), hash_ring)
    try:
        read()
        assert hung.wait(60)
        eventually(lambda: time.monotonic() > now + 2, True)
    finally:
        go_on.set()
    eventually(lambda: pool.taken, 0)
    assert len(sent) == 1
    read()
    eventually(lambda: len(sent), 4)
    assert "2 nodes are left out of a round of reading of sensors" in caplog.text


def test_a_stop_begins_no_further_reading(bench: Bench, read: SensorReadings, sent: list[Notification]) -> None:
    machine(bench)
    machine(bench)

    def answer(_task: object) -> object:
        read.stop()
        return FOUND

    bench.script.answers["get_sensors_data"] = answer
    read()
    assert len(sent) == 1


def test_the_metrics_of_the_conductor_are_sent_if_they_are_kept(
    sent: list[Notification], conf: Callable[..., None], measure: Callable[[], None]
) -> None:
    metrics = Metrics("conductor")
    metrics.send_gauge("interface_differences", 1)
    send_metrics()
    assert sent == []
    conf(metrics__backend="collector", metrics__global_prefix="lab")
    measure()
    metrics.send_gauge("interface_differences", 1)
    metrics.send_gauge("interface_differences", 2)
    send_metrics()
    (heard,) = sent
    assert heard.event_type == "ironic.metrics"
    assert (heard.payload["hostname"], heard.payload["event_type"]) == (HOST, "ironic.metrics.update")
    assert heard.payload["payload"] == {"lab.conductor.interface_differences": {"value": 2, "type": "gauge"}}
    conf(sensor_data__data_types="Temperature")
    send_metrics()
    assert len(sent) == 1


@pytest.mark.parametrize(
    "options, spacings",
    [
        ({}, [0, 0]),
        ({"send_sensor_data": True}, [10, 600]),
        ({"send_sensor_data": True, "interval": 5}, [5, 5]),
        ({"send_sensor_data": True, "enable_for_nodes": False}, [0, 600]),
        ({"send_sensor_data": True, "enable_for_conductor": False}, [10, 0]),
    ],
)
def test_the_options_say_what_is_read_and_how_often(
    bench: Bench,
    hash_ring: HashRingManager,
    conf: Callable[..., None],
    options: dict[str, object],
    spacings: list[int],
) -> None:
    conf(**{f"sensor_data__{name}": value for name, value in options.items()})
    assert [job.spacing for job in jobs(bench.tasks, hash_ring, ())] == spacings
