"""`ironic-inspector-api`, and its WSGI callable, ask conductors over the bus: real programs, one site."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from ironic.tests.live_service import Service, free_port, listens, write_options
from ironic.tests.site import Site, eventually, site


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Run the bare metal API and a conductor."""
    with site(tmp_path_factory.mktemp("site"), conductors=["one"]) as made:
        yield made


@pytest.fixture
def program(running: Site, tmp_path: Path) -> Iterator[Service]:
    """Run the program with a log and a port of its own."""
    port, log = free_port(), tmp_path / "inspector-api.log"
    own = write_options(
        tmp_path / "own.conf", {"DEFAULT": {"log_file": log}, "inspector_api": {"host_ip": "127.0.0.1", "port": port}}
    )
    started = Service("ironic-inspector-api", [*running.configuration, own], log, port)
    try:
        started.await_ready()
        yield started
    finally:
        status = started.stop()
    assert status == 0, started.log[-3000:]
    assert "Traceback" not in started.log


@pytest.fixture
def callable_url(running: Site) -> Iterator[str]:
    """Serve the callable with a server's own command line, configured by the environment alone."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "cheroot", "ironic.command.inspector_wsgi:application", "--bind", f"127.0.0.1:{port}"],
        env={**os.environ, "IRONIC_CONFIG_FILE": str(running.configuration[-1])},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    eventually(lambda: listens(port), True)
    yield f"http://127.0.0.1:{port}"
    server.terminate()
    server.wait(30)


def inspect(running: Site, url: str) -> None:
    """Have a conductor inspect a new node, asked for at this address."""
    uuid = running.create_node()["uuid"]
    running.provision(uuid, "manage", "manageable")
    assert requests.get(f"{url}/v1/introspection/{uuid}", timeout=30).status_code == 404
    assert requests.post(f"{url}/v1/introspection/{uuid}", timeout=60).status_code == 202
    status = f"{url}/v1/introspection/{uuid}"
    eventually(lambda: requests.get(status, timeout=30).json()["state"], "finished")
    assert running.node(uuid)["provision_state"] == "manageable"
    assert running.node(uuid)["inspection_finished_at"] == requests.get(status, timeout=30).json()["finished_at"]


def test_the_program_asks_conductors(running: Site, program: Service) -> None:
    inspect(running, program.url)
    assert program.get("/v1/nodes").status_code == 404


def test_the_callable_asks_conductors(running: Site, callable_url: str) -> None:
    inspect(running, callable_url)


def test_rules_are_in_the_store_of_the_other_api(running: Site, program: Service) -> None:
    rule = {"description": "from port 5050", "actions": [{"action": "fail", "message": "m"}]}
    made = requests.post(f"{program.url}/v1/rules", json=rule, timeout=30)
    assert made.status_code == 201
    listed = running.get("/v1/inspection_rules").json()["inspection_rules"]
    assert [one["uuid"] for one in listed] == [made.json()["uuid"]]
    assert running.ask("DELETE", f"/v1/inspection_rules/{made.json()['uuid']}").status_code == 204
    assert requests.get(f"{program.url}/v1/rules", timeout=30).json() == {"rules": []}


def test_a_port_that_is_taken_refuses_the_start(running: Site, program: Service, tmp_path: Path) -> None:
    log = tmp_path / "late.log"
    own = write_options(
        tmp_path / "late.conf",
        {"DEFAULT": {"log_file": log}, "inspector_api": {"host_ip": "127.0.0.1", "port": program.port}},
    )
    status, printed = Service("ironic-inspector-api", [*running.configuration, own], log, program.port).end()
    assert status == 1
    assert str(program.port) in printed and "is taken" in printed
