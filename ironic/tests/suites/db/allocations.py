"""Allocations: looking for nodes, and who is at work on one."""

from typing import Any

import pytest

from ironic.core import errors
from ironic.core.allocation_matching import ACTIVE, ALLOCATING, ERROR, AllocationRequest
from ironic.core.errors import resource_errors
from ironic.db import AllocationRecord, NodeRecord, Store
from ironic.tests.databases import counting_statements
from ironic.tests.suites.db.samples import node

UUID = "8a2cd4a3-7f25-4a37-8d6e-2a0a6c5a8b10"


def free(store: Store, **values: Any) -> NodeRecord:
    common = {"provision_state": "available", "power_state": "power off", "resource_class": "gold"}
    return node(store, **(common | values))


def allocation(store: Store, **values: Any) -> AllocationRecord:
    return store.allocations.create({"state": ALLOCATING, "resource_class": "gold"} | values)


class AllocationSuite:
    def test_an_allocation_is_kept(self, store: Store) -> None:
        made = allocation(store, name="a", traits=["CUSTOM_A"], candidate_nodes=[UUID], extra={"x": 1}, owner="me")
        assert store.allocations.get("a").as_dict() == made.as_dict()
        owner = node(store)
        store.allocations.update(made.id, {"node_id": owner.id, "state": ACTIVE})
        assert store.allocations.row(["node_uuid", "state"], made.uuid) == (owner.uuid, ACTIVE)
        for filters in ({"state": ACTIVE}, {"owner": "me"}, {"resource_class": "gold"}, {"node_id": owner.id}):
            assert [one.id for one in store.allocations.find(**filters)] == [made.id]
        assert store.allocations.find(state=ERROR) == []
        with pytest.raises(errors.DuplicateName):
            allocation(store, name="a")
        with pytest.raises(resource_errors.AllocationAlreadyExists):
            allocation(store, uuid=made.uuid)
        with pytest.raises(resource_errors.AllocationNotFound):
            store.allocations.get(UUID)

    @pytest.mark.parametrize(
        "unlike",
        [
            {"provision_state": "active"},
            {"maintenance": True},
            {"instance_uuid": UUID},
            {"power_state": None},
            {"power_state": "error"},
            {"resource_class": "Gold"},
            {"resource_class": None},
        ],
    )
    def test_candidates_are_free_nodes_of_the_class(self, store: Store, unlike: dict[str, Any]) -> None:
        fits, held = free(store, name="fits"), free(store, reservation="another-host")
        free(store, **unlike)
        with counting_statements(store) as seen:
            found = store.allocations.candidates(AllocationRequest("gold"))
        assert found == [(fits.id, fits.uuid, "fits"), (held.id, held.uuid, None)]
        assert seen.selects == 1

    def test_candidates_have_all_traits_are_named_and_belong(self, store: Store) -> None:
        both, one = free(store, owner="me"), free(store, lessee="me")
        store.traits.replace(both.id, ["CUSTOM_A", "CUSTOM_B", "CUSTOM_C"])
        store.traits.replace(one.id, ["CUSTOM_A", "CUSTOM_C"])
        neither = free(store)
        for wanted, expected in (
            (AllocationRequest("gold", traits=["CUSTOM_A", "CUSTOM_B", "CUSTOM_A"]), [both]),
            (AllocationRequest("gold", traits=["CUSTOM_A"]), [both, one]),
            (AllocationRequest("gold", candidates=[neither.uuid, both.uuid]), [both, neither]),
            (AllocationRequest("gold", owner="me"), [both, one]),
            (AllocationRequest("gold", owner="me", candidates=[neither.uuid]), []),
        ):
            assert [row.id for row in store.allocations.candidates(wanted)] == [each.id for each in expected]

    def test_nodes_are_named_by_uuid_or_name(self, store: Store) -> None:
        one, two = node(store, name="one", owner="me"), node(store, lessee="me")
        other = node(store, name="other")
        assert store.allocations.uuids_of(["one", two.uuid, "nope"]) == {
            "one": one.uuid,
            one.uuid: one.uuid,
            two.uuid: two.uuid,
        }
        assert store.allocations.uuids_of(["one", "other"], "me").keys() == {"one", one.uuid}
        assert store.allocations.uuids_of([other.uuid], "me") == {}
        assert store.allocations.uuids_of([]) == {}

    def test_only_one_conductor_claims_and_only_it_finishes(self, store: Store, other: Store) -> None:
        ids = {host: store.conductors.register(host, "", [], []) for host in ("c1", "c2")}
        made = allocation(store)
        assert store.allocations.claim(made.id, "c1", after=None)
        assert not other.allocations.claim(made.id, "c2", after=None)
        assert store.allocations.get(made.id).conductor_affinity == ids["c1"]
        assert store.allocations.get(made.id).updated_at is None
        assert other.allocations.claim(made.id, "c2", after=ids["c1"])
        assert not store.allocations.finish(made.id, "c1", {"state": ERROR, "last_error": "mine"})
        assert other.allocations.finish(made.id, "c2", {"state": ERROR, "last_error": "yours"})
        assert not other.allocations.finish(made.id, "c2", {"state": ACTIVE})
        assert not store.allocations.claim(made.id, "c1", after=ids["c2"])
        found = store.allocations.get(made.id)
        assert (found.state, found.last_error, found.updated_at is None) == (ERROR, "yours", False)

    def test_what_nobody_has_taken_up_can_be_withdrawn(self, store: Store) -> None:
        store.conductors.register("c1", "", [], [])
        taken, untouched = allocation(store), allocation(store)
        assert store.allocations.claim(taken.id, "c1", after=None)
        assert (store.allocations.withdraw(taken.id), store.allocations.withdraw(untouched.id)) == (False, True)
        assert [one.id for one in store.allocations.find()] == [taken.id]

    def test_only_what_has_no_node_is_simply_deleted(self, store: Store) -> None:
        owner = node(store)
        matched, unmatched = allocation(store, node_id=owner.id, state=ACTIVE), allocation(store)
        assert not store.allocations.delete_unmatched(matched.uuid)
        assert store.allocations.delete_unmatched(unmatched.uuid)
        assert [one.id for one in store.allocations.find()] == [matched.id]
        store.allocations.delete_of(owner.id)
        store.allocations.delete_of(owner.id)
        assert store.allocations.count() == 0

    def test_an_allocation_goes_with_its_node_and_leaves_it_alone_otherwise(self, store: Store) -> None:
        gone, stays = node(store, name="gone"), node(store)
        for owner in (gone, stays):
            made = allocation(store, node_id=owner.id, state=ACTIVE)
            store.nodes.update(owner.id, {"allocation_id": made.id})
        store.nodes.delete("gone")
        (left,) = store.allocations.find()
        assert store.nodes.row(["allocation_uuid"], stays.id) == (left.uuid,)
        store.allocations.delete(left.uuid)
        assert store.nodes.row(["allocation_id"], stays.id) == (None,)
