import uuid
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from ironic.core.context import RequestContext
from ironic.core.errors import DriverNotFound, NoValidHost
from ironic.core.errors.resource_errors import NoLiveConductor
from ironic.db import InterfaceRow
from ironic.rpc.client import ConductorClients
from ironic.rpc.hash_ring import HashRingManager
from ironic.tests.databases import counting_statements, sqlite_store

UUIDS = [str(uuid.UUID(int=n * 104729)) for n in range(300)]


class Time:
    """A clock that is set by the test."""

    def __init__(self):
        self.seconds = 0.0

    def monotonic(self):
        return self.seconds

    def utc(self):
        return datetime(2025, 1, 1) + timedelta(seconds=self.seconds)


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def store(tmp_path, time):
    store = sqlite_store(tmp_path, clock=time.utc)
    yield store
    store.close()


@pytest.fixture
def hash_ring(store, time):
    return HashRingManager(store, heartbeat_timeout=60, reset_interval=15, clock=time.monotonic)


def register(store, host, *drivers, group=""):
    rows = [InterfaceRow(driver, "power", "fake", True) for driver in drivers]
    store.conductors.register(host, group, drivers, rows)


def owners(hash_ring, driver="fake", group=""):
    return {hash_ring.host_for(uuid, driver, group) for uuid in UUIDS}


@pytest.mark.demand("S37")
def test_nodes_are_spread_over_the_conductors_of_their_driver(store, hash_ring):
    register(store, "c1", "fake")
    register(store, "c2", "fake", "redfish")
    assert owners(hash_ring) == {"c1", "c2"}
    assert owners(hash_ring, "redfish") == {"c2"}


def test_everybody_agrees(store, hash_ring):
    for name in ("c1", "c2", "c3"):
        register(store, name, "fake")
    other = HashRingManager(store, heartbeat_timeout=60)
    assert [hash_ring.host_for(uuid, "fake", "") for uuid in UUIDS] == [
        other.host_for(uuid, "fake", "") for uuid in UUIDS
    ]


def test_a_group_is_served_by_its_own_conductors_only(store, hash_ring):
    register(store, "c1", "fake")
    register(store, "c2", "fake", group="Rack-1")
    assert owners(hash_ring) == {"c1"}
    assert owners(hash_ring, group="rack-1") == {"c2"}
    with pytest.raises(NoValidHost) as raised:
        hash_ring.host_for(UUIDS[0], "fake", "rack-2")
    assert raised.value.facts == {"driver": "fake", "group": "rack-2"}


def test_a_driver_nobody_serves_has_no_host(store, hash_ring):
    register(store, "c1", "fake")
    with pytest.raises(NoValidHost):
        hash_ring.host_for(UUIDS[0], "ipmi", "")


def test_exactly_one_conductor_says_a_node_is_its_own(store, hash_ring):
    register(store, "c1", "fake")
    register(store, "c2", "fake")
    for node in UUIDS[:20]:
        assert [hash_ring.is_mine(host, node, "fake", "") for host in ("c1", "c2")].count(True) == 1
    assert not hash_ring.is_mine("c1", UUIDS[0], "ipmi", "")


def test_many_questions_are_answered_from_one_look(store, hash_ring):
    register(store, "c1", "fake")
    with counting_statements(store) as seen:
        owners(hash_ring)
        hash_ring.served()
        hash_ring.hosts_of("fake")
    assert seen.selects == 2


def test_a_dead_conductor_loses_its_nodes_after_the_reset_interval(store, hash_ring, time):
    register(store, "c1", "fake")
    register(store, "c2", "fake")
    assert owners(hash_ring) == {"c1", "c2"}
    time.seconds = 50
    store.conductors.touch("c2")
    time.seconds = 61
    assert owners(hash_ring) == {"c2"}


def test_within_the_interval_the_picture_stands(store, hash_ring, time):
    register(store, "c1", "fake")
    assert owners(hash_ring) == {"c1"}
    register(store, "c2", "fake")
    time.seconds = 15
    assert owners(hash_ring) == {"c1"}
    time.seconds = 15.1
    assert owners(hash_ring) == {"c1", "c2"}


def test_reset_forgets_the_picture(store, hash_ring):
    register(store, "c1", "fake")
    assert owners(hash_ring) == {"c1"}
    register(store, "c2", "fake")
    hash_ring.reset()
    assert owners(hash_ring) == {"c1", "c2"}


def test_a_first_conductor_is_found_soon(store, hash_ring, time):
    with pytest.raises(NoValidHost):
        hash_ring.host_for(UUIDS[0], "fake", "")
    register(store, "c1", "fake")
    time.seconds = 1.1
    assert hash_ring.host_for(UUIDS[0], "fake", "") == "c1"
    assert hash_ring.hosts_of("fake") == ["c1"]


def test_asking_for_what_nobody_serves_does_not_flood_the_database(store, hash_ring):
    register(store, "c1", "fake")
    with counting_statements(store) as seen:
        for node in UUIDS:
            assert not hash_ring.is_mine("c1", node, "ipmi", "")
    assert seen.selects == 2


def test_conductors_that_left_serve_nothing(store, hash_ring):
    register(store, "c1", "fake")
    store.conductors.unregister("c1")
    assert hash_ring.hosts_of("fake") == []
    assert hash_ring.served() == []


def test_served_lists_what_is_offered(store, hash_ring):
    register(store, "c1", "fake", group="g")
    (row,) = hash_ring.served()
    assert (row.hostname, row.conductor_group, row.hardware_type, row.interface_name) == ("c1", "g", "fake", "fake")


class Echo:
    """A transport that says whom it would ask."""

    def send(self, host, context, call, arguments):
        return {"asked": host}


def test_a_node_is_served_by_its_owner(store, hash_ring):
    register(store, "c1", "fake")
    register(store, "c2", "fake")
    conductors = ConductorClients(Echo(), hash_ring)
    for node in UUIDS[:20]:
        row = SimpleNamespace(uuid=node, driver="fake", conductor_group="")
        assert conductors.serving(row).get_boot_device(RequestContext(), node) == {
            "asked": hash_ring.host_for(node, "fake", "")
        }


def test_a_driver_is_asked_at_any_of_its_conductors(store, hash_ring):
    register(store, "c1", "fake", group="g")
    conductors = ConductorClients(Echo(), hash_ring)
    answer: Any = conductors.for_driver("fake").get_boot_device(RequestContext(), "n1")
    assert answer == {"asked": "c1"}
    with pytest.raises(DriverNotFound):
        conductors.for_driver("ipmi")


def test_work_on_no_node_falls_to_any_that_serves_nodes(store, hash_ring):
    register(store, "c1", "fake")
    register(store, "c2", "redfish", group="g")
    register(store, "leaving")
    assert {hash_ring.any_host(uuid) for uuid in UUIDS} == {"c1", "c2"}
    assert hash_ring.any_host(UUIDS[0]) == hash_ring.any_host(UUIDS[0])


def test_without_a_conductor_work_falls_to_nobody(store, hash_ring):
    with pytest.raises(NoLiveConductor):
        hash_ring.any_host(UUIDS[0])
