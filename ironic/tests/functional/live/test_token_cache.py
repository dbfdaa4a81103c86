"""Validated tokens in a memcached that several API processes share."""

import base64
import gc
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic.tests.functional.live.keystone_api import api_process
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.keystone import Identity, ask
from ironic.tests.functional.wire.service import Service
from ironic.tests.private_servers import Memcached, memcached
from ironic.tests.redfish_bmc import write_certificate

# python-memcached leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")

Start = Callable[..., Service]


@pytest.fixture
def played() -> Iterator[Identity]:
    """Play Keystone, which counts."""
    with keystone.identity_server() as server:
        yield server


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Memcached]:
    """Run a memcached."""
    with memcached(tmp_path / "memcached") as running:
        yield running


@pytest.fixture
def start(tmp_path: Path, played: Identity, cache: Memcached, conf: Callable[..., None]) -> Iterator[Start]:
    """Return a function that starts a service of its own cache pool, with options of [keystone_authtoken]."""
    with ExitStack() as stack:

        def started(**options: Any) -> Service:
            chosen = {"memcached_servers": [cache.address], "http_request_max_retries": 0, **options}
            conf(**{f"keystone_authtoken__{name}": value for name, value in chosen.items()})
            directory = tmp_path / f"service-{len(list(tmp_path.iterdir()))}"
            directory.mkdir()
            running = keystone.service(directory, played.url, conf)
            stack.callback(running.close)
            return running

        yield started
    # Their sockets end here, not in the middle of another test.
    gc.collect()


def names(running: Service, token: str) -> set[str]:
    answer = ask(running, token, "GET", "/v1/nodes")
    assert answer.status == 200, answer.body
    return {node["name"] for node in answer.json["nodes"]}


@pytest.mark.parametrize("strategy", ["None", "MAC", "ENCRYPT"])
def test_services_share_validations(start: Start, played: Identity, strategy: str) -> None:
    secret = None if strategy == "None" else "site-secret"
    one, other = (start(memcache_security_strategy=strategy, memcache_secret_key=secret) for _ in range(2))
    for running in (one, other, one, other):
        assert names(running, "owner-member") == {"owned"}
        assert names(running, "system-reader") == {"owned", "foreign", "active"}
    assert sorted(played.validated) == ["owner-member", "system-reader"]
    assert ask(other, "unknown", "GET", "/v1/nodes").status == 401


def test_services_share_validations_over_tls(
    start: Start, played: Identity, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mine, others = tmp_path / "mine", tmp_path / "others"
    mine.mkdir()
    others.mkdir()
    certificate, stranger = write_certificate(mine), write_certificate(others)
    with memcached(tmp_path / "secure", certificate) as secure:
        options = {"memcached_servers": [secure.address], "memcache_tls_enabled": True}
        one, other = (start(**options, memcache_tls_cafile=certificate[0]) for _ in range(2))
        for running in (one, other, one, other):
            assert names(running, "owner-member") == {"owned"}
        assert played.validated == ["owner-member"]
        # A memcached whose certificate is not trusted is passed over.
        doubting = start(**options, memcache_tls_cafile=stranger[0])
        assert names(doubting, "owner-member") == {"owned"}
        assert played.validated == ["owner-member"] * 2


def test_services_share_validations_by_a_memcached_that_asks_for_a_password(
    start: Start, played: Identity, tmp_path: Path
) -> None:
    user, password = "ironic", "site-password"
    with memcached(tmp_path / "closed", user=(user, password)) as closed:
        options = {"memcached_servers": [closed.address], "memcache_sasl_enabled": True, "memcache_username": user}
        one, other = (start(**options, memcache_password=password) for _ in range(2))
        for running in (one, other, one, other):
            assert names(running, "owner-member") == {"owned"}
        assert played.validated == ["owner-member"]


def test_a_memcached_that_refuses_the_password_fails_no_request(
    start: Start, played: Identity, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with memcached(tmp_path / "closed", user=("ironic", "site-password")) as closed:
        options = {"memcached_servers": [closed.address], "memcache_sasl_enabled": True, "memcache_username": "ironic"}
        refused = start(**options, memcache_password="another-password")
        for _ in range(2):
            assert names(refused, "owner-member") == {"owned"}
    assert played.validated == ["owner-member"] * 2
    assert "Correct memcache_username and memcache_password" in caplog.text
    assert "another-password" not in caplog.text


def test_without_memcached_each_service_validates_for_itself(start: Start, played: Identity) -> None:
    for running in (start(memcached_servers=[]), start(memcached_servers=[])):
        names(running, "owner-member"), names(running, "owner-member")
    assert played.validated == ["owner-member"] * 2


def test_a_cache_time_below_zero_turns_the_cache_off(start: Start, played: Identity, cache: Memcached) -> None:
    running = start(token_cache_time=-1)
    names(running, "owner-member"), names(running, "owner-member")
    assert played.validated == ["owner-member"] * 2
    assert cache.values() == []


@pytest.mark.parametrize(("strategy", "is_readable"), [("None", True), ("MAC", True), ("ENCRYPT", False)])
def test_only_encryption_keeps_tokens_out_of_memcached(
    start: Start, cache: Memcached, strategy: str, is_readable: bool
) -> None:
    names(start(memcache_security_strategy=strategy, memcache_secret_key="site-secret"), "owner-member")
    (value,) = cache.values()
    text = value if strategy == "None" else base64.b64decode(value.splitlines()[-1])
    assert len(text) > 300
    # The token itself, and its project.
    assert (b'"owner-member"' in text, b'"owners"' in text) == (is_readable, is_readable)
    assert b"site-secret" not in value + text


@pytest.mark.parametrize("strategy", ["MAC", "ENCRYPT"])
def test_values_of_another_secret_are_not_believed(start: Start, played: Identity, strategy: str) -> None:
    for secret in ("one", "another"):
        running = start(memcache_security_strategy=strategy, memcache_secret_key=secret)
        assert names(running, "owner-member") == {"owned"}
    assert played.validated == ["owner-member"] * 2


def test_a_memcached_that_is_gone_fails_no_request(start: Start, played: Identity, cache: Memcached) -> None:
    running = start()
    names(running, "owner-member")
    cache.kill()
    assert names(running, "owner-member") == {"owned"}
    assert names(running, "system-reader") == {"owned", "foreign", "active"}
    assert ask(running, "unknown", "GET", "/v1/nodes").status == 401
    assert played.validated == ["owner-member", "owner-member", "system-reader", "unknown"]


def test_a_memcached_that_does_not_answer_fails_no_request(start: Start, played: Identity, cache: Memcached) -> None:
    running = start(memcache_pool_socket_timeout=1)
    cache.freeze()
    assert names(running, "owner-member") == {"owned"}
    assert ask(running, "unknown", "GET", "/v1/nodes").status == 401
    assert played.validated == ["owner-member", "unknown"]


def test_a_memcached_that_is_back_is_used_again(start: Start, played: Identity, cache: Memcached) -> None:
    running = start(memcache_pool_dead_retry=1)
    names(running, "owner-member")
    cache.kill()
    names(running, "owner-member")
    cache.start()
    deadline = time.monotonic() + 60
    while not cache.values():
        assert time.monotonic() < deadline, "the token was never stored again"
        names(running, "owner-member")
    validated = len(played.validated)
    assert names(running, "owner-member") == {"owned"}
    assert len(played.validated) == validated


def test_without_a_free_connection_a_request_may_be_repeated(start: Start, cache: Memcached) -> None:
    running = start(memcache_pool_socket_timeout=8, memcache_pool_maxsize=1, memcache_pool_conn_get_timeout=1)
    cache.freeze()
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: ask(running, "owner-member", "GET", "/v1/nodes"), range(4)))
    refused = [answer for answer in answers if answer.status != 200]
    assert {answer.status for answer in refused} == {503}
    assert all(int(answer.headers["Retry-After"]) > 0 for answer in refused)
    assert len(refused) < len(answers)


def test_while_keystone_is_gone_a_validation_by_another_service_counts(start: Start, played: Identity) -> None:
    one, other = start(), start()
    names(one, "owner-member")
    played.shutdown()
    played.server_close()
    assert names(other, "owner-member") == {"owned"}
    for token in ("system-reader", "unknown"):
        refused = ask(other, token, "GET", "/v1/nodes")
        assert refused.status == 503
        assert int(refused.headers["Retry-After"]) > 0
    assert ask(other, None, "GET", "/v1/nodes").status == 401


@pytest.mark.parametrize(
    ("module", "package", "options"),
    [
        ("memcache", "python-memcached", {}),
        ("bmemcached", "python-binary-memcached", {"memcache_sasl_enabled": True}),
        ("bmemcached", "python-binary-memcached", {"memcache_tls_enabled": True}),
    ],
)
def test_a_missing_client_stops_the_start(
    start: Start, monkeypatch: pytest.MonkeyPatch, module: str, package: str, options: dict[str, bool]
) -> None:
    # To Python, a module that is None is not installed.
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ValueError, match=f"memcached_servers needs the Python package {package}, .*not installed"):
        start(**options)


@pytest.mark.parametrize("strategy", ["MAC", "ENCRYPT"])
def test_a_strategy_without_a_secret_stops_the_start(start: Start, strategy: str) -> None:
    with pytest.raises(ValueError, match=r"\[keystone_authtoken\] can't be used: memcache_secret_key"):
        start(memcache_security_strategy=strategy)


def test_processes_share_validations_and_outlive_keystone_and_memcached(tmp_path: Path, cache: Memcached) -> None:
    with ExitStack() as stack, keystone.identity_server() as played:
        trust = {
            "www_authenticate_uri": played.url,
            "auth_type": "admin_token",
            "endpoint": f"{played.url}/v3",
            "token": "ours",
            "http_request_max_retries": 0,
            "delay_auth_decision": True,
            "memcached_servers": cache.address,
            "memcache_security_strategy": "ENCRYPT",
            "memcache_secret_key": "site-secret",
        }
        running = []
        for name in ("one", "other"):
            running.append(api_process(tmp_path, name, trust))
            stack.callback(running[-1].stop)
        for each in running:
            each.await_ready()

        def statuses(token: str) -> list[int]:
            headers = {"X-Auth-Token": token}
            return [requests.get(f"{each.url}/v1/nodes", headers=headers, timeout=60).status_code for each in running]

        assert (statuses("system-reader"), statuses("unknown"), statuses("")) == ([200, 200], [401, 401], [401, 401])
        assert sorted(played.validated) == ["system-reader", "unknown", "unknown"]
        played.shutdown()
        played.server_close()
        assert (statuses("system-reader"), statuses("owner-member"), statuses("")) == ([200] * 2, [503] * 2, [401] * 2)
        cache.kill()
        assert statuses("system-reader") == [503, 503]
        for each in running:
            assert "delay_auth_decision has no effect" in each.log
            assert "Traceback" not in each.log
            assert "site-secret" not in each.log


def test_a_program_without_the_secret_of_its_strategy_says_so_and_ends(tmp_path: Path, cache: Memcached) -> None:
    options = {"memcached_servers": cache.address, "memcache_security_strategy": "ENCRYPT"}
    program = api_process(tmp_path, "one", options)
    status, said = program.end()
    assert status == 1
    assert "[keystone_authtoken] can't be used: memcache_secret_key" in said + program.log
    assert "Traceback" not in said + program.log
