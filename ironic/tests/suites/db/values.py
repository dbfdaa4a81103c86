"""Values that some engine can't hold are refused by all, before any statement; the others come back unchanged."""

from collections.abc import Callable
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.db import InterfaceRow, Store
from ironic.tests.databases import counting_statements
from ironic.tests.suites.db.samples import node

BAD_TEXTS = ["a\0b", "a\ud800", "\udfffb"]
LARGEST = 2**63 - 1


class ValueSuite:
    @pytest.mark.parametrize("text", BAD_TEXTS)
    @pytest.mark.parametrize(
        "act",
        [
            lambda store, text: node(store, name=text),
            lambda store, text: node(store, last_error=text),
            lambda store, text: store.nodes.update(1, {"owner": text}),
            lambda store, text: store.nodes.update(1, {}, where={"owner": text}),
            lambda store, text: store.nodes.update(text, {"owner": "me"}),
            lambda store, text: store.nodes.get(text),
            lambda store, text: store.nodes.delete(text),
            lambda store, text: store.nodes.reserve(text, "h"),
            lambda store, text: store.nodes.reserve(1, text),
            lambda store, text: store.nodes.rows(["id"], marker=text),
            lambda store, text: store.nodes.rows(["id"], filters={"owner": text}),
            lambda store, text: store.nodes.rows(["id"], filters={"shard": [text]}),
            lambda store, text: store.nodes.rows(["id"], filters={"description_contains": text}),
            lambda store, text: store.nodes.by_macs([text]),
            lambda store, text: store.nodes.by_bmc_addresses([text], text),
            lambda store, text: store.nodes.set_bmc_addresses(1, [text]),
            lambda store, text: store.ports.rows(["id"], filters={"node_uuid": text}),
            lambda store, text: store.traits.add(1, text),
            lambda store, text: store.traits.replace(1, [text]),
            lambda store, text: store.conductors.register(text, "", [], []),
            lambda store, text: store.conductors.register("h", "", [], [InterfaceRow(text, "power", "fake", True)]),
        ],
    )
    def test_text_that_cannot_be_stored_is_refused(
        self, store: Store, act: Callable[[Store, str], Any], text: str
    ) -> None:
        with pytest.raises(InvalidParameterValue, match="can't be stored"):
            act(store, text)

    def test_half_a_character_in_json_is_refused_and_a_nul_is_kept(self, store: Store) -> None:
        with pytest.raises(InvalidParameterValue, match="extra"):
            node(store, extra={"a": "\ud800"})
        made = node(store, extra={"a": "\0"})
        assert store.nodes.get(made.id).extra == {"a": "\0"}

    @pytest.mark.parametrize(
        "values",
        [
            {"name": "x" * 256},
            {"power_state": "x" * 16},
            {"uuid": "x" * 37},
            {"name": 5},
            {"maintenance": 1},
            {"maintenance": "true"},
            {"chassis_id": "1"},
            {"chassis_id": 2**31},
            {"provision_updated_at": "2026-01-01T00:00:00"},
            {"extra": {"a": LARGEST * 4}},
            {"extra": {"a": object()}},
            {"extra": {5: 6}},
        ],
    )
    def test_a_value_that_does_not_fit_its_column_is_refused_by_name(
        self, store: Store, values: dict[str, Any]
    ) -> None:
        (name,) = values
        record = node(store)
        setattr(record, name, values[name])
        with counting_statements(store) as seen:
            for write in (lambda: node(store, **values), lambda: store.nodes.update(1, values), record.save):
                with pytest.raises(InvalidParameterValue, match=name):
                    write()
        assert seen.writes == 0

    def test_a_name_that_is_too_long_to_be_one_is_simply_not_found(self, store: Store) -> None:
        assert store.nodes.rows(["id"], filters={"owner": "x" * 5000}) == []

    def test_what_can_be_stored_comes_back(self, store: Store) -> None:
        text = "ä€😀 \\ ' \" % _ \n\t\r \x7f"
        extra = {
            "text": text,
            "numbers": [0, -1, 1.5, 1e300, LARGEST, -LARGEST],
            "b": [True, False, None],
            text: {"nested": [[], {}]},
        }
        made = node(store, name=text, last_error=text * 10_000, extra=extra)
        found = store.nodes.get(made.id)
        assert (found.name, found.last_error, found.extra) == (text, text * 10_000, extra)
        assert list(found.extra) == list(extra)
        assert store.nodes.rows(["id"], filters={"name": text}) == [(made.id,)]

    def test_no_number_becomes_null(self, store: Store) -> None:
        made = node(store, extra={"a": float("nan"), "b": float("inf")})
        assert store.nodes.row(["extra"], made.id) == ('{"a":null,"b":null}',)

    def test_an_error_of_the_database_never_quotes_values(self, store: Store) -> None:
        with pytest.raises(Exception) as caught, store.writing() as connection:
            connection.exec_driver_sql("SELECT nothing FROM nowhere", {"password": "geheim"})
        assert "geheim" not in str(caught.value)
