"""Inspection through a BMC: the emulator as it comes, and one whose machines have more inside."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors import HardwareInspectionFailure, HookLoadError, MissingParameterValue
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.flows import states
from ironic.db import Store
from ironic.drivers.modules.redfish.inspect import RedfishInspect
from ironic.tests.conftest import Setter
from ironic.tests.databases import sqlite_store
from ironic.tests.redfish_bmc import RedfishBmc, redfish_bmc
from ironic.tests.unit.inspection.lab import Work, new_node, new_port, post, stored_found, work_on


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedfishBmc]:
    with redfish_bmc(tmp_path_factory.mktemp("bmc"), extended=True) as running:
        yield running


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedfishBmc]:
    with redfish_bmc(tmp_path_factory.mktemp("bmc"), count=2) as running:
        yield running


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = sqlite_store(tmp_path)
    yield store
    store.close()


def begin(store: Store, info: dict[str, Any], **values: Any) -> Any:
    node = new_node(store, driver="redfish", inspect_interface="redfish", driver_info=info, **values)
    return work_on(store, node)


def ports_of(work: Work) -> dict[str, bool]:
    return {port.address: port.pxe_enabled for port in work.store.ports.find(node_id=work.node.id)}


def test_it_finds_out_what_the_bmc_knows(store: Store, extended: RedfishBmc) -> None:
    task = begin(store, extended.driver_info(), properties={"kept": 1})
    assert RedfishInspect().inspect_hardware(task) == states.MANAGEABLE
    node = store.nodes.get(task.node.uuid)
    assert node.properties == {
        "kept": 1, "cpu_arch": "x86_64", "memory_mb": 65536, "local_gb": 399, "capabilities": "boot_mode:uefi",
    }  # fmt: skip
    assert ports_of(task) == dict.fromkeys(extended.mac_addresses(), True)
    found = stored_found(store, node)
    assert found is not None
    inventory, data = found
    assert inventory["cpu"]["count"] == 64
    assert inventory["cpu"]["socket_count"] == 2
    assert inventory["memory"] == {"physical_mb": 65536}
    assert sorted(disk["name"] for disk in inventory["disks"]) == ["Disk 0", "sda", "sdb", "small"]
    assert data["root_disk"]["name"] == "sda"
    assert node.power_state is None


@pytest.mark.parametrize("known, after", [("vendor:acme", "boot_mode:uefi,vendor:acme"), ("boot_mode:bios", None)])
def test_it_adds_the_boot_mode_where_none_is_named(
    store: Store, extended: RedfishBmc, known: str, after: str | None
) -> None:
    task = begin(store, extended.driver_info(), properties={"capabilities": known})
    RedfishInspect().inspect_hardware(task)
    found = store.nodes.get(task.node.uuid).properties["capabilities"]
    assert sorted(found.split(",")) == sorted((after or known).split(","))


def test_it_copes_with_a_bmc_that_does_not_tell_its_processors(
    store: Store, plain: RedfishBmc, caplog: pytest.LogCaptureFixture
) -> None:
    task = begin(store, plain.driver_info(), properties={"cpu_arch": "aarch64"})
    with caplog.at_level(logging.WARNING, "ironic"):
        assert RedfishInspect().inspect_hardware(task) == states.MANAGEABLE
    assert "does not report the architecture" in caplog.text
    node = store.nodes.get(task.node.uuid)
    assert node.properties["cpu_arch"] == "aarch64"
    assert node.properties["local_gb"] == 480_000_000_000 // 2**30 - 1
    assert len(ports_of(task)) == 2


def test_it_copes_with_a_bmc_that_can_not_tell_its_disks(store: Store, plain: RedfishBmc) -> None:
    task = begin(store, plain.driver_info(1))
    RedfishInspect().inspect_hardware(task)
    assert "local_gb" not in store.nodes.get(task.node.uuid).properties


def test_it_leaves_alone_what_is_known_of_network_boot(store: Store, extended: RedfishBmc) -> None:
    task = begin(store, extended.driver_info())
    first, second = extended.mac_addresses()
    new_port(store, task.node, first, pxe_enabled=False)
    RedfishInspect().inspect_hardware(task)
    assert ports_of(task) == {first: False, second: True}


@pytest.mark.demand("S98")
def test_it_goes_by_hints_for_the_root_disk(store: Store, extended: RedfishBmc) -> None:
    task = begin(store, extended.driver_info(), properties={"root_device": {"name": "sdb"}})
    RedfishInspect().inspect_hardware(task)
    assert store.nodes.get(task.node.uuid).properties["local_gb"] == 799
    task = begin(store, extended.driver_info(), properties={"root_device": {"name": "sdx"}})
    with pytest.raises(HardwareInspectionFailure, match="no disk fits"):
        RedfishInspect().inspect_hardware(task)
    # Nothing is left that the conductor would store with the failure.
    assert not task.node.stored_changes()


@pytest.mark.demand("S169")
@pytest.mark.parametrize(("supported", "seen"), [("^(agent|inspector)$", None), (".*", "x86_64")])
def test_it_runs_rules_where_they_are_wanted(
    conf: Setter, store: Store, extended: RedfishBmc, supported: str, seen: str | None
) -> None:
    conf(inspection_rules__supported_interfaces=supported)
    post(store, actions=[{"op": "set-attribute", "args": ["/extra/seen", "{inventory[cpu][architecture]}"]}])
    task = begin(store, extended.driver_info())
    RedfishInspect().inspect_hardware(task)
    assert store.nodes.get(task.node.uuid).extra.get("seen") == seen


def test_it_runs_the_hooks_that_are_wanted(conf: Setter, store: Store, extended: RedfishBmc) -> None:
    conf(redfish__inspection_hooks="validate-interfaces,ports,cpus,boot-mode")
    task = begin(store, extended.driver_info())
    RedfishInspect().inspect_hardware(task)
    assert store.nodes.get(task.node.uuid).properties["cpus"] == 64
    conf(redfish__inspection_hooks="nonsense")
    with pytest.raises(HookLoadError):
        RedfishInspect()


def test_a_card_that_another_node_has_becomes_no_port(store: Store, extended: RedfishBmc) -> None:
    first, *others = extended.mac_addresses()
    new_port(store, new_node(store), first)
    task = begin(store, extended.driver_info())
    RedfishInspect().inspect_hardware(task)
    assert {port.address for port in store.ports.find(node_id=task.node.id)} == set(others)


def test_it_stores_nothing_when_a_hook_fails(
    store: Store, extended: RedfishBmc, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise HardwareInspectionFailure(error="no ports today")

    monkeypatch.setattr("ironic.inspection.hooks.inspected_ports.Ports.__call__", fail)
    task = begin(store, extended.driver_info())
    with pytest.raises(HardwareInspectionFailure, match="no ports today"):
        RedfishInspect().inspect_hardware(task)
    node = store.nodes.get(task.node.uuid)
    assert "cpu_arch" not in node.properties
    assert stored_found(store, node) is None


def test_it_says_what_is_missing(conf: Setter, store: Store) -> None:
    conf(redfish__connection_attempts=1)
    with pytest.raises(MissingParameterValue):
        RedfishInspect().validate(begin(store, {}))
    task = begin(store, {"redfish_address": "http://127.0.0.1:9"})
    RedfishInspect().validate(task)
    with pytest.raises(RedfishError):
        RedfishInspect().inspect_hardware(task)
    assert "redfish_address" in RedfishInspect().get_properties()
