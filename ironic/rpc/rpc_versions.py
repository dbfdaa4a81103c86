"""Versions of the RPC API, the calls and arguments each of them has, and pinning during an upgrade.

A message has its version. A higher minor version only adds calls and arguments, so during an upgrade both releases can
communicate if the newer one sends only what the older one knows: ``[DEFAULT]pin_release_version`` makes it do so.
Another major version is incompatible. ``HISTORY`` has the calls of earlier versions and never changes; a test compares
the present calls with it.
"""

import logging
from collections.abc import Mapping
from typing import Final, NamedTuple

from ironic.core.errors.call_errors import CallHeldBack
from ironic.rpc.rpc_api import Call

LOG = logging.getLogger(__name__)


Known = Mapping[str, tuple[str, ...]]


class Version(NamedTuple):
    """A version of the RPC API."""

    major: int
    minor: int

    @classmethod
    def parse(cls, text: str) -> "Version":
        """Read a version such as ``1.2``; raises ValueError if it is none."""
        major, minor = str(text).split(".")
        return cls(int(major), int(minor))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


FIRST: Final = Version(1, 0)  # calls without an envelope, so without a deadline
PRESENT: Final = Version(1, 1)  # calls with an envelope: their version, and until when they may begin

# Release, as in pin_release_version -> the version that its services send.
RELEASES: Final[Mapping[str, Version]] = {"1.0": FIRST, "1.1": PRESENT}

# Version -> call -> its arguments, for every version before the present one.
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


def pinned_version(pin: str | None) -> Version:
    """Return the version to send: that of the pinned release, else the present one."""
    return RELEASES.get(pin, PRESENT) if pin else PRESENT


def log_pin(pin: str | None) -> None:
    """Log the effect of a pin, which should be removed after the upgrade."""
    if pin in RELEASES:
        LOG.info("Calls to conductors have version %s of the RPC API, that of release %s", pinned_version(pin), pin)
    elif pin:
        own = ", ".join(RELEASES)
        LOG.warning("pin_release_version = %s is no release of this service (%s), so it has no effect", pin, own)


def restricted_to(version: Version, call: Call, arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments that a version knows; raises CallHeldBack if it does not know the call or a needed one."""
    if version not in HISTORY:
        return dict(arguments)
    known = HISTORY[version].get(call.name)
    if known is None:
        raise CallHeldBack(what=call.name)
    for name, value in arguments.items():
        if name not in known and name not in call.advisory and value != call.signature.parameters[name].default:
            raise CallHeldBack(what=f"{name} of {call.name}")
    return {name: value for name, value in arguments.items() if name in known}
