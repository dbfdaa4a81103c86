"""Every option that a page, a help text, an error or a log line names exists, in the group that stands before it."""

import re
from collections.abc import Iterator
from pathlib import Path

from ironic.conf import CONF, OPTIONS, library_options, without_effect
from ironic.conf.without_effect import GROUPS
from ironic.tests.repository import ROOT

# `[group]option`; a family of options is written as `[group]*_part`, `[group]part_*` or `[group]part_<word>_part`.
REFERENCE = re.compile(r"\[([A-Za-z_]+)\]((?:[A-Za-z_*]|<\w+>)(?:\w|\*|<\w+>)*)(?!\()")
# A group alone, in a page.
GROUP = re.compile(r"`\[([A-Za-z_]+)\]`")

# What looks like an option of this service and is one of another program.
FOREIGN = {
    ("doc/standalone-inspector.md", "[discovery]enabled_bmc_address_version"),  # the old inspector
    ("doc/clients.md", "[ironic]"),  # Nova
    # A site's changes of OpenStack Ironic.
    ("doc/change-over.md", "[console]terminal_url_scheme"),
    ("doc/change-over.md", "[console]ssh_command_pattern"),
    ("doc/change-over.md", "[keystone]auth_section"),
}
# Registered for its sake only: the address is never called.
KNOWN_ALL_THE_SAME = {("doc/coming-from-openstack.md", "[database]slave_connection")}
# Pages about files that may have what is missing here.
OF_OTHER_FILES = ("doc/change-over.md",)


def known() -> dict[str, set[str]]:
    """Return the names of all options by group: own ones, those of libraries, and older names."""
    infos = [(group.name if group else "DEFAULT", info["opt"]) for info, group in CONF._all_opt_infos()]
    names: dict[str, set[str]] = {}
    for group, option in (found for info in infos for found in library_options.spellings(*info)):
        names.setdefault(group, set()).add(option)
    for group, option in library_options.known(CONF):
        names.setdefault(group, set()).add(option)
    return names


def texts() -> Iterator[tuple[str, str]]:
    """Yield name and text of every page and of every module of the product."""
    pages = [ROOT / "README.md", *(ROOT / "doc").rglob("*.md"), *(ROOT / "api-ref").rglob("*.md")]
    modules = [path for path in (ROOT / "ironic").rglob("*.py") if "tests" not in path.parts]
    examples = [path for path in (ROOT / "etc").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    for path in (*pages, *modules, *examples):
        yield str(path.relative_to(ROOT)), path.read_text()


def unresolved(text: str, names: dict[str, set[str]]) -> Iterator[str]:
    """Yield what a text names as an option and is none."""
    for group, option in REFERENCE.findall(text):
        pattern = re.sub(r"\\\*|<\w+>", r"\\w+", re.escape(option))
        if not any(re.fullmatch(pattern, name) for name in names.get(group, ())):
            yield f"[{group}]{option}"


def test_what_is_named_as_an_option_is_one() -> None:
    names, seen, wrong = known(), 0, set()
    for where, text in texts():
        seen += len(REFERENCE.findall(text))
        wrong |= {(where, reference) for reference in unresolved(text, names)}
        if Path(where).suffix == ".md":
            wrong |= {(where, f"[{group}]") for group in GROUP.findall(text) if group not in names}
    assert seen > 300
    named = {(where, name) for _, name in missing() for where in OF_OTHER_FILES}
    named |= {
        (where, name) for where, name in wrong if where in OF_OTHER_FILES and name[1:].partition("]")[0] in GROUPS
    }
    assert wrong - named == FOREIGN | missing()


def missing() -> set[tuple[str, str]]:
    """Return what the page for those who come from elsewhere names because it has no effect here."""
    options = {
        f"[{group}]{name}"
        for group, names in without_effect.OPTIONS.items()
        for name in names.keys() - {without_effect.OTHERS}
    }
    groups = {f"[{group}]" for group in without_effect.GROUPS}
    return {("doc/coming-from-openstack.md", name) for name in options | groups} - KNOWN_ALL_THE_SAME


def test_a_reference_with_a_wrong_group_or_name_is_found() -> None:
    text = "see [api]port, [conductor]*_callback_timeout, [DEFAULT]default_<kind>_interface, [api]prt, [conductr]host, "
    text += "`[deploy]image_*_nothing`"
    assert list(unresolved(text, known())) == ["[api]prt", "[conductr]host", "[deploy]image_*_nothing"]


def test_a_help_text_names_the_group_of_an_option_of_another_group() -> None:
    """A bare name in a help text means an option of the same group or of [DEFAULT]."""
    names = known()
    everywhere = {name for options in names.values() for name in options if "_" in name}
    bare = {
        f"[{group}]{option.dest}: {word}"
        for group, options in OPTIONS.items()
        for option in options
        for word in re.findall(r"(?<![\]\w])[a-z]+_\w+", option.help or "")
        if word in everywhere and word not in names[group] | names["DEFAULT"]
    }
    assert bare == set()
