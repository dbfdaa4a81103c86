"""What belongs to a node: inventory, history, traits, ports; and that all of it goes with the node."""

import datetime
import uuid
from typing import Any

import orjson
import pytest
import sqlalchemy as sa

from ironic.core import errors
from ironic.core.errors import resource_errors
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
        row = {"node_id": owner.id, "created_at": store.clock.now()}
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

    def test_ports_of_a_node_are_made_in_one_statement_or_not_at_all(self, store: Store) -> None:
        owner, other = node(store), node(store)
        macs = [f"52:54:00:aa:00:{number:02x}" for number in range(40)]
        new = [{"uuid": str(uuid.uuid4()), "node_id": owner.id, "address": mac, "extra": {"n": 1}} for mac in macs]
        with counting_statements(store) as seen:
            store.ports.create_all(new)
        assert (seen.selects, seen.writes, seen.commits) == (0, 1, 1)
        assert [(one.address, one.extra, one.pxe_enabled) for one in store.ports.find(node_id=owner.id)] == [
            (mac, {"n": 1}, True) for mac in macs
        ]
        fresh = [
            {"uuid": str(uuid.uuid4()), "node_id": other.id, "address": mac} for mac in ("52:54:00:bb:00:01", macs[7])
        ]
        with pytest.raises(resource_errors.MACAlreadyExists, match=macs[7]):
            store.ports.create_all(fresh)
        with pytest.raises(resource_errors.MACAlreadyExists, match=macs[7]), store.writing():
            store.nodes.update(other.id, {"description": "x"})
            store.ports.create_all(fresh)
        twice = [{"uuid": str(uuid.uuid4()), "node_id": other.id, "address": "52:54:00:bb:00:02"} for _ in range(2)]
        with pytest.raises(resource_errors.MACAlreadyExists, match="52:54:00:bb:00:02"):
            store.ports.create_all(twice)
        assert store.ports.find(node_id=other.id) == []
        assert store.nodes.get(other.id).description is None

    @pytest.mark.demand("S113")
    def test_old_inventories_are_forgotten_the_oldest_first(self, store: Store) -> None:
        owners = [node(store) for _ in range(4)]
        day = datetime.timedelta(days=1)
        now = store.clock.now()
        for age, owner in enumerate(owners):
            store.inventories.put(owner.id, {"n": age}, {})
            old = sa.update(tables.node_inventory).where(tables.node_inventory.c.node_id == owner.id)
            with store.writing() as connection:
                connection.execute(old.values(created_at=now - age * day, updated_at=None))
        store.inventories.put(owners[3].id, {"n": "new"}, {})
        removed = [store.inventories.delete_older(now - day / 2, 1) for _ in range(3)]
        assert removed == [1, 1, 0]
        assert [store.inventories.texts(owner.id) is not None for owner in owners] == [True, False, False, True]

    def test_a_very_large_inventory_is_kept_or_clearly_refused(self, store: Store) -> None:
        owner = node(store)
        text = {"x": "y" * 9_000_000}
        for number in range(2):  # a server that takes 16 MiB in a statement takes it the second time as well
            store.inventories.put(owner.id, text, {"n": number})
        found = store.inventories.texts(owner.id)
        assert found is not None and len(found[0]) > 9_000_000 and found[1] == '{"n":1}'
        quotes = {"x": '"' * 6_000_000}
        if store.engine.dialect.name == "mysql":
            with pytest.raises(errors.InvalidParameterValue, match="max_allowed_packet is"):
                store.inventories.put(owner.id, quotes, {})
            assert store.inventories.texts(owner.id) == found
        else:
            store.inventories.put(owner.id, quotes, {})

    def test_an_inventory_without_json_form_is_refused(self, store: Store) -> None:
        owner = node(store)
        with pytest.raises(errors.InvalidParameterValue, match="plugin_data"):
            store.inventories.put(owner.id, {}, {"large": 2**64})
        assert store.inventories.texts(owner.id) is None

    def test_history_keeps_what_is_said(self, store: Store) -> None:
        owner = node(store)
        said: dict[str, Any] = {"event": "e", "event_type": "provisioning", "severity": "ERROR", "conductor": "h"}
        said["user"] = "u"
        with counting_statements(store) as seen:
            store.history.add(owner.id, **said, project="p", state="cleaning", target="available", seconds=7)
        assert (seen.selects, seen.writes, seen.commits) == (0, 1, 1)
        (entry,) = store.history.find(node_id=owner.id)
        assert {name: getattr(entry, name) for name in said} == said
        assert (entry.project, entry.state, entry.target_provision_state) == ("p", "cleaning", "available")
        assert entry.duration_seconds == 7
        assert store.history.get(entry.uuid).created_at == entry.created_at
        with pytest.raises(resource_errors.NodeHistoryNotFound):
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
        with pytest.raises(resource_errors.NodeTraitNotFound, match=one.uuid):
            store.traits.remove(one.id, "CUSTOM_A")
        store.traits.replace(two.id, [])
        assert store.traits.of([one.id, two.id]) == {one.id: ["CUSTOM_B"], two.id: []}
        assert store.traits.of([]) == {}
