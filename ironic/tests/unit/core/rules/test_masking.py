"""Secrets stay out of the sight of rules, by mode, and unharmed by what rules do around them."""

import copy
import json
from typing import Any

import pytest

from ironic.core.rules import Masking
from ironic.core.rules.paths import apply
from ironic.core.secrets.masking import REPLACEMENT
from ironic.tests.unit.core.rules.lab import INVENTORY, NODE, PORT, PORTS, act, facts, rule, run, why

KEYS = [
    "password",
    "ipmi_password",
    "auth_token",
    "bmc_password",
    "snmp_auth_key",
    "secret",
    "private_key",
    "credential",
]
PLACES = ["node.driver_info", "node.extra", "inventory", "plugin_data", "ports"]


def canary(place: str, key: str) -> str:
    return f"canary-{place}-{key}"


def planted() -> Any:
    """Return facts with forty secrets in them, some deep below."""
    secrets = {place: {key: canary(place, key) for key in KEYS} for place in PLACES}
    return facts(
        node=NODE | {"driver_info": secrets["node.driver_info"], "extra": {"a": [{"b": secrets["node.extra"]}]}},
        inventory=INVENTORY | {"bmc": {"users": [secrets["inventory"]]}},
        plugin_data={"x": [[secrets["plugin_data"]]]},
        ports=[PORTS[0] | {"extra": secrets["ports"]}],
    )


SNOOP = [
    {"op": "log", "args": ["{node}{ports}{inventory}{plugin_data}{port_groups}"]},
    {"op": "set-plugin-data", "args": ["stolen", ["{node}", "{ports}", "{inventory}", "{plugin_data}"]]},
    {"op": "set-attribute", "args": ["/description", "{node.driver_info[password]}{node.extra[a][0][b][secret]}"]},
    {"op": "set-attribute", "args": ["/extra/one", "{inventory[bmc][users][0][auth_token]}"]},
    {"op": "fail", "args": ["{plugin_data}{node}{ports[0][extra][password]}"]},
]
CONDITIONS = [{"op": "!is-none", "args": [one]} for one in ("{node}", "{inventory}", "{plugin_data}", "{ports}")]


def leaked(outcome: Any) -> int:
    """Return how many of the canaries are found in anything that comes out."""
    changes = outcome.changes
    out = json.dumps(
        [changes.node, changes.ports, changes.plugin_data, outcome.explanation, str(outcome.failure)]
        + [line.text for line in outcome.log]
    )
    return sum(canary(place, key) in out for place in PLACES for key in KEYS)


@pytest.mark.demand("S131", "S168")
@pytest.mark.parametrize(
    ("masking", "sensitive", "sees"),
    [
        ("always", False, False),
        ("always", True, False),
        ("sensitive", False, False),
        ("sensitive", True, True),
        ("never", False, True),
        ("never", True, True),
    ],
)
def test_it_shows_secrets_to_whom_the_mode_says(masking: Any, sensitive: bool, sees: bool) -> None:
    outcome = run(rule(SNOOP, CONDITIONS, sensitive=sensitive), masking=masking, known=planted())
    assert outcome.failure is not None
    assert leaked(outcome) == (40 if sees else 0)
    if not sees:
        assert REPLACEMENT in json.dumps(outcome.changes.plugin_data)


@pytest.mark.demand("S120")
def test_it_shows_nothing_a_sensitive_rule_sees_in_what_people_read() -> None:
    outcome = run(rule(SNOOP, CONDITIONS, sensitive=True), masking="sensitive", known=planted())
    read = json.dumps([outcome.explanation, str(outcome.failure), [line.text for line in outcome.log]])
    assert "canary" not in read


def test_it_hides_from_later_rules_what_a_sensitive_one_sets() -> None:
    setter = rule([{"op": "set-attribute", "args": ["/driver_info/ipmi_password", "pa$$w0rd"]}], sensitive=True)
    reader = rule([{"op": "set-plugin-data", "args": ["seen", "{node.driver_info[ipmi_password]}"]}])
    maskings: list[Masking] = ["always", "sensitive"]
    for masking in maskings:
        outcome = run(setter, reader, masking=masking)
        assert outcome.changes.node == [{"op": "add", "path": "/driver_info/ipmi_password", "value": "pa$$w0rd"}]
        assert outcome.changes.plugin_data[0]["value"] == REPLACEMENT


def test_it_tells_rules_whether_a_secret_is_there() -> None:
    conditions = [
        {"op": "!is-empty", "args": ["{node.driver_info[redfish_password]}"]},
        {"op": "is-empty", "args": ["{node.driver_info[ipmi_password]}"]},
    ]
    assert run(rule(conditions=conditions)).changes


def after(outcome: Any, node: dict[str, Any]) -> dict[str, Any]:
    assert outcome.failure is None, outcome.failure
    changed = copy.deepcopy(node)
    apply(changed, outcome.changes.node)
    return changed


def test_it_leaves_secrets_as_they_are_when_rules_write_beside_them() -> None:
    actions = [
        {"op": "set-attribute", "args": ["/driver_info/redfish_username", "admin"]},
        {"op": "extend-attribute", "args": ["/driver_info/list", 1]},
        {"op": "set-capability", "args": ["a", "b"]},
    ]
    changed = after(run(rule(actions)), NODE)
    assert changed["driver_info"]["redfish_password"] == "hunter2"
    assert changed["driver_info"]["redfish_username"] == "admin"


@pytest.mark.parametrize("masking", ["always", "never", "sensitive"])
def test_it_writes_below_secret_names_alike_in_every_mode(masking: Any) -> None:
    node = NODE | {"driver_info": {"credentials": {"old": 1}, "tokens": ["a"]}}
    actions = [
        {"op": "set-attribute", "args": ["/driver_info/credentials/user", "u"]},
        {"op": "set-attribute", "args": ["/driver_info/new_secrets/one", 1]},
        {"op": "set-attribute", "args": ["/driver_info/new_secrets/two", 2]},
        {"op": "extend-attribute", "args": ["/driver_info/tokens", "b"]},
        {"op": "del-attribute", "args": ["/driver_info/credentials/old"]},
        {"op": "set-attribute", "args": ["/driver_info/password", None]},
    ]
    changed = after(run(rule(actions), known=facts(node=node), masking=masking), node)
    assert changed["driver_info"] == {
        "credentials": {"user": "u"},
        "tokens": ["a", "b"],
        "new_secrets": {"one": 1, "two": 2},
        "password": None,
    }


@pytest.mark.parametrize(
    ("op", "args", "part"),
    [
        ("set-attribute", ["/driver_info/credentials/a/b", 1], "is inside a secret"),
        ("extend-attribute", {"path": "/driver_info/tokens", "value": 1, "unique": True}, "is not a list"),
    ],
)
def test_it_refuses_what_it_can_not_do_blindly(op: str, args: Any, part: str) -> None:
    node = NODE | {"driver_info": {"credentials": {"a": {}}, "tokens": ["a"]}}
    assert part in why(act(op, args, known=facts(node=node)))
    assert act(op, args, known=facts(node=node), masking="never").failure is None


def test_it_masks_values_in_the_changes_it_explains() -> None:
    actions = [
        {"op": "set-attribute", "args": ["/driver_info/ipmi_password", "pa$$w0rd"]},
        {"op": "set-attribute", "args": ["/driver_info", {"ipmi_password": "pa$$w0rd"}]},
        {"op": "set-port-attribute", "args": [PORT, "/extra/token", "pa$$w0rd"]},
        {"op": "unset-plugin-data", "args": ["seen"]},
    ]
    (told,) = run(rule(actions)).explanation
    assert "pa$$w0rd" not in json.dumps(told["changes"])
    assert told["changes"]["plugin_data"] == [{"op": "remove", "path": "/seen"}]
