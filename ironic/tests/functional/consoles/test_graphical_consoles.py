"""Graphical consoles: opened by the API, seen through the proxy, closed when their token expires."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from ironic.core.memory.console_tokens import KEYS
from ironic.drivers.modules.fake import FakeGraphicalConsole
from ironic.tests.conftest import Setter
from ironic.tests.functional.consoles.lines import until
from ironic.tests.functional.consoles.viewers import PATIENCE, begin
from ironic.tests.live_service import Service, all_in_one_below, free_port
from ironic.tests.repository import ROOT
from ironic.tests.site import FAKES, NONE
from ironic.tests.unit.drivers.machine import work_on

HEADERS = {"X-OpenStack-Ironic-API-Version": "1.96"}


def test_the_url_has_the_node_and_its_token(conf: Setter) -> None:
    conf(my_ip="192.0.2.5")
    task: Any = work_on()
    console = FakeGraphicalConsole()
    assert console.get_console(task) == {}
    console.start_console(task)
    kept = task.node.saved["driver_internal_info"]
    assert (kept["vnc_host"], kept["vnc_port"]) == ("192.0.2.1", 5900)
    found = console.get_console(task)
    assert found["type"] == "vnc"
    url = urlsplit(found["url"])
    assert f"{url.scheme}://{url.netloc}{url.path}" == "http://192.0.2.5:6090/vnc_lite.html"
    assert parse_qs(url.query) == {"path": [f"websockify?node={task.node.uuid}&token={kept['novnc_secret_token']}"]}
    conf(vnc__public_url="https://console.example.org/vnc_auto.html")
    assert console.get_console(task)["url"].startswith("https://console.example.org/vnc_auto.html?path=websockify%3F")
    console.stop_console(task)
    assert {key.name for key in KEYS}.isdisjoint(task.node.saved["driver_internal_info"])


def test_a_console_is_closed_when_its_token_has_expired(conf: Setter) -> None:
    conf(vnc__token_timeout=600)
    task: Any = work_on(console_enabled=True)
    console = FakeGraphicalConsole()
    console.start_console(task)
    console.close_expired(task, None, None)
    assert task.node.console_enabled is True
    earlier = task.node.now() - timedelta(seconds=600)
    task.node.driver_internal_info["novnc_secret_token_created"] = earlier.isoformat()
    console.close_expired(task, None, None)
    assert task.node.saved["console_enabled"] is False
    assert {key.name for key in KEYS}.isdisjoint(task.node.saved["driver_internal_info"])


@contextlib.contextmanager
def screens_service(directory: Path, seconds: int = 60, **vnc: object) -> Iterator[Service]:
    """Run the all-in-one service with its proxy, and containers that are screens; it looks for left ones at times."""
    proxy_port = free_port()
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "debug": True,
            "my_ip": "127.0.0.1",
            "enabled_hardware_types": "fake-hardware",
            **FAKES,
            **NONE,
            "enabled_network_interfaces": "noop",
            "enabled_storage_interfaces": "noop",
            "enabled_console_interfaces": "fake-graphical,no-console",
        },
        "conductor": {"check_provision_state_interval": seconds},
        "vnc": {
            "enabled": True,
            "host_ip": "127.0.0.1",
            "port": proxy_port,
            "novnc_web": directory,
            "container_provider": "container",
            "container_executable": ROOT / "tools" / "screens.py",
            "container_host": f"unix://{directory}/screens",
            "console_image": "none",
            **vnc,
        },
    }
    (directory / "service.log").unlink(missing_ok=True)  # of an earlier life
    with all_in_one_below(directory, options) as service:
        yield service


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with screens_service(tmp_path) as running:
        yield running


def call(service: Service, method: str, path: str, body: Any = None) -> Any:
    answer = requests.request(method, f"{service.url}{path}", json=body, headers=HEADERS, timeout=PATIENCE)
    assert answer.status_code < 300, answer.text
    return answer.json() if answer.content else None


def opened(service: Service) -> tuple[str, str]:
    """Enroll a node and open its console; return its path and the URL for a browser."""
    node = call(service, "POST", "/v1/nodes", {"driver": "fake-hardware", "console_interface": "fake-graphical"})
    path = f"/v1/nodes/{node['uuid']}"
    call(service, "PUT", f"{path}/states/console", {"enabled": True})
    return path, until(lambda: url_of(service, path), "the console is open")


def url_of(service: Service, path: str) -> str:
    found = call(service, "GET", f"{path}/states/console")
    if not found["console_enabled"]:
        assert call(service, "GET", path)["last_error"] is None
        return ""
    url: str = found["console_info"].get("url", "")  # none while it is being closed
    return url


def see(url: str) -> ClientConnection:
    """Open what a browser opens for a URL."""
    parts = urlsplit(url)
    return connect(f"ws://{parts.netloc}/{parse_qs(parts.query)['path'][0]}", proxy=None, open_timeout=PATIENCE)


def test_a_screen_is_seen_until_the_console_is_closed(service: Service, tmp_path: Path) -> None:
    path, url = opened(service)
    with see(url) as session:
        begin(session)
    token = parse_qs(urlsplit(url).query)["path"][0].rpartition("=")[2]
    shown = call(service, "GET", path)["driver_internal_info"]
    assert shown["novnc_secret_token"] == "******"
    assert token not in str(call(service, "GET", "/v1/nodes/detail"))
    assert token not in service.log
    assert list((tmp_path / "screens").glob("*.json"))
    call(service, "PUT", f"{path}/states/console", {"enabled": False})
    until(lambda: not url_of(service, path), "the console is closed")
    with pytest.raises(InvalidStatus):
        see(url)
    until(lambda: not list((tmp_path / "screens").glob("*.json")), "its container is removed")


def test_screens_end_with_their_conductor_and_come_again(tmp_path: Path) -> None:
    with screens_service(tmp_path) as service:
        path, before = opened(service)
        (screen,) = (tmp_path / "screens").glob("*.json")
    assert not screen.exists()
    with screens_service(tmp_path) as service:
        until(lambda: urlsplit(url_of(service, path)).query not in ("", urlsplit(before).query), "it is open again")
        url = url_of(service, path)
        with see(url) as session:
            begin(session)
        assert screen.exists()


def test_a_screen_that_no_node_needs_is_removed(tmp_path: Path) -> None:
    own, others = (f"ironic-console-0d8a1c62-5d4c-4b0c-8a2e-6f0f6a4f3b1{number}" for number in (1, 2))
    screens = tmp_path / "screens"

    def order(*words: str) -> None:
        variables = {**os.environ, "DOCKER_HOST": f"unix://{screens}", "APP": "fake"}
        subprocess.run([ROOT / "tools" / "screens.py", *words], env=variables, check=True, capture_output=True)

    try:
        with screens_service(tmp_path, seconds=1) as service:
            path, url = opened(service)
            (needed,) = screens.glob("*.json")
            for name, conductor in ((own, "conductor-1"), (others, "conductor-2")):
                order("run", "--name", name, "--label", f"org.openstack.ironic.conductor={conductor}")
            until(lambda: not (screens / f"{own}.json").exists(), "the screen that no node needs is removed")
            assert needed.exists() and (screens / f"{others}.json").exists()
            with see(url) as session:
                begin(session)
            assert url_of(service, path) == url
    finally:
        order("rm", "--force", own, others)


def test_a_console_expires(tmp_path: Path) -> None:
    with screens_service(tmp_path, token_timeout=10, expire_console_session_interval=1) as service:
        path, url = opened(service)
        until(lambda: not url_of(service, path), "the console is closed")
        with pytest.raises(InvalidStatus):
            see(url)
        assert "the token has expired" in service.log
