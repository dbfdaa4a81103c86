"""`/v1/introspection/{node}/data`: processed, as posted, and processed again."""

from typing import Any

import pytest

from ironic.core.flows import states
from ironic.inspection.posted_data import KEY
from ironic.tests.functional.wire.old_api.asking import MAC, MISSING, NAME, NODE, ask, refused, set_node
from ironic.tests.functional.wire.service import Service

INVENTORY: dict[str, Any] = {"interfaces": [{"name": "eth0", "mac_address": MAC}], "memory": {"physical_mb": 4096}}
POSTED = {"root_disk": {"name": "sda"}, "data": [["cpu", "x", "y", "1"]]}
PROCESSED = {
    "root_disk": {"name": "sdb"},
    "extra": {"cpu": {}},
    "all_interfaces": {
        "eth0": {"name": "eth0", "mac_address": MAC, "pxe_enabled": True, "ipv4_address": "192.0.2.9"},
        "odd": None,
    },
    "valid_interfaces": {},
    "parsed_lldp": {"eth0": {"switch_port_id": "7"}},
    KEY: {
        "added": ["all_interfaces", "extra", "parsed_lldp", "valid_interfaces"],
        "former": {"root_disk": {"name": "sda"}, "data": [["cpu", "x", "y", "1"]]},
    },
}
NEW = {"inventory": {"interfaces": [{"mac_address": "52:54:00:00:00:77"}]}, "root_disk": None}


@pytest.fixture
def inspected(service: Service) -> Service:
    service.store.inventories.put(service.store.nodes.get(NODE).id, INVENTORY, PROCESSED)
    return service


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.18", None])
@pytest.mark.parametrize("ident", [NODE, NAME])
def test_processed_data_are_one_document_with_old_names(inspected: Service, ident: str, version: str | None) -> None:
    found = ask(inspected, "GET", f"/v1/introspection/{ident}/data", version=version).json
    assert found["inventory"] == INVENTORY
    assert found["root_disk"] == {"name": "sdb"}
    assert KEY not in found
    assert found["all_interfaces"] == {
        "eth0": {
            **PROCESSED["all_interfaces"]["eth0"],  # type: ignore[index]
            "mac": MAC,
            "ip": "192.0.2.9",
            "client_id": None,
            "pxe": True,
            "lldp_processed": {"switch_port_id": "7"},
        }
    }
    assert found["interfaces"] == {}
    assert (found["memory_mb"], found["auto_discovered"]) == (4096, False)


@pytest.mark.parametrize("version", ["1.0", "1.17", "1.18", None])
def test_unprocessed_data_are_those_of_the_ramdisk(inspected: Service, version: str | None) -> None:
    found = ask(inspected, "GET", f"/v1/introspection/{NAME}/data/unprocessed", version=version).json
    assert found == {**POSTED, "inventory": INVENTORY}


@pytest.mark.parametrize("path", ["data", "data/unprocessed"])
def test_without_data_there_is_a_404(service: Service, path: str) -> None:
    assert NODE in refused(ask(service, "GET", f"/v1/introspection/{NAME}/{path}"), 404)
    assert MISSING in refused(ask(service, "GET", f"/v1/introspection/{MISSING}/{path}"), 404)


@pytest.mark.parametrize("version", ["1.0", "1.4", "1.15", None])
@pytest.mark.parametrize("state", [states.MANAGEABLE, states.INSPECTFAIL])
def test_data_are_processed_again_as_they_were_posted(inspected: Service, state: str, version: str | None) -> None:
    set_node(inspected, provision_state=state)
    response = ask(inspected, "POST", f"/v1/introspection/{NAME}/data/unprocessed", version=version)
    assert (response.status, response.body) == (202, b"")
    assert inspected.conductor.asked == [["reapply_inspection", NODE, INVENTORY, POSTED]]


def test_other_data_can_be_processed(service: Service) -> None:
    assert ask(service, "POST", f"/v1/introspection/{NODE}/data/unprocessed", NEW).status == 202
    assert service.conductor.asked == [["reapply_inspection", NODE, NEW["inventory"], {"root_disk": None}]]


@pytest.mark.parametrize("body", [[1], "x", 5, {"inventory": []}, {"inventory": {"interfaces": []}}, {"a": 1}])
def test_malformed_data_are_refused(inspected: Service, body: Any) -> None:
    refused(ask(inspected, "POST", f"/v1/introspection/{NODE}/data/unprocessed", body), 400)
    assert inspected.conductor.asked == []


def test_nothing_is_processed_without_data(service: Service) -> None:
    refused(ask(service, "POST", f"/v1/introspection/{NODE}/data/unprocessed"), 404)
    assert service.conductor.asked == []


@pytest.mark.parametrize("state", [states.INSPECTWAIT, states.ACTIVE, states.ENROLL])
def test_nothing_is_processed_in_another_state(inspected: Service, state: str) -> None:
    set_node(inspected, provision_state=state)
    refused(ask(inspected, "POST", f"/v1/introspection/{NODE}/data/unprocessed"), 400)
    assert inspected.conductor.asked == []
