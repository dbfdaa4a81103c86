"""Tasks that a plug-in takes anywhere in the process of a conductor."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.conductor import process_tasks, task_manager
from ironic.conductor.tasks import TaskFactory
from ironic.context import get_admin_context
from ironic.core.errors import InvalidParameterValue, NodeLocked
from ironic.tests.databases import sqlite_store
from ironic.tests.unit.conductor.conftest import FakeComposition
from ironic.tests.unit.conductor.flows.bench import Inline

CONTEXT = get_admin_context()


@pytest.fixture
def tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TaskFactory]:
    monkeypatch.setattr(process_tasks, "_OF_PROCESS", [])
    store = sqlite_store(tmp_path)
    yield TaskFactory(store, FakeComposition(), Inline(), "c1")  # type: ignore[arg-type]
    store.close()


def test_a_node_is_taken_and_given_back(tasks: TaskFactory) -> None:
    node = tasks.store.nodes.create({"driver": "fake-hardware"}).uuid
    with pytest.raises(InvalidParameterValue, match="no conductor in this process"):
        task_manager.acquire(CONTEXT, node)
    assert process_tasks.use(tasks) is tasks
    with task_manager.acquire(CONTEXT, node, purpose="looking") as task:
        assert (task.shared, tasks.store.nodes.get(node).reservation_purpose) == (False, "looking")
        with pytest.raises(NodeLocked, match="looking"):
            task_manager.acquire(CONTEXT, node, retry=False)
        with task_manager.acquire(CONTEXT, node, shared=True) as other:
            assert other.shared and other.node.uuid == node
    assert tasks.store.nodes.get(node).reservation is None
