"""Files of a certificate: some that are none, and some that are replaced while clients are in their handshake.

And what comes in place of a handshake.
"""

import itertools
import os
import ssl
import threading
from pathlib import Path

import pytest

from ironic.command.server_tls import ServerTls, Tls
from ironic.tests.redfish_bmc import write_certificate


@pytest.mark.parametrize("pipe", ["cert.pem", "key.pem"])
def test_a_pipe_in_the_place_of_a_certificate_is_refused_at_once(pipe: str, tmp_path: Path) -> None:
    for name in ("cert.pem", "key.pem"):
        os.mkfifo(tmp_path / name) if name == pipe else (tmp_path / name).write_text("")
    with pytest.raises(ValueError, match=rf"cert\.pem \(\[api\]cert_file\).*{pipe} is no regular file$"):
        Tls(str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")).context()


def handshake(server: ssl.SSLContext) -> bytes:
    """Let a client and the server agree, in memory; return the certificate that the client was shown."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [client.wrap_bio(to_client, to_server), server.wrap_bio(to_server, to_client, server_side=True)]
    for end in (ends * 3)[:4]:
        try:
            end.do_handshake()
        except ssl.SSLWantReadError:
            continue
    return ends[0].getpeercert(binary_form=True) or b""


def test_each_handshake_has_a_whole_certificate_while_they_are_replaced(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        certificate, key = write_certificate(tmp_path / name)
    place, ended = tmp_path / "now", threading.Event()
    place.symlink_to("other")
    tls = ServerTls(Tls(str(place / Path(certificate).name), str(place / Path(key).name)))

    def replace_often() -> None:
        for name in itertools.cycle(("one", "other")):
            (tmp_path / "new").symlink_to(name)
            os.replace(tmp_path / "new", place)
            tls.renew()
            if ended.is_set():
                return

    rotation = threading.Thread(target=replace_often)
    rotation.start()
    try:
        shown = [handshake(tls.context) for _ in range(500)]
    finally:
        ended.set()
        rotation.join()
    assert len(set(shown)) == 2
    assert b"" not in shown


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_a_request_without_tls_is_answered_once_and_not_read(tmp_path: Path, method: str) -> None:
    tls = ServerTls(Tls(*write_certificate(tmp_path)))
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = tls.context.wrap_bio(to_server, to_client, server_side=True)
    # The end of the method decides.
    for letter in method.encode():
        to_server.write(bytes((letter,)))
        with pytest.raises(ssl.SSLWantReadError):
            server.do_handshake()
    assert not to_client.pending
    answers = []
    for piece in (b" / HTTP/1.1\r\nHost: a\r\n", b"\r\n" + b"x" * 100_000):
        to_server.write(piece)
        with pytest.raises(ssl.SSLWantReadError):
            server.do_handshake()
        answers.append(to_client.read())
        assert not to_server.pending
    head, _, body = answers[0].partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert f"Content-Length: {len(body)}".encode() in head
    assert (b"speaks TLS" in body, answers[1]) == (True, b"")


def test_what_is_neither_tls_nor_http_is_no_handshake(tmp_path: Path) -> None:
    tls = ServerTls(Tls(*write_certificate(tmp_path)))
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    to_server.write(b"EHLO example.com\r\n")
    with pytest.raises(ssl.SSLError) as raised:
        tls.context.wrap_bio(to_server, to_client, server_side=True).do_handshake()
    assert not isinstance(raised.value, ssl.SSLWantReadError)
