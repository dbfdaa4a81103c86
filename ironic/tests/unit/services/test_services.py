"""Units of work: rows that belong together are written together, and a node that is held is left alone."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core import states
from ironic.core.allocation import Wanted
from ironic.core.errors import Conflict, InvalidParameterValue, NodeLocked, NodeNotEditable
from ironic.core.resource_errors import AllocationImpossible, AllocationNotFound, NodeTraitNotFound, NotPoweredOff
from ironic.db import NodeRecord, Store
from ironic.services import agent_tokens, allocations, nodes, parts, records, traits
from ironic.services.nodes import Patience
from ironic.tests.databases import sqlite_store

AT_ONCE = Patience(1, 0)
PATIENT = Patience(50, 0.1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = sqlite_store(tmp_path)
    yield made
    made.close()


def node(store: Store, **values: Any) -> str:
    values = {"driver": "fake-hardware", "provision_state": states.AVAILABLE, "power_state": "power off", **values}
    return store.nodes.create(values).uuid


def nothing(_record: NodeRecord) -> None:
    pass


def test_a_node_that_is_held_is_refused_after_a_while(store: Store) -> None:
    uuid = node(store)
    store.nodes.reserve(uuid, "c1", purpose="something")
    with pytest.raises(NodeLocked, match="something"):
        nodes.change_free(store, uuid, nothing, AT_ONCE)


def test_a_node_that_is_given_back_is_changed(store: Store) -> None:
    uuid = node(store)
    held = store.nodes.reserve(uuid, "c1", purpose="something")
    giver = threading.Timer(0.2, lambda: store.nodes.release(held, "c1"))
    giver.start()
    nodes.set_maintenance(store, uuid, PATIENT, on=True, reason="why")
    giver.join()
    found = store.nodes.get(uuid)
    assert (found.maintenance, found.maintenance_reason) == (True, "why")


def test_what_is_refused_in_a_change_changes_nothing(store: Store) -> None:
    uuid = node(store, name="before")

    def change(record: NodeRecord) -> None:
        record.name = "after"
        store.traits.add(record.id, "CUSTOM_A")
        raise Conflict()

    with pytest.raises(Conflict):
        nodes.change_free(store, uuid, change, AT_ONCE)
    found = store.nodes.get(uuid)
    assert (found.name, store.traits.of([found.id])[found.id]) == ("before", [])


def test_the_end_of_maintenance_ends_its_reason_and_fault(store: Store) -> None:
    uuid = node(store, maintenance=True, maintenance_reason="why", fault="clean failure")
    nodes.set_maintenance(store, uuid, AT_ONCE, on=False)
    found = store.nodes.get(uuid)
    assert (found.maintenance, found.maintenance_reason, found.fault) == (False, None, None)


def test_a_token_is_given_out_once_and_taken_back_only_as_itself(store: Store) -> None:
    uuid = node(store)
    token, _ = agent_tokens.hand_out(store, uuid, nothing, "192.0.2.1", AT_ONCE)
    assert token
    assert agent_tokens.hand_out(store, uuid, nothing, "192.0.2.2", AT_ONCE)[0] is None
    agent_tokens.take_back(store, uuid, "another", AT_ONCE)
    assert agent_tokens.hand_out(store, uuid, nothing, None, AT_ONCE)[0] is None
    agent_tokens.take_back(store, uuid, token, AT_ONCE)
    again, _ = agent_tokens.hand_out(store, uuid, nothing, None, AT_ONCE)
    assert again not in (None, token)


def test_a_node_has_fifty_traits_at_most(store: Store) -> None:
    uuid, many = node(store), [f"CUSTOM_{number}" for number in range(50)]
    traits.give_node(store, uuid, many, AT_ONCE)
    traits.add_to_node(store, uuid, "CUSTOM_7", AT_ONCE)
    with pytest.raises(InvalidParameterValue, match="50"):
        traits.add_to_node(store, uuid, "CUSTOM_50", AT_ONCE)
    with pytest.raises(NodeTraitNotFound):
        traits.take_from_node(store, uuid, "CUSTOM_50", AT_ONCE)
    with pytest.raises(InvalidParameterValue, match="50"):
        traits.give_node(store, uuid, [*many, "CUSTOM_50"], AT_ONCE)


def asked(store: Store, **values: Any) -> Any:
    return store.allocations.create({"state": "allocating", "resource_class": "x", **values})


def test_of_two_allocations_one_gets_the_node(store: Store) -> None:
    uuid = node(store, resource_class="x")
    record, (first, second) = store.nodes.get(uuid), (asked(store, traits=["CUSTOM_A"]), asked(store))
    wanted = Wanted("x")
    with store.writing():
        assert allocations.take_node(store, record.id, first, wanted) is None
    with store.writing():
        assert "is on it" in (allocations.take_node(store, record.id, second, wanted) or "")
    taken = store.nodes.get(uuid)
    assert (taken.instance_uuid, taken.allocation_id) == (first.uuid, first.id)
    assert taken.instance_info == {"traits": ["CUSTOM_A"]}


def test_what_is_deployed_is_written_down_once_and_ended(store: Store) -> None:
    uuid = node(store, provision_state=states.ACTIVE, resource_class="x")
    values: dict[str, Any] = {"resource_class": "x", "candidate_nodes": [], "owner": None}
    made = allocations.write_down(store, uuid, values, AT_ONCE)
    assert store.nodes.get(uuid).instance_uuid == made.uuid
    with pytest.raises(AllocationImpossible):
        allocations.write_down(store, uuid, values, AT_ONCE)
    with pytest.raises(NodeNotEditable):
        allocations.end(store, made.uuid, AT_ONCE)
    nodes.set_maintenance(store, uuid, AT_ONCE, on=True)
    allocations.end(store, made.uuid, AT_ONCE)
    freed = store.nodes.get(uuid)
    assert (freed.instance_uuid, freed.allocation_id, freed.instance_info) == (None, None, {})
    with pytest.raises(AllocationNotFound):
        allocations.end(store, made.uuid, AT_ONCE)


def test_the_allocation_goes_with_the_instance_of_its_node(store: Store) -> None:
    uuid = node(store, provision_state=states.ACTIVE, owner="p")
    made = allocations.write_down(store, uuid, {"candidate_nodes": [], "owner": "p"}, AT_ONCE)
    with pytest.raises(NodeNotEditable, match="change hands"):
        nodes.change_free(store, uuid, lambda one: allocations.follow(store, one, {"owner": "q"}), AT_ONCE)
    nodes.change_free(store, uuid, lambda one: allocations.follow(store, one, {"instance_uuid": None}), AT_ONCE)
    with pytest.raises(AllocationNotFound):
        store.allocations.get(made.uuid)


def test_volumes_of_a_running_machine_stay(store: Store) -> None:
    uuid = node(store, power_state="power on")
    values = {"node_id": store.nodes.get(uuid).id, "type": "iqn", "connector_id": "a"}
    made = parts.add(store, store.volume_connectors, lambda: values)
    connectors = store.volume_connectors
    with pytest.raises(NotPoweredOff):
        parts.change_volume(store, connectors, made.uuid, "connector", lambda *_: {"connector_id": "b"}, AT_ONCE)
    with pytest.raises(NotPoweredOff):
        parts.delete_volume(store, connectors, made.uuid, "connector", AT_ONCE)
    store.nodes.update(uuid, {"power_state": "power off"})
    parts.change_volume(store, connectors, made.uuid, "connector", lambda *_: {"connector_id": "b"}, AT_ONCE)
    assert connectors.get(made.uuid).connector_id == "b"
    parts.delete_volume(store, connectors, made.uuid, "connector", AT_ONCE)
    assert connectors.find() == []


def test_a_row_is_changed_as_it_is_judged(store: Store) -> None:
    chassis = store.chassis.create({"description": "a"})
    changed = records.change(store, store.chassis, chassis.uuid, lambda one: {"description": f"{one.description}b"})
    assert changed.description == store.chassis.get(chassis.uuid).description == "ab"


def test_the_steps_of_a_list_are_written_with_it(store: Store) -> None:
    step = {"interface": "bios", "step": "reset", "args": {}, "priority": 1}
    made = store.deploy_templates.create_with({"name": "CUSTOM_A"}, [step])
    change = {"name": "CUSTOM_B", "steps": [{**step, "priority": 2}]}
    records.change_step_list(store, store.deploy_templates, made.uuid, lambda _one: change)
    assert store.deploy_templates.get("CUSTOM_B").uuid == made.uuid
    assert store.deploy_templates.steps.of([made.id])[made.id][0]["priority"] == 2
    assert change["steps"]
