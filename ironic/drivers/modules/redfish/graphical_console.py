"""Console interface `redfish-graphical`: the console page that the BMC has for browsers, shown over VNC."""

from collections.abc import Mapping
from dataclasses import asdict

from ironic.drivers.modules.graphical.graphical_console import GraphicalConsole
from ironic.drivers.modules.redfish.bmc_access import PROPERTIES, access_of
from ironic.drivers.modules.redfish.bmc_connection import check_login
from ironic.drivers.task import Task


class RedfishGraphicalConsole(GraphicalConsole):
    """The application finds the vendor by Redfish and logs in as the service does."""

    app_name = "redfish-graphical"

    def get_properties(self) -> dict[str, str]:
        return dict(PROPERTIES)

    def validate(self, task: Task) -> None:
        """Check driver_info; the BMC is not asked."""
        access_of(task.node)

    def app_info(self, task: Task) -> Mapping[str, object]:
        """Return how the BMC is reached, with its login, which must not be one that it refuses."""
        check_login(task, "opening the console page")
        access = asdict(access_of(task.node))
        return {"node_uuid": task.node.uuid, "verify_ca": access.pop("verify"), **access}
