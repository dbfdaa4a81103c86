"""Nothing gets a name that proxies and clients take out of a path; what has one already is still read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.api.openapi import operations
from ironic.core.model.allocation import Allocation
from ironic.core.model.node import Node
from ironic.core.model.port import Portgroup
from ironic.core.model.step_lists import Runbook
from ironic.core.values.value_types import LogicalName
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Service

NODE = "11111111-0000-4000-8000-000000000001"
STEP = {"interface": "deploy", "step": "x", "args": {}, "order": 1}
# Each resource whose name stands in paths, with a body for a new one.
NAMED: dict[type[Any], dict[str, Any]] = {
    Node: {"driver": "fake-hardware"},
    Portgroup: {"node_uuid": NODE},
    Allocation: {"resource_class": "gold"},
    Runbook: {"steps": [STEP]},
}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = services.start(tmp_path)
    common = {f"{kind}_interface": names[0] for kind, names in services.SERVED["fake-hardware"].items()}
    running.store.nodes.create(common | {"uuid": NODE, "driver": "fake-hardware", "provision_state": "manageable"})
    running.conductor.answers = dict.fromkeys(("process_allocation", "update_portgroup"))
    yield running
    running.close()


def test_every_resource_with_such_a_name_is_here() -> None:
    written = {
        resource
        for resource in operations.resources().values()
        if (name := resource.table.fields.get("name")) is not None and isinstance(name.type, LogicalName)
    }
    assert written == NAMED.keys()


@pytest.mark.parametrize("name", [".", ".."])
@pytest.mark.parametrize("resource", NAMED, ids=lambda one: one.singular)
def test_dots_are_no_name(service: Service, resource: type[Any], name: str) -> None:
    path, version = f"/v1/{resource.collection}", "1.115"
    body = NAMED[resource]
    before = service.contents()
    refused = service.call("POST", path, body=body | {"name": name}, version=version)
    assert (refused.status, service.contents()) == (400, before)
    assert b"neither" in refused.body
    made = service.call("POST", path, body=body | {"name": "CUSTOM_GOOD"}, version=version)
    assert made.status == 201, made.body
    change = [{"op": "replace", "path": "/name", "value": name}]
    assert service.call("PATCH", f"{path}/{made.json['uuid']}", body=change, version=version).status == 400
    assert service.call("GET", f"{path}/{made.json['uuid']}", version=version).json["name"] == "CUSTOM_GOOD"


def test_a_node_that_has_such_a_name_is_read_and_gets_another(service: Service) -> None:
    service.store.nodes.update(NODE, {"name": ".."})
    assert service.call("GET", f"/v1/nodes/{NODE}").json["name"] == ".."
    other = [{"op": "add", "path": "/extra/a", "value": 1}]
    assert service.call("PATCH", f"/v1/nodes/{NODE}", body=other).status == 200
    renamed = service.call("PATCH", f"/v1/nodes/{NODE}", body=[{"op": "replace", "path": "/name", "value": "good"}])
    assert (renamed.status, renamed.json["name"]) == (200, "good")
