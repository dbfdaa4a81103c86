"""What the service makes of tokens that expire, and of a Keystone that is gone for a while."""

import time
from collections.abc import Callable, Iterator

import pytest
import requests

from ironic.tests.scenario.access.cloud import Cloud

PATIENCE = 180
# Seconds that a token lives in the test of its end.
LIFE = 30


@pytest.fixture
def mended(running: Cloud) -> Iterator[Cloud]:
    """Give the service of the suite; Keystone is as before in the end."""
    yield running
    running.keystone.stop()
    running.keystone.configure()
    running.keystone.start()


def until(look: Callable[[], requests.Response], status: int) -> requests.Response:
    deadline = time.monotonic() + PATIENCE
    while (answer := look()).status_code != status:
        assert time.monotonic() < deadline, f"still {answer.status_code}: {answer.text}"
        time.sleep(0.1)
    return answer


def test_while_keystone_is_gone_known_tokens_go_on_and_others_get_a_503(mended: Cloud) -> None:
    known, unknown = mended.token("system-reader"), mended.token("owner-reader")
    seen = mended.ask(known, "GET", "/v1/nodes").json()["nodes"]
    assert len(seen) >= 6
    mended.keystone.stop()
    assert mended.ask(known, "GET", "/v1/nodes").json()["nodes"] == seen
    for token in (unknown, "wrong"):
        refused = mended.ask(token, "GET", "/v1/nodes")
        assert refused.status_code == 503
        assert "Keystone does not answer" in refused.json()["error_message"]
        assert int(refused.headers["Retry-After"]) > 0
        assert "Keystone" in refused.text
        assert "WWW-Authenticate" not in refused.headers
    # What ramdisks ask needs no Keystone.
    assert mended.ask("", "GET", "/v1/lookup?addresses=52:54:00:00:00:aa").status_code == 404
    mended.keystone.start()
    assert len(until(lambda: mended.ask(unknown, "GET", "/v1/nodes"), 200).json()["nodes"]) == 4
    assert mended.ask("wrong", "GET", "/v1/nodes").status_code == 401
    assert "Traceback" not in mended.service.log


def test_a_token_ends_with_its_time_also_in_the_cache_unless_a_service_brings_it(mended: Cloud) -> None:
    mended.keystone.stop()
    mended.keystone.configure(token_seconds=LIFE)
    mended.keystone.start()
    tokens = []

    def ask_with_new_one() -> requests.Response:
        tokens.append(mended.token("system-reader"))
        return mended.ask(tokens[-1], "GET", "/v1/nodes")

    until(ask_with_new_one, 200)
    until(lambda: mended.ask(tokens[-1], "GET", "/v1/nodes"), 401)

    def brought_by(name: str) -> requests.Response:
        return mended.ask(tokens[-1], "GET", "/v1/nodes", X_Service_Token=mended.token(name))

    # A service goes on with what its user has begun.
    assert brought_by("elevated-service").status_code == 200
    assert brought_by("owner-member").status_code == 401
