"""The program ironic-novncproxy: TLS, pages of other origins, recordings; with a real VNC server behind it."""

import asyncio
import contextlib
import http.client
import socket
import ssl
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin

from ironic import db
from ironic.core.memory.console_tokens import ConsoleAccess
from ironic.tests.functional.consoles.lines import until
from ironic.tests.functional.consoles.viewers import PATIENCE, begin, read
from ironic.tests.functional.consoles.vnc import vnc_server
from ironic.tests.live_service import Service, create_database, free_port, write_options
from ironic.tests.redfish_bmc import write_certificate
from ironic.tests.unit.drivers.machine import Machine

FRIEND = "https://dashboard.example.org"
CIPHER = "ECDHE-ECDSA-AES256-GCM-SHA384"


class TlsViewer:
    """A viewer that reads and writes in one thread.

    The library's client for threads reads in one and writes in another. In Python 3.11 a request is lost if it is
    written while tickets of TLS 1.3 are read, one of 700 here.
    """

    def __init__(self, url: str, context: ssl.SSLContext, origin: str | None) -> None:
        self._loop = asyncio.Runner()
        page = None if origin is None else Origin(origin)
        self._opening = connect(url, ssl=context, origin=page, proxy=None, open_timeout=PATIENCE)

    def __enter__(self) -> "TlsViewer":
        try:
            self._connection = self._loop.run(_opened(self._opening))
        except BaseException:
            self._loop.close()
            raise
        self.tls: ssl.SSLObject = self._connection.transport.get_extra_info("ssl_object")
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.run(self._connection.close())
        self._loop.close()

    def send(self, message: bytes) -> None:
        self._loop.run(self._connection.send(message))

    def recv(self, timeout: float) -> str | bytes:
        return self._loop.run(asyncio.wait_for(self._connection.recv(), timeout))


async def _opened(opening: connect) -> ClientConnection:
    return await opening


class Site:
    """The program, and a node whose console is open."""

    def __init__(self, directory: Path, store: db.Store, certificate: str, port: int, vnc_port: int) -> None:
        self.directory, self.port, self._certificate = directory, port, certificate
        access = ConsoleAccess.granted("127.0.0.1", vnc_port, store.clock.now() - timedelta(seconds=1))
        access.put(machine := Machine())
        info = {
            "driver": "fake-hardware", "console_enabled": True, "driver_internal_info": machine.driver_internal_info,
        }  # fmt: skip
        self.path = f"/websockify?node={store.nodes.create(info).uuid}&token={access.token}"

    def trusting(self) -> ssl.SSLContext:
        """Return the terms of a client that believes this certificate only."""
        return ssl.create_default_context(cafile=self._certificate)

    def open(self, context: ssl.SSLContext | None = None, origin: str | None = None) -> TlsViewer:
        return TlsViewer(f"wss://127.0.0.1:{self.port}{self.path}", context or self.trusting(), origin)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    directory, port = tmp_path_factory.mktemp("novncproxy"), free_port()
    certificate, key = write_certificate(directory)
    (directory / "pages").mkdir()
    (directory / "pages" / "vnc_lite.html").write_text("<html>screen</html>")
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {"log_file": directory / "proxy.log"},
        "database": {"connection": f"sqlite:///{directory}/ironic.sqlite"},
        "cors": {"allowed_origin": f"https://other.example.org,{FRIEND}/"},
        "vnc": {
            "host_ip": "127.0.0.1",
            "port": port,
            "novnc_web": directory / "pages",
            "novnc_record": directory / "screen",
            "novnc_auth_schemes": "none",
            "enable_ssl": True,
            # The names of older configuration files.
            "ssl_cert_file": certificate,
            "ssl_key_file": key,
            "tls_minimum_version": "1.2",
            "tls_ciphers": CIPHER,
        },
    }
    configuration = [write_options(directory / "ironic.conf", options)]
    create_database(*configuration)
    store = db.connect(str(options["database"]["connection"]))
    program = Service("ironic-novncproxy", configuration, directory / "proxy.log", port)
    try:
        with vnc_server(directory) as vnc_port:
            program.await_ready()
            yield Site(directory, store, certificate, port, vnc_port)
    finally:
        status = program.stop()
        store.close()
    assert status == 0, program.log


def test_a_screen_is_seen_and_recorded_over_tls(site: Site) -> None:
    before = set(site.directory.glob("screen.*"))
    with site.open() as session:
        screen = begin(session)
        assert (int.from_bytes(screen[:2]), int.from_bytes(screen[2:4])) == (320, 240)
        session.send(b"\3\0" + bytes(4) + (320).to_bytes(2) + (240).to_bytes(2))
        assert len(read(session, 320 * 240 * 4)) >= 320 * 240 * 4
    (recording,) = until(lambda: set(site.directory.glob("screen.*")) - before, "there is a recording")
    until(lambda: recording.stat().st_size > 320 * 240 * 4, "the picture is in it")


def test_pages_are_served_over_tls_and_nothing_without(site: Site) -> None:
    with contextlib.closing(
        http.client.HTTPSConnection("127.0.0.1", site.port, timeout=PATIENCE, context=site.trusting())
    ) as client:
        client.request("GET", "/vnc_lite.html")
        assert client.getresponse().read() == b"<html>screen</html>"
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", site.port, timeout=PATIENCE)) as plain:
        plain.request("GET", "/vnc_lite.html")
        answer = plain.getresponse()
        assert (answer.status, answer.read()) == (400, b"This port speaks TLS: use https.\n")


def test_a_certificate_that_nobody_vouches_for_is_seen_as_such(site: Site) -> None:
    with pytest.raises(ssl.SSLCertVerificationError), site.open(ssl.create_default_context()):
        pass


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_both_versions_of_tls_are_spoken(site: Site, version: ssl.TLSVersion) -> None:
    context = site.trusting()
    context.minimum_version = context.maximum_version = version
    with site.open(context) as session:
        begin(session)
        assert session.tls.version() == version.name.replace("v1_", "v1.")
        if version is ssl.TLSVersion.TLSv1_2:
            cipher = session.tls.cipher()
            assert cipher and cipher[0] == CIPHER


def test_a_cipher_that_is_not_named_is_refused(site: Site) -> None:
    context = site.trusting()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("ECDHE-ECDSA-CHACHA20-POLY1305")
    with (
        socket.create_connection(("127.0.0.1", site.port), PATIENCE) as client,
        pytest.raises(ssl.SSLError),
        context.wrap_socket(client, server_hostname="127.0.0.1"),
    ):
        pass


@pytest.mark.parametrize("origin", ["https://127.0.0.1:{port}", FRIEND, "https://other.example.org"])
def test_own_pages_and_those_of_friends_may_open_a_console(site: Site, origin: str) -> None:
    with site.open(origin=origin.format(port=site.port)) as session:
        begin(session)


@pytest.mark.parametrize(
    "origin",
    [
        "http://127.0.0.1:{port}",
        "https://127.0.0.1",
        "http://dashboard.example.org",
        f"{FRIEND}:8443",
        f"{FRIEND}.evil.example",
        "null",
    ],
)
def test_pages_of_strangers_may_not(site: Site, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refusal, site.open(origin=origin.format(port=site.port)):
        pass
    assert refusal.value.response.status_code == 403


def test_clients_that_end_no_handshake_keep_nobody_out(site: Site) -> None:
    with contextlib.ExitStack() as stack:
        silent = [
            stack.enter_context(socket.create_connection(("127.0.0.1", site.port), PATIENCE)) for _each in range(240)
        ]
        with contextlib.suppress(ConnectionResetError):
            assert silent[0].recv(1) == b""
        with site.open() as session:
            assert begin(session)
