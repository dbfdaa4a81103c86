"""API processes that share the tokens of a real Keystone by memcached, and find Keystone in its own catalog."""

from contextlib import ExitStack
from pathlib import Path

import pytest
import requests

from ironic.tests.functional.live.keystone_api import api_process
from ironic.tests.private_servers import memcached
from ironic.tests.scenario.access.cloud import SAMPLES, Cloud


def status(url: str, token: str) -> int:
    return requests.get(f"{url}/v1/nodes", headers={"X-Auth-Token": token}, timeout=180).status_code


def test_a_token_that_one_process_has_validated_is_good_for_the_other_without_keystone(
    running: Cloud, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        cache = stack.enter_context(memcached(tmp_path / "memcached"))
        trust = running.keystone.trust() | SAMPLES
        trust |= {"memcached_servers": cache.address, "memcache_security_strategy": "ENCRYPT"}
        trust |= {"memcache_secret_key": "site-secret"}
        processes = [api_process(tmp_path, name, trust) for name in ("one", "other")]
        for each in processes:
            stack.callback(each.stop)
        for each in processes:
            each.await_ready()
        known, unknown = running.token("system-reader"), running.token("owner-reader")
        assert status(processes[0].url, known) == 200
        stack.callback(running.keystone.start)
        running.keystone.stop()
        assert [status(processes[1].url, token) for token in (known, unknown, "")] == [200, 503, 401]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"region_name": "RegionOne", "interface": "public"}, 200),
        ({"region_name": "RegionOne", "interface": "admin"}, 200),
        ({"region_name": "Elsewhere"}, 503),
        ({"interface": "no-such-one"}, 503),
    ],
)
def test_keystone_is_found_by_region_and_interface(
    running: Cloud, tmp_path: Path, options: dict[str, str], expected: int
) -> None:
    process = api_process(tmp_path, "one", running.keystone.trust() | SAMPLES | options)
    try:
        process.await_ready()
        assert status(process.url, running.token("system-reader")) == expected
    finally:
        process.stop()
    assert ("A token can't be checked" in process.log) is (expected == 503)
