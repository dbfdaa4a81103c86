"""A conductor that owns a waiting node now writes its boot files again; one that owned it before cleans up."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.conductor import periodic_tasks
from ironic.conductor.tasks import TaskFactory
from ironic.conductor.workers import Workers
from ironic.conf import CONF
from ironic.core.context import RequestContext
from ironic.core.flows import states
from ironic.core.hardware_interfaces import KINDS, interface_field
from ironic.db import Store
from ironic.drivers.composition.composed_drivers import Composition
from ironic.rpc.hash_ring import HashRingManager
from ironic.tests.conftest import Setter
from ironic.tests.databases import sqlite_store
from ironic.tests.unit.conductor.flows import bench as benches
from ironic.tests.unit.inspection.lab import new_port

MAC, FILE = "52:54:00:00:00:01", "pxelinux.cfg/52-54-00-00-00-01"


class Conductor:
    """One conductor with a host of its own; jobs are known by the names of their methods."""

    def __init__(self, store: Store, composition: Composition, pool: Workers, name: str, root: Path) -> None:
        self.root = root / name
        self._store, self._name, self._composition = store, name, composition
        self._tasks = TaskFactory(store, composition, pool, name)

    def join(self) -> None:
        """Come to be; the last one to do so owns all nodes here."""
        self._store.conductors.register(self._name, "", ["fake-hardware"], self._composition.interface_rows())

    def leave(self) -> None:
        """Go."""
        self._store.conductors.unregister(self._name)

    def come_round(self, job: str) -> None:
        """Run a periodic job of the boot interface on this conductor's host."""
        self._use_host()
        hash_ring = HashRingManager(self._store, heartbeat_timeout=60)
        jobs = periodic_tasks.jobs_of(self._composition, self._tasks, hash_ring)
        (act,) = [each.act for each in jobs if each.name == f"boot interface ipxe: {job}"]
        act()

    def prepare(self, uuid: str) -> None:
        """Have a machine prepared for a ramdisk."""
        self._use_host()
        with self._tasks.acquire(RequestContext(), uuid, purpose="test") as task:
            task.boot.prepare_ramdisk(task, {"ipa-api-url": "http://192.0.2.1"})

    def clean_up(self, uuid: str) -> None:
        """Have it need none any more."""
        self._use_host()
        with self._tasks.acquire(RequestContext(), uuid, purpose="test") as task:
            task.boot.clean_up_ramdisk(task)

    def files(self) -> dict[str, bytes]:
        """Return what is offered on its host."""
        return {str(path.relative_to(self.root)): path.read_bytes() for path in self.root.rglob("*") if path.is_file()}

    def _use_host(self) -> None:
        CONF.set_override("http_root", str(self.root), "deploy")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = sqlite_store(tmp_path)
    yield store
    store.close()


@pytest.fixture
def conductor(conf: Setter, place: Path, store: Store) -> Iterator[Callable[[str], Conductor]]:
    benches.enable_fakes(conf)
    conf(enabled_boot_interfaces=["fake", "ipxe"], deploy__http_root=str(place / "nowhere"))
    composition = benches.compose(CONF, benches.Script())
    pool = Workers("c1", 8)
    yield lambda name: Conductor(store, composition, pool, name, place)
    pool.close()


def add_node(store: Store, **values: Any) -> str:
    interfaces = {interface_field(kind): "fake" for kind in KINDS}
    interfaces |= {"network_interface": "noop", "storage_interface": "noop", "boot_interface": "ipxe"}
    node = store.nodes.create({**interfaces, "driver": "fake-hardware", "provision_state": states.CLEANWAIT, **values})
    new_port(store, node, MAC)
    return node.uuid


def test_files_follow_their_node(store: Store, conductor: Callable[[str], Conductor]) -> None:
    first, second = conductor("c1"), conductor("c2")
    first.join()
    uuid = add_node(store)
    first.prepare(uuid)
    assert FILE in first.files()
    first.leave()
    second.join()
    second.come_round("restore_ramdisk")
    assert second.files() == first.files()
    assert store.nodes.get(uuid).reservation is None
    first.come_round("clear_leftovers")
    assert FILE in first.files()  # the node is prepared still, so they do no harm
    second.clean_up(uuid)
    first.come_round("clear_leftovers")
    assert set(first.files()) == set(second.files()) == {"boot.ipxe"}


@pytest.mark.parametrize(
    "values", [{"provision_state": states.MANAGEABLE}, {"provision_state": states.CLEANWAIT, "reservation": "c9"}]
)
def test_nodes_that_do_not_wait_or_are_busy_are_left_alone(
    store: Store, conductor: Callable[[str], Conductor], values: dict[str, Any]
) -> None:
    first, second = conductor("c1"), conductor("c2")
    first.join()
    uuid = add_node(store)
    first.prepare(uuid)
    store.nodes.update(uuid, values)
    first.leave()
    second.join()
    second.come_round("restore_ramdisk")
    assert not second.root.exists()


def test_an_instance_that_is_a_ramdisk_is_followed_too(
    store: Store, conductor: Callable[[str], Conductor], place: Path
) -> None:
    first = conductor("c1")
    first.join()
    images = f"file://{place}/images"
    info = {"kernel": f"{images}/own-kernel", "ramdisk": f"{images}/own-ramdisk", "capabilities": "boot_option:ramdisk"}
    uuid = add_node(store, provision_state=states.ACTIVE, deploy_interface="ramdisk", instance_info=info)
    node = store.nodes.get(uuid)
    node.set_driver_internal_info("netboot", {"purpose": "instance", "secret_parameters": {}, "cards": {"p": MAC}})
    store.nodes.update(uuid, {"driver_internal_info": node.driver_internal_info})
    first.come_round("restore_instance")
    assert first.files()[f"{uuid}/instance_ramdisk"] == b"the own-ramdisk"
