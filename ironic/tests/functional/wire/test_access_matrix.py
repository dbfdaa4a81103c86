"""Every caller sends every request: the status of each, that a refusal changes nothing, what lists and masks show."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from ironic.api.policies import RULES
from ironic.api.resources import ROUTES
from ironic.api.routes import Refusing, Routes
from ironic.rpc.rpc_api import CALLS
from ironic.tests.functional.wire import access_world, keystone
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.access_world import SYMBOLS, Persona, Row, Snapshot, matrix, personas
from ironic.tests.functional.wire.every_route import default_of, label
from ironic.tests.functional.wire.service import Response, Service

# What the conductor answers where nothing is no answer.
ANSWERS = dict.fromkeys(("call_vendor_method", "call_driver_vendor_method"), {"async": True, "result": None})
PROJECTS = {name: name for name in ("owners", "lessees", "strangers")}


class World(NamedTuple):
    """The running service with its things."""

    service: Service
    names: dict[str, str]
    snapshot: Snapshot

    def ask(self, who: Persona, row: Row, **more: str) -> Response:
        """Send the request of a row as a caller."""
        path, body = row.filled(self.names | {"own": who.project or "owners"} | more)
        return keystone.ask(self.service, who.name, row.method, path, body)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, identity: str, module_conf: Callable[..., None]) -> Iterator[World]:
    module_conf(rbac_service_role_elevated_access=True)
    directory = tmp_path_factory.mktemp("world")
    running = keystone.empty_service(directory, identity, module_conf)
    interfaces = {f"{kind}_interface": names[0] for kind, names in services.SERVED["fake-hardware"].items()}
    names = access_world.furnish(running.store, PROJECTS, interfaces)
    running.conductor.answers = {name: default_of(call.signature.return_annotation) for name, call in CALLS.items()}
    running.conductor.answers |= ANSWERS
    snapshot = Snapshot(directory / "ironic.sqlite")
    yield World(running, names, snapshot)
    snapshot.close()
    running.close()


def differences(world: World, row: Row, who: dict[str, str], **more: str) -> list[str]:
    """Send the request of a row as every caller; return what is other than expected."""
    found = []
    for name, symbol in who.items():
        world.service.conductor.asked.clear()
        answer = world.ask(personas()[name], row, **more)
        wanted = SYMBOLS[symbol]
        is_right = answer.status == (wanted if isinstance(wanted, int) else row.then or answer.status)
        if wanted == "allowed" and row.then is None:
            is_right = 200 <= answer.status < 300
        if not is_right:
            found.append(f"{name}: {answer.status} instead of {wanted}: {answer.body[:200]!r}")
        if row.method == "GET":
            continue
        if not world.snapshot.is_unchanged():
            if answer.status >= 300:
                found.append(f"{name}: {answer.status}, but something was changed")
            world.snapshot.restore()
        if answer.status >= 300 and world.service.conductor.asked:
            found.append(f"{name}: {answer.status}, but a conductor was called")
    return found


@pytest.mark.parametrize("row", matrix(), ids=lambda row: row.label)
def test_every_caller_gets_what_the_matrix_says(world: World, row: Row) -> None:
    assert differences(world, row, dict(row.who)) == []


IN_PATH = re.compile(r"\{(\w+)\}")
# Parts of the node that has no owner, in the place of those of {node}.
FREE = {name: f"{{{name}_free}}" for name in ("port", "portgroup", "empty_portgroup", "connector", "target", "entry")}
FREE["node"] = "{free}"
ABOUT_A_NODE = [
    row
    for row in matrix()
    if set(IN_PATH.findall(row.path)) & FREE.keys() and "runbook" not in str(row.body) and "{unknown}" not in row.path
]


@pytest.mark.parametrize("row", ABOUT_A_NODE, ids=lambda row: row.label)
def test_a_node_without_an_owner_is_no_projects(world: World, row: Row) -> None:
    who = {
        name: row.who[f"stranger-{name.partition('-')[2]}"] if name.startswith(("owner-", "lessee-")) else symbol
        for name, symbol in row.who.items()
    }
    on_free = row._replace(path=access_world.fill(row.path, FREE), body=access_world.fill(row.body, FREE))
    assert differences(world, on_free, who) == []


def test_every_route_has_a_row() -> None:
    routes = Routes(ROUTES)
    names = dict.fromkeys(personas(), "") | {"unknown": access_world.UNKNOWN, "chassis": access_world.UNKNOWN}
    tried = set()
    for row in matrix():
        path = IN_PATH.sub(lambda name: names.get(name[1], access_world.UNKNOWN), row.path)
        tried.add(label(routes.find(row.method, path.partition("?")[0])[0]))
    judged = [route for route in ROUTES if not route.public and not isinstance(route.handler, Refusing)]
    assert {label(route) for route in judged if route.rule not in PUBLIC_RULES} - tried == set()


# Rules without a check, of routes that need no token. Tests of ramdisks ask them.
PUBLIC_RULES = {name for name, check, _, _ in RULES if not check}

ALL = {"node", "free", "other", "leased", "active", "bare"}
OF_PROJECTS = {"owners": {"node", "leased", "active", "bare"}, "strangers": {"other"}}
OF_PROJECTS["lessees"] = OF_PROJECTS["owners"]
ALL_PARTS = {"", "_free", "_other"}
PARTS_OF_PROJECTS = {"owners": {""}, "lessees": {""}, "strangers": {"_other"}}
BOOKS = {"owners", "lessees", "strangers", "public", "private"}


def of(kind: str, everything: set[str], projects: dict[str, set[str]], form: str = "{0}") -> Any:
    """Return a list with what a caller of each kind finds in it."""
    return kind, [{form.format(name) for name in names} for names in (everything, *(projects[p] for p in PROJECTS))]


def parts(path: str, *kinds: str) -> Any:
    found = [of(path, ALL_PARTS, PARTS_OF_PROJECTS, f"{kind}{{0}}")[1] for kind in kinds]
    return path, [set.union(*each) for each in zip(*found, strict=True)]


# Path, and what is found by who sees everything, and by owners, lessees and strangers.
LISTS = [
    of("nodes", ALL, OF_PROJECTS),
    of("nodes/detail", ALL, OF_PROJECTS),
    of("chassis/{chassis}/nodes", ALL, OF_PROJECTS),
    of("nodes?owner={owners}", OF_PROJECTS["owners"], OF_PROJECTS | {"strangers": set()}),
    of("nodes?lessee={lessees}", OF_PROJECTS["owners"], OF_PROJECTS | {"strangers": set()}),
    parts("ports", "port"),
    parts("portgroups", "portgroup", "empty_portgroup"),
    parts("volume/connectors", "connector"),
    parts("volume/targets", "target"),
    of(
        "allocations",
        {"owners", "lessees", "unowned"},
        {name: {name} & {"owners", "lessees"} for name in PROJECTS},
        "{0}_allocation",
    ),
    of("runbooks", BOOKS, {name: {name, "public"} for name in PROJECTS}, "{0}_runbook"),
]


@pytest.mark.parametrize(("path", "expected"), LISTS, ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.parametrize("who", personas().values(), ids=lambda who: who.name)
def test_a_list_has_what_the_caller_may_see(world: World, who: Persona, path: str, expected: list[set[str]]) -> None:
    answer = world.ask(who, Row("GET", f"/v1/{path}", None, None, {}))
    is_operator = (who.scope == "system" and who.role != "bystander") or who.name == "elevated-service"
    if not is_operator and (who.role == "bystander" or who.scope == "domain"):
        assert answer.status == 403
        return
    if not is_operator and who.role == "service" and path == "allocations":
        assert answer.status == 403
        return
    (found,) = (value for value in answer.json.values() if isinstance(value, list))
    names = {uuid: name for name, uuid in world.names.items()}
    wanted = expected[0] if is_operator else expected[1 + list(PROJECTS).index(who.scope)]
    assert {names[each["uuid"]] for each in found} == wanted


HIDDEN: dict[str, Any] = {
    "last_error": "******",
    "reservation": "******",
    "driver_info": {"redacted_contents": "******"},
    "driver_internal_info": {"redacted_contents": "******"},
}


@pytest.mark.parametrize("who", personas().values(), ids=lambda who: who.name)
def test_masked_fields_are_shown_to_operators_and_owners(world: World, who: Persona) -> None:
    try:
        node = world.service.store.nodes.get(world.names["node"])
        node.last_error, node.reservation, node.driver_info, node.driver_internal_info = "e", "h", {"a": 1}, {"b": 1}
        node.save()
        shown = [world.ask(who, Row("GET", path, None, None, {})) for path in ("/v1/nodes/{node}", "/v1/nodes/detail")]
    finally:
        world.snapshot.restore()
    found = [shown[0].json] if shown[0].status == 200 else []
    if shown[1].status == 200:
        found += [each for each in shown[1].json["nodes"] if each["uuid"] == world.names["node"]]
    for each in found:
        is_hidden = {name: each[name] == value for name, value in HIDDEN.items()}
        assert set(is_hidden.values()) == {who.scope == "lessees"}
    assert len(found) == (0 if who.role == "bystander" or who.scope in ("strangers", "domain") else 2) or (
        who.name == "lessee-service" and len(found) == 1
    )


@pytest.mark.parametrize("who", personas().values(), ids=lambda who: who.name)
def test_properties_of_a_target_are_shown_to_operators_and_to_admins(world: World, who: Persona) -> None:
    answer = world.ask(who, Row("GET", "/v1/volume/targets?detail=true", None, None, {}))
    if answer.status == 403:
        assert who.role == "bystander" or who.scope == "domain"
        return
    sees = who.role == "admin" or who.scope in ("system", "service")
    shown = {"a": 1} if sees else {"redacted_contents": "******"}
    assert {str(each["properties"]) for each in answer.json["targets"]} == {str(shown)}
