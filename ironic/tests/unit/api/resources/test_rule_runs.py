"""Dry runs over HTTP, the explanation of the last real run, and counters in the documents of rules."""

import json
from typing import Any

import pytest

from ironic.conf import CONF
from ironic.db import RuleStatistics
from ironic.db.column_types import encode_json
from ironic.inspection.posted_data import with_difference
from ironic.tests.conftest import Setter
from ironic.tests.functional.wire.service import Service
from ironic.tests.unit.inspection.lab import MAC, inventory, new_node, new_port

RULES = "/v1/inspection_rules"
EVALUATE = f"{RULES}/evaluate"
UUID = "9c3fb1d5-4f5a-4a52-9b7d-0e6a8d8d3f10"
SET = {"op": "set-attribute", "args": ["/extra/cpus", "{inventory[cpu][count]}"]}
DOCUMENT: dict[str, Any] = {
    "uuid": UUID,
    "description": "count",
    "conditions": [
        {"op": "! eq", "args": ["{inventory[cpu][count]}", 4]},
        {"op": "contains", "args": ["{item[name]}", "eth"], "loop": "{inventory[interfaces]}"},
    ],
    "actions": [SET],
}
TOLD: dict[str, Any] = {
    "rules": [
        {
            "uuid": UUID,
            "description": "count",
            "applies": True,
            "conditions": [
                {"op": "! eq", "args": ["{inventory[cpu][count]}", 4], "values": {"values": [8, 4]}, "verdict": True},
                {
                    "op": "contains",
                    "args": ["{item[name]}", "eth"],
                    "values": None,
                    "verdict": True,
                    "items": [{"values": {"value": "eth0", "regex": "eth"}, "verdict": True}],
                },
            ],
            "changes": [{"op": "add", "path": "/node/extra/cpus", "value": 8}],
        }
    ],
    "changes": {"node": [{"op": "add", "path": "/extra/cpus", "value": 8}], "ports": {}, "plugin_data": []},
}


def post(service: Service, **rule: Any) -> str:
    answer = service.call("POST", RULES, body={"actions": [SET]} | rule)
    assert answer.status == 201, answer.body
    return str(answer.json["uuid"])


def inspected(service: Service, **values: Any) -> Any:
    """Store a node that was inspected."""
    node = new_node(service.store, **{"provision_state": "manageable", **values})
    new_port(service.store, node, MAC)
    service.store.inventories.put_texts(node.id, encode_json(inventory(MAC)), encode_json({"seen": 1}))
    return node


def test_it_tells_what_rules_would_do_with_data_at_hand(service: Service) -> None:
    before = service.contents()
    answer = service.call("POST", EVALUATE, body={"inventory": inventory(MAC), "plugin_data": {}, "rules": [DOCUMENT]})
    assert (answer.status, answer.json) == (200, TOLD)
    assert service.contents() == before


def test_it_tells_what_stored_rules_would_do_with_a_node_and_writes_nothing(service: Service) -> None:
    node = inspected(service, name="n1")
    post(service, **DOCUMENT)
    port = {"op": "set-port-attribute", "args": [MAC, "/extra/seen", "{plugin_data[seen]}"]}
    post(service, actions=[port, {"op": "set-plugin-data", "args": ["a.b", "{node.name}"]}])
    before = service.contents()
    for ident in ("n1", node.uuid):
        answer = service.call("POST", EVALUATE, body={"node": ident})
        assert answer.status == 200
        assert answer.json["rules"][0] == TOLD["rules"][0]
        (uuid,) = answer.json["changes"]["ports"]
        assert answer.json["changes"] == {
            "node": TOLD["changes"]["node"],
            "ports": {uuid: [{"op": "add", "path": "/extra/seen", "value": 1}]},
            "plugin_data": [
                {"op": "add", "path": "/a", "value": {}},
                {"op": "add", "path": "/a/b", "value": "n1"},
            ],
        }
        changed = [one["path"] for one in answer.json["rules"][1]["changes"]]
        assert changed == [f"/ports/{uuid}/extra/seen", "/plugin_data/a", "/plugin_data/a/b"]
    assert service.contents() == before


def test_it_tells_of_sensitive_rules_the_verdicts_only(service: Service) -> None:
    hidden = {"sensitive": True, "conditions": [{"op": "is-true", "args": ["yes"]}]}
    fail = {"op": "fail", "args": ["canary"]}
    answer = service.call("POST", EVALUATE, body={"inventory": {}, "rules": [hidden | {"actions": [SET, fail]}]})
    (told,) = answer.json["rules"]
    assert told["applies"] is True
    assert told["conditions"] == [{"op": None, "args": None, "values": None, "verdict": True}]
    assert told["changes"] is None
    assert told["error"] == "phase main, actions[1]: FailRequested (the rule is sensitive)"
    assert answer.json["changes"] == {"node": [], "ports": {}, "plugin_data": []}
    assert b"canary" not in answer.body


@pytest.mark.parametrize(
    ("phase", "seen"), [(None, ["early", "preprocess", "main"]), ("early", ["early"]), ("main", ["main"])]
)
def test_it_runs_the_phase_that_is_asked_for(service: Service, phase: str | None, seen: list[str]) -> None:
    act = {"op": "log", "args": ["x"]}
    rules = [{"phase": one, "description": one, "actions": [act]} for one in ("main", "preprocess", "early")]
    body = {"inventory": {}, "rules": rules} | ({"phase": phase} if phase else {})
    answer = service.call("POST", EVALUATE, body=body)
    assert [one["description"] for one in answer.json["rules"]] == seen


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"rules": [DOCUMENT]},
        {"inventory": {}, "hooks": "maybe"},
        {"inventory": []},
        {"inventory": {}, "plugin_data": 1},
        {"inventory": {}, "phase": "late"},
        {"inventory": {}, "odd": 1},
        {"inventory": {}, "rules": {}},
        {"inventory": {}, "rules": [{}]},
        {"inventory": {}, "rules": [{"actions": [{"op": "nope", "args": []}]}]},
        {"inventory": {}, "rules": [DOCUMENT] * 1001},
        {"node": 5},
    ],
)
def test_it_refuses_what_it_can_not_evaluate(service: Service, body: Any) -> None:
    assert service.call("POST", EVALUATE, body=body).status == 400


def test_it_names_a_stored_rule_whose_action_is_gone(service: Service) -> None:
    uuid = service.store.rules.create({"actions": [{"op": "acme-gone", "args": []}]}).uuid
    answer = service.call("POST", EVALUATE, body={"inventory": {}})
    assert answer.status == 400
    assert uuid.encode() in answer.body


def test_it_wants_a_node_with_an_inventory(service: Service) -> None:
    new_node(service.store, name="fresh")
    assert service.call("POST", EVALUATE, body={"node": "fresh"}).status == 404
    assert service.call("POST", EVALUATE, body={"node": "gone"}).status == 404


FOUND = encode_json(inventory(MAC) | {"cpu": {"architecture": "x86_64", "count": 2}})


def test_it_takes_the_report_that_was_refused_and_says_so(service: Service) -> None:
    """The inventory that users see is the last good one, or none."""
    node = new_node(service.store, name="refused", provision_state="inspect failed")
    service.store.refused_reports.put_texts(node.id, FOUND, encode_json({"seen": 2}))
    assert service.call("GET", "/v1/nodes/refused/inventory").status == 404
    for _ in range(2):
        answer = service.call("POST", EVALUATE, body={"node": "refused", "rules": [DOCUMENT]})
        assert answer.status == 200, answer.body
        assert answer.json["changes"]["node"] == [{"op": "add", "path": "/extra/cpus", "value": 2}]
        (note,) = answer.json["notes"]
        assert note.startswith("The data are those of the inspection that failed at 2")
        service.store.inventories.put(node.id, inventory(MAC), {"seen": 1})
    shown = service.call("GET", "/v1/nodes/refused/inventory").json
    assert (shown["inventory"]["cpu"]["count"], shown["plugin_data"]) == (8, {"seen": 1})


def test_it_runs_hooks_on_data_as_they_were_posted(service: Service) -> None:
    node = inspected(service, name="n1")
    posted = with_difference({"seen": 1, "macs": ["old"]}, {"seen": 1})
    service.store.inventories.put(node.id, inventory(MAC), posted)
    keep = {"op": "set-attribute", "args": ["/extra/macs", "{plugin_data[macs]}"]}
    for hooks, macs in ((False, ["old"]), (True, [MAC])):
        answer = service.call("POST", EVALUATE, body={"node": "n1", "rules": [{"actions": [keep]}], "hooks": hooks})
        assert answer.json["changes"]["node"][0]["value"] == macs
    assert [one["name"] for one in answer.json["hooks"]] == CONF.inspector.hooks.split(",")
    answer = service.call("POST", EVALUATE, body={"inventory": {}, "rules": [DOCUMENT], "hooks": True})
    assert "no interface with a name" in str([one.get("error") for one in answer.json["hooks"]])
    new_node(service.store, name="r1", inspect_interface="fake")
    answer = service.call("POST", EVALUATE, body={"node": "r1", "inventory": {}, "rules": [DOCUMENT], "hooks": True})
    assert answer.status == 400
    assert b"agent and redfish only; the node uses fake" in answer.body


def test_it_runs_the_hooks_of_redfish_on_what_a_bmc_has_reported(service: Service, conf: Setter) -> None:
    conf(
        redfish__inspection_hooks="validate-interfaces,ports,architecture,boot-mode",
        inspection_rules__supported_interfaces=".*",
    )
    node = inspected(service, name="r1", inspect_interface="redfish")
    reported = inventory(MAC) | {"boot": {"current_boot_mode": "uefi", "pxe_interfaces": []}}
    service.store.inventories.put(node.id, reported, {"root_disk": {"name": "sda"}})
    actions = [
        {"op": "set-attribute", "args": ["/extra/arch", "{node.properties[cpu_arch]}"]},
        {"op": "set-attribute", "args": ["/extra/pxe", "{ports[0][pxe_enabled]}"]},
    ]

    def evaluate(**given: Any) -> dict[str, Any]:
        body = {"node": "r1", "rules": [{"actions": actions}], "hooks": True, **given}
        answer = service.call("POST", EVALUATE, body=body)
        assert answer.status == 200, answer.body
        found: dict[str, Any] = answer.json
        return found

    def seen(found: dict[str, Any]) -> list[Any]:
        return [change["value"] for change in found["changes"]["node"]]

    told = evaluate()
    names = ["validate-interfaces", "ports", "architecture", "boot-mode", "redfish"]
    assert [one["name"] for one in told["hooks"]] == names
    assert not any({"error", "left_out"} & one.keys() for one in told["hooks"])
    # The BMC does not say what the firmware boots from, so ports stay as they are.
    assert seen(told) == ["x86_64", True]
    others = reported | {"boot": {"pxe_interfaces": ["52:54:00:ff:ff:ff"]}}
    assert seen(evaluate(inventory=others)) == ["x86_64", False]
    # What a BMC does not report makes no inspection fail.
    for odd in ({}, {"cpu": 7, "interfaces": []}):
        told = evaluate(inventory=odd)
        without = {one["name"]: one["left_out"] for one in told["hooks"] if "left_out" in one}
        assert without.keys() == {"validate-interfaces", "ports", "architecture"}
        assert "no network card" in without["ports"]
    wanted = [{"op": "is-true", "args": [f"{{plugin_data[{key}]}}"]} for key in ("local_gb", "parsed_lldp")]
    (note,) = evaluate(rules=[{"conditions": wanted, "actions": actions}])["notes"]
    assert "set by hook root-device, which is not enabled: add it to [redfish]inspection_hooks" in note
    conf(inspection_rules__supported_interfaces="^agent$")
    told = evaluate()
    assert (told["rules"], seen(told)) == ([], [])
    assert "Rules act on no inspection by interface redfish" in told["notes"][0]


@pytest.mark.parametrize("state", ["active", None])
def test_a_dry_run_is_judged_as_an_inspection_whatever_the_state(service: Service, state: str | None) -> None:
    values = {"instance_uuid": UUID, "resource_class": "a"}
    node = {"node": inspected(service, provision_state=state, **values).uuid} if state else {}
    data = {"inventory": inventory(MAC), "hooks": True, **node}

    def notes(path: str, value: str) -> str:
        rule = {"actions": [{"op": "set-attribute", "args": [path, value]}]}
        answer = service.call("POST", EVALUATE, body={"rules": [rule], **data})
        assert answer.status == 200, answer.body
        return str(answer.json.get("notes", ""))

    assert "can't be applied" not in notes("/resource_class", "b")
    assert ("can't be applied" in notes("/instance_uuid", UUID.replace("9", "8"))) == bool(node)


def test_it_takes_a_node_and_data_together(service: Service) -> None:
    new_node(service.store, name="n1", provision_state="manageable")
    rules = [{"actions": [{"op": "set-attribute", "args": ["/extra/a", "{node.name} {inventory[serial]}"]}]}]
    answer = service.call("POST", EVALUATE, body={"node": "n1", "inventory": {"serial": "7"}, "rules": rules})
    assert answer.json["changes"]["node"] == [{"op": "add", "path": "/extra/a", "value": "n1 7"}]
    answer = service.call("POST", EVALUATE, body={"inventory": {"serial": "7"}, "rules": rules})
    assert answer.json["changes"]["node"][0]["value"] == " 7"
    assert "No node is named" in answer.json["notes"][0]


def test_it_names_what_is_there_where_a_key_is_misspelt(service: Service) -> None:
    actions = [{"op": "set-attribute", "args": ["/extra/a", "{inventory[cpu][cuont]}"]}]
    body = {"inventory": inventory(MAC), "rules": [{"actions": actions}, {"actions": actions, "sensitive": True}]}
    told, hidden = service.call("POST", EVALUATE, body=body).json["rules"]
    assert told["missing"] == ["inventory.cpu has no cuont; it has architecture, count"]
    assert "missing" not in hidden


def test_versions_and_methods(service: Service) -> None:
    assert service.call("POST", EVALUATE, body={"inventory": {}}, version="1.95").status == 404
    assert service.call("POST", EVALUATE, body={"inventory": {}}, version="1.96").status == 200
    node = inspected(service)
    assert service.call("GET", f"/v1/nodes/{node.uuid}/inspection_rules", version="1.95").status == 404


def test_it_tells_what_rules_did_in_the_last_inspection(service: Service) -> None:
    node = inspected(service, name="n1")
    path = f"/v1/nodes/{node.uuid}/inspection_rules"
    assert service.call("GET", path).status == 404
    assert service.call("GET", "/v1/nodes/gone/inspection_rules").status == 404
    service.store.rule_runs.put_later(node.id, json.dumps(TOLD))
    for ident in (node.uuid, "n1"):
        answer = service.call("GET", f"/v1/nodes/{ident}/inspection_rules")
        assert (answer.status, answer.json) == (200, TOLD)
    early = {"rules": [{"uuid": "e"}], "changes": {"node": [], "ports": {}, "plugin_data": [{"op": "remove"}]}}
    service.store.rule_runs.put_early(node.id, json.dumps(early))
    assert service.call("GET", path).json == early
    service.store.rule_runs.put_later(node.id, json.dumps(TOLD))
    both = service.call("GET", path).json
    assert both["rules"] == early["rules"] + TOLD["rules"]
    assert both["changes"]["plugin_data"] == [{"op": "remove"}]
    assert service.call("GET", f"{path}?odd=1").status == 400


def test_a_rule_shows_how_often_it_ran_in_detail_only(service: Service) -> None:
    uuid, other = post(service), post(service)
    service.store.rule_hits.count(RuleStatistics([uuid, other], [uuid], []))
    service.store.rule_hits.count(RuleStatistics([uuid], [], [uuid]))
    plain = service.call("GET", RULES).json["inspection_rules"]
    assert not any("hits" in rule for rule in plain)
    detailed = service.call("GET", f"{RULES}?detail=true").json["inspection_rules"]
    shown = service.call("GET", f"{RULES}/{uuid}").json["hits"]
    assert [rule["hits"]["evaluated"] for rule in detailed] == [2, 1]
    assert detailed[0]["hits"] == shown
    moment = shown.pop("last_matched_at")
    assert moment.endswith("+00:00")
    assert shown == {"evaluated": 2, "matched": 1, "failed": 1}
    assert detailed[1]["hits"]["last_matched_at"] is None
    assert service.call("POST", RULES, body={"actions": [SET], "hits": {}}).status == 400
