"""What protects an API without authentication: addresses, host names, origins; and what the logs keep of requests."""

import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from ironic.tests.live_service import Service, all_in_one, free_port, write_options

HEADERS = {"X-OpenStack-Ironic-API-Version": "1.115"}
NODE = {"driver": "fake-hardware"}
KINDS = ("boot", "deploy", "management", "power")


def configuration(directory: Path, port: int, host_ip: str = "127.0.0.1") -> Path:
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "auth_strategy": "noauth",
            "rpc_transport": "none",
            "host": "conductor-1",
            "log_dir": directory / "log",
            "log_file": "service.log",
            "enabled_hardware_types": "fake-hardware",
            "enabled_network_interfaces": "noop",
            **{f"enabled_{kind}_interfaces": "fake" for kind in KINDS},
        },
        "api": {"host_ip": host_ip, "port": port},
        "database": {"connection": f"sqlite:///{directory}/service.sqlite"},
        "deploy": {"http_root": directory / "httpboot"},
        "pxe": {"tftp_root": directory / "tftpboot"},
        "image_pool": {"password": "hidden"},
    }
    (directory / "log").mkdir()
    return write_options(directory / "ironic.conf", options)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="module")
def service(directory: Path) -> Iterator[Service]:
    port = free_port()
    with all_in_one([configuration(directory, port)], directory / "log" / "service.log", port) as running:
        yield running


def accesses(directory: Path) -> list[str]:
    return (directory / "log" / "access.log").read_text().splitlines()


def nodes(service: Service) -> list[str]:
    return [node["uuid"] for node in service.get("/v1/nodes").json()["nodes"]]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "rebound.example:6385"},
        {"Origin": "https://page.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
    ids=["a rebound name", "a page's script", "a sandboxed page", "a page's form"],
)
def test_a_web_page_can_neither_read_nor_change(service: Service, headers: dict[str, str]) -> None:
    before = nodes(service)
    for kind in ("application/json", "text/plain"):
        sent = HEADERS | headers | {"Content-Type": kind}
        assert requests.post(f"{service.url}/v1/nodes", json=NODE, headers=sent, timeout=30).status_code == 403
    answer = requests.get(f"{service.url}/v1/nodes", headers=HEADERS | headers, timeout=30)
    assert answer.status_code == 403 and "nodes" not in answer.json()
    assert nodes(service) == before


def test_a_form_without_an_origin_is_refused_as_well(service: Service) -> None:
    before = nodes(service)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = requests.post(f"{service.url}/v1/nodes", data=b'{"driver": "fake-hardware"}', headers=form, timeout=30)
    assert answer.status_code == 400
    assert nodes(service) == before


def test_programs_are_served(service: Service) -> None:
    for host in ("127.0.0.1", f"localhost:{service.port}", "10.0.2.2:6385"):
        assert requests.get(f"{service.url}/v1", headers={"Host": host}, timeout=30).status_code == 200


def test_each_request_has_a_line_that_can_hold_no_second_one(service: Service, directory: Path) -> None:
    answer = service.get("/v1/nodes/a%0Ab%22?agent_token=swordfish&fields=uuid,name")
    (line,) = (line for line in accesses(directory) if answer.headers["openstack-request-id"] in line)
    form = r'\S+ \S+ 127\.0\.0\.1 - - "GET (\S+)" 400 \d+\.\d{3} req-[0-9a-f-]{36}'
    assert re.fullmatch(form, line), line
    assert "/v1/nodes/a%0Ab%22?agent_token=******&fields=uuid,name" in line
    refused = requests.get(f"{service.url}/v1/nodes", headers={"Host": "rebound.example"}, timeout=30)
    (line,) = (line for line in accesses(directory) if refused.headers["openstack-request-id"] in line)
    assert " 403 " in line


def test_logs_are_private_and_files_that_are_not_are_named(service: Service, directory: Path) -> None:
    for name in ("access.log", "service.log"):
        assert stat.S_IMODE((directory / "log" / name).stat().st_mode) & 0o027 == 0, name
    (warning,) = {line.partition("WARNING")[2] for line in service.log.splitlines() if "user of this host" in line}
    assert str(directory / "ironic.conf") in warning
    assert "without authentication" not in service.log


def test_listening_for_others_without_authentication_is_warned_of(tmp_path: Path) -> None:
    port = free_port()
    with all_in_one([configuration(tmp_path, port, "0.0.0.0")], tmp_path / "log" / "service.log", port) as running:
        assert "listens on 0.0.0.0 without authentication" in running.log
        # What reaches it from elsewhere has names of its own.
        assert requests.get(f"{running.url}/v1", headers={"Host": "any.example"}, timeout=30).status_code == 200
