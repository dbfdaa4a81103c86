"""Requests of authenticated callers are audited: by whom, from where, what, with which result, and without secrets."""

import configparser
import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keystonemiddleware.audit  # registers its options
import pytest

from ironic.api.resources import ROUTES
from ironic.core.permit import PERMIT, MustWait
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.keystone import OWNED, ask
from ironic.tests.functional.wire.service import Service
from ironic.tests.repository import ROOT

# The identifiers of the Keystone that is played are no UUIDs.
pytestmark = pytest.mark.filterwarnings("ignore:Invalid uuid")

MAP = ROOT / "etc" / "ironic" / "api_audit_map.conf"
LOGGER = keystonemiddleware.audit.__name__


@pytest.fixture
def audited(tmp_path: Path, identity: str, conf: Callable[..., None]) -> Iterator[Service]:
    conf(audit__enabled=True, audit__audit_map_file=str(MAP), audit__ignore_req_list="HEAD")
    conf(audit_middleware_notifications__use_oslo_messaging=False)
    running = keystone.service(tmp_path, identity, conf)
    yield running
    running.close()


def events(caplog: pytest.LogCaptureFixture) -> list[tuple[str, dict[str, Any]]]:
    found = [record.args for record in caplog.records if record.name == LOGGER and isinstance(record.args, dict)]
    return [(str(one["event_type"]), one["payload"]) for one in found if "event_type" in one]


def test_a_request_is_an_event_before_and_after(audited: Service, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, LOGGER):
        body = {"target": "power on", "timeout": 5}
        answer = ask(audited, "owner-admin", "PUT", f"/v1/nodes/{OWNED}/states/power", body)
    assert answer.status == 202
    (before, asked), (after, done) = events(caplog)
    assert (before, after) == ("audit.http.request", "audit.http.response")
    assert (asked["outcome"], done["outcome"], done["reason"]["reasonCode"]) == ("pending", "success", "202")
    assert asked["action"] == "update/power"
    assert asked["requestPath"] == f"/v1/nodes/{OWNED}/states/power"
    initiator = asked["initiator"]
    assert (initiator["id"], initiator["project_id"]) == ("u", "owners")
    assert initiator["request_id"] == answer.headers["openstack-request-id"]


def test_a_refusal_is_a_failure(audited: Service, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, LOGGER):
        assert ask(audited, "stranger", "DELETE", f"/v1/nodes/{OWNED}").status == 404
    done = events(caplog)[-1][1]
    assert (done["action"], done["outcome"], done["reason"]["reasonCode"]) == ("delete", "failure", "404")


def test_events_have_no_secrets_and_no_forged_address(audited: Service, caplog: pytest.LogCaptureFixture) -> None:
    path = f"/v1/nodes/{OWNED}/states/provision?target=rescue&rescue_password=hunter2canary"
    headers = {"X-Auth-Token": "owner-admin", "X-Forwarded-For": "198.51.100.7"}
    with caplog.at_level(logging.INFO, LOGGER):
        audited.call("PUT", path, headers=headers)
    text = json.dumps(events(caplog))
    assert "rescue_password=******" in text
    for secret in ("hunter2canary", "owner-admin", "198.51.100.7"):
        assert secret not in text


def test_methods_may_be_left_out_and_requests_without_credentials_are(
    audited: Service, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, LOGGER):
        ask(audited, "owner-admin", "HEAD", "/v1/nodes")
        ask(audited, None, "GET", "/v1/lookup?addresses=52:54:00:00:00:01")
        ask(audited, None, "GET", "/v1/nodes")
    assert events(caplog) == []


def test_an_audited_request_never_waits_in_the_event_loop(audited: Service, caplog: pytest.LogCaptureFixture) -> None:
    ask(audited, "owner-admin", "GET", "/v1/nodes")  # the token is in the cache now
    caplog.clear()
    with caplog.at_level(logging.INFO, LOGGER):
        with pytest.raises(MustWait), PERMIT.nonblocking():
            ask(audited, "owner-admin", "GET", "/v1/nodes")
        assert events(caplog) == []


@pytest.mark.parametrize("text", [None, "no section = 1"])
def test_an_unusable_map_stops_the_start(
    tmp_path: Path, identity: str, conf: Callable[..., None], text: str | None
) -> None:
    path = tmp_path / "map.conf"
    if text is not None:
        path.write_text(text)
    conf(audit__enabled=True, audit__audit_map_file=str(path))
    with pytest.raises(ValueError, match=rf"\[audit\]audit_map_file {re.escape(str(path))} can't be used"):
        keystone.service(tmp_path, identity, conf)


def test_the_map_knows_every_collection() -> None:
    # Requests of these need no credentials, or are older spellings.
    others = {"heartbeat", "console"}
    named = {name: kind for route in ROUTES for name, kind in re.findall(r"/(\w+)/\{(\w+)\}", route.path)}
    found = configparser.ConfigParser()
    found.read(MAP)
    known = dict(found.items("path_keywords")).keys() - found.defaults().keys()
    assert known == named.keys() - others
    assert {name: found.get("path_keywords", name) for name in known} == {name: named[name] for name in known}
