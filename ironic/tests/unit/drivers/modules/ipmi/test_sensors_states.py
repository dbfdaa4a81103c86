"""States of sensors that ipmitool writes on lines of their own."""

from ironic.drivers.modules.ipmi.sensors import readings

TEXT = """Sensor ID              : PS Redundancy (0x77)
 Entity ID             : 7.1 (System Board)
 Sensor Type (Discrete): Power Supply (0x08)
 Sensor Reading        : 0h
 States Asserted       : Redundancy State
                         [Redundancy Lost]
                         [Non-Redundant: Sufficient from Redundant]
 Assertions Enabled    : Redundancy State

[stray]
"""


def test_they_belong_to_the_field_above() -> None:
    sensor = readings(TEXT)["Power"]["PS Redundancy (0x77)"]
    assert sensor["States Asserted"] == (
        "Redundancy State [Redundancy Lost] [Non-Redundant: Sufficient from Redundant]"
    )
    assert not [name for name in sensor if name.startswith("[")]
