"""What a node is made of, decided from the conductors' table alone.

The hardware types here are served by a conductor that can't be called: whatever is answered comes from its rows.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from ironic.core.hardware_interfaces import KINDS
from ironic.db import InterfaceRow
from ironic.tests.databases import counting_statements
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Service

# What has a path of its own; a new one has to be no view of the table of interfaces (S35).
RESOURCES = {
    "allocations", "chassis", "conductors", "continue_inspection", "deploy_templates", "drivers", "events",
    "heartbeat", "inspection", "inspection_rules", "lookup", "nodes", "openapi.json", "portgroups", "ports",
    "runbooks", "shards", "volume",
}  # fmt: skip

ELSEWHERE = "conductor-elsewhere"
NODE = "11111111-0000-4000-8000-000000000001"


def rows(hardware_type: str, boot: Sequence[str]) -> list[InterfaceRow]:
    kinds = dict.fromkeys(KINDS, ("noop",)) | {"boot": tuple(boot)}
    return [
        InterfaceRow(hardware_type, kind, name, name == names[0]) for kind, names in kinds.items() for name in names
    ]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = services.start(tmp_path)
    offered = [*rows("ilo-gen8", ("vmedia_ilo", "ipxe")), *rows("generic-ipmi", ("pxe", "ipxe"))]
    running.store.conductors.register(ELSEWHERE, "", ["ilo-gen8", "generic-ipmi"], offered)
    body = {"driver": "ilo-gen8", "uuid": NODE}
    assert running.call("POST", "/v1/nodes", body=body).status == 201
    yield running
    running.close()


def patch(service: Service, *changes: dict[str, Any], query: str = "") -> Any:
    return service.call("PATCH", f"/v1/nodes/{NODE}{query}", body=list(changes))


def replace(name: str, value: Any) -> dict[str, Any]:
    return {"op": "replace", "path": f"/{name}", "value": value}


@pytest.mark.demand("S14", "S25")
def test_defaults_come_from_the_table_and_are_kept_in_the_row(service: Service) -> None:
    stored = service.store.nodes.get(NODE)
    assert (stored.boot_interface, stored.power_interface) == ("vmedia_ilo", "noop")
    assert service.call("GET", f"/v1/nodes/{NODE}").json["conductor"] == ELSEWHERE
    assert service.conductor.asked == []


@pytest.mark.demand("S24")
def test_one_patch_may_pass_through_an_unfit_mix_if_it_ends_with_a_fit_one(service: Service) -> None:
    response = patch(service, replace("boot_interface", "ipxe"), replace("driver", "generic-ipmi"))
    assert response.status == 200
    assert (response.json["driver"], response.json["boot_interface"]) == ("generic-ipmi", "ipxe")


@pytest.mark.demand("S24")
def test_a_patch_that_ends_with_an_unfit_mix_changes_nothing(service: Service) -> None:
    before = service.contents()
    assert patch(service, replace("driver", "generic-ipmi")).status == 400
    assert patch(service, replace("extra", {"a": 1}), replace("boot_interface", "pxe")).status == 400
    assert service.contents() == before


@pytest.mark.demand("S39")
def test_hardware_type_and_interfaces_can_be_switched(service: Service) -> None:
    response = patch(service, replace("driver", "generic-ipmi"), query="?reset_interfaces=true")
    assert (response.status, response.json["boot_interface"]) == (200, "pxe")
    assert patch(service, replace("boot_interface", "ipxe")).json["boot_interface"] == "ipxe"


@pytest.mark.demand("S22")
def test_null_asks_for_the_default(service: Service) -> None:
    assert patch(service, replace("boot_interface", "ipxe")).json["boot_interface"] == "ipxe"
    assert patch(service, replace("boot_interface", None)).json["boot_interface"] == "vmedia_ilo"
    body = {"driver": "generic-ipmi", "boot_interface": None}
    assert service.call("POST", "/v1/nodes", body=body).json["boot_interface"] == "pxe"


def test_resetting_to_the_same_driver_changes_nothing(service: Service) -> None:
    patch(service, replace("boot_interface", "ipxe"))
    response = patch(service, replace("driver", "ilo-gen8"), query="?reset_interfaces=true")
    assert (response.status, response.json["boot_interface"]) == (200, "ipxe")


def test_resetting_keeps_what_the_patch_names(service: Service) -> None:
    patch(service, replace("boot_interface", "ipxe"))
    both = (replace("driver", "generic-ipmi"), replace("boot_interface", "ipxe"))
    assert patch(service, *both, query="?reset_interfaces=true").json["boot_interface"] == "ipxe"
    patch(service, replace("driver", "ilo-gen8"))
    plain = patch(service, replace("driver", "generic-ipmi"), query="?reset_interfaces=true")
    assert plain.json["boot_interface"] == "pxe"


@pytest.mark.demand("S26")
def test_a_node_whose_interface_was_disabled_stays_editable(service: Service) -> None:
    service.store.conductors.register(ELSEWHERE, "", ["ilo-gen8"], rows("ilo-gen8", ("ipxe",)))
    service.hash_ring.reset()
    assert patch(service, replace("extra", {"a": 1})).status == 200
    assert patch(service, replace("description", "x")).json["boot_interface"] == "vmedia_ilo"
    assert patch(service, replace("power_interface", "noop")).status == 200
    assert patch(service, replace("boot_interface", "ipxe")).status == 200


@pytest.mark.demand("S24", "S26")
def test_a_disabled_interface_is_no_reason_against_a_change_of_another(service: Service) -> None:
    offered = [*rows("ilo-gen8", ("ipxe",)), InterfaceRow("ilo-gen8", "power", "ilo", False)]
    service.store.conductors.register(
        ELSEWHERE, "", ["ilo-gen8", "generic-ipmi"], [*offered, *rows("generic-ipmi", ("ipxe",))]
    )
    service.hash_ring.reset()
    changed = patch(service, replace("power_interface", "ilo"))
    assert (changed.status, changed.json["boot_interface"]) == (200, "vmedia_ilo")
    before = service.contents()
    assert patch(service, replace("boot_interface", "vmedia_ilo2")).status == 400
    assert patch(service, replace("driver", "generic-ipmi"), replace("power_interface", "noop")).status == 400
    assert service.contents() == before


def test_what_a_type_takes_unlisted_is_taken_and_not_shown(service: Service) -> None:
    unlisted = InterfaceRow("ilo-gen8", "boot", "redfish", False, listed=False)
    service.store.conductors.register(ELSEWHERE, "", ["ilo-gen8"], [*rows("ilo-gen8", ("ipxe",)), unlisted])
    service.hash_ring.reset()
    assert patch(service, replace("boot_interface", "redfish")).json["boot_interface"] == "redfish"
    shown = service.call("GET", "/v1/drivers/ilo-gen8").json
    assert (shown["enabled_boot_interfaces"], shown["default_boot_interface"]) == (["ipxe"], "ipxe")


@pytest.mark.demand("S25")
def test_the_table_is_asked_once_for_many_requests(service: Service) -> None:
    service.call("GET", "/v1/nodes")
    with counting_statements(service.store) as seen:
        for _ in range(3):
            assert service.call("POST", "/v1/nodes", body={"driver": "ilo-gen8"}).status == 201
    assert not [text for text in seen.texts if "conductor_hardware_interfaces" in text]


@pytest.mark.demand("S32")
@pytest.mark.parametrize("kind", KINDS)
def test_nodes_can_be_listed_by_each_kind_of_interface(service: Service, kind: str) -> None:
    wanted = getattr(service.store.nodes.get(NODE), f"{kind}_interface")
    listed = service.call("GET", f"/v1/nodes?{kind}_interface={wanted}&fields=uuid").json["nodes"]
    assert NODE in [node["uuid"] for node in listed]
    assert service.call("GET", f"/v1/nodes?{kind}_interface=other").json == {"nodes": []}


@pytest.mark.demand("S32")
@pytest.mark.parametrize("kind", KINDS)
def test_such_a_list_is_found_by_an_index(service: Service, kind: str) -> None:
    indexes = sa.inspect(service.store.engine).get_indexes("nodes")
    assert f"{kind}_interface" in [index["column_names"][0] for index in indexes]
    with service.store.engine.connect() as connection:
        plan = connection.exec_driver_sql(
            f"EXPLAIN QUERY PLAN SELECT uuid FROM nodes WHERE {kind}_interface = 'a' ORDER BY id LIMIT 1000"
        )
        assert f"USING INDEX nodes_{kind}_interface_idx" in str(plan.all())


@pytest.mark.demand("S35")
def test_the_table_itself_is_not_served(service: Service) -> None:
    """What only the table knows, an unlisted interface, is in the answer of no path; nor is there a path for it."""
    rows = [InterfaceRow("fake-hardware", "boot", "only-in-the-table", False, listed=False)]
    service.store.conductors.register("another", "", ["fake-hardware"], rows)
    paths = service.call("GET", "/v1/openapi.json").json["paths"]
    assert {path.split("/")[2] for path in paths if path.count("/") > 1 and path != "/v1/"} == RESOURCES
    for path in (path for path, methods in paths.items() if "get" in methods and "{" not in path):
        assert b"only-in-the-table" not in service.call("GET", path).body, path
    for path in ("/v1/drivers/fake-hardware", "/v1/drivers?detail=true", "/v1/conductors/another"):
        answer = service.call("GET", path)
        assert answer.status == 200
        assert b"only-in-the-table" not in answer.body, path


@pytest.mark.parametrize("value", ["nonsense", "pxe", "", {"a": 1}, ["ipxe"], 7, "x" * 300])
def test_an_instance_asks_for_interfaces_that_the_node_can_have(service: Service, value: object) -> None:
    add = {"op": "add", "path": "/instance_info/boot_interface", "value": value}
    assert patch(service, add).status == (200 if value == "" else 400)
    assert patch(service, replace("instance_info", {"boot_interface": value})).status == (200 if value == "" else 400)
    assert patch(service, {**add, "value": "ipxe"}).status == 200
    # What is there may stay, for example when the interface was disabled since.
    with service.store.writing():
        service.store.nodes.update(NODE, {"instance_info": {"boot_interface": value}})
    assert patch(service, {"op": "add", "path": "/instance_info/image_source", "value": "x"}).status == 200
    assert patch(service, {"op": "remove", "path": "/instance_info/boot_interface"}).status == 200
