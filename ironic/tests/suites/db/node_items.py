"""BIOS settings and firmware components: found out as a whole, kept by name."""

from datetime import timedelta
from typing import Any

import pytest

from ironic.core.errors import hardware_errors
from ironic.db import Store
from ironic.tests.databases import counting_statements
from ironic.tests.suites.db.samples import node

TIMES = ("name", "value", "created_at", "updated_at")


def settings(store: Store, node_id: int) -> list[tuple[Any, ...]]:
    return store.bios_settings.rows(("name", "value"), node_id)


class NodeItemsSuite:
    def test_a_node_has_exactly_the_settings_that_were_found(self, store: Store) -> None:
        one, other = node(store), node(store)
        store.bios_settings.sync(other.id, [{"name": "virt", "value": "on"}])
        store.bios_settings.sync(one.id, [{"name": "virt", "value": "on"}, {"name": "turbo", "value": None}])
        assert settings(store, one.id) == [("turbo", None), ("virt", "on")]
        store.bios_settings.sync(one.id, [{"name": "virt", "value": "off"}, {"name": "boot", "value": "uefi"}])
        assert settings(store, one.id) == [("boot", "uefi"), ("virt", "off")]
        store.bios_settings.sync(one.id, [])
        assert settings(store, one.id) == []
        assert settings(store, other.id) == [("virt", "on")]

    def test_what_stays_the_same_keeps_its_times(self, store: Store) -> None:
        one, start = node(store), store.clock.now()
        found = [{"name": "a", "value": "1"}, {"name": "b", "value": "1"}]
        store.bios_settings.sync(one.id, found)
        found[1]["value"] = "2"
        with counting_statements(store) as seen:
            store.bios_settings.sync(one.id, found)
        assert (seen.selects, seen.writes, seen.commits) == (1, 1, 1)
        same, changed = store.bios_settings.rows(TIMES, one.id)
        assert same[3] is None
        assert changed[2] - start < timedelta(minutes=1)
        assert changed[3] >= changed[2]
        with counting_statements(store) as seen:
            store.bios_settings.sync(one.id, found)
        assert (seen.selects, seen.writes) == (1, 0)

    def test_some_settings_can_be_put_among_the_others(self, store: Store) -> None:
        one = node(store)
        store.bios_settings.sync(one.id, [{"name": "a", "value": "1"}, {"name": "b", "value": "1"}])
        store.bios_settings.put(one.id, [{"name": "b", "value": "2"}, {"name": "c", "value": "3"}])
        assert settings(store, one.id) == [("a", "1"), ("b", "2"), ("c", "3")]

    def test_all_about_a_setting_is_kept(self, store: Store) -> None:
        one = node(store)
        told = {
            "name": "virt",
            "value": "on",
            "attribute_type": "Enumeration",
            "allowable_values": ["on", "off"],
            "lower_bound": -(2**40),
            "upper_bound": 2**62,
            "min_length": 0,
            "max_length": 9,
            "read_only": False,
            "reset_required": True,
            "unique": None,
        }
        store.bios_settings.sync(one.id, [told])
        stored = store.bios_settings.row(tuple(told), one.id, "virt")
        assert dict(zip(told, stored, strict=True)) == told | {"allowable_values": '["on","off"]'}
        with pytest.raises(hardware_errors.BIOSSettingNotFound, match=one.uuid):
            store.bios_settings.row(("value",), one.id, "other")

    @pytest.mark.parametrize(
        "item, kept",
        [
            ({"name": "x", "value": 5}, ("x", None)),
            ({"name": "x", "value": "a\0b"}, ("x", "ab")),
            ({"name": "x", "value": "a\ud800"}, ("x", "a?")),
            ({"name": "x", "value": "y" * 70_000}, ("x", "y" * 70_000)),
            ({"name": "x", "upper_bound": 2**63}, ("x", None)),
            ({"name": "x", "upper_bound": 2**64 - 1}, ("x", None)),
            ({"name": "x", "lower_bound": -(2**63) - 1}, ("x", None)),
            ({"name": "x", "upper_bound": 1.5}, ("x", None)),
            ({"name": "x", "min_length": 2**31}, ("x", None)),
            ({"name": "x", "max_length": 2**70}, ("x", None)),
            ({"name": "x", "attribute_type": "T" * 300}, ("x", None)),
            ({"name": "x", "read_only": "yes"}, ("x", None)),
            ({"name": "x", "allowable_values": ["a\ud800"]}, ("x", None)),
            ({"name": "x", "allowable_values": [2**70]}, ("x", None)),
            ({"value": "x"}, None),
            ({"name": "", "value": "x"}, None),
            ({"name": 5}, None),
            ({"name": "x" * 256}, None),
            ({"name": "x\0"}, None),
            ({"name": "x\udcff"}, None),
            ({"name": "good ", "value": "other"}, None),
        ],
    )
    def test_a_value_that_can_not_be_kept_takes_nothing_from_the_others(
        self, store: Store, item: dict[str, Any], kept: tuple[str, str | None] | None
    ) -> None:
        one = node(store)
        for _ in range(2):
            store.bios_settings.sync(one.id, [{"name": "good", "value": "1"}, item, {"name": "last", "value": "2"}])
            expected = [("good", "1"), ("last", "2"), *([kept] if kept else [])]
            assert settings(store, one.id) == expected

    @pytest.mark.parametrize("column", ["current_version", "vendor", "model", "serial_number", "last_version_flashed"])
    def test_a_component_of_strange_values_keeps_the_rest(self, store: Store, column: str) -> None:
        one = node(store)
        bad = {"component": "bios", "current_version": "1", column: "v\0" + "w" * 300}
        store.firmware.put(one.id, [bad, {"component": "bmc", "current_version": "2"}])
        assert store.firmware.rows(("component", column), one.id)[0] == ("bios", "v" + "w" * 254)
        assert store.firmware.rows(("component", "current_version"), one.id)[1] == ("bmc", "2")

    def test_what_is_left_out_is_logged_once_for_a_report(self, store: Store, caplog: pytest.LogCaptureFixture) -> None:
        one = node(store)
        store.bios_settings.sync(one.id, [{"name": f"s{number}", "upper_bound": 2**64} for number in range(100)])
        (record,) = caplog.records
        assert "bios_settings" in record.getMessage() and "(100)" in record.getMessage()
        assert len(record.getMessage()) < 1200

    def test_a_column_that_does_not_exist_is_a_fault_of_the_program(self, store: Store) -> None:
        with pytest.raises(TypeError):
            store.bios_settings.sync(node(store).id, [{"name": "x", "nonsense": 1}])

    def test_items_are_read_with_the_values_of_their_lists(self, store: Store) -> None:
        one = node(store)
        store.bios_settings.sync(one.id, [{"name": "a", "allowable_values": ["on", "off"]}, {"name": "b"}])
        assert store.bios_settings.values(("name", "allowable_values"), one.id) == [
            {"name": "a", "allowable_values": ["on", "off"]},
            {"name": "b", "allowable_values": []},
        ]

    def test_a_component_remembers_its_first_version(self, store: Store) -> None:
        one = node(store)
        columns = ("component", "initial_version", "current_version", "last_version_flashed")
        store.firmware.sync(one.id, [{"component": "bmc", "current_version": "1"}])
        store.firmware.sync(one.id, [{"component": "bmc", "current_version": "2", "last_version_flashed": "2"}])
        store.firmware.put(one.id, [{"component": "bios", "initial_version": "0", "current_version": "9"}])
        assert store.firmware.rows(columns, one.id) == [("bios", "0", "9", None), ("bmc", "1", "2", "2")]
        with pytest.raises(hardware_errors.FirmwareComponentNotFound, match=one.uuid):
            store.firmware.row(columns, one.id, "nic")
