from typing import Any

import pytest

from ironic.core.hardware_interfaces import KINDS
from ironic.core.model.conductor import INTERFACE_FIELDS, Driver
from ironic.db import InterfaceRow
from ironic.tests.databases import counting_statements
from ironic.tests.functional.wire.recording_conductor import interface_rows
from ironic.tests.functional.wire.service import Service


@pytest.mark.demand("S27", "S30")
def test_every_kind_of_interface_has_its_two_fields() -> None:
    assert Driver.table.fields.keys() > INTERFACE_FIELDS
    assert Driver.table.fields.keys() - INTERFACE_FIELDS == {"name", "hosts", "type", "links", "properties"}


@pytest.mark.demand("S27")
@pytest.mark.parametrize("version", ["1.1", "1.30", "1.115"])
def test_hardware_types_are_listed_in_all_versions(service: Service, version: str) -> None:
    answer = service.call("GET", "/v1/drivers", version=version)
    assert [one["name"] for one in answer.json["drivers"]] == ["fake-hardware", "manual-management"]


@pytest.mark.demand("S28")
def test_the_type_of_a_driver_can_be_asked_for_since_1_30(service: Service) -> None:
    def status(kind: str, version: str) -> int:
        return service.call("GET", f"/v1/drivers?type={kind}", version=version).status

    assert [status("dynamic", "1.30"), status("classic", "1.30"), status("odd", "1.30")] == [200, 200, 400]
    assert status("dynamic", "1.29") == 406


@pytest.mark.demand("S29")
@pytest.mark.parametrize("version, has_type", [("1.29", False), ("1.30", True)])
def test_each_driver_of_the_list_has_its_type_since_1_30(service: Service, version: str, has_type: bool) -> None:
    drivers = service.call("GET", "/v1/drivers", version=version).json["drivers"]
    assert [one.get("type") for one in drivers] == ["dynamic" if has_type else None] * 2


@pytest.mark.demand("S30")
def test_a_driver_shows_default_and_enabled_implementations_of_each_kind(service: Service) -> None:
    shown = service.call("GET", "/v1/drivers/manual-management").json
    assert shown["type"] == "dynamic"
    assert (shown["default_inspect_interface"], shown["enabled_inspect_interfaces"]) == (
        "agent",
        ["agent", "no-inspect"],
    )
    assert {name for name in shown if name in INTERFACE_FIELDS} == INTERFACE_FIELDS


def test_hosts_and_implementations_of_all_live_conductors_are_joined(service: Service) -> None:
    rows = [InterfaceRow("fake-hardware", "boot", "ipxe", True), InterfaceRow("ilo", "power", "ilo", False)]
    service.store.conductors.register("another", "rack", ["fake-hardware", "ilo"], rows)
    service.hash_ring.reset()
    shown = service.call("GET", "/v1/drivers/fake-hardware").json
    assert shown["hosts"] == ["another", "wire-conductor"]
    assert set(shown["enabled_boot_interfaces"]) == {"fake", "pxe", "ipxe"}
    other = service.call("GET", "/v1/drivers/ilo").json
    assert (other["hosts"], other["default_power_interface"], other["enabled_raid_interfaces"]) == (
        ["another"],
        None,
        [],
    )


def test_a_driver_goes_with_its_last_conductor(service: Service) -> None:
    service.store.conductors.unregister("wire-conductor")
    service.hash_ring.reset()
    assert service.call("GET", "/v1/drivers").json == {"drivers": []}
    assert service.call("GET", "/v1/drivers/fake-hardware").status == 404
    assert service.call("GET", "/v1/drivers/fake-hardware/properties").status == 404


def test_drivers_are_answered_from_the_two_tables_of_conductors(service: Service) -> None:
    service.call("GET", "/v1/drivers")
    with counting_statements(service.store) as sent:
        service.call("GET", "/v1/drivers?detail=true")
    assert sent.selects == len(sent.texts) == 2


@pytest.fixture
def late(service: Service) -> Service:
    """Return a service that has read the tables before a conductor with a new driver and an interface registers."""
    assert service.call("POST", "/v1/nodes", body={"driver": "fake-hardware", "name": "early"}).status == 201
    rows = [InterfaceRow("new-type", *row[1:]) for row in interface_rows() if row[0] == "fake-hardware"]
    rows.append(InterfaceRow("fake-hardware", "boot", "new-boot", False))
    service.store.conductors.register("another", "", ["new-type", "fake-hardware"], rows)
    return service


def test_a_driver_is_listed_and_shown_as_soon_as_a_conductor_has_registered_it(late: Service) -> None:
    assert "new-type" in [one["name"] for one in late.call("GET", "/v1/drivers").json["drivers"]]
    assert late.call("GET", "/v1/drivers/new-type").status == 200


def test_a_driver_is_found_at_once_for_its_properties(late: Service) -> None:
    assert late.hash_ring.hosts_of("new-type") == ["another"]


@pytest.mark.parametrize(
    "method, path, body",
    [
        ("POST", "/v1/nodes", {"driver": "new-type"}),
        ("POST", "/v1/nodes", {"driver": "fake-hardware", "boot_interface": "new-boot"}),
        ("PATCH", "/v1/nodes/early", [{"op": "replace", "path": "/driver", "value": "new-type"}]),
        ("PATCH", "/v1/nodes/early", [{"op": "replace", "path": "/boot_interface", "value": "new-boot"}]),
    ],
)
def test_a_node_takes_at_once_what_a_conductor_has_registered(late: Service, method: str, path: str, body: Any) -> None:
    answer = late.call(method, path, body=body)
    assert answer.status in (200, 201), answer.body


def test_what_is_served_nowhere_is_still_refused(late: Service) -> None:
    body = {"driver": "fake-hardware", "boot_interface": "no-such-boot"}
    assert late.call("POST", "/v1/nodes", body=body).status == 400
    assert late.call("POST", "/v1/nodes", body={"driver": "no-such-type"}).status == 400
    assert late.call("GET", "/v1/drivers/no-such-type/properties").status == 404


@pytest.fixture
def classic(service: Service) -> Service:
    """Return a service with a second conductor that serves a classic driver, and a node of a hardware type."""
    service.store.conductors.register("another", "", ["old"], [])
    assert service.call("POST", "/v1/nodes", body={"driver": "fake-hardware", "name": "early"}).status == 201
    return service


@pytest.mark.demand("S19", "S28", "S29")
def test_classic_drivers_are_listed_with_their_type_and_by_it(classic: Service) -> None:
    def names(query: str = "", version: str = "1.115") -> list[tuple[str, str | None]]:
        found = classic.call("GET", f"/v1/drivers{query}", version=version).json["drivers"]
        return [(one["name"], one.get("type")) for one in found]

    types = [("fake-hardware", "dynamic"), ("manual-management", "dynamic")]
    assert names() == [*types, ("old", "classic")]
    assert names("?type=dynamic") == types
    assert names("?type=classic") == names("?type=classic&detail=true") == [("old", "classic")]
    assert names(version="1.1") == [(name, None) for name, _ in names()]


@pytest.mark.demand("S30")
def test_a_classic_driver_shows_null_for_its_interfaces(classic: Service) -> None:
    shown = classic.call("GET", "/v1/drivers/old").json
    assert (shown["name"], shown["type"], shown["hosts"]) == ("old", "classic", ["another"])
    assert {shown[name] for name in INTERFACE_FIELDS} == {None}
    (listed,) = classic.call("GET", "/v1/drivers?type=classic&detail=true").json["drivers"]
    assert listed == shown
    chosen = classic.call("GET", "/v1/drivers/old?fields=name,enabled_raid_interfaces").json
    assert chosen["enabled_raid_interfaces"] is None


@pytest.mark.demand("S19")
def test_a_driver_that_is_classic_on_some_conductors_only_is_shown_as_a_hardware_type(classic: Service) -> None:
    classic.store.conductors.register("third", "", ["old"], [InterfaceRow("old", "power", "fake", True)])
    shown = classic.call("GET", "/v1/drivers/old").json
    assert (shown["type"], shown["hosts"]) == ("dynamic", ["another", "third"])
    assert (shown["default_power_interface"], shown["enabled_boot_interfaces"]) == ("fake", [])


INTERFACES = [f"{kind}_interface" for kind in KINDS]


def change(path: str, value: Any) -> dict[str, Any]:
    return {"op": "replace", "path": f"/{path}", "value": value}


@pytest.mark.demand("S20", "S23")
@pytest.mark.parametrize("version", ["1.1", "1.30", "1.31", "1.115"])
def test_a_new_node_of_a_classic_driver_has_null_interfaces(classic: Service, version: str) -> None:
    body: dict[str, Any] = {"driver": "old"}
    if version == "1.115":
        body |= {"name": "n", "power_interface": None}
    answer = classic.call("POST", "/v1/nodes", body=body, version=version)
    assert answer.status == 201, answer.body
    node = classic.call("GET", f"/v1/nodes/{answer.json['uuid']}").json
    assert {node[name] for name in INTERFACES} == {None}


@pytest.mark.demand("S23")
@pytest.mark.parametrize("name", INTERFACES)
def test_no_interface_of_a_classic_driver_can_be_set(classic: Service, name: str) -> None:
    before = classic.contents()
    refused = [
        classic.call("POST", "/v1/nodes", body={"driver": "old", name: "fake"}),
        classic.call("PATCH", "/v1/nodes/early", body=[change("driver", "old"), change(name, "fake")]),
    ]
    assert classic.contents() == before
    assert classic.call("POST", "/v1/nodes", body={"driver": "old", "name": "n"}).status == 201
    refused.append(classic.call("PATCH", "/v1/nodes/n", body=[change(name, "fake")]))
    for answer in refused:
        assert answer.status == 400
        assert "old is a classic driver" in answer.body.decode() and f"{name} must be null" in answer.body.decode()
    for op in (change(name, None), {"op": "remove", "path": f"/{name}"}):
        allowed = classic.call("PATCH", "/v1/nodes/n", body=[op])
        assert (allowed.status, allowed.json[name]) == (200, None)


@pytest.mark.demand("S23", "S39")
@pytest.mark.parametrize("query", ["", "?reset_interfaces=true"])
def test_switching_to_a_classic_driver_and_back_resets_all_interfaces(classic: Service, query: str) -> None:
    chosen = [change("vendor_interface", "no-vendor")]
    before = classic.call("PATCH", "/v1/nodes/early", body=chosen).json
    assert (before["vendor_interface"], before["power_interface"]) == ("no-vendor", "fake")
    there = classic.call("PATCH", f"/v1/nodes/early{query}", body=[change("driver", "old")])
    assert there.status == 200, there.body
    assert {there.json[name] for name in INTERFACES} == {None}
    back = classic.call("PATCH", f"/v1/nodes/early{query}", body=[change("driver", "fake-hardware")])
    assert (back.json["vendor_interface"], back.json["power_interface"]) == ("fake", "fake")
    other = [change("driver", "old"), change("power_interface", None)]
    assert classic.call("PATCH", "/v1/nodes/early", body=other).status == 200
    with_choice = [change("driver", "fake-hardware"), change("power_interface", "agent")]
    assert classic.call("PATCH", "/v1/nodes/early", body=with_choice).json["power_interface"] == "agent"


@pytest.mark.demand("S23")
@pytest.mark.parametrize("driver, target", [("fake-hardware", "old"), ("old", "fake-hardware")])
def test_interfaces_of_a_deployed_node_are_not_replaced(classic: Service, driver: str, target: str) -> None:
    created = classic.call("POST", "/v1/nodes", body={"driver": driver, "name": "n"}).json
    node = classic.store.nodes.get(created["uuid"])
    node.provision_state = "active"
    node.save()
    refused = classic.call("PATCH", "/v1/nodes/n", body=[change("driver", target)])
    assert refused.status == 409 and "its interfaces can be changed in" in refused.body.decode()
    node.maintenance = True
    node.save()
    assert classic.call("PATCH", "/v1/nodes/n", body=[change("driver", target)]).json["driver"] == target
