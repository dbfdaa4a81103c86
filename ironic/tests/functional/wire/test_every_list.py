"""What holds of every list of the API: more rows cost no more statements, and pages lead through all of them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.api.openapi import operations
from ironic.api.resources import ROUTES
from ironic.api.version_negotiation import MAXIMUM
from ironic.core.model.conductor import Conductor
from ironic.core.model.fields import Resource
from ironic.core.model.node import HistoryEntry
from ironic.tests.databases import counting_statements
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import BASE, Service

NODE = "11111111-0000-4000-8000-000000000001"
CHASSIS = "22222222-0000-4000-8000-000000000001"
PORTGROUP = "44444444-0000-4000-8000-000000000001"
RUNBOOK = "55555555-0000-4000-8000-000000000001"
NAMES = {"node": NODE, "chassis": CHASSIS, "portgroup": PORTGROUP, "runbook": RUNBOOK}
STEP = {"interface": "deploy", "step": "x", "args": {}, "order": 1, "priority": 1}
# A conductor is asked for these.
ASKED = {"/v1/nodes/{node}/vifs", "/v1/nodes/{node}/vmedia", "/v1/nodes/{node}/cleaning/steps"} | {
    "/v1/nodes/{node}/management/indicators",
    "/v1/nodes/{node}/management/boot_device/supported",
}


def is_list(answer: dict[str, Any] | None) -> bool:
    """Return whether an answer has as many items as there are rows."""
    if answer is None:
        return False
    properties = answer.get("properties", {}).values()
    return answer.get("$ref", "").endswith("List") or any(one.get("type") == "array" for one in properties)


LISTS = [
    route.path
    for route in ROUTES
    if route.method == "GET"
    and operations.is_shown(route, MAXIMUM)
    and route.path not in ASKED
    # The links of a volume are two, whatever there is; a run of rules is one row.
    and not route.path.endswith(("/volume", "/inspection_rules"))
    if (told := operations.content_of(route, MAXIMUM)) is not None and is_list(told.answer)
] + ["/v1/inspection_rules"]
PAGED = [("/v1/conductors", Conductor), ("/v1/nodes/{node}/history", HistoryEntry)]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = services.start(tmp_path)
    chassis = running.store.chassis.create({"uuid": CHASSIS})
    node = running.store.nodes.create({"uuid": NODE, "driver": "fake-hardware", "chassis_id": chassis.id})
    running.store.portgroups.create({"uuid": PORTGROUP, "node_id": node.id})
    running.store.runbooks.create_with({"uuid": RUNBOOK, "name": "CUSTOM_R"}, [STEP])
    for number in range(2):
        add(running, number)
    yield running
    running.close()


def add(service: Service, number: int) -> None:
    """Add one row to every list."""
    bodies: dict[str, dict[str, Any]] = {
        "chassis": {},
        "nodes": {"driver": "fake-hardware", "chassis_uuid": CHASSIS, "shard": f"s{number}"},
        "ports": {"node_uuid": NODE, "portgroup_uuid": PORTGROUP, "address": f"52:54:00:00:00:{number:02x}"},
        "portgroups": {"node_uuid": NODE},
        "volume/connectors": {"node_uuid": NODE, "type": "iqn", "connector_id": f"iqn.{number}"},
        "volume/targets": {"node_uuid": NODE, "volume_type": "iscsi", "boot_index": number, "volume_id": "v"},
        "allocations": {"resource_class": "gold"},
        "deploy_templates": {"name": f"CUSTOM_T{number}", "steps": [_step("priority", at) for at in range(number)]},
        "runbooks": {"name": f"CUSTOM_R{number}", "steps": [_step("order", at) for at in range(number)]},
        "inspection_rules": {"actions": [{"op": "set-attribute", "args": {"path": "/extra/a", "value": 1}}]},
    }
    for path, body in bodies.items():
        if body.get("steps") == []:
            continue
        answer = service.call("POST", f"/v1/{path}", body=body)
        assert answer.status == 201, answer.body
    # Lists of nodes leave out what has a parent.
    child = {"driver": "fake-hardware", "parent_node": NODE}
    assert service.call("POST", "/v1/nodes", body=child).status == 201
    store = service.store
    node_id = store.nodes.get(NODE).id
    with store.writing():
        store.traits.add(node_id, f"CUSTOM_{number}")
        store.history.create({"node_id": node_id, "event": f"event {number}", "conductor": "c"})
        store.bios_settings.put(node_id, [{"name": f"b{number}", "value": "on"}])
        store.firmware.put(node_id, [{"component": f"nic:{number}", "initial_version": "1"}])
        # It serves no driver: it does not run, so no call may be sent to it.
        store.conductors.register(f"conductor-{number}", "", [], [])
        store.rejected_callbacks.add(source=None, reason="none", macs=[], bmc_addresses=[], node_uuid=None, kept=100)
    answer = service.call("PUT", f"/v1/runbooks/{RUNBOOK}/traits/CUSTOM_{number}")
    assert answer.status == 204, answer.body


def _step(key: str, number: int) -> dict[str, Any]:
    return {"interface": "deploy", "step": f"x{number}", "args": {}, key: number + 1}


def place(path: str) -> str:
    """Return a path with what is there in place of each name."""
    return re.sub(r"\{(\w+)\}", lambda found: NAMES[found[1]], path)


def count(service: Service, path: str) -> tuple[int, int]:
    """Count statements and items of a whole list, when what is the same for all requests was looked up."""
    service.call("GET", path)
    with counting_statements(service.store) as seen:
        answer = service.call("GET", path)
    assert answer.status == 200, answer.body
    (items,) = (value for key, value in answer.json.items() if key != "links")
    assert (seen.writes, seen.commits) == (0, 0)
    return seen.selects, len(items)


def test_more_rows_cost_no_more_statements(service: Service) -> None:
    paths = [place(path) for path in LISTS]
    before = [count(service, path) for path in paths]
    for number in range(2, 9):
        add(service, number)
    for path, (statements, items) in zip(paths, before, strict=True):
        after = count(service, path)
        assert after[0] == statements <= 3, path
        # No other conductor serves a driver.
        assert after[1] == items + 7 or path == "/v1/drivers", path


@pytest.mark.parametrize(("path", "resource"), PAGED)
def test_pages_of_what_conductors_write_lead_through_all_rows(
    service: Service, path: str, resource: type[Resource]
) -> None:
    for sort_key in ["id", *(name for name, one in resource.table.fields.items() if one.sortable)]:
        for direction in ("asc", "desc"):
            query = f"{place(path)}?sort_key={sort_key}&sort_dir={direction}"
            whole = names(service, query, resource)
            seen, page = [], f"{query}&limit=1"
            while page:
                seen += names(service, page, resource)
                page = service.call("GET", page).json.get("next", "").removeprefix(BASE)
            assert seen == whole, query
            assert len(whole) >= 2


# Pages of a node's ports and port groups lead to those of all nodes: see the exchanges of both.
BELOW = [path for path in LISTS if re.search(r"}/nodes|p}/ports|}/volume/", path)]


@pytest.mark.parametrize("path", BELOW)
def test_pages_of_what_belongs_to_one_thing_stay_with_it(service: Service, path: str) -> None:
    # Something of another one, which no page may lead to.
    other = service.call("POST", "/v1/nodes", body={"driver": "fake-hardware"}).json["uuid"]
    elsewhere = {"node_uuid": other, "address": "52:54:00:00:01:00"}
    group = service.call("POST", "/v1/portgroups", body=elsewhere).json["uuid"]
    assert service.call("POST", "/v1/ports", body=elsewhere | {"portgroup_uuid": group}).status == 201
    for kind, body in (
        ("connectors", {"type": "iqn", "connector_id": "iqn.other"}),
        ("targets", {"volume_type": "iscsi", "boot_index": 0, "volume_id": "v"}),
    ):
        assert service.call("POST", f"/v1/volume/{kind}", body=body | {"node_uuid": other}).status == 201
    collection = path.removesuffix("/detail").rpartition("/")[2]
    whole = [one["uuid"] for one in service.call("GET", place(path)).json[collection]]
    seen: list[str] = []
    page = f"{place(path)}?limit=1"
    while page:
        answer = service.call("GET", page).json
        seen += [one["uuid"] for one in answer[collection]]
        page = answer.get("next", "").removeprefix(BASE)
    assert seen == whole
    assert len(whole) >= 2


def names(service: Service, path: str, resource: type[Resource]) -> list[str]:
    """Return what a page names."""
    answer = service.call("GET", path)
    assert answer.status == 200, answer.body
    return [one[resource.key] for one in answer.json[resource.collection]]
