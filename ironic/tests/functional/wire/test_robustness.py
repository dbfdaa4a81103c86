"""Whatever is sent, the answer is the caller's fault, not ours: no 500, and nothing of a refused request is kept."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ironic.core.model.node import Node
from ironic.tests.effort import examples
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Service

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(sorted(Node.table.fields)) | st.text(max_size=8)
PATHS = st.lists(NAMES | st.sampled_from(["-", "0", "a", "~1", ""]), max_size=4).map(
    lambda parts: "/" + "/".join(parts)
)
OPERATIONS = st.fixed_dictionaries(
    {}, optional={"op": st.sampled_from(["add", "replace", "remove", "move"]) | VALUES, "path": PATHS, "value": VALUES}
)
QUERIES = st.dictionaries(
    st.sampled_from([*sorted(Node.table.filters), "limit", "marker", "sort_key", "sort_dir", "fields", "detail", "x"]),
    st.text(max_size=10),
    max_size=3,
)

LIMITS = settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    running = services.start(tmp_path_factory.mktemp("robust"))
    running.store.nodes.create({"driver": "fake-hardware", "name": "n", "provision_state": "manageable"})
    yield running
    running.close()


def _check(service: Service, method: str, path: str, body: Any) -> None:
    before = service.contents()
    response = service.call(method, path, body=body)
    assert response.status < 500, response.body
    if response.status >= 400:
        assert service.contents() == before


@LIMITS
@given(body=st.dictionaries(NAMES, VALUES, max_size=4) | VALUES, driver=st.booleans())
def test_a_node_is_created_or_refused(service: Service, body: Any, driver: bool) -> None:
    if driver and isinstance(body, dict):
        body = body | {"driver": "fake-hardware"}
    _check(service, "POST", "/v1/nodes", body)


@LIMITS
@given(body=st.lists(OPERATIONS, max_size=3) | VALUES)
def test_a_node_is_changed_or_refused(service: Service, body: Any) -> None:
    uuid = service.store.nodes.create({"driver": "fake-hardware", "provision_state": "manageable"}).uuid
    _check(service, "PATCH", f"/v1/nodes/{uuid}", body)


@LIMITS
@given(
    target=st.sampled_from(["manage", "clean", "active", "rescue", "abort", "inspect", "x"]) | VALUES,
    rest=st.dictionaries(
        st.sampled_from(
            ["clean_steps", "deploy_steps", "configdrive", "rescue_password", "runbook", "disable_ramdisk"]
        ),
        VALUES
        | st.lists(st.dictionaries(st.sampled_from(["interface", "step", "args", "priority"]), VALUES), max_size=2),
        max_size=2,
    ),
)
def test_a_state_is_changed_or_refused(service: Service, target: Any, rest: dict[str, Any]) -> None:
    _check(service, "PUT", "/v1/nodes/n/states/provision", {"target": target} | rest)


@LIMITS
@given(query=QUERIES, text=st.text(max_size=12), minor=st.integers(1, 115))
def test_nodes_are_listed_or_refused(service: Service, query: dict[str, str], text: str, minor: int) -> None:
    from urllib.parse import quote, urlencode

    for path in (f"/v1/nodes?{urlencode(query)}", f"/v1/nodes/{quote(text, safe='')}"):
        response = service.call("GET", path, version=f"1.{minor}")
        assert response.status < 500, (path, response.body)
