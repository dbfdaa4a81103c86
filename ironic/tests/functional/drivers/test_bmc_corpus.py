"""All operations on all recorded machines: what became of each is what the table of `bmc-outcomes.json` says.

The page doc/proved-bmcs.md is made from that table, and `make pages` writes both.
"""

import copy
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
from ironic.tests.functional.drivers.recorded_machines import MACHINE

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


def _with_one_other(value: Any) -> Iterator[Any]:
    """Yield a value with one thing changed: each text and number, each part without which it is, and one more."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield {other: said for other, said in value.items() if other != name}
            yield from ({**value, name: changed} for changed in _with_one_other(one))
        if value:
            yield {**value, "one more": next(iter(value.values()))}
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield [*value[:place], *value[place + 1 :]]
            yield from ([*value[:place], changed, *value[place + 1 :]] for changed in _with_one_other(one))
        yield from ([*value, value[0]] for _ in value[:1])
    else:
        yield _other(value)


# Where all of what is shown is compared; of ports the addresses alone are, and one more fact of the boot is left out.
_COMPARED = {
    "boot device", "boot devices", "health", "vendor", "MAC addresses", "sensors", "virtual drives", "BIOS settings",
    "versions of firmware", "inspection",
}  # fmt: skip
_NOT_COMPARED = {"inspection": {"ports"}, "versions of firmware": {"flashed"}}


@pytest.mark.parametrize("case", [one for one in CASES if one.words in _COMPARED], ids=lambda case: case.words)
def test_each_value_that_is_shown_is_compared(machine: Machine, case: Case) -> None:
    assert result_of(machine, case) == PROVED
    kinds = machine.play(case.operation).kinds
    kept = {name: kinds[name] for name in _NOT_COMPARED.get(case.words, ())}
    compared = {name: shown for name, shown in kinds.items() if name not in kept}
    changes = [changed for changed in _with_one_other(compared) if changed and compared.keys() == changed.keys()]
    assert changes
    for changed in changes:
        try:
            assert result_of(machine, _with(case, lambda *_, shown={**kept, **changed}: shown)) != PROVED, changed
        except AssertionError as fault:
            assert "neither done nor refused" in str(fault)


_THERMAL, _POWER = "/redfish/v1/Chassis/Blade1/Thermal", "/redfish/v1/Chassis/MultiBladeEncl/Power"
_CD, _REGISTRY = f"{MACHINE}/VirtualMedia/CD1", "/redfish/v1/Registries/BiosAttributeRegistryProt0.208.208.0.json"


@pytest.mark.parametrize(
    ("words", "path", "place", "value"),
    [
        ("health", MACHINE, ["Status", "HealthRollup"], "Warning"),
        ("vendor", MACHINE, ["Manufacturer"], "Another"),
        ("MAC addresses", f"{MACHINE}/EthernetInterfaces/12446A3B0411", ["MACAddress"], "12:44:6a:3b:04:12"),
        ("sensors", _THERMAL, ["Fans", 0, "Reading"], 6001),
        ("sensors", _THERMAL, ["Fans", 0, "ReadingUnits"], "Percent"),
        ("sensors", _THERMAL, ["Temperatures"], []),
        ("sensors", _POWER, ["PowerSupplies", 1, "LineInputVoltage"], 221),
        ("virtual drives", _CD, ["Inserted"], False),
        ("virtual drives", _CD, ["Image"], "another.iso"),
        ("BIOS settings", f"{MACHINE}/Bios", ["Attributes", "TCG003"], "Disable"),
        ("BIOS settings", f"{MACHINE}/Bios", ["Attributes", "OneMore"], 1),
        ("BIOS settings", _REGISTRY, ["RegistryEntries", "Attributes", 0, "ReadOnly"], True),
        ("versions of firmware", MACHINE, ["BiosVersion"], "1"),
        ("versions of firmware", "/redfish/v1/Managers/BMC", ["FirmwareVersion"], "1.01"),
        ("inspection", f"{MACHINE}/Processors/CPU1", ["TotalThreads"], 17),
        ("inspection", MACHINE, ["MemorySummary", "TotalSystemMemoryGiB"], 97),
        ("inspection", f"{MACHINE}/Storage/1/Drives/3D58ECBC375FD9F2", ["CapacityBytes"], 1),
        ("inspection", f"{MACHINE}/EthernetInterfaces/12446A3B0411", ["SpeedMbps"], 10),
    ],
)
def test_another_value_in_the_record_is_not_what_is_shown(
    machine: Machine, words: str, path: str, place: list[Any], value: Any
) -> None:
    case = next(one for one in CASES if one.words == words)
    kinds = machine.play(case.operation).kinds
    document = copy.deepcopy(machine.documents[path])
    part = document
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = value
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(machine.documents, path, document)
        with pytest.raises(AssertionError, match="neither done nor refused"):
            result_of(machine, _with(case, lambda machine, task: kinds))


@pytest.mark.parametrize("case", [one for one in CASES if one.operation.is_order], ids=lambda case: case.words)
def test_what_the_bmc_accepts_and_does_not_do_is_not_proved(
    machine: Machine, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PlayedBmc, "_take", lambda *_: Answer(204))
    try:
        assert result_of(machine, case) != PROVED or case.words in ONLY_ORDERED
    except AssertionError as fault:
        assert "neither done nor refused" in str(fault)
