"""Putting the drivers together at start, and finding everything that speaks against it.

What an operator enabled is loaded only as far as an enabled hardware type can use it (S17). A fault is noted and the
rest is looked at all the same, so that one start tells everything (S16). What the reference has and this service does
not have yet is no fault: it is skipped with a warning, and so is a hardware type that is incomplete without it.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ironic.core.errors import DriverLoadError, InvalidParameterValue
from ironic.core.interface_choice import choose_default
from ironic.core.interface_kinds import KINDS
from ironic.core.steps import INTERFACES, number
from ironic.drivers import not_yet_built
from ironic.drivers.extensions import TYPES_GROUP, Extension, Extensions, interfaces_group
from ironic.drivers.hardware_type import AbstractHardwareType
from ironic.drivers.interfaces import BASES, BaseInterface
from ironic.drivers.offer import Offer
from ironic.drivers.supported import supported_names
from ironic.drivers.wanted import Wanted, default_option, enabled_option

LOG = logging.getLogger(__name__)

Names = Mapping[str, Sequence[str]]
Composed = tuple[dict[str, AbstractHardwareType], dict[str, dict[str, Offer]], dict[tuple[str, str], BaseInterface]]


class Composer:
    """One start's worth of composing."""

    def __init__(self, wanted: Wanted, extensions: Extensions) -> None:
        self._wanted = wanted
        self._extensions = extensions
        self._faults: list[str] = []
        self._skipped: dict[str, set[str]] = {kind: set() for kind in KINDS}

    def compose(self) -> Composed:
        """Return hardware types, what each offers, and the implementations; or raise all faults at once."""
        types = self._hardware_types()
        supported = {name: self._supported(name, hardware_type) for name, hardware_type in types.items()}
        enabled = {kind: self._enabled(kind, supported) for kind in KINDS}
        usable = {name: self._usable(types[name], supported[name], enabled) for name in types}
        usable = {name: kinds for name, kinds in usable.items() if not self._is_skipped(name, kinds)}
        implementations = self._implementations(usable)
        offers = self._offers(usable, supported, enabled)
        self._finish(usable)
        return {name: types[name] for name in usable}, offers, implementations

    # What there is

    def _hardware_types(self) -> dict[str, AbstractHardwareType]:
        published = self._extensions.get(TYPES_GROUP, {})
        found: dict[str, AbstractHardwareType] = {}
        for name in self._wanted.hardware_types:
            what = f"hardware type {name}"
            if self._is_installed(what, name, published, not_yet_built.HARDWARE_TYPES, "enabled_hardware_types"):
                instance = self._make(what, published[name], AbstractHardwareType)
                if instance is not None:
                    found[name] = instance
        return found

    def _supported(self, name: str, hardware_type: AbstractHardwareType) -> Names:
        """Return what a hardware type supports; a list that can't be made is a fault, and empty."""
        found: dict[str, Sequence[str]] = {}
        for kind in KINDS:
            try:
                found[kind] = supported_names(hardware_type, kind, self._extensions)
            except Exception as error:
                self._fault(f"hardware type {name} can't tell the {kind} interfaces it supports: {_reason(error)}")
        return found

    def _enabled(self, kind: str, supported: Mapping[str, Names]) -> tuple[str, ...]:
        """Return what is enabled of a kind and installed."""
        names = self._wanted.enabled.get(kind)
        if names is None:
            firsts = (kinds[kind][0] for kinds in supported.values() if kinds.get(kind))
            return tuple(dict.fromkeys(firsts))
        published = self._extensions.get(interfaces_group(kind), {})
        missing = not_yet_built.INTERFACES[kind]
        self._skipped[kind].update(name for name in names if name not in published and name in missing)
        option = enabled_option(kind)
        return tuple(
            name for name in names if self._is_installed(f"{kind} interface {name}", name, published, missing, option)
        )

    def _is_installed(
        self, what: str, name: str, published: Collection[str], missing: Collection[str], option: str
    ) -> bool:
        if name in published:
            return True
        if name in missing:
            LOG.warning("Skipping %s, which is enabled but not built yet in this release. See option %s.", what, option)
        else:
            known = ", ".join(sorted(published)) or "none"
            self._fault(f"there is no {what} (option {option}); installed ones: {known}")
        return False

    # What goes together

    def _usable(self, hardware_type: AbstractHardwareType, supported: Names, enabled: Names) -> Names:
        """Return what is both supported and enabled, in the hardware type's order; then what it accepts besides."""
        usable: dict[str, Sequence[str]] = {}
        for kind in KINDS:
            if kind in supported:
                names = [name for name in supported[kind] if name in enabled[kind]]
                besides = enabled[kind] if hardware_type.accepts_any_enabled else ()
                usable[kind] = tuple(dict.fromkeys([*names, *besides]))
        return usable

    def _is_skipped(self, name: str, usable: Names) -> bool:
        """Tell whether a hardware type only lacks what isn't built yet; one that lacks something else is a fault."""
        empty = [kind for kind in usable if not usable[kind]]
        faulty = [kind for kind in empty if not self._skipped[kind]]
        for kind in faulty:
            self._fault(
                f"hardware type {name} supports none of the enabled {kind} interfaces; "
                f"enable one that it supports (option {enabled_option(kind)})"
            )
        if not empty or faulty:
            return False
        left_out = " and ".join(f"{kind} interfaces ({', '.join(sorted(self._skipped[kind]))})" for kind in empty)
        LOG.warning("Skipping hardware type %s: it can't do without %s, not built yet.", name, left_out)
        return True

    def _offers(
        self, usable: Mapping[str, Names], supported: Mapping[str, Names], enabled: Names
    ) -> dict[str, dict[str, Offer]]:
        defaults = {kind: self._configured_default(kind, enabled[kind]) for kind in KINDS}
        return {
            name: {kind: _offer(name, kind, kinds[kind], supported[name][kind], defaults[kind]) for kind in kinds}
            for name, kinds in usable.items()
        }

    def _configured_default(self, kind: str, enabled: Sequence[str]) -> str | None:
        default, option = self._wanted.defaults.get(kind), default_option(kind)
        if default in self._skipped[kind]:
            LOG.warning("Option %s is ignored: %s is not built yet; the order of preference decides.", option, default)
            return None
        if default is not None and default not in enabled:
            allowed = ", ".join(enabled) or "none"
            self._fault(f"option {option} is {default}, which {enabled_option(kind)} does not enable ({allowed})")
            return None
        return default

    # What is loaded

    def _implementations(self, usable: Mapping[str, Names]) -> dict[tuple[str, str], BaseInterface]:
        """Make every implementation that a hardware type can use, once."""
        reachable = dict.fromkeys((kind, name) for kinds in usable.values() for kind in kinds for name in kinds[kind])
        found: dict[tuple[str, str], BaseInterface] = {}
        for kind, name in reachable:
            extension = self._extensions[interfaces_group(kind)][name]
            instance = self._make(f"{kind} interface {name}", extension, BASES[kind])
            if instance is not None:
                found[kind, name] = instance
                self._check_overlaps(kind, name, instance)
        return found

    def _make(self, what: str, extension: Extension, base: type) -> Any:
        """Import a class and return the one object of it; anything that goes wrong is a fault, and None."""
        try:
            cls = extension.load()
            if not (isinstance(cls, type) and issubclass(cls, base)):
                raise TypeError(f"{extension.value} is no subclass of {base.__module__}.{base.__qualname__}")
            instance: Any = cls()
        except Exception as error:
            self._fault(f"{what} can't be loaded: {_reason(error)}")
            return None
        if not instance.supported:
            LOG.warning("Nobody looks after %s any more; it may go in a later release.", what)
        return instance

    def _check_overlaps(self, kind: str, name: str, interface: BaseInterface) -> None:
        """Find priorities that several enabled clean steps of one interface share (S48)."""
        if kind not in INTERFACES["clean"]:
            return
        by_priority: dict[float, list[str]] = {}
        for step in interface.all_steps("clean"):
            by_priority.setdefault(self._priority(kind, step), []).append(str(step["step"]))
        for priority, names in by_priority.items():
            if priority and len(names) > 1:
                steps = ", ".join(sorted(names))
                self._fault(
                    f"{kind} interface {name} has clean steps of equal priority {priority:g}: {steps}; "
                    "change one with option [conductor]clean_step_priority_override"
                )

    def _priority(self, kind: str, step: Mapping[str, Any]) -> float:
        name = f"{kind}.{step['step']}"
        try:
            return number(self._wanted.clean_priorities.get(name, step["priority"]))
        except InvalidParameterValue as error:
            self._fault(f"option [conductor]clean_step_priority_override, {name}: {error}")
            return 0

    # What is wrong

    def _fault(self, text: str) -> None:
        self._faults.append(text)

    def _finish(self, usable: Mapping[str, Names]) -> None:
        if not usable and not self._faults:
            self._fault("no hardware type is left to serve; enable one (option enabled_hardware_types)")
        if self._faults:
            numbered = "; ".join(f"({count}) {fault}" for count, fault in enumerate(self._faults, start=1))
            raise DriverLoadError(f"The enabled drivers can't be loaded: {numbered}.", faults=list(self._faults))


def _offer(
    hardware_type: str, kind: str, names: Sequence[str], supported: Sequence[str], configured: str | None
) -> Offer:
    default = choose_default(names, names, configured)
    if configured is not None and default is None:
        LOG.warning(
            "Hardware type %s does not support the default %s interface %s: new nodes must name another one.",
            hardware_type,
            kind,
            configured,
        )
    return Offer(tuple(names), default, frozenset(names).difference(supported))


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
