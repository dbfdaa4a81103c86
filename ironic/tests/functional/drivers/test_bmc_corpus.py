"""All operations on all recorded machines: what became of each is what the table of `bmc-outcomes.json` says.

The page doc/proved-bmcs.md is made from that table, and `make pages` writes both.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.functional.drivers.bmc_corpus import RECORDS, SOURCES, machines_of
from ironic.tests.functional.drivers.played_bmc import Answer, PlayedBmc, played
from ironic.tests.functional.drivers.played_operations import Machine
from ironic.tests.functional.drivers.proved_operations import (
    CASES,
    NOT_OFFERED,
    OUTCOMES,
    PROVED,
    REFUSED,
    Case,
    played_machines,
    result_of,
)

# What takes effect with a restart or later: that the order has come is all that can be seen.
ONLY_ORDERED = {"restart without power off", "NMI", "change of the boot mode", "reset of BIOS settings"}
_LARGEST_RECORD = 4 * 1024 * 1024


@pytest.fixture(scope="module")
def known() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(OUTCOMES.read_text())
    return found


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_proved_on_a_machine_is_what_the_table_says(source: str, known: dict[str, Any], tmp_path: Path) -> None:
    rows = played_machines(source, tmp_path)
    assert rows
    for name, row in rows.items():
        assert row["operations"].keys() == {case.words for case in CASES}
        assert {name: row} == {name: known.get(name)}, "if the former is right, `make pages` writes it"


def test_the_table_has_machines_that_are_there_and_all_words(known: dict[str, Any]) -> None:
    assert set(known) == {one.name for source in SOURCES for one in machines_of(source)}
    words = [word for row in known.values() for word in row["operations"].values()]
    assert {word.partition(":")[0] for word in words} <= {PROVED, REFUSED, NOT_OFFERED}
    proved = {case.words for case in CASES if any(row["operations"][case.words] == PROVED for row in known.values())}
    assert proved == {case.words for case in CASES}, "each operation is proved on some machine"


def test_records_can_be_kept_in_a_repository() -> None:
    assert {file.name: file.stat().st_size for file in RECORDS.iterdir() if file.stat().st_size > _LARGEST_RECORD} == {}


# The proofs themselves: what is left undone, or shown otherwise, is proved by none.


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    (known,) = machines_of("DMTF")
    system = known.documents[known.path]
    # What is ordered is not there yet.
    boot = {**system["Boot"], "BootSourceOverrideTarget": "Cd"}
    documents = {**known.documents, known.path: {**system, "Boot": boot}}
    with played() as choose:
        made = Machine(documents, known.path, tmp_path_factory.mktemp("machine") / "store", known.setting, choose)
        yield made
        made.close()


def _with(case: Case, act: Callable[[Any, Any], Any]) -> Case:
    return case._replace(operation=replace(case.operation, act=act))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.words)
def test_what_is_not_done_or_shows_nothing_is_not_proved(machine: Machine, case: Case) -> None:
    undone = _with(case, lambda machine, task: {})
    if case.operation.is_order:
        with pytest.raises(AssertionError, match="neither done nor refused"):
            result_of(machine, undone)
    else:
        assert result_of(machine, undone) == "refused: nothing is shown"


def _other(value: Any) -> Any:
    if isinstance(value, dict):
        return {f"{name}9" if name.count(":") > 4 else name: _other(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_other(one) for one in value]
    if isinstance(value, bool) or value is None:
        return not value
    return f"{value}x" if isinstance(value, str) else value + 987654321


@pytest.mark.parametrize("case", [one for one in CASES if not one.operation.is_order], ids=lambda case: case.words)
def test_what_no_document_says_is_not_proved(machine: Machine, case: Case) -> None:
    act = case.operation.act
    with pytest.raises(AssertionError, match="neither done nor refused"):
        result_of(machine, _with(case, lambda machine, task: _other(act(machine, task))))


@pytest.mark.parametrize("case", [one for one in CASES if one.operation.is_order], ids=lambda case: case.words)
def test_what_the_bmc_accepts_and_does_not_do_is_not_proved(
    machine: Machine, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PlayedBmc, "_take", lambda *_: Answer(204))
    try:
        assert result_of(machine, case) != PROVED or case.words in ONLY_ORDERED
    except AssertionError as fault:
        assert "neither done nor refused" in str(fault)
