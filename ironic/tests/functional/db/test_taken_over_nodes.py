"""What becomes of nodes whose database was taken over: at work, waiting, of hardware types that are gone."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.conductor.takeover import TakeOver
from ironic.conductor.tasks import TaskFactory
from ironic.conductor.workers import Workers
from ironic.db import Store, connect
from ironic.rpc.hash_ring import HashRingManager
from ironic.tests.functional.db.test_takeover import NEWEST, change, serving, take_over
from ironic.tests.reference_databases import restore
from ironic.tests.unit.conductor.conftest import fake_composition

# What the recorded nodes are not in, and where they lead: waits that no fake interface has, and steps that hold.
HELD = {
    "rescue": ("rescue wait", "rescue"),
    "enrolled": ("clean hold", "manageable"),
    "active": ("deploy hold", "active"),
    "adopted": ("service hold", "active"),
}


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Return the URL of a file of the newest release, one of whose nodes has a hardware type that is gone."""
    url = f"sqlite:///{tmp_path}/reference.sqlite"
    restore(url, NEWEST)
    change(
        url,
        "UPDATE nodes SET driver = 'ilo', boot_interface = 'ilo-ipxe', provision_state = 'cleaning', "
        "target_provision_state = 'available', reservation = 'machine-room' WHERE name = 'manageable'",
        "UPDATE nodes SET driver = 'ilo', power_interface = 'ilo' WHERE name = 'available'",
        *(
            f"UPDATE nodes SET provision_state = '{state}', target_provision_state = '{target}' WHERE name = '{name}'"
            for name, (state, target) in HELD.items()
        ),
    )
    take_over(url)
    return url


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """Return the store after a conductor of ours has started and looked for what others left."""
    store = connect(url)
    store.conductors.register("c1", "", ["fake-hardware"], [])
    pool = Workers("c1", 2)
    TakeOver(
        TaskFactory(store, fake_composition(), pool, "c1"), HashRingManager(store, heartbeat_timeout=60)
    ).of_the_dead()
    yield store
    pool.close()
    store.close()


def test_work_that_the_reference_was_in_the_middle_of_fails_with_the_reason(store: Store) -> None:
    node = store.nodes.find(name="slow")[0]
    assert (node.provision_state, node.target_provision_state, node.reservation) == ("deploy failed", "active", None)
    assert "The operation in state 'deploying' was lost" in (node.last_error or "")
    assert "conductor machine-room stopped giving signs of life" in (node.last_error or "")


def test_so_does_the_work_on_a_node_whose_hardware_type_is_gone(store: Store) -> None:
    node = store.nodes.find(name="manageable")[0]
    assert (node.provision_state, node.driver, node.maintenance) == ("clean failed", "ilo", True)


def test_a_power_change_that_was_under_way_is_given_up(store: Store) -> None:
    node = store.nodes.find(name="full")[0]
    assert (node.target_power_state, node.reservation) == (None, None)
    assert "Changing the power state to 'power on' was given up" in (node.last_error or "")


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("wait-clean", "clean wait"),
        ("wait-deploy", "wait call-back"),
        ("wait-inspect", "inspect wait"),
        ("wait-service", "service wait"),
        *((name, state) for name, (state, _target) in HELD.items()),
    ],
)
def test_a_node_that_waits_for_its_ramdisk_or_is_held_goes_on_waiting(store: Store, name: str, state: str) -> None:
    node = store.nodes.find(name=name)[0]
    assert (node.provision_state, node.last_error, node.reservation) == (state, None, None)


def test_a_node_of_a_hardware_type_that_is_gone_can_be_read_and_gets_another_one(url: str, store: Store) -> None:
    with serving(url) as service:
        shown = service.call("GET", "/v1/nodes/available").json
        assert (shown["driver"], shown["power_interface"]) == ("ilo", "ilo")
        for refused in (
            service.call("PUT", "/v1/nodes/available/states/power", body={"target": "power on"}),
            service.call("DELETE", "/v1/nodes/available"),
        ):
            assert refused.status in (400, 404), refused.body
            assert "ilo" in json.loads(refused.json["error_message"])["faultstring"]
        change_of_type = [{"op": "replace", "path": "/driver", "value": "fake-hardware"}]
        changed = service.call("PATCH", "/v1/nodes/available?reset_interfaces=True", body=change_of_type)
        assert changed.status == 200, changed.body
        assert changed.json["driver"] == "fake-hardware" and changed.json["power_interface"] != "ilo"
