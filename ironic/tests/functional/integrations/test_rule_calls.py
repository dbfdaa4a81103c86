"""Calls of inspection rules over the wire: retried, bounded, led nowhere else, believing whom the option says."""

import logging
import math
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.rules import Call
from ironic.integrations import rule_calls
from ironic.tests.agent_double import make_certificate, secured
from ironic.tests.conftest import Setter
from ironic.tests.functional.inspection.call_catcher import Catcher, call_catcher


@pytest.fixture
def server() -> Iterator[Catcher]:
    with call_catcher() as made:
        yield made


def made(url: str, within: float = math.inf, **changed: Any) -> rule_calls.Result:
    values: dict[str, Any] = {"headers": {}, "proxies": {}, "timeout": 5, "retries": 3, "backoff_factor": 0.01}
    return rule_calls.make(Call(url, **(values | changed)), within)


def test_it_asks_once_with_the_headers(server: Catcher) -> None:
    assert made(f"{server.url}/a?b=%2F", headers={"X-Mine": "yes"}) == (200, 1, "")
    ((method, path, headers),) = server.asked
    assert (method, path, headers["X-Mine"]) == ("GET", "/a?b=%2F", "yes")


def test_who_logs_in_is_said_by_the_url_and_by_no_file(
    server: Catcher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login thief password thief\n")
    (tmp_path / "netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert made(server.url).failure is None
    assert made(server.url.replace("://", "://me:pw@")).failure is None
    assert [headers.get("Authorization") for _, _, headers in server.asked] == [None, "Basic bWU6cHc="]


@pytest.mark.parametrize("statuses", [[503, 503], [429], [500, 502, 504]])
def test_it_tries_again_while_the_service_is_busy(server: Catcher, statuses: list[int]) -> None:
    server.statuses = list(statuses)
    assert made(server.url) == (200, len(statuses) + 1, "")
    assert len(server.asked) == len(statuses) + 1


@pytest.mark.parametrize(
    ("statuses", "retries", "asked"),
    [([503] * 9, 2, 3), ([503] * 9, 0, 1), ([404], 3, 1), ([401], 3, 1), ([302], 3, 1)],
)
def test_it_gives_up(server: Catcher, statuses: list[int], retries: int, asked: int) -> None:
    status, server.statuses = statuses[0], list(statuses)
    assert made(server.url, retries=retries).failure == f"the call was answered with status {status} in attempt {asked}"
    assert len(server.asked) == asked


def test_it_follows_no_redirect(server: Catcher) -> None:
    with call_catcher() as elsewhere:
        server.statuses, server.location = [302], elsewhere.url
        assert made(server.url).failure == "the call was answered with status 302 in attempt 1"
        assert elsewhere.asked == []


def test_it_goes_through_the_proxy_that_the_rule_names(server: Catcher) -> None:
    assert made("http://cmdb.invalid/x", proxies={"http": server.url}).failure is None
    assert server.paths == ["http://cmdb.invalid/x"]


@pytest.mark.parametrize("piece", [b"H", b"HTTP/1.1 200 OK\r\nX-A: b\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"])
def test_an_answer_that_trickles_ends_with_its_time(
    server: Catcher, piece: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    server.endless = piece
    with caplog.at_level(logging.DEBUG):
        assert (
            made(f"{server.url}/hunter2", timeout=0.3).failure
            == "the call failed in attempt 1: the answer did not come in time"
        )
    assert len(server.asked) == 1
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize(
    ("within", "statuses", "endless", "said", "asked"),
    [
        (0.0, [], None, "the call failed in attempt 1: its time was over before", 0),
        (0.3, [], b"H", "the call failed in attempt 1: the answer did not come in time", 1),
        (5.0, [503] * 9, None, "the call was answered with status 503 in attempt 2", 2),
    ],
)
def test_all_of_it_ends_with_the_time_it_is_given(
    server: Catcher, within: float, statuses: list[int], endless: bytes | None, said: str, asked: int
) -> None:
    server.statuses, server.endless = list(statuses), endless
    assert made(server.url, within, timeout=30, backoff_factor=5).failure == said
    assert len(server.asked) == asked


def test_an_answer_without_end_is_not_read(server: Catcher) -> None:
    server.endless = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n" + b"x" * 65536
    assert made(server.url, timeout=30).failure is None


def test_a_service_that_is_not_there_is_told_by_the_reason(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with caplog.at_level(logging.DEBUG):
        result = made(f"http://me:hunter2@127.0.0.1:{port}/hunter2", headers={"A": "hunter2"})
    assert result.failure == "the call failed in attempt 1: it can't be connected to (Connection refused)"
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize(
    ("said", "failure"),
    [
        ("True", "the call failed in attempt 1: its certificate is not trusted (self-signed certificate)"),
        ("False", None),
        ("own", None),
        ("missing", "the call failed in attempt 1: the file of [DEFAULT]webserver_verify_ca can't be read"),
    ],
)
def test_an_option_says_whose_certificates_are_believed(
    conf: Setter, tmp_path: Path, said: str, failure: str | None
) -> None:
    certificate, key = make_certificate()
    (tmp_path / "own").write_text(certificate)
    conf(webserver_verify_ca=str(tmp_path / said) if said.islower() else said)
    with call_catcher(secured(certificate, key)) as server:
        assert made(f"{server.url}/x").failure == failure
        assert server.paths == ([] if failure else ["/x"])


@pytest.mark.parametrize(
    ("hosts", "is_made"),
    [
        ("127.0.0.1", True),
        ("cmdb.example,127.0.0.1:{port}", True),
        ("http://127.0.0.1:{port}", True),
        ("https://127.0.0.1:{port}", False),
        ("127.0.0.1:1", False),
        ("cmdb.example", False),
    ],
)
def test_a_list_of_hosts_is_the_whole_list(server: Catcher, conf: Setter, hosts: str, is_made: bool) -> None:
    conf(inspection_rules__call_hosts=hosts.format(port=server.url.rpartition(":")[2]).split(","))
    said = "the call failed in attempt 1: [inspection_rules]call_hosts does not name its server"
    assert made(server.url).failure == (None if is_made else said)
    assert len(server.asked) == is_made


def test_a_proxy_is_no_way_around_that_list(server: Catcher, conf: Setter) -> None:
    conf(inspection_rules__call_hosts=["cmdb.invalid"])
    assert "call_hosts" in (made("http://cmdb.invalid/x", proxies={"http": server.url}).failure or "")
    assert server.asked == []
    conf(inspection_rules__call_hosts=["cmdb.invalid", "127.0.0.1"])
    assert made("http://cmdb.invalid/x", proxies={"http": server.url}).failure is None


@pytest.mark.parametrize("host", ["169.254.169.254", "0.0.0.0", "[::ffff:169.254.169.254]", "224.0.0.1"])
def test_no_rule_calls_what_is_out_of_reach(conf: Setter, host: str) -> None:
    conf(inspection_rules__call_hosts=[host.strip("[]")])
    assert "its address is" in (made(f"http://{host}/").failure or "")


def test_no_rule_calls_the_service_itself(server: Catcher, conf: Setter) -> None:
    conf(api__host_ip="0.0.0.0", api__port=int(server.url.rpartition(":")[2]))
    assert "this service itself" in (made(server.url).failure or "")
    conf(outgoing__allow_loopback=False, api__port=1)
    assert "allow_loopback" in (made(server.url).failure or "")
    assert server.asked == []
