"""Actions: what each of them does, and what it refuses."""

from typing import Any

import pytest

from ironic.core.rules.paths import apply, copy
from ironic.tests.unit.core.rules.lab import NODE, OTHER_PORT, PLUGIN_DATA, PORT, act, facts, rule, run, why


def node_after(outcome: Any) -> dict[str, Any]:
    """Return the node with the changes applied to it, as the service applies them."""
    assert outcome.failure is None, outcome.failure
    node: dict[str, Any] = copy(NODE)
    apply(node, outcome.changes.node)
    return node


def plugin_data_after(outcome: Any) -> dict[str, Any]:
    assert outcome.failure is None, outcome.failure
    data: dict[str, Any] = copy(PLUGIN_DATA)
    apply(data, outcome.changes.plugin_data)
    return data


@pytest.mark.demand("S149")
@pytest.mark.parametrize(
    ("path", "value", "field", "expected"),
    [
        ("/extra/a", 1, "extra", {**NODE["extra"], "a": 1}),
        ("extra.a", "x", "extra", {**NODE["extra"], "a": "x"}),
        ("/extra/deep/er", 2, "extra", {**NODE["extra"], "deep": {"er": 2}}),
        ("/extra/new/way/down", None, "extra", {**NODE["extra"], "new": {"way": {"down": None}}}),
        ("/extra/list/0", "b", "extra", {**NODE["extra"], "list": ["b"]}),
        ("/extra/list/-", "b", "extra", {**NODE["extra"], "list": ["a", "b"]}),
        ("/extra/with~1slash", 1, "extra", {**NODE["extra"], "with/slash": 1}),
        ("/extra/{node.name}/x", 1, "extra", {**NODE["extra"], "rack-1": {"x": 1}}),
        ("extra.{node.name}.x", 1, "extra", {**NODE["extra"], "rack-1": {"x": 1}}),
        ("/extra/{inventory[bmc_address]}", 1, "extra", {**NODE["extra"], "192.0.2.7": 1}),
        ("/extra", {"only": 1}, "extra", {"only": 1}),
        ("/extra/count", "{inventory[cpu][count]}", "extra", {**NODE["extra"], "count": 8}),
        (
            "/extra/cpu",
            "{inventory[cpu]}",
            "extra",
            {**NODE["extra"], "cpu": {"count": 8, "architecture": "x86_64", "frequency": "2400.5"}},
        ),
        (
            "/description",
            "model {inventory[system_vendor][product_name]} of {node.name}",
            "description",
            "model R750 of rack-1",
        ),
        ("/driver", "redfish", "driver", "redfish"),
        ("/name", "new.name", "name", "new.name"),
        ("/automated_clean", None, "automated_clean", None),
        ("/retired", True, "retired", True),
        ("/conductor_group", "UPPER", "conductor_group", "upper"),
        ("/inspect_interface", "agent", "inspect_interface", "agent"),
        (
            "/driver_info/redfish_password",
            "new",
            "driver_info",
            {"redfish_address": "https://bmc", "redfish_password": "new"},
        ),
    ],
)
def test_it_sets_an_attribute(path: str, value: Any, field: str, expected: Any) -> None:
    assert node_after(act("set-attribute", [path, value]))[field] == expected


@pytest.mark.parametrize(
    ("path", "value", "part"),
    [
        ("/extra", 5, "/extra of the node must be an object"),
        ("/properties", None, "/properties of the node must be an object"),
        ("/driver", None, "/driver of the node must be text"),
        ("/driver", "", "/driver of the node must be text"),
        ("/name", "no spaces", "/name of the node must be a logical name"),
        ("/name", NODE["uuid"], "nor shaped like a UUID"),
        ("/retired", "yes", "/retired of the node must be true or false"),
        ("/resource_class", "x" * 81, "/resource_class of the node must be text of 0 to 80"),
        ("/instance_uuid", "bogus", "/instance_uuid of the node must be a UUID"),
        ("/description", 5, "/description of the node must be text"),
        ("/extra/list/7", 1, "can't be set: the value above it"),
        ("/extra/list/x", 1, "can't be set: the value above it"),
        ("/extra/list/0/deeper", 1, "can't be set: the value above it"),
        ("/extra/{plugin_data[gone]}", 1, "without empty keys"),
        ("{plugin_data[gone]}", 1, "the path is missing"),
        ("{inventory[cpu]}", 1, "the path is missing or not text"),
    ],
)
def test_it_refuses_to_set_nonsense(path: str, value: Any, part: str) -> None:
    outcome = act("set-attribute", [path, value])
    assert part in why(outcome)


@pytest.mark.demand("S149")
@pytest.mark.parametrize("path", ["provision_state", "/owner", "/reservation/x", "/uuid"])
def test_it_refuses_forbidden_paths_that_come_from_the_facts(path: str) -> None:
    outcome = act("set-attribute", ["{plugin_data[path]}", "x"], known=facts(plugin_data={"path": path}))
    assert "argument 'path': rules can't write field" in why(outcome)


def test_it_lets_a_reported_name_lead_nowhere_else() -> None:
    known = facts(plugin_data={"name": "../../driver_info/x~0"})
    outcome = act("set-attribute", ["/extra/{plugin_data[name]}", 1], known=known)
    assert node_after(outcome)["extra"]["../../driver_info/x~0"] == 1
    assert node_after(outcome)["driver_info"] == NODE["driver_info"]


@pytest.mark.demand("S150")
@pytest.mark.parametrize(
    ("path", "value", "unique", "expected"),
    [
        ("/extra/list", "b", False, ["a", "b"]),
        ("/extra/list", "a", False, ["a", "a"]),
        ("/extra/list", "a", True, ["a"]),
        ("/extra/list", "b", True, ["a", "b"]),
        ("/extra/list", ["b"], False, ["a", ["b"]]),
        ("/extra/new", 1, True, [1]),
        ("/extra/list", "{inventory[cpu][count]}", False, ["a", 8]),
    ],
)
def test_it_extends_an_attribute(path: str, value: Any, unique: bool, expected: Any) -> None:
    outcome = act("extend-attribute", {"path": path, "value": value, "unique": unique})
    assert node_after(outcome)["extra"][path.removeprefix("/extra/")] == expected


@pytest.mark.parametrize(
    ("path", "part"), [("/extra/deep", "is not a list"), ("/extra", "is not a list"), ("/description", "must be text")]
)
def test_it_extends_nothing_but_lists(path: str, part: str) -> None:
    assert part in why(act("extend-attribute", [path, 1]))


@pytest.mark.demand("S151")
@pytest.mark.parametrize(
    ("path", "field", "expected"),
    [
        ("/extra/deep/er", "extra", {"list": ["a"], "deep": {}}),
        ("/extra/list/0", "extra", {"list": [], "deep": {"er": 1}}),
        ("/extra/gone", "extra", NODE["extra"]),
        ("/extra/gone/deeper", "extra", NODE["extra"]),
        ("/extra/list/5", "extra", NODE["extra"]),
        ("/extra", "extra", {}),
        ("/description", "description", None),
        ("/name", "name", None),
        ("/retired", "retired", False),
    ],
)
def test_it_deletes_an_attribute(path: str, field: str, expected: Any) -> None:
    assert node_after(act("del-attribute", [path]))[field] == expected


def test_it_deletes_no_attribute_that_has_to_be_there() -> None:
    assert "/driver of the node can't be removed" in why(act("del-attribute", ["/driver"]))


@pytest.mark.demand("S152", "S153", "S154")
@pytest.mark.parametrize("ident", [PORT, PORT.upper(), "52:54:00:00:00:01"])
def test_it_writes_a_port_named_by_uuid_or_mac(ident: str) -> None:
    outcome = run(
        rule(
            [
                {"op": "set-port-attribute", "args": [ident, "/extra/a", 1]},
                {"op": "extend-port-attribute", "args": {"port_id": ident, "path": "/extra/l", "value": 1}},
                {
                    "op": "extend-port-attribute",
                    "args": {"port_id": ident, "path": "/extra/l", "value": 1, "unique": True},
                },
                {"op": "set-port-attribute", "args": {"port_id": ident, "path": "/physical_network", "value": "net"}},
                {"op": "del-port-attribute", "args": [ident, "/extra/a"]},
                {"op": "del-port-attribute", "args": [ident, "/extra/never"]},
            ]
        )
    )
    port: dict[str, Any] = {"extra": {}, "physical_network": None}
    assert list(outcome.changes.ports) == [PORT]
    apply(port, outcome.changes.ports[PORT])
    assert port == {"extra": {"l": [1]}, "physical_network": "net"}


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["52:54:00:00:00:99", "/extra/a", 1], "the node has no port '52:54:00:00:00:99'"),
        (["{node.gone}", "/extra/a", 1], "argument 'port_id': must be a name"),
        ([PORT, "/address", "zz"], "/address of the port must be a MAC address"),
        ([PORT, "/pxe_enabled", "true"], "/pxe_enabled of the port must be true or false"),
    ],
)
def test_it_refuses_to_write_ports_wrongly(args: list[Any], part: str) -> None:
    assert part in why(act("set-port-attribute", args))


def test_it_writes_several_ports_in_a_loop() -> None:
    outcome = act("set-port-attribute", ["{item[address]}", "/extra/at", "{item[uuid]}"], loop="{ports}")
    assert {uuid: patch[0]["value"] for uuid, patch in outcome.changes.ports.items()} == {
        PORT: PORT,
        OTHER_PORT: OTHER_PORT,
    }


@pytest.mark.demand("S145", "S146", "S147")
@pytest.mark.parametrize(
    ("op", "args", "key", "expected"),
    [
        ("set-plugin-data", ["/seen", "1"], "seen", "1"),
        ("set-plugin-data", ["seen", "1"], "seen", "1"),
        ("set-plugin-data", ["a.b.c", 1], "a", {"b": {"c": 1}}),
        ("set-plugin-data", ["/nested/a/c", 2], "nested", {"a": {"b": 1, "c": 2}}),
        (
            "set-plugin-data",
            ["copy", "{inventory[cpu]}"],
            "copy",
            {"count": 8, "architecture": "x86_64", "frequency": "2400.5"},
        ),
        ("extend-plugin-data", ["seen", "y"], "seen", ["x", "y"]),
        ("extend-plugin-data", {"path": "seen", "value": "x", "unique": True}, "seen", ["x"]),
        ("extend-plugin-data", ["/new/list", 1], "new", {"list": [1]}),
        ("unset-plugin-data", ["nested.a"], "nested", {}),
        ("unset-plugin-data", ["nested.gone.deeper"], "nested", {"a": {"b": 1}}),
    ],
)
def test_it_writes_plugin_data(op: str, args: Any, key: str, expected: Any) -> None:
    assert plugin_data_after(act(op, args))[key] == expected


@pytest.mark.demand("S144")
def test_it_fails_with_the_message_filled_in() -> None:
    outcome = act("fail", ["no {inventory[cpu][count]} CPUs for {node.name}\nplease"])
    assert why(outcome) == "phase main, actions[0]: no 8 CPUs for rack-1 please"


@pytest.mark.parametrize(("msg", "text"), [(False, "False"), (5, "5"), (1.5, "1.5")])
def test_it_takes_for_text_what_yaml_takes_for_something_else(msg: Any, text: str) -> None:
    assert why(act("fail", {"msg": msg})) == f"phase main, actions[0]: {text}"


@pytest.mark.demand("S148")
@pytest.mark.parametrize(
    ("args", "level", "text"),
    [
        (["hello {node.name}"], "info", "hello rack-1"),
        (["a\r\nb\x1b[31m\x00c\u2028d\x85e", "warning"], "warning", "a b [31m c d e"),
        ({"msg": "x", "level": "critical"}, "critical", "x"),
        (["{inventory[cpu][count]}"], "info", "8"),
    ],
)
def test_it_logs_on_one_line(args: Any, level: str, text: str) -> None:
    (line,) = act("log", args).log
    assert (line.level, line.text) == (level, text)


@pytest.mark.parametrize(
    ("op", "args", "expected"),
    [
        ("set-capability", ["fast", "true"], "boot_mode:uefi,cpu_vt:true,fast:true"),
        ("set-capability", ["cpu_vt", "false"], "boot_mode:uefi,cpu_vt:false"),
        ("set-capability", ["cpus", "{inventory[cpu][count]}"], "boot_mode:uefi,cpu_vt:true,cpus:8"),
        ("unset-capability", ["boot_mode"], "cpu_vt:true"),
        ("unset-capability", ["never"], "boot_mode:uefi,cpu_vt:true"),
    ],
)
def test_it_writes_capabilities(op: str, args: Any, expected: str) -> None:
    assert node_after(act(op, args))["properties"]["capabilities"] == expected


@pytest.mark.parametrize(
    "args", [["a:b", "x"], ["a", "x,y"], ["a", ""], ["a", None], ["a", "{inventory[cpu]}"], ["a,b", "c"]]
)
def test_it_refuses_capabilities_that_would_spoil_the_list(args: list[Any]) -> None:
    assert "a capability must have a name without" in why(act("set-capability", args))


def test_it_refuses_to_guess_at_capabilities_it_can_not_read() -> None:
    known = facts(node=NODE | {"properties": {"capabilities": "nonsense"}})
    assert "capabilities of the node can't be parsed" in why(act("set-capability", ["a", "b"], known=known))


@pytest.mark.parametrize(
    ("op", "name", "expected"),
    [
        ("add-trait", "CUSTOM_NEW", ["CUSTOM_OLD", "CUSTOM_NEW"]),
        ("add-trait", "CUSTOM_OLD", ["CUSTOM_OLD"]),
        ("add-trait", "HW_CPU_X86_{plugin_data[flag]}", ["CUSTOM_OLD", "HW_CPU_X86_VMX"]),
        ("remove-trait", "CUSTOM_OLD", []),
        ("remove-trait", "CUSTOM_NEVER", ["CUSTOM_OLD"]),
    ],
)
def test_it_writes_traits(op: str, name: str, expected: list[str]) -> None:
    assert node_after(act(op, [name], known=facts(plugin_data={"flag": "VMX"})))["traits"] == expected


@pytest.mark.parametrize("name", ["custom_x", "CUSTOM-X", "C" * 256, "_X"])
def test_it_refuses_what_is_no_trait(name: str) -> None:
    assert "a trait must have 1 to 255 capital letters" in why(act("add-trait", [name]))


def test_it_gives_a_node_no_more_traits_than_it_may_have() -> None:
    known = facts(node=NODE | {"traits": [f"CUSTOM_{number}" for number in range(50)]})
    assert "50 traits already" in why(act("add-trait", ["CUSTOM_MORE"], known=known))
    assert act("add-trait", ["CUSTOM_7"], known=known).failure is None
