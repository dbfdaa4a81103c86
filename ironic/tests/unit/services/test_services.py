"""Units of work: rows that belong together are written together, and a node that is held is left alone."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.allocation_matching import AllocationRequest
from ironic.core.context import RequestContext
from ironic.core.errors import (
    Conflict,
    InvalidParameterValue,
    NodeLocked,
    NodeNotEditable,
)
from ironic.core.errors.call_errors import ProjectsCallsWait
from ironic.core.errors.resource_errors import (
    AllocationImpossible,
    AllocationNotFound,
    NodeTraitNotFound,
    NotPoweredOff,
)
from ironic.core.flows import states
from ironic.db import NodeRecord, Store
from ironic.rpc.waiting_calls import WaitingCalls
from ironic.services import agent_tokens, allocation_binding, node_changes, row_changes
from ironic.services.node_changes import LockRetries
from ironic.tests.databases import sqlite_store

AT_ONCE = LockRetries(1, 0)
PATIENT = LockRetries(50, 0.1)


def any_number(_of: object) -> None:
    """Limit no rows."""


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
        node_changes.change_free(store, uuid, nothing, AT_ONCE)


def test_a_node_that_is_given_back_is_changed(store: Store) -> None:
    uuid = node(store)
    held = store.nodes.reserve(uuid, "c1", purpose="something")
    giver = threading.Timer(0.2, lambda: store.nodes.release(held, "c1"))
    giver.start()
    node_changes.set_maintenance(store, RequestContext(), uuid, PATIENT, on=True, reason="why")
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
        node_changes.change_free(store, uuid, change, AT_ONCE)
    found = store.nodes.get(uuid)
    assert (found.name, store.traits.of([found.id])[found.id]) == ("before", [])


def test_the_end_of_maintenance_ends_its_reason_and_fault(store: Store) -> None:
    uuid = node(store, maintenance=True, maintenance_reason="why", fault="clean failure")
    node_changes.set_maintenance(store, RequestContext(), uuid, AT_ONCE, on=False)
    found = store.nodes.get(uuid)
    assert (found.maintenance, found.maintenance_reason, found.fault) == (False, None, None)


def test_a_token_is_given_out_once_and_taken_back_only_as_itself(store: Store) -> None:
    uuid = node(store)
    token, _ = agent_tokens.issue(store, uuid, nothing, "192.0.2.1", AT_ONCE)
    assert token
    assert agent_tokens.issue(store, uuid, nothing, "192.0.2.2", AT_ONCE)[0] is None
    agent_tokens.revoke(store, uuid, "another", AT_ONCE)
    assert agent_tokens.issue(store, uuid, nothing, None, AT_ONCE)[0] is None
    agent_tokens.revoke(store, uuid, token, AT_ONCE)
    again, _ = agent_tokens.issue(store, uuid, nothing, None, AT_ONCE)
    assert again not in (None, token)


def test_a_node_has_fifty_traits_at_most(store: Store) -> None:
    uuid, many = node(store), [f"CUSTOM_{number}" for number in range(50)]
    node_changes.set_node_traits(store, uuid, many, AT_ONCE)
    node_changes.add_node_trait(store, uuid, "CUSTOM_7", AT_ONCE)
    with pytest.raises(InvalidParameterValue, match="50"):
        node_changes.add_node_trait(store, uuid, "CUSTOM_50", AT_ONCE)
    with pytest.raises(NodeTraitNotFound):
        node_changes.remove_node_traits(store, uuid, "CUSTOM_50", AT_ONCE)
    with pytest.raises(InvalidParameterValue, match="50"):
        node_changes.set_node_traits(store, uuid, [*many, "CUSTOM_50"], AT_ONCE)


def asked(store: Store, **values: Any) -> Any:
    return store.allocations.create({"state": "allocating", "resource_class": "x", **values})


def test_of_two_allocations_one_gets_the_node(store: Store) -> None:
    uuid = node(store, resource_class="x")
    record, (first, second) = store.nodes.get(uuid), (asked(store, traits=["CUSTOM_A"]), asked(store))
    wanted = AllocationRequest("x")
    with store.writing():
        assert allocation_binding.bind_node(store, record.id, first, wanted) is None
    with store.writing():
        assert "it has instance" in (allocation_binding.bind_node(store, record.id, second, wanted) or "")
    taken = store.nodes.get(uuid)
    assert (taken.instance_uuid, taken.allocation_id) == (first.uuid, first.id)
    assert taken.instance_info == {"traits": ["CUSTOM_A"]}


def test_what_is_deployed_is_written_down_once_and_ended(store: Store) -> None:
    uuid = node(store, provision_state=states.ACTIVE, resource_class="x")
    values: dict[str, Any] = {"resource_class": "x", "candidate_nodes": [], "owner": None}
    made = allocation_binding.record_deployed(store, uuid, values, AT_ONCE)
    assert store.nodes.get(uuid).instance_uuid == made.uuid
    with pytest.raises(AllocationImpossible):
        allocation_binding.record_deployed(store, uuid, values, AT_ONCE)
    with pytest.raises(NodeNotEditable):
        allocation_binding.delete(store, made.uuid, AT_ONCE)
    node_changes.set_maintenance(store, RequestContext(), uuid, AT_ONCE, on=True)
    allocation_binding.delete(store, made.uuid, AT_ONCE)
    freed = store.nodes.get(uuid)
    assert (freed.instance_uuid, freed.allocation_id, freed.instance_info) == (None, None, {})
    with pytest.raises(AllocationNotFound):
        allocation_binding.delete(store, made.uuid, AT_ONCE)


def test_the_allocation_goes_with_the_instance_of_its_node(store: Store) -> None:
    uuid = node(store, provision_state=states.ACTIVE, owner="p")
    made = allocation_binding.record_deployed(store, uuid, {"candidate_nodes": [], "owner": "p"}, AT_ONCE)
    with pytest.raises(NodeNotEditable, match="its owner can.t be changed"):
        node_changes.change_free(
            store, uuid, lambda one: allocation_binding.follow_node_change(store, one, {"owner": "q"}), AT_ONCE
        )
    node_changes.change_free(
        store, uuid, lambda one: allocation_binding.follow_node_change(store, one, {"instance_uuid": None}), AT_ONCE
    )
    with pytest.raises(AllocationNotFound):
        store.allocations.get(made.uuid)


def test_volumes_of_a_running_machine_stay(store: Store) -> None:
    uuid = node(store, power_state="power on")
    values = {"node_id": store.nodes.get(uuid).id, "type": "iqn", "connector_id": "a"}
    made = row_changes.add(store, store.volume_connectors, values, lambda values: values)
    connectors = store.volume_connectors
    # Clients look for these words.
    refused = 'The requested action "volume connector {}" can not be performed on node'
    with pytest.raises(NotPoweredOff, match=refused.format("update")):
        row_changes.change_volume(
            store, connectors, made.uuid, "volume connector", lambda *_: {"connector_id": "b"}, AT_ONCE, any_number
        )
    with pytest.raises(NotPoweredOff, match=refused.format("deletion")):
        row_changes.delete_volume(store, connectors, made.uuid, "volume connector", AT_ONCE)
    store.nodes.update(uuid, {"power_state": "power off"})
    row_changes.change_volume(
        store, connectors, made.uuid, "connector", lambda *_: {"connector_id": "b"}, AT_ONCE, any_number
    )
    assert connectors.get(made.uuid).connector_id == "b"
    row_changes.delete_volume(store, connectors, made.uuid, "connector", AT_ONCE)
    assert connectors.find() == []


def test_a_row_is_changed_as_it_is_judged(store: Store) -> None:
    chassis = store.chassis.create({"description": "a"})
    changed = row_changes.change(store, store.chassis, chassis.uuid, lambda one: {"description": f"{one.description}b"})
    assert changed.description == store.chassis.get(chassis.uuid).description == "ab"


def test_the_steps_of_a_list_are_written_with_it(store: Store) -> None:
    step = {"interface": "bios", "step": "reset", "args": {}, "priority": 1}
    made = store.deploy_templates.create_with({"name": "CUSTOM_A"}, [step])
    change = {"name": "CUSTOM_B", "steps": [{**step, "priority": 2}]}
    row_changes.change_step_list(store, store.deploy_templates, made.uuid, lambda _one: change, any_number)
    assert store.deploy_templates.get("CUSTOM_B").uuid == made.uuid
    assert store.deploy_templates.steps.of([made.id])[made.id][0]["priority"] == 2
    assert change["steps"]


def test_who_waits_for_a_locked_node_is_counted_and_may_be_refused(store: Store) -> None:
    uuid = node(store)
    store.nodes.reserve(uuid, "here")
    calls, caller = WaitingCalls(1, 66), RequestContext(project_id="a")
    retries = LockRetries(2, 0.01, lambda: calls.one_of(caller))
    with pytest.raises(NodeLocked):
        node_changes.set_maintenance(store, RequestContext(), uuid, retries, on=True)
    with calls.one_of(caller), pytest.raises(ProjectsCallsWait):
        node_changes.set_maintenance(store, RequestContext(), uuid, retries, on=True)
    assert calls.taken == 0
