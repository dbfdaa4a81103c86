"""Hooks of a site on what a ramdisk has recorded, switches seen by LLDP included."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.db import Store
from ironic.inspection.hooks.base import NamedHook
from ironic.inspection.pipeline import Pipeline
from ironic.rpc.hash_ring import HashRingManager
from ironic.services import process_store
from ironic.tests.databases import sqlite_store
from ironic.tests.unit.inspection import lab

HOOKS: Any = importlib.import_module("ironic.tests.functional.live.rackful.rackful.hooks")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    made = sqlite_store(tmp_path)
    found = process_store.Database(made, HashRingManager(made, heartbeat_timeout=60))
    monkeypatch.setattr(process_store, "_OF_PROCESS", [found])
    yield made
    made.close()


def test_ports_are_named_and_know_their_switch(store: Store) -> None:
    node = lab.new_node(store, name="r1")
    data = lab.recorded("lldp-raw")
    inventory, plugin_data = data["inventory"], data.get("plugin_data") or {}
    loaded = Pipeline.load(["validate-interfaces", "ports", "parse-lldp"]).hooks
    site = (NamedHook("rackful-ports", HOOKS.PortsOfRacks()), NamedHook("rackful-class", HOOKS.ClassOfMachine()))
    Pipeline([*loaded, *site]).run(lab.work_on(store, node), inventory, plugin_data)
    seen = {name: found.get("switch_system_name") for name, found in plugin_data["parsed_lldp"].items()}
    ports = store.ports.find(node_id=node.id)
    assert ports and any(seen.values())
    for port in ports:
        assert port.name == f"r1-{port.extra['card']}"
        assert port.category == seen.get(port.extra["card"])
    stored = store.nodes.get(node.id)
    assert stored.resource_class == f"cards-{len(plugin_data['all_interfaces'])}"
    assert stored.traits.get_trait_names() == ["CUSTOM_SEEN"]


def test_a_machine_without_cards_fails_the_inspection(store: Store) -> None:
    node = lab.new_node(store, name="r1")
    hook = NamedHook("rackful-class", HOOKS.ClassOfMachine())
    plugin_data: dict[str, Any] = {"all_interfaces": {}}
    with pytest.raises(HOOKS.exception.HardwareInspectionFailure, match="the machine has no cards"):
        Pipeline([hook]).run(lab.work_on(store, node), {"interfaces": []}, plugin_data)
    assert store.nodes.get(node.id).resource_class is None
