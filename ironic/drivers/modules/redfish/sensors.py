"""Sensors of a machine with a Redfish BMC: fans, temperatures, power supplies and drives.

Readings are plain data: names of fields as sushy has them, values that JSON knows. What a BMC doesn't have is empty.
"""

import enum
from collections.abc import Callable, Iterable
from typing import Any, Final

from ironic.drivers.modules.redfish.connection import System
from ironic.drivers.modules.redfish.optional import optional

Reading = dict[str, object]

_FAN: Final = ("identity", "max_reading_range", "min_reading_range", "reading", "reading_units", "serial_number")
_TEMPERATURE: Final = (
    "identity",
    "max_reading_range_temp",
    "min_reading_range_temp",
    "reading_celsius",
    "physical_context",
    "sensor_number",
)
_SUPPLY: Final = (
    "line_input_voltage",
    "last_power_output_watts",
    "power_capacity_watts",
    "manufacturer",
    "model",
    "name",
    "serial_number",
)
_DRIVE: Final = ("name", "model", "capacity_bytes", "serial_number")


def readings(system: System) -> dict[str, dict[str, Reading]]:
    """Return everything there is to read, by type and sensor."""
    return {
        "Fan": _collect(_fans, system, _FAN),
        "Temperature": _collect(_temperatures, system, _TEMPERATURE),
        "Power": _collect(_supplies, system, _SUPPLY),
        "Drive": _collect(_drives, system, _DRIVE),
    }


Found = Iterable[tuple[str, object]]


def _collect(find: Callable[[System], Found], system: System, names: tuple[str, ...]) -> dict[str, Reading]:
    return optional(lambda: {name: _reading(item, names) for name, item in find(system)}, {})


def _fans(system: System) -> Found:
    return ((_name(fan, chassis), fan) for chassis in system.chassis for fan in chassis.thermal.fans)


def _temperatures(system: System) -> Found:
    return ((_name(probe, chassis), probe) for chassis in system.chassis for probe in chassis.thermal.temperatures)


def _supplies(system: System) -> Found:
    return (
        (f"{number}@{chassis.identity}", supply)
        for chassis in system.chassis
        for number, supply in enumerate(chassis.power.power_supplies)
    )


def _drives(system: System) -> Found:
    return (
        (f"{drive.name}:{storage.identity}@{system.identity}", drive)
        for storage in system.storage.get_members()
        for drive in storage.drives
    )


def _name(sensor: Any, chassis: Any) -> str:
    return f"{sensor.identity}@{chassis.identity}"


def _reading(item: Any, names: tuple[str, ...]) -> Reading:
    status = item.status
    return {name: _plain(getattr(item, name, None)) for name in names} | {
        "state": _plain(status.state) if status is not None else None,
        "health": _plain(status.health) if status is not None else None,
    }


def _plain(value: object) -> object:
    return value.value if isinstance(value, enum.Enum) else value
