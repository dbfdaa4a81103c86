"""A node in the hands of a driver or a flow.

A record that came from `reserve` remembers who holds the node and by which token, and every save says so to the
database: a conductor that was taken for dead and taken over can no longer overwrite what its successor does, not even
when that is a later task of its own.
"""

from typing import Any

from ironic.core.interface_kinds import interface_field
from ironic.db.record import Record
from ironic.db.tables import NodeColumns


class NodeRecord(Record, NodeColumns, extra=("held_by", "held_token")):
    """One node."""

    held_by: str | None = None  # the host whose reservation every save must find unbroken
    held_token: str | None = None  # this very reservation, should the same host have taken the node again since

    def set_driver_internal_info(self, key: str, value: Any) -> None:
        """Remember something for the driver."""
        self.driver_internal_info[key] = value

    def del_driver_internal_info(self, key: str, default_value: object = None) -> object:
        """Forget something of the driver's; return it, or the default if there was nothing."""
        return self.driver_internal_info.pop(key, default_value)

    def timestamp_driver_internal_info(self, key: str) -> None:
        """Remember the time of now for the driver."""
        self.driver_internal_info[key] = self.now().isoformat()

    def set_instance_info(self, key: str, value: object) -> None:
        """Set one thing known about the instance."""
        self.instance_info[key] = value

    def set_property(self, key: str, value: object) -> None:
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
