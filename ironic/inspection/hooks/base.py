"""The door for inspection hooks, ours and third parties' alike.

A hook is published under the entry point group `ironic.inspection.hooks` with a name of words and dashes. One object
per conductor, made without arguments: it keeps nothing about a node in itself. It runs with the lock held while the
node is inspecting. It may change plug-in data, the node and its ports, but never the inventory (S82).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from ironic.inspection.staged_task import StagedTask

Inventory = Mapping[str, object]
PluginData = dict[str, object]


class InspectionHook(ABC):
    """One step in making something of what a machine reported."""

    # Names of hooks that must run before this one, so stand earlier in [inspector]hooks.
    dependencies: ClassVar[Sequence[str]] = ()

    def preprocess(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Look at the data before any hook works with them; changing the node belongs into the main call."""
        return

    @abstractmethod
    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Work with the data; an error fails the inspection."""
