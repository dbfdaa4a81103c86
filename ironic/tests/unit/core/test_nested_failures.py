"""Errors inside of errors: whatever is inside of what, nothing is said twice; and no other module cuts texts apart."""

import ast
import re
from collections.abc import Iterator
from string import Formatter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ironic.core import errors
from ironic.core.errors import IronicError, call_errors, hardware_errors, resource_errors
from ironic.core.flows.flow import FLOWS, Flow
from ironic.rpc import message_format
from ironic.tests.effort import examples
from ironic.tests.product_trees import product_trees

NODE, VIF, HOST = "1be26c0b-03f2-4d2e-ae87-c02d7f33c781", "8f9a3f1e-6f0a-4b6b-9a53-0d8f8c1f6e02", "conductor-7"
SHARED = {"node": NODE, "vif": VIF, "host": HOST}
REASONS = ("reason", "error", "err")

MODULES = (errors, hardware_errors, call_errors, resource_errors)
CLASSES = [cls for cls in errors.all_errors().values() if cls.__module__ in {module.__name__ for module in MODULES}]
OUTER = [cls for cls in CLASSES if any(f"{{{name}}}" in cls.text for name in REASONS)]


def made(cls: type[IronicError], reason: object, mark: str) -> IronicError:
    """Return an error with all its facts; those that errors do not share are distinct by the mark."""
    places = {name for _text, name, _form, _conversion in Formatter().parse(cls.text) if name}
    facts: dict[str, Any] = {name: SHARED.get(name, f"{name}-{mark}") for name in places}
    return cls(**facts | {name: reason for name in places if name in REASONS})


def sentences(text: str) -> list[str]:
    """Return the clauses of a text, without what may differ between two that say the same."""
    plain = text.replace(NODE, "U")
    return [part.strip(" .()") for part in re.split(r"\. |: ", plain) if len(part.split()) > 2]


@st.composite
def nested(draw: st.DrawFn) -> IronicError:
    """Return an error in up to three others, some of them the same."""
    reason = draw(st.sampled_from(["no disk is left", ValueError("no disk is left")]))
    found = made(draw(st.sampled_from(CLASSES)), reason, "a")
    for _ in range(draw(st.integers(1, 3))):
        found = made(draw(st.sampled_from(OUTER)), found, draw(st.sampled_from("ab")))
    return found


def check(text: str) -> None:
    for name in SHARED.values():
        assert text.count(name) <= 1, text
    said = sentences(text)
    assert len(set(said)) == len(said), text


@pytest.mark.parametrize("outer", OUTER, ids=lambda cls: cls.__name__)
def test_nothing_stands_twice_in_an_error_in_an_error(outer: type[IronicError]) -> None:
    for inner in CLASSES:
        for mark in "ab":
            check(str(made(outer, made(inner, "no disk is left", mark), "a")))


@settings(max_examples=examples(2000))
@given(error=nested(), flow=st.sampled_from(FLOWS), step=st.sampled_from([None, "deploy.deploy"]))
def test_nothing_stands_twice_after_a_flow(error: IronicError, flow: Flow, step: str | None) -> None:
    check(str(error))
    check(flow.failure_text(NODE, error, step))


@given(error=nested())
def test_an_error_with_its_reason_comes_over_the_bus(error: IronicError) -> None:
    wire = message_format.json_copy(message_format.error_message(error))["error"]
    received = message_format.error_of(wire)
    assert (type(received), str(received)) == (type(error), str(error))
    assert received.facts.get("reason") == (str(error.facts["reason"]) if "reason" in error.facts else None)
    assert all(isinstance(fact, str) for fact in wire["facts"].values()), "earlier releases know no others"


# What cuts a text apart. A text that is only made shorter is none of them.
CUTS = {
    *("replace", "removeprefix", "removesuffix", "strip", "lstrip", "rstrip", "partition", "rpartition", "split"),
    *("rsplit", "splitlines", "sub", "translate"),
}
NAMES = {"error", "exc", "failure", "refusal", "reason", "why", "last_error", "maintenance_reason", "headline"}
COMPOSER = "ironic/core/errors/failure_texts.py"
# Errors of libraries have nothing but their sentence.
OF_LIBRARIES = {
    "ironic/command/server_wait.py",
    "ironic/command/status.py",
    "ironic/conf/checked_values.py",
    "ironic/drivers/modules/redfish/wire/bmc_messages.py",
}


def cuts(tree: ast.AST) -> Iterator[int]:
    """Yield the lines that cut the text of an error or of a failure apart."""
    caught = {one.name for one in ast.walk(tree) if isinstance(one, ast.ExceptHandler) and one.name}

    def is_failure(node: ast.AST) -> bool:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str" and node.args:
            inner = node.args[0]
            return isinstance(inner, ast.Name) and inner.id in NAMES | caught
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None
        return name in NAMES

    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=cut, attr=how), args=given) if how in CUTS:
                is_cut = any(map(is_failure, (cut, *given)))
            case ast.Subscript(value=cut, slice=ast.Slice(lower=ast.AST())):
                is_cut = is_failure(cut)
            case _:
                continue
        if is_cut:
            yield node.lineno


def test_no_other_module_cuts_the_text_of_a_failure_apart() -> None:
    found = {f"ironic/{place}" for place, tree in product_trees().items() if any(cuts(tree))}
    assert found == {COMPOSER, *OF_LIBRARIES}


@pytest.mark.parametrize(
    "line",
    [
        "why = str(error).rstrip('.')",
        "reason.removesuffix(x)",
        "re.sub(x, y, str(error))",
        "node.last_error.replace(a, b)",
    ],
)
def test_it_would_be_found(line: str) -> None:
    assert list(cuts(ast.parse(line))) == [1]
    assert not list(cuts(ast.parse("str(error)[:100]")))
