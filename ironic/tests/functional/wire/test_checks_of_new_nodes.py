"""A new node is checked as a patched one is, and notes whether a project chose the address of its BMC."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.addresses.bmc_hosts import BY_PROJECT, UNKNOWN
from ironic.db import online_migrations
from ironic.drivers.modules.ipmi import bmc_access as ipmi_access
from ironic.drivers.modules.redfish.wire import bmc_access as redfish_access
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.keystone import OWNED, ask
from ironic.tests.functional.wire.service import Service

ADDRESS = {"redfish_address": "https://10.0.0.1"}


@pytest.fixture
def service(tmp_path: Path, identity: str, conf: Callable[..., None]) -> Iterator[Service]:
    running = keystone.service(tmp_path, identity, conf)
    yield running
    running.close()


def created(service: Service, token: str = "system-admin", **values: Any) -> Any:
    return ask(service, token, "POST", "/v1/nodes", {"driver": "fake-hardware", **values})


@pytest.mark.parametrize(
    "values",
    [
        {"boot_mode": "efi"},
        {"boot_mode": "UEFI"},
        {"boot_mode": ""},
        {"instance_info": {"deploy_interface": "no-such"}},
        {"instance_info": {"deploy_interface": 1}},
        {"retired_reason": "old"},
        {"retired": False, "retired_reason": "old"},
    ],
)
def test_what_a_patch_refuses_is_refused(service: Service, values: dict[str, Any]) -> None:
    assert created(service, **values).status == 400


@pytest.mark.parametrize("mode", ["bios", "uefi", None])
def test_a_boot_mode_is_taken(service: Service, mode: str | None) -> None:
    answer = created(service, boot_mode=mode)
    assert (answer.status, answer.json["boot_mode"]) == (201, mode)


def test_the_name_of_the_instance_is_set(service: Service) -> None:
    assert created(service, instance_info={"display_name": "web"}).json["instance_name"] == "web"


def chosen_by_project(service: Service, uuid: str) -> bool:
    return bool(service.store.nodes.get(uuid).driver_internal_info.get(BY_PROJECT.name))


def test_who_chose_the_address_of_a_new_node_is_noted(service: Service) -> None:
    new = created(service, "owner-admin", driver_info=ADDRESS)
    assert new.status == 201, new.body
    assert chosen_by_project(service, new.json["uuid"])
    assert not chosen_by_project(service, created(service, driver_info=ADDRESS).json["uuid"])


def test_who_chose_an_address_last_is_noted(service: Service) -> None:
    service.store.nodes.update(OWNED, {"driver_info": ADDRESS, "driver_internal_info": {"kept": 1}})
    noted = []
    for token, key, value in (
        ("owner-member", "deploy_kernel", "http://images/k"),
        ("owner-member", "redfish_address", "https://localhost"),
        ("system-admin", "deploy_kernel", "http://images/l"),
        # An operator who changes something else has not looked at the address.
        ("system-admin", "redfish_verify_ca", False),
        ("system-admin", "redfish_address", "https://localhost"),
        ("system-admin", "redfish_verify_ca", True),
    ):
        change = {"op": "add", "path": f"/driver_info/{key}", "value": value}
        assert ask(service, token, "PATCH", f"/v1/nodes/{OWNED}", [change]).status == 200
        noted.append(chosen_by_project(service, OWNED))
    assert noted == [False, True, True, True, False, False]
    assert service.store.nodes.get(OWNED).driver_internal_info["kept"] == 1


LOOPBACK = "http://127.0.0.1:9000"


def patched(service: Service, token: str, *changes: tuple[str, str, Any]) -> None:
    body = [
        {"op": op, "path": f"/driver_info{path}", **({} if op == "remove" else {"value": value})}
        for op, path, value in changes
    ]
    answer = ask(service, token, "PATCH", f"/v1/nodes/{OWNED}", body)
    assert answer.status == 200, answer.body


def keys_of_project(service: Service) -> Any:
    return service.store.nodes.get(OWNED).driver_internal_info.get(BY_PROJECT.name)


@pytest.mark.parametrize(
    "other", ["rack_address", "ipmi_address", "acme_address", "redfish_backup_address", "rack_pdu_address"]
)
def test_another_address_of_an_operator_is_not_the_one_that_a_project_chose(service: Service, other: str) -> None:
    patched(service, "owner-member", ("add", "/redfish_address", LOOPBACK))
    patched(service, "system-admin", ("add", f"/{other}", "10.0.0.9"))
    assert keys_of_project(service) == ["redfish_address"]
    node = service.store.nodes.get(OWNED)
    assert redfish_access.access_of(node).by_project
    patched(service, "system-admin", ("add", "/redfish_address", LOOPBACK))
    assert keys_of_project(service) is False
    assert not redfish_access.access_of(service.store.nodes.get(OWNED)).by_project


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("redfish_verify_ca", False),
        ("redfish_system_id", "/redfish/v1/Systems/2"),
        ("ipmi_bridging", "single"),
        ("ipmi_port", 6230),
        ("acme_host", "web"),
    ],
)
def test_what_leads_to_a_bmc_stays_a_project_s_until_an_operator_writes_that(
    service: Service, key: str, value: Any
) -> None:
    service.store.nodes.update(OWNED, {"driver_info": ADDRESS})
    patched(service, "owner-member", ("add", f"/{key}", value))
    patched(service, "system-admin", ("replace", "/redfish_address", "https://10.0.0.2"))
    assert keys_of_project(service) == [key]
    patched(service, "system-admin", ("replace", f"/{key}", value))
    assert keys_of_project(service) is None


def test_a_key_that_is_removed_is_nobody_s(service: Service) -> None:
    patched(service, "owner-member", ("add", "/redfish_address", LOOPBACK), ("add", "/ipmi_address", "10.0.0.3"))
    assert keys_of_project(service) == ["ipmi_address", "redfish_address"]
    patched(service, "system-admin", ("remove", "/redfish_address", None))
    assert keys_of_project(service) == ["ipmi_address"]
    patched(service, "system-admin", ("add", "/redfish_address", LOOPBACK))
    assert not redfish_access.access_of(service.store.nodes.get(OWNED)).by_project
    patched(service, "system-admin", ("add", "", {"ipmi_address": "10.0.0.3"}))
    assert keys_of_project(service) is None


def test_the_note_of_an_older_release_is_for_all_keys(service: Service) -> None:
    info = {"redfish_address": LOOPBACK, "ipmi_address": "10.0.0.3", "note": "x"}
    service.store.nodes.update(OWNED, {"driver_info": info, "driver_internal_info": {BY_PROJECT.name: True}})
    assert redfish_access.access_of(service.store.nodes.get(OWNED)).by_project
    patched(service, "system-admin", ("replace", "/ipmi_address", "10.0.0.4"))
    assert keys_of_project(service) == ["redfish_address"]
    patched(service, "system-admin", ("replace", "/redfish_address", LOOPBACK))
    assert keys_of_project(service) is False


def test_an_unknown_chooser_is_the_project_that_leads_elsewhere(service: Service) -> None:
    service.store.nodes.update(OWNED, {"driver_info": {"redfish_address": LOOPBACK}, "driver_internal_info": {}})
    patched(service, "owner-member", ("add", "/redfish_verify_ca", False))
    assert keys_of_project(service) == ["redfish_address", "redfish_verify_ca"]


def test_an_operator_takes_an_address_over_by_writing_it_again(service: Service) -> None:
    whole = {"redfish_address": "https://bmc.example.com", "redfish_username": "u"}
    for path, value in (("/driver_info/redfish_address", whole["redfish_address"]), ("/driver_info", whole)):
        service.store.nodes.update(OWNED, {"driver_info": whole, "driver_internal_info": {BY_PROJECT.name: True}})
        change = {"op": "replace", "path": path, "value": value}
        assert ask(service, "owner-member", "PATCH", f"/v1/nodes/{OWNED}", [change]).status == 200
        assert chosen_by_project(service, OWNED)
        assert ask(service, "system-admin", "PATCH", f"/v1/nodes/{OWNED}", [change]).status == 200
        assert not chosen_by_project(service, OWNED)


def test_addresses_from_before_notes_count_as_chosen_by_the_owner(service: Service, conf: Callable[..., None]) -> None:
    """Where they may lead to the loopback; those that operators write meanwhile are noted as theirs."""
    conf(auth_strategy="keystone")
    nodes = service.store.nodes
    addresses = ["bmc.example.com", "127.0.0.1", "[::ffff:127.0.0.1]", "10.0.0.1"]
    old = [
        nodes.create(
            {"driver": "redfish", "owner": owner, "driver_info": {"redfish_address": one}, "reservation": holder}
        ).uuid
        for owner, holder in (("owners", None), (None, None), ("owners", "conductor"))
        for one in addresses
    ]
    new = created(service, owner="owners", driver_info={"redfish_address": "bmc.example.com"}).json["uuid"]
    assert [uuid for _, uuid in online_migrations.unknown_choosers(service.store)] == [*old[:3], *old[8:11]]
    last = list(online_migrations.run(service.store, online_migrations.MIGRATIONS))[-1]
    assert (last.moved, last.left) == (3, 3)
    for uuid in old[8:]:
        nodes.update(uuid, {"reservation": None})
    last = list(online_migrations.run(service.store, online_migrations.MIGRATIONS))[-1]
    assert (last.moved, last.left, last.fault) == (3, 0, None)
    marked = [uuid for uuid in [*old, new] if chosen_by_project(service, uuid)]
    assert marked == [*old[:3], *old[8:11]]
    conf(auth_strategy="noauth")
    nodes.update(old[0], {"driver_internal_info": {}})
    assert online_migrations.unknown_choosers(service.store) == []


OLD_HOSTS = {
    "redfish_address": LOOPBACK,
    "redfish_verify_ca": False,
    "ipmi_address": "bmc.example.com",
    "ipmi_port": 6230,
    "acme_address": "10.0.0.1",
}


def unknown(service: Service) -> Any:
    return UNKNOWN.read(service.store.nodes.get(OWNED).driver_internal_info)


def test_a_key_from_before_notes_stays_unknown_until_it_is_written(service: Service, conf: Callable[..., None]) -> None:
    conf(auth_strategy="keystone")
    old = {"driver_info": OLD_HOSTS, "owner": "owners", "driver_internal_info": {}}
    service.store.nodes.update(OWNED, old)
    patched(service, "system-admin", ("replace", "/redfish_address", LOOPBACK))
    # The other keys of its BMC can't lead it elsewhere.
    assert (keys_of_project(service), unknown(service)) == (False, ["ipmi_address", "ipmi_port"])
    assert [uuid for _, uuid in online_migrations.unknown_choosers(service.store)] == [OWNED]
    # What is no address takes nothing over.
    patched(service, "system-admin", ("add", "/redfish_username", "u"))
    assert unknown(service) == ["ipmi_address", "ipmi_port"]
    list(online_migrations.run(service.store, online_migrations.MIGRATIONS))
    assert (keys_of_project(service), unknown(service)) == (["ipmi_address", "ipmi_port"], None)
    assert not redfish_access.access_of(service.store.nodes.get(OWNED)).by_project
    assert ipmi_access.access_of(service.store.nodes.get(OWNED)).by_project
    assert online_migrations.unknown_choosers(service.store) == []


@pytest.mark.parametrize(
    "token, key, value, project, left",
    [
        ("system-admin", "ipmi_address", "bmc.example.com", False, None),
        ("system-admin", "ipmi_port", 623, False, ["ipmi_address"]),
        ("owner-member", "deploy_kernel", "http://images/k", False, ["ipmi_address", "ipmi_port"]),
        ("owner-member", "redfish_verify_ca", True, ["ipmi_address", "ipmi_port", "redfish_verify_ca"], None),
    ],
)
def test_what_is_written_after_that_is_known(
    service: Service, token: str, key: str, value: Any, project: Any, left: Any
) -> None:
    noted = {BY_PROJECT.name: False, UNKNOWN.name: ["ipmi_address", "ipmi_port"]}
    service.store.nodes.update(OWNED, {"driver_info": OLD_HOSTS, "driver_internal_info": noted})
    patched(service, token, ("add", f"/{key}", value))
    assert (keys_of_project(service), unknown(service)) == (project, left)


def test_an_unknown_key_that_is_removed_is_not_asked_for(service: Service) -> None:
    noted = {BY_PROJECT.name: False, UNKNOWN.name: ["ipmi_address", "ipmi_port"]}
    service.store.nodes.update(OWNED, {"driver_info": OLD_HOSTS, "driver_internal_info": noted})
    patched(service, "system-admin", ("remove", "/ipmi_address", None))
    assert (keys_of_project(service), unknown(service)) == (False, None)
