"""Docstrings and comments cite pages, headings and demands that there are; the pages name what is in the code."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.api.policies import RULES
from ironic.conf import CONF
from ironic.core.flows import states
from ironic.core.flows.steps import INTERFACES
from ironic.tests.repository import ROOT, tool

CONTRACT = ROOT / "doc" / "contract"
PAGES = sorted(CONTRACT.glob("*.md"))
EVERY_PAGE = sorted(
    page
    for top in ("*.md", "doc/**/*.md", "api-ref/*.md", "devstack/*.md", "ironic/**/*.md")
    for page in ROOT.glob(top)
)
# What may cite: code, and the exchanges of tests; not this module, which writes citations to judge them.
CITING = [
    path
    for suffix in ("*.py", "*.yaml", "*.yml")
    for path in sorted((ROOT / "ironic").rglob(suffix))
    if path != Path(__file__)
]
CITATION = re.compile(r"doc/(?P<page>[\w/-]+\.md)(?:#(?P<heading>[\w-]*))?")
LINK = re.compile(r"\]\((?P<page>[^)#\s:]*)(?:#(?P<heading>[^)\s]+))?\)")
DEMAND = re.compile(r"\bS[1-9]\d{0,2}\b")
SOURCE = re.compile(r"(?:^|[\s(\"])Sources?:\s+(?:#\s+)?(\S+\s+\S+)")
# Groups of options that libraries declare, or that only the separate inspector of old had.
FOREIGN_GROUPS = {"cors", "discovery", "oslo_messaging_rabbit", "oslo_middleware", "oslo_policy"}
# Notes that the project does not hold.
FOREIGN = re.compile(r"\bfacts/\w+")


@functools.cache
def headings(page: Path) -> frozenset[str]:
    """Return what a link may lead to on a page, as sites that render Markdown name it."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles)


def missing(page: Path, heading: str | None) -> str | None:
    """Say what is not there of a citation or link."""
    if not page.exists():
        return "there is no such page"
    return "the page has no such heading" if heading is not None and heading not in headings(page) else None


def faults(text: str, *, sourced: bool = True) -> Iterator[str]:
    """Say what is wrong with the citations of a text; ``sourced``: "Source:" is always one."""
    yield from (f"{found.group()}: it is no part of the project" for found in FOREIGN.finditer(text))
    for found in CITATION.finditer(text):
        if fault := missing(ROOT / "doc" / found["page"], found["heading"]):
            yield f"{found.group()}: {fault}"
    for said in SOURCE.findall(text) if sourced else ():
        if not re.match(r"doc/contract/|demands?\s+S\d|RFC\s\d", said):
            yield f"Source: {said}: no page of doc/contract, no demand, no RFC"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Source: doc/contract/steps.md#progress.", None),
        ("Sources: doc/contract/steps.md#progress, demands S43 to S49.", None),
        ("Source: demand S59; the conductor makes the plan.", None),
        ("Source: RFC 6890.\n", None),
        ("Names of keys: doc/contract/steps.md#progress.", None),
        ("Source: doc/contract/steps.md#no-such-heading.", "no such heading"),
        ("Source: doc/contract/no_such_page.md.", "no such page"),
        ("Source: facts/steps.yaml.", "no part of the project"),
        ("Source: endpoints.yaml, chassis.", "no page"),
        ("Source: hearsay of old.", "no page"),
    ],
)
def test_a_citation_is_judged(text: str, fault: str | None) -> None:
    found = list(faults(text))
    assert found == [] if fault is None else any(fault in one for one in found)


def test_every_citation_leads_somewhere() -> None:
    found = {
        str(path.relative_to(ROOT)): list(faults(path.read_text(), sourced="tests" not in path.parts))
        for path in CITING
    }
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_every_demand_that_is_cited_is_there() -> None:
    demands = tool("demands").rows()
    cited = {number for path in CITING if "tests" not in path.parts for number in DEMAND.findall(path.read_text())}
    assert len(cited) > 50
    assert cited <= demands.keys()


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    text = page.read_text()
    links = [(found["page"], found["heading"]) for found in LINK.finditer(text)]
    wrong = {
        f"{name}#{heading}": fault
        for name, heading in links
        if (fault := missing((page.parent / name).resolve() if name else page, heading))
    }
    assert wrong == {}


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_files_that_a_page_names_are_there(page: Path) -> None:
    named = set(re.findall(r"`((?:api-ref|doc|etc|ironic|releasenotes|tools)/[\w./-]+)`", page.read_text()))
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


# Variables of examples, and groups of entry points.
NO_MODULES = {"request", "page", "task", "conductor", "setup", "hardware", "ironic"}


def names_of(path: Path) -> set[str]:
    """Return the names that stand in a module."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name):
            found.add(node.id)
    return found


@pytest.mark.parametrize("page", ["ironic/api/README.md", "doc/add-a-field.md", "doc/contributor.md"])
def test_the_names_of_code_on_pages_for_contributors_are_there(page: str) -> None:
    modules: dict[str, list[Path]] = {}
    for path in (ROOT / "ironic").rglob("*.py"):
        modules.setdefault(path.stem, []).append(path)
    text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    named = set(re.findall(r"`([a-z_]+)\.([A-Za-z_]\w*)[`(]", text))
    named = {(module, name) for module, name in named if module not in NO_MODULES and name not in ("py", "md", "yaml")}
    wrong = {
        f"{module}.{name}"
        for module, name in named
        if not any(name in names_of(path) or (path.parent / f"{name}.py").exists() for path in modules.get(module, ()))
    }
    assert wrong == set()


def contract() -> str:
    """Return all pages as one text."""
    return "\n".join(page.read_text() for page in PAGES)


def test_pages_name_options_that_there_are() -> None:
    # Those are made from the options, or name missing ones as well; test_references has the latter.
    made = {ROOT / "doc" / name for name in ("options.md", "coming-from-openstack.md", "change-over.md")}
    text = "\n".join(page.read_text() for page in EVERY_PAGE if page not in made)
    named = {(group, name) for group, name in re.findall(r"`\[(\w+)\](\w+)[` ]", text) if group not in FOREIGN_GROUPS}
    assert len(named) > 120
    named.remove(("DEFAULT", "rpc_response_timeout"))  # oslo.messaging's
    assert [one for one in named if one[1] not in (CONF if one[0] == "DEFAULT" else CONF[one[0]])] == []


def test_pages_name_rules_that_there_are() -> None:
    named = re.findall(r"`(baremetal:[\w:]*\w)`", contract())
    assert len(named) > 10
    assert set(named) <= {name for name, *_ in RULES}


def test_pages_name_states_that_there_are() -> None:
    named = set(re.findall(r"`(\w+ (?:wait|hold|failed|call-back))`", contract()))
    assert named <= states.ALL
    assert len(named) > 10
    page = (CONTRACT / "states.md").read_text()
    assert f"There are {len(states.ALL)} states and {len(states.MOVES)} moves." in page


def test_the_order_of_interfaces_is_that_of_the_flows() -> None:
    page = (CONTRACT / "steps.md").read_text()
    for flow in ("clean", "deploy", "verify"):
        assert f" | {', '.join(INTERFACES[flow])} |" in page
    assert INTERFACES["service"] == ("network", *INTERFACES["clean"])


def test_the_first_page_leads_to_all_others() -> None:
    named = {found["page"] for found in LINK.finditer((CONTRACT / "README.md").read_text())}
    assert {page.name for page in PAGES} - {"README.md"} <= named


def test_the_glossary_has_words_of_the_code() -> None:
    rows = re.findall(r"^\| (.+?) \|", (ROOT / "doc" / "glossary.md").read_text(), flags=re.MULTILINE)
    words = {word for row in rows for word in re.findall(r"`([A-Za-z_]+)`", row)}
    assert len(words) > 10
    code = {word for path in CITING if "tests" not in path.parts for word in re.findall(r"\w+", path.read_text())}
    assert words <= code
