"""Firmware images that the service publishes for BMCs: fetched, checked, offered, and removed."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic.command.file_server import FileServer
from ironic.core.errors import InvalidParameterValue, NodeNotFound
from ironic.core.errors.hardware_errors import ImageDownloadFailed, RedfishError
from ironic.core.flows import node_waits, states
from ironic.drivers.contract.step_declarations import StepDone, StepFailed
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules.redfish.firmware import RedfishFirmware
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.orders import firmware_images, firmware_updates
from ironic.drivers.modules.redfish.orders.firmware_updates import UNNAMED_UPDATES, UPDATES
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.integrations import object_store, web_root
from ironic.tests.functional.drivers.hostile_bmc import HostileBmc
from ironic.tests.functional.drivers.test_redfish_firmware import (  # noqa: F401 - fixtures
    URL,
    at_once,
    bmc,
    on,
    restarts,
    sent,
    task_is,
)
from ironic.tests.swift_store import ACCOUNT, SwiftStore, swift_store
from ironic.tests.unit.drivers.machine import UUID, Work, look, remember

CONTENT = b"the firmware " * 5000
SHA256 = hashlib.sha256(CONTENT).hexdigest()

# ruff: noqa: F811 - fixtures that are imported are named again by those who use them


@pytest.fixture
def image(conf: Callable[..., Any], tmp_path: Path) -> Iterator[str]:
    """Return the URL of an image in a file, with a server for what is published."""
    folder = tmp_path / "images"
    folder.mkdir()
    (folder / "bios 2.4.bin").write_bytes(CONTENT)
    conf(
        deploy__http_root=str(tmp_path / "http"),
        conductor__file_url_allowed_paths=[str(folder)],
        outgoing__allow_loopback=True,
    )
    (tmp_path / "http").mkdir()
    server = FileServer(str(tmp_path / "http"), ("127.0.0.1", 0), 100)
    server.start()
    web_root.announce(server.url)
    yield f"file://{folder}/bios%202.4.bin"
    web_root.announce(None)
    server.stop()


@pytest.fixture
def swift(conf: Callable[..., Any]) -> Iterator[SwiftStore]:
    with swift_store() as running:
        running.containers.add("vendor")
        running.objects[f"{ACCOUNT}/vendor/nic.bin"] = CONTENT
        conf(swift__auth_type="none", swift__endpoint_override=running.url)
        own = ["ironic_redfish_container", "ironic_configdrive_container", "introspection_data_container"]
        conf(redfish__firmware_swift_containers=["vendor", *own])
        yield running
    object_store.swift_container.cache_clear()


def published(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "http" / "firmware").rglob("*") if path.is_file()]


def begun(bmc: HostileBmc, *updates: dict[str, Any]) -> Work:
    task = on(bmc)
    assert RedfishFirmware().update(task, list(updates)) == states.CLEANWAIT
    task.node.provision_state = states.CLEANWAIT
    return task


def until_end(task: Work, kind: str = UPDATES.kind) -> Any:
    interface: Any = RedfishManagement() if kind == UNNAMED_UPDATES.kind else RedfishFirmware()
    for _ in range(30):
        if (end := look(task, interface, kind)) is not None:
            return end
    pytest.fail("the step goes on for ever")


def test_an_image_in_a_file_is_published_until_the_step_ends(
    bmc: HostileBmc, sent: list[dict[str, Any]], image: str, tmp_path: Path
) -> None:
    task = begun(bmc, {"component": "bios", "url": image})
    (order,) = sent
    assert order["TransferProtocol"] == "HTTP"
    assert order["ImageURI"].endswith("/bios-2.4.bin"), "some BMCs go by the name"
    assert requests.get(order["ImageURI"], timeout=60).content == CONTENT
    assert requests.get(order["ImageURI"].rpartition("/")[0], timeout=60).status_code == 404
    task_is(bmc, "Completed", TaskStatus="OK")
    assert until_end(task) == StepDone()
    assert published(tmp_path) == []


def test_a_failed_update_leaves_no_image(bmc: HostileBmc, image: str, tmp_path: Path) -> None:
    task = begun(bmc, {"component": "bios", "url": image})
    task_is(bmc, "Exception")
    assert isinstance(until_end(task), StepFailed)
    assert published(tmp_path) == []


def test_a_refused_order_leaves_no_image_and_no_memory(bmc: HostileBmc, image: str, tmp_path: Path) -> None:
    del bmc.documents["/redfish/v1"]["UpdateService"]
    task = on(bmc)
    with pytest.raises(RedfishError):
        RedfishFirmware().update(task, [{"component": "bios", "url": image}])
    assert published(tmp_path) == []
    assert not node_waits.is_open(task.node, UPDATES.kind)


def test_nothing_is_flashed_when_one_image_is_missing(
    bmc: HostileBmc, sent: list[dict[str, Any]], image: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidParameterValue, match="no file that conductor"):
        RedfishFirmware().update(
            on(bmc), [{"component": "bios", "url": image}, {"component": "bmc", "url": image + "x"}]
        )
    with pytest.raises(ImageDownloadFailed):
        UNNAMED_UPDATES.update(on(bmc), [{"url": image}, {"url": image, "checksum": "0" * 64}])
    assert sent == []
    assert published(tmp_path) == []


def test_source_local_publishes_what_the_bmc_could_fetch(
    bmc: HostileBmc, sent: list[dict[str, Any]], image: str, conf: Callable[..., Any], tmp_path: Path
) -> None:
    """An image of an https server that the BMC can't reach, or whose certificate it does not trust."""
    (tmp_path / "http" / "origin.bin").write_bytes(CONTENT)
    conf(redfish__firmware_source="local")
    task = begun(bmc, {"component": "bmc", "url": f"{web_root.url()}/origin.bin"})
    assert sent[0]["ImageURI"].endswith("/origin.bin")
    assert sent[0]["ImageURI"] != f"{web_root.url()}/origin.bin"
    assert requests.get(sent[0]["ImageURI"], timeout=60).content == CONTENT
    assert len(published(tmp_path)) == 1
    task_is(bmc, "Completed", TaskStatus="OK")
    assert until_end(task) == StepDone()


def test_another_conductor_publishes_the_rest_on_its_own_host(
    bmc: HostileBmc, sent: list[dict[str, Any]], image: str, tmp_path: Path
) -> None:
    task = begun(bmc, {"component": "bmc", "url": image}, {"component": "bios", "url": image})
    firmware_images.withdraw(UUID, [])
    task_is(bmc, "Completed", TaskStatus="OK")
    for _ in range(5):
        look(task, RedfishFirmware(), UPDATES.kind)
    assert len(sent) == 2
    assert requests.get(sent[1]["ImageURI"], timeout=60).content == CONTENT


def test_a_conductor_that_died_while_it_fetched_is_followed_by_another(
    bmc: HostileBmc, sent: list[dict[str, Any]], image: str
) -> None:
    task = begun(bmc, {"component": "bmc", "url": image})
    remember(task, UPDATES.kind, phase="fetching")
    assert look(task, RedfishFirmware(), UPDATES.kind) is None
    assert len(sent) == 2


# Swift


def test_an_object_of_swift_is_handed_over_by_a_temporary_url(
    bmc: HostileBmc, sent: list[dict[str, Any]], image: str, swift: SwiftStore, conf: Callable[..., Any], tmp_path: Path
) -> None:
    conf(redfish__firmware_source="swift")
    begun(bmc, {"component": "nic:SN1", "url": "swift://vendor/nic.bin"})
    assert requests.get(sent[0]["ImageURI"], timeout=60).content == CONTENT
    assert "temp_url_sig" in sent[0]["ImageURI"]
    assert list(swift.objects) == [f"{ACCOUNT}/vendor/nic.bin"]
    assert published(tmp_path) == []


def test_an_object_of_swift_can_be_published_here(
    bmc: HostileBmc, sent: list[dict[str, Any]], image: str, swift: SwiftStore, tmp_path: Path
) -> None:
    begun(bmc, {"component": "nic:SN1", "url": "swift://vendor/nic.bin"})
    assert requests.get(sent[0]["ImageURI"], timeout=60).content == CONTENT
    assert [path.name for path in published(tmp_path)] == ["nic.bin"]


def test_a_file_can_be_offered_by_swift(
    bmc: HostileBmc, sent: list[dict[str, Any]], image: str, swift: SwiftStore, conf: Callable[..., Any], tmp_path: Path
) -> None:
    conf(redfish__firmware_source="swift", redfish__swift_object_expiry_timeout=700)
    task = begun(bmc, {"component": "bios", "url": image})
    assert requests.get(sent[0]["ImageURI"], timeout=60).content == CONTENT
    (path,) = [path for path in swift.objects if "/ironic_redfish_container/" in path]
    assert UUID in path
    assert swift.expiry[path] == "700"
    assert published(tmp_path) == []
    task_is(bmc, "Completed", TaskStatus="OK")
    assert until_end(task) == StepDone()
    assert list(swift.objects) == [f"{ACCOUNT}/vendor/nic.bin"]


@pytest.mark.parametrize(
    "url, fault",
    [
        ("swift://ironic_redfish_container/x", "data of the service"),
        ("swift://ironic_configdrive_container/configdrive-1", "data of the service"),
        ("swift://introspection%5Fdata_container/x", "data of the service"),
        ("swift://tenant/private.bin", "firmware_swift_containers"),
        ("swift://VENDOR/x", "firmware_swift_containers"),
        ("swift://vendor", "swift://container/object"),
        ("swift://vendor/../introspection_data_container/x", "swift://container/object"),
        ("swift://vendor%2Fother/x", "swift://container/object"),
        ("swift://vendor/%2e%2e/x", "swift://container/object"),
    ],
)
def test_users_read_no_data_of_the_service(bmc: HostileBmc, swift: SwiftStore, url: str, fault: str) -> None:
    with pytest.raises(InvalidParameterValue, match=fault):
        RedfishFirmware().update(on(bmc), [{"component": "bios", "url": url}])
    assert swift.requests == []


def test_a_bmc_that_can_not_reach_this_host_is_told_so(bmc: HostileBmc, image: str) -> None:
    web_root.announce(None)
    with pytest.raises(InvalidParameterValue, match="can't download firmware from this host"):
        RedfishFirmware().update(on(bmc), [{"component": "bios", "url": image}])


# The step of the management interface


def managed(bmc: HostileBmc) -> Work:
    task = on(bmc)
    task.driver = BareDriver({"management": RedfishManagement(), "power": RedfishPower()})
    return task


def test_the_older_step_checks_images_and_restarts_for_each(
    bmc: HostileBmc, sent: list[dict[str, Any]], image: str, tmp_path: Path
) -> None:
    task = managed(bmc)
    images = [
        {"url": image, "checksum": SHA256.upper(), "source": "local"},
        {"url": image, "checksum": hashlib.sha1(CONTENT, usedforsecurity=False).hexdigest()},
        {"url": URL, "checksum": hashlib.sha512(CONTENT).hexdigest()},
    ]
    assert RedfishManagement().update_firmware(task, images) == states.CLEANWAIT
    task.node.provision_state = states.CLEANWAIT
    task_is(bmc, "Completed", TaskStatus="OK")
    assert until_end(task, UNNAMED_UPDATES.kind) == StepDone()
    assert len(sent) == 3
    assert sent[2]["ImageURI"] == URL, "the BMC fetches it itself, as the option says"
    assert restarts(bmc) == 3
    assert not node_waits.is_open(task.node, UNNAMED_UPDATES.kind)
    assert published(tmp_path) == []


@pytest.mark.parametrize(
    "given",
    [
        {"url": URL},
        {"url": URL, "checksum": "abc"},
        {"url": URL, "checksum": "g" * 64},
        {"url": URL, "checksum": 5},
        {"url": "ftp://192.0.2.1/x", "checksum": SHA256},
        {"url": URL, "checksum": SHA256, "wait": 0},
        {"url": URL, "checksum": SHA256, "source": "ftp"},
        {"url": URL, "checksum": SHA256, "component": "bios"},
        "image",
    ],
)
def test_wrong_images_are_refused_by_number(bmc: HostileBmc, given: Any) -> None:
    with pytest.raises(InvalidParameterValue, match="image 2"):
        RedfishManagement().update_firmware(managed(bmc), [{"url": URL, "checksum": SHA256}, given])


# What is left behind


@dataclass
class Nodes:
    known: dict[str, Any] = field(default_factory=dict)

    def get(self, ident: str) -> Any:
        if ident not in self.known:
            raise NodeNotFound(node=ident)
        return self.known[ident]


@dataclass
class Shop:
    nodes: Nodes


def test_images_of_updates_that_are_over_are_removed(bmc: HostileBmc, image: str, tmp_path: Path) -> None:
    """The move that ends an aborted step ends its wait."""
    task = begun(bmc, {"component": "bios", "url": image})
    store: Any = Shop(Nodes({UUID: task.node}))
    firmware_updates.remove_leftovers(store)
    assert len(published(tmp_path)) == 1
    node_waits.end_all(task.node)
    firmware_updates.remove_leftovers(store)
    assert published(tmp_path) == []
    begun(bmc, {"component": "bios", "url": image})
    firmware_updates.remove_leftovers(Shop(Nodes()))  # type: ignore[arg-type]
    assert published(tmp_path) == []


def test_no_container_is_offered_unless_listed(bmc: HostileBmc, swift: SwiftStore, conf: Callable[..., Any]) -> None:
    conf(redfish__firmware_swift_containers=[])
    with pytest.raises(InvalidParameterValue, match="not among those of"):
        RedfishFirmware().update(on(bmc), [{"component": "bios", "url": "swift://vendor/nic.bin"}])
    assert swift.requests == []
