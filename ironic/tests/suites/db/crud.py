"""Create, get, update, delete; what is refused and how."""

import uuid

import pytest

from ironic.core import errors
from ironic.core.errors import resource_errors
from ironic.db import Store
from ironic.tests.suites.db.samples import node, port


class CrudSuite:
    def test_it_fills_identity_time_and_defaults(self, store: Store) -> None:
        made = node(store)
        assert uuid.UUID(made.uuid).version == 4
        assert made.created_at == store.nodes.get(made.id).created_at
        assert (made.updated_at, made.provision_state, made.maintenance, made.conductor_group) == (
            None,
            "enroll",
            False,
            "",
        )

    def test_what_was_created_is_what_is_read(self, store: Store) -> None:
        made = node(store, name="one", driver_info={"password": "x"}, extra={"a": [1, 2.5, None, "ä"]})
        assert store.nodes.get(made.uuid).as_dict() == made.as_dict()

    def test_a_node_is_found_by_id_uuid_and_name(self, store: Store) -> None:
        made = node(store, name="one")
        assert {store.nodes.get(ident).uuid for ident in (made.id, made.uuid, "one")} == {made.uuid}

    def test_a_port_is_found_by_name(self, store: Store) -> None:
        made = port(store, node(store), name="eth0")
        assert store.ports.get("eth0").id == made.id

    @pytest.mark.parametrize("ident", [4711, "nobody", "8a2cd4a3-7f25-4a37-8d6e-2a0a6c5a8b10", "ä"])
    def test_an_absent_node_is_named_in_the_error(self, store: Store, ident: str | int) -> None:
        with pytest.raises(errors.NodeNotFound) as caught:
            store.nodes.get(ident)
        assert caught.value.facts == {"node": ident}

    def test_names_differ_by_case(self, store: Store) -> None:
        node(store, name="One")
        node(store, name="one")
        with pytest.raises(errors.NodeNotFound):
            store.nodes.get("ONE")

    @pytest.mark.parametrize(
        ("column", "value", "error"),
        [
            ("uuid", "8a2cd4a3-7f25-4a37-8d6e-2a0a6c5a8b10", errors.NodeAlreadyExists),
            ("name", "one", errors.DuplicateName),
            ("instance_uuid", "8a2cd4a3-7f25-4a37-8d6e-2a0a6c5a8b10", errors.InstanceAssociated),
        ],
    )
    def test_a_value_of_a_node_that_is_taken_is_refused(
        self, store: Store, column: str, value: str, error: type[errors.IronicError]
    ) -> None:
        node(store, **{column: value})
        other = node(store)
        with pytest.raises(error) as caught:
            node(store, **{column: value})
        assert value in caught.value.facts.values()
        with pytest.raises(error):
            store.nodes.update(other.id, {column: value})
        assert store.nodes.count() == 2

    @pytest.mark.parametrize(
        ("column", "value", "error"),
        [
            ("uuid", "8a2cd4a3-7f25-4a37-8d6e-2a0a6c5a8b10", resource_errors.PortAlreadyExists),
            ("name", "eth0", errors.DuplicateName),
            ("address", "52:54:00:aa:bb:cc", resource_errors.MACAlreadyExists),
        ],
    )
    def test_a_value_of_a_port_that_is_taken_is_refused(
        self, store: Store, column: str, value: str, error: type[errors.IronicError]
    ) -> None:
        owner = node(store)
        port(store, owner, **{column: value})
        with pytest.raises(error) as caught:
            port(store, owner, **{column: value})
        assert value in caught.value.facts.values()

    def test_values_that_are_not_given_are_never_taken(self, store: Store) -> None:
        for _ in range(2):
            node(store, name=None, instance_uuid=None)
        assert store.nodes.count(name=None) == 2

    def test_a_port_needs_its_node(self, store: Store) -> None:
        with pytest.raises(errors.NodeNotFound):
            store.ports.create({"node_id": 4711, "address": "52:54:00:00:00:01"})

    def test_an_unknown_column_is_a_mistake_of_the_program(self, store: Store) -> None:
        for act in (
            lambda: node(store, colour="red"),
            lambda: store.nodes.update(1, {"colour": "red"}),
            lambda: store.nodes.rows(["colour"]),
            lambda: store.nodes.rows(["id"], filters={"colour": "red"}),
            lambda: store.nodes.rows(["id"], sort_key="colour"),
            lambda: store.nodes.rows(["id"], sort_dir="up"),
        ):
            with pytest.raises(TypeError):
                act()

    def test_an_update_changes_what_it_names_and_the_time(self, store: Store) -> None:
        made = node(store, name="one", extra={"a": 1})
        assert store.nodes.update("one", {"extra": {"b": 2}, "maintenance": True})
        found = store.nodes.get(made.id)
        assert (found.extra, found.maintenance, found.name) == ({"b": 2}, True, "one")
        assert found.updated_at is not None and found.updated_at >= made.created_at

    def test_an_update_holds_only_under_its_conditions(self, store: Store) -> None:
        made = node(store, owner="me")
        assert not store.nodes.update(made.id, {"owner": "you"}, where={"owner": "them"})
        assert not store.nodes.update(made.id, {"owner": "you"}, where={"owner": None})
        assert not store.nodes.update(made.id, {"owner": "you"}, where={"provision_state": ["active", "available"]})
        assert store.nodes.get(made.id).owner == "me"
        where = {"owner": "me", "lessee": None, "provision_state": ["enroll", "available"]}
        assert store.nodes.update(made.id, {"owner": "you"}, where=where)
        assert store.nodes.get(made.id).owner == "you"

    def test_an_update_of_nothing_is_false(self, store: Store) -> None:
        assert not store.nodes.update("nobody", {"owner": "you"})

    def test_deleting_says_when_there_is_nothing(self, store: Store) -> None:
        made = node(store, name="one")
        store.nodes.delete("one")
        with pytest.raises(errors.NodeNotFound):
            store.nodes.delete(made.uuid)

    def test_a_chassis_with_nodes_stays(self, store: Store) -> None:
        rack = store.chassis.create({"description": "rack"})
        held = node(store, chassis_id=rack.id)
        with pytest.raises(resource_errors.ChassisNotEmpty):
            store.chassis.delete(rack.uuid)
        store.nodes.delete(held.id)
        store.chassis.delete(rack.uuid)
        with pytest.raises(resource_errors.ChassisNotFound):
            store.chassis.get(rack.uuid)

    def test_a_port_group_with_ports_stays(self, store: Store) -> None:
        owner = node(store)
        group = store.portgroups.create({"node_id": owner.id, "name": "bond0"})
        member = port(store, owner, portgroup_id=group.id)
        with pytest.raises(resource_errors.PortgroupNotEmpty):
            store.portgroups.delete("bond0")
        store.ports.delete(member.id)
        store.portgroups.delete("bond0")
        with pytest.raises(resource_errors.PortgroupNotFound):
            store.portgroups.delete("bond0")

    def test_virtual_columns_come_from_other_tables(self, store: Store) -> None:
        rack = store.chassis.create({})
        owner = node(store, chassis_id=rack.id)
        group = store.portgroups.create({"node_id": owner.id})
        inside, outside = port(store, owner, portgroup_id=group.id), port(store, owner)
        assert store.nodes.row(["uuid", "chassis_uuid", "allocation_uuid"], owner.id) == (owner.uuid, rack.uuid, None)
        assert store.portgroups.rows(["node_uuid"]) == [(owner.uuid,)]
        assert store.ports.rows(["uuid", "node_uuid", "portgroup_uuid"]) == [
            (inside.uuid, owner.uuid, group.uuid),
            (outside.uuid, owner.uuid, None),
        ]

    def test_rules_are_kept_and_cleared(self, store: Store) -> None:
        actions = [{"op": "fail", "args": {"msg": "no"}}]
        rule = store.rules.create({"actions": actions, "scope": "rack1"})
        found = store.rules.get(rule.uuid)
        assert (found.actions, found.conditions, found.phase, found.priority) == (actions, [], "main", 0)
        with pytest.raises(resource_errors.InspectionRuleAlreadyExists):
            store.rules.create({"actions": actions, "uuid": rule.uuid})
        assert store.rules.clear() == 1
        with pytest.raises(resource_errors.InspectionRuleNotFound):
            store.rules.get(rule.uuid)
