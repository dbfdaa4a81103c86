"""Priorities of clean steps that options set, and steps of one interface that share one (S48).

Steps of equal priority in one interface have no order, so a conductor does not start with them, and a reload that would
make them equal is refused. The steps are those that classes declare and, for interfaces that pass on the agent's, those
of the agent whose priority an option sets; what else an agent offers is known only when it runs.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from oslo_config import cfg

from ironic.core.errors import InvalidParameterValue
from ironic.core.flows.steps import INTERFACES, number
from ironic.drivers.contract.interfaces import BaseInterface

LOG = logging.getLogger(__name__)

# ``interface.step`` of the agent -> the option of [deploy] that overrides the priority that the agent reports.
AGENT_OPTIONS: Final[Mapping[str, str]] = {
    "deploy.erase_devices": "erase_devices_priority",
    "deploy.erase_devices_metadata": "erase_devices_metadata_priority",
    "raid.delete_configuration": "delete_configuration_priority",
    "raid.create_configuration": "create_configuration_priority",
}
_OVERRIDE: Final = "clean_step_priority_override"

# What an interface is in messages, its kind, and itself.
Loaded = tuple[str, str, BaseInterface]


@dataclass(frozen=True, slots=True)
class CleanPriorities:
    """Priorities by ``interface.step``; those for any step are checked where they are used."""

    any_step: Mapping[str, Any] = field(default_factory=dict)
    of_agent: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> Self:
        """Return what the options say now."""
        # The option may be repeated: it is a list of dictionaries, or one empty dictionary while it is unset.
        overrides = conf.conductor[_OVERRIDE]
        pieces = [overrides] if isinstance(overrides, Mapping) else (overrides or [])
        of_agent = {name: conf.deploy[option] for name, option in AGENT_OPTIONS.items()}
        return cls(
            {name: value for piece in pieces for name, value in piece.items()},
            {name: value for name, value in of_agent.items() if value is not None},
        )

    def faults(self, loaded: Iterable[Loaded]) -> list[str]:
        """Return a sentence for every priority that enabled steps of one interface share, or that is no number."""
        cleaning = [one for one in loaded if one[1] in INTERFACES["clean"]]
        declared = {name for _, kind, interface in cleaning for name in _declared(kind, interface)}
        found: dict[str, None] = {}
        for what, kind, interface in cleaning:
            by_priority: dict[float, list[str]] = {}
            for name, own in self._steps(kind, interface, declared).items():
                try:
                    by_priority.setdefault(number(self.any_step.get(name, own)), []).append(name)
                except InvalidParameterValue as error:
                    found[f"option [conductor]{_OVERRIDE}, {name}: {error}"] = None
            for priority, names in by_priority.items():
                if priority and len(names) > 1:
                    found[self._clash(what, priority, sorted(names))] = None
        return list(found)

    def _steps(self, kind: str, interface: BaseInterface, declared: set[str]) -> dict[str, Any]:
        """Return the priorities of an interface's steps before any override."""
        steps = _declared(kind, interface)
        if type(interface).agent_steps is BaseInterface.agent_steps:
            return steps
        # An override of a step that no interface declares is one of an agent's step.
        undeclared = {name: 0 for name in self.any_step if name.startswith(f"{kind}.") and name not in declared}
        return {
            **undeclared,
            **steps,
            **{name: own for name, own in self.of_agent.items() if name.startswith(f"{kind}.")},
        }

    def _clash(self, what: str, priority: float, names: list[str]) -> str:
        set_by = [f"[deploy]{AGENT_OPTIONS[name]}" for name in names if name in self.of_agent]
        options = " or ".join([*set_by, f"[conductor]{_OVERRIDE}"])
        steps = ", ".join(name.partition(".")[2] for name in names)
        return f"{what} has clean steps of equal priority {priority:g}: {steps}; change one with option {options}"


def _declared(kind: str, interface: BaseInterface) -> dict[str, Any]:
    return {f"{kind}.{step['step']}": step["priority"] for step in interface.all_steps("clean")}


class ReloadedPriorities:
    """Keeps the options for the agent's steps as they were while a reload would make steps equal."""

    def __init__(self, conf: cfg.ConfigOpts, loaded: Iterable[Loaded]) -> None:
        self._conf, self._loaded = conf, tuple(loaded)
        self._accepted = self._values()
        self._is_kept = False

    def reload(self) -> None:
        """Check the options that were read again; after a fault all of them stay as they were, and the log says so."""
        if self._is_kept:
            for option in self._accepted:
                self._conf.clear_override(option, "deploy")
            self._is_kept = False
        faults = CleanPriorities.from_conf(self._conf).faults(self._loaded)
        if not faults:
            self._accepted = self._values()
            return
        for option, value in self._accepted.items():
            self._conf.set_override(option, value, "deploy")
        self._is_kept = True
        LOG.error("Changed priorities of clean steps are refused, the former ones stay: %s.", "; ".join(faults))

    def _values(self) -> dict[str, int | None]:
        return {option: self._conf.deploy[option] for option in AGENT_OPTIONS.values()}
