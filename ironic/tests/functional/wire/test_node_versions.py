"""The node in all 115 versions, held against a list of what clients know that is not the field table itself."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Service

KNOWN: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "node_history.yml").read_text())
SINCE: dict[str, int] = {name: since for since, names in KNOWN["since"].items() for name in names}
UUID = "11111111-0000-4000-8000-000000000001"

VALUES = {
    "automated_clean": True,
    "console_enabled": True,
    "disable_power_off": True,
    "maintenance": True,
    "protected": True,
    "retired": True,
    "secure_boot": True,
    "network_data": {"links": [], "networks": [], "services": []},
    "driver_info": {"a": 1},
    "extra": {"a": 1},
    "instance_info": {"a": 1},
    "properties": {"a": 1},
    "uuid": "22222222-0000-4000-8000-000000000002",
    "instance_uuid": "33333333-0000-4000-8000-000000000003",
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    running = services.start(tmp_path_factory.mktemp("versions"))
    running.call("POST", "/v1/nodes", body={"driver": "fake-hardware", "uuid": UUID})
    yield running
    running.close()


@pytest.mark.demand("S21", "S68")
@pytest.mark.parametrize("minor", range(1, 116))
def test_each_version_shows_its_fields_and_no_other(service: Service, minor: int) -> None:
    expected = {name for name, since in SINCE.items() if since <= minor}
    one = service.call("GET", f"/v1/nodes/{UUID}", version=f"1.{minor}").json
    assert one.keys() == expected
    detailed = service.call("GET", "/v1/nodes/detail", version=f"1.{minor}").json["nodes"]
    assert detailed == [one]
    listed = service.call("GET", "/v1/nodes", version=f"1.{minor}").json["nodes"]
    assert listed[0].keys() == expected & set(KNOWN["plain"])


@pytest.mark.parametrize("name", sorted(SINCE))
def test_a_field_can_be_chosen_from_its_version_on(service: Service, name: str) -> None:
    since, path = max(SINCE[name], 8), f"/v1/nodes/{UUID}?fields={name}"
    if name in KNOWN["not_selectable"]:
        assert service.call("GET", path).status == 400
        return
    assert service.call("GET", path, version=f"1.{since}").json.keys() == {name, "links"}
    assert service.call("GET", path, version=f"1.{since - 1}").status == 406
    assert service.call("GET", f"/v1/nodes?fields={name}", version=f"1.{since - 1}").status == 406


@pytest.mark.parametrize("name", sorted(SINCE))
def test_a_list_can_be_sorted_by_a_field_from_its_version_on(service: Service, name: str) -> None:
    path = f"/v1/nodes?sort_key={name}"
    if name not in KNOWN["sort"]:
        assert service.call("GET", path).status == 400
        return
    assert service.call("GET", path, version=f"1.{SINCE[name]}").status == 200
    if SINCE[name] > 1:
        assert service.call("GET", path, version=f"1.{SINCE[name] - 1}").status == 406


@pytest.mark.parametrize("name", sorted(SINCE))
def test_a_field_can_be_given_from_its_version_on(service: Service, name: str) -> None:
    value = VALUES.get(name, "x")
    body = {"driver": "fake-hardware"} | {name: value}
    if name not in KNOWN["create"]:
        assert service.call("POST", "/v1/nodes", body=body).status == 400
    elif SINCE[name] > 1:
        assert service.call("POST", "/v1/nodes", body=body, version=f"1.{SINCE[name] - 1}").status == 406
    patch = [{"op": "add", "path": f"/{name}", "value": value}]
    if name not in KNOWN["patch"]:
        assert service.call("PATCH", f"/v1/nodes/{UUID}", body=patch).status == 400
    elif SINCE[name] > 1:
        assert service.call("PATCH", f"/v1/nodes/{UUID}", body=patch, version=f"1.{SINCE[name] - 1}").status == 406


@pytest.mark.demand("S40")
@pytest.mark.parametrize("minor", [1, 30, 31, 115])
def test_old_callers_get_default_interfaces_and_new_ones_may_choose(service: Service, minor: int) -> None:
    body: dict[str, Any] = {"driver": "fake-hardware"}
    chosen = body | {"inspect_interface": "agent"}
    if minor >= 31:
        body = chosen
    else:
        assert service.call("POST", "/v1/nodes", body=chosen, version=f"1.{minor}").status == 406
    uuid = service.call("POST", "/v1/nodes", body=body, version=f"1.{minor}").json["uuid"]
    found = service.call("GET", f"/v1/nodes/{uuid}").json
    assert found["inspect_interface"] == ("agent" if minor >= 31 else "fake")
    assert found["boot_interface"] == "fake"
    service.store.nodes.delete(uuid)


@pytest.mark.demand("S20")
@pytest.mark.parametrize("driver", ["fake-hardware", "manual-management"])
@pytest.mark.parametrize("minor", range(1, 116))
def test_each_version_takes_a_hardware_type_as_driver(service: Service, minor: int, driver: str) -> None:
    created = service.call("POST", "/v1/nodes", body={"driver": driver}, version=f"1.{minor}")
    assert (created.status, created.json["driver"]) == (201, driver)
    # A later version shows the interfaces, which are the defaults of that hardware type.
    shown = service.call("GET", f"/v1/nodes/{created.json['uuid']}").json
    assert shown["power_interface"] == services.SERVED[driver]["power"][0]
    service.store.nodes.delete(created.json["uuid"])
