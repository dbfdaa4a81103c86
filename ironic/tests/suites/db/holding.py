"""Reservations and the fence."""

import contextlib
import threading
import time

import pytest

from ironic.core import errors
from ironic.core.errors import call_errors
from ironic.db import NodeRecord, Store
from ironic.tests.databases import counting_statements
from ironic.tests.suites.db.samples import break_lock, node


class HoldingSuite:
    def test_reserving_takes_one_write_one_select_one_commit(self, store: Store) -> None:
        made = node(store, name="one", extra={"a": 1})
        with counting_statements(store) as seen:
            held = store.nodes.reserve("one", "h1")
        assert (seen.selects, seen.writes, seen.commits) == (1, 1, 1)
        assert (held.id, held.held_by, held.reservation, held.extra) == (made.id, "h1", "h1", {"a": 1})
        assert held.updated_at is None

    def test_a_held_node_is_refused_to_all(self, store: Store) -> None:
        made = node(store)
        store.nodes.reserve(made.id, "h1")
        for host in ("h1", "h2"):
            with pytest.raises(errors.NodeLocked) as caught:
                store.nodes.reserve(made.uuid, host)
            assert caught.value.facts == {"node": made.uuid, "host": "h1"}
        with pytest.raises(errors.NodeNotFound):
            store.nodes.reserve("nobody", "h1")

    def test_the_purpose_of_a_reservation_is_told_to_others(self, store: Store) -> None:
        made = node(store)
        held = store.nodes.reserve(made.id, "h1", "provision verb clean")
        with pytest.raises(errors.NodeLocked) as caught:
            store.nodes.reserve(made.id, "h2", "heartbeat")
        assert f"Node {made.uuid} is in use by conductor h1 (provision verb clean). Try again" in str(caught.value)
        store.nodes.release(held, "h1")
        free = store.nodes.get(made.id)
        assert (free.reservation, free.reservation_purpose, free.reservation_token) == (None, None, None)
        store.nodes.reserve(made.id, "h1", "x" * 300)
        assert store.nodes.get(made.id).reservation_purpose == "x" * 255

    def test_a_save_and_release_leaves_nothing_of_the_reservation(self, store: Store) -> None:
        held = store.nodes.reserve(node(store).id, "h1", "cleaning")
        held.extra["a"] = 1
        store.nodes.save_and_release(held)
        free = store.nodes.get(held.id)
        assert (free.reservation, free.reservation_purpose, free.reservation_token) == (None, None, None)
        assert (held.held_token, held.reservation_token, held.changes()) == (None, None, {})

    def test_a_host_can_not_write_by_an_earlier_reservation_of_its_own(self, store: Store) -> None:
        early = store.nodes.reserve(node(store).id, "h1")
        break_lock(store, early.id)
        late = store.nodes.reserve(early.id, "h1")
        early.refresh()
        early.extra["a"] = 1
        with pytest.raises(errors.TakenOver):
            early.save()
        store.nodes.release(early, "h1")
        assert store.nodes.get(late.id).reservation == "h1"
        late.extra["a"] = 2
        late.save()

    def test_only_the_newest_life_of_a_host_takes_nodes(self, store: Store) -> None:
        made = node(store)
        older, newer = store.conductors.begin("h1"), store.conductors.begin("h1")
        with pytest.raises(call_errors.ConductorSuperseded):
            store.nodes.reserve(made.id, "h1", incarnation=older)
        with counting_statements(store) as seen:
            store.nodes.reserve(made.id, "h1", incarnation=newer)
        assert (seen.selects, seen.writes, seen.commits) == (1, 1, 1)

    def test_releasing_twice_or_for_another_host_does_no_harm(self, store: Store) -> None:
        held = store.nodes.reserve(node(store).id, "h1")
        store.nodes.release(held.id, "h2")
        assert store.nodes.get(held.id).reservation == "h1"
        store.nodes.release(held, "h1")
        assert (held.held_by, held.reservation, held.changes()) == (None, None, {})
        store.nodes.release(held, "h1")
        store.nodes.release(held.id, "h1")
        assert store.nodes.get(held.id).reservation is None

    def test_saving_and_releasing_is_one_write(self, store: Store) -> None:
        held = store.nodes.reserve(node(store).id, "h1")
        held.provision_state, held.driver_info["a"] = "manageable", 1
        with counting_statements(store) as seen:
            store.nodes.save_and_release(held)
        assert (seen.selects, seen.writes, seen.commits) == (0, 1, 1)
        found = store.nodes.get(held.id)
        assert (found.provision_state, found.driver_info, found.reservation) == ("manageable", {"a": 1}, None)
        assert (held.held_by, held.reservation, held.changes()) == (None, None, {})

    def test_saving_nothing_and_releasing_releases(self, store: Store) -> None:
        held = store.nodes.reserve(node(store).id, "h1")
        store.nodes.save_and_release(held)
        found = store.nodes.get(held.id)
        assert (found.reservation, found.updated_at, held.held_by) == (None, None, None)
        with pytest.raises(errors.NodeNotLocked):
            store.nodes.save_and_release(held)

    def test_who_was_taken_over_can_no_longer_write(self, store: Store, other: Store) -> None:
        old = store.nodes.reserve(node(store).id, "old")
        other.nodes.release(old.id, "old")
        new = other.nodes.reserve(old.id, "new")
        new.provision_state = "deploy failed"
        new.save()
        old.provision_state, old.extra["a"] = "active", 1
        for write in (old.save, lambda: store.nodes.save_and_release(old)):
            with pytest.raises(errors.TakenOver) as caught:
                write()
            assert caught.value.facts == {"node": old.uuid, "host": "old"}
        store.nodes.release(old, "old")
        found = other.nodes.get(new.id)
        assert (found.provision_state, found.extra, found.reservation) == ("deploy failed", {}, "new")

    def test_who_was_taken_over_can_neither_delete_the_node_nor_change_what_belongs_to_it(
        self, store: Store, other: Store
    ) -> None:
        old = store.nodes.reserve(node(store).id, "old")
        break_lock(other, old.id)
        new = other.nodes.reserve(old.id, "old")
        with pytest.raises(errors.TakenOver):
            store.nodes.delete_held(old)
        with pytest.raises(errors.TakenOver), store.writing():
            store.traits.replace(old.id, ["CUSTOM_A"])
            store.nodes.require_held(old)
        assert store.traits.of([old.id])[old.id] == []
        other.nodes.delete_held(new)
        with pytest.raises(errors.NodeNotFound):
            store.nodes.get(old.id)

    def test_a_reservation_whose_answer_was_lost_is_found_again(self, store: Store) -> None:
        made = node(store)
        store.nodes._reserve(made.id, "h1", None, None, "token")
        again = store.nodes._reserve(made.id, "h1", None, None, "token")
        assert (again.held_by, again.held_token) == ("h1", "token")
        with pytest.raises(errors.NodeLocked):
            store.nodes._reserve(made.id, "h1", None, None, "other")

    def test_a_held_node_that_was_deleted_can_no_longer_be_written(self, store: Store, other: Store) -> None:
        held = store.nodes.reserve(node(store).id, "h1")
        other.nodes.delete(held.id)
        held.name = "one"
        with pytest.raises(errors.TakenOver):
            held.save()

    def test_a_refused_write_takes_its_whole_transaction_along(self, store: Store, other: Store) -> None:
        held = store.nodes.reserve(node(store).id, "old")
        break_lock(other, held.id)
        held.name = "one"
        with pytest.raises(errors.TakenOver), store.writing():
            store.history.add(held.id, event="e", event_type="t", severity="INFO", conductor="old")
            held.save()
        assert store.history.count() == 0

    def test_a_reservation_that_is_rolled_back_is_none(self, store: Store) -> None:
        made = node(store)
        held: list[NodeRecord] = []
        with pytest.raises(KeyError), store.writing():
            held.append(store.nodes.reserve(made.id, "h1"))
            raise KeyError
        assert held[0].held_by is None and store.nodes.get(made.id).reservation is None

    def test_a_release_that_is_rolled_back_leaves_the_node_held(self, store: Store) -> None:
        held = store.nodes.reserve(node(store).id, "h1")
        held.name = "one"
        with pytest.raises(KeyError), store.writing():
            store.nodes.save_and_release(held)
            raise KeyError
        assert held.held_by == "h1" and store.nodes.get(held.id).reservation == "h1"
        store.nodes.save_and_release(held)
        found = store.nodes.get(held.id)
        assert (found.name, found.reservation) == ("one", None)

    def test_waiting_ends_at_once_when_this_process_releases(self, store: Store) -> None:
        held = store.nodes.reserve(node(store).id, "h1")
        releasing = threading.Timer(0.1, store.nodes.release, (held, "h1"))
        releasing.start()
        began = time.monotonic()
        mine = store.nodes.reserve_waiting(held.uuid, "h2", attempts=2, interval=30)
        assert time.monotonic() - began < 10
        assert mine.held_by == "h2"
        releasing.join()

    def test_waiting_finds_what_another_process_released(self, store: Store, other: Store) -> None:
        held = other.nodes.reserve(node(store).id, "h1")
        releasing = threading.Timer(0.1, other.nodes.release, (held, "h1"))
        releasing.start()
        assert store.nodes.reserve_waiting(held.id, "h2", attempts=200, interval=0.05).held_by == "h2"
        releasing.join()

    def test_waiting_ends_when_the_attempts_are_used_up(self, store: Store) -> None:
        held = store.nodes.reserve(node(store).id, "h1")
        began = time.monotonic()
        with pytest.raises(errors.NodeLocked):
            store.nodes.reserve_waiting(held.id, "h2", attempts=3, interval=0.05)
        assert 0.1 <= time.monotonic() - began < 5
        with pytest.raises(errors.NodeLocked):
            store.nodes.reserve_waiting(held.id, "h2", attempts=1, interval=60)

    def test_who_waits_long_asks_less_and_less_often(self, store: Store) -> None:
        held = store.nodes.reserve(node(store).id, "h1")
        with counting_statements(store) as seen, pytest.raises(errors.NodeLocked):
            store.nodes.reserve_waiting(held.id, "h2", attempts=100, interval=0.005, growth=2)
        assert seen.writes <= 20

    def test_waiting_for_a_release_ends_when_this_process_releases(self, store: Store) -> None:
        held = store.nodes.reserve(node(store).id, "h1")
        releasing = threading.Timer(0.1, store.nodes.release, (held, "h1"))
        releasing.start()
        began = time.monotonic()
        store.nodes.wait_for_release(held.uuid, 30)
        assert time.monotonic() - began < 10
        assert store.nodes.get(held.id).reservation is None
        releasing.join()

    def test_nobody_waits_for_the_release_of_a_free_node(self, store: Store) -> None:
        began = time.monotonic()
        store.nodes.wait_for_release(node(store).id, 30)
        assert time.monotonic() - began < 10

    def test_waiting_for_a_release_ends_in_time(self, store: Store) -> None:
        held = store.nodes.reserve(node(store).id, "h1")
        began = time.monotonic()
        store.nodes.wait_for_release(held.id, 0.05)
        assert 0.05 <= time.monotonic() - began < 5
        with pytest.raises(errors.NodeNotFound):
            store.nodes.wait_for_release("nobody", 1)

    def test_nobody_waits_inside_a_transaction(self, store: Store) -> None:
        made = node(store)
        with pytest.raises(RuntimeError), store.writing():
            store.nodes.wait_for_release(made.id, 1)
        with pytest.raises(RuntimeError), store.writing():
            store.nodes.reserve_waiting(made.id, "h1", attempts=3, interval=1)

    def test_a_locked_row_waits_for_the_other_transaction(self, store: Store, other: Store) -> None:
        made = node(store, extra={"n": 0})
        inside = threading.Event()

        def add_one() -> None:
            inside.wait(10)
            with other.writing():
                record = other.nodes.lock_row(made.id)
                record.extra["n"] += 1
                record.save()

        thread = threading.Thread(target=add_one)
        thread.start()
        with store.writing():
            record = store.nodes.lock_row(made.uuid)
            inside.set()
            time.sleep(0.1)
            record.extra["n"] += 1
            record.save()
        thread.join()
        assert store.nodes.get(made.id).extra == {"n": 2}

    def test_a_row_is_locked_for_writing_only(self, store: Store) -> None:
        made = node(store)
        with pytest.raises(RuntimeError):
            store.nodes.lock_row(made.id)
        with store.reading(), pytest.raises(RuntimeError):
            store.nodes.lock_row(made.id)
        with store.writing(), pytest.raises(errors.NodeNotFound):
            store.nodes.lock_row("nobody")

    def test_of_many_only_one_gets_the_node(self, store: Store) -> None:
        made = node(store)
        start = threading.Barrier(6)
        won: list[str] = []

        def try_it(host: str) -> None:
            start.wait()
            with contextlib.suppress(errors.NodeLocked):
                won.append(store.nodes.reserve(made.id, host).held_by or "")

        threads = [threading.Thread(target=try_it, args=(f"h{number}",)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert won == [store.nodes.get(made.id).reservation]
