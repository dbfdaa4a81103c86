"""Pages: order, going on after a marker, one statement each."""

import pytest

from ironic.core import errors
from ironic.db import Store
from ironic.tests.databases import counting_statements
from ironic.tests.suites.db.samples import node

OWNERS = ["b", None, "a", "b", None, "c", "a", None]


def fill(store: Store) -> None:
    for number, owner in enumerate(OWNERS):
        node(store, name=f"n{number}", owner=owner, maintenance=number % 2 == 0)


def walk(store: Store, size: int, key: str, direction: str) -> list[str]:
    """Return the names of all nodes, page by page."""
    names: list[str] = []
    marker = None
    while page := store.nodes.rows(["uuid", "name"], marker=marker, limit=size, sort_key=key, sort_dir=direction):
        marker = page[-1][0]
        names += [name for _, name in page]
    return names


class PagingSuite:
    @pytest.mark.parametrize("size", [1, 3, 100])
    @pytest.mark.parametrize(
        ("key", "direction", "expected"),
        [
            ("id", "asc", "0 1 2 3 4 5 6 7"),
            ("id", "desc", "7 6 5 4 3 2 1 0"),
            ("owner", "asc", "1 4 7 2 6 0 3 5"),  # those without a value first, twins as they were created
            ("owner", "desc", "5 3 0 6 2 7 4 1"),
            ("name", "desc", "7 6 5 4 3 2 1 0"),
            ("maintenance", "asc", "1 3 5 7 0 2 4 6"),
            ("lessee", "asc", "0 1 2 3 4 5 6 7"),  # no row has one
            ("lessee", "desc", "7 6 5 4 3 2 1 0"),
            ("created_at", "asc", "0 1 2 3 4 5 6 7"),
        ],
    )
    def test_pages_follow_each_other_without_gap_or_repetition(
        self, store: Store, size: int, key: str, direction: str, expected: str
    ) -> None:
        fill(store)
        assert walk(store, size, key, direction) == [f"n{number}" for number in expected.split()]

    @pytest.mark.parametrize("key", ["id", "owner"])
    def test_a_page_is_one_statement(self, store: Store, key: str) -> None:
        fill(store)
        third = store.nodes.get("n2").uuid
        with counting_statements(store) as seen:
            store.nodes.rows(["uuid", "chassis_uuid"], limit=2, sort_key=key, filters={"maintenance": True})
            store.nodes.rows(["uuid", "chassis_uuid"], limit=2, sort_key=key, marker=third)
        assert (seen.selects, seen.writes, seen.commits) == (2, 0, 0)

    def test_a_marker_may_lie_outside_of_what_is_asked_for(self, store: Store) -> None:
        fill(store)
        marker = store.nodes.get("n3").uuid
        assert store.nodes.rows(["name"], filters={"maintenance": True}, marker=marker) == [("n4",), ("n6",)]

    @pytest.mark.parametrize("key", ["id", "owner"])
    def test_an_unknown_marker_is_said_to_be_unknown(self, store: Store, key: str) -> None:
        fill(store)
        with pytest.raises(errors.MarkerNotFound):
            store.nodes.rows(["name"], marker="8a2cd4a3-7f25-4a37-8d6e-2a0a6c5a8b10", sort_key=key)

    def test_after_the_last_there_is_nothing(self, store: Store) -> None:
        fill(store)
        assert store.nodes.rows(["name"], marker=store.nodes.get("n7").uuid) == []

    def test_json_comes_as_the_stored_text(self, store: Store) -> None:
        node(store, extra={"a": [1, None, "ä"]})
        assert store.nodes.rows(["extra", "properties"]) == [('{"a":[1,null,"ä"]}', None)]

    def test_rows_are_plain_tuples_of_plain_values(self, store: Store) -> None:
        made = node(store, maintenance=True)
        (row,) = store.nodes.rows(["maintenance", "secure_boot", "created_at"])
        assert type(row) is tuple
        assert row == (True, None, made.created_at) and row[0] is True

    def test_conductors_go_on_after_a_host_name(self, store: Store) -> None:
        for host in ("c", "a", "b"):
            store.conductors.register(host, "", [], [])
        assert store.conductors.rows(["hostname"], marker="a") == [("b",)]
        assert store.conductors.rows(["hostname"], marker="a", sort_key="hostname") == [("b",), ("c",)]
