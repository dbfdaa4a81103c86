"""Lists of large rows: every page is bounded in bytes, and `next` leads through all rows once, whatever the order."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.api.settings import ApiSettings
from ironic.core.model.allocation import Allocation
from ironic.core.model.fields import Resource
from ironic.core.model.inspection_rule import InspectionRule
from ironic.core.model.node import Chassis, HistoryEntry, Node
from ironic.core.model.port import Port, Portgroup
from ironic.core.model.step_lists import DeployTemplate, Runbook
from ironic.core.model.volumes import VolumeConnector, VolumeTarget
from ironic.inspection.rules import RuleBook, load_built_in
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import BASE, Service
from ironic.tests.functional.wire.test_every_list import LISTS, NODE, place

MOST = 20_000
ROWS = 9
LARGE = {"a": "x" * 6000}
# No page of so many bytes needs a fourth row.
MOST_ROWS = 4

RULES = """
- {uuid: aaaaaaaa-0000-4000-8000-000000000001, priority: 5, description: f, actions: [ACTION]}
- {uuid: aaaaaaaa-0000-4000-8000-000000000002, priority: 0, actions: [ACTION]}
""".replace("ACTION", "{op: set-attribute, args: {path: /extra/a, value: 1}}")


@pytest.fixture(params=[False, True], ids=["stored", "built-in"])
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Service]:
    settings = ApiSettings(page_bytes=MOST)
    if request.param:
        (path := tmp_path / "rules.yaml").write_text(RULES)
        settings = ApiSettings(page_bytes=MOST, rule_book=RuleBook(load_built_in(str(path))))
    running = services.start(tmp_path, settings)
    fill(running)
    yield running
    running.close()


def fill(service: Service) -> None:
    """Add large rows to every list that clients fill."""
    store = service.store
    chassis = store.chassis.create({"extra": LARGE})
    node = store.nodes.create({"uuid": NODE, "driver": "fake-hardware", "chassis_id": chassis.id, "extra": LARGE})
    store.portgroups.create({"uuid": GROUP, "node_id": node.id, "extra": LARGE})
    for number in range(ROWS):
        action = {"op": "set-attribute", "args": {"path": "/extra/a", "value": LARGE["a"]}}
        bodies: dict[str, dict[str, Any]] = {
            "chassis": {"extra": LARGE},
            "nodes": {"driver": "fake-hardware", "chassis_uuid": chassis.uuid, "owner": f"p{number % 3}"},
            "ports": {"node_uuid": NODE, "portgroup_uuid": GROUP, "address": f"52:54:00:00:00:{number:02x}"},
            "portgroups": {"node_uuid": NODE},
            "volume/connectors": {"node_uuid": NODE, "type": "iqn", "connector_id": f"iqn.{number}"},
            "volume/targets": {"node_uuid": NODE, "volume_type": "iscsi", "boot_index": number, "volume_id": "v"},
            "allocations": {"resource_class": f"gold{number % 2}"},
        }
        bodies = {path: body | {"extra": LARGE} for path, body in bodies.items()} | {
            "deploy_templates": {"name": f"CUSTOM_T{number}", "steps": [step("priority")]},
            "runbooks": {"name": f"CUSTOM_R{number}", "steps": [step("order")]},
            "inspection_rules": {"actions": [action], "priority": number % 2, "description": "fgFG"[number % 4]},
        }
        for path, body in bodies.items():
            answer = service.call("POST", f"/v1/{path}", body=body)
            assert answer.status == 201, answer.body
        with store.writing():
            store.history.create({"node_id": node.id, "event": LARGE["a"], "conductor": "c"})


GROUP = "44444444-0000-4000-8000-000000000001"


def step(key: str) -> dict[str, Any]:
    return {"interface": "deploy", "step": "x", "args": LARGE, key: 1}


KINDS: list[tuple[str, type[Resource], str]] = [
    ("/v1/chassis", Chassis, "fields=uuid,extra"),
    ("/v1/nodes", Node, "fields=uuid,extra"),
    ("/v1/chassis/{chassis}/nodes", Node, "fields=uuid,extra"),
    ("/v1/ports", Port, "fields=uuid,extra"),
    ("/v1/nodes/{node}/ports", Port, "fields=uuid,extra"),
    ("/v1/portgroups", Portgroup, "fields=uuid,extra"),
    ("/v1/volume/connectors", VolumeConnector, "fields=uuid,extra"),
    ("/v1/volume/targets", VolumeTarget, "fields=uuid,extra"),
    ("/v1/allocations", Allocation, "fields=uuid,extra"),
    ("/v1/deploy_templates", DeployTemplate, "fields=uuid,steps"),
    ("/v1/runbooks", Runbook, "fields=uuid,steps"),
    ("/v1/inspection_rules", InspectionRule, "fields=uuid,actions"),
    ("/v1/nodes/{node}/history", HistoryEntry, "detail=true"),
]


@pytest.mark.parametrize(("path", "resource", "large"), KINDS, ids=[path for path, _, _ in KINDS])
def test_every_page_is_bounded_and_they_lead_through_all_rows(
    service: Service, path: str, resource: type[Resource], large: str
) -> None:
    path = path.replace("{chassis}", service.store.chassis.rows(("uuid",))[0][0])
    for sort_key in ["id", *(name for name, one in resource.table.fields.items() if one.sortable)]:
        for direction in ("asc", "desc"):
            query = f"{place(path)}?sort_key={sort_key}&sort_dir={direction}"
            # One by one, a page that could be cut holds one row anyway.
            whole = [uuid for page in walk(service, f"{query}&limit=1", resource) for uuid in page]
            pages = walk(service, f"{query}&{large}", resource)
            assert [uuid for page in pages for uuid in page] == whole, query
            assert len(whole) >= ROWS
            assert len(pages) >= 3
            # Built-in rules are small.
            assert max(map(len, pages)) <= MOST_ROWS + (2 if "rules" in path else 0)


def walk(service: Service, path: str, resource: type[Resource]) -> list[list[str]]:
    """Return what each page names."""
    pages: list[list[str]] = []
    while path:
        answer = service.call("GET", path)
        assert answer.status == 200, answer.body
        pages.append([one[resource.key] for one in answer.json[resource.collection]])
        path = answer.json.get("next", "").removeprefix(BASE)
    return pages


def test_a_smaller_limit_still_counts(service: Service) -> None:
    answer = service.call("GET", "/v1/allocations?limit=2").json
    assert len(answer["allocations"]) == 2
    assert "&limit=2&" in answer["next"]


def test_the_cases_are_all_lists_of_what_clients_write() -> None:
    resources = {resource.collection for _, resource, _ in KINDS}
    # Clients do not write drivers, conductors and shards; the parts of one node have no pages.
    lists = {path.removesuffix("/detail").split("/")[-1] for path in LISTS}
    assert lists - resources == {
        *("drivers", "conductors", "shards", "rejected_callbacks"),
        *("children", "traits", "bios", "firmware"),
    }
