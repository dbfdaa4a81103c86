"""A rule with an action that fails on every machine is refused, and no rule that can work."""

from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.core.rules import Facts, check_possible, check_rule, evaluate
from ironic.core.rules.inspector import compile_rule, stored_form
from ironic.core.rules.inspector.conversion import IMPOSSIBLE, converted
from ironic.tests.unit.core.rules.lab import NODE, PORT, act, rule, why

HOST = "{inventory[hostname]}"
LITERAL_ONLY = "can't be set to what a machine reported"
NEVER: list[tuple[str, Any, dict[str, Any], str]] = [
    ("set-attribute", ["/owner", HOST], {}, LITERAL_ONLY),
    ("set-attribute", ["owner", f"p-{HOST}"], {}, LITERAL_ONLY),
    ("set-attribute", ["/owner", "{ports[0][address]}"], {}, LITERAL_ONLY),
    ("set-attribute", ["/owner", "{item}"], {"loop": "{inventory[interfaces]}"}, LITERAL_ONLY),
    ("set-attribute", ["/properties/inspection_scope", HOST], {}, LITERAL_ONLY),
    ("set-attribute", ["/instance_info/project_id", [HOST]], {}, LITERAL_ONLY),
    ("set-attribute", ["/maintenance", "banana"], {}, "/maintenance must be"),
    ("set-attribute", ["/properties", 5], {}, "/properties must be"),
    ("set-attribute", ["/driver", None], {}, "/driver must be"),
    ("set-attribute", ["/network_data", {"bogus": 1}], {}, "network_data"),
    ("set-attribute", ["/owner/inner", "x"], {}, "/owner must be"),
    ("set-attribute", [f"/properties/{HOST}", 1], {}, "a path can't contain what a machine reported"),
    ("set-attribute", [HOST, 1], {}, "a path can't contain what a machine reported"),
    ("extend-attribute", ["/resource_class", "x"], {}, "/resource_class must be"),
    ("del-attribute", ["/driver"], {}, "/driver can't be removed"),
    ("set-port-attribute", [PORT, "/pxe_enabled", "banana"], {}, "/pxe_enabled must be"),
    ("set-port-attribute", [PORT, f"/local_link_connection/{HOST}", 1], {}, "a path can't contain"),
    ("extend-port-attribute", [PORT, "/name", "x"], {}, "/name must be"),
    ("del-port-attribute", [PORT, "/address"], {}, "/address can't be removed"),
    ("add-trait", ["lower case"], {}, "a trait must have"),
    ("set-capability", ["a:b", "x"], {}, "a capability must have"),
    ("set-capability", ["a", "x,y"], {}, "a capability must have"),
    ("set-port-attribute", ["no-mac", "/extra/a", 1], {}, "a port is named by its UUID or its MAC"),
    ("set-port-attribute", [f"no-{HOST}", "/extra/a", 1], {}, "a port is named by its UUID or its MAC"),
    ("extend-port-attribute", ["52-54-00-00-00-01", "/extra/a", 1], {}, "a port is named by its UUID or its MAC"),
    ("del-port-attribute", ["eth0", "/extra/a"], {}, "a port is named by its UUID or its MAC"),
    ("add-trait", [f"{HOST} x y"], {}, "a trait must have"),
    ("add-trait", [f"1{HOST}"], {}, "a trait must have"),
    ("set-capability", [f"{HOST}:x", "y"], {}, "a capability must have"),
    ("set-capability", [HOST, ["y"]], {}, "a capability must have"),
    ("set-capability", ["a", [HOST]], {}, "a capability must have"),
    ("set-capability", ["a", f"x,{HOST}"], {}, "a capability must have"),
    ("add-trait", ["{item}"], {"loop": ["CUSTOM_A", "lower case"]}, "a trait must have"),
    ("add-trait", ["CUSTOM_{item.name}"], {"loop": [{"name": "a b"}]}, "a trait must have"),
    ("set-attribute", ["/{item[field]}", 5], {"loop": {"field": "properties"}}, "/properties must be"),
    ("set-attribute", ["{item[path]}", "{item[value]}"], {"loop": [{"path": "/nothing", "value": 1}]}, "can't write"),
    ("set-attribute", ["{item[path]}", "{item[value]}"], {"loop": [{"path": "/owner", "value": HOST}]}, LITERAL_ONLY),
    ("set-attribute", ["{item[0]}", 1], {"loop": [["/driver_info/a"], [HOST]]}, "a path can't contain"),
]


@pytest.mark.parametrize(("op", "args", "rest", "reason"), NEVER)
def test_an_action_that_fails_everywhere_is_refused_with_its_place(
    op: str, args: Any, rest: dict[str, Any], reason: str
) -> None:
    document = rule([{"op": "log", "args": ["begin"]}, {"op": op, "args": args, **rest}])
    with pytest.raises(InvalidParameterValue) as caught:
        check_possible(check_rule(document))
    assert f"actions[1] ({op}) can never work: " in str(caught.value)
    assert reason in str(caught.value)


@pytest.mark.parametrize(("op", "args", "rest", "reason"), NEVER)
def test_what_is_refused_does_fail_on_a_machine(op: str, args: Any, rest: dict[str, Any], reason: str) -> None:
    assert "actions[0]" in why(act(op, args, **rest))


@pytest.mark.parametrize(
    ("op", "args", "rest"),
    [
        ("set-attribute", ["/owner", "literal"], {}),
        # Earlier rules may have written these literally.
        ("set-attribute", ["/owner", "{plugin_data[owner]}"], {}),
        ("set-attribute", ["/owner", "{node.extra[owner]}"], {}),
        ("set-attribute", ["/owner", "{item}"], {"loop": ["literal"]}),
        ("set-attribute", ["/owner", "{item[a]}"], {"loop": [{"a": "literal", "b": HOST}]}),
        ("set-attribute", ["{item[path]}", "{item[value]}"], {"loop": [{"path": "/driver_info/a", "value": HOST}]}),
        ("set-port-attribute", ["{item}", "/extra/a", 1], {"loop": "{plugin_data[macs]}"}),
        ("set-port-attribute", ["52:54:00:00:00:{inventory[last]}", "/extra/a", 1], {}),
        ("set-port-attribute", ["{item}", "/extra/a", 1], {"loop": [PORT, "52:54:00:AA:00:01"]}),
        ("set-capability", ["{inventory[a]}_{inventory[b]}", "x{inventory[a]}"], {}),
        ("set-attribute", ["/owner", HOST], {"loop": []}),
        ("set-attribute", ["/owner", None], {}),
        ("set-attribute", ["/description", HOST], {}),
        ("set-attribute", ["/maintenance", True], {}),
        ("set-attribute", [f"/extra/{HOST}", HOST], {}),
        ("set-attribute", ["/{plugin_data[field]}/x", 1], {}),
        # The same value as before is no change.
        ("set-attribute", ["/instance_info", {"project_id": HOST}], {}),
        ("extend-attribute", ["/extra/list", HOST], {}),
        ("del-attribute", ["/owner"], {}),
        ("del-attribute", ["/driver_info/key"], {}),
        ("set-port-attribute", ["{inventory[mac]}", "/extra/owner", HOST], {}),
        ("add-trait", ["CUSTOM_{inventory[cpu][architecture]}"], {}),
        ("set-capability", ["a", HOST], {}),
        ("set-plugin-data", ["owner", HOST], {}),
    ],
)
def test_an_action_that_may_work_is_accepted(op: str, args: Any, rest: dict[str, Any]) -> None:
    check_possible(check_rule(rule([{"op": op, "args": args, **rest}])))


LITERALS = [{"path": "/driver_info/a", "value": 1}, {"path": "/properties/inspection_scope", "value": "s"}]


@pytest.mark.parametrize(
    ("loop", "written"),
    [
        (LITERALS, {"/driver_info/a": 1, "/properties/inspection_scope": "s"}),
        ([*LITERALS, {"path": "/description", "value": "{inventory[bmc_address]}"}], {"/description": "192.0.2.7"}),
        ({"path": "/owner", "value": "o", "other": "{inventory[bmc_address]}"}, {"/owner": "o"}),
    ],
)
def test_what_the_author_of_a_loop_has_written_is_the_authors(loop: Any, written: dict[str, Any]) -> None:
    document = rule([{"op": "set-attribute", "args": ["{item[path]}", "{item[value]}"], "loop": loop}])
    compiled = check_rule(document)
    check_possible(compiled)
    outcome = act("set-attribute", {"path": "{item[path]}", "value": "{item[value]}"}, loop=loop)
    assert outcome.failure is None
    values = {change["path"]: change["value"] for change in outcome.changes.node}
    assert values.items() >= written.items()


def test_a_key_that_a_machine_names_makes_the_whole_item_the_machines() -> None:
    loop = [{"path": "/owner", "value": "o", "{inventory[bmc_address]}": "x"}]
    assert LITERAL_ONLY in why(act("set-attribute", ["/owner", "{item[value]}"], loop=loop))


OF_THE_INSPECTOR: list[tuple[dict[str, Any], str]] = [
    ({"action": "set-attribute", "path": "/owner", "value": "{data[owner]}"}, LITERAL_ONLY),
    ({"action": "set-attribute", "path": "/properties/inspection_scope", "value": "{data[rack]}"}, LITERAL_ONLY),
    ({"action": "set-attribute", "path": "/owner/inner", "value": "x"}, "/owner must be"),
    ({"action": "set-attribute", "path": "/maintenance/-", "value": "x"}, "/maintenance must be"),
    ({"action": "set-attribute", "path": "/network_data", "value": {"bogus": 1}}, "network_data"),
    ({"action": "extend-attribute", "path": "/resource_class", "value": "x"}, "/resource_class must be"),
    ({"action": "extend-attribute", "path": "/owner", "value": "{data[owner]}"}, LITERAL_ONLY),
]


def of_inspector(action: dict[str, Any]) -> Any:
    return compile_rule(stored_form({"actions": [{"action": "set-capability", "name": "a"}, action]}))


@pytest.mark.parametrize(("action", "reason"), OF_THE_INSPECTOR)
def test_an_action_of_the_inspectors_dialect_is_refused_where_it_fails_everywhere(
    action: dict[str, Any], reason: str
) -> None:
    made = of_inspector(action)
    with pytest.raises(InvalidParameterValue) as caught:
        check_possible(made)
    assert "actions[1] (" in str(caught.value) and ") can never work: " in str(caught.value)
    assert reason in str(caught.value)
    machine = Facts({"interfaces": []}, {"owner": "o", "rack": "r"}, NODE)
    failure = evaluate([made], machine).failure
    assert failure is not None and "actions[1]" in str(failure)


@pytest.mark.parametrize(
    "action",
    [
        {"action": "set-attribute", "path": "/owner", "value": "o"},
        {"action": "set-attribute", "path": "/description", "value": "{data[owner]}"},
        {"action": "set-attribute", "path": "/extra/list/-", "value": "{data[owner]}"},
        {"action": "extend-attribute", "path": "/extra/list", "value": "{data[owner]}"},
        {"action": "set-attribute", "path": "/driver", "value": "ipmi", "reset_interfaces": True},
        {"action": "fail", "message": "no"},
    ],
)
def test_an_action_of_the_inspectors_dialect_that_may_work_is_accepted(action: dict[str, Any]) -> None:
    check_possible(of_inspector(action))


def test_no_rule_that_can_never_work_comes_out_of_a_conversion() -> None:
    action, reason = OF_THE_INSPECTOR[0]
    made = converted({"actions": [action]})
    assert (made.status, made.rule) == (IMPOSSIBLE, None)
    assert reason in made.remarks[0]
