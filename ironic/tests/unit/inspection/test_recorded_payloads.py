"""Whole payloads of machines of many kinds, through look-up and all hooks."""

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ironic.core.errors import HardwareInspectionFailure, InvalidParameterValue, NotFound
from ironic.core.flows import states
from ironic.db import Store
from ironic.inspection import arrival
from ironic.inspection.hooks import base
from ironic.inspection.pipeline import Pipeline
from ironic.inspection.rules import RuleBook
from ironic.tests.conftest import Setter
from ironic.tests.effort import examples
from ironic.tests.unit.inspection.lab import (
    DATA,
    Work,
    huge,
    new_node,
    new_port,
    recorded,
    stored_found,
    work_on,
)

DEFAULTS = ["ramdisk-error", "architecture", "validate-interfaces", "ports"]
ALL = [*DEFAULTS, *sorted(base.installed_hooks().keys() - {*DEFAULTS})]
FALLBACK = "02:00:5e:50:00:01"

# Name of the payload, port that is made with add_ports = pxe, all ports, capabilities, local_gb, memory_mb.
MACHINES = [
    ("real-collectors-small-vm", "02:fc:00:00:00:01", 1, None, 255),
    ("dell-like", "b0:26:28:00:00:10", 4, "boot_mode:uefi,cpu_vt:true,cpu_aes:true,cpu_hugepages_1g:true", 446),
    ("hpe-like", "94:40:c9:00:01:00", 4, "boot_mode:uefi,cpu_vt:true,cpu_aes:true,cpu_hugepages_1g:true", None),
    ("arm64", "3c:ec:ef:00:02:00", 2, "boot_mode:uefi,cpu_aes:true", None),
    ("bond-vlan", "02:00:5e:10:00:01", 4, None, None),
    ("ipv6-only-bmc", "02:00:5e:20:00:01", 1, None, None),
    ("lldp-raw", "02:00:5e:30:00:00", 3, None, None),
    ("extra-hardware", "02:00:5e:40:00:00", 2, None, None),
    ("diskless", FALLBACK, 1, None, 0),
]


def payload_of(name: str) -> dict[str, Any]:
    return huge() if name == "huge" else recorded(name)


def arrive(store: Store, payload: Any, names: list[str], mac: str) -> Work:
    """Take a payload in for a node that waits, as API and conductor do."""
    node = new_node(store, provision_state=states.INSPECTWAIT)
    new_port(store, node, mac)
    arrived = arrival.accept(store, RuleBook().early(store), payload)
    assert arrived.node.uuid == node.uuid
    work = work_on(store, node)
    Pipeline(base.load_hooks(names)).run(work, arrived.inventory, arrived.plugin_data)
    return work


def first_mac(payload: dict[str, Any]) -> str:
    return str(payload["inventory"]["interfaces"][0]["mac_address"])


@pytest.mark.parametrize("name", [name for name, *_ in MACHINES] + ["huge"])
def test_it_makes_of_every_machine_what_the_default_hooks_should(conf: Setter, store: Store, name: str) -> None:
    conf(inspector__add_ports="pxe")
    payload = payload_of(name)
    before = copy.deepcopy(payload["inventory"])
    work = arrive(store, payload, DEFAULTS, first_mac(payload))
    assert work.node.properties == {"cpu_arch": before["cpu"]["architecture"]}
    assert [port.address for port in work.ports] == [first_mac(payload)]
    found = stored_found(store, work.node)
    assert found is not None
    assert found[0] == before
    made = {"all_interfaces", "valid_interfaces", "macs", "bmc_address"}
    assert set(found[1]) - made == set(payload) - {"inventory", "logs"}


@pytest.mark.parametrize(("name", "mac", "ports", "capabilities", "local_gb"), MACHINES)
def test_it_makes_of_every_machine_what_all_hooks_should(
    store: Store, name: str, mac: str, ports: int, capabilities: str | None, local_gb: int | None
) -> None:
    payload = recorded(name)
    inventory = copy.deepcopy(payload["inventory"])
    work = arrive(store, payload, ALL, first_mac(payload))
    node = store.nodes.get(work.node.uuid)
    assert node.properties["cpu_arch"] == inventory["cpu"]["architecture"]
    assert node.properties["memory_mb"] == inventory["memory"]["physical_mb"]
    assert node.properties["cpus"] == inventory["cpu"]["count"]
    assert mac in [port.address for port in work.ports]
    assert len(work.ports) == ports
    if capabilities is not None:
        assert node.properties.get("capabilities") == capabilities
    if local_gb is not None:
        assert node.properties["local_gb"] == local_gb
    found = stored_found(store, node)
    assert found is not None
    assert found[0] == inventory
    assert "data" not in found[1]


@pytest.mark.demand("S84")
def test_it_fails_the_machine_whose_ramdisk_failed(store: Store) -> None:
    payload = recorded("collector-error")
    with pytest.raises(HardwareInspectionFailure, match="hook ramdisk-error: the ramdisk reported: collector extra"):
        arrive(store, payload, ALL, first_mac(payload))
    (node,) = store.nodes.find(provision_state=states.INSPECTWAIT)
    assert node.properties == {}
    assert stored_found(store, node) is None


def test_it_takes_a_huge_machine(store: Store) -> None:
    work = arrive(store, huge(), ALL, "02:00:5e:60:00:00")
    assert len(work.ports) == 64
    assert work.node.properties["local_gb"] == 15362991415296 // 2**30 - 1
    found = stored_found(store, work.node)
    assert found is not None
    assert len(found[1]["parsed_lldp"]) == 64
    assert "logs" not in found[1]


# What comes of malformed payloads with all hooks: refused at the door, unknown, a failure that says this, or fine.
MALFORMED = {
    "no cpu": "hook architecture: the inventory has no CPU architecture",
    "no memory": "hook memory: the inventory has no size",
    "physical_mb null": "hook memory: the inventory has no size",
}
FINE = {
    "BMC address nonsense",
    "cpu count a string",
    "disks null",
    "disk without size",
    "root_disk a string",
    "lldp_raw odd hex",
    "pci_devices a string",
}


@pytest.mark.parametrize(
    "case", json.loads((DATA / "inventories" / "malformed.json").read_bytes()), ids=lambda c: c["name"]
)
def test_it_takes_malformed_payloads_or_says_why_not(store: Store, case: dict[str, Any]) -> None:
    if "raw" in case and case["name"] in ("not JSON", "empty body"):
        with pytest.raises(json.JSONDecodeError):
            json.loads(case["raw"])
        return
    payload = json.loads(case["raw"]) if "raw" in case else case["body"]
    if case["name"] in FINE:
        work = arrive(store, payload, ALL, FALLBACK)
        assert work.node.properties["cpu_arch"] == "x86_64"
        assert stored_found(store, work.node) is not None
        return
    expected = (InvalidParameterValue, NotFound, HardwareInspectionFailure)
    with pytest.raises(expected, match=MALFORMED.get(case["name"])) as error:
        arrive(store, payload, ALL, FALLBACK)
    assert isinstance(error.value, HardwareInspectionFailure) is (case["name"] in MALFORMED)
    (node,) = store.nodes.find(provision_state=states.INSPECTWAIT)
    assert (node.properties, stored_found(store, node)) == ({}, None)
    assert len(store.ports.find(node_id=node.id)) == 1


JUNK = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=12)
WEIRD = JUNK | st.lists(JUNK, max_size=3) | st.dictionaries(st.text(max_size=5), JUNK, max_size=3)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of everything in a document."""
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return [path + (key,) for key, _ in inner] + [one for key, part in inner for one in places(part, path + (key,))]


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from([name for name, *_ in MACHINES]), data=st.data())
def test_it_survives_any_change_of_a_payload(store: Store, name: str, data: st.DataObject) -> None:
    payload = recorded(name)
    for path in data.draw(st.lists(st.sampled_from(places(payload)), min_size=1, max_size=4)):
        _replace(payload, path, data.draw(WEIRD))
    inventory = payload.pop("inventory", None)
    if not isinstance(inventory, dict):
        return
    work = work_on(store, new_node(store))
    try:
        Pipeline(base.load_hooks(ALL)).run(work, inventory, payload)
    except HardwareInspectionFailure as error:
        assert "unexpected" not in str(error)
        assert store.nodes.get(work.node.uuid).properties == {}
        assert stored_found(store, work.node) is None
    finally:
        store.nodes.delete(work.node.uuid)


def _replace(document: Any, path: tuple[Any, ...], value: Any) -> None:
    for key in path[:-1]:
        if not isinstance(document, dict | list):
            return
        try:
            document = document[key]
        except (KeyError, IndexError, TypeError):
            return
    try:
        document[path[-1]] = value
    except (IndexError, TypeError):
        return
