"""Each metric of the service is a row of one table, and each row is sent."""

import ast
from collections.abc import Iterator

import pytest

from ironic.integrations import metric_table
from ironic.integrations.metrics import METRICS, Collector
from ironic.tests.product_trees import product_trees

# What passes on names that plug-ins choose.
OF_PLUG_INS = {"integrations/metrics.py", "integrations/plug_in_metrics.py"}
NAMES = [name for name, row in vars(metric_table).items() if isinstance(row, metric_table.MetricRow)]


@pytest.fixture
def collector() -> Iterator[Collector]:
    METRICS.open(found := Collector(), "lab.")
    yield found
    METRICS.close()


def test_no_other_code_makes_up_a_name() -> None:
    makers = {
        file
        for file, tree in product_trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Metrics", "Timer")
    }
    assert makers <= OF_PLUG_INS | {"integrations/metric_table.py"}


def test_each_row_is_sent() -> None:
    used = {
        node.attr
        for _file, tree in product_trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "metric_table"
    }
    assert sorted(used) == sorted(NAMES)
    assert len(metric_table.ROWS) == len(NAMES) > 8


def test_names_are_those_of_dashboards(collector: Collector) -> None:
    metric_table.REQUESTS.send(2.5, "NodesController.get_one")
    metric_table.POWER_FAILURES.send(3)
    with metric_table.PERIODIC_TASKS.timer("power_synchronisation"):
        pass
    manager = "lab.ironic.conductor.manager.ConductorManager"
    found = collector.collected()
    assert found["lab.ironic.api.NodesController.get_one"] == {"count": 1, "sum": 2.5, "type": "timer"}
    assert found[f"{manager}.PowerSyncRecoveryNodeCount"] == {"value": 3, "type": "gauge"}
    assert found[f"{manager}.power_synchronisation"]["count"] == 1
