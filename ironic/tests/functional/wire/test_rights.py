"""Every caller tries every operation that a rule guards: who is allowed, who is refused, who gets a 404.

What is asked for is such that nothing changes: a query or body that is refused after the rules were asked, or a node in
a state that allows none of it. A caller who is allowed gets the same answer as without rules.
"""

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pytest

from ironic.api.app import BARE_METAL, Api
from ironic.api.json_patch import Change
from ironic.api.policy import KeystonePolicy, NoauthPolicy
from ironic.api.request import Services
from ironic.api.resources import ROUTES
from ironic.api.resources.nodes.writes import rule_for
from ironic.core.context import RequestContext
from ironic.core.model.node import Node
from ironic.rpc.client import ConductorClients
from ironic.rpc.in_process import InProcess
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Response, Service
from ironic.tests.reference_rules import RANKS, REFERENCE, Judge, configuration, everybody, judge
from ironic.tests.unit.api.resources.rows import add_node, add_port

CALLERS = everybody(RANKS, {"owners": "owners", "lessees": "lessees", "others": "others"})
# Whose the things are.
RELATIONS: dict[str, dict[str, str]] = {"owned": {"owner": "owners", "lessee": "lessees"}, "free": {}}

NOTHING = "44444444-0000-4000-8000-000000000000"
# What stands in the path -> the rule to see it.
SEEN_BY = {
    **dict.fromkeys(("node", "port", "portgroup", "connector", "target"), "baremetal:node:get"),
    "allocation": "baremetal:allocation:get",
    "runbook": "baremetal:runbook:get",
}
# Operations that several rules guard, where not all of them are for single fields; one that lets through is enough.
EITHER = {
    ("GET", "/v1/nodes/{}"): {"baremetal:node:get"},
    ("GET", "/v1/volume/connectors/{}"): {"baremetal:volume:get"},
    ("GET", "/v1/volume/targets/{}"): {"baremetal:volume:get"},
    ("PUT", "/v1/nodes/{}/states/provision"): {"baremetal:node:set_provision_state"},
    ("PATCH", "/v1/allocations/{}"): {"baremetal:allocation:update"},
}
# Judged by what the body says, or by more than the path names: below, or in test_access_of_volumes.
ELSEWHERE = {
    *(("POST", f"/v1/{kind}") for kind in ("ports", "portgroups", "volume/connectors", "volume/targets")),
    ("POST", "/v1/allocations"),
    ("PATCH", "/v1/nodes/{}"),
    ("PATCH", "/v1/runbooks/{}"),
    ("GET", "/v1/nodes/{}/allocation"),
    ("DELETE", "/v1/nodes/{}/allocation"),
}


class Operation(NamedTuple):
    """A route, and the rules of which one has to let a caller through."""

    method: str
    path: str
    rules: frozenset[str]

    @property
    def kind(self) -> str:
        """What the path names first."""
        return self.path.partition("{")[2].partition("}")[0]


def shape(method: str, path: str) -> tuple[str, str]:
    return method, re.sub(r"\{[^}]*\}", "{}", path)


def said(operation: str) -> tuple[str, str]:
    """Read an operation as the reference writes it."""
    method, _, path = operation.partition(" ")
    path = path.lstrip("/").partition("?")[0].replace("{component}/{indicator}", "{indicator}")
    return shape(method, f"/v1/{path}")


def operations() -> list[Operation]:
    guarded: dict[tuple[str, str], set[str]] = {}
    for name, rule in REFERENCE.items():
        for operation in rule.get("operations", ()):
            guarded.setdefault(said(operation), set()).add(name)
    found = []
    for route in ROUTES:
        key = shape(route.method, route.path)
        if key in guarded and key not in ELSEWHERE and not route.public:
            lists = {name for name in guarded[key] if name.endswith((":list", ":list_all"))}
            found.append(Operation(route.method, route.path, frozenset(EITHER.get(key) or lists or guarded[key])))
    return found


class House(NamedTuple):
    """A service with things with and without an owner, and what the reference says of callers."""

    service: Service
    judge: Judge
    guarded: Api
    open: Api
    # By relation and kind.
    idents: dict[str, dict[str, str]]

    def ask(self, who: RequestContext | None, method: str, path: str, **given: Any) -> Response:
        """Send a request as a caller; None: without rules."""
        api, context = (self.open, RequestContext()) if who is None else (self.guarded, who)

        def app(environ: dict[str, Any], start: Any) -> Any:
            return api(environ | {"ironic.context": context}, start)

        return dataclasses.replace(self.service, app=app).call(method, path, **given)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    directory = tmp_path_factory.mktemp("house")
    running, conf = services.start(directory), configuration(directory)
    transport = InProcess()
    transport.register(services.HOST, running.conductor)

    def api(policy: Any) -> Api:
        conductors = ConductorClients(transport, running.hash_ring)
        return Api(BARE_METAL, Services(running.store, conductors, running.hash_ring, running.settings, policy))

    idents = {name: furnish(running, name, values) for name, values in RELATIONS.items()}
    yield House(running, judge(conf), api(KeystonePolicy.from_conf(conf)), api(NoauthPolicy()), idents)
    running.close()


def furnish(running: Service, name: str, values: Mapping[str, str]) -> dict[str, str]:
    """Store one thing of each kind; the node is at work, so that neither changing nor deleting it gets far."""
    store, owner = running.store, values.get("owner")
    node = add_node(running, name=name, provision_state="cleaning", target_provision_state="available", **values)
    uuid = f"3333333{len(values)}-0000-4000-8000-000000000000"
    store.volume_connectors.create({"node_id": node.id, "uuid": uuid, "type": "iqn", "connector_id": name})
    volume = {"volume_type": "iscsi", "volume_id": name, "boot_index": 0}
    store.volume_targets.create({"node_id": node.id, "uuid": uuid, **volume})
    steps = [{"interface": "bios", "step": "x", "order": 1}]
    asked = {"name": name, "owner": owner, "state": "error", "resource_class": "x"}
    return {
        "node": node.uuid,
        "port": add_port(running, node, f"52:54:00:00:00:0{len(values)}").uuid,
        "portgroup": store.portgroups.create({"node_id": node.id, "name": name}).uuid,
        "connector": uuid,
        "target": uuid,
        "allocation": store.allocations.create(asked).uuid,
        "runbook": store.runbooks.create_with({"name": name, "owner": owner}, steps).uuid,
    }


def target(relation: str) -> dict[str, str]:
    owned = RELATIONS[relation]
    found = {f"{kind}.owner": owned["owner"] for kind in ("node", "allocation", "runbook") if owned}
    return found | ({"node.lessee": owned["lessee"]} if owned else {})


def expected(house: House, who: RequestContext, operation: Operation, relation: str, through: int) -> int:
    """Return the status that a caller is to get, given that of a caller who is allowed."""
    judged = target(relation) if operation.kind in SEEN_BY else {}
    see = SEEN_BY.get(operation.kind)
    seen = see is None or house.judge(who, see, judged)
    is_list = any(rule.endswith(":list") for rule in operation.rules)
    if any(house.judge(who, rule, judged) for rule in operation.rules) and (seen or not is_list):
        return through
    return 403 if seen else 404


@pytest.mark.parametrize("operation", operations(), ids=lambda one: f"{one.method} {one.path}")
def test_an_operation_is_for_whom_its_rule_lets_through(house: House, operation: Operation) -> None:
    method, given = operation.method, {}
    for relation in RELATIONS if operation.kind in SEEN_BY else ["owned"]:
        path = operation.path
        for kind, ident in house.idents[relation].items():
            path = path.replace(f"{{{kind}}}", ident)
        path = re.sub(r"\{[^}]*\}", NOTHING, path)
        if shape(method, operation.path) != ("DELETE", "/v1/nodes/{}"):
            path += "?unheard=of" if method in ("GET", "DELETE") else ""
            given = {} if method in ("GET", "DELETE") else {"raw": b"[{"}
        through = house.ask(None, method, path, **given).status
        assert through >= 400
        for who in CALLERS:
            got = house.ask(who, method, path, **given).status
            assert got == expected(house, who, operation, relation, through), (who, path)


# A value for each field that can be patched; what is wrong with it is found after the rules were asked.
PATCHES = [
    *(("add", name, None) for name in sorted(Node.writable("patch"))),
    *(("add", "automated_clean", value) for value in (False, "off", True)),
    ("remove", "automated_clean", None),
    *(("add", "maintenance", value) for value in (True, "yes", False)),
]
UPDATES = {
    "extra": "update_extra",
    "instance_info": "update_instance_info",
    "instance_name": "update_instance_info",
    "driver": "update:driver_interfaces",
    "retired_reason": "update:retired",
}


def rule_of_patch(op: str, name: str, value: Any) -> str:
    """Return the rule that a patch of one field is guarded by."""
    if name == "automated_clean" and op == "add" and value in (False, "off") and value is not None:
        return "baremetal:node:disable_cleaning"
    if name == "maintenance":
        return f"baremetal:node:{'set' if value else 'clear'}_maintenance"
    if name.endswith("_interface"):
        return "baremetal:node:update:driver_interfaces"
    rule = f"baremetal:node:{UPDATES.get(name, f'update:{name}')}"
    return rule if rule in REFERENCE else "baremetal:node:update"


@pytest.mark.parametrize(("op", "name", "value"), PATCHES)
def test_a_field_of_a_node_is_changed_by_whom_its_rule_lets_through(
    house: House, op: str, name: str, value: Any
) -> None:
    rule = rule_of_patch(op, name, value)
    assert rule_for(Change(op, (name,), value)) == rule
    if name == "name":
        op, value = "remove", None  # null is refused before the rights are checked
    patch = [{"op": op, "path": f"/{name}"} | ({} if op == "remove" else {"value": value})]
    for relation in RELATIONS:
        path = f"/v1/nodes/{house.idents[relation]['node']}"
        assert house.ask(None, "PATCH", path, body=patch).status == 409
        for who in CALLERS:
            seen = house.judge(who, "baremetal:node:get", target(relation))
            wanted = 409 if house.judge(who, rule, target(relation)) else 403 if seen else 404
            assert house.ask(who, "PATCH", path, body=patch).status == wanted, who


# What is added to a node, and what is wrong with it after the rules were asked.
ADDED: dict[str, tuple[str, dict[str, Any]]] = {
    "/v1/ports": ("port:create", {"address": "52:54:00:00:00:02"}),
    "/v1/portgroups": ("portgroup:create", {"name": "owned"}),
    "/v1/volume/connectors": (
        "volume:create",
        {"type": "iqn", "connector_id": "x", "uuid": "33333332-0000-4000-8000-000000000000"},
    ),
    "/v1/volume/targets": ("volume:create", {"volume_type": "iscsi", "volume_id": "x", "boot_index": 0}),
}


@pytest.mark.parametrize("path", sorted(ADDED))
def test_something_is_added_to_a_node_by_whom_the_rule_lets_through(house: House, path: str) -> None:
    rule, values = ADDED[path]
    for relation in RELATIONS:
        body = values | {"node_uuid": house.idents[relation]["node"]}
        assert house.ask(None, "POST", path, body=body).status == 409
        for who in CALLERS:
            allowed = house.judge(who, f"baremetal:{rule}", target(relation))
            assert house.ask(who, "POST", path, body=body).status == (409 if allowed else 403), who


def test_allocations_are_asked_for_by_whom_a_rule_lets_through(house: House) -> None:
    rules = [f"baremetal:allocation:{name}" for name in ("create", "create_restricted", "create_pre_rbac")]
    body = {"resource_class": "x", "candidate_nodes": ["nobody"]}
    assert house.ask(None, "POST", "/v1/allocations", body=body).status == 400
    for who in CALLERS:
        allowed = any(house.judge(who, rule, {}) for rule in rules)
        assert house.ask(who, "POST", "/v1/allocations", body=body).status == (400 if allowed else 403), who
