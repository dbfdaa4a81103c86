"""Power synchronisation against scripted machines, over a real store."""

import itertools
import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from ironic.conductor import bmc_reader
from ironic.conductor.bmc_reader import BmcReader, by_bmc
from ironic.conductor.node_shares import NodeShares
from ironic.conductor.power_sync import PowerSync, Recovery, jobs, state_of
from ironic.conductor.tasks import TaskFactory
from ironic.conductor.workers import Workers
from ironic.core.errors.failure_texts import in_words
from ironic.core.errors.hardware_errors import DriverOperationError
from ironic.integrations.metrics import METRICS
from ironic.rpc.hash_ring import HashRingManager
from ironic.tests.databases import counting_statements
from ironic.tests.unit.conductor.conftest import wait_until
from ironic.tests.unit.conductor.flows.bench import HOST

ON, OFF = "power on", "power off"


@pytest.fixture
def hash_ring(bench):
    bench.store.conductors.register(HOST, "", ["fake-hardware"], [])
    return HashRingManager(bench.store, heartbeat_timeout=60)


@pytest.fixture
def sync(bench, hash_ring):
    return PowerSync(bench.tasks, hash_ring)


def machine(bench, power_state=ON, **values):
    values = {"provision_state": "active", "power_state": power_state} | values
    return bench.node("power", **values)


def says(bench, *answers):
    """Have the machine answer these, the last one for ever."""
    left = list(answers)

    def answer(_task):
        said = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(said, Exception):
            raise said
        return said

    bench.script.answers["get_power_state"] = answer


def orders(bench):
    return [call for call in bench.script.calls if call.startswith("set ")]


def test_a_quiet_round_is_one_statement_however_many_nodes(bench, sync):
    for _ in range(40):
        machine(bench)
    sync()
    with counting_statements(bench.store) as seen:
        sync()
    assert (seen.selects, seen.writes) == (1, 0), seen.texts
    assert bench.script.calls.count("get_power_state") == 80


def test_a_machine_is_brought_back_after_agreeing_readings_only(bench, sync):
    uuid = machine(bench)
    says(bench, OFF)
    sync()
    sync()
    assert orders(bench) == [] and bench.row(uuid).power_state == ON
    sync()
    assert orders(bench) == [f"set {ON}"]
    row = bench.row(uuid)
    assert (row.power_state, row.target_power_state, row.reservation) == (ON, None, None)
    assert [entry[:2] for entry in bench.history(uuid)] == [("WARNING", "power")]


def test_one_bad_reading_changes_nothing(bench, sync):
    machine(bench)
    says(bench, OFF, OFF, ON, OFF, OFF, ON)
    for _ in range(6):
        sync()
    assert orders(bench) == []


def test_a_machine_that_recovers_before_the_lock_is_taken_is_left_alone(bench, sync):
    machine(bench)
    says(bench, OFF, OFF, OFF, ON)
    for _ in range(3):
        sync()
    assert orders(bench) == []


@pytest.mark.parametrize("answer", [None, "unknown"])
def test_a_bmc_that_does_not_tell_is_never_off_and_never_at_fault(bench, sync, answer):
    uuid = machine(bench)
    says(bench, answer)
    for _ in range(9):
        sync()
    assert orders(bench) == []
    assert (bench.row(uuid).power_state, bench.row(uuid).maintenance) == (ON, False)


def test_the_record_follows_if_the_operator_wants_that(bench, sync, conf):
    conf(conductor__force_power_state_during_sync=False)
    uuid = machine(bench)
    says(bench, OFF)
    for _ in range(3):
        sync()
    assert orders(bench) == [] and bench.row(uuid).power_state == OFF
    assert "although 'power on' was recorded" in bench.history(uuid)[0][2]


def test_a_machine_that_must_not_be_powered_off_is_followed(bench, sync):
    uuid = machine(bench, OFF, disable_power_off=True)
    says(bench, ON)
    for _ in range(3):
        sync()
    assert orders(bench) == [] and bench.row(uuid).power_state == ON


def test_the_first_reading_is_recorded_at_once(bench, sync):
    uuid = machine(bench, None)
    says(bench, OFF)
    sync()
    assert bench.row(uuid).power_state == OFF
    assert bench.history(uuid) == []


@pytest.mark.parametrize("text", ["no route", "no route\0\ud800 at 'password': 'kept secret'"])
def test_an_unreadable_bmc_leads_to_maintenance_and_back(bench, sync, hash_ring, conf, text):
    conf(conductor__power_state_sync_max_retries=2)
    uuid = machine(bench)
    says(bench, DriverOperationError(text))
    for _ in range(2):
        sync()
    assert bench.row(uuid).maintenance is False
    sync()
    row = bench.row(uuid)
    assert (row.maintenance, row.fault, row.power_state) == (True, "power failure", "error")
    assert "no route" in row.maintenance_reason
    assert "kept secret" not in row.maintenance_reason
    recovery = Recovery(bench.tasks, hash_ring)
    recovery()
    assert bench.row(uuid).fault == "power failure"
    says(bench, OFF)
    recovery()
    row = bench.row(uuid)
    assert (row.maintenance, row.maintenance_reason, row.fault, row.power_state) == (False, None, None, OFF)


def test_recovery_leaves_other_maintenance_alone(bench, hash_ring):
    uuid = machine(bench, maintenance=True, fault="clean failure")
    Recovery(bench.tasks, hash_ring)()
    assert bench.row(uuid).maintenance is True
    assert bench.script.calls == []


def test_a_machine_that_does_not_stay_is_given_up(bench, sync, conf):
    conf(conductor__power_state_sync_max_retries=1, conductor__sync_power_state_agreeing_readings=1)
    uuid = machine(bench)
    says(bench, OFF)
    sync()
    sync()
    assert len(orders(bench)) == 1
    assert bench.row(uuid).fault == "power failure"
    assert "does not stay" in bench.row(uuid).maintenance_reason


@pytest.mark.parametrize(
    "values",
    [
        {"provision_state": "enroll"},
        {"provision_state": "clean wait"},
        {"provision_state": "deploy hold"},
        {"reservation": "another"},
        {"maintenance": True},
        {"target_power_state": OFF},
        {"conductor_group": "of others"},
    ],
)
def test_some_nodes_are_none_of_its_business(bench, sync, values):
    machine(bench, **values)
    sync()
    assert bench.script.calls == []


def test_a_user_who_comes_between_reading_and_acting_wins(bench, sync, conf):
    conf(conductor__sync_power_state_agreeing_readings=1)
    uuid = machine(bench)

    def answer(_task):
        bench.store.nodes.reserve(uuid, "user's conductor")
        return OFF

    bench.script.answers["get_power_state"] = answer
    sync()
    assert orders(bench) == []
    assert bench.row(uuid).reservation == "user's conductor"


def test_a_record_that_changed_after_the_reading_is_not_overwritten(bench, sync, conf):
    conf(conductor__sync_power_state_agreeing_readings=1, conductor__force_power_state_during_sync=False)
    uuid = machine(bench, OFF)

    def answer(_task):
        bench.store.nodes.update(uuid, {"maintenance": True})
        return ON

    bench.script.answers["get_power_state"] = answer
    sync()
    assert bench.row(uuid).power_state == OFF


def test_the_node_is_not_locked_while_it_is_read_or_recorded(bench, sync, conf):
    conf(conductor__sync_power_state_agreeing_readings=1, conductor__force_power_state_during_sync=False)
    uuid = machine(bench)
    seen = []

    def answer(_task):
        seen.append(bench.row(uuid).reservation)
        return OFF

    bench.script.answers["get_power_state"] = answer
    with counting_statements(bench.store) as statements:
        sync()
    assert seen == [None]
    assert not any("SET reservation" in text for text in statements.texts)
    assert bench.row(uuid).power_state == OFF


def test_shares_together_are_all_nodes_and_a_doubtful_one_comes_again_soon(bench, hash_ring):
    nodes = [machine(bench) for _ in range(12)]
    sync = PowerSync(bench.tasks, hash_ring, NodeShares(4))
    for _ in range(4):
        sync()
    assert bench.script.calls.count("get_power_state") == len(nodes)
    says(bench, OFF)
    bench.script.calls.clear()
    sync()
    sync()
    assert bench.script.calls.count("get_power_state") == 3 + 6


def test_the_interval_is_cut_into_shares_and_zero_switches_off(bench, hash_ring, conf):
    conf(conductor__sync_power_state_interval=120, conductor__power_failure_recovery_interval=0)
    assert [job.spacing for job in jobs(bench.tasks, hash_ring, set())] == [10, 0]
    for off in (0, -1):
        conf(conductor__sync_power_state_interval=off)
        assert jobs(bench.tasks, hash_ring, set())[0].spacing <= 0


def test_a_round_keeps_its_time_when_shares_take_long(bench, hash_ring):
    """Four shares, ten seconds each: a call that comes late reads what has become due since the last one."""
    moment = [100.0]
    sync = PowerSync(bench.tasks, hash_ring, NodeShares(4, 10, lambda: moment[0]))
    for _ in range(8):
        machine(bench)
    read = []
    for seconds in (0, 10, 25, 15, 10, 1000):
        moment[0] += seconds
        before = bench.script.calls.count("get_power_state")
        sync()
        read.append(bench.script.calls.count("get_power_state") - before)
    assert read == [2, 2, 4, 4, 2, 8]


def test_nodes_behind_one_bmc_are_one_group(bench):
    chassis = {"redfish_address": "https://192.0.2.1:8443"}
    nodes = [bench.row(machine(bench, driver_info=info)) for info in (chassis, {}, chassis, {})]
    assert [len(group) for group in by_bmc(nodes)] == [2, 1, 1]


def test_controllers_behind_one_ipmi_bridge_are_one_group(bench):
    bridge = {"ipmi_address": "192.0.2.1", "ipmi_bridging": "single", "ipmi_target_channel": "0"}
    nodes = [bench.row(machine(bench, driver_info={**bridge, "ipmi_target_address": f"0x8{n}"})) for n in range(3)]
    assert [len(group) for group in by_bmc(nodes)] == [3]


class Threads:
    """A pool with two free workers."""

    def __init__(self):
        self.free = 2
        self.executor = ThreadPoolExecutor(2)

    def take(self, purpose, party=None, *, background=False):
        assert background
        self.free -= 1
        return self

    def start(self, function, *args) -> Future[None]:
        return self.executor.submit(function, *args)


def test_readings_of_one_bmc_never_overlap_and_keep_their_distance(bench):
    bench.tasks.pool = Threads()
    shared = {"redfish_address": "192.0.2.1"}
    nodes = [bench.row(machine(bench, driver_info=info)) for info in (shared, {}, shared, {}, shared)]
    alone, most, lock = {nodes[i].id for i in (1, 3)}, [0], threading.Lock()
    # Two workers begin, each with a machine of another BMC.
    begun, meeting = itertools.count(), threading.Barrier(2, timeout=60)
    at_work: list[int] = []
    readings: list[int] = []
    times: list[float] = []

    def read(node):
        with lock:
            at_work.append(node.id)
            most[0] = max(most[0], len(at_work))
            assert len([node for node in at_work if node not in alone]) <= 1
        if next(begun) < 2:
            meeting.wait()
        with lock:
            at_work.remove(node.id)
            readings.append(node.id)
            if node.id not in alone:
                times.append(time.monotonic())

    BmcReader(bench.tasks, "reading", read, workers=lambda: 3, pause=lambda: 0.05).read(nodes)
    bench.tasks.pool.executor.shutdown()
    assert sorted(readings) == sorted(node.id for node in nodes)
    assert most[0] > 1
    assert all(later - earlier >= 0.05 for earlier, later in zip(times, times[1:], strict=False))


def test_a_full_pool_slows_it_down_only(bench, sync, conf):
    bench.pool.full = True
    machine(bench)
    machine(bench)
    sync()
    assert bench.script.calls.count("get_power_state") == 2


def test_a_stop_ends_a_round_early(bench, sync):
    machine(bench)
    sync.stop()
    sync()
    assert bench.script.calls == []


def test_an_unexpected_error_of_a_driver_is_no_answer(bench):
    uuid = machine(bench)
    says(bench, ZeroDivisionError("x"))
    with bench.tasks.observe(bench.context, bench.row(uuid), purpose="test") as task:
        state, why = state_of(task)
    assert (state, in_words(why)) == (None, "unexpected ZeroDivisionError: x")


def test_the_number_of_synchronised_nodes_is_a_gauge(bench, hash_ring, conf, measure):
    conf(metrics__backend="collector")
    measure()
    for _ in range(5):
        machine(bench)
    sync = PowerSync(bench.tasks, hash_ring, NodeShares(2))
    for _ in range(3):
        sync()
    front = "ironic.conductor.manager.ConductorManager"
    assert METRICS.collected()[f"{front}.PowerSyncNodesCount"] == {"value": 5, "type": "gauge"}
    Recovery(bench.tasks, hash_ring)()
    assert METRICS.collected()[f"{front}.PowerSyncRecoveryNodeCount"]["value"] == 0


@pytest.fixture
def threaded(bench, hash_ring, conf, monkeypatch):
    """Return a function that makes a synchronisation with real threads, which gives up waiting soon."""
    monkeypatch.setattr(bmc_reader, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(bmc_reader, "_SLOW_SECONDS", 0.05)
    monkeypatch.setattr(bmc_reader, "_PATIENCE_SECONDS", 0.3)
    conf(conductor__sync_power_state_workers=4, conductor__power_state_sync_max_retries=99)
    pool = Workers(HOST, 32)
    yield PowerSync(TaskFactory(bench.store, bench.composition, pool, HOST), hash_ring), pool
    assert pool.drain(60) == []
    pool.close()


class Rack:
    """Machines of which some do not answer until the test lets them."""

    def __init__(self, bench, dead, alive):
        self.dead, self.alive = ({machine(bench) for _ in range(number)} for number in (dead, alive))
        self.go_on, self._guard = threading.Event(), threading.Lock()
        self._read: Counter[str] = Counter()
        bench.script.answers["get_power_state"] = self._answer

    def _answer(self, task):
        with self._guard:
            self._read[task.node.uuid] += 1
        if task.node.uuid in self.dead:
            assert self.go_on.wait(60)
            raise DriverOperationError(reason="no answer")
        return ON

    def read(self, uuids):
        with self._guard:
            return [self._read[uuid] for uuid in uuids]


def test_bmcs_that_stop_to_answer_hold_up_no_other(bench, threaded):
    sync, _ = threaded
    rack = Rack(bench, dead=10, alive=10)
    try:
        for turn in range(1, 4):
            sync()
            wait_until(lambda turn=turn: min(rack.read(rack.alive)) >= turn, 60)
        assert max(rack.read(rack.dead)) == 1
    finally:
        rack.go_on.set()


def test_bmcs_that_are_known_not_to_answer_have_half_of_the_workers(bench, threaded):
    """Of four workers, each of which may be replaced three times while it waits."""
    sync, pool = threaded
    rack = Rack(bench, dead=12, alive=8)
    rack.go_on.set()
    sync()
    wait_until(lambda: set(rack.read(rack.dead | rack.alive)) == {1} and not pool.taken)
    rack.go_on.clear()
    try:
        for turn in range(2, 1000):
            sync()
            wait_until(lambda turn=turn: set(rack.read(rack.alive)) == {turn})
            if turn > 10 and sum(rack.read(rack.dead)) >= 12 + 8:
                break
        assert sum(rack.read(rack.dead)) == 12 + 8
    finally:
        rack.go_on.set()


@pytest.fixture
def failed_change(bench):
    """Return a machine whose last power change has failed."""
    uuid = machine(bench, OFF, provision_state="available")
    bench.script.answers[f"set {ON}"] = DriverOperationError("no power budget")
    bench.endpoint.change_node_power_state(bench.context, uuid, ON, None)
    assert "no power budget" in bench.row(uuid).last_error
    return uuid


def test_the_error_of_a_power_change_ends_when_the_machine_agrees_with_its_record(bench, sync, failed_change):
    says(bench, DriverOperationError("no route"), OFF)
    sync()
    assert "no power budget" in bench.row(failed_change).last_error
    sync()
    assert bench.row(failed_change).last_error is None
    assert "no power budget" in bench.history(failed_change)[0][2]


def test_another_error_stays(bench, sync, failed_change):
    bench.store.nodes.update(failed_change, {"last_error": "Cleaning failed. Changing the power state failed."})
    other = machine(bench, OFF, last_error="Cleaning failed.")
    says(bench, OFF)
    sync()
    assert [bench.row(uuid).last_error is None for uuid in (failed_change, other)] == [False, False]


def test_an_error_that_comes_meanwhile_stays(bench, sync, failed_change):
    def answer(_task):
        bench.store.nodes.update(failed_change, {"last_error": "new"})
        return OFF

    bench.script.answers["get_power_state"] = answer
    sync()
    assert bench.row(failed_change).last_error == "new"


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_power_failure_is_in_last_error_until_the_bmc_answers(bench, sync, hash_ring, conf, by_hand):
    conf(conductor__power_state_sync_max_retries=0)
    uuid = machine(bench, OFF, health="OK")
    says(bench, DriverOperationError("the disk of the BMC is full"), OFF)
    sync()
    row = bench.row(uuid)
    assert row.health is None
    assert (row.fault, row.last_error) == ("power failure", row.maintenance_reason)
    assert "the disk of the BMC is full" in row.last_error
    if by_hand:
        bench.store.nodes.update(uuid, {"maintenance": False, "maintenance_reason": None, "fault": None})
        sync()
    else:
        Recovery(bench.tasks, hash_ring)()
    assert (bench.row(uuid).maintenance, bench.row(uuid).last_error) == (False, None)


def test_recovery_leaves_an_error_of_something_else(bench, hash_ring):
    broken = {"maintenance": True, "maintenance_reason": "power", "fault": "power failure"}
    uuid = machine(bench, OFF, last_error="Deploying failed.", provision_state="deploy failed", **broken)
    says(bench, OFF)
    Recovery(bench.tasks, hash_ring)()
    assert (bench.row(uuid).maintenance, bench.row(uuid).last_error) == (False, "Deploying failed.")
