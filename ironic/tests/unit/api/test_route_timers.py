"""Every route has the name that dashboards know, as far as one is known."""

import re
from collections import defaultdict
from collections.abc import Sequence

import pytest

from ironic.api.app import BARE_METAL
from ironic.api.inspector.old_api import InspectorApi
from ironic.api.route_timers import timer_name
from ironic.api.routes import Refusing, Route

# Source: doc/contract/drivers.md#metrics
KNOWN = re.findall(
    r"\w+",
    """
    NodesController NodeStatesController NodeConsoleController NodeBiosController NodeFirmwareController
    NodeHistoryController NodeInventoryController NodeMaintenanceController NodeTraitsController NodeVIFController
    NodeVendorPassthruController NodeVmediaController NodeAllocationController BootDeviceController IndicatorController
    InjectNmiController PortsController PortgroupsController ChassisController DriversController
    DriverPassthruController DriverRaidController ConductorsController AllocationsController DeployTemplatesController
    RunbooksController RunbookTraitsController InspectionRuleController ShardController VolumeConnectorsController
    VolumeTargetsController EventsController
    """,
)


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("GET", "/v1/nodes", "NodesController.get_all"),
        ("GET", "/v1/nodes/detail", "NodesController.detail"),
        ("GET", "/v1/nodes/{node}", "NodesController.get_one"),
        ("PATCH", "/v1/nodes/{node}", "NodesController.patch"),
        ("PUT", "/v1/nodes/{node}/states/power", "NodeStatesController.power"),
        ("PUT", "/v1/nodes/{node}/states/console", "NodeConsoleController.put"),
        ("POST", "/v1/inspection_rules/evaluate", "InspectionRuleController.post_evaluate"),
        ("DELETE", "/v1/nodes/{node}/traits/{trait}", "NodeTraitsController.delete"),
        ("GET", "/v1/nodes/{node}/management/boot_device/supported", "BootDeviceController.supported"),
        ("GET", "/v1/chassis/{chassis}/nodes", "ChassisNodesController.get_all"),
        ("GET", "/v1/openapi.json", "OpenapiController.get_all"),
        ("*", "/", "RootController.get_all"),
    ],
)
def test_a_name_follows_from_method_and_path(method: str, path: str, name: str) -> None:
    assert timer_name(method, path) == name


def test_every_controller_that_dashboards_know_is_there() -> None:
    names = {timer_name(row.method, row.path).partition(".")[0] for row in BARE_METAL.rows}
    assert set(KNOWN) - names == set()


@pytest.mark.parametrize("rows", [BARE_METAL.rows, InspectorApi.rows], ids=["bare metal", "inspector"])
def test_routes_that_share_a_name_do_the_same_to_one_or_to_all(rows: Sequence[Route]) -> None:
    by_name = defaultdict(set)
    for row in rows:
        if not isinstance(row.handler, Refusing):
            without_identifiers = "/".join(part for part in row.path.split("/") if not part.startswith("{"))
            by_name[timer_name(row.method, row.path)].add((row.method, without_identifiers))
    shared = {name for name, found in by_name.items() if len(found) > 1}
    assert shared <= {"RootController.get_all"}
