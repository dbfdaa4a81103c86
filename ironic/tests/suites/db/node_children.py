"""What belongs to a node: inventory, history, traits, ports; and that all of it goes with the node."""

import orjson
import pytest
import sqlalchemy as sa

from ironic.core import errors
from ironic.db import Store, tables
from ironic.tests.databases import counting_statements
from ironic.tests.suites.db.samples import node, port

CHILDREN = (
    "ports",
    "portgroups",
    "node_inventory",
    "node_history",
    "node_traits",
    "node_bmc_addresses",
    "bios_settings",
    "firmware_information",
)


def counts(store: Store) -> list[int]:
    with store.reading() as connection:
        return [
            connection.execute(sa.select(sa.func.count()).select_from(tables.metadata.tables[name])).scalar_one()
            for name in CHILDREN
        ]


class ChildrenSuite:
    def test_everything_of_a_node_goes_with_it(self, store: Store) -> None:
        gone, stays = node(store), node(store)
        for owner in (gone, stays):
            group = store.portgroups.create({"node_id": owner.id})
            port(store, owner, portgroup_id=group.id)
            port(store, owner)
            store.inventories.put(owner.id, {}, {})
            store.history.add(owner.id, event="e", event_type="t", severity="INFO", conductor="h")
            store.traits.replace(owner.id, ["CUSTOM_A"])
            store.nodes.set_bmc_addresses(owner.id, ["192.0.2.1"])
            store.bios_settings.sync(owner.id, [{"name": "virt"}])
            store.firmware.sync(owner.id, [{"component": "bmc"}])
        assert counts(store) == [4, 2, 2, 2, 2, 2, 2, 2]
        store.nodes.delete(gone.uuid)
        assert counts(store) == [2, 1, 1, 1, 1, 1, 1, 1]

    @pytest.mark.demand("S67")
    def test_a_node_has_one_inventory_the_newest(self, store: Store) -> None:
        owner = node(store)
        assert store.inventories.texts(owner.id) is None
        store.inventories.put(owner.id, {"cpu": {"count": 1}}, {"logs": ["ä"]})
        store.inventories.put(owner.id, {"cpu": {"count": 2}}, {"logs": []})
        assert store.inventories.texts(owner.id) == ('{"cpu":{"count":2}}', '{"logs":[]}')
        row = {"node_id": owner.id, "created_at": store.clock()}
        with pytest.raises(Exception, match="(?i)unique|duplicate"), store.writing() as connection:
            connection.execute(sa.insert(tables.node_inventory).values(row))
        assert counts(store)[CHILDREN.index("node_inventory")] == 1
        store.nodes.delete(owner.id)
        assert counts(store)[CHILDREN.index("node_inventory")] == 0

    def test_an_inventory_can_be_large_and_forgotten(self, store: Store) -> None:
        owner = node(store)
        inventory = {"lines": ["x" * 1000] * 300}
        store.inventories.put(owner.id, inventory, {})
        texts = store.inventories.texts(owner.id)
        assert texts is not None and orjson.loads(texts[0]) == inventory
        store.inventories.delete(owner.id)
        assert store.inventories.texts(owner.id) is None

    def test_an_inventory_without_json_form_is_refused(self, store: Store) -> None:
        owner = node(store)
        with pytest.raises(errors.InvalidParameterValue, match="plugin_data"):
            store.inventories.put(owner.id, {}, {"large": 2**64})
        assert store.inventories.texts(owner.id) is None

    def test_history_keeps_what_is_said(self, store: Store) -> None:
        owner = node(store)
        said = {"event": "e", "event_type": "provisioning", "severity": "ERROR", "conductor": "h", "user": "u"}
        with counting_statements(store) as seen:
            store.history.add(owner.id, **said, project="p", state="cleaning", target="available")
        assert (seen.selects, seen.writes, seen.commits) == (0, 1, 1)
        (entry,) = store.history.find(node_id=owner.id)
        assert {name: getattr(entry, name) for name in said} == said
        assert (entry.project, entry.state, entry.target_provision_state) == ("p", "cleaning", "available")
        assert store.history.get(entry.uuid).created_at == entry.created_at
        with pytest.raises(errors.NodeHistoryNotFound):
            store.history.get(owner.uuid)

    def test_history_never_refuses_a_text(self, store: Store) -> None:
        owner = node(store)
        bad = "\0\ud800" + "x" * 70_000
        store.history.add(owner.id, event=bad, event_type=bad, severity="ERROR", conductor=bad, user=bad)
        (entry,) = store.history.find(node_id=owner.id)
        assert entry.event == "?" + "x" * (64 * 1024 - 1)
        assert (len(entry.event_type or ""), len(entry.user or "")) == (255, 64)

    def test_traits_are_a_sorted_set(self, store: Store) -> None:
        one, two, none = node(store), node(store), node(store)
        store.traits.replace(one.id, ["CUSTOM_B", "CUSTOM_A", "CUSTOM_B"])
        store.traits.add(two.id, "CUSTOM_C")
        store.traits.add(two.id, "CUSTOM_C")
        with counting_statements(store) as seen:
            found = store.traits.of([one.id, two.id, none.id])
        assert (found, seen.selects) == (
            {one.id: ["CUSTOM_A", "CUSTOM_B"], two.id: ["CUSTOM_C"], none.id: []},
            1,
        )
        store.traits.remove(one.id, "CUSTOM_A")
        with pytest.raises(errors.NodeTraitNotFound):
            store.traits.remove(one.id, "CUSTOM_A")
        store.traits.replace(two.id, [])
        assert store.traits.of([one.id, two.id]) == {one.id: ["CUSTOM_B"], two.id: []}
        assert store.traits.of([]) == {}
