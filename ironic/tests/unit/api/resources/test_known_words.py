"""A misspelt word is answered with the words that are known in the version that was asked for."""

import pytest

from ironic.tests.functional.wire.service import Service
from ironic.tests.unit.inspection.lab import new_node


@pytest.mark.parametrize("path", ["/v1/nodes?fields=foo", "/v1/nodes/n1?fields=foo", "/v1/ports?fields=foo"])
def test_fields(service: Service, path: str) -> None:
    new_node(service.store, name="n1")
    answer = service.call("GET", path)
    assert answer.status == 400
    assert b"foo is no field that can be selected. Known ones: " in answer.body
    known = answer.body.partition(b"Known ones: ")[2].partition(b".")[0].decode().split(", ")
    assert {"uuid", "extra"} <= set(known) and known == sorted(known)
    chosen = path.replace("foo", ",".join(known))
    assert service.call("GET", chosen).status == 200


def test_no_field_of_a_later_version_is_named(service: Service) -> None:
    assert b"shard" in service.call("GET", "/v1/nodes?fields=foo").body
    old = service.call("GET", "/v1/nodes?fields=foo", version="1.81")
    assert old.status == 400
    assert b"shard" not in old.body


@pytest.mark.parametrize("collection", ["nodes", "ports", "portgroups", "chassis", "allocations"])
def test_sort_keys(service: Service, collection: str) -> None:
    answer = service.call("GET", f"/v1/{collection}?sort_key=foo")
    assert answer.status == 400
    known = answer.body.partition(b"Known ones: ")[2].partition(b".")[0].decode().split(", ")
    assert "uuid" in known
    for key in known:
        assert service.call("GET", f"/v1/{collection}?sort_key={key}").status == 200, key


def test_provision_targets(service: Service) -> None:
    new_node(service.store, name="n1", provision_state="manageable")
    answer = service.call("PUT", "/v1/nodes/n1/states/provision", body={"target": "flying"})
    assert answer.status == 400
    known = answer.body.partition(b"Known ones: ")[2].partition(b".")[0].decode().split(", ")
    assert {"manage", "provide", "active"} <= set(known)
