"""Versions of the conversation, and what each of them knew.

A message says which version it is written in. A higher minor version only adds calls and arguments, so both neighbours
of an upgrade understand each other once the newer one keeps to what the older one knows: that is what
``[DEFAULT]pin_release_version`` asks for. A higher major version is another conversation. ``HISTORY`` holds what
earlier versions knew and never changes; a test holds the present conversation against it.
"""

import logging
from collections.abc import Mapping
from typing import Final, NamedTuple

from ironic.core.call_errors import CallHeldBack
from ironic.rpc.call import Call

LOG = logging.getLogger(__name__)

Known = Mapping[str, tuple[str, ...]]


class Version(NamedTuple):
    """A version of the conversation."""

    major: int
    minor: int

    @classmethod
    def parse(cls, text: str) -> "Version":
        """Read ``1.2``; ValueError if it is no version."""
        major, minor = str(text).split(".")
        return cls(int(major), int(minor))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


FIRST: Final = Version(1, 0)  # calls without an envelope, so nothing says when they were made
PRESENT: Final = Version(1, 1)  # calls carry an envelope: their version, and until when they may be begun

# Release -> the version its services speak. The names are those that pin_release_version takes.
RELEASES: Final[Mapping[str, Version]] = {"1.0": FIRST, "1.1": PRESENT}

# Version -> call -> its arguments, for every version older than the present one.
HISTORY: Final[Mapping[Version, Known]] = {
    FIRST: {
        "change_node_power_state": ("node_id", "target", "timeout"),
        "change_provision_state": ("node_id", "verb", "arguments"),
        "destroy_node": ("node_id",),
        "validate_interfaces": ("node_id",),
        "driver_properties": ("hardware_type",),
        "set_boot_device": ("node_id", "device", "persistent"),
        "get_boot_device": ("node_id",),
        "supported_boot_devices": ("node_id",),
        "update_port": ("port_id", "changes"),
        "destroy_port": ("port_id",),
        "heartbeat": ("node_id", "beat"),
        "continue_inspection": ("node_id", "inventory", "plugin_data"),
    },
}


def spoken(pin: str | None) -> Version:
    """Return the version to speak: that of the release pinned to, else the present one."""
    return RELEASES.get(pin, PRESENT) if pin else PRESENT


def tell_of_pin(pin: str | None) -> None:
    """Log what a pin means, for it is meant to go away again."""
    if pin in RELEASES:
        LOG.info("Conductors are asked in version %s of the conversation, that of release %s", spoken(pin), pin)
    elif pin:
        own = ", ".join(RELEASES)
        LOG.warning("pin_release_version = %s is no release of this service (%s), so nothing is held back", pin, own)


def held_to(version: Version, call: Call, arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments as this version knew them, or raise CallHeldBack if it takes more than that."""
    if version not in HISTORY:
        return dict(arguments)
    known = HISTORY[version].get(call.name)
    if known is None:
        raise CallHeldBack(what=call.name)
    for name, value in arguments.items():
        if name not in known and value != call.signature.parameters[name].default:
            raise CallHeldBack(what=f"{name} of {call.name}")
    return {name: value for name, value in arguments.items() if name in known}
