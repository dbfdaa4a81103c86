"""Pages: following the links shows every row once, for every sort order and while rows are deleted."""

import json
from typing import Any

import pytest

from ironic.core.model.fields import REQUIRED
from ironic.tests.functional.wire.service import BASE
from ironic.tests.suites.api.sample import Sample
from ironic.tests.suites.api.target import Target

ROWS = 7


class PagesSuite:
    @pytest.fixture
    def rows(self, target: Target, sample: Sample) -> list[str]:
        """Make some that differ, and some that are as bare as they can be."""
        assert sample.body is not None
        return [make(target, sample, number) for number in range(2, 2 + ROWS)]

    def test_every_way_of_sorting_leads_through_all_rows(self, target: Target, sample: Sample, rows: list[str]) -> None:
        sortable = [name for name, one in sample.resource.table.fields.items() if one.sortable and not one.hidden]
        for name in ("id", *sortable):
            for direction in ("asc", "desc"):
                path = f"{sample.collection}?sort_key={name}&sort_dir={direction}"
                whole = names(target.send("GET", path).json, sample)
                assert set(rows) < set(whole)
                for limit in (1, 3):
                    assert walk(target, sample, f"{path}&limit={limit}") == whole, (name, direction, limit)

    def test_a_row_that_goes_takes_no_other_with_it(self, target: Target, sample: Sample, rows: list[str]) -> None:
        before = walk(target, sample, f"{sample.collection}?sort_key=uuid&limit=2")
        first = target.send("GET", f"{sample.collection}?sort_key=uuid&limit=2").json
        seen, ahead = before[0], before[3]
        for gone in (seen, ahead):
            target.take_away(sample.repository, gone)
        rest = walk(target, sample, first["next"].removeprefix(BASE))
        assert names(first, sample) + rest == [one for one in before if one != ahead]

    def test_a_page_after_a_row_that_has_gone_is_refused(self, target: Target, sample: Sample, rows: list[str]) -> None:
        first = target.send("GET", f"{sample.collection}?sort_key=uuid&limit=2").json
        target.take_away(sample.repository, names(first, sample)[-1])
        target.refuses("GET", first["next"].removeprefix(BASE), b"", 404)

    def test_a_row_of_another_kind_marks_nothing(self, target: Target, sample: Sample, rows: list[str]) -> None:
        chassis = target.send("POST", "/v1/chassis", b"{}").json["uuid"]
        if sample.collection == "/v1/chassis":
            chassis = target.send("POST", "/v1/allocations", b'{"resource_class": "gold"}').json["uuid"]
        target.refuses("GET", f"{sample.collection}?marker={chassis}", b"", 404)


def make(target: Target, sample: Sample, number: int) -> str:
    """Make the n-th one, of odd numbers without what callers may leave out, and return its name."""
    assert sample.body is not None
    body = sample.body(number)
    if number % 2:
        body = {key: value for key, value in body.items() if key not in dispensable(sample)}
    answer = target.send("POST", sample.collection, json.dumps(body).encode())
    assert answer.status == 201, answer.body
    return str(answer.json["uuid"])


def dispensable(sample: Sample) -> set[str]:
    """Return which of the unique names a body can omit."""
    return {name for name in ("name", "description") if name not in required(sample)}


def required(sample: Sample) -> set[str]:
    """Return what a body can't be without."""
    return {name for name, one in sample.resource.writable("create").items() if one.empty is REQUIRED}


def names(page: dict[str, Any], sample: Sample) -> list[str]:
    """Return what a page names."""
    return [one["uuid"] for one in page[sample.resource.collection]]


def walk(target: Target, sample: Sample, path: str) -> list[str]:
    """Follow the links to the end."""
    seen: list[str] = []
    while path:
        page = target.send("GET", path).json
        seen += names(page, sample)
        assert len(seen) == len(set(seen)), f"{path}: a row came twice"
        path = page.get("next", "").removeprefix(BASE)
    return seen
