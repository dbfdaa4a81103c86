"""The one client for what others name: where it goes, where it doesn't, and when it gives up."""

import contextlib
import http.server
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ironic.core.addresses.allowed_addresses import Server
from ironic.integrations import allowed_destinations, http_client, web_root
from ironic.integrations.allowed_destinations import SocketAddress
from ironic.integrations.http_client import BrokenOff, CallFailed, Login, NotAllowed, NotConnected, Terms, TooLarge
from ironic.tests.agent_double import make_certificate, secured
from ironic.tests.conftest import Setter
from ironic.tests.live_service import free_port

Answering = Callable[[http.server.BaseHTTPRequestHandler], None]


@contextlib.contextmanager
def serving(answer: Answering, tls: Any = None) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Run a server that answers so; yields its URL and the headers it got, with the path as one of them."""
    seen: list[dict[str, str]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append({**self.headers, "path": self.path})
            with contextlib.suppress(OSError):
                answer(self)

        do_CONNECT = do_GET

        def log_message(self, *args: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def body(content: bytes = b"ok", announced: int | None = None) -> Answering:
    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content) if announced is None else announced))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def redirect(target: str, status: int = 302) -> Answering:
    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Location", target)
        handler.end_headers()

    return answer


def trickle(begin: bytes, piece: bytes) -> Answering:
    """Send something, then a little more every now and then, for as long as the other side stays."""

    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        gone = threading.Event()
        handler.wfile.write(begin)
        while not gone.wait(0.02):
            handler.wfile.write(piece)

    return answer


PLAIN = Terms()


def fetched(url: str, terms: Terms = PLAIN) -> bytes:
    with http_client.get(url, terms) as answer:
        assert answer.status == 200
        return answer.read()


# Where it does not go


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:7f00:1]"]
)
def test_the_loopback_is_out_of_reach_unless_an_option_allows_it(conf: Setter, host: str) -> None:
    conf(outgoing__allow_loopback=False)
    with serving(body()) as (url, seen), pytest.raises(NotAllowed, match="allow_loopback"):
        fetched(url.replace("127.0.0.1", host))
    assert seen == []


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "[fe80::1]", "0.0.0.0", "[::]", "224.0.0.1", "0", "[fd00:ec2::254]"]
)
def test_some_addresses_are_never_contacted(host: str) -> None:
    with pytest.raises(NotAllowed, match="its address is"):
        fetched(f"http://{host}/")


def test_the_services_own_port_is_out_of_reach_even_where_the_loopback_is_not(conf: Setter) -> None:
    with serving(body()) as (url, seen):
        port = int(url.rpartition(":")[2])
        conf(api__host_ip="0.0.0.0", api__port=port)
        for host in ("127.0.0.1", "127.0.0.2", "[::ffff:127.0.0.1]"):
            with pytest.raises(NotAllowed, match="this service itself"):
                fetched(f"http://{host}:{port}/")
        conf(
            api__host_ip="127.0.0.1",
            api__port=free_port(),
            database__connection=f"mysql+pymysql://a:b@localhost:{port}/x",
        )
        with pytest.raises(NotAllowed, match="this service itself"):
            fetched(url)
        conf(database__connection="sqlite://", service_catalog__endpoint_override=f"http://localhost:{port}/")
        with pytest.raises(NotAllowed, match="this service itself"):
            fetched(url)
        assert seen == []
        conf(service_catalog__endpoint_override=f"http://localhost:{port}/baremetal")
        assert fetched(url) == b"ok"


def test_one_bad_address_among_good_ones_is_enough(names: dict[str, list[str]]) -> None:
    names["mixed.example"] = ["127.0.0.1 169.254.169.254"]
    with serving(body()) as (url, seen), pytest.raises(NotAllowed, match="link-local"):
        fetched(url.replace("127.0.0.1", "mixed.example"))
    assert seen == []


def test_a_name_that_leads_elsewhere_at_the_second_look_is_looked_up_once(names: dict[str, list[str]]) -> None:
    names["rebound.example"] = ["127.0.0.1", "169.254.169.254"]
    with serving(body()) as (url, seen):
        assert fetched(url.replace("127.0.0.1", "rebound.example")) == b"ok"
    assert seen[0]["Host"] == url.replace("127.0.0.1", "rebound.example").partition("://")[2]


def test_an_operator_names_the_networks(conf: Setter) -> None:
    conf(outgoing__networks=["192.0.2.0/24", "2001:db8::/32"])
    with serving(body()) as (url, seen):
        with pytest.raises(NotAllowed, match=r"\[outgoing\]networks"):
            fetched(url)
        assert seen == []
        conf(outgoing__networks=["127.0.0.0/8"])
        assert fetched(url) == b"ok"


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "http:///x", "x"])
def test_it_speaks_http_only(url: str) -> None:
    with pytest.raises(NotAllowed, match="web server"):
        fetched(url)


# Redirects


def test_it_follows_redirects_each_judged_anew(conf: Setter) -> None:
    with serving(body(b"image")) as (there, seen), serving(redirect(f"{there}/x?a=b")) as (here, _):
        assert fetched(here) == b"image"
        assert seen[0]["path"] == "/x?a=b"
        conf(api__host_ip="127.0.0.1", api__port=int(there.rpartition(":")[2]))
        with pytest.raises(NotAllowed, match="this service itself"):
            fetched(here)
    assert len(seen) == 1


@pytest.mark.parametrize(
    "target, why",
    [
        ("http://169.254.169.254/latest/meta-data", "link-local"),
        ("//0.0.0.0/", "stands for this host"),
        ("file:///etc/passwd", "web server"),
        ("http://[::1", "an invalid URL"),
    ],
)
def test_a_redirect_leads_nowhere_else(target: str, why: str) -> None:
    with serving(redirect(target)) as (here, _), pytest.raises(NotAllowed, match=why):
        fetched(here)


def test_a_redirect_never_leads_from_tls_to_none() -> None:
    certificate, key = make_certificate()
    trusting = Terms(tls=lambda: trusting_context(certificate))
    with (
        serving(body()) as (there, seen),
        serving(redirect(there), secured(certificate, key)) as (here, _),
        pytest.raises(NotAllowed, match="plain HTTP"),
    ):
        fetched(here, trusting)
    assert seen == []


def trusting_context(certificate: str) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=certificate)


def test_redirects_end() -> None:
    with serving(redirect("/again")) as (here, seen), pytest.raises(NotAllowed, match="more than 5"):
        fetched(here)
    assert len(seen) == 6


def test_a_login_stays_with_its_server() -> None:
    with serving(body()) as (there, seen), serving(redirect(there)) as (here, before):
        fetched(here.replace("//", "//me:pw@"))
        fetched(here, Terms(login=lambda server: Login("me", "pw") if here.endswith(str(server.port)) else None))
    assert [each.get("Authorization") for each in before] == ["Basic bWU6cHc="] * 2
    assert [each.get("Authorization") for each in seen] == [None, None]


# Certificates hold the name, whatever address was judged


def test_a_certificate_is_held_against_the_name(names: dict[str, list[str]]) -> None:
    certificate, key = make_certificate()
    trusting = Terms(tls=lambda: trusting_context(certificate))
    names["other.example"] = ["127.0.0.1"]
    with serving(body(), secured(certificate, key)) as (url, _):
        assert fetched(url, trusting) == b"ok"
        with pytest.raises(NotConnected, match="certificate"):
            fetched(url.replace("127.0.0.1", "other.example"), trusting)


def test_a_pinned_address_stays_while_the_name_moves(names: dict[str, list[str]]) -> None:
    certificate, key = make_certificate("moving.example")
    pinned: dict[Server, SocketAddress] = {}
    trusting = Terms(tls=lambda: trusting_context(certificate), pinned=pinned)
    names["moving.example"] = ["127.0.0.1", "127.0.0.2"]
    with serving(body(), secured(certificate, key)) as (url, seen):
        url = url.replace("127.0.0.1", "moving.example")
        assert [fetched(url, trusting), fetched(url, trusting)] == [b"ok", b"ok"]
        assert [one.address[0] for one in pinned.values()] == ["127.0.0.1"]
        assert all(each["Host"].startswith("moving.example:") for each in seen)
        with pytest.raises(NotConnected):
            fetched(url, replace(trusting, pinned=None))


# Time and bytes


@pytest.mark.parametrize(
    "begin, piece",
    [
        (b"", b"H"),
        (b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    ],
)
def test_an_answer_that_trickles_ends_with_its_time(begin: bytes, piece: bytes) -> None:
    with serving(trickle(begin, piece)) as (url, _), pytest.raises(CallFailed, match="in time"):
        fetched(url, Terms(seconds=0.4))


def test_so_does_one_that_trickles_through_tls() -> None:
    certificate, key = make_certificate()
    terms = Terms(tls=lambda: trusting_context(certificate), seconds=1.5)
    with serving(trickle(b"", b"H"), secured(certificate, key)) as (url, _), pytest.raises(BrokenOff, match="in time"):
        fetched(url, terms)


def test_a_server_that_never_says_hello_is_left() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(NotConnected, match="in time"):
        fetched(f"https://127.0.0.1:{silent.getsockname()[1]}/", Terms(seconds=0.3))


def test_a_silent_server_is_left_before_the_whole_time_is_over() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(BrokenOff, match="in time"):
        fetched(f"http://127.0.0.1:{silent.getsockname()[1]}/", Terms(idle_seconds=0.2))


@pytest.mark.parametrize("answer", [body(b"x" * 11), body(b"", 11), trickle(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 12)])
def test_no_more_bytes_are_taken_than_wanted(answer: Answering) -> None:
    with serving(answer) as (url, _), pytest.raises(TooLarge, match="10 bytes"):
        fetched(url, Terms(most_bytes=10))


def test_what_is_as_long_as_may_be_is_taken() -> None:
    with serving(body(b"x" * 10)) as (url, _):
        assert fetched(url, Terms(most_bytes=10)) == b"x" * 10


_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def flood(begin: bytes, piece: bytes) -> Answering:
    """Send something, then as much as the other side takes, up to 64 MiB."""

    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.wfile.write(begin)
        for _ in range(64 * 1024 * 1024 // len(piece)):
            handler.wfile.write(piece)

    return answer


@pytest.mark.parametrize("is_secure", [False, True])
@pytest.mark.parametrize(
    "answer",
    [
        flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 999),
        flood(b"", b"HTTP/1.1 102 Processing\r\nX: y\r\n\r\n" * 999),
        flood(b"", b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" * 999),
        flood(_CHUNKED, (b"1;" + b"e" * 60000 + b"\r\nx\r\n")),
        flood(_CHUNKED + b"0\r\n", b"T: " + b"t" * 60000 + b"\r\n"),
        flood(_CHUNKED + b"0\r\n", b"T: t\r\n" * 9999),
    ],
    ids=["100", "102", "103", "extensions", "long trailers", "many trailers"],
)
def test_bytes_outside_a_body_count_too(answer: Answering, is_secure: bool) -> None:
    certificate, key = make_certificate()
    terms = Terms(tls=lambda: trusting_context(certificate), most_bytes=100_000)
    with serving(answer, secured(certificate, key) if is_secure else None) as (url, _), pytest.raises(TooLarge):
        fetched(url, terms)


def chunk(size: int) -> bytes:
    return b"%x\r\n" % size + b"x" * size + b"\r\n"


@pytest.mark.parametrize("most", [None, 100 * 1024**3])
@pytest.mark.parametrize("is_secure", [False, True])
@pytest.mark.parametrize("size", [1, 7, 30])
def test_tiny_chunks_end_a_download_soon(size: int, is_secure: bool, most: int | None) -> None:
    certificate, key = make_certificate()
    terms, received = Terms(tls=lambda: trusting_context(certificate), most_bytes=most), 0
    served = serving(flood(_CHUNKED, chunk(size) * 5000), secured(certificate, key) if is_secure else None)
    with served as (url, _), http_client.get(url, terms) as answer, pytest.raises(TooLarge, match="what surrounds"):
        for piece in answer.chunks():
            received += len(piece)
    assert received < 1024 * 1024


@pytest.mark.parametrize("sizes", [[100] * 30_000, [5_000_000, 1, 3_000_000], [1] * 5000, [64] * 20_000])
def test_ordinary_chunks_arrive(sizes: list[int]) -> None:
    content = _CHUNKED + b"".join(map(chunk, sizes)) + chunk(0)

    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.wfile.write(content)

    with serving(answer) as (url, _):
        assert len(fetched(url, Terms(most_bytes=sum(sizes)))) == sum(sizes)


@pytest.mark.parametrize("status", [b"100 Continue", b"102 Processing", b"103 Early Hints"])
def test_the_answer_comes_behind_interim_ones(status: bytes) -> None:
    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 " + status + b"\r\nLink: x\r\n\r\n")
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    with serving(answer) as (url, _):
        assert fetched(url) == b"ok"


def test_what_did_not_come_whole_is_no_answer() -> None:
    with serving(body(b"x" * 10, announced=20)) as (url, _), pytest.raises(BrokenOff):
        fetched(url)


# Proxies


def test_the_environment_is_asked_only_where_an_option_says_so(conf: Setter, monkeypatch: pytest.MonkeyPatch) -> None:
    terms = Terms(proxy=http_client.environment_proxy, trusts_proxies=True)
    with serving(body(b"by proxy")) as (proxy, seen), serving(body()) as (url, _):
        monkeypatch.setenv("http_proxy", proxy.replace("//", "//me:pw@"))
        monkeypatch.setenv("no_proxy", "")
        assert fetched(url, terms) == b"ok"
        conf(outgoing__use_environment_proxies=True)
        assert fetched(f"{url}/x", terms) == b"by proxy"
        assert fetched("http://only-the-proxy-knows.invalid/x", terms) == b"by proxy"
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert fetched(url, terms) == b"ok"
    assert [each["path"] for each in seen] == [f"{url}/x", "http://only-the-proxy-knows.invalid/x"]
    assert {each["Proxy-Authorization"] for each in seen} == {"Basic bWU6cHc="}


def test_a_proxy_is_no_way_to_what_is_out_of_reach(conf: Setter) -> None:
    with serving(body()) as (proxy, seen):
        through = Terms(proxy=lambda server: proxy)
        with pytest.raises(NotAllowed, match="link-local"):
            fetched("http://169.254.169.254/", through)
        conf(outgoing__allow_loopback=False)
        with pytest.raises(NotAllowed, match="allow_loopback"):
            fetched("http://images.invalid/", through)
    assert seen == []


def test_tls_goes_through_a_proxy_unread() -> None:
    certificate, key = make_certificate()

    def tunnel(handler: http.server.BaseHTTPRequestHandler) -> None:
        host, _, port = handler.path.partition(":")
        with socket.create_connection((host, int(port))) as other:
            handler.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=_copy, args=(other, handler.connection))
            back.start()
            _copy(handler.connection, other)
            back.join()
        handler.close_connection = True

    with serving(tunnel) as (proxy, seen), serving(body(b"secret"), secured(certificate, key)) as (url, _):
        terms = Terms(tls=lambda: trusting_context(certificate), proxy=lambda server: proxy)
        assert fetched(url, terms) == b"secret"
    assert seen[0]["path"] == url.removeprefix("https://")


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def test_a_proxy_that_refuses_is_told() -> None:
    with serving(redirect("/", 403)) as (proxy, _), pytest.raises(NotConnected, match="status 403"):
        fetched("https://images.invalid/", Terms(proxy=lambda server: proxy))


def test_an_address_is_judged_by_itself_too() -> None:
    assert allowed_destinations.fault_at("192.0.2.1", 80) is None
    assert allowed_destinations.fault_at("169.254.169.254", 80) == "a link-local address"


@pytest.mark.parametrize(
    "path",
    [
        "/boot/11111111-0000-4000-8000-000000000001/config",
        "/boot/x/../11111111-0000-4000-8000-000000000001/config",
        "//boot//11111111%2d0000-4000-8000-000000000001/config",
        "/boot/%61gent_images/11111111-0000-4000-8000-000000000001.0123456789abcdef",
        "/boot/pxelinux.cfg/52-54-00-00-00-01",
        "/boot/vmedia/x.iso",
        "/boot/link/config",
        "/boot/vmedia/%00x.iso",
    ],
)
def test_what_is_offered_to_one_machine_is_no_image_for_another(conf: Setter, tmp_path: Path, path: str) -> None:
    (tmp_path / "11111111-0000-4000-8000-000000000001").mkdir()
    (tmp_path / "link").symlink_to("11111111-0000-4000-8000-000000000001")
    with serving(body()) as (url, seen):
        conf(deploy__http_root=str(tmp_path), deploy__http_url=f"{url.replace('127.0.0.1', 'localhost')}/boot/")
        with pytest.raises(NotAllowed, match="one machine only"):
            fetched(f"{url}{path}")
        assert seen == []
        for fine in ("/boot/images/kernel", "/boot/kernel", "/11111111-0000-4000-8000-000000000001/x"):
            assert fetched(f"{url}{fine}") == b"ok"


@pytest.mark.parametrize("named", ["own", "of_another_conductor", "external", "announced"])
def test_nor_is_it_at_another_address_of_a_conductor(
    conf: Setter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: str
) -> None:
    with serving(body()) as (url, seen):
        port = int(url.rpartition(":")[2])
        conf(deploy__http_root=str(tmp_path))
        if named == "own":
            # A proxy is before it, or it listens on all addresses.
            conf(deploy__http_server_ip="0.0.0.0", deploy__http_server_port=port)
            conf(deploy__http_server_url="http://192.0.2.1:8080")
        elif named == "of_another_conductor":
            conf(deploy__http_server_ip="192.0.2.1", deploy__http_server_port=port)
        elif named == "announced":
            conf(deploy__http_url="http://192.0.2.1:8080")
            monkeypatch.setattr(web_root.OwnServer, "url", f"{url}/")
        else:
            conf(deploy__http_url="http://192.0.2.1:8080", deploy__external_http_url=f"{url}/")
        for path in ("/pxelinux.cfg/52-54-00-00-00-01", "/x/../vmedia/y.iso"):
            with pytest.raises(NotAllowed, match="one machine only"):
                fetched(f"{url}{path}")
        assert seen == []
        assert fetched(f"{url}/images/kernel") == b"ok"


def test_the_api_of_the_inspector_is_the_service_too(conf: Setter) -> None:
    conf(inspector_api__public_endpoint="http://192.0.2.7:8050/")
    assert allowed_destinations.fault_at("127.0.0.1", 5050) == "an address of this service itself"
    assert allowed_destinations.fault_at("192.0.2.7", 8050) == "an address of this service itself"
    assert allowed_destinations.fault_at("192.0.2.7", 5050) is None


def test_a_database_and_a_bus_without_a_port_are_known_by_the_usual_one(conf: Setter) -> None:
    conf(database__connection="mysql+pymysql://ironic:pw@localhost/ironic")
    assert allowed_destinations.fault_at("127.0.0.1", 3306) == "an address of this service itself"
    conf(database__connection="postgresql://ironic:pw@localhost/ironic")
    assert allowed_destinations.fault_at("127.0.0.1", 5432) == "an address of this service itself"
    assert allowed_destinations.fault_at("127.0.0.1", 3306) is None
