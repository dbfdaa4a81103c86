"""It serves an application over TCP, TLS and Unix sockets, and ends without cutting anyone off."""

import http.client
import os
import socket
import ssl
import stat
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from ironic.command.console_proxy import ProxySettings
from ironic.command.http_server import ApiServer, ServerSettings
from ironic.command.server_tls import Tls
from ironic.conf import CONF
from ironic.tests.functional.live.http_server import LOOPBACK, get, hello, port_of
from ironic.tests.site import eventually

# Twice the largest body that some route takes by default.
LARGEST = 128 * 1024 * 1024


def test_it_serves_tcp(serve: Callable[..., ApiServer]) -> None:
    server = serve(hello, ServerSettings(LOOPBACK))
    assert server.url.startswith("http://127.0.0.1:")
    assert get(http.client.HTTPConnection("127.0.0.1", port_of(server), timeout=30)) == b"hello"


def test_it_serves_a_unix_socket_with_the_mode_asked_for(serve: Callable[..., ApiServer], tmp_path: Path) -> None:
    path = tmp_path / "api.sock"
    serve(hello, ServerSettings(str(path), socket_mode=0o600))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    connection = http.client.HTTPConnection("localhost", timeout=30)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(path))
    assert get(connection) == b"hello"


def test_it_serves_tls_of_the_version_asked_for(serve: Callable[..., ApiServer], tls: Tls) -> None:
    server = serve(hello, ServerSettings(LOOPBACK, tls=tls))
    trusting = ssl.create_default_context(cafile=tls.certificate)
    assert server.url.startswith("https://")
    assert get(http.client.HTTPSConnection("127.0.0.1", port_of(server), timeout=30, context=trusting)) == b"hello"
    trusting.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises(ssl.SSLError):
        get(http.client.HTTPSConnection("127.0.0.1", port_of(server), timeout=30, context=trusting))


def test_a_client_that_is_cut_off_is_no_error(
    serve: Callable[..., ApiServer], tls: Tls, caplog: pytest.LogCaptureFixture
) -> None:
    entered, leave = threading.Event(), threading.Event()

    def slow(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        entered.set()
        leave.wait(10)
        start_response("200 OK", [])
        return (b"hello" for _ in range(1000))

    caplog.set_level("INFO")
    server = serve(slow, ServerSettings(LOOPBACK, tls=tls))
    trusting = ssl.create_default_context(cafile=tls.certificate)
    connection = http.client.HTTPSConnection("127.0.0.1", port_of(server), timeout=30, context=trusting)
    connection.request("GET", "/")
    assert entered.wait(30)
    os.close(connection.sock.detach())  # without a good-bye
    eventually(lambda: "A client has gone before it had its answer" in caplog.text, True)
    leave.set()
    server.stop()
    assert "Traceback" not in caplog.text


def test_a_taken_port_is_found_at_start(serve: Callable[..., ApiServer]) -> None:
    taken = port_of(serve(hello, ServerSettings(LOOPBACK)))
    with pytest.raises(OSError, match="is taken"):
        ApiServer(hello, ServerSettings(("127.0.0.1", taken))).start()


def test_stopping_waits_for_the_request_that_runs() -> None:
    entered, leave = threading.Event(), threading.Event()

    def slow(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        entered.set()
        leave.wait(10)
        return hello(environ, start_response)

    server = ApiServer(slow, ServerSettings(LOOPBACK))
    server.start()
    answers: list[bytes] = []
    connection = http.client.HTTPConnection("127.0.0.1", port_of(server), timeout=10)
    client = threading.Thread(target=lambda: answers.append(get(connection)))
    client.start()
    assert entered.wait(30)
    stopping = threading.Thread(target=server.stop)
    stopping.start()
    leave.set()
    client.join(10)
    stopping.join(15)
    assert answers == [b"hello"]
    assert not stopping.is_alive()


def test_the_options_say_where_and_how(conf: Any) -> None:
    conf(api__host_ip="::1", api__port=7000, api__api_workers=3)
    assert ServerSettings.from_conf(CONF) == ServerSettings(("::1", 7000), threads=60, body_limit=LARGEST)
    conf(api__unix_socket="/run/api.sock", api__unix_socket_mode="0660", api__enable_ssl_api=True)
    conf(api__cert_file="c", api__key_file="k", api__server_tls_minimum_version="1.2")
    expected = ServerSettings(
        "/run/api.sock", threads=60, tls=Tls("c", "k", "1.2"), socket_mode=0o660, body_limit=LARGEST
    )
    assert ServerSettings.from_conf(CONF) == expected


SERVERS = [ServerSettings.from_conf, ServerSettings.for_inspector, ProxySettings.from_conf]


@pytest.mark.parametrize("settings_of", SERVERS)
def test_every_server_has_the_limits_of_its_options(
    conf: Any, tls: Tls, tmp_path: Path, settings_of: Callable[[Any], Any]
) -> None:
    conf(vnc__novnc_web=str(tmp_path))
    files = {"cert_file": tls.certificate, "key_file": tls.key}
    conf(api__enable_ssl_api=True, **{f"api__{name}": path for name, path in files.items()})
    conf(vnc__enable_ssl=True, **{f"vnc__{name}": path for name, path in files.items()})
    ciphers = "ECDHE-RSA-AES256-GCM-SHA384"
    conf(api__server_tls_minimum_version="1.2", api__server_tls_ciphers=ciphers)
    conf(vnc__tls_minimum_version="1.2", vnc__tls_ciphers=ciphers)
    context = settings_of(CONF).tls.context()
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
    assert [one["name"] for one in context.get_ciphers() if one["protocol"] == "TLSv1.2"] == [ciphers]
    conf(api__server_tls_ciphers="none-such", vnc__tls_ciphers="none-such")
    with pytest.raises(ValueError, match=r"no cipher of \[(api\]server_|vnc\])tls_ciphers = none-such"):
        settings_of(CONF).tls.context()


def test_https_without_a_certificate_is_refused(conf: Any) -> None:
    conf(api__enable_ssl_api=True, api__cert_file="c")
    with pytest.raises(ValueError, match="key_file"):
        ServerSettings.from_conf(CONF)
