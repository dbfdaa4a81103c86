"""Stored secrets of a BMC, which are never shown, are not sent to where a project likes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.secrets.masking import REPLACEMENT
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.keystone import OWNED, ask
from ironic.tests.functional.wire.service import Response, Service

STORED = {
    "redfish_address": "https://10.0.0.1",
    "redfish_username": "root",
    "redfish_password": "old",
    "redfish_verify_ca": True,
    "ipmi_address": "10.0.0.1",
    "ipmi_password": "old",
    "acme_address": "10.0.0.1",
    "acme_token": "old",
    "cleaning": "as usual",
}
ELSEWHERE = "https://192.0.2.1"
PATH = f"/v1/nodes/{OWNED}"


@pytest.fixture
def service(tmp_path: Path, conf: Callable[..., None]) -> Iterator[Service]:
    with keystone.playing() as url:
        running = keystone.service(tmp_path, url, conf)
        running.store.nodes.update(OWNED, {"driver_info": dict(STORED)})
        yield running
        running.close()


def op(op: str, key: str, *value: Any) -> dict[str, Any]:
    return {"op": op, "path": f"/driver_info{key}"} | ({"value": value[0]} if value else {})


def patch(service: Service, token: str, *changes: dict[str, Any]) -> Response:
    return ask(service, token, "PATCH", PATH, list(changes))


def stored(service: Service) -> dict[str, Any]:
    found: dict[str, Any] = service.store.nodes.get(OWNED).driver_info
    return found


ATTACKS: dict[str, list[dict[str, Any]]] = {
    "another address": [op("replace", "/redfish_address", ELSEWHERE)],
    "no address, so that a default counts": [op("remove", "/redfish_address")],
    "another scheme": [op("replace", "/redfish_address", "http://10.0.0.1")],
    "another machine behind the address": [op("add", "/redfish_system_id", "/redfish/v1/Systems/2")],
    "unchecked certificates": [op("replace", "/redfish_verify_ca", False)],
    "the default of checking": [op("remove", "/redfish_verify_ca")],
    "another port": [op("add", "/ipmi_port", 6623)],
    "through another BMC": [op("add", "/ipmi_bridging", "single"), op("add", "/ipmi_target_address", "0x20")],
    "an older protocol": [op("add", "/ipmi_protocol_version", "1.5")],
    "a driver of a third party": [op("replace", "/acme_address", ELSEWHERE)],
    "a mask as secret": [op("replace", "/redfish_address", ELSEWHERE), op("add", "/redfish_password", REPLACEMENT)],
    "all of it with masks": [
        op(
            "replace",
            "",
            STORED
            | {"redfish_address": ELSEWHERE}
            | dict.fromkeys(("redfish_password", "ipmi_password", "acme_token"), REPLACEMENT),
        )
    ],
    "the secret of another prefix": [op("replace", "/redfish_address", ELSEWHERE), op("add", "/ipmi_password", "x")],
    "the secret taken back": [
        op("replace", "/redfish_address", ELSEWHERE),
        op("add", "/redfish_password", "mine"),
        op("add", "/redfish_password", REPLACEMENT),
    ],
    "something before all addresses": [op("add", "/address", ELSEWHERE)],
}


@pytest.mark.parametrize("token", ["owner-member", "owner-admin", "owner-service"])
@pytest.mark.parametrize("changes", ATTACKS.values(), ids=ATTACKS)
def test_a_project_brings_the_secret_along_or_gets_a_400(
    service: Service, token: str, changes: list[dict[str, Any]]
) -> None:
    answer = patch(service, token, *changes)
    assert answer.status == 400
    assert b"in the same patch" in answer.body
    assert b"old" not in answer.body
    assert stored(service) == STORED


@pytest.mark.parametrize("op", ["copy", "move", "test"])
def test_a_patch_neither_copies_nor_compares_what_is_masked(service: Service, op: str) -> None:
    change = {"op": op, "from": "/driver_info/redfish_password", "path": "/extra/x", "value": "old"}
    assert ask(service, "owner-admin", "PATCH", PATH, [change]).status == 400
    assert service.store.nodes.get(OWNED).extra == {}


def test_in_two_steps_it_is_not_had_either(service: Service) -> None:
    assert patch(service, "owner-member", op("remove", "/redfish_password")).status == 200
    assert patch(service, "owner-member", op("replace", "/redfish_address", ELSEWHERE)).status == 200
    assert "redfish_password" not in stored(service)


def test_with_its_secret_an_address_is_changed(service: Service) -> None:
    changes = [op("replace", "/redfish_address", ELSEWHERE), op("add", "/redfish_password", "old")]
    assert patch(service, "owner-member", *changes).status == 200
    assert stored(service) == STORED | {"redfish_address": ELSEWHERE}


@pytest.mark.parametrize("key", ["/redfish_username", "/redfish_auth_type", "/deploy_kernel", "/cleaning"])
def test_what_leads_nowhere_else_is_changed_as_ever(service: Service, key: str) -> None:
    value = "http://images/kernel" if "kernel" in key else "session"
    assert patch(service, "owner-member", op("add", key, value)).status == 200


@pytest.mark.parametrize("token", ["system-admin", "system-service"])
@pytest.mark.parametrize("name", [name for name in ATTACKS if "mask" not in name and "taken" not in name])
def test_who_stands_above_the_projects_changes_addresses_alone(service: Service, token: str, name: str) -> None:
    assert patch(service, token, *ATTACKS[name]).status == 200


@pytest.mark.parametrize("token", ["system-admin", "owner-member"])
def test_a_mask_that_is_sent_back_stands_for_what_it_hides(service: Service, token: str) -> None:
    shown = ask(service, token, "GET", PATH).json["driver_info"]
    assert shown["redfish_password"] == REPLACEMENT
    assert patch(service, token, op("replace", "", shown | {"redfish_username": "admin"})).status == 200
    assert stored(service) == STORED | {"redfish_username": "admin"}


def test_a_mask_that_hides_nothing_is_refused(service: Service) -> None:
    answer = patch(service, "system-admin", op("add", "/snmp_auth_key", REPLACEMENT))
    assert answer.status == 400
    body = {"driver": "fake-hardware", "driver_info": {"redfish_password": REPLACEMENT}}
    assert ask(service, "system-admin", "POST", "/v1/nodes", body).status == 400


def test_the_portal_of_a_volume_takes_its_secret_along_only_with_it(service: Service) -> None:
    node = service.store.nodes.get(OWNED)
    service.store.nodes.update(OWNED, {"power_state": "power off"})
    kept = {"target_portal": "10.0.0.9:3260", "auth_username": "u", "auth_password": "old"}
    values = {"volume_type": "iscsi", "volume_id": "v", "boot_index": 0, "properties": kept}
    target = service.store.volume_targets.create({"node_id": node.id, **values}).uuid
    portal = {"op": "replace", "path": "/properties/target_portal", "value": "192.0.2.1:3260"}
    secret = {"op": "replace", "path": "/properties/auth_password", "value": "old"}
    path = f"/v1/volume/targets/{target}"
    assert ask(service, "lessee-admin", "PATCH", path, [portal]).status == 400
    assert service.store.volume_targets.get(target).properties == kept
    assert ask(service, "lessee-admin", "PATCH", path, [portal, secret]).status == 200
    assert ask(service, "system-admin", "PATCH", path, [portal]).status == 200
