"""Inspection hooks: their base class, and loading those that [inspector]hooks names, in order.

A hook, of the project or of a third party, is published under the entry point group `ironic.inspection.hooks` with a
name of words and dashes. There is one object per conductor, made without arguments, which keeps nothing about a node.
It runs with the node locked and in inspection. It may change plug-in data, the node and its ports, but never the
inventory (S82).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple, Protocol

from stevedore import named

from ironic.core.errors import HookLoadError
from ironic.inspection.staged_task import StagedTask

Inventory = Mapping[str, object]
PluginData = dict[str, object]


class Need(NamedTuple):
    """What a hook can't do without: keys that lead to it in the inventory, and what operators read without it."""

    keys: Sequence[str]
    without: str


class InspectionHook(ABC):
    """One step of processing inspection data."""

    # Names of hooks that must run before this one: they come earlier in [inspector]hooks.
    dependencies: ClassVar[Sequence[str]] = ()

    # Keys of the plug-in data that this hook sets.
    plugin_data_keys: ClassVar[Sequence[str]] = ()
    # Whether a dry run may call it: true for a class, not for those derived from it, that acts on nothing but what it
    # gets as arguments.
    runs_dry: ClassVar[bool] = False
    # What the report of a BMC may lack; the hook is left out then.
    needs: ClassVar[Need | None] = None
    # Whether it reads what only a ramdisk sends.
    is_of_ramdisks: ClassVar[bool] = False

    def preprocess(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Check the data before the main call of any hook; the node must not be changed here."""
        return

    @abstractmethod
    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Process the data; an error fails the inspection."""


GROUP: Final = "ironic.inspection.hooks"


class EntryPoint(Protocol):
    """The part of an entry point that loading uses."""

    @property
    def value(self) -> str: ...
    def load(self) -> Any: ...


class NamedHook(NamedTuple):
    """A hook and its name."""

    name: str
    hook: InspectionHook


def hook_names(option: str) -> list[str]:
    """Return the hook names in the text of an option."""
    return [name for part in option.split(",") if (name := part.strip())]


def load_hooks(names: Sequence[str], published: Mapping[str, EntryPoint] | None = None) -> tuple[NamedHook, ...]:
    """Return the hooks in this order, or raise HookLoadError with all faults."""
    faults: list[str] = [f"hook {name} is named more than once" for name in set(names) if names.count(name) > 1]
    known = installed_hooks() if published is None else published
    hooks: list[NamedHook] = []
    for name in names:
        if name not in known:
            faults.append(f"there is no hook {name}; installed ones: {', '.join(sorted(known)) or 'none'}")
            continue
        try:
            hook = known[name].load()()
        except Exception as error:
            faults.append(f"hook {name} can't be loaded: {type(error).__name__}: {error}")
            continue
        if callable(hook) and hasattr(hook, "preprocess"):
            hooks.append(NamedHook(name, hook))
        else:
            faults.append(f"hook {name} ({known[name].value}) is no inspection hook")
    faults += [
        f"hook {name} needs hook {needed} earlier in the list"
        for name, hook in hooks
        for needed in hook.dependencies
        if needed not in names[: names.index(name)]
    ]
    if faults:
        raise HookLoadError(f"The enabled inspection hooks can't be loaded: {'; '.join(faults)}.", faults=faults)
    return tuple(hooks)


def installed_hooks() -> dict[str, EntryPoint]:
    """Return the entry points of all hooks that are installed."""
    return {point.name: point for point in named.NamedExtensionManager(GROUP, names=[]).list_entry_points()}
