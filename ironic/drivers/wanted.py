"""What the operator's options ask for, as plain values; read once at start."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from oslo_config import cfg

from ironic.core.interface_kinds import KINDS, interface_field


@dataclass(frozen=True, slots=True)
class Wanted:
    """Enabled hardware types and interfaces, defaults of new nodes, changed priorities of clean steps."""

    hardware_types: tuple[str, ...] = ()

    # None stands for an option left out: the first supported implementation of every enabled hardware type.
    enabled: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)
    defaults: Mapping[str, str | None] = field(default_factory=dict)

    # By ``interface.step``; the values are checked where they are used.
    clean_priorities: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> Self:
        """Read the options."""
        return cls(
            hardware_types=_unique(conf.enabled_hardware_types),
            enabled={kind: _listed(conf[enabled_option(kind)]) for kind in KINDS},
            defaults={kind: conf[default_option(kind)] for kind in KINDS},
            clean_priorities=_merged(conf.conductor.clean_step_priority_override),
        )


def enabled_option(kind: str) -> str:
    """Name of the option that lists the enabled implementations of a kind."""
    return f"enabled_{interface_field(kind)}s"


def default_option(kind: str) -> str:
    """Name of the option that sets the default of a kind."""
    return f"default_{interface_field(kind)}"


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _listed(names: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if names is None else _unique(names)


def _merged(given: Any) -> dict[str, Any]:
    """Merge an option that may be repeated; unset, it is one empty dictionary instead of a list of them."""
    pieces = [given] if isinstance(given, Mapping) else (given or [])
    return {name: value for piece in pieces for name, value in piece.items()}
