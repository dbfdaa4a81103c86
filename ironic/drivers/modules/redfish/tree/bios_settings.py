"""The BIOS settings of a Redfish machine: what has effect, what waits for a restart, and where changes are ordered."""

from collections.abc import Mapping
from typing import Any

import sushy

from ironic.core.readings import ABSENT, Known, Unreadable, Value
from ironic.drivers.modules.redfish.tree.certainty import Document, Uncertain, value_at
from ironic.drivers.modules.redfish.wire.bmc_system import System, connector_of, optional


class BiosSettings:
    """The resource of the settings; raise MissingAttributeError of the library where the machine has none."""

    def __init__(self, system: System) -> None:
        self._bios = system.bios
        self._connector = connector_of(system)

    @property
    def current(self) -> Mapping[str, object]:
        """The attributes that have effect now, as far as they can be read."""
        return value_at(self._bios, "Attributes", dict).shown({})

    @property
    def changed_at(self) -> str | None:
        """Where changes go, None where the settings can only be read."""
        place: str | None = self._bios.json.get("@Redfish.Settings", {}).get("SettingsObject", {}).get("@odata.id")
        return place

    def pending(self) -> Value[Mapping[str, object]]:
        """Return the attributes that wait for a restart; absent where the BMC has no place for them."""
        place = self.changed_at
        if place is None:
            return ABSENT
        document: dict[str, Any] | None = optional(lambda: self._connector.get(place).json(), None)
        if document is None:
            return Unreadable(Uncertain(place, "it can't be read"))
        found = value_at(Document(place, document), "Attributes", dict)
        return Known({}) if found is ABSENT else found

    def order(self, wanted: Mapping[str, object]) -> None:
        """Have the BMC change attributes, with the next restart where it wants to know when."""
        on_reset = sushy.ApplyTime.ON_RESET
        times = self._bios.supported_apply_times or ()
        self._bios.set_attributes(wanted, apply_time=on_reset if on_reset in times else None)

    def order_defaults(self) -> None:
        """Have the BMC reset all attributes."""
        self._bios.reset_bios()
