"""What can be read in two ways is refused, and nothing of a refused or unread request becomes the next one."""

import asyncio
import json
import socket
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from ironic.command.http_connection import Connection
from ironic.command.http_server import ApiServer, ServerSettings
from ironic.tests.functional.live.http_server import LOOPBACK, port_of

HOST = b"Host: x\r\n"
NEXT = b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
LIMIT = 1_000_000


class Seen:
    """A server, and the requests that its application got."""

    def __init__(self) -> None:
        self.environs: list[dict[str, Any]] = []

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        body = environ["wsgi.input"].read()
        assert len(body) == int(environ.get("CONTENT_LENGTH") or 0)
        self.environs.append({**environ, "body": body})
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [b"seen"]

    def exchange(self, sent: bytes) -> bytes:
        """Send this, say that nothing follows, and return all that comes back."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as client:
            client.sendall(sent)
            client.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: client.recv(65536), b""))

    port = 0


@pytest.fixture
def seen(serve: Callable[..., ApiServer]) -> Iterator[Seen]:
    application = Seen()
    application.port = port_of(serve(application, ServerSettings(LOOPBACK, body_limit=LIMIT)))
    yield application


def get(*headers: bytes, line: bytes = b"GET / HTTP/1.1") -> bytes:
    return b"\r\n".join([line, b"Host: x", *headers, b"", b""])


def post(*headers: bytes, body: bytes = b"", version: bytes = b"1.1") -> bytes:
    return get(*headers, line=b"POST / HTTP/" + version) + body


def chunked(body: bytes) -> bytes:
    return post(b"Transfer-Encoding: chunked", body=body)


REFUSED = {
    "no version": (b"GET /\r\n\r\n", 400),
    "an old version": (get(line=b"GET / HTTP/0.9"), 400),
    "a new version": (get(line=b"GET / HTTP/2.0"), 400),
    "the preface of HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "no method": (get(line=b" / HTTP/1.1"), 400),
    "an unknown method": (get(line=b"FETCH / HTTP/1.1"), 400),
    "a third word": (get(line=b"GET / x HTTP/1.1"), 400),
    "another server": (get(line=b"GET http://other/v1 HTTP/1.1"), 400),
    "no path": (get(line=b"OPTIONS * HTTP/1.1"), 400),
    "a tunnel": (get(line=b"CONNECT other:80 HTTP/1.1"), 400),
    "a path that is not ASCII": (get(line=b"GET /\xe9 HTTP/1.1"), 400),
    "a zero in the path": (get(line=b"GET /\0 HTTP/1.1"), 400),
    "a fragment": (get(line=b"GET /#x HTTP/1.1"), 400),
    "no host": (b"GET / HTTP/1.1\r\n\r\n", 400),
    "two hosts": (get(b"Host: y"), 400),
    "two tokens": (get(b"X-Auth-Token: a", b"x-auth-token: b"), 400),
    "two logins": (get(b"Authorization: a", b"Authorization: b"), 400),
    "a folded header": (get(b"A: b\r\n c"), 400),
    "a first header that is folded": (b"GET / HTTP/1.1\r\n A: b\r\nHost: x\r\n\r\n", 400),
    "a bare line feed": (b"GET / HTTP/1.1\nHost: x\n\n", 400),
    "a line feed in a header": (get(b"A: b\nC: d"), 400),
    "a carriage return in a header": (get(b"A: b\rC: d"), 400),
    "a space before the colon": (get(b"A : b"), 400),
    "a header without a name": (get(b": b"), 400),
    "a header without a colon": (get(b"nonsense"), 400),
    "a zero in a header": (get(b"A: \0"), 400),
    "a name that is not ASCII": (get(b"\xe9: b"), 400),
    "a length and a coding": (post(b"Content-Length: 5", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"), 400),
    "a coding and a length": (post(b"Transfer-Encoding: chunked", b"Content-Length: 5", body=b"0\r\n\r\n"), 400),
    "two lengths": (post(b"Content-Length: 5", b"Content-Length: 6", body=b"hello"), 400),
    "one length twice": (post(b"Content-Length: 5", b"Content-Length: 5", body=b"hello"), 400),
    "a list of lengths": (post(b"Content-Length: 5, 5", body=b"hello"), 400),
    "a signed length": (post(b"Content-Length: +5", body=b"hello"), 400),
    "an empty length": (post(b"Content-Length:", body=b"hello"), 400),
    "a hexadecimal length": (post(b"Content-Length: 0x5", body=b"hello"), 400),
    "a length with a line": (post(b"Content-Length: 0_5", body=b"hello"), 400),
    "a huge length": (post(b"Content-Length: 99999999999999999999999"), 400),
    "a length beyond the limit": (post(b"Content-Length: %d" % (LIMIT + 1)), 413),
    "chunks in HTTP/1.0": (post(b"Transfer-Encoding: chunked", body=b"0\r\n\r\n", version=b"1.0"), 400),
    "an unknown coding": (post(b"Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n"), 501),
    "a coding that ends in another": (post(b"Transfer-Encoding: chunked, gzip", body=b"0\r\n\r\n"), 400),
    "a coding twice": (post(*[b"Transfer-Encoding: chunked"] * 2, body=b"0\r\n\r\n"), 400),
    "two codings": (post(b"Transfer-Encoding: close", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"), 400),
    "an empty coding": (post(b"Transfer-Encoding:", body=b"0\r\n\r\n"), 400),
    "the coding that is none": (post(b"Transfer-Encoding: identity", body=b"hello"), 501),
    "a hidden coding": (post(b"Transfer-Encoding: \x0bchunked", body=b"0\r\n\r\n"), 400),
    "a body in another protocol": (post(b"Connection: upgrade", b"Upgrade: h2c", b"Content-Length: 5"), 400),
    "an unknown expectation": (post(b"Expect: miracles", b"Content-Length: 5"), 417),
    "a long path": (get(line=b"GET /" + b"a" * 70_000 + b" HTTP/1.1"), 431),
    "a long header": (get(b"A: " + b"a" * 70_000), 431),
    "many headers": (get(*(b"A%d: b" % n for n in range(101))), 431),
    "a long first line without end": (b"GET /" + b"a" * 400_000, 431),
    "a header without end": (b"GET / HTTP/1.1\r\nA: " + b"a" * 400_000, 431),
    **{
        f"a chunk of {size!r}": (chunked(size + rest), 400)
        for size, rest in (
            *[
                (odd, b"\r\nhello\r\n0\r\n\r\n")
                for odd in (b"0x5", b"+5", b"-5", b" 5", b"5 ", b"\t5", b"5_", b"5.0", b"g")
            ],
            *[
                (odd, b"\r\nhello\r\n0\r\n\r\n")
                for odd in (b"", b"\xef\xbc\x95", b"5\x00", b"f" * 17, b"5;\x00", b"5 ;a")
            ],
            *[
                (b"5", odd)
                for odd in (b"\nhello\n0\n\n", b"\rhello\r\n0\r\n\r\n", b"\r\nhello0\r\n\r\n", b"\r\nhelloX\r\n")
            ],
            *[
                (b"5", b"\r\nhello\r\n0\r\n" + odd)
                for odd in (b"\rX", b"X\r\n\r\n", b" X: y\r\n\r\n", b"X : y\r\n\r\n")
            ],
        )
    },
    "a length in a trailer": (chunked(b"5\r\nhello\r\n0\r\nContent-Length: 9\r\n\r\n"), 400),
    "a chunk size without end": (chunked(b"0" * 400_000), 431),
    "an extension without end": (chunked(b"5;" + b"a" * 400_000), 431),
    "a body in very many chunks": (chunked(b"1\r\na\r\n" * 200_000 + b"0\r\n\r\n"), 431),
    "one header very often": (get(*[b"A: b"] * 101), 431),
    "a trailer without end": (chunked(b"5\r\nhello\r\n0\r\nA: " + b"a" * 400_000), 431),
    "chunks beyond the limit": (chunked(b"%x\r\n" % (2 * LIMIT) + b"x" * 2 * LIMIT), 413),
    "many chunks beyond the limit": (
        chunked(b"8000\r\n" + b"x" * 32768 + b"\r\n") + (b"8000\r\n" + b"x" * 32768 + b"\r\n") * 31,
        413,
    ),
}


@pytest.mark.parametrize(("sent", "status"), REFUSED.values(), ids=list(REFUSED))
def test_it_is_refused_once_and_what_follows_is_no_request(seen: Seen, sent: bytes, status: int) -> None:
    answer = seen.exchange(sent + NEXT)
    assert answer.startswith(b"HTTP/1.1 %d " % status), answer
    assert answer.count(b"Server: ") == 1
    assert b"\r\nConnection: close\r\n" in answer
    assert not seen.environs
    # The same after a request that was answered.
    answer = seen.exchange(get() + sent + NEXT)
    assert answer.count(b"Server: ") == 2
    assert b"\r\n\r\nseenHTTP/1.1 %d " % status in answer
    assert [environ["PATH_INFO"] for environ in seen.environs] == ["/"]


ACCEPTED = {
    "a length": (post(b"Content-Length: 5", body=b"hello"), b"hello"),
    "a length with zeros": (post(b"Content-Length: 0005", body=b"hello"), b"hello"),
    "no body": (post(b"Content-Length: 0"), b""),
    "no length": (post(), b""),
    "a body of a GET": (get(b"Content-Length: 5") + b"hello", b"hello"),
    "one chunk": (chunked(b"5\r\nhello\r\n0\r\n\r\n"), b"hello"),
    "several chunks": (chunked(b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"), b"hello"),
    "a chunk size with zeros": (chunked(b"00000000000000000000005\r\nhello\r\n000\r\n\r\n"), b"hello"),
    "a chunk size in capitals": (chunked(b"A\r\nhellohello\r\n0\r\n\r\n"), b"hellohello"),
    "an extension": (chunked(b'5;a=b;c="d;e"\r\nhello\r\n0;f\r\n\r\n'), b"hello"),
    "trailers": (chunked(b"5\r\nhello\r\n0\r\nX-Roles: admin\r\n\r\n"), b"hello"),
    "the coding in capitals": (post(b"Transfer-Encoding: CHUNKED", body=b"5\r\nhello\r\n0\r\n\r\n"), b"hello"),
    "empty lines before it": (b"\r\n\r\n" + get(), b""),
    "chunks of one byte": (chunked(b"1\r\na\r\n" * 10_000 + b"0\r\n\r\n"), b"a" * 10_000),
    "as much as may be": (post(b"Content-Length: %d" % LIMIT, body=b"x" * LIMIT), b"x" * LIMIT),
}


@pytest.mark.parametrize("ending", [b"\r\n\r\n", b"\0"], ids=["a long head", "a long head with a zero"])
def test_a_head_that_is_too_long_when_it_ends_is_refused_once(ending: bytes) -> None:
    async def exchange() -> bytes:
        client, accepted = socket.socketpair()
        config = Config(lambda scope: None, interface="asgi3", ws="none", lifespan="off", log_config=None)
        connection = Connection(config, ServerState(), body_limit=LIMIT, most_connections=1)
        await asyncio.get_running_loop().connect_accepted_socket(lambda: connection, accepted)
        with client:
            connection.data_received(get()[:-2] + b"A: ")
            connection.data_received(b"a" * 100_000 + ending)
            client.shutdown(socket.SHUT_WR)
            return await asyncio.to_thread(lambda: b"".join(iter(lambda: client.recv(65536), b"")))

    answer = asyncio.run(exchange())
    assert answer.startswith(b"HTTP/1.1 4")
    assert answer.count(b"Server: ") == 1


@pytest.mark.parametrize(("sent", "body"), ACCEPTED.values(), ids=list(ACCEPTED))
def test_what_follows_it_is_the_next_request(seen: Seen, sent: bytes, body: bytes) -> None:
    answer = seen.exchange(sent + NEXT)
    assert answer.count(b"HTTP/1.1 200 OK\r\n") == 2
    assert [environ["PATH_INFO"] for environ in seen.environs] == ["/", "/smuggled"]
    assert seen.environs[0]["body"] == body
    assert "HTTP_TRANSFER_ENCODING" not in seen.environs[0]
    assert "HTTP_X_ROLES" not in seen.environs[0]


@pytest.mark.parametrize("ending", [b"Connection: close", b"Connection: Upgrade\r\nUpgrade: h2c"])
def test_what_follows_the_last_request_is_thrown_away(seen: Seen, ending: bytes) -> None:
    answer = seen.exchange(get(ending) + NEXT)
    assert answer.count(b"HTTP/1.1 200 OK\r\n") == 1
    assert b"Connection: close\r\n" in answer
    assert len(seen.environs) == 1


def test_http_1_0_gets_its_answer_and_the_end(seen: Seen) -> None:
    answer = seen.exchange(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + NEXT)
    assert answer.count(b"HTTP/1.1 200 OK\r\n") == 1
    assert len(seen.environs) == 1


def test_headers_that_look_like_others_to_the_application_are_dropped(seen: Seen) -> None:
    seen.exchange(get(b"X_Roles: admin", b"x-roles: member", b"X_Identity_Status: Confirmed", b"Content_Length: 5"))
    (environ,) = seen.environs
    assert environ["HTTP_X_ROLES"] == "member"
    assert "HTTP_X_IDENTITY_STATUS" not in environ
    assert "CONTENT_LENGTH" not in environ


def test_headers_that_are_lists_are_joined_in_order(seen: Seen) -> None:
    seen.exchange(get(b"X-Forwarded-For: 1.1.1.1", b"x-forwarded-for: 2.2.2.2"))
    assert seen.environs[0]["HTTP_X_FORWARDED_FOR"] == "1.1.1.1,2.2.2.2"


def test_the_application_gets_what_pep_3333_asks_for(seen: Seen) -> None:
    with socket.create_connection(("127.0.0.1", seen.port), timeout=30) as client:
        local = client.getsockname()
        client.sendall(get(b"A: \xe9", line=b"GET /caf%C3%A9%2F;x?q=%41&r HTTP/1.1"))
        assert client.recv(65536)
    (environ,) = seen.environs
    assert {name: environ[name] for name in ("PATH_INFO", "QUERY_STRING", "SCRIPT_NAME", "HTTP_A")} == {
        # An encoded slash is no border of segments.
        "PATH_INFO": "/caf\xc3\xa9%2F;x",
        "QUERY_STRING": "q=%41&r",
        "SCRIPT_NAME": "",
        "HTTP_A": "\xe9",
    }
    assert (environ["REMOTE_ADDR"], environ["REMOTE_PORT"]) == (local[0], str(local[1]))
    assert (environ["SERVER_NAME"], environ["SERVER_PORT"]) == ("127.0.0.1", str(seen.port))
    assert (environ["wsgi.url_scheme"], environ["SERVER_PROTOCOL"]) == ("http", "HTTP/1.1")
    json.dumps({name: value for name, value in environ.items() if isinstance(value, str)})


def test_who_waits_to_be_asked_for_the_body_is_asked(seen: Seen) -> None:
    with socket.create_connection(("127.0.0.1", seen.port), timeout=30) as client:
        client.sendall(post(b"Content-Length: 5", b"Expect: 100-continue"))
        assert client.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"hello")
        assert client.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")
    assert seen.exchange(post(b"Content-Length: 0", b"Expect: 100-continue")).startswith(b"HTTP/1.1 200 OK\r\n")
    assert seen.exchange(post(b"Content-Length: 9999999", b"Expect: 100-continue")).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("cut", [1, 7, 60, 100])
def test_a_request_may_come_in_any_pieces(seen: Seen, cut: int) -> None:
    sent = chunked(b"5;a=b\r\nhello\r\n0\r\nA: b\r\n\r\n") + get()
    with socket.create_connection(("127.0.0.1", seen.port), timeout=30) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start in range(0, len(sent), cut):
            client.sendall(sent[start : start + cut])
        client.shutdown(socket.SHUT_WR)
        assert b"".join(iter(lambda: client.recv(65536), b"")).count(b"200 OK") == 2
    assert seen.environs[0]["body"] == b"hello"


def test_an_answer_with_a_line_break_in_a_header_is_not_sent(serve: Callable[..., ApiServer]) -> None:
    def splitting(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response("200 OK", [("A", "b\r\nSet-Cookie: c")])
        return [b"hello"]

    application = Seen()
    application.port = port_of(serve(splitting, ServerSettings(LOOPBACK)))
    answer = application.exchange(get())
    assert answer.startswith(b"HTTP/1.1 500 ")
    assert b"Cookie" not in answer


def test_head_gets_the_length_and_no_body(seen: Seen) -> None:
    answer = seen.exchange(get(line=b"HEAD / HTTP/1.1"))
    assert b"\r\nContent-Length: 4\r\n" in answer
    assert answer.endswith(b"\r\n\r\n")


def test_the_server_does_not_tell_its_version(seen: Seen) -> None:
    assert b"\r\nServer: ironic\r\n" in seen.exchange(get())
    assert b"\r\nServer: ironic\r\n" in seen.exchange(b"x\r\n\r\n")
