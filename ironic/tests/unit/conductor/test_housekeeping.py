"""Old rows are removed by one conductor for all, images by each on its own host."""

import pytest

from ironic.conductor.housekeeping import Housekeeping, ImageCacheCleanup, jobs
from ironic.core.flows import states


@pytest.fixture
def here(store, clock):
    store.conductors.register("c1", "", ["fake-hardware"], [])


def entries(store, node, number):
    for count in range(number):
        event = {"event": str(count), "event_type": "t", "severity": "INFO", "conductor": "c1"}
        store.history.add(store.nodes.get(node).id, **event)


def texts(store, node):
    return [row[0] for row in store.history.rows(("event",), filters={"node_id": store.nodes.get(node).id})]


def test_conductors_that_left_for_good_go_after_the_limit(store, tasks, hash_ring, clock, conf, caplog):
    conf(conductor__conductor_cleanup_timeout=600)
    store.conductors.register("gone", "", [], [])
    clock.pass_by(601)
    store.conductors.register("c1", "", ["fake-hardware"], [])
    Housekeeping(tasks, hash_ring).conductors()
    assert store.conductors.rows(("hostname",)) == [("c1",)]
    assert "Conductor gone gave no sign of life for 600 seconds" in caplog.text


def test_history_keeps_the_newest_entries_of_each_node(here, store, tasks, hash_ring, make_node, clock, conf):
    conf(conductor__node_history_max_entries=2)
    long, short = make_node(), make_node()
    entries(store, long, 5)
    entries(store, short, 2)
    clock.pass_by(1)
    Housekeeping(tasks, hash_ring).history()
    assert (texts(store, long), texts(store, short)) == (["3", "4"], ["0", "1"])


def test_young_entries_stay_however_many(here, store, tasks, hash_ring, make_node, clock, conf):
    conf(conductor__node_history_max_entries=1, conductor__node_history_minimum_days=2)
    node = make_node()
    entries(store, node, 2)
    clock.pass_by(86400 * 1.5)
    store.conductors.touch("c1")
    entries(store, node, 2)
    clock.pass_by(86400)
    store.conductors.touch("c1")
    hash_ring.reset()
    Housekeeping(tasks, hash_ring).history()
    assert texts(store, node) == ["0", "1"]


def test_a_trimming_removes_no_more_than_the_batch(here, store, tasks, hash_ring, make_node, clock, conf):
    conf(conductor__node_history_max_entries=1, conductor__node_history_cleanup_batch_count=3)
    nodes = [make_node(), make_node()]
    for node in nodes:
        entries(store, node, 3)
    clock.pass_by(1)
    Housekeeping(tasks, hash_ring).history()
    assert sorted(len(texts(store, node)) for node in nodes) == [1, 2]


def test_no_limit_keeps_all(here, store, tasks, hash_ring, make_node, clock, conf):
    conf(conductor__node_history_max_entries=0)
    node = make_node()
    entries(store, node, 5)
    clock.pass_by(1)
    Housekeeping(tasks, hash_ring).history()
    assert len(texts(store, node)) == 5


def test_only_one_conductor_does_it(store, tasks, hash_ring, make_node, clock, conf):
    conf(conductor__node_history_max_entries=1)
    store.conductors.register("elsewhere", "", ["fake-hardware"], [])
    node = make_node()
    entries(store, node, 3)
    clock.pass_by(1)
    Housekeeping(tasks, hash_ring).history()
    Housekeeping(tasks, hash_ring).conductors()
    assert len(texts(store, node)) == 3


def test_the_options_say_how_often(tasks, hash_ring, conf):
    conf(conductor__conductor_cleanup_interval=5, conductor__node_history_cleanup_interval=0)
    assert [job.spacing for job in jobs(tasks, hash_ring)][:2] == [5, 0]
    conf(inventory__cleanup_interval=7, conductor__cache_clean_up_interval=9)
    assert [job.spacing for job in jobs(tasks, hash_ring)][2:] == [7, 9]


@pytest.mark.demand("S113")
def test_inventories_go_when_they_are_older_than_wanted(here, store, tasks, hash_ring, make_node, clock, conf):
    old, young = (store.nodes.get(make_node()).id for _ in range(2))
    store.inventories.put(old, {}, {})
    store.refused_reports.put(old, {}, {})
    clock.pass_by(86400 * 10)
    store.inventories.put(young, {}, {})
    clock.pass_by(1)
    for days, left in ((0, 2), (11, 2), (10, 1), (10, 1)):
        conf(inventory__retention_days=days)
        store.conductors.touch("c1")
        hash_ring.reset()
        Housekeeping(tasks, hash_ring).inventories()
        assert sum(store.inventories.texts(node) is not None for node in (old, young)) == left
    assert store.refused_reports.texts(old) is None


def test_inventories_are_removed_in_batches(here, store, tasks, hash_ring, make_node, clock, conf):
    nodes = [store.nodes.get(make_node()).id for _ in range(3)]
    for node in nodes:
        store.inventories.put(node, {}, {})
    conf(inventory__retention_days=1, inventory__cleanup_batch_size=2)
    clock.pass_by(86400 * 2)
    store.conductors.touch("c1")
    hash_ring.reset()
    Housekeeping(tasks, hash_ring).inventories()
    assert sum(store.inventories.texts(node) is not None for node in nodes) == 1


# Images


@pytest.fixture
def directory(conf, tmp_path):
    conf(pxe__tftp_master_path=str(tmp_path / "no"), pxe__instance_master_path=str(tmp_path / "neither"))
    conf(deploy__http_root=str(tmp_path / "www"))
    return tmp_path


def test_without_images_nothing_happens(store, directory):
    ImageCacheCleanup(store)()
    assert [path.name for path in directory.iterdir()] == ["ironic.sqlite"]


@pytest.mark.parametrize("name", ["readme.txt", "11111111-0000-4000-8000-000000000001", ".part"])
def test_a_file_of_another_program_stays(store, directory, name):
    other = directory / "www/agent_images" / name
    other.parent.mkdir(parents=True)
    other.touch()
    ImageCacheCleanup(store)()
    assert other.exists()


@pytest.mark.parametrize("state, stays", [
    (states.DEPLOYING, True), (states.DEPLOYWAIT, True), (states.DEPLOYHOLD, True),
    (states.DEPLOYFAIL, False), (states.ACTIVE, False), (states.AVAILABLE, False), (None, False),
])  # fmt: skip
def test_an_image_that_a_killed_conductor_offered_goes(store, directory, make_node, state, stays):
    uuid = make_node(provision_state=state) if state else "11111111-0000-4000-8000-000000000001"
    offered = directory / "www/agent_images" / f"{uuid}.0123456789abcdef"
    offered.parent.mkdir(parents=True)
    offered.touch()
    ImageCacheCleanup(store)()
    assert offered.exists() is stays
