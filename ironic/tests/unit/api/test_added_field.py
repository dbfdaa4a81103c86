"""A line in the model is enough: a field that is added to it is there for callers, rules and listeners."""

from typing import Any

import pytest

from ironic.api import computed, input, listing, projection
from ironic.api.forms import Create, Patch
from ironic.api.openapi import bodies, operations
from ironic.api.resources.nodes import rights as node_rights
from ironic.core.errors import InvalidParameterValue, NotAcceptable
from ironic.core.model import node as node_fields
from ironic.core.model.fields import EVERY, WHOLE, Exact, Field, Resource
from ironic.core.rules import writable
from ironic.core.values import Text
from ironic.rpc.notifications.payloads import Payload
from ironic.tests.unit.core.rules.lab import NODE, act, facts, why

NEWEST = 115

Node: Any = type(
    "Node",
    (Resource,),
    dict(vars(node_fields.Node))
    | {
        "__module__": __name__,
        "bay": Field(
            Text(8),
            since=NEWEST,
            filter=Exact(),
            right="baremetal:node:update:bay",
            literal=WHOLE,
            told=EVERY,
        ),
    },
)


def test_callers_can_give_it_from_its_version_on() -> None:
    body = {"driver": "fake-hardware", "bay": "b1"}
    assert input.create(Node, body, NEWEST) == body
    with pytest.raises(NotAcceptable):
        input.create(Node, body, NEWEST - 1)
    with pytest.raises(InvalidParameterValue, match="bay must not be longer"):
        input.create(Node, body | {"bay": "far too long"}, NEWEST)
    assert Node.writable("patch")["bay"].since == NEWEST


def test_callers_can_choose_it_and_filter_and_sort_by_it() -> None:
    assert projection.chosen(Node, NEWEST, ["bay"]).names == ["links", "bay"]
    with pytest.raises(NotAcceptable):
        projection.chosen(Node, NEWEST - 1, ["bay"])
    assert Node.table.filters["bay"].since == NEWEST
    assert Node.table.fields["bay"].sortable
    assert listing.store_filters(Node, listing.Page(projection.plain(Node, NEWEST), 1, filters={"bay": "b1"})) == {
        "bay": "b1"
    }


def test_a_right_of_its_own_guards_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_rights, "Node", Node)
    assert node_rights.rule_of("bay", "b1") == "baremetal:node:update:bay"


def test_rules_write_it_and_never_from_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    known = facts(node=NODE | {"bay": None})
    with pytest.raises(InvalidParameterValue, match="can't write field 'bay'"):
        act("set-attribute", ["/bay", "b1"], known=known)
    monkeypatch.setattr(writable, "NODE", Node.writable("rules"))
    monkeypatch.setattr(writable, "LITERAL", Node.table.literal)
    written = act("set-attribute", ["/bay", "b1"], known=known)
    assert written.changes.node == [{"op": "add", "path": "/bay", "value": "b1"}]
    assert "/bay of the node takes text of 0 to 8 characters" in why(
        act("set-attribute", ["/bay", "far too long"], known=known)
    )
    reported = act("set-attribute", ["/bay", "{inventory[cpu][architecture]}"], known=known)
    assert "never made from what a machine reported" in why(reported)


def test_listeners_are_told() -> None:
    payload = Payload.about(Node, "NodePayload", "1.17")
    values = dict.fromkeys(payload.fields) | {"bay": "b1"}
    assert payload.of(values)["ironic_object.data"]["bay"] == "b1"


def test_each_later_version_that_brings_a_payload_fields_makes_it_a_later_one() -> None:
    lines = {"a": Field(Text(), told=EVERY), "b": Field(Text(), since=116, told=EVERY)}
    lines |= {"c": Field(Text(), since=116, told=EVERY), "d": Field(Text(), since=118), "e": Field(Text(), since=119)}
    made: Any = type("Made", (Resource,), {"__module__": __name__, **lines})
    assert Payload.about(made, "MadePayload", "1.3").version == "1.4"
    made = type("Made", (Resource,), {"__module__": __name__, "a": Field(Text(), since=115, told=EVERY)})
    assert Payload.about(made, "MadePayload", "1.3").version == "1.3"


def test_the_description_of_the_api_has_it() -> None:
    schemas = bodies.of_resource(Node, NEWEST, (Create(Node), Patch(Node)))
    assert schemas["Node"]["properties"]["bay"] == {"type": ["string", "null"]}
    assert schemas["NodeCreate"]["properties"]["bay"] == {"type": ["string", "null"], "maxLength": 8}
    assert "|bay)" in schemas["NodePatch"]["items"]["properties"]["path"]["pattern"].replace("|bay|", "|bay)")
    asked = {one.name: one for one in operations._list_query(Node, NEWEST, detailed=False)}
    assert asked["bay"].type.validate("b1") == "b1"
    assert "bay" not in bodies.of_resource(Node, NEWEST - 1, (Create(Node), Patch(Node)))["Node"]["properties"]


def test_every_computed_field_is_bound_to_what_computes_it() -> None:
    for resource in operations.resources().values():
        for one in resource.table.fields.values():
            if one.is_computed:
                assert callable(computed.gather(one)), f"{resource.__name__}.{one.name}"


def test_what_is_computed_nowhere_is_found_when_the_module_is_loaded() -> None:
    made: Any = type("Made", (Resource,), {"__module__": __name__, "sum": Field(Text(), needs=("id",))})
    with pytest.raises(TypeError, match="Made: sum"):
        computed.bind(made)
    with pytest.raises(TypeError, match="Made: other"):
        computed.bind(made, sum=lambda _request, rows: rows, other=lambda _request, rows: rows)
