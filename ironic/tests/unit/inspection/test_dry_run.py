"""A dry run and a real run agree, and a dry run leaves everything as it is."""

import copy
import itertools
import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ironic.core.errors import IronicError
from ironic.core.rules import PHASES, AnyRule, CompiledRule, check_rule, in_order
from ironic.core.rules.paths import apply
from ironic.core.secrets.masking import REPLACEMENT
from ironic.db import Store
from ironic.db.tables import metadata
from ironic.inspection.dry_run import HookRun, dry_run, note_without_node
from ironic.inspection.hooks.base import InspectionHook, NamedHook, installed_hooks, load_hooks
from ironic.inspection.hooks.port_connectivity import ParseLldp
from ironic.inspection.phases import WITH_NODE
from ironic.inspection.rules import Inspection, RuleBook, StoredNode, facts_of, facts_without_node, run_early
from ironic.inspection.rules.explanation import explain
from ironic.inspection.staged_task import StagedTask
from ironic.tests.conftest import Setter
from ironic.tests.databases import sqlite_store
from ironic.tests.effort import examples
from ironic.tests.unit.inspection.lab import MAC, inventory, new_node, new_port, work_on

CASES = 1000
NUMBERS = itertools.count(1)

TEXTS = st.sampled_from(
    ["a", "CUSTOM_A", "8", "{node.name}", "{inventory[cpu][count]}", "{plugin_data[seen]}", "{item}", "{node.extra}"]
    + ["{node.driver_info[password]}", "{node.traits}", "{ports[0][extra]}", "x{plugin_data}", "{node.description}"]
)
VALUES = TEXTS | st.sampled_from([1, None, True, ["{item}", 2], {"k": "{node.extra[a]}"}])
NODE_PATHS = st.sampled_from(
    ["/extra/a", "/extra/a/b", "/extra/l", "/extra", "/driver_info/password", "/driver_info/new_token", "/name"]
    + ["/properties/x", "/description", "/maintenance", "/extra/{item}", "extra.l.0", "/resource_class"]
)
DATA_PATHS = st.sampled_from(["a", "seen", "/deep/er", "l", "/{item}"])
PORTS = st.sampled_from(["{ports[0][uuid]}", "{ports[1][address]}", "{inventory[interfaces][0][mac_address]}", "none"])


def deed(op: str, **args: Any) -> Any:
    return st.fixed_dictionaries({"op": st.just(op), "args": st.fixed_dictionaries(args)})


DEEDS = st.one_of(
    deed("set-attribute", path=NODE_PATHS, value=VALUES),
    deed("extend-attribute", path=NODE_PATHS, value=VALUES, unique=st.booleans()),
    deed("del-attribute", path=NODE_PATHS),
    deed("set-port-attribute", port_id=PORTS, path=st.sampled_from(["/extra/a", "/name"]), value=VALUES),
    deed("extend-port-attribute", port_id=PORTS, path=st.just("/extra/l"), value=VALUES),
    deed("del-port-attribute", port_id=PORTS, path=st.sampled_from(["/extra/a", "/name"])),
    deed("set-plugin-data", path=DATA_PATHS, value=VALUES),
    deed("extend-plugin-data", path=DATA_PATHS, value=VALUES, unique=st.booleans()),
    deed("unset-plugin-data", path=DATA_PATHS),
    deed("set-capability", name=st.sampled_from(["a", "b"]), value=st.sampled_from(["x", 8, "{node.name}"])),
    deed("unset-capability", name=st.sampled_from(["a", "b"])),
    deed("add-trait", name=st.sampled_from(["CUSTOM_A", "CUSTOM_{inventory[cpu][count]}", "{node.name}"])),
    deed("remove-trait", name=st.sampled_from(["CUSTOM_A", "CUSTOM_OLD", "{node.traits[0]}"])),
    deed("log", msg=TEXTS),
    deed("fail", msg=TEXTS),
)
EARLY_DEEDS = deed("set-plugin-data", path=st.sampled_from(["a", "seen"]), value=st.just("{inventory[cpu]}"))
CONDITIONS = st.one_of(
    deed("is-true", value=VALUES),
    deed("!is-none", value=VALUES),
    deed("! is-empty", value=VALUES),
    deed("eq", values=st.lists(VALUES, min_size=2, max_size=2)),
    deed("lt", values=st.just(["{inventory[cpu][count]}", 9])),
    deed("contains", value=VALUES, regex=st.sampled_from(["a", "8", "[*]{6}"])),
    deed("one-of", value=VALUES, values=st.lists(VALUES, max_size=2)),
)
LOOPS = st.sampled_from([["a", "b"], "{inventory[interfaces]}", "{node.traits}", {"k": 1}, "{plugin_data[seen]}"])
HOW = st.sampled_from(["any", "all", "first", "last"])


def looped(parts: Any, *, joined: bool) -> Any:
    """Return parts of which all have a loop, since any may speak of the item."""
    more = {"loop": LOOPS} | ({"multiple": HOW} if joined else {})
    return st.tuples(parts, st.fixed_dictionaries(more)).map(lambda pair: pair[0] | pair[1])


RULES = st.lists(
    st.fixed_dictionaries(
        {
            "conditions": st.lists(looped(CONDITIONS, joined=True), max_size=2),
            "actions": st.lists(looped(DEEDS, joined=False), min_size=1, max_size=3),
            "phase": st.sampled_from(["preprocess", "main", None]),
            "priority": st.integers(0, 2),
            "scope": st.sampled_from([None, None, "rack", "row"]),
            "sensitive": st.booleans(),
        }
    )
    | st.fixed_dictionaries({"phase": st.just("early"), "actions": st.lists(EARLY_DEEDS, min_size=1, max_size=2)}),
    min_size=1,
    max_size=4,
)


class Given(RuleBook):
    """Rules that are not stored."""

    def __init__(self, rules: Sequence[AnyRule]) -> None:
        super().__init__()
        self._rules = in_order(rules)

    def rules(self, store: Store, phases: Collection[str] = PHASES) -> list[AnyRule]:
        return [rule for rule in self._rules if rule.phase in phases]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = sqlite_store(tmp_path_factory.mktemp("agreement"))
    yield store
    store.close()


def contents(store: Store) -> list[Any]:
    with store.reading() as connection:
        return [[tuple(row) for row in connection.execute(sa.select(table))] for table in metadata.sorted_tables]


def state_of(store: Store, node: Any) -> dict[str, Any]:
    """Return what rules can change, as it is stored."""
    known = facts_of(StoredNode.read(store, store.nodes.get(node.uuid)), {}, {})
    passing = ("updated_at", "reservation", "maintenance_reason", "fault", "retired_reason")
    plain = {name: value for name, value in (known.node or {}).items() if name not in passing}
    plain["traits"] = sorted(plain["traits"])
    ports = {port["uuid"]: {k: v for k, v in port.items() if k != "updated_at"} for port in known.ports}
    return {"node": plain, "ports": ports}


def patched(state: dict[str, Any], data: dict[str, Any], changes: dict[str, Any]) -> tuple[Any, Any]:
    """Return the state and the plug-in data as a dry run says they will be."""
    state, data = copy.deepcopy(state), copy.deepcopy(data)
    apply(state["node"], changes["node"])
    state["node"]["traits"] = sorted(set(state["node"]["traits"]))
    for uuid, patch in changes["ports"].items():
        apply(state["ports"][uuid], patch)
    apply(data, changes["plugin_data"])
    return state, data


def inspected(task: Any, rules: list[CompiledRule], found: Any, data: dict[str, Any]) -> tuple[str | None, list[Any]]:
    """Run the rules for real; return the failure, if any, and what was evaluated."""
    staged, book = StagedTask(task), Given(rules)
    told: list[Any] = run_early(book.early(task.store), task.store, found, data)
    inspection = Inspection(book, staged)
    try:
        for phase in WITH_NODE:
            inspection.run(phase, found, data)
        staged.commit()
        failure = None
    except IronicError as error:
        staged.discard()
        failure = str(error)
    return failure, told + inspection._explanation


@pytest.mark.parametrize("sensitive", [False, True])
def test_dry_run_and_real_run_agree(shared: Store, conf: Setter, sensitive: bool) -> None:
    """The changes in the answer lead to what is stored; of sensitive rules, which rules apply and which fails."""

    @settings(max_examples=examples(CASES // 2), deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(RULES)
    def agree(documents: list[dict[str, Any]]) -> None:
        number = next(NUMBERS)
        mac, other = (f"52:54:00:{kind}:{number // 256:02x}:{number % 256:02x}" for kind in ("00", "01"))
        node = new_node(
            shared,
            extra={"a": 1, "l": ["x"]},
            driver_info={"password": "hunter2"},
            properties={"inspection_scope": "rack", "capabilities": "a:1"},
            description="d",
        )
        new_port(shared, node, mac)
        new_port(shared, node, other, extra={"a": {"b": 1}})
        shared.traits.replace(node.id, ["CUSTOM_OLD"])
        found, seen = inventory(mac, other), {"seen": ["CUSTOM_B"]}
        rules = [
            check_rule(
                document | ({} if document["phase"] == "early" else {"sensitive": sensitive and document["sensitive"]})
            )
            for document in documents
        ]
        before = state_of(shared, node)
        stored = shared.nodes.get(node.uuid)
        told = dry_run(rules, facts_of(StoredNode.read(shared, stored), found, seen), interface="agent")
        assert state_of(shared, node) == before
        work, data = work_on(shared, stored), copy.deepcopy(seen)
        failure, explained = inspected(work, rules, found, data)
        shared.nodes.release(work.node, "conductor-1")
        assert told == explain(explained)
        errors = [one["error"] for one in told["rules"] if "error" in one]
        if failure is not None:
            # What only the database knows, such as a name that is taken, a dry run can't foresee.
            assert state_of(shared, node) == before
            assert not errors or errors[0] in failure
        else:
            assert errors == []
            if not any(rule.sensitive for rule in rules) and REPLACEMENT not in json.dumps(told["changes"]):
                assert patched(before, seen, told["changes"]) == (state_of(shared, node), data)
        shared.nodes.delete(node.uuid)

    agree()


def test_a_dry_run_writes_nothing_and_logs_nothing(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    node = new_node(store)
    new_port(store, node)
    rules = [
        check_rule(
            {"actions": [{"op": "log", "args": ["x", "error"]}, {"op": "set-attribute", "args": ["/name", "n"]}]}
        )
    ]
    before = contents(store)
    told = dry_run(rules, facts_of(StoredNode.read(store, node), inventory(), {}), interface="agent")
    assert told["changes"]["node"] == [{"op": "add", "path": "/name", "value": "n"}]
    assert contents(store) == before
    assert "Inspection rule" not in caplog.text


def test_phases_follow_each_other_and_see_what_was_changed() -> None:
    rules = [
        check_rule({"phase": phase, "actions": [{"op": "set-plugin-data", "args": [phase, "{plugin_data}"]}]})
        for phase in ("main", "preprocess", "early")
    ]
    told = dry_run(rules, facts_without_node({}, {}))
    assert [one["path"] for one in told["changes"]["plugin_data"]] == ["/early", "/preprocess", "/main"]
    assert told["changes"]["plugin_data"][2]["value"] == {"early": {}, "preprocess": {"early": {}}}
    assert len(dry_run(rules, facts_without_node({}, {}), phase="early")["rules"]) == 1


def test_it_stops_where_an_inspection_would() -> None:
    failing = {"phase": "preprocess", "actions": [{"op": "fail", "args": ["no"]}]}
    rules = [check_rule(failing), check_rule({"actions": [{"op": "fail", "args": ["never"]}]})]
    told = dry_run(rules, facts_without_node({}, {}))
    assert [one["error"] for one in told["rules"]] == ["phase preprocess, actions[0]: no"]


@pytest.mark.demand("S169")
@pytest.mark.parametrize(("interface", "runs"), [("agent", 2), ("redfish", 1), ("", 1), (None, 2)])
def test_it_runs_what_would_run_for_the_inspect_interface(interface: str | None, runs: int) -> None:
    actions = [{"op": "log", "args": ["x"]}]
    rules = [check_rule({"actions": actions}), check_rule({"actions": actions, "phase": "early"})]
    assert len(dry_run(rules, facts_without_node({}, {}), interface=interface)["rules"]) == runs


@pytest.mark.demand("S131")
def test_what_is_told_holds_no_secret_even_where_rules_see_them(conf: Setter, tmp_path: Path) -> None:
    actions = [
        {"op": "set-attribute", "args": ["/extra/copy", "{inventory[password]}"]},
        {"op": "fail", "args": ["stop"]},
    ]
    document = {"conditions": [{"op": "!is-none", "args": ["{inventory[password]}"]}], "actions": actions}
    for masking in ("always", "never", "sensitive"):
        conf(inspection_rules__mask_secrets=masking)
        for sensitive in (False, True):
            rules = [check_rule(document | {"sensitive": sensitive})]
            assert "hunter2" not in json.dumps(dry_run(rules, facts_without_node({"password": "hunter2"}, {})))


DEFAULT = "ramdisk-error,validate-interfaces,ports,architecture"
LLDP = [[1, "04001c73000001"], [2, "0545746865726e6574"], [5, b"tor-a1".hex()]]
SWITCH = {"op": "set-capability", "args": ["switch", "{plugin_data[parsed_lldp][eth0][switch_system_name]}"]}


class Acting(InspectionHook):
    """A hook of another project, which writes where a dry run must not."""

    runs = 0

    def __call__(self, task: Any, inventory: Any, plugin_data: Any) -> None:
        type(self).runs += 1


class Derived(ParseLldp):
    """A hook that does more than the one it is derived from."""

    def __call__(self, task: Any, inventory: Any, plugin_data: Any) -> None:
        Acting.runs += 1


def of_node(store: Store, node: Any) -> StoredNode:
    return StoredNode.read(store, store.nodes.get(node.uuid))


@pytest.mark.parametrize("has_node", [True, False])
def test_hooks_precede_the_rules_of_their_phases(store: Store, conf: Setter, has_node: bool) -> None:
    """A rule sees what hooks have found, a hook what rules have changed, and nothing of it is stored."""
    conf(inspector__hooks=f"{DEFAULT},parse-lldp,root-device")
    node = new_node(store)
    hints = {"op": "set-attribute", "args": ["/properties/root_device", {"name": "/dev/sdb"}]}
    rules = [
        check_rule({"phase": "preprocess", "actions": [hints]}),
        check_rule({"actions": [{"op": "set-attribute", "args": ["/extra/disk", "{plugin_data[root_disk][name]}"]}]}),
        check_rule({"actions": [SWITCH]}),
    ]
    found = inventory(MAC, disks=[{"name": "/dev/sda", "size": 2**40}, {"name": "/dev/sdb", "size": 2**40}])
    data = {"lldp_raw": {"eth0": LLDP}}
    source = of_node(store, node) if has_node else None
    facts = facts_of(source, found, data) if source else facts_without_node(found, data)
    before = contents(store)
    told = dry_run(rules, facts, interface="agent", hooks=HookRun.of_service(store, source))
    assert contents(store) == before
    assert [one.get("error") for one in told["rules"]] == [None, None, None]
    assert {one["path"]: one["value"] for one in told["changes"]["node"]} == {
        "/properties/root_device": {"name": "/dev/sdb"},
        "/extra/disk": "/dev/sdb",
        "/properties/capabilities": "switch:tor-a1",
    }
    keys = {one["name"]: one["plugin_data"] for one in told["hooks"]}
    assert keys["parse-lldp"] == ["parsed_lldp"]
    assert keys["root-device"] == ["root_disk", "local_gb"]
    assert "notes" not in told


def test_a_dry_run_with_hooks_ends_where_a_hook_refuses_the_report(store: Store) -> None:
    rules = [check_rule({"actions": [{"op": "log", "args": ["x"]}]})]
    found = inventory(MAC) | {"cpu": {}}
    told = dry_run(rules, facts_without_node(found, {}), hooks=HookRun.of_service(store, None))
    assert told["rules"] == []
    assert {one["name"]: one["error"] for one in told["hooks"] if "error" in one} == {
        "architecture": "hook architecture: the inventory has no CPU architecture (cpu.architecture)"
    }


def test_hooks_that_may_act_on_something_else_are_left_out(store: Store) -> None:
    hooks = [NamedHook("acting", Acting()), NamedHook("derived", Derived())]
    told = dry_run([], facts_without_node({}, {}), hooks=HookRun(store, None, hooks))
    assert Acting.runs == 0
    assert all("runs_dry" in one["left_out"] for one in told["hooks"])


def test_all_hooks_of_the_service_run_dry_and_set_the_plugin_data_they_say(store: Store, conf: Setter) -> None:
    first = ["ramdisk-error", "validate-interfaces"]
    hooks = load_hooks([*first, *sorted(installed_hooks().keys() - set(first))])
    found = inventory(
        MAC, memory={"physical_mb": 4}, disks=[{"name": "/dev/sda", "size": 2**40}], bmc_address="192.0.2.7"
    )
    data = {"lldp_raw": {"eth0": LLDP}, "data": [["cpu", "physical", "number", "2"]], "root_disk": {"name": "/dev/old"}}
    properties = {"root_device": {"name": "/dev/sda"}}
    source = of_node(store, new_node(store, properties=properties))
    told = dry_run([], facts_of(source, found, data), interface="agent", hooks=HookRun(store, source, hooks))
    assert not any("left_out" in one or "error" in one for one in told["hooks"]), told["hooks"]
    said = {one.name: sorted(one.hook.plugin_data_keys) for one in hooks}
    said["ports"] = ["valid_interfaces"]  # it marks those that become ports
    assert {one["name"]: sorted(one["plugin_data"]) for one in told["hooks"]} == said


@pytest.mark.parametrize(
    ("hooks", "runs", "says"),
    [
        (DEFAULT, False, "is not enabled: add it to"),
        (f"{DEFAULT},parse-lldp", False, 'is enabled: send "hooks": true'),
        (f"{DEFAULT},parse-lldp", True, "found nothing for it"),
    ],
)
def test_it_says_which_hook_sets_plugin_data_that_are_missing(
    store: Store, conf: Setter, hooks: str, runs: bool, says: str
) -> None:
    conf(inspector__hooks=hooks)
    told = dry_run(
        [check_rule({"actions": [SWITCH]})],
        facts_without_node(inventory(MAC), {}),
        hooks=HookRun.of_service(store, None) if runs else None,
    )
    (note,) = told["notes"]
    assert note.startswith("plugin_data.parsed_lldp is set by hook parse-lldp") and says in note
    assert "plugin_data has no parsed_lldp" in told["rules"][0]["error"]


def test_it_says_that_there_is_no_node_to_rules_that_look_for_one() -> None:
    rule = check_rule({"actions": [{"op": "fail", "args": ["{node.name} has no disk"]}]})
    assert "No node is named" in str(note_without_node([rule]))
    assert note_without_node([check_rule({"actions": [{"op": "log", "args": ["{inventory[cpu]}"]}]})]) is None
    loop = {"op": "eq", "args": ["{item}", 1], "loop": "{ports}"}
    assert note_without_node([check_rule({"conditions": [loop], "actions": [{"op": "log", "args": ["x"]}]})])
