"""Indicators (LEDs) of machines: the components that have them, and their states.

Source: doc/contract/states.md#devices-and-lights.
"""

from typing import Final

CHASSIS: Final = "chassis"
SYSTEM: Final = "system"
DISK: Final = "disk"
POWER: Final = "power"
NIC: Final = "nic"

COMPONENTS: Final = (CHASSIS, SYSTEM, DISK, POWER, NIC)

OFF: Final = "off"
ON: Final = "on"
BLINKING: Final = "blinking"
UNKNOWN: Final = "unknown"
