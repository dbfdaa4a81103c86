"""The history of a node: what is shown of it in lists, alone and in older versions."""

from typing import Any

import pytest

from ironic.db import NodeRecord
from ironic.tests.databases import counting_statements
from ironic.tests.functional.wire.service import BASE, Service
from ironic.tests.unit.api.resources.rows import add_node

A = "99999999-0000-4000-8000-000000000099"


@pytest.fixture
def node(service: Service) -> NodeRecord:
    return add_node(service, name="n")


def happen(service: Service, node: NodeRecord, *events: str) -> None:
    for event in events:
        service.store.history.add(
            node.id, event=event, event_type="cleaning", severity="ERROR", conductor="host", state="cleaning"
        )


def entries(service: Service, query: str = "", **terms: Any) -> list[dict[str, Any]]:
    answer = service.call("GET", f"/v1/nodes/n/history{query}", **terms)
    assert answer.status == 200, answer.body
    found: list[dict[str, Any]] = answer.json["history"]
    return found


def test_nothing_has_happened_to_a_new_node(service: Service, node: NodeRecord) -> None:
    assert service.call("GET", "/v1/nodes/n/history").json == {"history": []}


def test_the_list_shows_the_main_things_oldest_first(service: Service, node: NodeRecord) -> None:
    happen(service, node, "one", "two")
    happen(service, add_node(service), "elsewhere")
    found = entries(service)
    assert [entry["event"] for entry in found] == ["one", "two"]
    assert found[0].keys() == {"uuid", "created_at", "severity", "event", "links"}
    link = f"{BASE}/v1/nodes/{node.uuid}/history/{found[0]['uuid']}"
    assert found[0]["links"] == [{"href": link, "rel": "self"}]


@pytest.mark.parametrize(
    ("version", "later"),
    [
        ("1.78", {"project", "state", "target_provision_state", "duration_seconds"}),
        ("1.113", {"state", "target_provision_state", "duration_seconds"}),
        ("1.115", set()),
    ],
)
def test_the_whole_entry_is_the_same_alone_and_in_detail(
    service: Service, node: NodeRecord, version: str, later: set[str]
) -> None:
    happen(service, node, "one")
    (whole,) = entries(service, "?detail=true", version=version)
    assert service.call("GET", f"/v1/nodes/n/history/{whole['uuid']}", version=version).json == whole
    assert (whole["conductor"], whole["event_type"], whole["user"]) == ("host", "cleaning", None)
    assert {"project", "state", "target_provision_state", "duration_seconds"} - whole.keys() == later


@pytest.mark.parametrize(("length", "shown"), [(255, 255), (256, 254)])
def test_long_texts_are_cut_in_the_plain_list_only(service: Service, node: NodeRecord, length: int, shown: int) -> None:
    happen(service, node, "x" * length)
    (plain,), (whole,) = entries(service), entries(service, "?detail=true")
    assert (len(plain["event"]), len(whole["event"])) == (shown, length)
    assert plain["event"].endswith("...") is (length > shown)


def test_pages_follow_each_other_below_the_node(service: Service, node: NodeRecord) -> None:
    happen(service, node, "one", "two", "three")
    seen, path = [], "/v1/nodes/n/history?limit=2"
    while path:
        page = service.call("GET", path).json
        seen += [entry["event"] for entry in page["history"]]
        path = page.get("next", "").removeprefix(BASE)
        assert not path or path.startswith(f"/v1/nodes/{node.uuid}/history?sort_key=created_at&sort_dir=asc&limit=2&")
    assert seen == ["one", "two", "three"]
    assert [entry["event"] for entry in entries(service, "?sort_dir=desc")] == ["three", "two", "one"]


@pytest.mark.parametrize("query", ["?fields=event", "?limit=0", "?marker=x", "?sort_key=links", "?more=1"])
def test_other_parameters_are_refused(service: Service, node: NodeRecord, query: str) -> None:
    assert service.call("GET", f"/v1/nodes/n/history{query}").status == 400


@pytest.mark.parametrize("path", ["/v1/nodes/n/history/bogus", f"/v1/nodes/n/history/{A}", "/v1/nodes/nobody/history"])
def test_what_is_not_there_is_not_found(service: Service, node: NodeRecord, path: str) -> None:
    assert service.call("GET", path).status == 404


def test_an_entry_of_another_node_is_not_found(service: Service, node: NodeRecord) -> None:
    happen(service, add_node(service, name="other"), "elsewhere")
    entry = service.call("GET", "/v1/nodes/other/history").json["history"][0]["uuid"]
    assert service.call("GET", f"/v1/nodes/other/history/{entry}").status == 200
    assert service.call("GET", f"/v1/nodes/n/history/{entry}").status == 404


def test_it_came_with_1_78(service: Service, node: NodeRecord) -> None:
    assert service.call("GET", "/v1/nodes/n/history", version="1.77").status == 404
    assert service.call("GET", "/v1/nodes/n/history", version="1.78").status == 200
    assert service.call("POST", "/v1/nodes/n/history", body={}).status == 405


@pytest.mark.parametrize("count", [1, 100])
def test_a_page_is_two_statements(service: Service, node: NodeRecord, count: int) -> None:
    with service.store.writing():
        happen(service, node, *["x"] * count)
    with counting_statements(service.store) as sent:
        assert len(entries(service, "?detail=true")) == count
    assert (sent.selects, sent.writes, sent.commits) == (2, 0, 0)
