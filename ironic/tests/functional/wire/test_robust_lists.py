"""Whatever is sent about volumes, templates, runbooks, allocations: no 500, and nothing of what is refused is kept."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ironic.core.model.allocation import Allocation
from ironic.core.model.fields import Resource
from ironic.core.model.step_lists import DeployTemplate, Runbook
from ironic.core.model.volumes import VolumeConnector, VolumeTarget
from ironic.tests.effort import examples
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Service

NODE = "11111111-0000-4000-8000-000000000001"
STEP = {"interface": "bios", "step": "x", "args": {}}

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
STEPS = st.lists(
    st.dictionaries(st.sampled_from(["interface", "step", "args", "priority", "order", "x"]), VALUES)
    | VALUES.map(lambda value: STEP | {"priority": value})
    | VALUES.map(lambda value: STEP | {"order": value}),
    max_size=3,
)
_numbers = itertools.count(1_000_000)

LIMITS = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

KINDS = [
    pytest.param("volume/connectors", VolumeConnector, {"node_uuid": NODE, "type": "ip"}, id="connectors"),
    pytest.param(
        "volume/targets", VolumeTarget, {"node_uuid": NODE, "volume_type": "i", "volume_id": "v"}, id="targets"
    ),
    pytest.param(
        "deploy_templates", DeployTemplate, {"name": "CUSTOM_X", "steps": [STEP | {"priority": 1}]}, id="templates"
    ),
    pytest.param("runbooks", Runbook, {"name": "x", "steps": [STEP | {"order": 1}]}, id="runbooks"),
    pytest.param("allocations", Allocation, {"resource_class": "x"}, id="allocations"),
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    running = services.start(tmp_path_factory.mktemp("robust"))
    node = {"driver": "fake-hardware", "provision_state": "active", "power_state": "power off"}
    running.store.nodes.create(node | {"uuid": NODE, "name": "n"})
    yield running
    running.close()


def _check(service: Service, method: str, path: str, body: Any = None) -> None:
    before = service.contents()
    response = service.call(method, path, body=body)
    assert response.status < 500, response.body
    if response.status >= 400:
        assert service.contents() == before


@pytest.mark.parametrize(("path", "resource", "good"), KINDS)
@LIMITS
@given(data=st.data())
def test_a_thing_is_created_or_refused(
    service: Service, path: str, resource: type[Resource], good: dict[str, Any], data: st.DataObject
) -> None:
    names = st.sampled_from(sorted(resource.table.fields)) | st.text(max_size=8)
    body = data.draw(st.dictionaries(names, VALUES | STEPS, max_size=3) | VALUES)
    if isinstance(body, dict) and data.draw(st.booleans()):
        body = good | body
    _check(service, "POST", f"/v1/{path}", body)


@pytest.mark.parametrize(("path", "resource", "good"), KINDS)
@LIMITS
@given(data=st.data())
def test_a_thing_is_changed_or_refused(
    service: Service, path: str, resource: type[Resource], good: dict[str, Any], data: st.DataObject
) -> None:
    number = next(_numbers)
    unique = {"connector_id": f"c{number}", "boot_index": number, "name": f"CUSTOM_N{number}"}
    known = {name: value for name, value in unique.items() if name in resource.table.fields}
    created = service.call("POST", f"/v1/{path}", body=good | known).json["uuid"]
    roots = st.sampled_from(sorted(resource.table.fields)) | st.text(max_size=8)
    parts = st.lists(roots | st.sampled_from(["-", "0", "a", "~1", "", "step"]), min_size=1, max_size=4)
    operation = st.fixed_dictionaries(
        {},
        optional={
            "op": st.sampled_from(["add", "replace", "remove"]) | VALUES,
            "path": parts.map(lambda names: "/" + "/".join(names)),
            "value": VALUES | STEPS,
        },
    )
    _check(service, "PATCH", f"/v1/{path}/{created}", data.draw(st.lists(operation, max_size=3) | VALUES))
    assert service.call("DELETE", f"/v1/{path}/{created}").status == 204


@pytest.mark.parametrize(("path", "resource", "good"), KINDS)
@LIMITS
@given(data=st.data())
def test_a_list_is_answered_or_refused(
    service: Service, path: str, resource: type[Resource], good: dict[str, Any], data: st.DataObject
) -> None:
    names = ["limit", "marker", "sort_key", "sort_dir", "fields", "detail", *resource.table.filters]
    keys = data.draw(st.lists(st.sampled_from(names), max_size=3))
    values = st.sampled_from(
        ["1", "true", "id", "name", "uuid", NODE, "%00", "%ed%a0%80", "%ff", "-1", "99999999999999"]
    )
    query = "&".join(f"{key}={data.draw(values)}" for key in keys)
    _check(service, "GET", f"/v1/{path}?{query}")
