"""Finding and making the hooks that an operator wants, in the order of [inspector]hooks.

Everything that is wrong is collected and raised once as HookLoadError.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from stevedore import named

from ironic.core.errors import HookLoadError
from ironic.inspection.hooks.base import InspectionHook

GROUP: Final = "ironic.inspection.hooks"


class EntryPoint(Protocol):
    """Where a hook is and how to get it."""

    @property
    def value(self) -> str: ...
    def load(self) -> Any: ...


class NamedHook(NamedTuple):
    """A hook under its name."""

    name: str
    hook: InspectionHook


def names_of(option: str) -> list[str]:
    """Return the names in the text of the option."""
    return [name for part in option.split(",") if (name := part.strip())]


def load(names: Sequence[str], published: Mapping[str, EntryPoint] | None = None) -> tuple[NamedHook, ...]:
    """Return the hooks in this order, or raise HookLoadError with everything that is wrong."""
    faults: list[str] = [f"hook {name} is named more than once" for name in set(names) if names.count(name) > 1]
    made = [_made(name, installed() if published is None else published, faults) for name in names]
    hooks = tuple(one for one in made if one is not None)
    faults.extend(_unmet(names, hooks))
    if faults:
        raise HookLoadError(f"The enabled inspection hooks can't be loaded: {'; '.join(faults)}.", faults=faults)
    return hooks


def installed() -> dict[str, EntryPoint]:
    """Return the entry points of all hooks that are installed."""
    return {point.name: point for point in named.NamedExtensionManager(GROUP, names=[]).list_entry_points()}


def _made(name: str, published: Mapping[str, EntryPoint], faults: list[str]) -> NamedHook | None:
    if name not in published:
        faults.append(f"there is no hook {name}; installed ones: {', '.join(sorted(published)) or 'none'}")
        return None
    try:
        hook = published[name].load()()
    except Exception as error:
        faults.append(f"hook {name} can't be loaded: {type(error).__name__}: {error}")
        return None
    if not (callable(hook) and hasattr(hook, "preprocess")):
        faults.append(f"hook {name} ({published[name].value}) is no inspection hook")
        return None
    return NamedHook(name, hook)


def _unmet(names: Sequence[str], hooks: Sequence[NamedHook]) -> list[str]:
    """Return a fault for each dependency that does not stand earlier in the list."""
    return [
        f"hook {name} needs hook {needed} earlier in the list"
        for name, hook in hooks
        for needed in hook.dependencies
        if needed not in names[: names.index(name)]
    ]
