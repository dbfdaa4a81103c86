"""Sensors of a chassis with the newer schemas, which have ThermalSubsystem and PowerSubsystem for Thermal and Power.

Each fan and each power supply is a resource of its own there. Temperatures are those of the thermal metrics, or else
the sensors of the chassis of that type. Fields have the names that the library gives to those of the older schemas.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Final

from ironic.drivers.modules.redfish.tree.certainty import Resource
from ironic.drivers.modules.redfish.tree.members import paths_in
from ironic.drivers.modules.redfish.wire.bmc_system import connector_of, optional
from ironic.drivers.modules.redfish.wire.plain_paths import end_of

Document = Mapping[str, Any]

POWER: Final = "PowerSubsystem"
_THERMAL: Final = "ThermalSubsystem"
# Each is a request of its own.
_MOST: Final = 100
_TEMPERATURE: Final = "Temperature"


@dataclass(frozen=True, slots=True)
class Status:
    """State and health as the BMC has them."""

    state: str | None
    health: str | None


@dataclass(frozen=True, slots=True)
class Fan:
    """A fan; its reading is in percent of its highest speed, or in revolutions per minute."""

    identity: str
    reading: float | None
    reading_units: str | None
    serial_number: str | None
    physical_context: str | None
    status: Status | None


@dataclass(frozen=True, slots=True)
class Temperature:
    """A temperature in degrees Celsius."""

    identity: str
    reading_celsius: float | None
    max_reading_range_temp: float | None
    min_reading_range_temp: float | None
    physical_context: str | None
    status: Status | None


@dataclass(frozen=True, slots=True)
class Supply:
    """A power supply."""

    identity: str
    power_capacity_watts: float | None
    line_input_voltage: float | None
    last_power_output_watts: float | None
    serial_number: str | None
    status: Status | None


def fans(chassis: Resource) -> Iterator[Fan]:
    """Yield the fans of a chassis; none where the BMC has no such resources, here and below."""
    for fan in _members(chassis, _at(chassis, chassis.json, _THERMAL).get("Fans")):
        speed = fan.get("SpeedPercent", {})
        percent, per_minute = speed.get("Reading"), speed.get("SpeedRPM")
        is_percent = percent is not None
        yield Fan(
            str(fan["Id"]), percent if is_percent else per_minute,
            "Percent" if is_percent else None if per_minute is None else "RPM",
            fan.get("SerialNumber"), fan.get("PhysicalContext"), _status(fan),
        )  # fmt: skip


def temperatures(chassis: Resource) -> Iterator[Temperature]:
    """Yield the temperatures of a chassis."""
    metrics = _at(chassis, _at(chassis, chassis.json, _THERMAL), "ThermalMetrics")
    found = metrics.get("TemperatureReadingsCelsius") or [
        sensor for sensor in _members(chassis, chassis.json.get("Sensors")) if sensor.get("ReadingType") == _TEMPERATURE
    ]
    for number, sensor in enumerate(found):
        source = end_of(str(sensor.get("DataSourceUri") or ""))
        yield Temperature(
            str(sensor.get("Id") or source or sensor.get("DeviceName") or number), sensor.get("Reading"),
            sensor.get("ReadingRangeMax"), sensor.get("ReadingRangeMin"), sensor.get("PhysicalContext"),
            _status(sensor),
        )  # fmt: skip


def supplies(chassis: Resource) -> Iterator[Supply]:
    """Yield the power supplies of a chassis."""
    for supply in _members(chassis, _at(chassis, chassis.json, POWER).get("PowerSupplies")):
        metrics = _at(chassis, supply, "Metrics")
        yield Supply(
            str(supply["Id"]), supply.get("PowerCapacityWatts"), metrics.get("InputVoltage", {}).get("Reading"),
            metrics.get("OutputPowerWatts", {}).get("Reading"), supply.get("SerialNumber"), _status(supply),
        )  # fmt: skip


def _status(document: Document) -> Status | None:
    status = document.get("Status")
    return None if status is None else Status(status.get("State"), status.get("Health"))


def _at(chassis: Resource, document: Document, name: str) -> Document:
    """Return the resource that a link leads to, an empty one where it can't be read."""
    return next(_read(chassis, paths_in(document.get(name))), {})


def _members(chassis: Resource, links: object) -> Iterable[Document]:
    """Yield the members of a collection that can be read; ``links`` are one to it, or those to its members."""
    for document in _read(chassis, paths_in(links)):
        if "Members" in document:
            yield from _read(chassis, paths_in(document["Members"]))
        else:
            yield document


def _read(chassis: Resource, paths: Iterable[str]) -> Iterator[Document]:
    connector = connector_of(chassis)

    def read(path: str) -> Document:
        found: Document = connector.get(path).json()
        return found

    nothing: Document = {}
    for path in islice(paths, _MOST):
        if document := optional(partial(read, path), nothing):
            yield document
