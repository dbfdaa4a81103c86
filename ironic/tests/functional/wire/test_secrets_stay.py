"""What leaves through the API is masked in one way: steps, settings, texts; and sort orders reveal nothing either."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from ironic.api.settings import ApiSettings, RamdiskSettings
from ironic.core.flows import states
from ironic.tests.conftest import Setter
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.keystone import OWNED, ask
from ironic.tests.functional.wire.service import Service

CANARY = "hunter2canary"
URL = f"https://user:{CANARY}@192.0.2.7/x?temp_url_sig={CANARY}"
PEM = f"-----BEGIN PRIVATE KEY-----\n{CANARY}\n-----END PRIVATE KEY-----"
ARGUMENTS = {
    "community": CANARY,
    "user_pin": CANARY,
    "settings": [{"name": "AdminPassword", "value": CANARY}, {"name": "boot", "value": "uefi"}],
    "image": URL,
    "note": f"see {URL} with password='{CANARY}'",
    "file": PEM,
    "headers": [["X-Auth-Token", CANARY], f"Authorization: Bearer {CANARY}"],
    "user_data": CANARY,
}
EMPTY_RUN = {"rules": [], "changes": {"node": [], "ports": {}, "plugin_data": []}}
STEP = {"interface": "bios", "step": "apply_configuration", "args": ARGUMENTS}
LISTS = ("clean_steps", "deploy_steps", "service_steps", "user_deploy_steps")
HIDDEN = {"redacted_contents": "******"}


@pytest.fixture
def service(tmp_path: Path, identity: str, conf: Callable[..., None]) -> Iterator[Service]:
    """Have a service with a node in the midst of everything."""
    running = keystone.service(tmp_path, identity, conf)
    node = running.store.nodes.get(OWNED)
    node.clean_step = node.deploy_step = node.service_step = STEP
    node.driver_internal_info = {name: [STEP] for name in LISTS}
    node.driver_info = {"snmp_community": CANARY, "address": URL}
    node.instance_info = {"image_source": URL, "user_data": CANARY, "cloud": PEM}
    node.last_error = f"The image {URL} can't be had"
    node.save()
    running.store.bios_settings.put(node.id, [{"name": "AdminPassword", "value": CANARY}, {"name": "b", "value": "1"}])
    running.store.history.add(node.id, event=f"{'x' * 230} {URL}", event_type="t", severity="ERROR", conductor="c")
    yield running
    running.close()


READS = [
    f"/v1/nodes/{OWNED}",
    "/v1/nodes/detail",
    f"/v1/nodes/{OWNED}?fields=clean_step,driver_internal_info,last_error",
    f"/v1/nodes/{OWNED}/states",
    f"/v1/nodes/{OWNED}/bios",
    f"/v1/nodes/{OWNED}/bios/AdminPassword",
    f"/v1/nodes/{OWNED}/history",
    f"/v1/nodes/{OWNED}/history?detail=true",
]


@pytest.mark.parametrize("path", READS)
@pytest.mark.parametrize("token", ["system-admin", "owner-admin", "lessee-member"])
def test_no_reader_is_shown_a_secret(service: Service, token: str, path: str) -> None:
    answer = ask(service, token, "GET", path)
    assert answer.status in (200, 403)
    assert CANARY not in answer.body.decode()


def test_what_is_no_secret_is_shown(service: Service) -> None:
    node = ask(service, "system-admin", "GET", f"/v1/nodes/{OWNED}").json
    assert node["clean_step"]["args"]["settings"][1] == {"name": "boot", "value": "uefi"}
    assert node["clean_step"]["args"]["image"] == "https://******@192.0.2.7/x?temp_url_sig=******"
    assert node["last_error"] == "The image https://******@192.0.2.7/x?temp_url_sig=****** can't be had"
    assert ask(service, "owner-admin", "GET", f"/v1/nodes/{OWNED}/bios").json["bios"][1]["value"] == "1"


@pytest.mark.parametrize(
    ("token", "sees"),
    [("system-reader", True), ("owner-member", True), ("lessee-admin", True), ("lessee-member", False)],
)
def test_arguments_are_for_those_who_may_give_steps(service: Service, token: str, sees: bool) -> None:
    for path in (
        f"/v1/nodes/{OWNED}",
        "/v1/nodes/detail",
        f"/v1/nodes/{OWNED}?fields=clean_step,deploy_step,service_step",
    ):
        node = ask(service, token, "GET", path).json
        (node,) = [one for one in node.get("nodes", [node]) if one.get("uuid", OWNED) == OWNED]
        for name in ("clean_step", "deploy_step", "service_step"):
            assert node[name]["step"] == "apply_configuration"
            assert (node[name]["args"] != HIDDEN) is sees


def test_who_may_not_give_steps_sees_no_arguments_in_stored_lists(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(keystone.TOKENS, "owner-reader", (("reader",), "owners"))
    info = ask(service, "owner-reader", "GET", f"/v1/nodes/{OWNED}").json["driver_internal_info"]
    assert {name: info[name][0]["args"] for name in LISTS} == dict.fromkeys(LISTS, HIDDEN)
    assert info["clean_steps"][0]["step"] == "apply_configuration"


@pytest.mark.parametrize("field", ["last_error", "reservation"])
@pytest.mark.parametrize(("token", "status"), [("system-reader", 200), ("owner-admin", 403), ("lessee-member", 403)])
def test_a_list_is_not_sorted_by_what_is_hidden_in_it(service: Service, token: str, status: int, field: str) -> None:
    for path in ("/v1/nodes", "/v1/nodes/detail"):
        assert ask(service, token, "GET", f"{path}?sort_key={field}").status == status


def test_answers_that_may_hold_secrets_are_not_kept(service: Service) -> None:
    answer = ask(service, "system-admin", "GET", f"/v1/nodes/{OWNED}/states/console")
    assert (answer.status, answer.headers["Cache-Control"]) == (200, "no-store")
    assert "Authorization" in answer.headers["Vary"] and "ETag" not in answer.headers


def test_lifted_masks_are_not_kept(tmp_path: Path, identity: str, conf: Callable[..., None]) -> None:
    (tmp_path / "policy.yaml").write_text('"show_password": "role:admin and system_scope:all"')
    running = keystone.service(tmp_path, identity, conf)
    for path in (f"/v1/nodes/{OWNED}", "/v1/nodes/detail"):
        assert ask(running, "system-admin", "GET", path).headers["Cache-Control"] == "no-store"
        assert "Cache-Control" not in ask(running, "system-reader", "GET", path).headers
    assert "Cache-Control" not in ask(running, "system-admin", "GET", "/v1/nodes").headers
    running.close()


def looked_up(service: Service, **facts: Any) -> Any:
    node = service.store.nodes.create({"driver": "fake-hardware", "provision_state": states.DEPLOYWAIT, **facts})
    answer = service.call("GET", f"/v1/lookup?node_uuid={node.uuid}")
    assert (answer.status, answer.headers["Cache-Control"]) == (200, "no-store")
    assert CANARY not in answer.body.decode()
    return answer.json["node"]


INSTANCE = {"root_device": {"size": 10}, "image_source": URL, "display_name": "x", "raid_level": f"1 {URL}"}
MEMORY = {
    "deploy_boot_mode": "uefi",
    "deploy_steps": [STEP],
    "rack": 7,
    "bmc_secret": CANARY,
    "agent_erase_skip_read_only": 1,
}


def test_a_ramdisk_is_told_what_agents_read(tmp_path: Path) -> None:
    running = services.start(tmp_path)
    node = looked_up(running, instance_info=INSTANCE, driver_internal_info=MEMORY, properties={"a": URL, "cpus": 2})
    assert node.keys() == {"uuid", "properties", "instance_info", "driver_internal_info", "links"}
    assert node["instance_info"] == {"root_device": {"size": 10}}
    memory = {"deploy_boot_mode": "uefi", "agent_erase_skip_read_only": 1, "agent_secret_token": "******"}
    assert node["driver_internal_info"] == memory
    assert node["properties"] == {"a": "https://******@192.0.2.7/x?temp_url_sig=******", "cpus": 2}
    running.close()


def test_an_operator_adds_keys(tmp_path: Path, conf: Callable[..., None]) -> None:
    added = ["instance_info.raid_level", "driver_internal_info.rack", "driver_internal_info.bmc_secret"]
    conf(agent__extra_lookup_keys=added)
    from ironic.conf import CONF

    running = services.start(tmp_path, ApiSettings(ramdisk=RamdiskSettings.from_conf(CONF)))
    node = looked_up(running, instance_info=INSTANCE, driver_internal_info=MEMORY)
    assert node["instance_info"].keys() == {"root_device", "raid_level"}
    assert (node["driver_internal_info"]["rack"], node["driver_internal_info"]["bmc_secret"]) == (7, "******")
    running.close()


def test_what_rules_did_is_for_readers_of_rules(service: Service) -> None:
    node = service.store.nodes.get(OWNED)
    patch = [{"op": "add", "path": "/extra/a", "value": CANARY}, {"op": "remove", "path": "/extra/b"}]
    judged = {"op": "eq", "args": [CANARY, "x"], "verdict": True, "values": {"a": CANARY}}
    rule = {"uuid": "u", "description": CANARY, "applies": True, "conditions": [judged], "changes": {"node": patch}}
    told = {"rules": [rule], "changes": {"node": patch, "ports": {"p": patch}, "plugin_data": patch}}
    service.store.rule_runs.put_early(node.id, orjson.dumps(EMPTY_RUN).decode())
    service.store.rule_runs.put_later(node.id, orjson.dumps(told).decode())
    path = f"/v1/nodes/{OWNED}/inspection_rules"
    assert CANARY in ask(service, "system-reader", "GET", path).body.decode()
    seen = ask(service, "owner-member", "GET", path)
    assert CANARY not in seen.body.decode()
    assert seen.json["rules"] == [{"uuid": "u", "description": None, "applies": True, "conditions": []}]
    assert [one["path"] for one in seen.json["changes"]["node"]] == ["/extra/a", "/extra/b"]


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("{node.driver_info[snmp_community]}", CANARY),
        ("{node.driver_info[address]}", URL),
        ("{node.driver_info[pairs][0][value]}", CANARY),
    ],
)
def test_a_dry_run_of_rules_compares_what_is_shown(service: Service, value: str, secret: str) -> None:
    node = service.store.nodes.get(OWNED)
    node.inspect_interface = "agent"
    node.driver_info = {**node.driver_info, "pairs": [{"name": "AdminPassword", "value": CANARY}]}
    node.save()
    service.store.inventories.put(node.id, {}, {})
    rule = {
        "conditions": [{"op": "eq", "args": [value, secret]}],
        "actions": [{"op": "set-attribute", "args": ["/extra/found", value]}],
    }
    body = {"node": OWNED, "rules": [rule]}
    answer = ask(service, "system-reader", "POST", "/v1/inspection_rules/evaluate", body)
    assert answer.status == 200, answer.body
    assert [one["applies"] for one in answer.json["rules"]] == [False], answer.body


def test_stored_rules_compare_no_secret_with_what_a_reader_sends(service: Service, conf: Setter) -> None:
    """A rule that may see secrets would otherwise answer guesses."""
    conf(inspection_rules__mask_secrets="sensitive")
    node = service.store.nodes.get(OWNED)
    node.inspect_interface = "agent"
    node.driver_info = {**node.driver_info, "ipmi_password": CANARY}
    node.save()
    condition = {"op": "eq", "args": ["{node.driver_info[ipmi_password]}", "{inventory[guess]}"]}
    service.store.rules.create(
        {"sensitive": True, "conditions": [condition], "actions": [{"op": "log", "args": ["x"]}], "priority": 0}
    )
    body = {"node": OWNED, "inventory": {"guess": CANARY}}
    applies = {}
    for caller in ("system-reader", "system-admin"):
        answer = ask(service, caller, "POST", "/v1/inspection_rules/evaluate", body)
        assert answer.status == 200, answer.body
        applies[caller] = answer.json["rules"][-1]["applies"]
    assert applies == {"system-reader": False, "system-admin": True}
