"""JSON of the reference in our form, and rows of its tables as rows of ours."""

from typing import Any

import pytest

from ironic.db.takeover.findings import NAMED, SAYS, Findings, Loss
from ironic.db.takeover.json_text import NoJson, recoded
from ironic.db.takeover.rows import READINGS, UNKNOWN_TIME, Conversion, Known


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ('{"a": "\\u00f6 \\ud83d\\ude00"}', '{"a":"ö 😀"}'),
        ('{"b": 1, "a": [1.5, true, null]}', '{"b":1,"a":[1.5,true,null]}'),
        ('{"a": 9223372036854775808, "b": -9223372036854775808}', '{"a":9223372036854775808,"b":-9223372036854775808}'),
        ('{"a": "12345678901234567890"}', '{"a":"12345678901234567890"}'),
        ('{"a": "NaN"}', '{"a":"NaN"}'),
    ],
)
def test_json_keeps_its_values(text: str, stored: str) -> None:
    assert recoded(text)[1:] == (stored, False, False)


@pytest.mark.parametrize(
    ("text", "stored", "replaced"),
    [
        ("[NaN, Infinity, -Infinity, 1e400]", "[null,null,null,null]", (True, False)),
        ("[18446744073709551616]", '["18446744073709551616"]', (True, False)),
        ("[-9223372036854775809]", '["-9223372036854775809"]', (True, False)),
        ('{"\\ud800": "\\udfff"}', '{"?":"?"}', (False, True)),
    ],
)  # fmt: skip
def test_what_no_reader_takes_is_replaced_and_said(text: str, stored: str, replaced: tuple[bool, bool]) -> None:
    assert recoded(text)[1:] == (stored, *replaced)


@pytest.mark.parametrize("text", ["{", "nan", "'a'", "[" * 100_000])
def test_other_text_is_no_json(text: str) -> None:
    with pytest.raises(NoJson):
        recoded(text)


def converted(table: str, row: dict[str, Any], known: Known) -> tuple[list[dict[str, Any]], Findings]:
    findings = Findings()
    reading = next(one for one in READINGS if one.name == table)
    return Conversion(reading, known, findings).of(row), findings


def test_what_older_releases_did_not_have_gets_its_default() -> None:
    (row,), findings = converted("chassis", {"id": 1, "uuid": "u", "created_at": None, "updated_at": None}, Known())
    assert row == {
        "id": 1,
        "uuid": "u",
        "created_at": UNKNOWN_TIME,
        "updated_at": None,
        "extra": None,
        "description": None,
    }
    assert list(findings.changed) == ["chassis.created_at without a time becomes that of the last change"]


@pytest.mark.parametrize("kept", [set(), {8}])
def test_a_row_stays_only_with_its_owner(kept: set[int]) -> None:
    rows, findings = converted("node_traits", {"node_id": 8, "trait": "CUSTOM_X"}, Known(kept={"nodes": kept}))
    assert (rows, findings.lost.get(Loss.ORPHANS)) == (
        ([{"node_id": 8, "trait": "CUSTOM_X"}], None) if kept else ([], {"node_traits 8": 1})
    )


def test_a_report_names_some_rows_and_counts_all() -> None:
    findings = Findings()
    for number in range(NAMED + 2):
        findings.lose(Loss.NUMBERS, f"nodes {number}.extra")
    (line,) = findings.report()
    assert line.startswith(f"not kept, {NAMED + 2} times: {SAYS[Loss.NUMBERS]} (--accept numbers): nodes 0.extra, ")
    assert line.endswith(f"nodes {NAMED - 1}.extra, ...")
    assert set(SAYS) == set(Loss)
