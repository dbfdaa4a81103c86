"""A line in the model is enough: a field that is added to it is there for callers, rules and listeners."""

import re
from typing import Any

import pytest

from ironic.api import arguments, listing, projection
from ironic.api.crud import Create, Patch
from ironic.api.openapi import operations
from ironic.api.openapi import schemas as bodies
from ironic.api.resources.nodes import authors as node_rights
from ironic.core.errors import InvalidParameterValue, NotAcceptable
from ironic.core.model import node as node_fields
from ironic.core.model import port
from ironic.core.model.fields import EVERY, REQUIRED, WHOLE, Exact, Field, Resource
from ironic.core.rules import documents
from ironic.core.values.value_types import Text
from ironic.rpc.notifications.payloads import Payload
from ironic.tests.unit.core.rules.lab import NODE, PORT, act, facts, why

NEWEST = 115


def with_bay(resource: type[Resource], **more: Any) -> Any:
    """Return a copy of a model with one more line."""
    line = Field(Text(8), since=NEWEST, filter=Exact(), notified=EVERY, **more)
    return type(resource.__name__, (Resource,), dict(vars(resource)) | {"__module__": __name__, "bay": line})


Node = with_bay(node_fields.Node, right="baremetal:node:update:bay", literal=WHOLE)
Port = with_bay(port.Port)
WRITABLE = [Node, Port]
WRITABLE += [
    with_bay(kind)
    for name, kind in operations.resources().items()
    if kind.writable("patch") and name not in (Node.collection, Port.collection)
]
of_all_that_is_written = pytest.mark.parametrize("kind", WRITABLE, ids=lambda kind: kind.collection)


GIVEN: dict[str, Any] = {
    "actions": [{"op": "log", "args": ["x"]}],
    "address": "52:54:00:00:00:01",
    "boot_index": 0,
    "connector_id": "c",
    "driver": "fake-hardware",
    "name": "CUSTOM_A",
    "node_uuid": NODE["uuid"],
    "type": "iqn",
    "volume_id": "v",
    "volume_type": "iscsi",
}


@of_all_that_is_written
def test_callers_can_give_it_from_its_version_on(kind: type[Resource]) -> None:
    place = "priority" if kind.collection == "deploy_templates" else "order"
    steps = {"interface": "deploy", "step": "x", "args": {}, place: 1}
    body = {name: GIVEN.get(name, [steps]) for name, one in kind.writable("create").items() if one.empty is REQUIRED}
    assert arguments.checked_create(kind, body | {"bay": "b1"}, NEWEST)["bay"] == "b1"
    with pytest.raises(NotAcceptable):
        arguments.checked_create(kind, body | {"bay": "b1"}, NEWEST - 1)
    with pytest.raises(InvalidParameterValue, match="bay must not be longer"):
        arguments.checked_create(kind, body | {"bay": "far too long"}, NEWEST)
    assert kind.writable("patch")["bay"].since == NEWEST


@of_all_that_is_written
def test_callers_can_choose_it_and_filter_and_sort_by_it(kind: type[Resource]) -> None:
    assert projection.chosen(kind, NEWEST, ["bay"]).names[-1] == "bay"
    with pytest.raises((NotAcceptable, InvalidParameterValue)):
        projection.chosen(kind, NEWEST - 1, ["bay"])
    assert kind.table.filters["bay"].since == NEWEST
    assert kind.table.fields["bay"].sortable
    page = listing.Page(projection.plain(kind, NEWEST), 1, filters={"bay": "b1"})
    assert listing.store_filters(kind, page) == {"bay": "b1"}


def test_a_right_of_its_own_guards_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_rights, "Node", Node)
    assert node_rights.rule_of("bay", "b1") == "baremetal:node:update:bay"


def test_rules_write_it_and_never_from_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    known = facts(node=NODE | {"bay": None})
    with pytest.raises(InvalidParameterValue, match="can't write field 'bay'"):
        act("set-attribute", ["/bay", "b1"], known=known)
    monkeypatch.setattr(documents, "NODE", Node.writable("rules"))
    monkeypatch.setattr(documents, "LITERAL", Node.table.literal)
    written = act("set-attribute", ["/bay", "b1"], known=known)
    assert written.changes.node == [{"op": "add", "path": "/bay", "value": "b1"}]
    assert "/bay of the node must be text of 0 to 8 characters" in why(
        act("set-attribute", ["/bay", "far too long"], known=known)
    )
    reported = act("set-attribute", ["/bay", "{inventory[cpu][architecture]}"], known=known)
    assert "set to what a machine reported" in why(reported)


def test_rules_write_that_of_a_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "PORT", Port.writable("rules"))
    written = act("set-port-attribute", [PORT, "/bay", "b1"])
    assert written.changes.ports == {PORT: [{"op": "add", "path": "/bay", "value": "b1"}]}


@of_all_that_is_written
def test_listeners_are_told(kind: type[Resource]) -> None:
    payload = Payload.about(kind, "SomePayload", "1.0")
    values = dict.fromkeys(payload.fields) | {"bay": "b1"}
    assert payload.of(values)["ironic_object.data"]["bay"] == "b1"


def test_each_later_version_that_brings_a_payload_fields_makes_it_a_later_one() -> None:
    lines = {"a": Field(Text(), notified=EVERY), "b": Field(Text(), since=116, notified=EVERY)}
    lines |= {
        "c": Field(Text(), since=116, notified=EVERY),
        "d": Field(Text(), since=118),
        "e": Field(Text(), since=119),
    }
    made: Any = type("Made", (Resource,), {"__module__": __name__, "collection": "made", **lines})
    assert Payload.about(made, "MadePayload", "1.3").version == "1.4"
    made = type(
        "Made",
        (Resource,),
        {"__module__": __name__, "collection": "made", "a": Field(Text(), since=115, notified=EVERY)},
    )
    assert Payload.about(made, "MadePayload", "1.3").version == "1.3"


@of_all_that_is_written
def test_the_description_of_the_api_has_it(kind: type[Resource]) -> None:
    forms = (Create(kind), Patch(kind))
    name, schemas = kind.__name__, bodies.of_resource(kind, NEWEST, forms)
    assert schemas[name]["properties"]["bay"] == {"type": ["string", "null"]}
    assert schemas[f"{name}Create"]["properties"]["bay"] == {"type": ["string", "null"], "maxLength": 8}
    operations_of_it = [
        one["properties"]
        for one in schemas[f"{name}Patch"]["items"]["anyOf"]
        if re.match(one["properties"]["path"]["pattern"], "/bay")
    ]
    assert [one["op"]["enum"] for one in operations_of_it] == [["add", "replace"], ["remove"]]
    assert operations_of_it[0]["value"] == {"type": ["string", "null"], "maxLength": 8}
    asked = {one.name: one for one in operations._list_query(kind, NEWEST, detailed=False)}
    assert asked["bay"].type.validate("b1") == "b1"
    assert "bay" not in bodies.of_resource(kind, NEWEST - 1, forms)[name]["properties"]


def test_every_computed_field_is_bound_to_what_computes_it() -> None:
    for resource in operations.resources().values():
        for one in resource.table.fields.values():
            if one.is_computed:
                assert callable(projection.computed_values(one)), f"{resource.__name__}.{one.name}"


def test_what_is_computed_nowhere_is_found_when_the_module_is_loaded() -> None:
    made: Any = type(
        "Made", (Resource,), {"__module__": __name__, "collection": "made", "sum": Field(Text(), needs=("id",))}
    )
    with pytest.raises(TypeError, match="Made: sum"):
        projection.bind_computed(made)
    with pytest.raises(TypeError, match="Made: other"):
        projection.bind_computed(made, sum=lambda _request, rows: rows, other=lambda _request, rows: rows)
