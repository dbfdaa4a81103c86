"""The API runs as a plain WSGI callable under a server that knows nothing of it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from ironic.tests.live_service import free_port, listens
from ironic.tests.site import HEADERS, Site, eventually, site


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Site]:
    """Run an API, which is not asked here, and a conductor."""
    with site(tmp_path, conductors=["one"]) as made:
        yield made


@pytest.fixture
def url(running: Site) -> Iterator[str]:
    """Serve the callable with a server's own command line, configured by the environment alone."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "cheroot", "ironic.wsgi.api:application", "--bind", f"127.0.0.1:{port}"],
        env={**os.environ, "IRONIC_CONFIG_FILE": str(running.configuration[-1])},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    eventually(lambda: listens(port), True)
    yield f"http://127.0.0.1:{port}"
    server.terminate()
    server.wait(30)


def test_it_answers_from_the_database_and_asks_conductors(running: Site, url: str) -> None:
    node = requests.post(f"{url}/v1/nodes", json={"driver": "fake-hardware"}, headers=HEADERS, timeout=30).json()
    assert running.node(node["uuid"])["uuid"] == node["uuid"]
    answer = requests.get(f"{url}/v1/nodes/{node['uuid']}/management/boot_device", headers=HEADERS, timeout=30)
    assert (answer.status_code, answer.json()["boot_device"]) == (200, "pxe")
    verb = requests.put(
        f"{url}/v1/nodes/{node['uuid']}/states/provision", json={"target": "manage"}, headers=HEADERS, timeout=30
    )
    assert verb.status_code == 202
    eventually(lambda: running.node(node["uuid"])["provision_state"], "manageable")
