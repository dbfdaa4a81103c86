"""Records: what a save writes, and what it leaves alone."""

import copy
from datetime import UTC, datetime, timedelta, timezone

import pytest

from ironic.core.errors import resource_errors
from ironic.db import Store
from ironic.tests.databases import counting_statements
from ironic.tests.suites.db.samples import node, port


class RecordSuite:
    def test_a_save_writes_what_changed_in_one_statement(self, store: Store) -> None:
        record = node(store, properties={"cpus": 1}, extra={"a": {"b": [1]}})
        record.name = "one"
        record.extra["a"]["b"].append(2)
        with counting_statements(store) as seen:
            record.save()
        assert (seen.selects, seen.writes, seen.commits) == (0, 1, 1)
        (written,) = [text for text in seen.texts if text.startswith("UPDATE")]
        assert "properties" not in written and "extra" in written
        found = store.nodes.get(record.id)
        assert (found.name, found.extra, found.properties) == ("one", {"a": {"b": [1, 2]}}, {"cpus": 1})
        assert found.updated_at == record.updated_at is not None

    def test_reading_and_setting_the_same_is_no_change(self, store: Store) -> None:
        record = store.nodes.get(node(store, extra={"a": 1}, name="one").id)
        record.extra, record.name, record.properties = {"a": 1}, "one", {}
        record.maintenance = False
        assert record.changes() == {}
        with counting_statements(store) as seen:
            record.save()
        assert seen.texts == []
        assert record.updated_at is None

    def test_text_of_another_encoder_is_no_change(self, store: Store) -> None:
        made = node(store)
        with store.writing() as connection:
            connection.exec_driver_sql("""UPDATE nodes SET extra = '{"b" : 1,  "a": "\u00e4"}'""")
        record = store.nodes.get(made.id)
        assert record.extra == {"b": 1, "a": "ä"}
        assert record.changes() == {}
        record.extra["a"] = 2
        assert record.changes() == {"extra": {"b": 1, "a": 2}}

    def test_two_holders_of_a_row_keep_each_others_changes(self, store: Store) -> None:
        made = node(store, extra={"a": 1})
        one, two = store.nodes.get(made.id), store.nodes.get(made.id)
        assert (one.extra, two.extra) == ({"a": 1}, {"a": 1})
        one.extra["b"] = 2
        two.owner = "me"
        one.save()
        two.save()
        found = store.nodes.get(made.id)
        assert (found.extra, found.owner) == ({"a": 1, "b": 2}, "me")

    def test_nothing_is_what_an_empty_json_column_reads_as(self, store: Store) -> None:
        record = node(store)
        assert (record.extra, store.rules.create({"actions": []}).conditions) == ({}, [])
        assert store.nodes.row(["extra"], record.id) == (None,)
        record.extra = {"a": 1}
        record.save()
        record.extra = None  # type: ignore[assignment]
        assert record.extra == {}
        record.save()
        assert store.nodes.row(["extra"], record.id) == ("{}",)

    def test_refreshing_drops_what_was_not_saved(self, store: Store) -> None:
        record = node(store, extra={"a": 1})
        record.extra["b"], record.name = 2, "one"
        store.nodes.update(record.id, {"owner": "me"})
        record.refresh()
        assert (record.extra, record.owner, record.changes()) == ({"a": 1}, "me", {})
        assert store.nodes.find(name="one") == []

    def test_a_row_that_went_away_can_neither_be_saved_nor_refreshed(self, store: Store) -> None:
        record = port(store, node(store))
        store.ports.delete(record.id)
        record.extra["a"] = 1
        with pytest.raises(resource_errors.PortNotFound):
            record.save()
        with pytest.raises(resource_errors.PortNotFound):
            record.refresh()

    def test_a_record_knows_its_attributes(self, store: Store) -> None:
        record = node(store)
        with pytest.raises(AttributeError):
            record.colour = "red"  # type: ignore[attr-defined]
        with pytest.raises(AttributeError):
            _ = record.colour  # type: ignore[attr-defined]

    def test_its_text_tells_nothing_but_which_it_is(self, store: Store) -> None:
        record = node(store, driver_info={"redfish_password": "secret"})
        assert repr(record) == f"<NodeRecord {record.uuid}>"

    def test_a_plain_copy_shares_nothing(self, store: Store) -> None:
        record = node(store, extra={"a": [1]})
        record.as_dict()["extra"]["a"].append(2)
        assert record.extra == {"a": [1]}

    def test_a_copy_is_another_holder_of_the_row(self, store: Store) -> None:
        record = node(store, extra={"a": [1]})
        for other in (copy.copy(record), copy.deepcopy(record)):
            other.extra["a"].append(2)
            assert record.extra == {"a": [1]} and other.changes() == {"extra": {"a": [1, 2]}}

    def test_what_was_rolled_back_is_still_to_be_saved(self, store: Store) -> None:
        record = node(store)
        record.name, record.extra["a"] = "one", 1
        with pytest.raises(KeyError), store.writing():
            record.save()
            raise KeyError
        assert store.nodes.get(record.id).name is None
        record.save()
        found = store.nodes.get(record.id)
        assert (found.name, found.extra) == ("one", {"a": 1})

    def test_the_words_of_drivers(self, store: Store) -> None:
        record = node(store, driver_internal_info={"gone": 1}, power_interface="redfish")
        record.set_driver_internal_info("step", 3)
        record.timestamp_driver_internal_info("seen_at")
        assert (record.del_driver_internal_info("gone"), record.del_driver_internal_info("gone", 7)) == (1, 7)
        record.set_property("cpu_arch", "x86_64")
        record.set_instance_info("image", "i")
        record.touch_provisioning()
        found = store.nodes.get(record.id)
        assert found.properties == {"cpu_arch": "x86_64"} and found.instance_info == {"image": "i"}
        assert found.driver_internal_info["step"] == 3 and "gone" not in found.driver_internal_info
        seen_at = datetime.fromisoformat(found.driver_internal_info["seen_at"])
        assert found.provision_updated_at is not None
        assert timedelta(0) <= found.provision_updated_at - seen_at < timedelta(minutes=1)
        assert record.get_interface("power") == "redfish"

    def test_times_keep_their_microseconds_and_lose_their_zone(self, store: Store) -> None:
        moment = datetime(2026, 1, 31, 10, 20, 30, 123456)
        record = node(store, provision_updated_at=moment.replace(tzinfo=UTC))
        assert store.nodes.get(record.id).provision_updated_at == moment
        east = timezone(timedelta(hours=2))
        record.inspection_started_at = moment.replace(tzinfo=east)
        record.save()
        assert store.nodes.get(record.id).inspection_started_at == moment - timedelta(hours=2)
        assert record.changes() == {}
