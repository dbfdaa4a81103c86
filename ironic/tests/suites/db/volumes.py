"""Volume connectors and targets."""

from typing import Any

import pytest

from ironic.core import errors
from ironic.core.errors import resource_errors
from ironic.db import Store
from ironic.tests.databases import counting_statements
from ironic.tests.suites.db.samples import node

UUID = "8a2cd4a3-7f25-4a37-8d6e-2a0a6c5a8b10"


def connector(store: Store, node_id: int, **values: Any) -> Any:
    return store.volume_connectors.create({"node_id": node_id, "type": "iqn", "connector_id": "iqn.1"} | values)


def target(store: Store, node_id: int, **values: Any) -> Any:
    common = {"volume_type": "iscsi", "volume_id": "v1", "boot_index": 0}
    return store.volume_targets.create({"node_id": node_id} | common | values)


class VolumeSuite:
    def test_connectors_and_targets_are_kept(self, store: Store) -> None:
        owner = node(store)
        made = connector(store, owner.id, extra={"a": 1}), target(store, owner.id, properties={"iqn": "x"})
        assert store.volume_connectors.get(made[0].uuid).as_dict() == made[0].as_dict()
        assert store.volume_targets.get(made[1].id).as_dict() == made[1].as_dict()
        with counting_statements(store) as seen:
            assert store.volume_connectors.rows(["node_uuid", "type"]) == [(owner.uuid, "iqn")]
            assert store.volume_targets.rows(["node_uuid", "boot_index"]) == [(owner.uuid, 0)]
        assert seen.selects == 2

    def test_type_and_id_of_a_connector_are_unique_together(self, store: Store) -> None:
        one, two = node(store), node(store)
        connector(store, one.id, uuid=UUID)
        other = connector(store, two.id, type="ip")
        with pytest.raises(resource_errors.VolumeConnectorTypeAndIdAlreadyExists):
            connector(store, two.id)
        with pytest.raises(resource_errors.VolumeConnectorTypeAndIdAlreadyExists):
            store.volume_connectors.update(other.id, {"type": "iqn"})
        with pytest.raises(resource_errors.VolumeConnectorAlreadyExists):
            connector(store, two.id, connector_id="iqn.2", uuid=UUID)

    def test_a_boot_index_is_unique_on_its_node(self, store: Store) -> None:
        one, two = node(store), node(store)
        target(store, one.id, uuid=UUID)
        other = target(store, two.id)
        with pytest.raises(resource_errors.VolumeTargetBootIndexAlreadyExists):
            target(store, one.id)
        with pytest.raises(resource_errors.VolumeTargetBootIndexAlreadyExists):
            store.volume_targets.update(other.id, {"node_id": one.id})
        with pytest.raises(resource_errors.VolumeTargetAlreadyExists):
            target(store, one.id, boot_index=1, uuid=UUID)

    def test_they_are_found_by_node_and_project(self, store: Store) -> None:
        mine, yours = node(store, owner="me"), node(store, lessee="you")
        connectors = [connector(store, mine.id), connector(store, yours.id, connector_id="iqn.2")]
        targets = [target(store, mine.id), target(store, yours.id)]
        for filters, at in (({"node_id": mine.id}, 0), ({"project": "you"}, 1), ({"project": "me"}, 0)):
            assert [one.id for one in store.volume_connectors.find(**filters)] == [connectors[at].id]
            assert [one.id for one in store.volume_targets.find(**filters)] == [targets[at].id]
        assert store.volume_targets.find(project="nobody") == []

    def test_they_go_with_their_node_and_need_one(self, store: Store) -> None:
        owner = node(store)
        connector(store, owner.id)
        target(store, owner.id)
        store.nodes.delete(owner.uuid)
        assert (store.volume_connectors.count(), store.volume_targets.count()) == (0, 0)
        for create in (connector, target):
            with pytest.raises(errors.NodeNotFound):
                create(store, owner.id)
        with pytest.raises(resource_errors.VolumeConnectorNotFound):
            store.volume_connectors.delete(UUID)
        with pytest.raises(resource_errors.VolumeTargetNotFound):
            store.volume_targets.get(UUID)

    def test_all_targets_of_a_node_are_removed_by_one_statement(self, store: Store) -> None:
        one, two = node(store), node(store)
        target(store, one.id)
        target(store, one.id, boot_index=1)
        kept = target(store, two.id)
        connector(store, one.id)
        with counting_statements(store) as seen:
            store.volume_targets.delete_of(one.id)
        assert seen.writes == 1
        assert [left.uuid for left in store.volume_targets.find()] == [kept.uuid]
        assert store.volume_connectors.count() == 1
