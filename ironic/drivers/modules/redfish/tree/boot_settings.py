"""How a Redfish machine boots: its boot override, and what its settings object has for the next start."""

from typing import Any, Final, NamedTuple

import sushy
from sushy import exceptions as sushy_errors

from ironic.core.readings import ABSENT, Unreadable, Value
from ironic.drivers.modules.redfish.tree.certainty import Document, Resource, value_at, word_at
from ironic.drivers.modules.redfish.wire.bmc_system import System, connector_of, optional
from ironic.drivers.modules.redfish.wire.differences import Behaviour
from ironic.drivers.modules.redfish.wire.quirks import shows

_BOOT: Final = "Boot"
_SETTINGS: Final = "@Redfish.Settings"


class BootSettings(NamedTuple):
    """The boot device, for how long it is set, and the boot mode, each in the words of the library."""

    target: Value[sushy.BootSource]
    enabled: Value[sushy.BootSourceOverrideEnabled]
    mode: Value[sushy.BootSourceOverrideMode]

    @property
    def names_device(self) -> bool:
        """Whether it says which device is set, be it in a word that is not known."""
        return self.target is not ABSENT


def boot_of(resource: Resource) -> BootSettings:
    """Return the boot settings of a system, or of its settings object."""
    boot = value_at(resource, _BOOT, dict)
    if isinstance(boot, Unreadable):
        return BootSettings(boot, boot, boot)
    document = Document(resource.path, boot.shown({}))
    return BootSettings(
        word_at(document, "BootSourceOverrideTarget", sushy.BootSource),
        word_at(document, "BootSourceOverrideEnabled", sushy.BootSourceOverrideEnabled),
        word_at(document, "BootSourceOverrideMode", sushy.BootSourceOverrideMode),
    )


def shown_boots(system: System) -> list[BootSettings]:
    """Return the boot settings of a system and of its settings object, of those that say which device is set."""
    settings = _settings_of(system)
    every = [boot_of(resource) for resource in (system, settings) if resource is not None]
    return [boot for boot in every if boot.names_device]


def leave_out_lost_settings(system: System) -> None:
    """Have the library change the system itself where its settings object can't be read."""
    if _SETTINGS in system.json and _settings_of(system) is None:
        system.refresh(force=True, json_doc={name: value for name, value in system.json.items() if name != _SETTINGS})


def _settings_of(system: System) -> Document | None:
    path = system.json.get(_SETTINGS, {}).get("SettingsObject", {}).get("@odata.id")
    found: dict[str, Any] | None = optional(lambda: connector_of(system).get(path).json(), None) if path else None
    return Document(path, found) if found else None


def secure_boot_of(system: System) -> Value[bool]:
    """Return whether secure boot is on; raise MissingAttributeError of the library where the machine has none."""
    try:
        return value_at(system.secure_boot, "SecureBootEnable", bool)
    except sushy_errors.HTTPError as error:
        if shows(error, Behaviour.REFUSES_UNLICENSED):
            return Unreadable(error)
        raise
