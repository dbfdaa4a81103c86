"""Sensors of a Redfish machine: fans, temperatures, power supplies and drives.

Readings are plain data: the field names of sushy with values that JSON can express. A missing branch is empty.
"""

import enum
from collections.abc import Callable, Iterable
from typing import Any, Final

from ironic.drivers.modules.redfish.bmc_connection import System, drives_of, optional

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

    def fans() -> Found:
        return ((_name(fan, chassis), fan) for chassis in system.chassis for fan in chassis.thermal.fans)

    def temperatures() -> Found:
        return ((_name(probe, chassis), probe) for chassis in system.chassis for probe in chassis.thermal.temperatures)

    def supplies() -> Found:
        return (
            (f"{supply.identity or number}:{chassis.power.identity}@{chassis.identity}", supply)
            for chassis in system.chassis
            for number, supply in enumerate(chassis.power.power_supplies)
        )

    def drives() -> Found:
        return (
            (f"{drive.name}:{storage.identity}@{system.identity}", drive)
            for storage in system.storage.get_members()
            for drive in drives_of(storage)
            if drive.capacity_bytes
        )

    def devices() -> Found:
        return (
            (f"{device.name}:{storage.identity}@{system.identity}", device)
            for storage in system.simple_storage.get_members()
            for device in storage.devices or ()
            if device.capacity_bytes
        )

    return {
        "Fan": _collect(fans, _FAN),
        "Temperature": _collect(temperatures, _TEMPERATURE),
        "Power": _collect(supplies, _SUPPLY),
        "Drive": _collect(drives, _DRIVE) or _collect(devices, _DRIVE),
        "Extra": {"Manufacturer": system.manufacturer, "Model": system.model, "UUID": system.uuid},
    }


def _name(sensor: Any, chassis: Any) -> str:
    return f"{sensor.identity}@{chassis.identity}"


def _collect(find: Callable[[], Found], names: tuple[str, ...]) -> dict[str, Reading]:
    """Return the named fields, state and health of each sensor."""

    def reading(item: Any) -> Reading:
        found = {name: _plain(getattr(item, name, None)) for name in names}
        if (status := item.status) is None:
            return found
        state, health = _plain(status.state), _plain(status.health)
        # Drives of some BMCs have a health but no state.
        return found | {"state": "Enabled" if health and state is None else state, "health": health}

    return optional(lambda: {name: reading(item) for name, item in find()}, {})


def _plain(value: object) -> object:
    return value.value if isinstance(value, enum.Enum) else value
