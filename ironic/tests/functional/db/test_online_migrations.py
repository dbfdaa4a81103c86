"""Online data migrations, driven by one that exists in this test only: nodes get a description."""

from collections.abc import Sequence

import pytest

from ironic.command import dbsync
from ironic.db import Store, online_migrations
from ironic.db.online_migrations import OnlineMigration, Progress
from ironic.tests.suites.db.samples import node


def missing(store: Store) -> list[int]:
    return [row[0] for row in store.nodes.rows(("id", "description")) if row[1] is None]


def describe(store: Store, most: int) -> int:
    todo = missing(store)[:most]
    return sum(store.nodes.update(ident, {"description": "from before"}) for ident in todo)


def fail(store: Store, most: int) -> int:
    raise ValueError("a row of node n7 can't be read")


DESCRIBE = OnlineMigration("describe nodes", lambda store: len(missing(store)), describe)
BROKEN = OnlineMigration("broken", lambda store: 1, fail)
STUCK = OnlineMigration("stuck", lambda store: 2, lambda store, most: 0)


@pytest.fixture
def nodes(store: Store) -> Store:
    """Return a store with seven nodes in the older form and one in the newer."""
    for _ in range(7):
        node(store)
    node(store, description="said already")
    return store


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(online_migrations, "BATCH", 3)


def run(store: Store, migrations: Sequence[OnlineMigration], most: int | None = None) -> list[Progress]:
    return list(online_migrations.run(store, migrations, most=most))


def test_all_is_moved_in_batches_and_told(nodes: Store) -> None:
    told = run(nodes, [DESCRIBE])
    assert [(each.moved, each.left, each.fault) for each in told] == [
        (0, 7, None),
        (3, 4, None),
        (6, 1, None),
        (7, 0, None),
    ]
    assert missing(nodes) == []
    assert [(each.moved, each.left) for each in run(nodes, [DESCRIBE])] == [(0, 0)]


def test_no_more_is_moved_than_allowed(nodes: Store) -> None:
    assert run(nodes, [DESCRIBE], most=5)[-1] == Progress("describe nodes", 5, 2)
    assert len(missing(nodes)) == 2
    assert run(nodes, [DESCRIBE, DESCRIBE], most=1)[-1].left == 1


def test_one_that_fails_says_why_and_lets_the_others_work(nodes: Store) -> None:
    told = run(nodes, [BROKEN, STUCK, DESCRIBE])
    faults = [each.fault for each in told if each.fault]
    assert faults == ["ValueError: a row of node n7 can't be read", "it moves no row any more"]
    assert missing(nodes) == []


@pytest.mark.parametrize(
    ("migrations", "most", "status", "said"),
    [
        ([DESCRIBE], None, 0, "describe nodes: 7 rows migrated, 0 left"),
        ([DESCRIBE], 4, 1, "3 rows are left"),
        ([BROKEN, DESCRIBE], None, 2, "broken: 0 rows migrated, 1 left"),
        ([], None, 0, "All data are migrated"),
    ],
)
def test_the_command_tells_the_progress_and_ends_with_a_status(
    nodes: Store,
    capsys: pytest.CaptureFixture[str],
    migrations: Sequence[OnlineMigration],
    most: int | None,
    status: int,
    said: str,
) -> None:
    assert dbsync.migrate_data(nodes, migrations, most) == status
    printed = capsys.readouterr()
    assert said in printed.out
    assert bool(printed.err) == (status == 2)


def test_the_migrations_of_this_release_leave_nothing(nodes: Store) -> None:
    assert all(not each.left and not each.fault for each in run(nodes, online_migrations.MIGRATIONS))
