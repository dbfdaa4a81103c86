"""What is left on a host whose nodes another conductor has gone on with."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ironic.db import NodeRecord, Store
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules.netboot import IPXEBoot
from ironic.tests.conftest import Setter
from ironic.tests.databases import sqlite_store
from ironic.tests.unit.drivers.modules.netboot.conftest import Firmware
from ironic.tests.unit.inspection.lab import new_node, new_port, work_on

MACS = ("52:54:00:00:00:01", "52:54:00:00:00:02", "52:54:00:00:00:03")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = sqlite_store(tmp_path)
    yield store
    store.close()


def prepared(store: Store, mac: str) -> NodeRecord:
    node = new_node(store, properties={"capabilities": "boot_mode:bios"})
    new_port(store, node, mac)
    task: Any = work_on(store, node, BareDriver({"management": Firmware()}))
    IPXEBoot().prepare_ramdisk(task, {})
    return node


def test_files_of_nodes_that_are_prepared_for_nothing_go(conf: Setter, place: Path, store: Store) -> None:
    conf(dhcp__dhcp_provider="dnsmasq")
    waiting, gone_on, deleted = (prepared(store, mac) for mac in MACS)
    elsewhere = store.nodes.get(gone_on.uuid)
    elsewhere.del_driver_internal_info("netboot")
    store.nodes.update(gone_on.uuid, {"driver_internal_info": elsewhere.driver_internal_info})
    store.nodes.delete(deleted.uuid)
    root = place / "http"
    (root / "agent_images").mkdir()
    IPXEBoot().clear_leftovers(SimpleNamespace(store=store), None)
    folders = {path.name for path in root.iterdir() if path.is_dir()}
    assert folders == {waiting.uuid, "agent_images", "pxelinux.cfg"}
    assert [path.name for path in (root / "pxelinux.cfg").iterdir()] == ["52-54-00-00-00-01"]
    hosts = [path.read_text().partition(",")[2] for path in (place / "hosts").iterdir()]
    assert (
        hosts.count("ignore\n") == 1
    )  # the deleted node's ports are gone with it, so it is unknown whose file that is
    IPXEBoot().clear_leftovers(SimpleNamespace(store=store), None)
    assert {path.name for path in root.iterdir() if path.is_dir()} == folders


def test_a_root_that_is_not_there_has_nothing_left_over(place: Path, store: Store) -> None:
    before = sorted(place.rglob("*"))
    assert place / "http" / "agent_images" not in before
    IPXEBoot().clear_leftovers(SimpleNamespace(store=store), None)
    assert sorted(place.rglob("*")) == before
