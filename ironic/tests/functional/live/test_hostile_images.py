"""Users name images that they may not read: files of the service, its own port, metadata services."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic.tests.functional.inspection.call_catcher import Catcher, call_catcher
from ironic.tests.live_service import Service, all_in_one, create_database, free_port, write_options

PATIENCE = 60
MAC = "52:54:00:00:00:01"
NONE = ("bios", "console", "firmware", "inspect", "raid", "rescue", "vendor")


def options(directory: Path, port: int) -> dict[str, dict[str, object]]:
    """Return a site that keeps everything in one directory, as small sites do."""
    return {
        "DEFAULT": {
            "auth_strategy": "noauth",
            "rpc_transport": "none",
            "state_path": directory,
            "log_file": directory / "ironic.log",
            "enabled_hardware_types": "fake-hardware",
            "enabled_boot_interfaces": "ipxe",
            "enabled_deploy_interfaces": "ramdisk",
            "enabled_management_interfaces": "fake",
            "enabled_power_interfaces": "fake",
            "enabled_network_interfaces": "noop",
            "enabled_storage_interfaces": "noop",
            **{f"enabled_{kind}_interfaces": f"no-{kind}" for kind in NONE},
        },
        "api": {"host_ip": "127.0.0.1", "port": port},
        "service_catalog": {"endpoint_override": f"http://127.0.0.1:{port}"},
        "database": {"connection": f"sqlite:///{directory}/ironic.sqlite"},
        "conductor": {"automated_clean": False, "file_url_allowed_paths": directory / "images"},
        "deploy": {"http_root": directory / "web", "http_url": "http://192.0.2.1"},
        "dhcp": {"dhcp_provider": "none"},
        "pxe": {
            "tftp_root": directory / "tftp",
            "tftp_master_path": directory / "masters",
            "instance_master_path": directory / "instance_masters",
        },
    }


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("service")
    (made / "images").mkdir()
    (made / "images" / "ramdisk").write_bytes(b"ramdisk")
    return made


@pytest.fixture(scope="module")
def service(directory: Path) -> Iterator[Service]:
    port = free_port()
    configuration = write_options(directory / "ironic.conf", options(directory, port))
    with all_in_one([configuration], directory / "ironic.log", port) as running:
        yield running


@pytest.fixture
def server() -> Iterator[Catcher]:
    with call_catcher() as made:
        yield made


def call(service: Service, method: str, path: str, body: Any = None) -> Any:
    headers = {"X-OpenStack-Ironic-API-Version": "1.115"}
    answer = requests.request(method, f"{service.url}{path}", json=body, headers=headers, timeout=30)
    assert answer.ok, answer.text
    return answer.json() if answer.content else None


def follow(service: Service, uuid: str, *wanted: str) -> dict[str, Any]:
    deadline = time.monotonic() + PATIENCE
    while True:
        node: dict[str, Any] = call(service, "GET", f"/v1/nodes/{uuid}")
        if node["provision_state"] in wanted and node["reservation"] is None:
            return node
        assert time.monotonic() < deadline, (node["provision_state"], node["last_error"])
        time.sleep(0.05)


@pytest.fixture
def node(service: Service) -> Iterator[str]:
    """Offer a machine; return its UUID."""
    uuid: str = call(service, "POST", "/v1/nodes", {"driver": "fake-hardware"})["uuid"]
    call(service, "POST", "/v1/ports", {"node_uuid": uuid, "address": MAC})
    for verb, state in (("manage", "manageable"), ("provide", "available")):
        call(service, "PUT", f"/v1/nodes/{uuid}/states/provision", {"target": verb})
        follow(service, uuid, state)
    yield uuid
    call(service, "PUT", f"/v1/nodes/{uuid}/maintenance", {"reason": "the test is over"})
    call(service, "DELETE", f"/v1/nodes/{uuid}")


def deploy(service: Service, directory: Path, uuid: str, kernel: str) -> dict[str, Any]:
    info = {"kernel": kernel, "ramdisk": f"file://{directory}/images/ramdisk", "image_source": kernel}
    call(service, "PATCH", f"/v1/nodes/{uuid}", [{"op": "add", "path": "/instance_info", "value": info}])
    answer = requests.put(
        f"{service.url}/v1/nodes/{uuid}/states/provision",
        json={"target": "active"},
        headers={"X-OpenStack-Ironic-API-Version": "1.115"},
        timeout=30,
    )
    if answer.status_code == 400:
        return {"last_error": answer.text, "provision_state": "refused"}
    assert answer.status_code == 202, answer.text
    return follow(service, uuid, "active", "deploy failed")


def offered(directory: Path, uuid: str) -> bytes:
    path = directory / "web" / uuid / "instance_kernel"
    return path.read_bytes() if path.exists() else b""


@pytest.mark.parametrize(
    "url",
    [
        "file://{}/ironic.sqlite",
        "FILE://{}/images/%2e%2e/ironic.sqlite",
        "file:{}/images/link",
        "file://{}/ironic.conf",
    ],
)
def test_the_database_is_no_kernel(service: Service, directory: Path, node: str, url: str) -> None:
    link = directory / "images" / "link"
    link.unlink(missing_ok=True)
    link.symlink_to("../ironic.sqlite")
    ended = deploy(service, directory, node, url.format(directory))
    assert ended["provision_state"] == "refused"
    assert "file_url_allowed_paths" in ended["last_error"]
    assert offered(directory, node) == b""


def test_a_hard_link_to_it_is_none_either(service: Service, directory: Path, node: str) -> None:
    link = directory / "images" / "innocent"
    link.unlink(missing_ok=True)
    link.hardlink_to(directory / "ironic.sqlite")
    ended = deploy(service, directory, node, f"file://{link}")
    assert "a file of this service itself" in ended["last_error"]
    assert offered(directory, node) == b""


@pytest.mark.parametrize("target", ["http://169.254.169.254/latest", "http://[::ffff:a9fe:a9fe]/", "{api}/v1/nodes"])
def test_neither_a_url_nor_its_redirect_leads_to_what_is_out_of_reach(
    service: Service, directory: Path, node: str, server: Catcher, target: str
) -> None:
    target = target.format(api=service.url)
    server.statuses, server.location = [302] * 9, target
    for url in (server.url, target):
        ended = deploy(service, directory, node, url)
        assert "its address is" in ended["last_error"], ended
        assert offered(directory, node) == b""
    assert len(server.asked) == 1


def test_an_image_that_is_one_is_offered(service: Service, directory: Path, node: str, server: Catcher) -> None:
    assert deploy(service, directory, node, server.url)["provision_state"] == "active"
    assert offered(directory, node) == b"ok"
    assert (directory / "masters").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", [".", "masters/below"])
def test_a_start_with_directories_that_are_the_services_own_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "masters" / "below").mkdir(parents=True)
    changed = options(tmp_path, free_port())
    changed["conductor"]["file_url_allowed_paths"] = tmp_path / name
    changed["DEFAULT"]["log_file"] = tmp_path / "log"
    configuration = write_options(tmp_path / "ironic.conf", changed)
    create_database(configuration)
    running = Service("ironic", [configuration], tmp_path / "log")
    status, told = running.end()
    assert status == 1
    assert "[conductor]file_url_allowed_paths has" in told
    assert "Keep images in a directory of their own" in told


def test_the_loopback_is_out_of_reach_by_default(tmp_path: Path, server: Catcher) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "ramdisk").write_bytes(b"ramdisk")
    port = free_port()
    changed = options(tmp_path, port) | {"outgoing": {"allow_loopback": False}}
    configuration = write_options(tmp_path / "ironic.conf", changed)
    with all_in_one([configuration], tmp_path / "ironic.log", port) as running:
        uuid = call(running, "POST", "/v1/nodes", {"driver": "fake-hardware"})["uuid"]
        call(running, "POST", "/v1/ports", {"node_uuid": uuid, "address": MAC})
        for verb, state in (("manage", "manageable"), ("provide", "available")):
            call(running, "PUT", f"/v1/nodes/{uuid}/states/provision", {"target": verb})
            follow(running, uuid, state)
        assert "[outgoing]allow_loopback" in deploy(running, tmp_path, uuid, server.url)["last_error"]
    assert server.asked == []
