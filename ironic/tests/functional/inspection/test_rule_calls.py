"""Rules that call another service: a dry run makes no call, an inspection one before anything is stored."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.flows import states
from ironic.core.secrets.masking import REPLACEMENT
from ironic.tests.conftest import Setter
from ironic.tests.databases import counting_statements
from ironic.tests.functional.inspection.call_catcher import Catcher, call_catcher
from ironic.tests.functional.inspection.whole import Whole, whole
from ironic.tests.listening import listening
from ironic.tests.unit.inspection.lab import MAC, inventory

SECRET = "hunter2"
HEADERS = {"Authorization": f"Bearer {SECRET}"}


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Whole]:
    with whole(tmp_path) as made:
        yield made


@pytest.fixture
def server() -> Iterator[Catcher]:
    with call_catcher() as made:
        yield made


def action(url: str, **args: Any) -> dict[str, Any]:
    return {"op": "api-call", "args": {"url": url, "backoff_factor": 0.01, **args}}


def posted(running: Whole, *actions: dict[str, Any], **fields: Any) -> str:
    answer = running.api.call("POST", "/v1/inspection_rules", body={"actions": list(actions), **fields})
    assert answer.status == 201, answer.body
    uuid: str = answer.json["uuid"]
    return uuid


def told(running: Whole, uuid: str) -> Any:
    return running.api.call("GET", f"/v1/nodes/{uuid}/inspection_rules").json["rules"]


def tried(running: Whole, **body: Any) -> Any:
    answer = running.api.call("POST", "/v1/inspection_rules/evaluate", body=body)
    assert answer.status == 200, answer.body
    return answer.json["rules"]


@pytest.mark.parametrize("phase", ["early", "preprocess", "main"])
def test_a_dry_run_calls_nobody_and_a_real_one_once(running: Whole, server: Catcher, phase: str) -> None:
    url = f"{server.url}/seen/{{inventory[cpu][count]}}?mac={{inventory[interfaces][0][mac_address]}}"
    posted(running, action(url, headers=HEADERS), phase=phase)
    found = inventory(MAC)
    (dry,) = tried(running, inventory=found)
    (asked,) = dry["calls"]
    assert asked["url"] == f"{server.url}/seen/8?mac=52%3A54%3A00%3A00%3A00%3A01"
    assert asked["headers"] == {"Authorization": REPLACEMENT}
    assert server.asked == []
    uuid = running.node(MAC)
    running.post({"inventory": found})
    assert running.state(uuid) == states.MANAGEABLE, running.error(uuid)
    ((_, path, headers),) = server.asked
    assert path == "/seen/8?mac=52%3A54%3A00%3A00%3A00%3A01"
    assert headers["Authorization"] == HEADERS["Authorization"]
    assert told(running, uuid) == [dry]
    tried(running, node=uuid)
    assert len(server.asked) == 1


def test_a_busy_service_is_asked_again(running: Whole, server: Catcher) -> None:
    server.statuses = [503, 503]
    posted(running, action(server.url))
    uuid = running.node(MAC)
    running.post({"inventory": inventory(MAC)})
    assert running.state(uuid) == states.MANAGEABLE
    assert len(server.asked) == 3


def test_a_call_that_fails_fails_the_inspection_and_nothing_is_stored(running: Whole, server: Catcher) -> None:
    server.statuses = [404]
    setting = {"op": "set-attribute", "args": ["/extra/half", "done"]}
    rule = posted(running, setting, action(server.url, headers=HEADERS))
    uuid = running.node(MAC)
    running.post({"inventory": inventory(MAC, disks=[])})
    failed = f"Inspection rule {rule} failed on node {uuid}"
    error = f"{failed}: phase main, actions[1]: the call was answered with status 404 in attempt 1"
    assert running.state(uuid) == states.INSPECTFAIL
    assert error in str(running.error(uuid))
    assert running.bench.row(uuid).extra == {}
    assert running.api.call("GET", f"/v1/nodes/{uuid}/inventory").status == 404
    assert told(running, uuid)[0]["error"].endswith("status 404 in attempt 1")
    hits = running.api.call("GET", f"/v1/inspection_rules/{rule}").json["hits"]
    assert (hits["evaluated"], hits["matched"], hits["failed"]) == (1, 1, 1)


def test_the_first_call_that_fails_is_the_last(running: Whole, server: Catcher) -> None:
    server.statuses = [200, 404]
    posted(running, {**action(f"{server.url}/{{item}}"), "loop": ["a", "b", "c"]})
    uuid = running.node(MAC)
    running.post({"inventory": inventory(MAC)})
    assert running.state(uuid) == states.INSPECTFAIL
    assert server.paths == ["/a", "/b"]


def test_an_early_call_that_fails_keeps_the_data_out(running: Whole, server: Catcher) -> None:
    server.statuses = [403]
    rule = posted(running, action(server.url), phase="early")
    uuid = running.node(MAC)
    assert running.post({"inventory": inventory(MAC)}).status == 404
    assert running.state(uuid) == states.INSPECTWAIT
    assert running.api.call("GET", f"/v1/inspection_rules/{rule}").json["hits"]["failed"] == 1


def test_nothing_is_called_when_what_rules_want_can_not_be(running: Whole, server: Catcher) -> None:
    posted(running, {"op": "set-attribute", "args": ["/driver", "nobodys"]}, action(server.url))
    uuid = running.node(MAC)
    running.post({"inventory": inventory(MAC)})
    assert running.state(uuid) == states.INSPECTFAIL
    assert server.asked == []


@pytest.mark.parametrize("phase", ["early", "preprocess", "main"])
def test_no_transaction_is_open_during_a_call(running: Whole, server: Catcher, phase: str) -> None:
    """Another thread writes meanwhile; the database of the test has one writer at a time."""
    posted(running, action(server.url), phase=phase)
    other = running.node(state=states.MANAGEABLE)
    written: list[int] = []

    def write() -> None:
        with counting_statements(running.store) as seen:
            running.store.nodes.update(other, {"description": "written meanwhile"})
        written.append(seen.writes)

    server.on_call = write
    uuid = running.node(MAC)
    running.post({"inventory": inventory(MAC)})
    assert running.state(uuid) == states.MANAGEABLE, running.error(uuid)
    assert written == [1]
    assert running.bench.row(other).description == "written meanwhile"


@pytest.mark.parametrize("url", ["http://{inventory[bmc_address]}/x", "{plugin_data[url]}", "http://h:{node.name}/"])
def test_a_host_that_data_would_choose_is_refused_when_posted(running: Whole, url: str) -> None:
    rule = {"actions": [action(url)]}
    for path, sent in (("", rule), ("/evaluate", {"inventory": {}, "rules": [rule]})):
        answer = running.api.call("POST", f"/v1/inspection_rules{path}", body=sent)
        assert answer.status == 400
        assert "argument 'url'" in answer.body.decode()


@pytest.mark.parametrize("vendor", ["@127.0.0.1:1/", "//127.0.0.1:1/", "?x=1", "#x", "a\r\nHost: b", "%2F..%2F"])
def test_hostile_values_reach_the_host_of_the_rule_in_their_place(running: Whole, server: Catcher, vendor: str) -> None:
    posted(running, action(f"{server.url}/vendor/{{inventory[vendor]}}/end"))
    uuid = running.node(MAC)
    running.post({"inventory": inventory(MAC, vendor=vendor)})
    if "/.." in vendor:
        assert running.state(uuid) == states.INSPECTFAIL
        return
    assert running.state(uuid) == states.MANAGEABLE, running.error(uuid)
    ((_, path, headers),) = server.asked
    assert path.startswith("/vendor/") and path.endswith("/end") and path.count("/") == 3
    assert "?" not in path and "#" not in path
    assert headers["Host"] == server.url.removeprefix("http://")


@pytest.mark.parametrize("status", [200, 404])
@pytest.mark.parametrize("sensitive", [False, True])
def test_credentials_of_a_call_are_found_nowhere(
    running: Whole, server: Catcher, caplog: pytest.LogCaptureFixture, status: int, sensitive: bool
) -> None:
    server.statuses = [status]
    # A rule that isn't sensitive is shown as it was posted, to those who may read rules.
    with listening() as stored:
        url = f"{server.url.replace('://', f'://me:{SECRET}@')}/x?token={SECRET}"
        rule = posted(running, action(url, headers=HEADERS), sensitive=sensitive)
    uuid = running.node(MAC)
    with caplog.at_level(logging.DEBUG), listening() as listener:
        running.post({"inventory": inventory(MAC)})
    assert SECRET in str(server.asked)
    assert running.state(uuid) == (states.MANAGEABLE if status == 200 else states.INSPECTFAIL)
    seen = [
        caplog.text,
        str(running.error(uuid)),
        str(running.bench.history(uuid)),
        json.dumps([notice.payload for notice in listener.heard], default=str),
        json.dumps(tried(running, inventory={})),
        json.dumps(told(running, uuid)),
        running.api.call("GET", f"/v1/nodes/{uuid}").body.decode(),
    ]
    if sensitive:
        seen.append(running.api.call("GET", f"/v1/inspection_rules/{rule}").body.decode())
        seen.append(json.dumps([notice.payload for notice in stored.heard], default=str))
        assert "actions[0]: CallFailed (the rule is sensitive)" in str(running.error(uuid)) or status == 200
    assert [text for text in seen if SECRET in text] == []


@pytest.mark.parametrize(("masking", "sent"), [("always", "/%2A%2A%2A%2A%2A%2A"), ("never", f"/{SECRET}")])
def test_a_secret_of_the_node_leaves_only_where_the_mode_lets_it(
    conf: Setter, running: Whole, server: Catcher, masking: str, sent: str
) -> None:
    conf(inspection_rules__mask_secrets=masking)
    posted(running, action(f"{server.url}/{{node.driver_info[redfish_password]}}"))
    uuid = running.node(MAC, driver_info={"redfish_password": SECRET})
    running.post({"inventory": inventory(MAC)})
    assert server.paths == [sent]
    assert SECRET not in json.dumps(told(running, uuid))
