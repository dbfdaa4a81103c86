"""What a machine's BMC tells on request, as documents that drivers return, conductors hand on and the API shows."""

from typing import TypedDict


class BootDevice(TypedDict, total=False):
    """What a machine boots from; None where it does not tell."""

    boot_device: str | None
    persistent: bool | None


class Console(TypedDict, total=False):
    """How to reach an open console; one that nobody can reach says nothing."""

    type: str
    url: str


class Light(TypedDict):
    """A light on a machine: whether it can only be read, and what it can show."""

    readonly: bool
    states: list[str]


# By component, then by name.
Lights = dict[str, dict[str, Light]]
