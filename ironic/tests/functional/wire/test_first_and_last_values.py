"""Every argument of the OpenAPI document is accepted at its first and its last legal value.

Each value is sent to the first version whose document allows it and to the newest; to the one before the first and to
the oldest that has the request, which must refuse it. What a request needs besides follows from the same document;
`also` and `NAMED` have what it can't say: what goes with what, and what names another thing. Each call is undone, so
that none decides about the next.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest

from ironic.api import version_negotiation
from ironic.api.openapi import operations
from ironic.api.routes import Route
from ironic.core.flows import states
from ironic.tests import transaction_guard
from ironic.tests.agent_double import make_certificate
from ironic.tests.functional.wire import every_route
from ironic.tests.functional.wire.described import described
from ironic.tests.functional.wire.every_route import ROWS, THERE, label, path
from ironic.tests.functional.wire.service import SERVED, Response, Service
from ironic.tests.functional.wire.test_every_argument import VERBS
from ironic.tests.functional.wire.test_resources import ACTION, STEP

Schema = Mapping[str, Any]

NODE = THERE["node"]
PARENT = "11111111-0000-4000-8000-0000000000ff"
ALSO_THERE = {
    kind: f"{number}{number}{number}{number}{number}{number}{number}{number}-0000-4000-8000-000000000001"
    for number, kind in enumerate(("allocation", "template", "runbook", "rule", "connector", "target", "entry"))
} | {"setting": "virt", "vif": "vif-1"}
MAC = "52:54:00:00:00:01"
PROVISION = "PUT /v1/nodes/{node}/states/provision"
HEARTBEAT = "POST /v1/heartbeat/{agent_node}"
EVALUATE = "POST /v1/inspection_rules/evaluate"
LOOKUP = "GET /v1/lookup"
REPORT = "POST /v1/continue_inspection"
TOKEN = "t" * 1024
INVENTORY = {"interfaces": [{"name": "eth0", "mac_address": MAC}], "bmc_address": "192.0.2.9"}


class _UndoneError(Exception):
    """Ends a transaction in which a call was made."""


@contextmanager
def undone(service: Service) -> Iterator[None]:
    # Conductors that are asked meanwhile only take note.
    with suppress(_UndoneError), transaction_guard.lifted(), service.store.writing():
        yield
        raise _UndoneError


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = every_route.start(tmp_path)
    store, there = running.store, ALSO_THERE
    node = store.nodes.get(NODE)
    store.nodes.create({"uuid": PARENT, "driver": "fake-hardware", "provision_state": "enroll"})
    store.allocations.create({"uuid": there["allocation"], "state": "active", "node_id": node.id})
    store.deploy_templates.create_with({"uuid": there["template"], "name": "CUSTOM_T"}, [STEP | {"priority": 1}])
    store.runbooks.create_with({"uuid": there["runbook"], "name": "CUSTOM_R"}, [STEP | {"order": 1}])
    store.runbooks.traits.replace(store.runbooks.get(there["runbook"]).id, ["CUSTOM_R"])
    store.rules.create({"uuid": there["rule"], "actions": [ACTION]})
    store.volume_connectors.create({"uuid": there["connector"], "node_id": node.id, "type": "iqn", "connector_id": "c"})
    store.volume_targets.create(
        {"uuid": there["target"], "node_id": node.id, "volume_type": "iscsi", "volume_id": "v", "boot_index": 7}
    )
    store.history.create({"uuid": there["entry"], "node_id": node.id, "event": "something"})
    store.bios_settings.sync(node.id, [{"name": "virt", "value": "on"}])
    store.traits.replace(node.id, ["CUSTOM_R"])
    node.power_state, node.allocation_id = "power off", store.allocations.get(there["allocation"]).id
    node.set_driver_internal_info("agent_secret_token", TOKEN)
    node.save()
    yield running
    running.close()


def operation(route: Route, minor: int) -> Schema:
    """Return what the document of a version says of a route; {} where it says nothing."""
    found: Schema = described(minor)["paths"].get(route.path, {}).get(route.method.lower(), {})
    return found


def query_at(route: Route, minor: int) -> dict[str, Any]:
    parameters = operation(route, minor).get("parameters", ())
    return {one["name"]: one for one in parameters if one.get("in") == "query"}


def body_at(route: Route, minor: int) -> Schema:
    content = operation(route, minor).get("requestBody", {}).get("content", {}).get("application/json", {})
    schema: Schema = content.get("schema", {})
    if name := schema.get("$ref", "").rpartition("/")[2]:
        schema = described(minor)["components"]["schemas"][name]
    return schema


def arguments(route: Route, minor: int) -> dict[tuple[str, str], Schema]:
    """Return the schema of each argument by where it is and what it is called; of a patch, of each whole field."""
    found = {("query", name): one["schema"] for name, one in query_at(route, minor).items()}
    body = body_at(route, minor)
    for operation in body.get("items", {}).get("anyOf", ()):
        said = operation["properties"]
        # Where it says nothing of the value, it is about the inside of a field or what never changes.
        if len(said["value"]) > 1 or said["op"]["enum"] == ["remove"]:
            for name in re.findall(r"\w+", said["path"]["pattern"]):
                found[said["op"]["enum"][-1], name] = said["value"]
    return found | {("body", name): one for name, one in body.get("properties", {}).items()}


# Texts of one syntax or another: the first and the last that a schema allows are taken.
_TEXTS = (
    *("a", "CUSTOM_A", "00:00:00:00:00:00", "http://a", "1", "a" * 63, "a" * 255, f"CUSTOM_{'A' * 248}"),
    *("FF:ff:FF:ff:FF:ff", f"cifs://{'a' * 2000}", "Off", "~" * 255),
)
_UUIDS = ("00000000-0000-4000-8000-000000000000", "ffffffff-ffff-4fff-bfff-ffffffffffff")
_UNBOUNDED = 3000


def ends(schema: Schema) -> list[Any]:
    """Return the first and the last value that a schema allows, of a short enum all of them."""
    if "$ref" in schema:
        return ends(described(version_negotiation.MAXIMUM)["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return [value for one in schema["anyOf"] for value in ends(one)]
    if "enum" in schema:
        return list(schema["enum"]) if len(schema["enum"]) < 100 else [schema["enum"][0], schema["enum"][-1]]
    match schema.get("type", "object"):
        case list(kinds):
            return [value for kind in kinds for value in ends({**schema, "type": kind})]
        case "string":
            return _texts(schema)
        case "integer":
            return [schema.get("minimum", -(2**31)), schema.get("maximum", 2**31 - 1)]
        case "boolean":
            return [False, True]
        case "null":
            return [None]
        case "array":
            first, *_, last = [*(found := ends(schema.get("items", {"type": "string"}))), found[-1]]
            return [[first] * schema.get("minItems", 0), [last] * schema.get("maxItems", 1)]
        case _:
            known = schema.get("properties", {})
            least = {name: ends(known[name])[0] for name in schema.get("required", ())}
            return [least, {name: ends(one)[-1] for name, one in known.items()}]


def _texts(schema: Schema) -> list[str]:
    if schema.get("format") == "uuid":
        return list(_UUIDS)
    if "pattern" not in schema:
        return ["x" * schema.get("minLength", 0), "x" * schema.get("maxLength", _UNBOUNDED)]
    found = [one for one in _TEXTS if re.search(schema["pattern"], one) and len(one) <= schema.get("maxLength", 9999)]
    return [found[0], found[-1]]


# By request or for all of them: what has to name something that is there, or has a grammar that a schema can't
# describe.
NAMED: dict[str, list[Any]] = {
    "node": [NODE],
    "node_uuid": [NODE],
    "node_ident": [NODE],
    "parent_node": [PARENT],
    "chassis_uuid": [THERE["chassis"]],
    "portgroup_uuid": [THERE["portgroup"]],
    "portgroup": [THERE["portgroup"]],
    "driver": [THERE["driver"]],
    "driver_name": [THERE["driver"]],
    "conductor_group": [""],
    "PATCH /v1/chassis/{chassis} uuid": [THERE["chassis"]],
    "candidate_nodes": [[], [NODE], None],
    "runbook": [ALSO_THERE["runbook"]],
    "conditions": [[], [{"op": "is-true", "args": {"value": 1}}], None],
    "actions": [[{"op": "log", "args": {"msg": "x"}}]],
    "inventory": [INVENTORY],
    **{f"{kind}_interface": list(names) for kind, names in SERVED["fake-hardware"].items()},
    "agent_token": [TOKEN],
    "agent_verify_ca": [make_certificate()[0], None],
    "callback_url": ["", f"https://{'a' * 63}:65535"],
    f"{EVALUATE} rules": [[], [{"actions": [ACTION]}] * 1000, None],
    f"{LOOKUP} addresses": [[MAC], [f"52:54:00:00:{n >> 8:02x}:{n & 255:02x}" for n in range(1, 1025)]],
    # Without one the body has to name a node.
    "POST /v1/allocations resource_class": ["x", "x" * 80],
}


def values(route: Route, name: str, schema: Schema) -> list[Any]:
    return NAMED.get(f"{label(route)} {name}", NAMED.get(name, ends(schema)))


class Try(NamedTuple):
    """One value of one argument: where it is sent, and the first version whose document allows it.

    ``place`` is query or body, or for a field the operation of a patch: replace or remove.
    """

    place: str
    name: str
    value: Any
    since: int


def tries(route: Route) -> list[Try]:
    found: dict[tuple[str, str, str], Try] = {}
    for minor in version_negotiation.TEXTS:
        for (place, name), schema in arguments(route, minor).items():
            for value in [None] if place == "remove" else values(route, name, schema):
                found.setdefault((place, name, json.dumps(value)), Try(place, name, value, minor))
    return list(found.values())


def sent(service: Service, route: Route, one: Try, minor: int) -> Response:
    """Send a value with all that it needs besides, and undo what came of it."""
    # An older version knows no requirement of its own for what it does not know.
    known = max(minor, one.since)
    body, query = body_at(route, known), query_at(route, known)
    properties = body.get("properties", {})
    parts: dict[str, dict[str, Any]] = {
        "body": {name: values(route, name, properties.get(name, {}))[0] for name in body.get("required", ())},
        "query": {name: values(route, name, said["schema"])[0] for name, said in query.items() if said.get("required")},
    }
    parts["body"] |= also(route, one)
    if one.place in parts:
        parts[one.place][one.name] = one.value
    target = path(route, **ALSO_THERE)
    if parts["query"]:
        target += "?" + urlencode({name: _spelled(value) for name, value in parts["query"].items()})
    sends: Any = parts["body"]
    if body.get("type") == "array":
        changed = {"op": one.place, "path": f"/{one.name}"} | ({} if one.place == "remove" else {"value": one.value})
        sends = [_DRIVER if one.place == "query" else changed]
    raw = json.dumps(sends).encode() if body else b""
    with undone(service):
        prepare(service, route, parts["body"])
        return service.call(route.method, target, version=f"1.{minor}", raw=raw)


def _spelled(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(value)
    return json.dumps(value) if isinstance(value, bool) else str(value)


_DRIVER = {"op": "replace", "path": "/driver", "value": THERE["driver"]}
# What a verb needs.
_NEEDED: dict[str, dict[str, Any]] = {
    "clean": {"clean_steps": [STEP_OF_CLEANING := {"interface": "deploy", "step": "x"}]},
    "service": {"service_steps": [STEP_OF_CLEANING]},
    "rescue": {"rescue_password": "p"},
}


def also(route: Route, one: Try) -> dict[str, Any]:
    """Return what else has to be in a body."""
    match label(route):
        case _ if label(route) == PROVISION:
            verb = one.value if one.name == "target" else VERBS[one.name]
            return {"target": verb} | ({} if one.name == "runbook" else _NEEDED.get(verb, {}))
        case _ if label(route) == HEARTBEAT:
            return {"callback_url": "https://192.0.2.1:9999", "agent_token": TOKEN}
        case _ if label(route) == EVALUATE:
            return {} if one.name == "node" else {"inventory": {}}
        case "POST /v1/allocations":
            return {"resource_class": "gold"}
        case "POST /v1/nodes" if one.name == "retired_reason":
            return {"retired": True}
        case "POST /v1/ports" if one.name != "node_ident":
            return {"node_uuid": NODE}
    return {}


def prepare(service: Service, route: Route, body: Mapping[str, Any]) -> None:
    """Bring the node into a state in which a request can succeed."""
    if label(route) == PROVISION:
        node = service.store.nodes.get(NODE)
        node.provision_state = next(state for state in sorted(states.ALL) if body["target"] in states.verbs_of(state))
        node.save()
    if label(route) == REPORT:
        node = service.store.nodes.get(NODE)
        node.provision_state = states.INSPECTWAIT
        node.save()


# What is legal and yet leads nowhere: nothing is where a page is to go on, no node waits for this ramdisk.
LEADS_NOWHERE = {
    "marker": 404,
    f"{LOOKUP} addresses": 404,
    f"{LOOKUP} node_uuid": 404,
    "POST /v1/allocations node": 409,
    f"{EVALUATE} node": 404,
}
# A heartbeat has to contain the agent's version, which earlier versions of the API do not know.
FIRST_HEARTBEAT = 36
# What versions before the first take all the same: it means nothing to them.
MEANT_NOTHING = {"POST /v1/nodes/{node}/vifs port_uuid", "POST /v1/nodes/{node}/vifs portgroup_uuid"}
# And what always counted as not given.
NOT_GIVEN: dict[str, tuple[Any, ...]] = {
    f"{PROVISION} deploy_steps": ([],),
    f"{PROVISION} disable_ramdisk": (False, "Off"),
}
# The documents of all versions take seconds to make, in every process that collects tests.
TRIED = [route for route in ROWS if arguments(route, version_negotiation.MAXIMUM)]


def is_allowed(route: Route, one: Try, minor: int) -> bool:
    """Return whether the document of a version has the argument, and allows the value."""
    schema = arguments(route, minor).get((one.place, one.name))
    return schema is not None and (one.place == "remove" or one.value in values(route, one.name, schema))


def expected(route: Route, one: Try, minor: int) -> set[int]:
    if label(route) == HEARTBEAT and minor < FIRST_HEARTBEAT:
        return {400}
    nowhere = LEADS_NOWHERE.get(f"{label(route)} {one.name}", LEADS_NOWHERE.get(one.name))
    if nowhere is not None:
        return {nowhere}
    if one.name in {key for needed in _NEEDED.values() for key in needed} and not one.value:
        return {400}
    return {operations.content_of(route, minor).ok} | {status for status in route.also if status < 300}


def test_what_has_no_argument_in_the_newest_version_never_had_one() -> None:
    assert [label(route) for route in ROWS if route not in TRIED and tries(route)] == []


@pytest.mark.parametrize("route", TRIED, ids=label)
def test_it_is_taken_by_the_versions_whose_document_allows_it(service: Service, route: Route) -> None:
    for one in tries(route):
        for minor in {one.since, version_negotiation.MAXIMUM}:
            if is_allowed(route, one, minor):
                answer = sent(service, route, one, minor)
                assert answer.status in expected(route, one, minor), (one, minor, answer.body)


@pytest.mark.parametrize("route", TRIED, ids=label)
def test_it_is_refused_by_the_version_before_and_the_oldest(service: Service, route: Route) -> None:
    for one in tries(route):
        for minor in {route.since, one.since - 1}:
            if route.since <= minor < one.since and minor not in route.gap and one.value is not None:
                answer = sent(service, route, one, minor)
                name = f"{label(route)} {one.name}"
                is_taken = name in MEANT_NOTHING or one.value in NOT_GIVEN.get(name, ())
                # Long before, the verb was not known either that such a one goes with.
                refused = {400, 404, 406} if not is_taken or minor < one.since - 1 else set()
                assert answer.status in refused or (is_taken and answer.status < 300), (one, minor, answer.body)
