"""Every operator, in every way of writing it: arguments by position and by name, inverted or not, in every loop."""

from itertools import product
from typing import Any

import pytest

from ironic.core.rules import ACTIONS, OPERATORS, Outcome
from ironic.core.rules.compiled_rules import MULTIPLES
from ironic.tests.unit.core.rules.lab import facts, holds, rule, run

# By operator: arguments that hold, and arguments that don't, by name and in the order of the signature.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "eq": ({"values": [1, 1]}, {"values": [1, 2]}),
    "lt": ({"values": [1, 2]}, {"values": [2, 1]}),
    "gt": ({"values": [2, 1]}, {"values": [1, 2]}),
    "is-empty": ({"value": []}, {"value": "x"}),
    "is-none": ({"value": None}, {"value": 0}),
    "is-true": ({"value": "YES"}, {"value": "no"}),
    "is-false": ({"value": 0}, {"value": "random"}),
    "in-net": ({"address": "192.0.2.7", "subnet": "192.0.2.0/24"}, {"address": "1.1.1.1", "subnet": "192.0.2.0/24"}),
    "contains": ({"value": "rack-7", "regex": "[0-9]"}, {"value": "rack", "regex": "[0-9]"}),
    "matches": ({"value": "rack-7", "regex": "rack-[0-9]"}, {"value": "my rack-7", "regex": "rack-[0-9]"}),
    "one-of": ({"value": 1, "values": [1, 2]}, {"value": 3, "values": [1, 2]}),
}
SEVERAL = {"eq", "lt", "gt"}
EVERY = list(product(CASES, (True, False), ("", "!", "! ")))


def forms(op: str, args: dict[str, Any]) -> list[Any]:
    """Return the same arguments by name and by position."""
    return [args, args["values"] if op in SEVERAL else list(args.values())]


def test_the_table_has_every_operator() -> None:
    assert CASES.keys() == OPERATORS.keys()


@pytest.mark.demand("S125", "S126")
@pytest.mark.parametrize(("op", "truth", "sign"), EVERY)
def test_a_condition_holds_however_it_is_written(op: str, truth: bool, sign: str) -> None:
    for args in forms(op, CASES[op][0 if truth else 1]):
        assert holds(sign + op, args) is (truth != bool(sign))


@pytest.mark.demand("S126", "S128", "S132")
@pytest.mark.parametrize(("op", "sign"), list(product(CASES, ("", "!"))))
@pytest.mark.parametrize("multiple", [None, *MULTIPLES])
def test_a_condition_holds_over_every_kind_of_loop(op: str, sign: str, multiple: Any) -> None:
    good, bad = CASES[op]
    how = {} if multiple is None else {"multiple": multiple}
    join = {"all": all, "first": lambda v: v[0], "last": lambda v: v[-1]}.get(multiple, any)
    for truths in ([True], [False], [True, False], [False, True], [False, True, False]):
        items = [good if truth else bad for truth in truths]
        # What is constant by nature (regular expressions, subnets) may come from the item just as well.
        args = {name: f"{{item[{name}]}}" for name in good}
        expected = join([truth != bool(sign) for truth in truths])
        assert holds(sign + op, args, loop=items, **how) is expected
        for spelled in forms(op, good) if len(set(truths)) == 1 and truths[0] else []:
            assert holds(sign + op, spelled, loop=items, **how) is expected
    for one, truth in ((good, True), (bad, False)):
        args = {name: f"{{item[{name}]}}" for name in good}
        assert holds(sign + op, args, loop=one, **how) is (truth != bool(sign))  # an object is one item


@pytest.mark.demand("S128")
@pytest.mark.parametrize("multiple", MULTIPLES)
@pytest.mark.parametrize("loop", [[], "{plugin_data[gone]}", "{plugin_data[empty]}"])
def test_nothing_to_loop_over_is_nothing_that_holds_unless_all_are_asked_for(loop: Any, multiple: str) -> None:
    condition = {"op": "is-true", "args": [True], "loop": loop, "multiple": multiple}
    outcome = run(rule(conditions=[condition]), known=facts(plugin_data={"empty": []}))
    assert bool(outcome.changes) is (multiple == "all")


# By action: arguments that do something, in the order of the signature.
DEEDS: dict[str, dict[str, Any]] = {
    "fail": {"msg": "no"},
    "log": {"msg": "x", "level": "error"},
    "set-attribute": {"path": "/extra/a", "value": 1},
    "extend-attribute": {"path": "/extra/list", "value": 1},
    "del-attribute": {"path": "/extra/list"},
    "set-port-attribute": {"port_id": "52:54:00:00:00:01", "path": "/extra/a", "value": 1},
    "extend-port-attribute": {"port_id": "52:54:00:00:00:01", "path": "/extra/a", "value": 1},
    "del-port-attribute": {"port_id": "52:54:00:00:00:01", "path": "/name"},
    "set-plugin-data": {"path": "a.b", "value": 1},
    "extend-plugin-data": {"path": "/seen", "value": 1},
    "unset-plugin-data": {"path": "seen"},
    "set-capability": {"name": "a", "value": "b"},
    "unset-capability": {"name": "boot_mode"},
    "add-trait": {"name": "CUSTOM_A"},
    "remove-trait": {"name": "CUSTOM_OLD"},
}


def test_the_table_has_every_action() -> None:
    # Whom a rule calls never comes from an expression: that one has tests of its own (test_calls).
    assert DEEDS.keys() | {"api-call"} == ACTIONS.keys()


@pytest.mark.demand("S125", "S127", "S129", "S132")
@pytest.mark.parametrize("op", DEEDS)
def test_an_action_does_the_same_however_it_is_written(op: str) -> None:
    args = DEEDS[op]
    # An earlier rule's own words, not the machine's: those never become a path.
    before = rule([{"op": "set-plugin-data", "args": ["/args", args]}])

    def done(args: Any, **rest: Any) -> Outcome:
        return run(before, rule([{"op": op, "args": args, **rest}]), known=facts(plugin_data={"seen": ["x"]}))

    plain = done(args)
    assert plain.changes != run(before).changes or plain.log or plain.failure
    looked_up = {name: f"{{plugin_data[args][{name}]}}" for name in args}
    from_item = {name: f"{{item[{name}]}}" for name in args}
    written = [
        done(list(args.values())),
        done(looked_up),
        done(from_item, loop=[args]),
        done(from_item, loop=args),
        done(from_item, loop="{plugin_data[args]}"),
        done(from_item, loop=["{plugin_data[args]}"]),
    ]
    for outcome in written:
        assert (outcome.changes, outcome.log, outcome.failure) == (plain.changes, plain.log, plain.failure)
