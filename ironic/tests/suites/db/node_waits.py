"""What nodes wait for, in the table."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ironic.core.errors import TakenOver
from ironic.core.flows import node_waits
from ironic.core.flows.node_waits import Follows, NodeWait
from ironic.db import NodeRecord, Store


def node_of(store: Store, **values: Any) -> NodeRecord:
    return store.nodes.create({"driver": "fake-hardware", **values})


def wait_of(store: Store, kind: str, **more: Any) -> NodeWait:
    now = store.clock.now()
    values: dict[str, Any] = {
        "interface": "bios", "words": "the BMC", "since": now, "until": now + timedelta(hours=1), "next_look": now,
        "follows": Follows.FLOW, "run": None, "changed": now, "memory": {"a": [1, None]},
    }  # fmt: skip
    return NodeWait(kind=kind, **{**values, **more})


class NodeWaitSuite:
    def test_waits_are_stored_changed_and_removed_with_their_node(self, store: Store) -> None:
        node, other = node_of(store), node_of(store)
        outer, inner = wait_of(store, "outer"), wait_of(store, "inner", until=None, memory={})
        for wait in (outer, inner):
            node_waits.put(node, wait)
        assert store.node_waits.of(node.id) == []
        node.save()
        assert store.node_waits.of(node.id) == [outer, inner]
        changed = replace(outer, memory={"b": 2}, words="the same BMC")
        node_waits.put(node, changed)
        node_waits.end(node, "inner")
        node.save()
        assert (store.node_waits.of(node.id), store.node_waits.of(other.id)) == ([changed], [])
        assert (store.node_waits.get(node.id, "outer"), store.node_waits.get(node.id, "inner")) == (changed, None)
        store.nodes.delete(node.uuid)
        assert store.node_waits.of(node.id) == []

    def test_a_wait_alone_is_a_change_of_its_node(self, store: Store) -> None:
        node = node_of(store)
        wait = wait_of(store, "one")
        node_waits.put(node, wait)
        node.save()
        node.pending_waits = {"one": replace(wait, memory={"phase": "next"})}
        node.save()
        assert [one.memory for one in store.node_waits.of(node.id)] == [{"phase": "next"}]

    def test_nothing_is_stored_where_the_node_is_lost(self, store: Store) -> None:
        uuid = node_of(store).uuid
        mine = store.nodes.reserve(uuid, "mine")
        store.nodes.release(mine.id, "mine")
        store.nodes.reserve(uuid, "other")
        mine.held_by = "mine"
        node_waits.put(mine, wait_of(store, "one"))
        with pytest.raises(TakenOver):
            mine.save()
        assert (store.node_waits.of(mine.id), list(mine.pending_waits)) == ([], ["one"])

    def test_what_is_due_leaves_out_locked_nodes_and_flows_in_maintenance(self, store: Store) -> None:
        nodes = {name: node_of(store, name=name) for name in ("due", "later", "kept", "request")}
        locked = store.nodes.reserve(node_of(store, name="locked").uuid, "host")
        nodes["locked"] = locked
        later = store.clock.now() + timedelta(hours=1)
        for name, node in nodes.items():
            moment = {"next_look": later} if name == "later" else {}
            follows = Follows.REQUEST if name == "request" else Follows.FLOW
            node_waits.put(node, wait_of(store, "one", follows=follows, **moment))
            node_waits.put(node, wait_of(store, "two", next_look=later))
            node.save()
        for name in ("kept", "request"):
            store.nodes.update(nodes[name].uuid, {"maintenance": True})
        due = store.node_waits.due(of_conductor=False)
        assert {node.uuid for node in due} == {nodes["due"].uuid, nodes["request"].uuid}
        assert store.node_waits.due(of_conductor=True) == []
        store.node_waits.put_off(nodes["due"].uuid, later)
        assert [node.uuid for node in store.node_waits.due(of_conductor=False)] == [nodes["request"].uuid]

    def test_a_look_is_claimed_once(self, store: Store) -> None:
        node = node_of(store)
        wait = wait_of(store, "one")
        node_waits.put(node, wait)
        node.save()
        later = wait.next_look + timedelta(seconds=5)
        assert store.node_waits.claim(node.id, wait, later)
        assert not store.node_waits.claim(node.id, wait, later)
        assert store.node_waits.of(node.id) == [replace(wait, next_look=later)]
