"""Named filters."""

from datetime import timedelta
from typing import Any

import pytest

from ironic.core.hardware_interfaces import KINDS
from ironic.db import Store
from ironic.tests.suites.db.samples import node, port

INSTANCE = "8a2cd4a3-7f25-4a37-8d6e-2a0a6c5a8b10"


class FilterSuite:
    @pytest.mark.parametrize(
        ("values", "matching", "other"),
        [
            ({"instance_uuid": INSTANCE}, {"associated": True}, {"associated": False}),
            ({"instance_uuid": INSTANCE}, {"instance_uuid": INSTANCE}, {"instance_uuid": INSTANCE[::-1]}),
            ({"instance_name": "web"}, {"instance_name": "web"}, {"instance_name": "Web"}),
            ({"maintenance": True}, {"maintenance": True}, {"maintenance": False}),
            ({"retired": True}, {"retired": True}, {"retired": False}),
            ({"provision_state": "active"}, {"provision_state": "active"}, {"provision_state": "enroll"}),
            ({"provision_state": "active"}, {"provision_state_in": ["x", "active"]}, {"provision_state_in": []}),
            ({"power_state": None}, {"power_state": None}, {"power_state": "power on"}),
            ({"driver": "ipmi"}, {"driver": "ipmi"}, {"driver": "redfish"}),
            ({"resource_class": "gold"}, {"resource_class": "gold"}, {"resource_class": "tin"}),
            ({"fault": "clean failure"}, {"fault": "clean failure"}, {"fault": "power failure"}),
            ({"conductor_group": "g"}, {"conductor_group": "g"}, {"conductor_group": ""}),
            ({"owner": "o", "lessee": "l"}, {"owner": "o", "lessee": "l"}, {"owner": "l"}),
            ({"owner": "p"}, {"project": "p"}, {"project": "q"}),
            ({"lessee": "p"}, {"project": "p"}, {"project": "q"}),
            (
                {"description": "Rack 7% left_over"},
                {"description_contains": "7% LEFT_"},
                {"description_contains": "7%o"},
            ),
            ({"description": "a/b"}, {"description_contains": "a/b"}, {"description_contains": "a_b"}),
            ({"driver_internal_info": {"a_key": {"b": 1}}}, {"remembers": "a_key"}, {"remembers": "a-key"}),
            ({"shard": "s1"}, {"shard": ["s0", "s1"]}, {"shard": ["s0"]}),
            ({"shard": "s1"}, {"shard": "s1"}, {"shard": "s"}),
            ({"shard": "s1"}, {"sharded": True}, {"sharded": False}),
            ({"parent_node": INSTANCE}, {"parent_node": INSTANCE}, {"top_level": True}),
            ({"parent_node": INSTANCE}, {"top_level": False}, {"parent_node": None}),
            ({"reservation": "host"}, {"reserved": True}, {"reserved": False}),
            ({"reservation": "host"}, {"reservation": "host"}, {"reservation": None}),
            ({"auto_discovered": True}, {"auto_discovered": True}, {"auto_discovered": False}),
            *(({f"{kind}_interface": "x"}, {f"{kind}_interface": "x"}, {f"{kind}_interface": "y"}) for kind in KINDS),
        ],
    )
    def test_a_node_matches_or_not(
        self, store: Store, values: dict[str, Any], matching: dict[str, Any], other: dict[str, Any]
    ) -> None:
        made = node(store, name="it", **values)
        assert [found.id for found in store.nodes.find(**matching)] == [made.id]
        assert store.nodes.find(**matching, name="another") == []
        assert store.nodes.find(**other) == []

    def test_nodes_are_counted_by_shard(self, store: Store) -> None:
        assert store.nodes.count_by_shard() == []
        for shard in ("s1", None, "s2", "s1"):
            node(store, shard=shard)
        assert dict(store.nodes.count_by_shard()) == {None: 1, "s1": 2, "s2": 1}

    def test_nodes_by_identity_chassis_and_time(self, store: Store) -> None:
        rack = store.chassis.create({})
        now = store.clock.now()
        one = node(store, chassis_id=rack.id, provision_updated_at=now - timedelta(hours=1))
        two = node(store, provision_updated_at=now)
        never = node(store)
        assert [r.id for r in store.nodes.find(uuid_in=[two.uuid, one.uuid])] == [one.id, two.id]
        assert [r.id for r in store.nodes.find(id_in=[never.id])] == [never.id]
        assert [r.id for r in store.nodes.find(chassis_uuid=rack.uuid)] == [one.id]
        assert store.nodes.find(chassis_uuid=one.uuid) == []
        assert [r.id for r in store.nodes.find(provision_updated_before=now - timedelta(minutes=1))] == [one.id]

    def test_filters_are_joined_by_and(self, store: Store) -> None:
        node(store, owner="o")
        both = node(store, owner="o", maintenance=True)
        assert store.nodes.rows(["id"], filters={"owner": "o", "maintenance": True}) == [(both.id,)]
        assert store.nodes.count(owner="o") == 2

    def test_ports_match_by_themselves_and_by_their_node(self, store: Store) -> None:
        mine = node(store, shard="s1", conductor_group="g1", owner="me")
        yours = node(store, lessee="me")
        group = store.portgroups.create({"node_id": mine.id})
        one = port(store, mine, portgroup_id=group.id, description="left")
        two = port(store, yours, pxe_enabled=False)
        for filters, expected in (
            ({"node_id": mine.id}, [one]),
            ({"node_id": [mine.id, yours.id]}, [one, two]),
            ({"node_uuid": yours.uuid}, [two]),
            ({"address": one.address}, [one]),
            ({"address": [one.address, two.address]}, [one, two]),
            ({"uuid_in": [two.uuid]}, [two]),
            ({"portgroup_uuid": group.uuid}, [one]),
            ({"portgroup_id": None}, [two]),
            ({"pxe_enabled": False}, [two]),
            ({"shard": ["s1", "s2"]}, [one]),
            ({"conductor_groups": ["g1"]}, [one]),
            ({"conductor_groups": [""]}, [two]),
            ({"project": "me"}, [one, two]),
            ({"description_contains": "EF"}, [one]),
        ):
            assert [found.id for found in store.ports.find(**filters)] == [p.id for p in expected], filters

    def test_port_groups_and_rules(self, store: Store) -> None:
        owner = node(store)
        group = store.portgroups.create({"node_id": owner.id, "address": "52:54:00:00:00:01"})
        store.portgroups.create({"node_id": node(store).id})
        for filters in ({"node_id": owner.id}, {"node_uuid": owner.uuid}, {"address": group.address}):
            assert [found.id for found in store.portgroups.find(**filters)] == [group.id]
        early = store.rules.create({"actions": [], "phase": "early"})
        scoped = store.rules.create({"actions": [], "scope": "rack1"})
        assert [rule.id for rule in store.rules.find(phase="early")] == [early.id]
        assert [rule.id for rule in store.rules.find(scope="rack1")] == [scoped.id]
        assert [rule.id for rule in store.rules.find(scope=None, phase="early")] == [early.id]

    def test_by_macs_finds_each_owner_once(self, store: Store) -> None:
        one, two = node(store), node(store)
        macs = [port(store, one).address.upper(), port(store, one).address, port(store, two).address]
        port(store, node(store))
        assert [row.uuid for row in store.nodes.by_macs(macs)] == [one.uuid, two.uuid]
        assert store.nodes.by_macs([]) == []
        (row,) = store.nodes.by_macs(macs[2:])
        assert row == (two.id, two.uuid, None, "enroll", "fake-hardware", "")

    @pytest.mark.parametrize("text", ["' OR '1'='1", "x'); DELETE FROM nodes; --", '" OR 1=1 --', "%", "\\' OR 1=1 --"])
    def test_what_a_look_up_brings_is_no_part_of_a_statement(self, store: Store, text: str) -> None:
        one = node(store)
        address = port(store, one).address
        store.nodes.set_bmc_addresses(one.id, ["192.0.2.1"])
        assert store.nodes.by_macs([text]) == []
        assert store.nodes.by_bmc_addresses([text], text) == []
        assert [row.uuid for row in store.nodes.by_macs([address])] == [one.uuid]

    @pytest.mark.demand("S78")
    def test_by_bmc_addresses_looks_only_at_nodes_in_the_state(self, store: Store) -> None:
        waiting = node(store, provision_state="inspect wait")
        active = node(store, provision_state="active")
        for held in (waiting, active):
            store.nodes.set_bmc_addresses(held.id, ["192.0.2.1", "2001:db8::1", "192.0.2.1"])
        found = store.nodes.by_bmc_addresses(["2001:db8::1", "192.0.2.1"], "inspect wait")
        assert [row.id for row in found] == [waiting.id]
        store.nodes.set_bmc_addresses(waiting.id, ["192.0.2.2"])
        assert store.nodes.bmc_addresses(waiting.id) == ["192.0.2.2"]
        assert store.nodes.by_bmc_addresses(["192.0.2.1"], "inspect wait") == []
        store.nodes.set_bmc_addresses(waiting.id, [])
        assert store.nodes.bmc_addresses(waiting.id) == []
