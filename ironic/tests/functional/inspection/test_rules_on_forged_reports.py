"""A machine that lies in its report gains no right, no place and no password, whatever rules make of the report."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ironic.core.addresses.bmc_hosts import BY_PROJECT, UNKNOWN
from ironic.core.flows import states
from ironic.tests.functional.inspection.whole import Whole, whole
from ironic.tests.unit.inspection.lab import MAC, inventory

FORGED = {"manufacturer": "Acme", "serial_number": "forged"}
REFUSED = "can't be set to what a machine reported"
ADDRESS = "/driver_info/redfish_address"


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Whole]:
    with whole(tmp_path) as made:
        yield made


def act(op: str, *args: Any, **rest: Any) -> dict[str, Any]:
    return {"op": op, "args": list(args), **rest}


def posted(running: Whole, *actions: dict[str, Any], **fields: Any) -> str:
    answer = running.api.call("POST", "/v1/inspection_rules", body={"actions": list(actions), **fields})
    assert answer.status == 201, answer.body
    return str(answer.json["uuid"])


def inspected(running: Whole, uuid: str | None = None, **report: Any) -> str:
    """Have a machine report; return the node's UUID."""
    uuid = uuid or running.node(MAC)
    running.post({"inventory": inventory(MAC, system_vendor=FORGED, **report)})
    return uuid


SERIAL = "{inventory[system_vendor][serial_number]}"
COPIES = {
    "{node.extra[copy]}": act("set-attribute", "/extra/copy", SERIAL),
    "{plugin_data[copy]}": act("set-plugin-data", "/copy", SERIAL),
}


@pytest.mark.parametrize("field", ["owner", "lessee", "conductor_group", "protected"])
def test_a_rule_that_lets_a_machine_choose_whose_it_is_is_refused_when_posted(running: Whole, field: str) -> None:
    answer = running.api.call(
        "POST", "/v1/inspection_rules", body={"actions": [act("set-attribute", f"/{field}", SERIAL)]}
    )
    assert answer.status == 400
    assert f"actions[0] (set-attribute) can never work: /{field} can't be set to what a machine" in answer.body.decode()


@pytest.mark.parametrize("field", ["owner", "lessee", "conductor_group", "protected"])
@pytest.mark.parametrize("value", COPIES)
def test_a_machine_does_not_choose_whose_it_is(running: Whole, field: str, value: str) -> None:
    posted(running, COPIES[value], phase="preprocess")
    rule = posted(running, act("set-attribute", f"/{field}", value), description="tenant by label")
    uuid = inspected(running)
    row = running.bench.row(uuid)
    assert (row.provision_state, row.owner, row.lessee, row.conductor_group) == (states.INSPECTFAIL, None, None, "")
    assert f"Inspection rule {rule} (tenant by label) failed on node {uuid}: phase main, actions[0]: /{field}" in str(
        row.last_error
    )
    told = running.api.call("GET", f"/v1/nodes/{uuid}/inspection_rules").json["rules"][-1]
    assert REFUSED in told["error"]


def test_a_dry_run_refuses_what_a_real_run_does(running: Whole) -> None:
    uuid = inspected(running)
    rules = [{"actions": [act("set-attribute", "/owner", "{inventory[system_vendor][serial_number]}")]}]
    for body in ({"node": uuid}, {"inventory": {"system_vendor": FORGED}}):
        answer = running.api.call("POST", "/v1/inspection_rules/evaluate", body={"rules": rules, **body})
        assert REFUSED in answer.json["rules"][0]["error"]


def test_a_built_in_rule_is_no_exception(tmp_path: Path) -> None:
    rule = {"actions": [act("set-attribute", "/owner", "{inventory[system_vendor][serial_number]}")]}
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump([rule]))
    with whole(tmp_path, inspection_rules__built_in=str(tmp_path / "rules.yaml")) as running:
        uuid = inspected(running)
        assert running.bench.row(uuid).owner is None
        assert REFUSED in str(running.error(uuid))


@pytest.mark.demand("S149")
def test_rules_write_owner_and_place_in_their_own_words(running: Whole) -> None:
    chassis = running.api.call("POST", "/v1/chassis", body={}).json["uuid"]
    parent = running.node("52:54:00:00:00:99", owner="p1", name="enclosure")
    posted(
        running,
        act("set-attribute", "/owner", "p1"),
        act("set-attribute", "/lessee", "{node.owner}"),
        act("set-attribute", "/chassis_uuid", chassis),
        act("set-attribute", "/parent_node", "enclosure"),
        act("set-attribute", "/protected", False),
    )
    uuid = inspected(running)
    assert running.error(uuid) is None
    shown = running.api.call("GET", f"/v1/nodes/{uuid}", version="1.95").json
    found = {name: shown[name] for name in ("owner", "lessee", "chassis_uuid", "parent_node", "protected")}
    assert found == {
        "owner": "p1",
        "lessee": "p1",
        "chassis_uuid": chassis,
        "parent_node": parent,
        "protected": False,
    }


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("/chassis_uuid", "11111111-1111-4111-8111-111111111111", "no chassis 11111111"),
        ("/parent_node", "nothing-here", "parent_node names no node"),
        ("/parent_node", "enclosure", "parent_node belongs to another owner"),
        ("/protected", True, "only active and rescued nodes can be protected"),
        ("/protected_reason", "mine", "protected_reason needs protected"),
    ],
)
def test_what_patch_refuses_of_them_fails_a_rule(running: Whole, path: str, value: Any, reason: str) -> None:
    running.node("52:54:00:00:00:99", owner="p1", name="enclosure")
    posted(running, act("set-attribute", path, value))
    assert reason in str(running.error(inspected(running)))


def discovering(**more: Any) -> list[dict[str, Any]]:
    """Return the actions of the guide's first example, with a hardware type that is served here."""
    return [
        act("set-attribute", "/driver", "fake-hardware"),
        act("set-attribute", ADDRESS, "https://{plugin_data[bmc_address]}"),
        act("set-attribute", "/driver_info/redfish_username", "admin"),
        *(act("set-attribute", f"/driver_info/{name}", value) for name, value in more.items()),
    ]


@pytest.mark.demand("S171")
def test_a_discovered_machine_gets_its_bmc_address_and_the_rule_s_password(running: Whole) -> None:
    posted(running, *discovering(redfish_password="pa$$w0rd"), sensitive=True)
    uuid = inspected(running, bmc_address="192.0.2.20")
    assert running.error(uuid) is None
    expected = {"redfish_address": "https://192.0.2.20", "redfish_username": "admin", "redfish_password": "pa$$w0rd"}
    assert running.bench.row(uuid).driver_info == expected
    # Inspected again, and its BMC has moved: the rule brings the password along.
    again = running.bench.row(uuid)
    running.store.nodes.delete(again.uuid)
    uuid = running.node(MAC, driver_info=expected)
    inspected(running, uuid, bmc_address="192.0.2.21")
    assert running.bench.row(uuid).driver_info == expected | {"redfish_address": "https://192.0.2.21"}


def test_a_forged_bmc_address_gets_no_stored_password(running: Whole) -> None:
    stored = {"redfish_address": "https://192.0.2.20", "redfish_username": "admin", "redfish_password": "hunter2"}
    rule = posted(running, *discovering())
    uuid = running.node(MAC, driver_info=stored)
    inspected(running, uuid, bmc_address="192.0.2.66")
    assert running.bench.row(uuid).driver_info == stored
    error = str(running.error(uuid))
    assert f"Inspection rule {rule} failed on node {uuid}: phase main, actions[2]" in error
    assert "the stored redfish_password" in error
    assert "hunter2" not in error
    told = running.api.call("GET", f"/v1/nodes/{uuid}/inspection_rules").json["rules"][-1]
    assert "to another address" in told["error"]


def test_the_address_that_is_stored_may_be_reported_again(running: Whole) -> None:
    stored = {"redfish_address": "https://192.0.2.20", "redfish_username": "admin", "redfish_password": "hunter2"}
    posted(running, *discovering())
    uuid = running.node(MAC, driver_info=stored)
    inspected(running, uuid, bmc_address="192.0.2.20")
    assert running.error(uuid) is None


@pytest.mark.parametrize(
    "condition",
    [
        {"op": "one-of", "args": ["{inventory[x]}", list(range(2000))]},
        {"op": "eq", "args": ["{inventory[x]}", 1]},
        {"op": "!contains", "args": ["y", "{item}"], "loop": "{inventory[patterns]}", "multiple": "all"},
        {"op": "matches", "args": ["{inventory[x]}", r"\s*[ab]{500}\s*[ab]*"]},
    ],
    ids=["numbers", "one number", "patterns", "one pattern"],
)
def test_a_megabyte_of_blanks_holds_no_thread(running: Whole, condition: dict[str, Any]) -> None:
    posted(running, act("log", "done"), conditions=[condition])
    patterns = [rf"(\pL{{9}}\PN{{9}}){{{number % 100}}}x{number}" for number in range(3000)]
    began = time.process_time()
    uuid = inspected(running, x=" " * 1_000_000, patterns=patterns)
    assert time.process_time() - began < 20
    assert running.state(uuid) in (states.MANAGEABLE, states.INSPECTFAIL)
    if (error := running.error(uuid)) is not None:
        assert f"on node {uuid}: phase main, conditions[0]" in error
        assert "steps that one comparison may take" in error or "steps that all of them may take together" in error


def note(running: Whole, uuid: str) -> bool | None:
    noted = running.bench.row(uuid).driver_internal_info.get(BY_PROJECT.name)
    return None if noted is None else bool(noted)


@pytest.mark.parametrize(
    ("reported", "expected"),
    [("127.0.0.1", True), ("[::1]", True), ("localhost", True), ("bmc.example", True), ("192.0.2.20", None)],
)
def test_a_reported_bmc_address_reaches_no_loopback(running: Whole, reported: str, expected: bool | None) -> None:
    posted(running, act("set-attribute", ADDRESS, "https://{inventory[bmc]}"))
    uuid = inspected(running, bmc=reported)
    assert running.error(uuid) is None
    assert note(running, uuid) is expected
    # An operator takes it over, also where there are no projects.
    body = [{"op": "replace", "path": ADDRESS, "value": f"https://{reported}"}]
    assert running.api.call("PATCH", f"/v1/nodes/{uuid}", body=body).status == 200
    assert note(running, uuid) is (False if expected else None)


def test_the_address_that_a_rule_writes_itself_is_an_operator_s(running: Whole) -> None:
    posted(running, act("set-attribute", ADDRESS, "https://localhost:8000"))
    posted(running, act("set-attribute", "/driver_info/redfish_system_id", SERIAL))
    stored = {"redfish_address": "https://evil.example"}
    uuid = running.node(MAC, driver_info=stored, driver_internal_info={BY_PROJECT.name: True})
    inspected(running, uuid)
    assert (running.error(uuid), note(running, uuid)) == (None, False)


def test_a_rule_s_own_address_is_not_that_of_another_key(running: Whole) -> None:
    posted(running, act("set-attribute", "/driver_info/rack_address", "10.0.0.9"))
    noted = {BY_PROJECT.name: ["redfish_address"]}
    uuid = running.node(MAC, driver_info={"redfish_address": "https://evil.example"}, driver_internal_info=noted)
    inspected(running, uuid)
    assert running.error(uuid) is None
    assert running.bench.row(uuid).driver_internal_info[BY_PROJECT.name] == ["redfish_address"]


def test_a_reported_address_does_not_say_who_chose_another_one(running: Whole) -> None:
    posted(running, act("set-attribute", ADDRESS, "https://{inventory[bmc]}"))
    uuid = running.node(MAC, driver_info={"ipmi_address": "bmc.example"})
    inspected(running, uuid, bmc="localhost")
    assert running.error(uuid) is None
    internal = running.bench.row(uuid).driver_internal_info
    assert (internal[BY_PROJECT.name], internal[UNKNOWN.name]) == (["redfish_address"], ["ipmi_address"])


def test_an_address_from_an_earlier_phase_stays_reported(running: Whole) -> None:
    posted(running, act("set-plugin-data", "/bmc", "{inventory[bmc]}"), phase="preprocess")
    posted(running, act("set-attribute", ADDRESS, "https://{plugin_data[bmc]}"))
    assert note(running, inspected(running, bmc="127.0.0.1")) is True


def test_a_rule_of_the_older_dialect_chooses_no_loopback_either(running: Whole) -> None:
    action = {"action": "set-attribute", "path": ADDRESS, "value": "https://{data[inventory][bmc]}"}
    answer = running.inspector.call("POST", "/v1/rules", body={"actions": [action], "conditions": []})
    assert answer.status == 201, answer.body
    uuid = inspected(running, bmc="127.0.0.1")
    assert (running.error(uuid), note(running, uuid)) == (None, True)


WITH_SHARE = {"redfish_address": "https://192.0.2.20", "vmedia_transport_protocol": "CIFS"}


@pytest.mark.parametrize(
    ("stored", "path", "reason"),
    [
        (WITH_SHARE, ADDRESS, "its login for the share"),
        ({}, "/driver_info/vmedia_transport_protocol", "its login for the share"),
        ({}, "/driver_info/redfish_verify_ca", "must be true or false"),
        ({}, "/driver_info/ipmi_terminal_port", "a port on the hosts of the service"),
        ({}, "/driver_info/kernel_append_params", "parameters of the agent"),
        ({}, "/instance_info/ramdisk_kernel_arguments", "parameters of the agent"),
    ],
)
def test_a_machine_chooses_nothing_that_a_project_may_not(
    running: Whole, stored: dict[str, Any], path: str, reason: str
) -> None:
    if not stored:
        posted(running, act("set-attribute", ADDRESS, "https://192.0.2.20"))
    posted(running, act("set-attribute", path, "{inventory[word]}"))
    uuid = running.node(MAC, driver_info=stored)
    word = {"vmedia_transport_protocol": "CIFS", "redfish_verify_ca": "/etc/ssl/one.pem", "ipmi_terminal_port": "6385"}
    word |= dict.fromkeys(("kernel_append_params", "ramdisk_kernel_arguments"), "ipa-insecure=1")
    inspected(running, uuid, word=word.get(path.rpartition("/")[2], "https://192.0.2.66"))
    assert reason in str(running.error(uuid))
    assert running.bench.row(uuid).driver_info == stored


def test_a_rule_may_name_the_share_itself(running: Whole) -> None:
    posted(
        running,
        act("set-attribute", ADDRESS, "https://{inventory[bmc]}"),
        act("set-attribute", "/driver_info/vmedia_transport_protocol", "CIFS"),
    )
    assert running.error(inspected(running, bmc="192.0.2.20")) is None


def test_a_machine_chooses_no_interface_of_its_instance(running: Whole) -> None:
    posted(running, COPIES["{plugin_data[copy]}"], phase="preprocess")
    posted(running, act("set-attribute", "/instance_info/deploy_interface", "{plugin_data[copy]}"))
    assert REFUSED in str(running.error(inspected(running)))
