"""Operator options that choose drivers and interfaces, as plain values read once at start.

`HARDWARE_TYPES` and `INTERFACES` are the names that the reference has and this service does not implement yet, see
doc/contract/drivers.md#names-of-entry-points. Enabling one is no fault: it is skipped with a warning, unless it is of
the kinds in `NEVER_SKIPPED`. Delete a name here when it is implemented; a test checks that no name is both in these
lists and an entry point.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from oslo_config import cfg

from ironic.conf import config_files, drivers
from ironic.core.hardware_interfaces import KINDS, interface_field
from ironic.drivers.clean_priorities import CleanPriorities

HARDWARE_TYPES: Final[frozenset[str]] = frozenset({"idrac"})

INTERFACES: Final[Mapping[str, frozenset[str]]] = {
    "bios": frozenset({"idrac-redfish"}),
    "boot": frozenset({"idrac-redfish-virtual-media"}),
    "console": frozenset(),
    "deploy": frozenset({"anaconda", "ansible", "bootc"}),
    "firmware": frozenset(),
    "inspect": frozenset({"idrac-redfish"}),
    "management": frozenset({"idrac-redfish"}),
    "network": frozenset({"flat", "ironic-networking", "neutron"}),
    "power": frozenset({"idrac-redfish"}),
    "raid": frozenset({"idrac-redfish"}),
    "rescue": frozenset(),
    "storage": frozenset({"cinder", "external"}),
    "vendor": frozenset({"idrac-redfish"}),
}

# Without the interface that was asked for, a tenant's machine would be on another network, or without its volumes.
NEVER_SKIPPED: Final[frozenset[str]] = frozenset({"network", "storage"})


@dataclass(frozen=True, slots=True)
class DriverOptions:
    """Enabled drivers and interfaces, defaults for new nodes, changed priorities of clean steps."""

    hardware_types: tuple[str, ...] = ()

    # None stands for an unset option: the first supported interface of every enabled hardware type.
    enabled: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)
    defaults: Mapping[str, str | None] = field(default_factory=dict)

    clean_priorities: CleanPriorities = field(default_factory=CleanPriorities)

    classic_drivers: tuple[str, ...] = ()

    # The kinds whose enabled interfaces the operator did not choose: they are those of the option's default.
    unasked: frozenset[str] = frozenset()

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> Self:
        """Return the values of the options."""
        enabled: dict[str, tuple[str, ...] | None] = {}
        unasked = set()
        for kind in KINDS:
            # Deployment tools write an empty value where they leave the choice to the service.
            names = conf[enabled_option(kind)] or drivers.ENABLED[kind]
            enabled[kind] = None if names is None else tuple(dict.fromkeys(names))
            if not conf[enabled_option(kind)] or not config_files.is_set(conf, "DEFAULT", enabled_option(kind)):
                unasked.add(kind)
        return cls(
            hardware_types=tuple(dict.fromkeys(conf.enabled_hardware_types)),
            classic_drivers=tuple(dict.fromkeys(conf.enabled_drivers)),
            enabled=enabled,
            defaults={kind: conf[default_option(kind)] or None for kind in KINDS},
            unasked=frozenset(unasked),
            clean_priorities=CleanPriorities.from_conf(conf),
        )


def enabled_option(kind: str) -> str:
    """Return the name of the option that lists the enabled interfaces of a kind."""
    return f"enabled_{interface_field(kind)}s"


def default_option(kind: str) -> str:
    """Return the name of the option that sets the default interface of a kind."""
    return f"default_{interface_field(kind)}"
