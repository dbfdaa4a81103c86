"""What a Redfish machine shows is read in the rooms that say how much is known of it: the wire and the tree.

Elsewhere a document or a field of the library would be a value of any type, in which "the BMC has none" and "the BMC
can't say" are one. What the tree hands out is typed (`Whole`, `Seen`, `Value`), and mypy refuses the wrong one where
something is ordered or stored: `core/test_readings.py`. What remains for people to judge is who takes what is seen in
part, or a default for a value that is not known: each of these has a line here. That each field of the library has a
typed row at its resource: `modules/redfish/wire/test_resource_types.py`.
"""

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import sushy.resources
from sushy.resources.base import Field

import ironic
from ironic.tests.product_trees import product_trees

_SOURCE = Path(ironic.__file__).parent
_REDFISH = _SOURCE / "drivers" / "modules" / "redfish"
_LONGEST_CLASS = 150
# They read documents, or write down what a BMC shows.
_READING_ROOMS = ("wire", "tree", "records")
# What is no field of a system, but its place and what it leads to.
_OF_SYSTEMS = frozenset({"path", "root", "secure_boot"})
_TOLERANT = frozenset({
    "linked", "optional", "of_each", "seen_members", "seen_at", "seen_drives", "seen_managers", "seen_chassis",
    "drives_of", "drive_groups", "drives_by_owner", "shown_boots", "shown",
})  # fmt: skip

RAW = {
    "power._state": "the library's None is no state, and each caller compares with one",
    "vendor.RedfishVendorPassthru": "a document goes to the user as it is",
}
SEEN = {
    "bios.RedfishBIOS": "none are pending where the BMC has no place for them; unreadable ones were refused before",
    "bios._judge": "as above, or pending settings are not needed to know that the wanted ones have effect",
    "bmc_indicators._state_of": "shows",
    "boot_mode.shown_mode": "shows",
    "boot_override._has": "a device that is not known is none that was ordered",
    "boot_override._is_stored": "judges: one of both places shows what was ordered, or it fails",
    "boot_override._send": "UEFI where the BMC wants a mode with each order and shows none",
    "boot_override.request_mode": "a device and a duration where the BMC wants them with each order and shows none",
    "boot_override.shown_device": "shows",
    "management.RedfishManagement": "shows",
    "raid.RedfishRAID": "an error that drives do not fit says which are left out",
    "restarts.check_restart": "a state that is not known is refused",
    "secure_boot.shown_state": "shows",
    "update_progress.bmc_answers": "waits: whether the BMC answers at all",
    "vendor.RedfishVendorPassthru": "the BMC refuses what it does not list; the document goes to the user",
    "virtual_media.describe": "shows",
    "virtual_media.eject": "fails at the end where drives can't be read",
    "virtual_media.has_drive": "shows",
    "virtual_media.insert": "an image goes into a drive that can be read, and is looked at afterwards",
    "virtual_media.lacks_drive": "shows",
    "virtual_media_boot._check_firmware": "a version that is not known is none of those that boot nothing",
}


# What takes paths apart beside `plain_paths`, and why.
OWN_PATHS = {
    "bmc_access._address": "the address that a user gives",
    "bmc_login.BmcLogin": "the URL of the service root that is sent, with or without its slash",
    "bmc_login._session_in": "what a path begins with",
    "document_repair.repaired": "the names in a path",
    "media_orders.InsertionOrder": "the URL of an image",
    "network_cards._interfaces": "of members of one list, which are different resources",
    "passed_settings._from_outside": "URLs of this service",
    "raid_layout._choices": "of drives of one list, which are different resources",
    "raid_layout._fits": "of drives of one list, which are different resources",
    "walk.Walk": "a record has the spellings of the BMC",
    "walk._Place": "a record has the spellings of the BMC",
}


@cache
def all_fields() -> frozenset[str]:
    """Return the names of the library's fields."""
    modules = pkgutil.walk_packages(sushy.resources.__path__, "sushy.resources.")
    kinds = [one for at in modules for one in inspect.getmembers(importlib.import_module(at.name), inspect.isclass)]
    return frozenset(name for _name, kind in kinds for name, value in vars(kind).items() if isinstance(value, Field))


@cache
def fields() -> frozenset[str]:
    """Return the names of the library's fields that no class of ours has as well."""
    nodes = (node for tree in product_trees().values() for node in ast.walk(tree))
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    return all_fields() - {name for node in classes for name in _names_of(node)}


def _names_of(kind: ast.ClassDef) -> Iterator[str]:
    for node in ast.walk(kind):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.FunctionDef):
            yield node.name


def raw_reads(source: str, module: str) -> Iterator[str]:
    """Yield `module.function` or `module.Class` of all that reads a document or a field of the library."""
    for name, node in _parts(source, module):
        called = {id(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)}
        for one in ast.walk(node):
            if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Load):
                of_system = isinstance(one.value, ast.Name) and one.value.id == "system" and id(one) not in called
                if one.attr == "json" or one.attr in fields() or (of_system and one.attr not in _OF_SYSTEMS):
                    yield name
            # The whole document, before the library has it.
            if isinstance(one, ast.Name) and one.id == "read_document":
                yield name


def tolerant_reads(source: str, module: str) -> Iterator[str]:
    """Yield `module.function` or `module.Class` of all that takes what is seen in part, or a default."""
    for name, node in _parts(source, module):
        for one in ast.walk(node):
            known = one.id if isinstance(one, ast.Name) else one.attr if isinstance(one, ast.Attribute) else ""
            if known in _TOLERANT and isinstance(getattr(one, "ctx", None), ast.Load):
                is_own_name = isinstance(one, ast.Name) and known == "shown"
                if not is_own_name:
                    yield name


def path_comparisons(source: str, module: str) -> Iterator[str]:
    """Yield `module.function` or `module.Class` of all that takes slashes or fragments off, or compares a path."""
    for name, node in _parts(source, module):
        for one in ast.walk(node):
            if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute):
                given = one.args[0] if one.args else None
                takes = one.func.attr in ("rstrip", "strip", "removesuffix") and "/" in ast.unparse(given or one.func)
                cuts = one.func.attr in ("partition", "split") and ast.unparse(given or one.func) == "'#'"
                if takes or cuts:
                    yield name
            if isinstance(one, ast.Compare) and any(map(_is_path, (one.left, *one.comparators))):
                yield name
            if isinstance(one, ast.Name) and one.id == "urldefrag":
                yield name


def _is_path(node: ast.expr) -> bool:
    if isinstance(node, ast.Subscript):
        return ast.unparse(node.slice) in ("'path'", "'@odata.id'")
    names = ("path", "_path", "members_identities", "drives_identities")
    return isinstance(node, ast.Attribute) and node.attr in names


def _parts(source: str, module: str) -> Iterator[tuple[str, ast.stmt]]:
    for part in ast.parse(source).body:
        name = f"{module}.{part.name}" if isinstance(part, ast.FunctionDef | ast.ClassDef) else module
        if not isinstance(part, ast.Import | ast.ImportFrom):
            yield name, part


def _acting() -> list[Path]:
    every = sorted(_REDFISH.rglob("*.py"))
    return [path for path in every if path.relative_to(_REDFISH).parts[0] not in _READING_ROOMS]


def test_documents_and_fields_are_read_in_the_wire_and_the_tree_only() -> None:
    paths = _acting()
    assert len(paths) > 20 and len(fields()) > 250
    found = {name for path in paths for name in raw_reads(path.read_text(), path.stem)}
    assert found == RAW.keys(), "read it in the tree, in a view that says whether it is known: value_at, word_at, given"


def test_all_that_take_what_is_seen_in_part_have_a_line() -> None:
    found = {name for path in _acting() for name in tolerant_reads(path.read_text(), path.stem)}
    assert found == SEEN.keys(), "take what is whole or certain, or say here why a part, or a default, will do"


def test_no_class_has_so_many_lines_that_it_has_several_subjects() -> None:
    nodes = [(path.stem, node) for path in _REDFISH.rglob("*.py") for node in ast.walk(ast.parse(path.read_text()))]
    classes = [(stem, node) for stem, node in nodes if isinstance(node, ast.ClassDef)]
    assert len(classes) > 60
    lengths = {f"{stem}.{node.name}": (node.end_lineno or 0) - node.lineno + 1 for stem, node in classes}
    too_long = {name: lines for name, lines in lengths.items() if lines > _LONGEST_CLASS}
    assert too_long == {}, "give a subject of it a module of its own, in the orders or in the tree"


def test_paths_of_a_bmc_are_compared_in_one_way() -> None:
    paths = [*_REDFISH.rglob("*.py"), _SOURCE / "drivers" / "plug_ins" / "redfish_systems.py"]
    sources = {path.stem: path.read_text() for path in paths if path.stem not in ("plain_paths", "__init__")}
    assert len(sources) > 60
    found = {name for stem, source in sources.items() for name in path_comparisons(source, stem)}
    assert found == OWN_PATHS.keys(), "compare plain_path of both, or say here why it is no path of a BMC"


@pytest.mark.parametrize(
    "text", ["a.path == b", "a in b['@odata.id']", "path.rstrip('/')", "path.partition('#')[0]", "urldefrag(path)"]
)
def test_another_comparison_of_paths_is_found(text: str) -> None:
    assert list(path_comparisons(f"def f(a, b, path):\n    return {text}\n", "m")) == ["m.f"]
    assert list(path_comparisons("def f(a, b):\n    return plain_path(a.path) == plain_path(b)\n", "m")) == []


@pytest.mark.parametrize(
    "text",
    [
        "system.json.get('PowerState')",
        "connector.get('/x').json()",
        "system.boot",
        "system.power_state",
        "volume.capacity_bytes",
        "drive.media_types",
        "support.mapped_supported_values",
    ],
)
def test_a_raw_read_is_found(text: str) -> None:
    assert list(raw_reads(f"def f(system, volume):\n    return {text}\n", "m")) == ["m.f"]
    assert list(raw_reads(f"class C:\n    def f(self, system):\n        return {text}\n", "m")) == ["m.C"]


@pytest.mark.parametrize("text", ["boot_of(system)", "system.reset_system('On')", "system.path", "value.certain()"])
def test_views_and_orders_are_no_raw_reads(text: str) -> None:
    source = f"def f(system, value):\n    return {text}\n"
    assert list(raw_reads(source, "m")) == list(tolerant_reads(source, "m")) == []


@pytest.mark.parametrize("text", ["seen_members(x, 'storage')", "optional(f, None)", "boot.mode.shown(None)"])
def test_a_tolerant_read_is_found(text: str) -> None:
    assert list(tolerant_reads(f"def f(x, boot):\n    return {text}\n", "m")) == ["m.f"]
