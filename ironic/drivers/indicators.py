"""Lights on a machine: on which components they sit and what they can show. Source: facts/state_machine.yaml."""

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
