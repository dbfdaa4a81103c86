"""The history of the API and the tables of fields and routes say the same."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.api import version_negotiation
from ironic.api.resources import root
from ironic.core.flows import states
from ironic.core.microversions import MAXIMUM, MICROVERSIONS, MINIMUM, Microversion
from ironic.core.model import fields, port
from ironic.tests.repository import ROOT
from ironic.tests.unit.api import declared

EACH = pytest.mark.parametrize("version", MICROVERSIONS, ids=lambda one: version_negotiation.text(one.minor))
PROVISION = "PUT /v1/nodes/{node}/states/provision"


@EACH
def test_what_came_with_a_version_is_what_the_tables_say(version: Microversion) -> None:
    meant = {name: declared.meant(name, version.minor) for name in version.added}
    assert [name for name, found in meant.items() if not found] == []
    assert set().union(*meant.values()) == {name for name, since in declared.names().items() if since == version.minor}


@EACH
def test_what_changed_was_there_before(version: Microversion) -> None:
    for name in version.changed:
        since = 1 if name == "/" else declared.names()[name.partition("=")[0] if name in SHOWN else name]
        assert since < version.minor


SHOWN = {f"node.provision_state={state}" for state in states.ALL}


def test_what_changed_is_what_the_rules_of_verbs_and_values_say() -> None:
    changes = {(since, f"{PROVISION} target=abort") for since in version_negotiation.ABORT_SINCE.values()}
    came = min(version_negotiation.RAMDISK_SINCE.values())
    changes |= {
        (since, f"{PROVISION} disable_ramdisk") for since in version_negotiation.RAMDISK_SINCE.values() if since > came
    }
    forms = (form.minor for form in port._FORMS if form.minor > 1)
    changes |= {(since, "port.local_link_connection") for since in forms}
    changes |= {
        (minor, f"node.provision_state={state}")
        for minor in version_negotiation.TEXTS
        for state in _read_otherwise(minor)
    }
    told = {(one.minor, name) for one in MICROVERSIONS for name in one.changed}
    named = {name for _, name in changes}
    assert {(minor, name) for minor, name in told if name in named | SHOWN} == changes


def _read_otherwise(minor: int) -> Iterator[str]:
    before, now = (fields.state_of_version(max(one, MINIMUM)) for one in (minor - 1, minor))
    for state in sorted(states.ALL):
        if (before(state) if before else state) != (now(state) if now else state):
            yield state


def test_a_version_that_code_asks_for_changes_something_and_what_changes_is_asked_for() -> None:
    rooms = (ROOT / "ironic" / "api", ROOT / "ironic" / "core" / "model")
    asked = {minor for room in rooms for path in sorted(room.rglob("*.py")) for minor in _asked_for(path)}
    assert len(asked) > 15
    assert asked <= {one.minor for one in MICROVERSIONS if one.touched}
    tables = {
        *version_negotiation.ABORT_SINCE.values(),
        *version_negotiation.RAMDISK_SINCE.values(),
        *(form.minor for form in port._FORMS),
    }
    assert {one.minor for one in MICROVERSIONS if one.changed} <= asked | tables


def _asked_for(path: Path) -> Iterator[int]:
    """Return the versions that a module compares with, or has a name for."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Compare(
                left=ast.Name(id="minor") | ast.Attribute(attr="minor"),
                ops=[ast.Lt() | ast.GtE()],
                comparators=[ast.Constant(value=int(minor))],
            ):
                yield minor
            case ast.keyword(arg="removed_since", value=ast.Constant(value=int(minor))):
                yield minor
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=int(minor))) if "SINCE" in name:
                yield minor


def test_the_first_document_names_a_collection_as_soon_as_it_is_there() -> None:
    requests = {name: since for name, since in declared.names().items() if "?" not in name and name.count(" ") == 1}
    for collection, since in root.collections().items():
        below = {name: first for name, first in requests.items() if name.split(" ")[1].split("/")[2:3] == [collection]}
        # A ramdisk's report is known to 1.1 as well, in another form that the document never named.
        first = 84 if collection == "continue_inspection" else min(below.values())
        assert (collection, since) == (collection, first)


def test_the_range_served_is_that_of_the_history() -> None:
    assert list(version_negotiation.TEXTS) == [one.minor for one in MICROVERSIONS]
    assert (version_negotiation.MINIMUM, version_negotiation.MAXIMUM) == (MINIMUM, MAXIMUM)


@pytest.mark.parametrize("path", ["README.md", "api-ref/README.md"])
def test_pages_for_newcomers_tell_the_range(path: str) -> None:
    assert f"{version_negotiation.text(MINIMUM)} to {version_negotiation.text(MAXIMUM)}" in (ROOT / path).read_text()
