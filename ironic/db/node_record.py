"""A node in the hands of a driver or a flow.

A record that came from `reserve` remembers who holds the node and by which token, and every save says so to the
database: a conductor that was taken for dead and taken over can no longer overwrite what its successor does, not even
when that is a later task of its own.
"""

from datetime import datetime
from typing import Any

from ironic.core.interface_kinds import interface_field
from ironic.db.record import Record
from ironic.db.tables import nodes


class NodeRecord(Record, table=nodes, extra=("held_by", "held_token")):
    """One node."""

    held_by: str | None = None  # the host whose reservation every save must find unbroken
    held_token: str | None = None  # this very reservation, should the same host have taken the node again since

    id: int
    uuid: str
    created_at: datetime
    updated_at: datetime | None
    name: str | None
    instance_uuid: str | None
    instance_name: str | None
    chassis_id: int | None
    conductor_affinity: int | None
    allocation_id: int | None
    conductor_group: str
    reservation: str | None
    reservation_purpose: str | None
    reservation_token: str | None
    power_state: str | None
    target_power_state: str | None
    provision_state: str
    target_provision_state: str | None
    provision_updated_at: datetime | None
    last_error: str | None
    fault: str | None
    health: str | None
    maintenance: bool
    maintenance_reason: str | None
    protected: bool
    protected_reason: str | None
    retired: bool
    retired_reason: str | None
    automated_clean: bool | None
    console_enabled: bool
    disable_power_off: bool
    auto_discovered: bool
    inspection_started_at: datetime | None
    inspection_finished_at: datetime | None
    boot_mode: str | None
    secure_boot: bool | None
    driver: str
    driver_info: dict[str, Any]
    driver_internal_info: dict[str, Any]
    instance_info: dict[str, Any]
    properties: dict[str, Any]
    extra: dict[str, Any]
    clean_step: dict[str, Any]
    deploy_step: dict[str, Any]
    service_step: dict[str, Any]
    raid_config: dict[str, Any]
    target_raid_config: dict[str, Any]
    network_data: dict[str, Any]
    resource_class: str | None
    owner: str | None
    lessee: str | None
    shard: str | None
    parent_node: str | None
    description: str | None
    bios_interface: str | None
    boot_interface: str | None
    console_interface: str | None
    deploy_interface: str | None
    firmware_interface: str | None
    inspect_interface: str | None
    management_interface: str | None
    network_interface: str | None
    power_interface: str | None
    raid_interface: str | None
    rescue_interface: str | None
    storage_interface: str | None
    vendor_interface: str | None

    def set_driver_internal_info(self, key: str, value: Any) -> None:
        """Remember something for the driver."""
        self.driver_internal_info[key] = value

    def del_driver_internal_info(self, key: str, default_value: Any = None) -> Any:
        """Forget something of the driver's; return it, or the default if there was nothing."""
        return self.driver_internal_info.pop(key, default_value)

    def timestamp_driver_internal_info(self, key: str) -> None:
        """Remember the time of now for the driver."""
        self.driver_internal_info[key] = self.now().isoformat()

    def set_instance_info(self, key: str, value: Any) -> None:
        """Set one thing known about the instance."""
        self.instance_info[key] = value

    def set_property(self, key: str, value: Any) -> None:
        """Set one property of the machine."""
        self.properties[key] = value

    def touch_provisioning(self) -> None:
        """Say that the provisioning of the node is alive, and save that."""
        self.provision_updated_at = self.now()
        self.save()

    def get_interface(self, kind: str) -> str | None:
        """Return the name of the implementation chosen for one kind of interface."""
        name: str | None = getattr(self, interface_field(kind))
        return name
