"""Whatever an agent shows but the present token of this very node is refused; refusals are alike and change nothing."""

import hmac
import logging
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.api import ramdisk_access
from ironic.core.flows import states
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Response, Service

MAC, FOREIGN_MAC = "52:54:00:00:00:01", "52:54:00:00:00:02"
URL = "https://192.0.2.7:9999"


class Machines:
    """Two nodes whose agents have looked them up, and a token that is none any more."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.node, self.foreign = (self._waiting(mac) for mac in (MAC, FOREIGN_MAC))
        self.replayed = self.look_up(MAC)
        self._forget(self.node)
        self.token, self.foreign_token = self.look_up(MAC), self.look_up(FOREIGN_MAC)

    def look_up(self, mac: str) -> str:
        """Ask for the node as a ramdisk does; return the token it gets."""
        token: str = self.service.call("GET", f"/v1/lookup?addresses={mac}").json["config"]["agent_token"]
        return token

    def beat(self, token: Any, node: str | None = None, **more: Any) -> Response:
        """Send a heartbeat that shows a token."""
        body = {"callback_url": URL, "agent_version": "13.0.0", "agent_token": token, **more}
        return self.service.call("POST", f"/v1/heartbeat/{node or self.node}", body=body)

    def _waiting(self, mac: str) -> str:
        node = self.service.store.nodes.create({"driver": "fake-hardware", "provision_state": states.CLEANWAIT})
        self.service.store.ports.create({"node_id": node.id, "address": mac})
        return node.uuid

    def _forget(self, uuid: str) -> None:
        node = self.service.store.nodes.get(uuid)
        node.del_driver_internal_info("agent_secret_token")
        node.save()


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    running = services.start(tmp_path)
    yield Machines(running)
    running.close()


def forged(token: str) -> Iterator[str]:
    """Yield attempts of an attacker who knows nearly everything about the token."""
    yield from ("", " ", "0", "null", "None", "true", "******", "a" * len(token))
    yield from (token[:length] for length in range(1, len(token)))
    yield from (token[start:] for start in range(1, len(token)))
    for place, letter in enumerate(token):
        other = "A" if letter != "A" else "B"
        yield token[:place] + other + token[place + 1 :]
        yield token[:place] + chr(ord(letter) + 0xFEE0) + token[place + 1 :]  # the same letter, full width
    yield from (f"{token}{more}" for more in ("=", " ", "\n", token, "\u0301"))
    yield from (f" {token}", f'"{token}"', token[::-1], token.swapcase(), token.upper(), token.lower())
    yield from (secrets.token_urlsafe(32) for _ in range(200))


def test_hundreds_of_wrong_tokens_are_refused_alike(machines: Machines, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = [*forged(machines.token), machines.foreign_token, machines.replayed]
    assert len(wrong) > 300 and machines.token not in wrong
    before = machines.service.contents()
    answers = {(answer.status, answer.body) for answer in map(machines.beat, wrong)}
    assert len(answers) == 1
    assert answers.pop()[0] == 400
    assert machines.service.contents() == before
    assert machines.service.conductor.asked == []
    assert not [token for token in (machines.token, machines.foreign_token, machines.replayed) if token in caplog.text]
    assert machines.beat(machines.token).status == 202
    assert [name for name, *_ in machines.service.conductor.asked] == ["heartbeat"]


def test_a_token_is_good_for_its_own_node_only(machines: Machines) -> None:
    wrong = machines.beat(machines.token, node=machines.foreign)
    missing = machines.service.call(
        "POST", f"/v1/heartbeat/{machines.foreign}", body={"callback_url": URL, "agent_version": "13.0.0"}
    )
    assert (wrong.status, wrong.body) == (missing.status, missing.body)
    assert machines.service.conductor.asked == []


@pytest.mark.parametrize("token", [None, 0, 1, True, 1.5, [], {}, ["x"], "\x00", "x" * 1025])
def test_what_can_be_no_token_is_refused(machines: Machines, token: Any) -> None:
    before = machines.service.contents()
    assert machines.beat(token).status == 400
    assert machines.service.contents() == before
    assert machines.service.conductor.asked == []


@pytest.mark.parametrize("raw", [rb"\ud800", rb"\udfff\ud800", b"\xff\xfe", b"\xed\xa0\x80"])
def test_what_is_no_text_is_refused(machines: Machines, raw: bytes) -> None:
    body = b'{"callback_url": "%s", "agent_version": "13", "agent_token": "%s"}' % (URL.encode(), raw)
    assert machines.service.call("POST", f"/v1/heartbeat/{machines.node}", raw=body).status == 400
    query = f"callback_url={URL}&agent_version=13&agent_token=%ED%A0%80%FF"
    assert machines.service.call("POST", f"/v1/heartbeat/{machines.node}?{query}").status == 400
    assert machines.service.conductor.asked == []


def test_every_token_is_given_out_once(machines: Machines) -> None:
    assert [machines.look_up(MAC) for _ in range(3)] == ["******"] * 3
    assert len({machines.token, machines.foreign_token, machines.replayed}) == 3
    # 256 bits, or it could be guessed.
    assert all(len(token) >= 43 for token in (machines.token, machines.foreign_token))


@pytest.mark.parametrize("verdict, status", [(False, 400), (True, 202)])
def test_the_comparison_in_constant_time_decides(
    machines: Machines, monkeypatch: pytest.MonkeyPatch, verdict: bool, status: int
) -> None:
    compared: list[tuple[Any, Any]] = []

    def compare(*values: Any) -> bool:
        compared.append(values)
        return verdict

    # Nothing else looks at the tokens: what it says is done, against all appearance.
    monkeypatch.setattr(ramdisk_access, "compare_digest", compare)
    assert hmac.compare_digest is not compare
    shown = [machines.token, machines.token[:-1], "x", machines.foreign_token]
    assert [machines.beat(token).status for token in shown] == [status] * len(shown)
    assert [set(values) for values in compared] == [{token.encode(), machines.token.encode()} for token in shown]


def test_the_comparison_is_the_librarys() -> None:
    assert vars(ramdisk_access)["compare_digest"] is hmac.compare_digest
