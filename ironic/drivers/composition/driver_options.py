"""Operator options that choose drivers and interfaces, as plain values read once at start."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from oslo_config import cfg

from ironic.conf import config_files, drivers
from ironic.core.hardware_interfaces import KINDS, interface_field
from ironic.drivers.composition.clean_priorities import CleanPriorities


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
