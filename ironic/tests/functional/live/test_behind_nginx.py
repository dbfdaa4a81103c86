"""The site for nginx on the page of many machines, run by a real nginx in front of the real service."""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from ironic.command.server_tls import Tls
from ironic.tests.live_service import Options, Service, all_in_one_below, free_port
from ironic.tests.repository import ROOT

SITE = re.compile(r"^```nginx\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAME = "ironic.example.com"
# What nginx needs outside of a site, where it is not started by the system.
AROUND = """
daemon off;
master_process off;
pid {place}/nginx.pid;
error_log {place}/error.log;
events {{ }}
http {{
    access_log off;
    client_body_temp_path {place}/bodies;
    proxy_temp_path {place}/answers;
    fastcgi_temp_path {place}/f;
    uwsgi_temp_path {place}/u;
    scgi_temp_path {place}/s;
    {site}
}}
"""


@contextmanager
def nginx(place: Path, port: int, behind: int, tls: Tls) -> Iterator[None]:
    """Run nginx with the site of the page, on a port of the loopback."""
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin")
    assert program, "nginx is missing: run tools/packages.sh"
    (site,) = SITE.findall((ROOT / "doc" / "many-machines.md").read_text())
    for usual, here in (
        ("127.0.0.1:6385", f"127.0.0.1:{behind}"),
        ("listen 443", f"listen 127.0.0.1:{port}"),
        ("/etc/nginx/ironic.pem", tls.certificate),
        ("/etc/nginx/ironic.key", tls.key),
    ):
        assert site.count(usual) == 1
        site = site.replace(usual, here)
    configuration = place / "nginx.conf"
    configuration.write_text(AROUND.format(place=place, site=site))
    with subprocess.Popen([program, "-e", place / "error.log", "-p", place, "-c", configuration]) as process:
        try:
            deadline = time.monotonic() + 30
            while not (place / "nginx.pid").exists():
                assert process.poll() is None and time.monotonic() < deadline, (place / "error.log").read_text()
                time.sleep(0.05)
            yield
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory, tls: Tls) -> Iterator[tuple[Service, int]]:
    """Run the service behind nginx; give it, and the port of nginx."""
    place, port = tmp_path_factory.mktemp("nginx"), free_port()
    own = free_port()
    options: Options = {
        "DEFAULT": {"enabled_hardware_types": "fake-hardware", "enabled_network_interfaces": "noop"},
        "api": {"trusted_hosts": NAME},
        "oslo_middleware": {"enable_proxy_headers_parsing": True},
    }
    with all_in_one_below(place, options, own) as service, nginx(place, port, own, tls):
        yield service, port


def ask(port: int, method: str, path: str, body: object = None) -> requests.Response:
    """Send a request through nginx, as a client does that was given the public name."""
    headers = {"Host": f"{NAME}:{port}", "X-OpenStack-Ironic-API-Version": "1.89", "X-Forwarded-Host": "forged.example"}
    return requests.request(
        method,
        f"https://127.0.0.1:{port}{path}",
        headers=headers,
        verify=False,
        timeout=60,
        json=body,
    )


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_links_bodies_and_paths_come_through_as_they_are(behind: tuple[Service, int]) -> None:
    service, port = behind
    root = ask(port, "GET", "/v1")
    assert root.status_code == 200
    assert root.json()["links"][0]["href"] == f"https://{NAME}:{port}/v1/"
    created = ask(port, "POST", "/v1/nodes", {"driver": "fake-hardware", "name": "one"})
    assert created.status_code == 201, created.text
    # Larger than the megabyte that nginx takes by default.
    drive = {"target": "active", "configdrive": "x" * 3_000_000}
    large = ask(port, "PUT", "/v1/nodes/one/states/provision", drive)
    assert (large.status_code, "nginx" in large.text) == (400, False)
    assert ask(port, "GET", "/v1/nodes/o%6Ee").status_code == 200
    assert ask(port, "GET", "/v1/nodes/a%2Fb").json()["error_message"]
    assert '"GET /v1/nodes/a%2Fb"' in (service.log_file.parent / "access.log").read_text()
