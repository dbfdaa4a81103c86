"""The OpenAPI document: valid, complete, and true of what the service takes and answers."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from openapi_spec_validator import validate

from ironic.api import openapi
from ironic.api.openapi import operations
from ironic.api.resources import ROUTES
from ironic.api.routes import Refusing, Route
from ironic.api.settings import ApiSettings
from ironic.api.version_negotiation import MAXIMUM
from ironic.core.values.value_types import Object
from ironic.db.tables import metadata
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.described import described
from ironic.tests.functional.wire.every_route import label
from ironic.tests.functional.wire.service import Service
from ironic.tests.functional.wire.test_resources import SAMPLES

VERSIONS = (1, 22, 31, 52, 90, MAXIMUM)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = services.start(tmp_path)
    yield running
    running.close()


@pytest.mark.parametrize("minor", VERSIONS)
def test_the_document_is_valid(service: Service, minor: int) -> None:
    validate(service.call("GET", "/v1/openapi.json", version=f"1.{minor}").json)


@pytest.mark.parametrize("minor", VERSIONS)
def test_there_is_one_for_every_version(service: Service, minor: int) -> None:
    answer = service.call("GET", "/v1/openapi.json", version=f"1.{minor}")
    assert (answer.status, answer.json["openapi"], answer.json["info"]["version"]) == (200, "3.1.0", f"1.{minor}")
    assert answer.json["servers"] == [{"url": ".."}]
    assert ("/v1/portgroups" in answer.json["paths"]) is (minor >= 23)
    assert ("bios_interface" in answer.json["components"]["schemas"]["Node"]["properties"]) is (minor >= 40)


def test_it_does_not_depend_on_the_name_by_which_a_client_calls_the_service(service: Service) -> None:
    found = {service.call("GET", "/v1/openapi.json", headers={"Host": f"name-{one}"}).body for one in range(3)}
    assert len(found) == 1


def test_it_names_the_endpoint_that_is_configured(tmp_path: Path) -> None:
    with closing(services.start(tmp_path, ApiSettings(public_endpoint="https://ironic.example/metal"))) as running:
        assert running.call("GET", "/v1/openapi.json").json["servers"] == [{"url": "https://ironic.example/metal"}]


def test_each_version_is_built_once_whatever_others_are_asked_for(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = [f"1.{minor}" for minor in range(1, MAXIMUM + 1)]
    bodies = [service.call("GET", "/v1/openapi.json", version=one).body for one in versions]
    monkeypatch.delattr(openapi, "document")
    assert [service.call("GET", "/v1/openapi.json", version=one).body for one in reversed(versions)] == bodies[::-1]


def test_it_is_the_same_until_the_service_changes(service: Service) -> None:
    tag = service.call("GET", "/v1/openapi.json").headers["ETag"]
    assert service.call("GET", "/v1/openapi.json", headers={"If-None-Match": tag}).status == 304
    assert service.call("GET", "/v1/openapi.json", version=None).json["info"]["version"] == "1.1"
    assert service.call("GET", "/v1/openapi.json?x=1").status == 400


@pytest.mark.parametrize("minor", [1, 90, 91])
def test_it_is_found_however_it_is_spelled(service: Service, minor: int) -> None:
    whole = service.call("GET", "/v1/openapi.json", version=f"1.{minor}").body
    for path in ("/openapi.json", "/v1/openapi.json/"):
        assert service.call("GET", path, version=f"1.{minor}").body == whole


def test_what_only_the_oldest_version_knew_is_told_there() -> None:
    assert (
        "/v1/continue_inspection" not in described(2)["paths"]
        and "/v1/continue_inspection" not in described(83)["paths"]
    )
    old, new = (described(minor)["paths"]["/v1/continue_inspection"]["post"] for minor in (1, 84))
    for operation, keys, named in ((old, {"uuid"}, False), (new, {"node", "config"}, True)):
        answer = operation["responses"]["200"]["content"]["application/json"]["schema"]
        assert answer["properties"].keys() == keys
        assert ("node_uuid" in {one.get("name") for one in operation["parameters"]}) is named


@pytest.mark.parametrize(
    ("word", "taken"),
    [("True", True), ("FALSE", True), ("yes", True), ("oN", True), ("0", True), ("2", False), ("truer", False)],
)
def test_words_for_truth_are_told_of_as_they_are_taken(service: Service, word: str, taken: bool) -> None:
    parameters = {one.get("name"): one for one in described(MAXIMUM)["paths"]["/v1/nodes"]["get"]["parameters"]}
    assert jsonschema.Draft202012Validator(parameters["maintenance"]["schema"]).is_valid(word) is taken
    assert (service.call("GET", f"/v1/nodes?maintenance={word}").status == 200) is taken


def test_every_route_that_does_something_says_what_it_answers() -> None:
    for route in ROUTES:
        assert isinstance(route.handler, Refusing) is (operations.content_of(route, MAXIMUM).ok == 0), label(route)


@pytest.mark.parametrize("minor", VERSIONS)
def test_nothing_is_referred_to_that_is_not_there(minor: int) -> None:
    whole = described(minor)
    for place in _references(whole):
        found: Any = whole
        for part in place.removeprefix("#/").split("/"):
            found = found[part]
    names = [one["operationId"] for methods in whole["paths"].values() for one in methods.values()]
    assert len(names) == len(set(names))


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


@pytest.mark.parametrize("sample", [sample for sample in SAMPLES if sample.body], ids=str)
def test_what_is_taken_is_described_as_taken(sample: Any) -> None:
    schemas = described(MAXIMUM)["components"]
    create = {"$ref": f"#/components/schemas/{sample}Create", "components": schemas}
    patch = {"$ref": f"#/components/schemas/{sample}Patch", "components": schemas}
    jsonschema.validate(sample.body(1), create)
    paths = [one["properties"]["path"]["pattern"] for one in schemas["schemas"][f"{sample}Patch"]["items"]["anyOf"]]
    for name in sample.resource.writable("patch"):
        assert any(re.search(path, f"/{name}") for path in paths), name
        wrong = {"op": "add", "path": f"/{name}", "value": {"no": ["field", "has", "this"]} if name != "extra" else 1}
        if not isinstance(sample.resource.table.fields[name].type, Object) or name == "extra":
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate([wrong], patch)
    for schema, refused in ((create, {"no_such_key": 1}), (patch, [{"op": "move", "path": "/extra"}]), (patch, {})):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(refused, schema)


def body_of(route: Route) -> dict[str, Any]:
    return operations.content_of(route, MAXIMUM).body or {}


# Of those that take nothing else than what is described.
WITH_BODIES = [
    route
    for route in ROUTES
    if body_of(route).get("properties") and body_of(route).get("additionalProperties") is False
]


@pytest.mark.parametrize("route", WITH_BODIES, ids=label)
def test_no_argument_that_is_described_is_unknown(service: Service, route: Route) -> None:
    method, path = route.method, route.path
    service.store.nodes.create({"driver": "fake-hardware", "name": "n", "provision_state": "enroll"})
    path = path.replace("{node}", "n").replace("{agent_node}", "n").replace("{indicator}", "led@system")
    body = dict.fromkeys(body_of(route)["properties"], 7)
    answer = service.call(method, path.replace("{runbook}", "r"), body=body)
    assert answer.status in range(400, 500)
    assert b"Unknown" not in answer.body


@pytest.mark.parametrize("minor", VERSIONS)
def test_whoever_makes_or_lists_things_is_told_how_to_go_on(minor: int) -> None:
    paths = described(minor)["paths"]
    for path, methods in paths.items():
        item = next((one for one in paths if one.startswith(f"{path}/{{") and one.endswith("}")), None)
        if item is None or item.count("/") != path.count("/") + 1:
            continue
        own = {one["operationId"] for method, one in paths[item].items() if method in ("get", "patch", "delete")}
        for response in (made(methods), listed(methods)):
            assert response is None or own <= response["links"].keys(), path


def made(methods: dict[str, Any]) -> Any:
    """Return the answer that says what was made."""
    return methods.get("post", {}).get("responses", {}).get("201")


def listed(methods: dict[str, Any]) -> Any:
    """Return the answer that is a list of a resource."""
    found = methods.get("get", {}).get("responses", {}).get("200", {})
    schema = found.get("content", {}).get("application/json", {}).get("schema", {})
    return found if schema.get("$ref", "").endswith("List") else None


def test_links_lead_to_what_there_is() -> None:
    paths = described(MAXIMUM)["paths"]
    known = {one["operationId"]: one for methods in paths.values() for one in methods.values()}
    for methods in paths.values():
        for operation in methods.values():
            for response in operation["responses"].values():
                for link in response.get("links", {}).values():
                    parameters = {
                        f"{one['in']}.{one['name']}" for one in known[link["operationId"]]["parameters"] if "in" in one
                    }
                    assert link.get("parameters", {}).keys() <= parameters


def test_what_belongs_to_a_node_can_be_made_from_the_node() -> None:
    links = described(MAXIMUM)["paths"]["/v1/nodes"]["post"]["responses"]["201"]["links"]
    for made in ("ports", "portgroups", "volume_connectors", "volume_targets"):
        assert links[f"post_v1_{made}"]["requestBody"] == {"node_uuid": "$response.body#/uuid"}
    assert "post_v1_chassis" not in links


@pytest.mark.parametrize(
    ("minor", "words", "keys"),
    [
        (1, ["active", "deleted", "rebuild", "undeploy"], {"target", "configdrive"}),
        (15, ["abort", "active", "available", "clean", "deleted", "inspect", "manage"], {"clean_steps"}),
        (92, ["service", "unhold", "rescue"], {"service_steps", "deploy_steps", "runbook", "rescue_password"}),
    ],
)
def test_verbs_and_their_arguments_are_told_of_where_they_are_known(
    minor: int, words: list[str], keys: set[str]
) -> None:
    operation = described(minor)["paths"]["/v1/nodes/{node}/states/provision"]["put"]
    told = operation["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert set(words) <= set(told["target"]["enum"])
    assert keys <= told.keys()
    if minor == 1:
        assert (sorted(told["target"]["enum"]), told.keys()) == (words, keys)


@pytest.mark.demand("S107")
def test_an_inventory_has_one_address_and_one_row_without_another_copy(service: Service) -> None:
    paths = service.call("GET", "/v1/openapi.json").json["paths"]
    assert [path for path in paths if "inventor" in path or "processed" in path] == ["/v1/nodes/{node}/inventory"]
    assert paths["/v1/nodes/{node}/inventory"].keys() & {"get", "post", "put", "patch", "delete"} == {"get"}
    stored = {name: [column.name for column in table.columns] for name, table in metadata.tables.items()}
    kept = [(name, column) for name, columns in stored.items() for column in columns if "inventory" in column]
    # A report that a rule refuses is kept for dry runs, without an address of its own.
    assert kept == [("node_inventory", "inventory_data"), ("refused_reports", "inventory_data")]
    assert stored["refused_reports"] == stored["node_inventory"]
    assert set(stored["node_inventory"]) - {"id", "node_id", "created_at", "updated_at"} == {
        "inventory_data",
        "plugin_data",
    }
