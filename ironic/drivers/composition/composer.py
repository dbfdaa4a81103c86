"""Compose the drivers of this conductor at start and report every fault in their configuration.

A driver is a hardware type with its supported interfaces, or a classic driver with one fixed interface of each kind.
An enabled interface is loaded only if an enabled hardware type can use it (S17). Composing continues after a fault, so
that one start reports all of them (S16). A name of `absent_names` is no fault: it is skipped, and one line names all of
them. So is a hardware type that is incomplete without it. One that is never skipped is a fault if it was asked for.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ironic.core.errors import DriverLoadError
from ironic.core.hardware_interfaces import KINDS, choose_default
from ironic.drivers.composition import absent_names
from ironic.drivers.composition.clean_priorities import Loaded
from ironic.drivers.composition.driver_options import DriverOptions, default_option, enabled_option
from ironic.drivers.composition.extensions import (
    CLASSIC_GROUP,
    TYPES_GROUP,
    Extension,
    Extensions,
    interfaces_group,
    supported_names,
)
from ironic.drivers.composition.measured_calls import measure
from ironic.drivers.contract.classic_driver import MANDATORY, BaseDriver
from ironic.drivers.contract.interfaces import BASES, BaseInterface
from ironic.drivers.hardware_type import DUMMIES, AbstractHardwareType

LOG = logging.getLogger(__name__)

_OWN_PACKAGE: Final = __name__.partition(".")[0]


@dataclass(frozen=True, slots=True)
class SupportedInterfaces:
    """The interfaces of one kind that a driver supports here, by name in order of preference, and the default.

    The fixed interface of a classic driver is the only one and has no name.
    """

    by_name: Mapping[str | None, BaseInterface]
    default: str | None = None
    # Those of the names that the hardware type accepts without listing them.
    unlisted: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """The names that a node may choose from; none of a classic driver."""
        return tuple(name for name in self.by_name if name is not None)


Names = Mapping[str, Sequence[str]]
Driver = AbstractHardwareType | BaseDriver
Composed = tuple[dict[str, Driver], dict[str, dict[str, SupportedInterfaces]]]


class Examined(NamedTuple):
    """What the options and the installed packages make, and what is wrong with them, a line each."""

    drivers: dict[str, Driver]
    supported: dict[str, dict[str, SupportedInterfaces]]
    faults: tuple[str, ...]
    remarks: tuple[str, ...]


class Composer:
    """Composes the drivers once, and collects the faults that it finds."""

    def __init__(self, options: DriverOptions, extensions: Extensions) -> None:
        self._options = options
        self._extensions = extensions
        self._faults: list[str] = []
        self._skipped: dict[str, set[str]] = {kind: set() for kind in KINDS}
        self._left_out: list[str] = []
        self._remarks: list[str] = []
        self.loaded: list[Loaded] = []
        self._unlisted: dict[tuple[str, str], BaseInterface] = {}

    def compose(self) -> Composed:
        """Return the drivers and the interfaces that each supports, by kind; raise DriverLoadError with all faults."""
        composed = self._compose()
        for remark in self._remarks:
            LOG.warning("%s.", remark)
        if self._faults:
            numbered = "; ".join(f"({count}) {fault}" for count, fault in enumerate(self._faults, start=1))
            raise DriverLoadError(f"The enabled drivers can't be loaded: {numbered}.", faults=list(self._faults))
        return composed

    def examine(self) -> Examined:
        """Return what `compose` would return, log and raise; it logs and raises nothing."""
        composed = self._compose()
        return Examined(*composed, tuple(self._faults), tuple(self._remarks))

    def _compose(self) -> Composed:
        types = self._hardware_types()
        listed = {name: self._listed_names(name, hardware_type) for name, hardware_type in types.items()}
        enabled = {kind: self._enabled_names(kind, types, listed) for kind in KINDS}
        if self._load_unlisted(listed, enabled):
            listed = {name: self._listed_names(name, hardware_type) for name, hardware_type in types.items()}
            self._faults = list(dict.fromkeys(self._faults))
        usable = {name: self._usable_names(types[name], listed[name], enabled) for name in types}
        usable = {name: kinds for name, kinds in usable.items() if not self._is_skipped(name, kinds, listed[name])}
        supported = self._supported_interfaces(usable, listed, enabled, self._load_implementations(usable))
        classic = self._classic_drivers()
        supported |= {name: self._fixed_interfaces(name, driver) for name, driver in classic.items()}
        if self._left_out:
            names = "; ".join(self._left_out)
            self._remarks.append(f"These names in the options are skipped, as this release does not have them: {names}")
        self._faults += self._options.clean_priorities.faults(self.loaded)
        if not supported and not self._faults:
            self._add_fault("no hardware type is left to serve; enable one (option enabled_hardware_types)")
        return {**{name: types[name] for name in usable}, **classic}, supported

    # Installed and enabled names

    def _hardware_types(self) -> dict[str, AbstractHardwareType]:
        published = self._extensions.get(TYPES_GROUP, {})
        known = absent_names.names(absent_names.TYPE)
        found: dict[str, AbstractHardwareType] = {}
        for name in self._options.hardware_types:
            what = f"hardware type {name}"
            if self._is_installed(what, name, published, known, "enabled_hardware_types"):
                instance = self._make(what, published[name], AbstractHardwareType)
                if instance is not None:
                    found[name] = instance
        return found

    def _classic_drivers(self) -> dict[str, BaseDriver]:
        published = self._extensions.get(CLASSIC_GROUP, {})
        found: dict[str, BaseDriver] = {}
        for name in self._options.classic_drivers:
            what = f"classic driver {name}"
            if name in self._options.hardware_types:
                self._add_fault(
                    f"{name} is enabled as a hardware type and as a classic driver; remove it from "
                    "enabled_hardware_types or enabled_drivers"
                )
            elif self._is_installed(what, name, published, (), "enabled_drivers"):
                instance = self._make(what, published[name], BaseDriver)
                if instance is not None:
                    found[name] = instance
        return found

    def _listed_names(self, name: str, hardware_type: AbstractHardwareType) -> Names:
        """Return the names that a hardware type lists, by kind; a list that raises an error is a fault and left out."""
        found: dict[str, Sequence[str]] = {}
        for kind in KINDS:
            try:
                found[kind] = supported_names(hardware_type, kind, self._extensions)
            except Exception as error:
                self._add_fault(f"hardware type {name} fails to list its {kind} interfaces: {_reason(error)}")
        return found

    def _enabled_names(
        self, kind: str, types: Mapping[str, AbstractHardwareType], listed: Mapping[str, Names]
    ) -> tuple[str, ...]:
        """Return the names of a kind that are enabled and installed."""
        names = self._options.enabled.get(kind)
        if names is None:
            firsts = (kinds[kind][0] for kinds in listed.values() if kinds.get(kind))
            return tuple(dict.fromkeys(firsts))
        published = self._extensions.get(interfaces_group(kind), {})
        option, missing = enabled_option(kind), absent_names.names(kind)
        skipped = [name for name in names if name not in published and name in missing]
        self._skipped[kind].update(skipped)
        if kind in self._options.unasked:
            # A hardware type that lists power and deploy alone needs no further option (S4).
            dummies = (listed[name][kind][0] for name, each in types.items() if each.lacks(kind))
            names = tuple(dict.fromkeys([*(name for name in names if name not in skipped), *dummies]))
        else:
            refused = [name for name in skipped if absent_names.is_never_skipped(kind, name)]
            for name in refused:
                self._add_unavailable(kind, name, option)
            names = tuple(name for name in names if name not in refused)
        return tuple(
            name for name in names if self._is_installed(f"{kind} interface {name}", name, published, missing, option)
        )

    def _is_installed(
        self, what: str, name: str, published: Collection[str], missing: Collection[str], option: str
    ) -> bool:
        if name in published:
            return True
        if name in missing:
            self._left_out.append(f"{what} (option {option}): {absent_names.instead_of(name)}")
        else:
            known = ", ".join(sorted(published)) or "none"
            self._add_fault(f"there is no {what} (option {option}); installed ones: {known}")
        return False

    # Combinations

    def _usable_names(self, hardware_type: AbstractHardwareType, listed: Names, enabled: Names) -> Names:
        """Return the listed names that are enabled, in the hardware type's order, then the unlisted ones it accepts."""
        usable: dict[str, Sequence[str]] = {}
        for kind in KINDS:
            if kind in listed:
                names = [name for name in listed[kind] if name in enabled[kind]]
                accepted = enabled[kind] if hardware_type.accepts_any_enabled else ()
                usable[kind] = tuple(dict.fromkeys([*names, *accepted]))
        return usable

    def _is_skipped(self, name: str, usable: Names, listed: Names) -> bool:
        """Return whether a hardware type lacks only interfaces that aren't built yet; any other lack is a fault."""
        empty = [kind for kind in usable if not usable[kind]]
        faulty = [kind for kind in empty if not self._skipped[kind]]
        for kind in faulty:
            self._add_fault(
                f"hardware type {name} supports none of the enabled {kind} interfaces; enable one that it supports "
                f"(option {enabled_option(kind)}): {', '.join(listed[kind]) or 'none'}"
            )
        if not empty or faulty:
            return False
        reasons = []
        for kind in empty:
            if listed[kind]:
                reasons.append(
                    f"it supports none of the {kind} interfaces that are left; enable one that it supports (option "
                    f"{enabled_option(kind)}): {', '.join(listed[kind])}"
                )
            else:
                names = ", ".join(sorted(self._skipped[kind]))
                reasons.append(f"it can't do without {kind} interfaces ({names}), not built yet")
        self._remarks.append(f"Skipping hardware type {name}: {'; '.join(reasons)}")
        return True

    def _supported_interfaces(
        self,
        usable: Mapping[str, Names],
        listed: Mapping[str, Names],
        enabled: Names,
        loaded: Mapping[tuple[str, str], BaseInterface],
    ) -> dict[str, dict[str, SupportedInterfaces]]:
        """Return what each hardware type supports, by kind, with its default."""
        configured = {kind: self._configured_default(kind, enabled[kind]) for kind in KINDS}
        supported: dict[str, dict[str, SupportedInterfaces]] = {name: {} for name in usable}
        for name, kinds in usable.items():
            for kind, names in kinds.items():
                default = choose_default(names, names, configured[kind])
                if configured[kind] is not None and default is None:
                    self._remarks.append(
                        f"Hardware type {name} does not support the default {kind} interface {configured[kind]}: new "
                        "nodes must name another one"
                    )
                unlisted = frozenset(names).difference(listed[name][kind])
                # What could not be loaded is a fault already.
                by_name: dict[str | None, BaseInterface] = {
                    one: loaded[kind, one] for one in names if (kind, one) in loaded
                }
                supported[name][kind] = SupportedInterfaces(by_name, default, unlisted)
        return supported

    def _fixed_interfaces(self, name: str, driver: BaseDriver) -> dict[str, SupportedInterfaces]:
        """Return the interfaces of a classic driver by kind; a dummy replaces an optional one that it lacks."""
        found: dict[str, SupportedInterfaces] = {}
        for kind in KINDS:
            interface, base = getattr(driver, kind), BASES[kind]
            what = f"{kind} interface of classic driver {name}"
            if interface is None and kind in DUMMIES:
                interface = self._make(what, self._extensions[interfaces_group(kind)][DUMMIES[kind]], base)
            elif interface is None and kind in MANDATORY:
                self._add_fault(f"classic driver {name} sets no {kind} interface")
            elif interface is not None and not isinstance(interface, base):
                self._add_fault(f"the {what} is no object of a subclass of {base.__module__}.{base.__qualname__}")
                interface = None
            found[kind] = SupportedInterfaces({} if interface is None else {None: interface})
            if interface is not None:
                self.loaded.append((what, kind, interface))
                measure(interface)
        return found

    def _configured_default(self, kind: str, enabled: Sequence[str]) -> str | None:
        default, option = self._options.defaults.get(kind), default_option(kind)
        if default is not None and absent_names.is_never_skipped(kind, default):
            if default not in enabled:
                self._add_unavailable(kind, default, option)
                return None
        elif default in self._skipped[kind]:
            self._remarks.append(
                f"Option {option} is ignored: {default} is not built yet; the order of preference decides"
            )
            return None
        if default is not None and default not in enabled:
            allowed = ", ".join(enabled) or "none"
            self._add_fault(f"option {option} is {default}, which {enabled_option(kind)} does not enable ({allowed})")
            return None
        return default

    # Implementations

    def _load_unlisted(self, listed: Mapping[str, Names], enabled: Names) -> bool:
        """Make those enabled interfaces of third parties that no type lists; return whether there are any.

        Such an interface may enter itself in the list of a hardware type of this service when it is made. One that
        can't be made is left out, as no type uses it.
        """
        known = {(kind, name) for kinds in listed.values() for kind, names in kinds.items() for name in names}
        entering = [kind for kind in KINDS if BASES[kind].enters_lists]
        for kind, name in [(each, name) for each in entering for name in enabled[each] if (each, name) not in known]:
            extension = self._extensions[interfaces_group(kind)][name]
            if extension.value.partition(".")[0] == _OWN_PACKAGE:
                continue
            try:
                self._unlisted[kind, name] = extension.load()()
            except Exception as error:
                LOG.debug("The %s interface %s, which no type lists, can't be loaded: %s", kind, name, _reason(error))
        return bool(self._unlisted)

    def _load_implementations(self, usable: Mapping[str, Names]) -> dict[tuple[str, str], BaseInterface]:
        """Create one object of every implementation that a hardware type can use."""
        reachable = dict.fromkeys((kind, name) for kinds in usable.values() for kind in kinds for name in kinds[kind])
        found: dict[tuple[str, str], BaseInterface] = {}
        for kind, name in reachable:
            extension = self._extensions[interfaces_group(kind)][name]
            made = self._unlisted.get((kind, name))
            what = f"{kind} interface {name}"
            instance = made if isinstance(made, BASES[kind]) else self._make(what, extension, BASES[kind])
            if instance is not None:
                found[kind, name] = instance
                self.loaded.append((f"{kind} interface {name}", kind, instance))
                measure(instance)
        return found

    def _make(self, what: str, extension: Extension, base: type) -> Any:
        """Import a class and return an object of it; an error is a fault, and the result is None."""
        try:
            cls = extension.load()
            if not (isinstance(cls, type) and issubclass(cls, base)):
                raise TypeError(f"{extension.value} is no subclass of {base.__module__}.{base.__qualname__}")
            instance: Any = cls()
        except Exception as error:
            self._add_fault(f"{what} can't be loaded: {_reason(error)}")
            return None
        if not instance.supported:
            self._remarks.append(f"The {what} is deprecated and unsupported; a later release may remove it. Replace it")
        return instance

    def _add_unavailable(self, kind: str, name: str, option: str) -> None:
        self._add_fault(
            f"{kind} interface {name} is asked for (option {option}), and this release does not have it; nodes would "
            f"get another one without a word, so remove it from the option if that is what you want"
        )

    def _add_fault(self, text: str) -> None:
        self._faults.append(text)


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
