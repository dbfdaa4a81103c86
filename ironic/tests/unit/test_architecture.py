"""The architecture page leads to code that exists: its walks are short, and each term has one module."""

import ast
import re
from pathlib import Path

import pytest

from ironic.tests.repository import ROOT

PAGE = ROOT / "doc" / "architecture.md"
PRODUCT = ROOT / "ironic"
LINK = re.compile(r"\]\((\.\./ironic/[^)#]+\.py)\)")
NAME = re.compile(r"`([A-Za-z_]\w*(?:\.\w+)?)`")
# What an item says in code style beside the names of its file: states, verbs and names of other tables.
NO_NAMES = {"deploying", "disable_power_off"}


def section(title: str) -> str:
    """Return the text below a heading of the second level."""
    return PAGE.read_text().partition(f"\n## {title}\n")[2].partition("\n## ")[0]


WALKS = dict(walk.split("\n", 1) for walk in section("Walks").split("\n### ")[1:])
TERMS = re.findall(r"^\| ([^|]+) \| \[.*?\]\((.*?)\) \|$", section("Where a term is implemented"), re.MULTILINE)


def functions(path: Path) -> set[str]:
    """Return the functions of a module, and `Class.method` and `method` of its classes."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            names |= {node.name, *(inner.name for inner in ast.walk(node) if isinstance(inner, ast.FunctionDef))}
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    names |= {member.name, f"{node.name}.{member.name}"}
    return names


def defined(path: Path) -> set[str]:
    """Return the names of a module."""
    names = functions(path)
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {ast.unparse(target) for target in targets}
    return names


def test_there_are_six_walks_through_few_files() -> None:
    assert len(WALKS) == 6
    assert all(4 <= len(set(LINK.findall(walk))) <= 6 for walk in WALKS.values())


@pytest.mark.parametrize("title", WALKS)
def test_each_stop_of_a_walk_has_the_functions_that_are_named(title: str) -> None:
    of_walk = {path: defined(PAGE.parent / path) for path in LINK.findall(WALKS[title])}
    for stop in re.split(r"^\d\. ", WALKS[title], flags=re.MULTILINE)[1:]:
        named = set(NAME.findall(LINK.sub("", stop))) - NO_NAMES
        assert named & set().union(*(of_walk[path] for path in LINK.findall(stop))), stop
        assert named <= set().union(*of_walk.values()), stop


def first_line(path: Path) -> str:
    docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
    return docstring.partition("\n")[0].lower().removeprefix("the ")


def test_each_term_begins_the_docstring_of_its_module_and_of_no_other() -> None:
    modules = [path for path in PRODUCT.rglob("*.py") if PRODUCT / "tests" not in path.parents]
    lines = {path: first_line(path) for path in modules}
    assert len(TERMS) > 12
    for term, target in TERMS:
        words = re.compile(rf"{re.escape(term.lower())}s?\b")
        assert [path for path, line in lines.items() if words.match(line)] == [(PAGE.parent / target).resolve()], term
