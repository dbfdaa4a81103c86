"""Files of operators that can't be read, or that would take all time or memory."""

import os
from pathlib import Path

import pytest
import yaml

from ironic.core.texts.operator_files import document_in


@pytest.mark.parametrize(("text", "document"), [('{"a": [1]}', {"a": [1]}), ("a: [1]", {"a": [1]}), ("", None)])
def test_json_and_yaml_are_read(tmp_path: Path, text: str, document: object) -> None:
    (path := tmp_path / "file").write_text(text)
    assert document_in(path) == document


def test_aliases_that_a_program_writes_are_read(tmp_path: Path) -> None:
    shared = [{"op": "log"}]
    (path := tmp_path / "file").write_text(yaml.safe_dump([{"actions": shared}, {"actions": shared}]))
    assert "*id001" in path.read_text()
    assert document_in(path) == [{"actions": shared}] * 2


def test_aliases_that_stand_for_more_than_a_memory_holds_are_refused(tmp_path: Path) -> None:
    lines = [
        "- &a0 [x, x, x, x, x, x, x, x, x, x]",
        *(f"- &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)),
    ]
    (path := tmp_path / "file").write_text("\n".join(lines))
    with pytest.raises(ValueError, match="aliases .* stand for more than"):
        document_in(path)


@pytest.mark.parametrize(
    "merges",
    [
        ["{<<: *a0}"] * 2000,
        [f"&a{number + 1} {{<<: [{', '.join([f'*a{number}'] * 10)}]}}" for number in range(9)],
    ],
    ids=["many", "nested"],
)
def test_merges_are_counted_before_they_copy_keys(
    tmp_path: Path, merges: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = ", ".join(f"k{number}: 1" for number in range(2000))
    (path := tmp_path / "file").write_text("\n".join(["- &a0 {b: 1}", "- {<<: *a0, c: 2}"]))
    assert document_in(path) == [{"b": 1}, {"b": 1, "c": 2}]
    monkeypatch.setattr(yaml.SafeLoader, "flatten_mapping", lambda *_: pytest.fail("keys were copied"))
    path.write_text("\n".join([f"- &a0 {{{keys}}}", *(f"- {merge}" for merge in merges)]))
    with pytest.raises(ValueError, match="aliases .* stand for more than"):
        document_in(path)


@pytest.mark.parametrize("text", ["&a [*a]", "&a {b: [*a]}", "&a {<<: *a}"])
def test_an_alias_within_itself_is_refused(tmp_path: Path, text: str) -> None:
    (path := tmp_path / "file").write_text(text)
    with pytest.raises(ValueError, match="within what the alias stands for"):
        document_in(path)


@pytest.mark.parametrize("text", ["[" * 100_000, "[[" * 2000 + "]]" * 2000, "a: b: c", "!!python/object:os.system {}"])
def test_what_is_no_document_is_refused(tmp_path: Path, text: str) -> None:
    (path := tmp_path / "file").write_text(text)
    with pytest.raises(ValueError, match="neither JSON nor YAML|nested too deeply"):
        document_in(path)


@pytest.mark.parametrize("number", ["1" + ":1" * 60_000, "9" * 60_000, "1" + ":1" * 60_000 + ".5"])
def test_a_long_number_is_refused(tmp_path: Path, number: str) -> None:
    (path := tmp_path / "file").write_text(f"a: {number}")
    with pytest.raises(ValueError, match="a number has more than 100 characters"):
        document_in(path)
    path.write_text("a: [1:30, 2.5, 0x1f]")
    assert document_in(path) == {"a": [90, 2.5, 31]}


def test_pipes_and_devices_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    for path in (pipe, Path("/dev/zero"), Path("/dev/null")):
        with pytest.raises(ValueError, match="no regular file"):
            document_in(path)
    with pytest.raises(OSError, match="directory"):
        document_in(tmp_path)


def test_large_files_are_refused(tmp_path: Path) -> None:
    (path := tmp_path / "file").write_text("a: b\n" * 300_000)
    with pytest.raises(ValueError, match="no JSON and has more than 1048576 bytes"):
        document_in(path)
    with path.open("wb") as file:
        file.truncate(1 << 34)
    with pytest.raises(ValueError, match="more than 16777216 bytes"):
        document_in(path)
