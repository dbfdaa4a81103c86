"""Pages of large rows: they end after some bytes, with each row exactly once on the way through all of them."""

from typing import Any

import pytest

from ironic.db import PageOfRows, Store
from ironic.tests.databases import counting_statements
from ironic.tests.suites.db.samples import node

# Characters of two bytes each, so that bytes and characters differ.
SIZES = [10, 4000, 10, 900, 900, 900, 10, 5000, 10]
MOST = 3000
OWNERS = ["b", None, "a", "b", None, "c", "a", None, "b"]
COLUMNS = ("uuid", "name", "extra")


def fill(store: Store) -> None:
    for number, (owner, size) in enumerate(zip(OWNERS, SIZES, strict=True)):
        node(store, name=f"n{number}", owner=owner, extra={"a": "\u00e4" * (size // 2)})


def pages(store: Store, limit: int, key: str, direction: str) -> list[list[str]]:
    """Return the names on each page; a page says when it is cut."""
    found: list[list[str]] = []
    marker = None
    while True:
        wanted = PageOfRows({}, marker, limit, key, direction, MOST)
        rows, is_cut = store.nodes.page(COLUMNS, wanted)
        found.append([row[1] for row in rows])
        if not is_cut and len(rows) < limit:
            return found
        marker = rows[-1][0]


class LargePagesSuite:
    @pytest.mark.parametrize("limit", [2, 1000])
    @pytest.mark.parametrize("direction", ["asc", "desc"])
    @pytest.mark.parametrize("key", ["id", "owner", "lessee", "name", "created_at"])
    def test_pages_lead_through_all_rows_once(self, store: Store, limit: int, key: str, direction: str) -> None:
        fill(store)
        names = [row[0] for row in store.nodes.rows(["name"], sort_key=key, sort_dir=direction)]
        found = pages(store, limit, key, direction)
        assert [name for page in found for name in page] == names
        assert len(names) == len(SIZES)
        for page in found:
            # What comes before the last row of a page is below the limit.
            assert sum(SIZES[int(name[1:])] for name in page[:-1]) < MOST

    def test_a_page_ends_with_the_row_that_reaches_the_limit(self, store: Store) -> None:
        fill(store)
        expected = [["n0", "n1"], ["n2", "n3", "n4", "n5", "n6", "n7"], ["n8"]]
        assert pages(store, 1000, "id", "asc") == expected

    def test_it_is_one_statement_and_other_columns_have_no_limit(self, store: Store) -> None:
        fill(store)
        wanted = PageOfRows({}, most_bytes=1)
        with counting_statements(store) as seen:
            cut = store.nodes.page(COLUMNS, wanted)
            plain = store.nodes.page(("uuid", "name"), wanted)
        assert (len(cut.rows), cut.is_cut) == (1, True)
        assert (len(plain.rows), plain.is_cut) == (len(SIZES), False)
        assert seen.selects == 2

    def test_filters_and_columns_of_other_tables_are_read_as_without_a_limit(self, store: Store) -> None:
        chassis = store.chassis.create({})
        for number in range(3):
            node(store, name=f"n{number}", chassis_id=chassis.id, shard=f"s{number % 2}", extra={"a": number})
        columns = ("name", "chassis_uuid", "extra")
        for filters in ({"shard": ["s0"]}, {"chassis_uuid": chassis.uuid}, {"description_contains": "x"}, {}):
            limited = store.nodes.page(columns, PageOfRows(filters, most_bytes=10**6))
            assert limited.rows == store.nodes.rows(columns, filters=filters)
            assert not limited.is_cut

    @pytest.mark.parametrize(("kind", "place"), [("deploy_templates", "priority"), ("runbooks", "order")])
    def test_steps_count_only_where_they_are_read(self, store: Store, kind: str, place: str) -> None:
        lists: Any = getattr(store, kind)
        step = {"interface": "bios", "step": "apply", "args": {"a": "b" * 400}, place: 1}
        for number in range(4):
            lists.create_with({"name": f"CUSTOM_{number}"}, [step] * 2)
        with_steps = PageOfRows({}, most_bytes=2000, parts=("steps",))
        assert lists.page(("name",), with_steps) == ([("CUSTOM_0",), ("CUSTOM_1",)], True)
        assert lists.page(("name",), PageOfRows({}, most_bytes=2000)).is_cut is False
