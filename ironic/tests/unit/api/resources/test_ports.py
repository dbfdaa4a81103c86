import pytest

from ironic.core.errors import ChangedMeanwhile
from ironic.core.model.port import LOCAL_LINK
from ironic.db import PortgroupRecord
from ironic.tests.databases import counting_statements
from ironic.tests.functional.wire.service import Service
from ironic.tests.unit.api.resources.rows import add_node, add_port

MAC, OTHER_MAC = "52:54:00:0a:00:01", "52:54:00:0a:00:02"


def add_group(service: Service, node_id: int, **columns: object) -> PortgroupRecord:
    return service.store.portgroups.create({"node_id": node_id, **columns})


def test_a_port_is_created_by_one_look_one_row_and_one_commit(service: Service) -> None:
    node = add_node(service)
    with counting_statements(service.store) as sent:
        answer = service.call("POST", "/v1/ports", body={"address": MAC, "node_uuid": node.uuid, "extra": {"a": 1}})
    assert answer.status == 201
    assert (sent.selects, sent.writes, sent.commits) == (1, 1, 1)


def test_what_is_shown_of_a_new_port_is_what_is_read_later(service: Service) -> None:
    node = add_node(service)
    group = add_group(service, node.id)
    body = {"address": MAC, "node_uuid": node.uuid, "portgroup_uuid": group.uuid, "extra": {"é": [1.5, None]}}
    created = service.call("POST", "/v1/ports", body=body)
    assert created.status == 201
    assert service.call("GET", f"/v1/ports/{created.json['uuid']}").json == created.json


@pytest.mark.parametrize("count", [1, 1000])
@pytest.mark.parametrize("path", ["/v1/ports", "/v1/ports/detail", "/v1/ports?detail=true"])
def test_a_page_of_ports_is_one_statement(service: Service, path: str, count: int) -> None:
    node = add_node(service)
    with service.store.writing():
        for number in range(count):
            add_port(service, node, f"52:54:00:0a:{number // 256:02x}:{number % 256:02x}")
    service.call("GET", path)
    with counting_statements(service.store) as sent:
        answer = service.call("GET", path)
    assert len(answer.json["ports"]) == count
    assert (sent.selects, sent.writes, sent.commits) == (1, 0, 0)


def test_one_port_is_one_statement(service: Service) -> None:
    port = add_port(service, add_node(service), MAC)
    with counting_statements(service.store) as sent:
        assert service.call("GET", f"/v1/ports/{port.uuid}").status == 200
    assert sent.selects == 1


def test_ports_are_found_by_their_group(service: Service) -> None:
    node = add_node(service)
    group = add_group(service, node.id, name="bond0")
    add_port(service, node, MAC)
    port = add_port(service, node, OTHER_MAC, portgroup_id=group.id)
    for name in (group.uuid, "bond0"):
        answer = service.call("GET", f"/v1/ports?portgroup={name}&fields=uuid,portgroup_uuid")
        found = [(one["uuid"], one["portgroup_uuid"]) for one in answer.json["ports"]]
        assert found == [(port.uuid, group.uuid)]


@pytest.mark.parametrize(
    "pxe_enabled, status", [({}, 409), ({"pxe_enabled": True}, 409), ({"pxe_enabled": False}, 201)]
)
def test_a_port_that_boots_needs_a_group_with_standalone_ports(
    service: Service, pxe_enabled: dict[str, bool], status: int
) -> None:
    node = add_node(service)
    group = add_group(service, node.id, standalone_ports_supported=False)
    body = {"address": MAC, "node_uuid": node.uuid, "portgroup_uuid": group.uuid}
    assert service.call("POST", "/v1/ports", body=body | pxe_enabled).status == status
    assert len(service.store.ports.find()) == (status == 201)


def test_a_group_of_another_node_is_refused(service: Service) -> None:
    node, other = add_node(service), add_node(service)
    group = add_group(service, other.id)
    body = {"address": MAC, "node_uuid": node.uuid, "portgroup_uuid": group.uuid}
    assert service.call("POST", "/v1/ports", body=body).status == 400
    port = add_port(service, node, OTHER_MAC)
    change = [{"op": "add", "path": "/portgroup_uuid", "value": group.uuid}]
    assert service.call("PATCH", f"/v1/ports/{port.uuid}", body=change).status == 400
    assert service.conductor.asked == []


class TestPatchWithAGroup:
    @pytest.fixture
    def group(self, service: Service) -> PortgroupRecord:
        return add_group(service, add_node(service).id)

    @pytest.fixture
    def port(self, service: Service, group: PortgroupRecord) -> str:
        columns = {"node_id": group.node_id, "portgroup_id": group.id, "address": MAC}
        return service.store.ports.create(columns).uuid

    def change(self, service: Service, port: str, version: str, **values: object) -> int:
        body = [{"op": "add", "path": f"/{name}", "value": value} for name, value in values.items()]
        return service.call("PATCH", f"/v1/ports/{port}", body=body, version=version).status

    def test_the_conductor_is_told_the_id(self, service: Service, port: str) -> None:
        other = add_group(service, service.store.ports.get(port).node_id)
        assert self.change(service, port, "1.115", portgroup_uuid=other.uuid) == 200
        assert service.conductor.asked == [["update_port", port, {"portgroup_id": other.id}, {}]]

    def test_a_port_leaves_its_group(self, service: Service, port: str) -> None:
        assert self.change(service, port, "1.115", portgroup_uuid=None) == 200
        assert service.conductor.asked == [["update_port", port, {"portgroup_id": None}, {}]]

    @pytest.mark.parametrize("version, status", [("1.101", 200), ("1.102", 400)])
    def test_the_physical_network_is_the_groups_since_1_102(
        self, service: Service, port: str, version: str, status: int
    ) -> None:
        assert self.change(service, port, version, physical_network="p") == status

    def test_a_port_that_leaves_its_group_may_have_its_own_network(self, service: Service, port: str) -> None:
        assert self.change(service, port, "1.115", physical_network="p", portgroup_uuid=None) == 200

    def test_a_port_moves_to_another_node_only_without_its_group(self, service: Service, port: str) -> None:
        other = add_node(service)
        assert self.change(service, port, "1.115", node_uuid=other.uuid) == 400
        assert self.change(service, port, "1.115", node_uuid=other.uuid, portgroup_uuid=None) == 200
        assert service.conductor.asked == [["update_port", port, {"node_id": other.id, "portgroup_id": None}, {}]]

    def test_it_must_not_boot_where_ports_are_not_standalone(
        self, service: Service, port: str, group: PortgroupRecord
    ) -> None:
        service.store.portgroups.update(group.uuid, {"standalone_ports_supported": False})
        service.store.ports.update(port, {"pxe_enabled": False})
        assert self.change(service, port, "1.115", pxe_enabled=True) == 409
        assert self.change(service, port, "1.115", extra={"a": 1}) == 200


def test_a_patch_is_two_looks_one_call_and_one_look_at_the_outcome(service: Service) -> None:
    port = add_port(service, add_node(service), MAC, extra={"a": {"b": 1}})
    change = [{"op": "replace", "path": "/extra/a/b", "value": 2}]
    service.call("GET", "/v1/nodes")
    service.hash_ring.served()
    with counting_statements(service.store) as sent:
        assert service.call("PATCH", f"/v1/ports/{port.uuid}", body=change).status == 200
    seen = {"extra": {"a": {"b": 1}}}
    assert service.conductor.asked == [["update_port", port.uuid, {"extra": {"a": {"b": 2}}}, seen]]
    assert (sent.selects, sent.writes) == (3, 0)


@pytest.mark.parametrize("kind", ["port", "portgroup"])
@pytest.mark.parametrize(("faster", "status"), [(1, 200), (10, 409)])
def test_a_patch_is_made_anew_when_another_one_was_faster(
    service: Service, monkeypatch: pytest.MonkeyPatch, kind: str, faster: int, status: int
) -> None:
    node = add_node(service)
    one = add_port(service, node, MAC) if kind == "port" else add_group(service, node.id)
    rows, calls = getattr(service.store, f"{kind}s"), list[tuple[object, object]]()

    def update(_context: object, *, changes: object, seen: object, **_: object) -> None:
        calls.append((changes, seen))
        if len(calls) <= faster:
            rows.update(one.uuid, {"extra": {"theirs": len(calls)}})
            raise ChangedMeanwhile(what=one.uuid)

    monkeypatch.setattr(service.conductor, f"update_{kind}", update, raising=False)
    change = [{"op": "add", "path": "/extra/mine", "value": 1}]
    assert service.call("PATCH", f"/v1/{kind}s/{one.uuid}", body=change).status == status
    assert calls[:2] == [
        ({"extra": {"mine": 1}}, {"extra": {}}),
        ({"extra": {"mine": 1, "theirs": 1}}, {"extra": {"theirs": 1}}),
    ]
    assert len(calls) == min(faster + 1, 10)


@pytest.mark.parametrize(
    "given, stored",
    [
        ({}, {}),
        ({"port_id": "p", "switch_id": "0A:1B:2C:3D:4E:5F"}, {"port_id": "p", "switch_id": "0a:1b:2c:3d:4e:5f"}),
        ({"port_id": "p", "switch_id": "0000AAbbccddEEff"}, {"port_id": "p", "switch_id": "0000aabbccddeeff"}),
        (
            {"port_id": "p", "switch_id": "00:00:AA:bb:cc:dd:ee:ff"},
            {"port_id": "p", "switch_id": "00:00:aa:bb:cc:dd:ee:ff"},
        ),
        ({"port_id": "p", "hostname": "h", "switch_info": "s"}, {"port_id": "p", "hostname": "h", "switch_info": "s"}),
        ({"network_type": "unmanaged"}, {"network_type": "unmanaged"}),
    ],
)
def test_a_local_link_is_spelled_one_way(given: dict[str, str], stored: dict[str, str]) -> None:
    assert LOCAL_LINK.validate(given) == stored


@pytest.mark.parametrize(
    "given",
    [
        {"port_id": "p"},
        {"switch_id": "0a:1b:2c:3d:4e:5f"},
        {"hostname": "h"},
        {"network_type": "managed"},
        {"port_id": "p", "switch_id": "0a:1b:2c:3d:4e"},
        {"port_id": "p", "switch_id": 5},
        {"port_id": None, "switch_id": "0a:1b:2c:3d:4e:5f"},
        {"port_id": "p", "switch_id": "0a:1b:2c:3d:4e:5f", "other": "x"},
        [],
        "unmanaged",
    ],
)
def test_half_a_local_link_is_none(given: object) -> None:
    with pytest.raises(ValueError, match="must"):
        LOCAL_LINK.validate(given)
