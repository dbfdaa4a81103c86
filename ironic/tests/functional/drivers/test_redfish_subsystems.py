"""Sensors of chassis with the newer schemas, and what odd BMCs have in them."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.tests.functional.drivers.hostile_bmc import Handler, HostileBmc, hostile_bmc
from ironic.tests.functional.drivers.test_odd_machines import answer_at, hang_up, on

CHASSIS = "/redfish/v1/Chassis/1"
THERMAL = f"{CHASSIS}/ThermalSubsystem"
POWER = f"{CHASSIS}/PowerSubsystem"
SENSORS = f"{CHASSIS}/Sensors"
GOOD = {"State": "Enabled", "Health": "OK"}


def link(path: str) -> dict[str, str]:
    return {"@odata.id": path}


def members(*paths: str) -> dict[str, Any]:
    return {"Name": "All", "Members": [link(path) for path in paths]}


def documents() -> dict[str, dict[str, Any]]:
    found = {
        CHASSIS: {"ThermalSubsystem": link(THERMAL), "PowerSubsystem": link(POWER), "Sensors": link(SENSORS)},
        THERMAL: {"Fans": link(f"{THERMAL}/Fans"), "ThermalMetrics": link(f"{THERMAL}/ThermalMetrics")},
        f"{THERMAL}/Fans": members(f"{THERMAL}/Fans/Bay1", f"{THERMAL}/Fans/Bay2"),
        f"{THERMAL}/Fans/Bay1": {
            "SpeedPercent": {"Reading": 45, "SpeedRPM": 2200, "DataSourceUri": f"{SENSORS}/FanBay1"},
            "SerialNumber": "F1", "PhysicalContext": "Chassis", "Status": GOOD,
        },
        f"{THERMAL}/Fans/Bay2": {"SpeedPercent": {"SpeedRPM": 2400}},
        f"{THERMAL}/ThermalMetrics": {
            "TemperatureReadingsCelsius": [
                {"Reading": 24.8, "DeviceName": "Intake", "DataSourceUri": f"{SENSORS}/AmbientTemp"},
                {"Reading": 61, "PhysicalContext": "CPU", "DeviceName": "CPU 1"},
                {"Reading": 62},
            ],
        },
        POWER: {"PowerSupplies": link(f"{POWER}/PowerSupplies")},
        f"{POWER}/PowerSupplies": members(f"{POWER}/PowerSupplies/Bay1"),
        f"{POWER}/PowerSupplies/Bay1": {
            "PowerCapacityWatts": 800, "SerialNumber": "P1", "Status": GOOD,
            "Metrics": link(f"{POWER}/PowerSupplies/Bay1/Metrics"),
        },
        f"{POWER}/PowerSupplies/Bay1/Metrics": {
            "InputVoltage": {"Reading": 230.2}, "OutputPowerWatts": {"Reading": 185},
        },
        SENSORS: members(f"{SENSORS}/AmbientTemp", f"{SENSORS}/FanBay1"),
        f"{SENSORS}/AmbientTemp": {
            "ReadingType": "Temperature", "Reading": 24.8, "ReadingRangeMax": 90, "ReadingRangeMin": -10,
            "PhysicalContext": "Intake", "Status": GOOD,
        },
        f"{SENSORS}/FanBay1": {"ReadingType": "Percent", "Reading": 45},
    }  # fmt: skip
    return {path: {"@odata.id": path, "Id": path.rpartition("/")[2], **document} for path, document in found.items()}


@pytest.fixture
def bmc() -> Iterator[HostileBmc]:
    with hostile_bmc(Links={"Chassis": [link(CHASSIS)]}) as running:
        running.documents |= documents()
        yield running


def sensors(bmc: HostileBmc) -> dict[str, dict[str, Any]]:
    return RedfishManagement().get_sensors_data(on(bmc))


def names(bmc: HostileBmc) -> dict[str, set[str]]:
    return {kind: set(found) for kind, found in sensors(bmc).items() if kind != "Extra"}


NAMES: dict[str, set[str]] = {
    "Fan": {"Bay1@1", "Bay2@1"},
    "Temperature": {"AmbientTemp@1", "CPU 1@1", "2@1"},
    "Power": {"Bay1:PowerSubsystem@1"},
    "Drive": set(),
}


@pytest.mark.difference("newer sensors only")
def test_sensors_of_the_newer_schemas_have_the_fields_of_the_older_ones(bmc: HostileBmc) -> None:
    found, state = sensors(bmc), {"state": "Enabled", "health": "OK"}
    assert names(bmc) == NAMES
    unknown = {"max_reading_range": None, "min_reading_range": None}
    assert found["Fan"] == {
        "Bay1@1": {
            "identity": "Bay1", "reading": 45, "reading_units": "Percent", "serial_number": "F1",
            "physical_context": "Chassis", **unknown, **state,
        },
        "Bay2@1": {
            "identity": "Bay2", "reading": 2400, "reading_units": "RPM", "serial_number": None,
            "physical_context": None, **unknown,
        },
    }  # fmt: skip
    assert [found["Temperature"][name]["reading_celsius"] for name in ("AmbientTemp@1", "CPU 1@1", "2@1")] == [
        24.8, 61, 62,
    ]  # fmt: skip
    assert found["Power"]["Bay1:PowerSubsystem@1"] == {
        "power_capacity_watts": 800, "line_input_voltage": 230.2, "last_power_output_watts": 185,
        "serial_number": "P1", **state,
    }  # fmt: skip


def test_temperatures_are_those_of_the_sensors_where_there_are_no_metrics(bmc: HostileBmc) -> None:
    del bmc.documents[f"{THERMAL}/ThermalMetrics"]
    assert sensors(bmc)["Temperature"] == {
        "AmbientTemp@1": {
            "identity": "AmbientTemp", "reading_celsius": 24.8, "max_reading_range_temp": 90,
            "min_reading_range_temp": -10, "physical_context": "Intake", "sensor_number": None, "state": "Enabled",
            "health": "OK",
        },
    }  # fmt: skip


def test_the_older_schemas_are_read_where_they_have_sensors(bmc: HostileBmc) -> None:
    bmc.documents[CHASSIS] |= {"Thermal": link(f"{CHASSIS}/Thermal"), "Power": link(f"{CHASSIS}/Power")}
    bmc.documents[f"{CHASSIS}/Thermal"] = {"Id": "Thermal", "Fans": [{"MemberId": "7", "Reading": 1}]}
    bmc.documents[f"{CHASSIS}/Power"] = {"Id": "Power", "PowerSupplies": None}
    assert names(bmc) == {**NAMES, "Fan": {"7@1"}}
    assert bmc.count("GET", f"{THERMAL}/Fans") == 0


@pytest.mark.parametrize(
    "place, change, lost",
    [
        (THERMAL, {"Fans": None}, {"Fan": set()}),
        (THERMAL, {"Fans": [link(f"{THERMAL}/Fans/Bay1"), link(f"{THERMAL}/Fans/Bay2")]}, {}),
        (THERMAL, {"ThermalMetrics": 5}, {"Temperature": {"AmbientTemp@1"}}),
        (f"{THERMAL}/Fans/Bay1", {"SpeedPercent": None, "Status": "Enabled"}, {}),
        (f"{THERMAL}/Fans/Bay1", {"SpeedPercent": {"Reading": "45 %"}, "Status": {"State": 5, "Health": []}}, {}),
        (f"{THERMAL}/Fans/Bay1", {"SpeedPercent": 45, "SerialNumber": ["F1"], "PhysicalContext": {}}, {}),
        (f"{THERMAL}/Fans", {"Members": None}, {"Fan": set()}),
        (f"{THERMAL}/Fans", {"Members": [link("/gone"), link(f"{THERMAL}/Fans/Bay2"), 5]}, {"Fan": {"Bay2@1"}}),
        (f"{THERMAL}/ThermalMetrics", {"TemperatureReadingsCelsius": None}, {"Temperature": {"AmbientTemp@1"}}),
        (
            f"{THERMAL}/ThermalMetrics",
            {"TemperatureReadingsCelsius": [None, 5, {"Reading": "hot", "DataSourceUri": [1]}]},
            {"Temperature": {"0@1"}},
        ),
        (POWER, {"PowerSupplies": "none"}, {"Power": set()}),
        (f"{POWER}/PowerSupplies/Bay1", {"PowerCapacityWatts": "800 W", "Metrics": None, "Status": []}, {}),
        (f"{POWER}/PowerSupplies/Bay1/Metrics", {"InputVoltage": 230, "OutputPowerWatts": [{"Reading": {}}]}, {}),
        (CHASSIS, {"Sensors": None}, {}),
        (CHASSIS, {"ThermalSubsystem": [link("http://192.0.2.7/x")]}, {"Fan": set(), "Temperature": {"AmbientTemp@1"}}),
    ],
)
def test_what_is_odd_takes_away_only_itself(
    bmc: HostileBmc, place: str, change: dict[str, Any], lost: dict[str, set[str]]
) -> None:
    bmc.documents[place] |= change
    assert names(bmc) == {**NAMES, **lost}


@pytest.mark.parametrize(
    "answer",
    [
        lambda handler: handler.answer(500, {}), lambda handler: handler.answer(200, [1]),
        lambda handler: handler.send(200, b"<html>"), lambda handler: handler.answer(403, {}), hang_up,
    ],
)  # fmt: skip
def test_a_dead_resource_takes_away_only_itself(
    bmc: HostileBmc, answer: Callable[[Handler], None], conf: Callable[..., Any]
) -> None:
    conf(redfish__connection_attempts=1)
    for place, lost in (
        (f"{THERMAL}/Fans/Bay1", {"Fan": {"Bay2@1"}}),
        (f"{POWER}/PowerSupplies/Bay1/Metrics", {}),
        (f"{SENSORS}/AmbientTemp", {}),
        (THERMAL, {"Fan": set(), "Temperature": {"AmbientTemp@1"}}),
    ):
        bmc.misbehave = answer_at(place, answer)
        assert names(bmc) == {**NAMES, **lost}, place


def test_a_machine_of_many_sensors_is_read_within_bounds(bmc: HostileBmc) -> None:
    del bmc.documents[f"{THERMAL}/ThermalMetrics"]
    paths = [f"{SENSORS}/T{number}" for number in range(150)]
    bmc.documents[SENSORS] = members(*paths)
    bmc.documents |= {path: {"Id": path[-4:], "ReadingType": "Temperature", "Reading": 1} for path in paths}
    assert len(sensors(bmc)["Temperature"]) == 100
