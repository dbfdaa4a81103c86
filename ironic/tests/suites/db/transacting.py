"""Transactions: joining, rolling back, and what they are refused for."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from ironic.core import errors
from ironic.core.errors import resource_errors
from ironic.db import Store
from ironic.tests.databases import counting_statements
from ironic.tests.suites.db.samples import node, port


class TransactionSuite:
    def test_what_joins_commits_once(self, store: Store) -> None:
        with counting_statements(store) as seen, store.writing():
            made = node(store)
            made.name = "one"
            made.save()
            store.history.add(made.id, event="e", event_type="t", severity="INFO", conductor="h")
            assert store.nodes.get("one").id == made.id
        assert (seen.selects, seen.writes, seen.commits) == (1, 3, 1)

    def test_nothing_stays_of_what_failed(self, store: Store) -> None:
        with pytest.raises(KeyError), store.writing():
            node(store)
            with store.writing():
                node(store)
            raise KeyError
        assert store.nodes.count() == 0

    def test_nobody_sees_what_is_not_committed(self, store: Store, other: Store) -> None:
        with store.writing():
            node(store)
            assert other.nodes.count() == 0
        assert other.nodes.count() == 1

    def test_writing_inside_reading_is_a_mistake_of_the_program(self, store: Store) -> None:
        with store.reading():
            with pytest.raises(RuntimeError):
                node(store)
            with store.reading():
                assert store.nodes.count() == 0
        node(store)
        assert store.nodes.count() == 1

    def test_a_refused_row_leaves_the_rest_of_the_transaction_intact(self, store: Store) -> None:
        with store.writing():
            owner = node(store, name="one")
            first = port(store, owner)
            with pytest.raises(resource_errors.MACAlreadyExists):
                port(store, owner, address=first.address)
            with pytest.raises(errors.DuplicateName):
                node(store, name="one")
            second = port(store, owner)
        assert [found.id for found in store.ports.find()] == [first.id, second.id]

    def test_every_thread_has_its_own(self, store: Store) -> None:
        seen: list[bool] = []
        with store.writing():
            thread = threading.Thread(target=lambda: seen.append(store.is_open))
            thread.start()
            thread.join()
            assert store.is_open
        assert seen == [False] and not store.is_open

    def test_acts_wait_for_the_commit_and_undo_for_the_rollback(self, store: Store) -> None:
        said: list[str] = []
        with store.writing():
            store.after_commit(lambda: said.append(f"committed, open: {store.is_open}"))
            store.after_rollback(lambda: said.append("rolled back"))
            assert said == []
        with pytest.raises(KeyError), store.writing():
            store.after_commit(lambda: said.append("committed"))
            store.after_rollback(lambda: said.append("rolled back"))
            raise KeyError
        assert said == ["committed, open: False", "rolled back"]
        with pytest.raises(RuntimeError):
            store.after_commit(lambda: None)

    rounds = 50

    def test_many_threads_hold_one_node_in_turn_and_nothing_is_lost(self, store: Store) -> None:
        made = node(store, extra={"n": 0})

        def work() -> None:
            host = threading.current_thread().name
            for _ in range(self.rounds):
                held = store.nodes.reserve_waiting(made.id, host, attempts=1000, interval=0.05)
                held.extra["n"] += 1
                store.nodes.save_and_release(held)

        in_threads([work] * 8)
        assert store.nodes.get(made.id).extra == {"n": 8 * self.rounds}

    def test_many_threads_read_change_and_write_and_nothing_is_lost(self, store: Store) -> None:
        made = node(store, extra={"n": 0})
        in_threads([lambda: count_up(store, made.id, self.rounds)] * 8)
        assert store.nodes.get(made.id).extra == {"n": 8 * self.rounds}

    def test_two_processes_read_change_and_write_and_nothing_is_lost(self, store: Store, other: Store) -> None:
        made = node(store, extra={"n": 0})
        in_threads([lambda: count_up(store, made.id, self.rounds), lambda: count_up(other, made.id, self.rounds)])
        assert store.nodes.get(made.id).extra == {"n": 2 * self.rounds}


def count_up(store: Store, ident: int, rounds: int) -> None:
    for _ in range(rounds):
        with store.writing():
            record = store.nodes.lock_row(ident)
            record.extra["n"] += 1
            record.save()
        store.nodes.rows(["extra"])


def in_threads(works: list[Callable[[], None]]) -> None:
    """Run all at the same time; what one of them raises is raised."""
    with ThreadPoolExecutor(len(works)) as pool:
        for done in [pool.submit(work) for work in works]:
            done.result()
