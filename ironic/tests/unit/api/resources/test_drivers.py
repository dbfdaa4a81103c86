from typing import Any

import pytest

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
