"""Built-in rules: read and checked at start."""

from pathlib import Path

import pytest
from oslo_config import cfg

from ironic.conf import inspection_rules as options_of_rules
from ironic.core.errors import InvalidParameterValue
from ironic.inspection.rules import built_in, load

RULES = """
- description: first
  priority: -10
  actions: [{op: log, args: ["hello"]}]
- uuid: 9C3FB1D5-4F5A-4A52-9B7D-0E6A8D8D3F10
  priority: 20000
  sensitive: true
  phase: early
  scope: s
  conditions: [{op: is-true, args: [yes]}]
  actions: [{op: fail, args: {msg: not this one}}]
"""


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "rules.yaml"
    path.write_text(text)
    return str(path)


@pytest.mark.demand("S114", "S121")
def test_it_reads_rules(tmp_path: Path) -> None:
    first, second = (rule.compiled for rule in built_in.load(written(tmp_path, RULES)))
    assert (first.uuid, first.priority, first.phase) == ("00000000-0000-0000-0000-000000000001", -10, "main")
    assert (second.uuid, second.priority) == ("9c3fb1d5-4f5a-4a52-9b7d-0e6a8d8d3f10", 20000)
    assert (second.phase, second.scope, second.sensitive) == ("early", "s", True)
    assert first.built_in
    assert second.built_in


def test_it_keeps_the_documents_to_show_them(tmp_path: Path) -> None:
    first, _ = built_in.load(written(tmp_path, RULES))
    assert first.document["actions"] == [{"op": "log", "args": ["hello"]}]
    assert first.document["uuid"] == first.compiled.uuid


@pytest.mark.parametrize("text", ["", "[]", "# nothing\n", "---\n"])
def test_it_takes_a_file_without_rules(tmp_path: Path, text: str) -> None:
    assert built_in.load(written(tmp_path, text)) == ()


@pytest.mark.parametrize("path", [None, ""])
def test_it_takes_no_file(path: str | None) -> None:
    assert built_in.load(path) == ()


@pytest.mark.demand("S114")
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("{a: b}", ["is no list of rules"]),
        ("text", ["is no list of rules"]),
        ("[", ["can't be read"]),
        ("!!python/object/apply:os.system [ls]", ["can't be read"]),
        ("\x00", ["can't be read"]),
        ("- 5\n- {}\n", ["rule 1: Invalid inspection rule: a rule is an object", "rule 2: Invalid inspection rule"]),
        ("- {actions: [{op: nope, args: []}]}\n- {actions: [{op: log, args: [2026-01-01]}]}", ["rule 1:", "rule 2:"]),
        (
            "- &a {uuid: 9c3fb1d5-4f5a-4a52-9b7d-0e6a8d8d3f10, actions: [{op: log, args: [x]}]}\n- *a",
            ["used more than once"],
        ),
        ("- {built_in: true, actions: [{op: log, args: [x, loud]}]}", ["argument 'level'"]),
    ],
)
def test_it_refuses_a_bad_file_and_says_everything(tmp_path: Path, text: str, parts: list[str]) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InvalidParameterValue) as error:
        built_in.load(path)
    assert path in str(error.value)
    assert all(part in str(error.value) for part in parts)


def test_it_refuses_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterValue, match="can't be read: .*No such file"):
        built_in.load(str(tmp_path / "gone.yaml"))


@pytest.mark.demand("S166")
@pytest.mark.parametrize("name", ["built_in", "built_in_rules"])
def test_the_file_is_named_by_an_option_that_has_an_older_name(tmp_path: Path, name: str) -> None:
    rules, options = tmp_path / "rules.yaml", tmp_path / "ironic.conf"
    rules.write_text("- {description: mine, actions: [{op: log, args: [x]}]}")
    options.write_text(f"[inspection_rules]\n{name} = {rules}\n")
    conf = cfg.ConfigOpts()
    options_of_rules.register(conf)
    conf([], default_config_files=[str(options)])
    assert [rule.compiled.description for rule in load(conf.inspection_rules.built_in)] == ["mine"]
