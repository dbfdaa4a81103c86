"""What a Redfish machine and its BMC say of the moment: power, start, health, vendor, and the BMC's clock."""

from datetime import datetime
from typing import Any, Final

import sushy

from ironic.core.readings import Value
from ironic.core.texts import syntax
from ironic.drivers.modules.redfish.tree.certainty import given, value_at, word_at
from ironic.drivers.modules.redfish.tree.members import bmc_of
from ironic.drivers.modules.redfish.wire.bmc_system import System

# The values of a health, the worst one last.
_HEALTH: Final = [each.value.upper() for each in sushy.Health]


def power_of(system: System) -> Value[sushy.PowerState]:
    """Return the power state."""
    return word_at(system, "PowerState", sushy.PowerState)


def last_reset_of(system: System) -> datetime | None:
    """Return when the machine was reset, None where the BMC does not say it in a way that can be read."""
    return syntax.moment_of(value_at(system, "LastResetTime", str).shown(None))


def progress_of(system: System) -> sushy.BootProgressStates | None:
    """Return how far the machine has started, None where the BMC does not say it."""
    return system.boot_progress.last_state if system.boot_progress is not None else None


def health_of(system: System) -> str | None:
    """Return the health in capital letters, None where the BMC does not say it."""
    status = system.status
    # The roll-up counts the parts; of a BMC whose two values contradict each other the worse one counts.
    known = [] if status is None else [each for each in (status.health_rollup, status.health) if each is not None]
    return max((str(each.value).upper() for each in known), key=_HEALTH.index, default=None)


def vendor_of(system: System) -> str | None:
    """Return the vendor of the BMC, or else of the machine."""
    vendor = system.root.json.get("Vendor") if system.root is not None else None
    names = (syntax.plain_text(name) for name in (vendor, system.manufacturer) if isinstance(name, str))
    return next(filter(None, names), None)


class BmcClock:
    """The clock of a BMC, as its manager shows it."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager
        self.path: str = manager.path

    def refresh(self) -> None:
        """Read it again."""
        self._manager.refresh(force=True)

    @property
    def time(self) -> str:
        """What it shows, empty for nothing that can be read."""
        return value_at(self._manager, "DateTime", str).shown("")

    @property
    def offset(self) -> str | None:
        """The offset of the local time from UTC."""
        return value_at(self._manager, "DateTimeLocalOffset", str).shown(None)


def clock_of(system: System) -> BmcClock | None:
    """Return the clock of the BMC, None where it has none; raise Uncertain where it is odd, or may be another's."""
    manager = bmc_of(system)
    return BmcClock(manager) if manager is not None and given(manager, "DateTime", str) is not None else None
