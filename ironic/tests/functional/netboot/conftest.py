"""Servers that a machine meets when it boots from the network: dnsmasq with DHCP and TFTP, and a web server.

DHCP goes through a relay and all addresses are of the loopback, so that no network of its own is needed. TFTP has one
port only, so each dnsmasq gets an address of its own.
"""

import functools
import http.server
import os
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import ironic
from ironic.tests.conftest import Setter
from ironic.tests.functional.netboot.firmware import Firmware
from ironic.tests.site import until
from ironic.tests.unit.drivers.modules.netboot.conftest import place

__all__ = ["place"]

PATIENCE = 60.0


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def web(place: Path, conf: Setter) -> Iterator[str]:
    """Serve what is offered over HTTP; return the URL."""
    (place / "http").mkdir()
    handler = functools.partial(_Quiet, directory=str(place / "http"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    conf(deploy__http_url=url)
    yield url
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def firmware(place: Path, conf: Setter, tmp_path: Path) -> Iterator[Firmware]:
    """Run a dnsmasq that is configured by files; return the firmware of machines in its network."""
    program = shutil.which("dnsmasq", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    assert program, "this needs dnsmasq: install Debian's package dnsmasq-base"
    (place / "tftp").mkdir()
    port = _free_port()
    address = f"127.1.{port >> 8}.{port & 255}"
    conf(dhcp__dhcp_provider="dnsmasq", pxe__tftp_server=address)
    config = tmp_path / "dnsmasq.conf"
    text = _documented()
    for documented, here in (
        ("interface=eth1", f"interface=lo\nlisten-address={address}\ndhcp-alternate-port={port},{port}"),
        ("192.0.2.50,192.0.2.150,255.255.255.0", "127.0.0.50,127.0.0.150,255.0.0.0"),
        ("/etc/dnsmasq.d/hostsdir.d", f"{place}/hosts"),
        ("/etc/dnsmasq.d/optsdir.d", f"{place}/options"),
        ("/tftpboot", f"{place}/tftp"),
    ):
        assert documented in text
        text = text.replace(documented, here)
    config.write_text(
        f"{text}no-ping\nkeep-in-foreground\nlog-facility=-\nlog-dhcp\nuser=root\n"
        f"dhcp-leasefile={tmp_path}/leases\npid-file={tmp_path}/pid\n"
    )
    log = tmp_path / "dnsmasq.log"
    with log.open("wb") as output, subprocess.Popen([program, f"--conf-file={config}"], stderr=output) as process:
        machine = Firmware(port, address)
        try:
            until(lambda: b"TFTP root is" in log.read_bytes() or process.poll() is not None)
            assert process.poll() is None, log.read_text()
            yield machine
        finally:
            machine.close()
            process.terminate()


def _documented() -> str:
    """Return the configuration that the documentation shows."""
    page = (Path(ironic.__file__).parent.parent / "doc" / "network-boot.md").read_text()
    (found,) = re.findall(r"```dnsmasq\.conf\n(.*?)```", page, re.DOTALL)
    return str(found)


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("0.0.0.0", 0))
        return int(probe.getsockname()[1])
