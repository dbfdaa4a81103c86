"""The conductor's own web server for published files, asked over HTTP by clients that behave and by others."""

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic.command import file_server, http_server
from ironic.command.file_server import FileServer, PublishedFilesComponent
from ironic.integrations import web_root
from ironic.tests.live_service import free_port

IMAGE = bytes(range(256)) * 4096
SECONDS = 60


@pytest.fixture
def root(conf: Any, tmp_path: Path) -> Path:
    directory = tmp_path / "http"
    conf(deploy__http_root=str(directory), pxe__tftp_master_path=str(directory / "masters"))
    return directory


@pytest.fixture
def serve(root: Path) -> Iterator[Callable[..., FileServer]]:
    running: list[FileServer] = []

    def start(most: int = 100) -> FileServer:
        server = FileServer(str(root), ("127.0.0.1", 0), most)
        server.start()
        running.append(server)
        return server

    yield start
    for server in running:
        server.stop()


@pytest.fixture
def url(root: Path, serve: Callable[..., FileServer]) -> str:
    root.mkdir()
    (root / "image.iso").write_bytes(IMAGE)
    return serve().url


def get(url: str, **headers: str) -> requests.Response:
    return requests.get(url, headers=headers, timeout=SECONDS)


def test_a_file_is_served_whole(url: str) -> None:
    answer = get(f"{url}/image.iso")
    assert (answer.status_code, answer.content) == (200, IMAGE)
    assert answer.headers["Content-Length"] == str(len(IMAGE))
    assert answer.headers["Accept-Ranges"] == "bytes"
    asked = requests.head(f"{url}/image.iso", timeout=SECONDS)
    assert (asked.status_code, asked.headers["Content-Length"], asked.content) == (200, str(len(IMAGE)), b"")


@pytest.mark.parametrize(
    "asked, part",
    [("bytes=0-0", IMAGE[:1]), ("bytes=300-999", IMAGE[300:1000]), ("bytes=1048000-", IMAGE[1048000:]),
     ("bytes=-7", IMAGE[-7:])],
)  # fmt: skip
def test_a_bmc_reads_the_part_it_needs(url: str, asked: str, part: bytes) -> None:
    answer = get(f"{url}/image.iso", Range=asked)
    assert (answer.status_code, answer.content) == (206, part)


def test_a_part_beyond_the_end_is_refused(url: str) -> None:
    assert get(f"{url}/image.iso", Range=f"bytes={len(IMAGE)}-").status_code == 416


def test_an_unchanged_file_is_not_sent_again(url: str) -> None:
    tag = get(f"{url}/image.iso").headers["ETag"]
    assert get(f"{url}/image.iso", **{"If-None-Match": tag}).status_code == 304


def test_firmware_gets_a_type_that_it_does_not_take_for_text(url: str, root: Path) -> None:
    for name in ("kernel", "01-aa-bb-cc-00-11-22", "initramfs.gz"):
        (root / name).write_bytes(b"x")
        assert get(f"{url}/{name}").headers["Content-Type"] == "application/octet-stream"


def raw(url: str, request: str) -> bytes:
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=SECONDS) as client:
        client.sendall(request.encode())
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65536), b""))


@pytest.mark.parametrize(
    "path",
    ["/", "/folder", "/folder/", "/../secret", "/folder/../../secret", "/%2e%2e/secret", "/..%2fsecret", "//secret",
     "/link", "/linked/secret", "/.hidden", "/.part/x", "/private", "/masters/0123", "/image.iso/x", "/a%00b",
     "/" + "a" * 5000, "/pipe", "/passwords"],
)  # fmt: skip
def test_nothing_else_is_served(url: str, root: Path, conf: Any, path: str) -> None:
    secret = root.parent / "secret"
    secret.write_text("SECRET")
    for folder in ("folder", ".part", "masters"):
        (root / folder).mkdir()
    for name in (".hidden", ".part/x", "private", "masters/0123", "folder/x", "passwords"):
        (root / name).write_text("SECRET")
    (root / "private").chmod(0o600)
    (root / "link").symlink_to(secret)
    (root / "linked").symlink_to(root.parent)
    os.mkfifo(root / "pipe")
    conf(http_basic_auth_user_file=str(root / "passwords"))
    answer = raw(url, f"GET {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
    assert answer.split()[1] == b"404"
    assert b"SECRET" not in answer


def test_a_file_may_only_be_read(url: str, root: Path) -> None:
    assert requests.delete(f"{url}/image.iso", timeout=SECONDS).status_code == 405
    assert requests.put(f"{url}/image.iso", data=b"x", timeout=SECONDS).status_code in (405, 413)
    assert (root / "image.iso").read_bytes() == IMAGE


def test_the_directory_may_appear_later(serve: Callable[..., FileServer], root: Path) -> None:
    url = serve().url
    assert get(f"{url}/image.iso").status_code == 404
    root.mkdir()
    (root / "image.iso").write_bytes(IMAGE)
    assert get(f"{url}/image.iso").content == IMAGE


def is_closed(client: socket.socket) -> bool:
    try:
        while client.recv(65536):
            pass
    except OSError:
        pass
    return True


def test_a_client_that_takes_nothing_is_let_go(
    root: Path, serve: Callable[..., FileServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_server, "STALLED_SECONDS", 0)
    root.mkdir()
    (root / "large").write_bytes(bytes(64 << 20))
    port = int(serve().url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as client:
        client.sendall(b"GET /large HTTP/1.1\r\nHost: here\r\n\r\n")
        # It takes nothing until the server has given up: its end of the connection is gone then.
        until = time.monotonic() + SECONDS
        while time.monotonic() < until and _is_connected(port, client.getsockname()[1]):
            time.sleep(0.05)
        taken = 0
        try:
            while part := client.recv(1 << 20):
                taken += len(part)
        except ConnectionError:
            pass
    assert taken < 64 << 20


def _is_connected(port: int, peer: int) -> bool:
    """Return whether the kernel knows an established connection from one port of the loopback to the other."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    ends = [(line.split()[1], line.split()[2], line.split()[3]) for line in lines]
    return any(a.endswith(f":{port:04X}") and b.endswith(f":{peer:04X}") and state == "01" for a, b, state in ends)


def test_many_clients_at_once_each_get_the_whole(url: str) -> None:
    found: list[bool] = []

    def download() -> None:
        found.append(get(f"{url}/image.iso").content == IMAGE)

    threads = [threading.Thread(target=download) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 20


def test_one_address_has_a_number_of_connections(url: str, conf: Any) -> None:
    conf(deploy__http_server_connections_per_client=3)
    port = int(url.rpartition(":")[2])
    clients = [socket.create_connection(("127.0.0.1", port), timeout=SECONDS) for _ in range(3)]
    try:
        # Answered, so that the server has let them in.
        for client in clients:
            client.sendall(b"HEAD /image.iso HTTP/1.1\r\nHost: here\r\n\r\n")
            assert client.recv(4096).startswith(b"HTTP/1.1 200")
        with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as one_more:
            assert is_closed(one_more)
    finally:
        for client in clients:
            client.close()


def test_when_all_connections_are_taken_one_that_idles_makes_room(root: Path, serve: Callable[..., FileServer]) -> None:
    root.mkdir()
    (root / "image.iso").write_bytes(IMAGE)
    url = serve(most=2).url
    port = int(url.rpartition(":")[2])
    idle = [socket.create_connection(("127.0.0.1", port), timeout=SECONDS) for _ in range(2)]
    try:
        assert get(f"{url}/image.iso").content == IMAGE
    finally:
        for client in idle:
            client.close()


def test_who_takes_all_connections_to_stall_them_makes_room_for_others(
    root: Path, serve: Callable[..., FileServer]
) -> None:
    root.mkdir()
    (root / "image.iso").write_bytes(IMAGE * 16)
    url = serve(most=8).url
    port = int(url.rpartition(":")[2])
    asked = b"GET /image.iso HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"
    with contextlib.ExitStack() as stack:

        def begin(address: str) -> socket.socket:
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.settimeout(SECONDS)
            client.bind((address, 0))
            client.connect(("127.0.0.1", port))
            stack.enter_context(client)
            client.sendall(asked)
            client.recv(12)
            return client

        honest = begin("127.0.0.2")
        for number in range(30):
            # From several addresses, each within its limit, and all downloads are under way.
            with contextlib.suppress(ConnectionError):
                begin(f"127.0.0.{10 + number % 3}")
        second = begin("127.0.0.3")
        for client in (honest, second):
            received = 0
            while data := client.recv(1 << 16):
                received += len(data)
            assert received > len(IMAGE) * 16


# The component of a service


@pytest.fixture
def component() -> Iterator[Callable[[], PublishedFilesComponent]]:
    started: list[PublishedFilesComponent] = []

    def start() -> PublishedFilesComponent:
        started.append(PublishedFilesComponent())
        started[-1].start()
        return started[-1]

    yield start
    for one in started:
        one.stop()


def test_it_serves_where_the_options_say_and_says_so(root: Path, conf: Any, component: Any) -> None:
    port = free_port()
    conf(deploy__http_server_ip="127.0.0.1", deploy__http_server_port=port)
    running = component()
    assert web_root.url() == f"http://127.0.0.1:{port}"
    root.mkdir()
    (root / "x").write_bytes(b"x")
    assert get(f"{web_root.url()}/x").content == b"x"
    running.stop()
    assert web_root.url() == ""


@pytest.mark.parametrize(
    ("listens", "own", "shown"),
    [
        ("0.0.0.0", "127.0.0.1", "127.0.0.1"),
        ("::", "127.0.0.1", "127.0.0.1"),
        ("::", "::1", "[::1]"),
        ("::1", "192.0.2.1", "[::1]"),
    ],
)
def test_where_it_listens_everywhere_machines_get_the_address_of_the_host(
    root: Path, conf: Any, component: Any, listens: str, own: str, shown: str
) -> None:
    port = free_port()
    conf(deploy__http_server_ip=listens, deploy__http_server_port=port, my_ip=own)
    component()
    assert web_root.url() == f"http://{shown}:{port}"
    assert get(f"{web_root.url()}/x").status_code == 404


def test_its_address_for_machines_may_be_another(root: Path, conf: Any, component: Any) -> None:
    outside = "http://files.example.org:80/"
    conf(deploy__http_server_ip="127.0.0.1", deploy__http_server_port=free_port(), deploy__http_server_url=outside)
    component()
    assert web_root.url() == "http://files.example.org:80"


@pytest.mark.parametrize("options", [{"deploy__http_url": "http://192.0.2.1/"}, {"deploy__http_server_port": 0}])
def test_it_does_not_serve_beside_a_server_of_the_operator(conf: Any, component: Any, options: Any) -> None:
    port = free_port()
    conf(**{"deploy__http_server_ip": "127.0.0.1", "deploy__http_server_port": port, **options})
    component()
    with pytest.raises(ConnectionError):
        socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
    assert web_root.url() == options.get("deploy__http_url", "").rstrip("/")


def test_a_taken_port_leaves_the_rest_of_the_service_running(
    conf: Any, component: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        conf(deploy__http_server_ip="127.0.0.1", deploy__http_server_port=port)
        component()
    assert f"port {port} of 127.0.0.1" in caplog.text
    assert web_root.url() == ""


def test_the_api_keeps_its_own_limits() -> None:
    assert http_server.ApiServer.connection is not file_server.FileServer.connection


def test_it_serves_once_the_service_before_it_has_let_its_port_go(
    root: Path, conf: Any, component: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(file_server, "RETRY_SECONDS", 0.05)
    root.mkdir()
    (root / "x").write_bytes(b"x")
    with socket.create_server(("127.0.0.1", 0)) as former:
        port = former.getsockname()[1]
        conf(deploy__http_server_ip="127.0.0.1", deploy__http_server_port=port)
        component()
        assert web_root.url() == ""
        assert caplog.text.count("It is tried again every") == 1
    until = time.monotonic() + SECONDS
    while not web_root.url() and time.monotonic() < until:
        time.sleep(0.02)
    assert get(f"http://127.0.0.1:{port}/x").content == b"x"


def test_it_ends_while_it_waits_for_its_port(conf: Any, component: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as former:
        conf(deploy__http_server_ip="127.0.0.1", deploy__http_server_port=former.getsockname()[1])
        running = component()
        began = time.monotonic()
        running.stop()
    assert time.monotonic() - began < file_server.RETRY_SECONDS
    assert web_root.url() == ""
