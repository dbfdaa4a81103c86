"""No owner's nodes take all workers while others have nodes, and a round over nodes is held up for one owner only."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from ironic.conductor.party_rounds import PartyRounds
from ironic.conductor.workers import SERVICE, Workers, WorkerSlot
from ironic.core.errors import NoFreeConductorWorker, OwnersWorkersInUse
from ironic.core.projects.fair_shares import FairQueue, Party, has_room, party_of
from ironic.tests.unit.conductor.conftest import wait_until

SIZE = 12


def take_all(pool: Workers, party: Party) -> list[WorkerSlot]:
    """Take as many slots as a party gets."""
    slots = []
    try:
        while True:
            slots.append(pool.take("work", party))
    except NoFreeConductorWorker:
        return slots


def shared_pool(size: int = SIZE, percentage: int = 66) -> Workers:
    return Workers("c1", size, party_percentage=percentage)


@pytest.mark.parametrize("size", [3, SIZE, 300])
def test_one_owner_leaves_a_third_to_the_others(size: int) -> None:
    pool = shared_pool(size)
    slots = take_all(pool, "greedy")
    assert size * 0.6 <= len(slots) <= size * 2 / 3
    with pytest.raises(OwnersWorkersInUse) as raised:
        pool.take("one more", "greedy")
    assert raised.value.status == 503
    assert raised.value.retry_after is not None
    assert raised.value.facts == {"host": "c1", "count": len(slots)}
    assert "workers_percentage_per_owner" in str(raised.value)
    assert take_all(pool, "other")


def test_owners_that_join_hands_leave_something_to_the_next_one() -> None:
    pool = shared_pool(300)
    taken = [len(take_all(pool, f"greedy-{number}")) for number in range(4)]
    assert all(taken)
    assert sum(taken) < 300
    pool.take("work", "late")


def test_an_owner_shrinks_to_its_share_as_its_work_ends() -> None:
    pool = shared_pool(300)
    first = take_all(pool, "first")
    for _ in range(300):
        # One of the first one's ends: whoever may have the place gets it.
        if first:
            first.pop().release()
        take_all(pool, "second")
        first += take_all(pool, "first")
    by_owner = [pool._of_party["first"], pool._of_party["second"]]
    assert max(by_owner) - min(by_owner) <= 3


def test_the_only_owner_may_have_every_worker() -> None:
    asked: list[Party] = []

    def is_alone(party: Party) -> bool:
        asked.append(party)
        return True

    pool = Workers("c1", SIZE, 0, 66, is_alone)
    assert len(take_all(pool, None)) == SIZE
    # The database is asked beyond the share only.
    assert 0 < len(asked) <= SIZE // 2


def test_work_of_the_service_needs_no_share() -> None:
    pool = shared_pool()
    for _ in range(SIZE):
        pool.take("periodic task", SERVICE)
    with pytest.raises(NoFreeConductorWorker) as raised:
        pool.take("work", "anybody")
    assert type(raised.value) is NoFreeConductorWorker


def test_a_place_comes_back_to_its_owner_however_it_ends() -> None:
    pool = shared_pool()
    for end in (lambda slot: slot.release(), lambda slot: slot.start(int, "no number").exception(5)):
        slots = take_all(pool, "greedy")
        for slot in slots:
            end(slot)
        assert pool.drain(5) == []
        pool._stopping = False
        assert not pool._of_party
        assert len(slots) == 8


@pytest.mark.parametrize(
    ("held", "free", "percentage", "expected"),
    [(0, 1, 66, True), (0, 0, 66, False), (7, 5, 66, True), (8, 4, 66, False), (299, 1, 100, True), (1, 9, 10, False)],
)
def test_the_share_is_one_of_what_others_leave(held: int, free: int, percentage: int, expected: bool) -> None:
    assert has_room(held, free, percentage) is expected


@pytest.mark.parametrize(
    ("owner", "lessee", "party"),
    [("o", "l", "o"), ("o", None, "o"), (None, "l", "l"), (None, None, None), ("", "", None)],
)
def test_a_node_counts_for_its_owner_then_for_its_lessee(owner: str | None, lessee: str | None, party: Party) -> None:
    assert party_of(owner, lessee) == party


def test_the_party_with_the_fewest_in_hand_comes_next() -> None:
    queue: FairQueue[int] = FairQueue()
    for number in range(4):
        queue.put("a", number)
    queue.put("b", 10)
    assert [queue.take() for _ in range(3)] == [("a", 0), ("b", 10), ("a", 1)]
    queue.put("b", 11)
    assert queue.take() == ("b", 11)
    queue.put("b", 12)
    queue.done("a")
    queue.done("a")
    assert queue.take() == ("a", 2)
    assert len(queue) == 2


def test_a_round_is_held_up_for_the_owner_of_the_slow_machine_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ironic.conductor.party_rounds._PATIENCE_SECONDS", 0.05)
    gate, seen = threading.Event(), list[str]()

    def act(uuids: list[str]) -> None:
        if "slow" in uuids:
            gate.wait(30)
        seen.extend(uuids)

    pool = shared_pool()
    tasks: Any = SimpleNamespace(pool=pool, clock=pool.clock)
    rounds = PartyRounds(tasks, "polling", act)
    nodes = [("slow", "a"), ("a2", "a"), ("b1", "b"), ("c1", None)]
    for number in (1, 2):
        rounds.visit(nodes)
        wait_until(lambda expected=2 * number: len(seen) == expected)
    assert sorted(seen) == ["b1", "b1", "c1", "c1"]
    gate.set()
    assert pool.drain(30) == []
    assert sorted(seen)[:2] == ["a2", "b1"]


def test_a_round_has_few_workers_at_once_and_reaches_every_owner_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ironic.conductor.party_rounds._PATIENCE_SECONDS", 0.05)
    gate, lock, seen, at_once = threading.Event(), threading.Lock(), list[str](), [0]

    def act(uuids: list[str]) -> None:
        with lock:
            at_once.append(pool.taken)
            seen.extend(uuids)
        gate.wait(30)

    pool = Workers("here", 30, party_percentage=66)
    tasks: Any = SimpleNamespace(pool=pool, clock=pool.clock)
    rounds = PartyRounds(tasks, "polling", act)
    nodes = [(f"n{number}", f"p{number}") for number in range(40)]
    rounds.visit(nodes)
    # Three of thirty, as long as their machines are slow.
    assert sorted(seen) == ["n0", "n1", "n2"]
    rounds.visit(nodes)
    assert len(seen) == 3
    gate.set()
    wait_until(lambda: pool.taken == 0)
    monkeypatch.setattr("ironic.conductor.party_rounds._PATIENCE_SECONDS", 30)
    rounds.visit(nodes)
    assert pool.drain(30) == []
    # Those that were not reached were the first of this round.
    assert sorted(seen[3:6]) == ["n3", "n4", "n5"]
    assert sorted(seen[3:]) == sorted(uuid for uuid, _ in nodes)
    assert max(at_once) == 3
