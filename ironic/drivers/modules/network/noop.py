"""Network interface `noop`: networks are managed outside the service, and a machine stays where it is plugged in."""

from collections.abc import Mapping

from ironic.drivers.contract.interfaces import NetworkInterface
from ironic.drivers.contract.task import Port, Portgroup, Task


class NoopNetwork(NetworkInterface):
    """Accepts every change of networks and does nothing; VIFs are not bound to ports."""

    def port_changed(self, task: Task, port_obj: Port) -> None:
        pass

    def portgroup_changed(self, task: Task, portgroup_obj: Portgroup) -> None:
        pass

    def vif_attach(self, task: Task, vif_info: Mapping[str, object]) -> None:
        pass

    def vif_detach(self, task: Task, vif_id: str) -> None:
        pass

    def vif_list(self, task: Task) -> list[dict[str, object]]:
        return []

    def get_current_vif(self, task: Task, p_obj: Port | Portgroup) -> str | None:
        return None

    def connect(self, task: Task, network: str) -> dict[str, str]:
        return {}

    def disconnect(self, task: Task, network: str) -> None:
        pass

    def validate_inspection(self, task: Task) -> None:
        pass
