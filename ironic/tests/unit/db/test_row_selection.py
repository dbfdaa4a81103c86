"""The statements of pages are kept, whatever is asked for by them."""

from typing import Any

import pytest
from sqlalchemy.dialects import postgresql

from ironic.db.nodes import NODE_FILTERS
from ironic.db.row_selection import Contains, Filter, Listing, PageOfRows, any_of, equals
from ironic.db.tables import ports


@pytest.fixture
def listing() -> Listing:
    filters: dict[str, Filter] = {
        "address": any_of(ports.c.address),
        "node_id": equals(ports.c.node_id),
        "says": Contains(ports.c.description),
    }
    return Listing(ports, key="uuid", filters=filters, virtual={}, parts={}, dialect="sqlite")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"filters": {"address": "a"}}, {"filters": {"address": "b"}}),
        ({"filters": {"address": "a", "node_id": 1}}, {"filters": {"address": "b", "node_id": 2}}),
        ({"filters": {}, "marker": "a"}, {"filters": {}, "marker": "b"}),
        ({"filters": {"says": "a"}, "marker": "a"}, {"filters": {"says": "a"}, "marker": "b"}),
    ],
)
def test_one_statement_serves_all_texts_and_numbers(
    listing: Listing, one: dict[str, Any], other: dict[str, Any]
) -> None:
    statement, given = listing.page(("uuid", "extra"), PageOfRows(**one, limit=5))
    again, also_given = listing.page(("uuid", "extra"), PageOfRows(**other, limit=5))
    assert again is statement
    assert given != also_given


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"filters": {"address": "a"}}, {"filters": {"address": None}}),
        ({"filters": {"address": "a"}}, {"filters": {"node_id": 1}}),
        ({"filters": {"says": "a"}}, {"filters": {"says": "b"}}),
        ({"filters": {"address": ["a"]}}, {"filters": {"address": ["b"]}}),
        ({"filters": {}, "marker": "a"}, {"filters": {}}),
        ({"filters": {}, "sort_dir": "asc"}, {"filters": {}, "sort_dir": "desc"}),
    ],
)
def test_pages_of_another_shape_have_their_own(listing: Listing, one: dict[str, Any], other: dict[str, Any]) -> None:
    statement, _given = listing.page(("uuid",), PageOfRows(**one))
    again, _given = listing.page(("uuid",), PageOfRows(**other))
    assert again is not statement


def test_an_unknown_filter_is_named(listing: Listing) -> None:
    with pytest.raises(TypeError, match="no filter colour"):
        listing.page(("uuid",), PageOfRows({"colour": "red"}))


def test_a_key_is_searched_as_it_is_written_which_costs_postgresql_least() -> None:
    condition = NODE_FILTERS["remembers"]("a_key").compile(dialect=postgresql.dialect())
    assert " LIKE " in str(condition)
    assert "lower" not in str(condition)
