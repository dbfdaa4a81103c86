"""What a machine reported never becomes a right or a place, a path, or an address beside a stored password."""

from typing import Any

import pytest

from ironic.core.rules import Masking, Outcome
from ironic.core.rules import documents as writable
from ironic.core.rules.documents import Provenance
from ironic.tests.unit.core.rules.lab import NODE, PORT, facts, rule, run, why

SET, PUT = "set-attribute", "set-plugin-data"
FORGED = {"inventory": {"x": "forged", "list": ["forged"]}, "plugin_data": {"x": "forged"}}
MACHINE = facts(
    inventory=FORGED["inventory"],
    plugin_data={"x": "forged"},
    node=NODE | {"extra": {"x": "forged"}, "owner": "o1", "name": "forged", "properties": {"inspection_scope": "s1"}},
)
REFUSED = "can't be set to what a machine reported"


def does(*parts: tuple[Any, ...], known: Any = MACHINE, masking: Masking = "always") -> Outcome:
    """Return what actions come to, each in a rule of its own; a third part of one is its loop."""
    documents = [
        rule([{"op": op, "args": args, **({"loop": rest[0]} if rest else {})}], sensitive=masking == "sensitive")
        for op, args, *rest in parts
    ]
    return run(*documents, known=known, masking=masking)


@pytest.mark.demand("S149")
@pytest.mark.parametrize("field", sorted("/".join(path) for path in writable.LITERAL))
def test_a_right_or_a_place_is_never_made_from_a_report(field: str) -> None:
    assert REFUSED in why(does((SET, [f"/{field}", "{inventory[x]}"])))


@pytest.mark.parametrize(
    "parts",
    [
        [(SET, ["/owner", "{inventory[x]}"])],
        [(SET, ["/instance_info/project_id", "{inventory[x]}"])],
        [(SET, ["/instance_info", {"project_id": "{inventory[x]}"}])],
        [(SET, ["owner", "{plugin_data[x]}"])],
        [(SET, ["/owner", "p-{inventory[x]}"])],
        [(SET, ["/owner", "{inventory[nothing][here]}"])],
        [(SET, ["/owner", "{node.extra[x]}"])],
        [(SET, ["/owner", "{node.name}"])],
        [(SET, ["/owner", "{ports[0][address]}"])],
        [(SET, ["/owner", "{port_groups[0][name]}"])],
        [(SET, ["/owner", "{item}"], "{inventory[list]}")],
        [(SET, ["/owner", "{item}"], ["{inventory[x]}"])],
        [(SET, ["/owner", "{item[a]}"], {"a": "{inventory[x]}"})],
        [(PUT, ["/copy", "{inventory[x]}"]), (SET, ["/owner", "{plugin_data[copy]}"])],
        [(PUT, ["/copy", ["{inventory[x]}"]]), (SET, ["/owner", "{plugin_data[copy][0]}"])],
        [(PUT, ["/copy", {"{inventory[x]}": 1}]), (SET, ["/owner", "{plugin_data[copy]}"])],
        [(SET, ["/extra/copy", "{inventory[x]}"]), (SET, ["/owner", "{node.extra[copy]}"])],
        [(SET, ["/description", "{inventory[x]}"]), (SET, ["/owner", "{node.description}"])],
        [
            (PUT, ["/one", "{inventory[x]}"]),
            (SET, ["/extra/two", "{plugin_data[one]}"]),
            (PUT, ["/three", "a{node.extra[two]}"]),
            (SET, ["/owner", "{plugin_data[three]}"]),
        ],
        # Literal at first, and then no more: as a whole, in a part, above, in a list, behind one that went.
        [(PUT, ["/a", "mine"]), (PUT, ["/a", "{inventory[x]}"]), (SET, ["/owner", "{plugin_data[a]}"])],
        [(PUT, ["/a", {"b": "mine"}]), (PUT, ["/a/b", "{inventory[x]}"]), (SET, ["/owner", "{plugin_data[a][b]}"])],
        [(PUT, ["/a/b", "mine"]), (PUT, ["/a", {"b": "{inventory[x]}"}]), (SET, ["/owner", "{plugin_data[a][b]}"])],
        [
            (PUT, ["/l", ["mine"]]),
            ("extend-plugin-data", ["/l", "{inventory[x]}"]),
            ("unset-plugin-data", ["/l/0"]),
            (SET, ["/owner", "{plugin_data[l][0]}"]),
        ],
        [
            (PUT, ["/l", ["{inventory[x]}", "{inventory[x]}"]]),
            (PUT, ["/l/0", "mine"]),
            ("unset-plugin-data", ["/l/0"]),
            (SET, ["/owner", "{plugin_data[l][0]}"]),
        ],
        # A name that a machine reported leads to what it chose.
        [(PUT, ["/a", "mine"]), (PUT, ["/{inventory[x]}", "v"]), (SET, ["/owner", "{plugin_data[forged]}"])],
        [(SET, ["/properties", {"inspection_scope": "{inventory[x]}"}])],
        [(SET, ["/properties", "{inventory}"])],
        [("set-capability", ["a", "b"]), (SET, ["/owner", "{node.properties[capabilities]}"])],
        [("set-capability", ["a", "{inventory[x]}"]), (SET, ["/owner", "{node.properties[capabilities]}"])],
        [("add-trait", ["CUSTOM_{item}"], ["{inventory[x]}", "A"]), (SET, ["/owner", "{node.traits[0]}"])],
    ],
)
def test_it_follows_what_was_reported_wherever_it_goes(parts: list[Any]) -> None:
    failed = why(does(*parts))
    assert REFUSED in failed or "a trait must have" in failed


@pytest.mark.demand("S149")
@pytest.mark.parametrize(
    "parts",
    [
        [(SET, ["/owner", "p1"])],
        [(SET, ["/owner", "{node.owner}"])],
        [(SET, ["/lessee", "{node.owner}-{node.uuid}"])],
        [(SET, ["/owner", "{item}"], ["p1", "p2"])],
        [(SET, ["/owner", "{item[a]}"], {"a": "p1"})],
        [(PUT, ["/site/owner", "p1"]), (SET, ["/owner", "{plugin_data[site][owner]}"])],
        [(SET, ["/extra/a", {"b": ["p1"]}]), (SET, ["/owner", "{node.extra[a][b][0]}"])],
        [
            (PUT, ["/a", "{inventory[x]}"]),
            (PUT, ["/a", "mine"]),
            (SET, ["/owner", "{plugin_data[a]}"]),
        ],
        [(SET, ["/properties", {"inspection_scope": "s1", "cpus": "{inventory[x]}"}])],
        [(SET, ["/properties/inspection_scope", "s2"])],
        [(SET, ["/properties/cpus", "{inventory[x]}"]), (SET, ["/shard", "s"])],
        [(SET, ["/resource_class", "{inventory[x]}"]), (SET, ["/description", "{inventory[x]}"])],
        [("del-attribute", ["/owner"])],
    ],
)
def test_what_rules_say_themselves_goes_anywhere(parts: list[Any]) -> None:
    assert does(*parts).failure is None


@pytest.mark.parametrize(
    "parts",
    [
        [(SET, ["{inventory[x]}", 1])],
        [(SET, ["/{inventory[x]}", 1])],
        [(SET, ["/driver_info/{inventory[x]}", 1])],
        [(SET, ["/properties/{item}", 1], "{inventory[list]}")],
        [("del-attribute", ["/driver_info/{inventory[x]}"])],
        [("extend-attribute", ["/instance_info/{inventory[x]}", 1])],
        [("set-port-attribute", [PORT, "/local_link_connection/{inventory[x]}", 1])],
        [(SET, ["/extra", 1])][:0] or [(SET, ["{node.extra[x]}", 1])],
    ],
)
def test_what_a_machine_reported_is_no_path(parts: list[Any]) -> None:
    for value in ("extra", "extra.a", "/extra", "lessee"):
        known = facts(inventory={"x": value, "list": [value]}, node=NODE | {"extra": {"x": value}})
        failed = why(does(*parts, known=known))
        assert "a path can't contain what a machine reported" in failed or "rules can't write field" in failed


def test_what_a_machine_reported_is_a_key_below_extra_and_in_plugin_data() -> None:
    known = facts(inventory={"x": "a/b.c"}, node=NODE | {"extra": {}}, plugin_data={})
    outcome = does(
        (SET, ["/extra/{inventory[x]}", 1]),
        ("set-port-attribute", [PORT, "/extra/{inventory[x]}", 1]),
        (PUT, ["{inventory[x]}", 1]),
        known=known,
    )
    paths = [one["path"] for one in outcome.changes.node + outcome.changes.ports[PORT] + outcome.changes.plugin_data]
    assert paths == ["/extra/a~1b.c", "/extra/a~1b.c", "/a~1b.c"]


STORED = {"redfish_address": "https://bmc", "redfish_username": "u", "redfish_password": "hunter2"}
ADDRESS, PASSWORD = "/driver_info/redfish_address", "/driver_info/redfish_password"


def logins(*parts: tuple[Any, ...], stored: Any = STORED, masking: Masking = "always") -> Outcome:
    known = facts(node=NODE | {"driver_info": stored}, inventory={"bmc": "https://evil", "same": "https://bmc", "n": 7})
    return does(*parts, known=known, masking=masking)


@pytest.mark.parametrize(
    "parts",
    [
        [(SET, [ADDRESS, "{inventory[bmc]}"])],
        [(SET, [ADDRESS, "https://{inventory[bmc]}/"])],
        [("del-attribute", [ADDRESS]), (SET, [ADDRESS, "{inventory[bmc]}"])],
        [(SET, [ADDRESS, "https://b2"]), (SET, [ADDRESS, "{inventory[bmc]}"])],
        [(PUT, ["/a", "{inventory[bmc]}"]), (SET, [ADDRESS, "{plugin_data[a]}"])],
        [(SET, ["/driver_info/redfish_port", "{inventory[n]}"])],
        [(SET, ["/driver_info/redfish_verify_ca", "{inventory[n]}"])],
        [(SET, ["/driver_info", {"redfish_address": "{inventory[bmc]}", "redfish_password": "hunter2"}])],
        [(SET, ["/driver_info/redfish_username", "v"]), (SET, [ADDRESS, "{inventory[bmc]}"])],
        # The stored password, written back or written elsewhere, is no password that the rule brings along.
        [(SET, [PASSWORD, "{node.driver_info[redfish_password]}"]), (SET, [ADDRESS, "{inventory[bmc]}"])],
        [
            (SET, ["/driver_info/ipmi_password", "{node.driver_info[redfish_password]}"]),
            ("del-attribute", [PASSWORD]),
            (SET, ["/driver_info/ipmi_address", "{inventory[bmc]}"]),
        ],
    ],
)
def test_a_report_leads_no_stored_password_elsewhere(parts: list[Any]) -> None:
    outcome = logins(*parts, masking="never")
    assert "to another address" in why(outcome)
    assert "hunter2" not in why(outcome)


@pytest.mark.parametrize("path", ["/instance_info/image_source", "/driver_info/image_http_proxy"])
def test_a_report_leads_no_login_for_images_elsewhere(path: str) -> None:
    info = {"image_source": "https://images/a", "image_server_password": "hunter2"}
    known = facts(node=NODE | {"driver_info": {}, "instance_info": info}, inventory={"place": "https://evil"})
    failed = why(does((SET, [path, "{inventory[place]}"]), known=known))
    assert "instance_info/image_server_password to another address" in failed
    assert "hunter2" not in failed
    assert does((SET, [path, "https://mine"]), known=known).failure is None


@pytest.mark.parametrize(
    "parts",
    [
        [(SET, [ADDRESS, "{inventory[bmc]}"]), (SET, [PASSWORD, "calvin"])][::-1],
        [(SET, [PASSWORD, "hunter2"]), (SET, [ADDRESS, "{inventory[bmc]}"])],
        [(SET, ["/driver_info", {"redfish_address": "{inventory[bmc]}", "redfish_password": "calvin"}])],
        [(SET, [ADDRESS, "{inventory[same]}"])],
        [(SET, [ADDRESS, "https://b2"])],
        [("del-attribute", [PASSWORD]), (SET, [ADDRESS, "{inventory[bmc]}"])],
        [(SET, ["/driver_info/ipmi_address", "{inventory[bmc]}"])],
        [(SET, ["/driver_info/deploy_kernel", "http://k/{inventory[bmc]}"])],
    ],
)
def test_a_rule_that_brings_the_password_writes_the_address(parts: list[Any]) -> None:
    assert logins(*parts).failure is None


@pytest.mark.demand("S171")
def test_a_machine_without_a_password_gets_its_address() -> None:
    assert logins((SET, [ADDRESS, "{inventory[bmc]}"]), stored={}).failure is None
    assert logins((SET, [ADDRESS, "{inventory[bmc]}"]), (SET, [PASSWORD, "x"]), stored={}).failure is None


def test_a_refused_write_is_told_in_the_explanation() -> None:
    (told,) = does((SET, ["/owner", "{inventory[x]}"])).explanation
    assert REFUSED in told["error"]
    assert told["changes"]["node"] == []
    (told,) = does((SET, ["/owner", "{inventory[x]}"]), masking="sensitive").explanation
    assert told["error"].endswith("RuleFault (the rule is sensitive)")


def test_it_remembers_what_was_written_literally() -> None:
    seen = Provenance({("own",), ("in", "own")})
    assert not seen.is_reported(("own", "x"))
    assert not seen.is_reported(("in", "own"))
    assert seen.is_reported(("in",))
    seen.note(("a", "b"), reported=False)
    assert [seen.is_reported(path) for path in (("a",), ("a", "b"), ("a", "b", "c"), ("a", "c"))] == [1, 0, 0, 1]
    seen.note(("a", "b", "c"), reported=True)
    assert seen.is_reported(("a", "b", "d"))
    seen.note(("a",), reported=False)
    seen.note(("a", "x"), reported=False)
    assert not seen.is_reported(("a", "y"))
    seen.note(("a",), reported=True)
    assert seen.is_reported(("a", "x"))
