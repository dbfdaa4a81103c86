"""Console interface `redfish-graphical`: the console page that the BMC has for browsers, shown over VNC."""

from collections.abc import Mapping
from dataclasses import asdict

from ironic.core.addresses.allowed_addresses import server_of
from ironic.core.errors.hardware_errors import ConsoleError
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.graphical.graphical_console import GraphicalConsole
from ironic.drivers.modules.redfish.wire.bmc_access import PROPERTIES, Access, access_of
from ironic.drivers.modules.redfish.wire.bmc_connection import check_login
from ironic.integrations.allowed_destinations import UNREACHABLE, Refused, bmc_policy, resolve_allowed
from ironic.integrations.hidden_faults import hidden


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
        access = access_of(task.node)
        known = asdict(access)
        if known.pop("by_project"):
            known["address"] = _judged_address(task.node, access)
        return {"node_uuid": task.node.uuid, "verify_ca": known.pop("verify"), **known}


def _judged_address(node: Node, access: Access) -> str:
    """Return a project's address with its host resolved, as the application would resolve the name again.

    Where certificates are checked the name stays: a server that it moves to has no certificate for it.
    """
    server = server_of(access.address)
    try:
        if server is None:
            raise Refused("no web server")
        found = resolve_allowed(server.host, server.port, policy=bmc_policy(by_project=True))
    except (Refused, OSError) as error:
        told = hidden(UNREACHABLE, f"BMC {access.address} of node {node.uuid}", error)
        raise ConsoleError(node=node.uuid, error=told) from error
    if server.scheme == "https" and access.verify:
        return access.address
    judged = server._replace(host=str(found[0].address[0]))
    return f"{judged.scheme}://{judged.netloc}"
