"""Sensors of a Redfish machine: fans, temperatures, power supplies and drives.

Readings are plain data: the field names of sushy with values that JSON can express. A missing branch is empty.
"""

import enum
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from ironic.drivers.modules.redfish.tree import bmc_subsystems
from ironic.drivers.modules.redfish.tree.members import of_each, seen_chassis, seen_drives, seen_members
from ironic.drivers.modules.redfish.wire.bmc_system import System, optional

T = TypeVar("T")

Reading = dict[str, object]
Found = Iterable[tuple[str, object]]

_FAN: Final = (
    "identity",
    "max_reading_range",
    "min_reading_range",
    "reading",
    "reading_units",
    "serial_number",
    "physical_context",
)
_TEMPERATURE: Final = (
    "identity",
    "max_reading_range_temp",
    "min_reading_range_temp",
    "reading_celsius",
    "physical_context",
    "sensor_number",
)
_SUPPLY: Final = ("power_capacity_watts", "line_input_voltage", "last_power_output_watts", "serial_number")
_DRIVE: Final = ("name", "model", "capacity_bytes")


def readings(system: System) -> dict[str, dict[str, Any]]:
    """Return all readings by sensor type and sensor name; `Extra` says which machine it is."""

    def fans(chassis: Any) -> Found:
        found = _older(lambda: chassis.thermal.fans) or bmc_subsystems.fans(chassis)
        return ((_name(fan, chassis), fan) for fan in found)

    def temperatures(chassis: Any) -> Found:
        found = _older(lambda: chassis.thermal.temperatures) or bmc_subsystems.temperatures(chassis)
        return ((_name(probe, chassis), probe) for probe in found)

    def supplies(chassis: Any) -> Found:
        older = _older(lambda: chassis.power.power_supplies)
        place = f"{chassis.power.identity if older else bmc_subsystems.POWER}@{chassis.identity}"
        found = older or bmc_subsystems.supplies(chassis)
        return ((f"{supply.identity or number}:{place}", supply) for number, supply in enumerate(found))

    def drives(storage: Any) -> Found:
        return (
            (f"{drive.name}:{storage.identity}@{system.identity}", drive)
            for drive in seen_drives(storage).items
            if drive.capacity_bytes
        )

    def devices(storage: Any) -> Found:
        return (
            (f"{device.name}:{storage.identity}@{system.identity}", device)
            for device in storage.devices or ()
            if device.capacity_bytes
        )

    all_chassis, storages = seen_chassis(system).items, seen_members(system, "storage")
    return {
        "Fan": _collect(all_chassis, fans, _FAN),
        "Temperature": _collect(all_chassis, temperatures, _TEMPERATURE),
        "Power": _collect(all_chassis, supplies, _SUPPLY),
        "Drive": _collect(storages.items, drives, _DRIVE)
        or ({} if storages.missing else _collect(seen_members(system, "simple_storage").items, devices, _DRIVE)),
        "Extra": {"Manufacturer": system.manufacturer, "Model": system.model, "UUID": system.uuid},
    }


def _older(find: Callable[[], Iterable[T]]) -> list[T]:
    """Return the sensors of the older schemas; none where the BMC has the newer ones only."""
    nothing: list[T] = []
    return optional(lambda: list(find()), nothing)


def _name(sensor: Any, chassis: Any) -> str:
    return f"{sensor.identity}@{chassis.identity}"


def _collect(parts: Iterable[Any], sensors: Callable[[Any], Found], names: tuple[str, ...]) -> dict[str, Reading]:
    """Return the named fields, state and health of the sensors of each part of the machine."""

    def reading(item: Any) -> Reading:
        found = {name: _plain(getattr(item, name, None)) for name in names}
        if (status := item.status) is None:
            return found
        state, health = _plain(status.state), _plain(status.health)
        # Drives of some BMCs have a health but no state.
        return found | {"state": "Enabled" if health and state is None else state, "health": health}

    found: dict[str, Reading] = {}
    for name, item in of_each(parts, sensors):
        # Some BMCs give all sensors one name.
        same = sum(1 for known in found if known == name or known.startswith(f"{name} #"))
        found[f"{name} #{same + 1}" if same else name] = reading(item)
    return found


def _plain(value: object) -> object:
    return value.value if isinstance(value, enum.Enum) else value
