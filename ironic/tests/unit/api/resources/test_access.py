"""Who may do what with ports, ramdisk endpoints and inspection rules, by the default access rules."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from oslo_config import cfg

from ironic.api.app import BARE_METAL, Api
from ironic.api.policy import KeystonePolicy
from ironic.api.request import Services
from ironic.conf import OPTIONS
from ironic.core.context import RequestContext
from ironic.rpc.client import ConductorClients
from ironic.rpc.in_process import InProcess
from ironic.tests.functional.wire.service import HOST, Service
from ironic.tests.unit.api.resources.rows import add_node, add_port

OURS, THEIRS = "project-1", "project-2"
MACS = [f"52:54:00:0a:00:0{number}" for number in range(4)]

READER = RequestContext(project_id=OURS, roles=("reader",))
ADMIN = RequestContext(project_id=OURS, roles=("reader", "member", "admin"))
SYSTEM_READER = RequestContext(system_scope="all", roles=("reader",))
STRANGER = RequestContext(project_id=OURS, roles=("nobody",))


@pytest.fixture
def as_caller(service: Service) -> Callable[[RequestContext], Service]:
    """Return a function that gives the API as one caller has it."""
    conf = cfg.ConfigOpts()
    conf.register_opts(OPTIONS["DEFAULT"])
    conf([], default_config_files=[])
    transport = InProcess()
    transport.register(HOST, service.conductor)
    conductors = ConductorClients(transport, service.hash_ring)
    rules = KeystonePolicy.from_conf(conf)
    api = Api(BARE_METAL, Services(service.store, conductors, service.hash_ring, service.settings, rules))

    def app_of(caller: RequestContext) -> Service:
        def app(environ: dict[str, Any], start: Any) -> Any:
            return api(environ | {"ironic.context": caller}, start)

        return dataclasses.replace(service, app=app)

    return app_of


@pytest.fixture
def ports(service: Service) -> dict[str, str]:
    """Return the ports of a node of ours, of theirs, of theirs that is lent to us, and of nobody."""
    owners = {
        "ours": {"owner": OURS},
        "theirs": {"owner": THEIRS},
        "lent": {"owner": THEIRS, "lessee": OURS},
        "free": {},
    }
    return {
        name: add_port(service, add_node(service, name=name, **columns), mac).uuid
        for mac, (name, columns) in zip(MACS, owners.items(), strict=True)
    }


def listed(service: Service, path: str) -> set[str]:
    answer = service.call("GET", path)
    assert answer.status == 200, answer.body
    return {port["uuid"] for port in answer.json["ports"]}


@pytest.mark.parametrize("path", ["/v1/ports", "/v1/ports/detail"])
def test_a_project_sees_the_ports_of_its_nodes(as_caller: Any, ports: dict[str, str], path: str) -> None:
    assert listed(as_caller(READER), path) == {ports["ours"], ports["lent"]}
    assert listed(as_caller(SYSTEM_READER), path) == set(ports.values())
    assert as_caller(STRANGER).call("GET", path).status == 403


@pytest.mark.parametrize("node, status", [("ours", 200), ("lent", 200), ("theirs", 404), ("free", 404)])
def test_ports_below_a_node_are_seen_by_who_sees_the_node(
    as_caller: Any, ports: dict[str, str], node: str, status: int
) -> None:
    assert as_caller(READER).call("GET", f"/v1/nodes/{node}/ports").status == status


@pytest.mark.parametrize("node, status", [("ours", 200), ("theirs", 404)])
def test_one_port_is_seen_by_who_sees_its_node(as_caller: Any, ports: dict[str, str], node: str, status: int) -> None:
    assert as_caller(READER).call("GET", f"/v1/ports/{ports[node]}").status == status


@pytest.mark.parametrize(
    "caller, node, status", [(ADMIN, "ours", 201), (ADMIN, "lent", 403), (ADMIN, "theirs", 403), (READER, "ours", 403)]
)
def test_ports_are_added_by_admins_of_the_owner(
    as_caller: Any, ports: dict[str, str], caller: RequestContext, node: str, status: int
) -> None:
    body = {"address": "52:54:00:0a:00:09", "node_ident": node}
    assert as_caller(caller).call("POST", "/v1/ports", body=body).status == status


@pytest.mark.parametrize("caller, node, status", [(ADMIN, "ours", 204), (ADMIN, "theirs", 404), (READER, "ours", 403)])
def test_ports_are_deleted_by_admins_of_the_owner(
    as_caller: Any, ports: dict[str, str], caller: RequestContext, node: str, status: int
) -> None:
    assert as_caller(caller).call("DELETE", f"/v1/ports/{ports[node]}").status == status


def test_ramdisks_need_no_rights(as_caller: Any, ports: dict[str, str]) -> None:
    nobody = as_caller(RequestContext(is_public_api=True))
    assert nobody.call("GET", f"/v1/lookup?addresses={MACS[0]}").status == 404
    assert nobody.call("POST", "/v1/heartbeat/ours", body={"callback_url": "https://h"}).status == 400
    assert nobody.call("POST", "/v1/continue_inspection", body={}).status == 400


@pytest.mark.demand("S165")
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_inspection_rules_are_for_admins_of_the_system(as_caller: Any, method: str) -> None:
    body = {"actions": [{"op": "fail", "args": ["x"]}]}
    assert as_caller(ADMIN).call(method, "/v1/inspection_rules", body=body).status == 403
    system_admin = RequestContext(system_scope="all", roles=("reader", "member", "admin"))
    assert as_caller(system_admin).call(method, "/v1/inspection_rules", body=body).status < 300


SYSTEM_ADMIN = RequestContext(system_scope="all", roles=("reader", "member", "admin"))


@pytest.mark.demand("S165", "S168")
def test_a_reader_can_not_make_a_rule_say_a_secret(
    as_caller: Callable[[RequestContext], Service], conf: Callable[..., None]
) -> None:
    """Who may read rules may try some out, but sees secrets through them only with the right to store them."""
    conf(inspection_rules__mask_secrets="never")
    asking = {"op": "contains", "args": ["{inventory[password]}", "hunter"]}
    rule = {"conditions": [asking], "actions": [{"op": "log", "args": ["x"]}]}
    body = {"inventory": {"password": "hunter2"}, "rules": [rule]}
    applies = {}
    for caller in (SYSTEM_READER, SYSTEM_ADMIN):
        answer = as_caller(caller).call("POST", "/v1/inspection_rules/evaluate", body=body)
        applies["admin" in caller.roles] = answer.json["rules"][0]["applies"]
    assert applies == {False: False, True: True}
    assert as_caller(STRANGER).call("POST", "/v1/inspection_rules/evaluate", body=body).status == 403


def test_a_name_with_the_ending_of_old_paths_is_judged_as_the_whole_name(
    service: Service, as_caller: Callable[[RequestContext], Service]
) -> None:
    add_node(service, name="ours.json", owner=OURS)
    add_node(service, name="theirs.json", owner=THEIRS)
    caller = as_caller(ADMIN)
    assert caller.call("GET", "/v1/nodes/ours.json", version="1.90").json["name"] == "ours.json"
    assert caller.call("GET", "/v1/nodes/theirs.json", version="1.90").status == 404
