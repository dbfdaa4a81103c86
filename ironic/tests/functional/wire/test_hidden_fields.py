"""Fields of a node that not everybody who sees the node may see, and masks that a site may lift."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import RedfishError
from ironic.tests.databases import counting_statements
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.keystone import OWNED, ask
from ironic.tests.functional.wire.service import Service

REDACTED = {"redacted_contents": "******"}
MASKED = {"last_error": "******", "reservation": "******", "driver_info": REDACTED, "driver_internal_info": REDACTED}
SHOWN: dict[str, Any] = {
    "last_error": "it broke",
    "reservation": "host-7",
    "driver_info": {"address": "192.0.2.1", "x_password": "******"},
    "driver_internal_info": {"a": 1},
}
STATES = f"/v1/nodes/{OWNED}/states"


@pytest.fixture
def start(tmp_path: Path, identity: str, conf: Callable[..., None]) -> Iterator[Callable[..., Service]]:
    """Return a function that starts the service with lines of an operator's policy file."""
    running: list[Service] = []

    def begin(*rules: str) -> Service:
        (tmp_path / "policy.yaml").write_text("\n".join(rules))
        running.append(keystone.service(tmp_path, identity, conf))
        node = running[0].store.nodes.get(OWNED)
        node.last_error, node.reservation = SHOWN["last_error"], SHOWN["reservation"]
        node.driver_info = {"address": "192.0.2.1", "x_password": "secret"}
        node.driver_internal_info = {"a": 1}
        node.instance_info = {"configdrive": "secret", "image_source": "x"}
        node.save()
        return running[0]

    yield begin
    for one in running:
        one.close()


def seen(document: dict[str, Any]) -> dict[str, Any]:
    return {name: document[name] for name in SHOWN}


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("system-reader", SHOWN),
        ("owner-member", SHOWN),
        ("owner-admin", SHOWN),
        ("lessee-member", MASKED),
        ("lessee-admin", MASKED),
    ],
)
def test_who_only_leases_a_node_does_not_see_how_it_is_run(
    start: Callable[..., Service], token: str, expected: dict[str, Any]
) -> None:
    service = start()
    assert seen(ask(service, token, "GET", f"/v1/nodes/{OWNED}").json) == expected
    for path in ("/v1/nodes/detail", "/v1/nodes?detail=true", f"/v1/nodes?fields={','.join(SHOWN)}"):
        (node,) = (one for one in ask(service, token, "GET", path).json["nodes"] if OWNED in one["links"][0]["href"])
        assert seen(node) == expected
    assert ask(service, token, "GET", STATES).json["last_error"] == expected["last_error"]
    # The columns that decide are not shown unless they were asked for.
    assert ask(service, token, "GET", f"/v1/nodes/{OWNED}?fields=reservation").json.keys() == {"reservation", "links"}


@pytest.mark.parametrize(("fault", "expected"), [("clean failure", "******"), (None, "it broke")])
def test_why_the_service_has_set_maintenance_is_hidden_like_the_error_that_it_repeats(
    start: Callable[..., Service], fault: str | None, expected: str
) -> None:
    service = start()
    node = service.store.nodes.get(OWNED)
    node.maintenance, node.maintenance_reason, node.fault = True, "it broke", fault
    node.save()
    for path in (f"/v1/nodes/{OWNED}", "/v1/nodes/detail", f"/v1/nodes/{OWNED}?fields=maintenance_reason"):
        for token, seen in (("lessee-admin", expected), ("owner-member", "it broke"), ("system-reader", "it broke")):
            node = ask(service, token, "GET", path).json
            (node,) = (one for one in node.get("nodes", [node]) if one.get("uuid", OWNED) == OWNED)
            assert node["maintenance_reason"] == seen
            assert "fields" not in path or node.keys() == {"maintenance_reason", "links"}


BMC = {"acme_url": "https://bmc-7.example.org:8443/redfish", "ipmi_address": "192.0.2.77", "ipmi_hostname": "bmc-7"}
TOLD = "The BMC at https://bmc-7.example.org:8443/redfish can't be reached: bmc-7.example.org:8443, 192.0.2.77, bmc-7"
UNTOLD = "The BMC at ****** can't be reached: ******:8443, ******, ******"


@pytest.mark.parametrize(("token", "text"), [("lessee-admin", UNTOLD), ("owner-member", TOLD), ("system-member", TOLD)])
def test_an_error_shows_the_address_of_a_bmc_to_who_sees_it_in_driver_info(
    start: Callable[..., Service], token: str, text: str
) -> None:
    service = start()
    node = service.store.nodes.get(OWNED)
    node.driver_info, node.reservation = BMC, None
    node.save()
    reasons = {"power": {"result": False, "reason": TOLD}, "boot": {"result": True}}
    service.conductor.answers |= {
        "get_virtual_media": RedfishError(TOLD, node=OWNED),
        "change_provision_state": InvalidParameterValue(err=TOLD),
        "validate_interfaces": reasons,
    }
    failed = ask(service, token, "GET", f"/v1/nodes/{OWNED}/vmedia")
    refused = ask(service, token, "PUT", f"/v1/nodes/{OWNED}/states/provision", {"target": "provide"})
    assert (failed.status, refused.status) == (502, 400)
    for answer in (failed, refused):
        assert json.loads(answer.json["error_message"])["faultstring"] == text
    for path in (f"/v1/nodes/{OWNED}/validate", f"/v1/nodes/validate?node={OWNED}"):
        assert ask(service, token, "GET", path).json == {**reasons, "power": {"result": False, "reason": text}}
    service.conductor.answers["validate_interfaces"] = RedfishError(TOLD, node=OWNED)
    answer = ask(service, token, "GET", f"/v1/nodes/validate?node={OWNED}")
    assert json.loads(answer.json["error_message"])["faultstring"] == text


def test_what_a_change_answers_hides_the_same(start: Callable[..., Service]) -> None:
    service = start()
    node = service.store.nodes.get(OWNED)
    node.reservation = None
    node.save()
    answer = ask(
        service, "lessee-member", "PATCH", f"/v1/nodes/{OWNED}", [{"op": "add", "path": "/extra/a", "value": 1}]
    )
    assert (answer.status, seen(answer.json)) == (200, MASKED)
    # What was hidden was not changed by it.
    assert service.store.nodes.get(OWNED).driver_info == {"address": "192.0.2.1", "x_password": "secret"}


def test_fields_of_a_list_are_judged_node_by_node(start: Callable[..., Service]) -> None:
    service = start()
    common = {"driver": "fake-hardware", "provision_state": "enroll", "last_error": "it broke"}
    service.store.nodes.create(common | {"name": "rented out", "owner": "lessees"})
    nodes = ask(service, "lessee-member", "GET", "/v1/nodes?fields=name,last_error").json["nodes"]
    assert {node["name"]: node["last_error"] for node in nodes} == {"owned": "******", "rented out": "it broke"}


def test_a_site_may_decide_otherwise(start: Callable[..., Service]) -> None:
    service = start('"baremetal:node:get:last_error": "role:member"')
    assert seen(ask(service, "lessee-member", "GET", f"/v1/nodes/{OWNED}").json) == MASKED | {"last_error": "it broke"}


def test_masks_of_secrets_can_be_lifted_one_by_one(start: Callable[..., Service]) -> None:
    service = start('"show_password": "role:admin and system_scope:all"')
    admin = ask(service, "system-admin", "GET", f"/v1/nodes/{OWNED}").json
    assert admin["driver_info"]["x_password"] == "secret"
    assert admin["instance_info"]["configdrive"] == "******"
    (listed,) = (
        one for one in ask(service, "system-admin", "GET", "/v1/nodes/detail").json["nodes"] if one["uuid"] == OWNED
    )
    assert listed["driver_info"] == admin["driver_info"]
    reader = ask(service, "system-reader", "GET", f"/v1/nodes/{OWNED}").json
    assert reader["driver_info"]["x_password"] == "******"


@pytest.mark.parametrize("token", ["system-reader", "owner-member", "lessee-member"])
def test_a_longer_page_needs_no_more_decisions(
    start: Callable[..., Service], token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, asked = start(), keystone.evaluated(monkeypatch)
    ask(service, token, "GET", "/v1/nodes/detail")
    few, asked[:] = list(asked), []
    for number in range(20):
        known = {"driver": "fake-hardware", "provision_state": "enroll", "owner": "owners", "lessee": "lessees"}
        service.store.nodes.create(known | {"name": f"more{number}"})
    assert len(ask(service, token, "GET", "/v1/nodes/detail").json["nodes"]) > 20
    assert asked == few
    assert token != "system-reader" or "baremetal:node:get:last_error" not in asked


def test_nothing_is_decided_where_everything_is_allowed(tmp_path: Path) -> None:
    running = services.start(tmp_path)
    running.store.nodes.create({"driver": "fake-hardware", "provision_state": "enroll", "last_error": "it broke"})
    with counting_statements(running.store) as seen:
        (node,) = running.call("GET", "/v1/nodes?fields=last_error").json["nodes"]
    assert node["last_error"] == "it broke"
    assert not any("lessee" in text or "owner" in text for text in seen.texts)
    running.close()
