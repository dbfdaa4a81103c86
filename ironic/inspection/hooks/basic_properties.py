"""Hooks for basic properties and capabilities: CPU architecture and count, memory, CPU flags, boot mode.

`set_capabilities` changes the capabilities in a node's properties; other hooks use it as well.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from ironic.conf import CONF
from ironic.core.errors import HardwareInspectionFailure
from ironic.core.texts import syntax
from ironic.inspection.hooks.base import InspectionHook, Inventory, Need, PluginData
from ironic.inspection.reported_data import list_at, text_at, whole_number_at
from ironic.inspection.staged_task import StagedTask

_CAPABILITIES: Final = "capabilities"
_ARCHITECTURE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{1,31}")
# What programs write for what they do not know.
_UNKNOWN: Final = frozenset({"unknown", "none", "null", "nan", "unspecified", "na", "n.a.", "false", "true"})
_BOOT_MODES: Final = ("bios", "uefi")


class Architecture(InspectionHook):
    """Set property `cpu_arch` to the CPU architecture; fail without one (S85)."""

    runs_dry = True
    needs = Need(
        ("cpu", "architecture"),
        "the BMC does not report the architecture of the CPU; property cpu_arch stays as it is. Set it by hand where "
        "it is needed.",
    )

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set the property, or fail when the inventory has no architecture."""
        architecture = text_at(inventory, "cpu", "architecture") or ""
        if not _ARCHITECTURE.fullmatch(architecture) or architecture.lower() in _UNKNOWN:
            raise HardwareInspectionFailure(error="the inventory has no CPU architecture (cpu.architecture)")
        task.node.set_property("cpu_arch", architecture)
        task.node.save()


class Cpus(InspectionHook):
    """Set property `cpus` to the number of CPUs; no default hook, because schedulers no longer use it (S99)."""

    runs_dry = True

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set the property when the inventory has a number."""
        if count := whole_number_at(inventory, "cpu", "count"):
            task.node.set_property("cpus", count)
            task.node.save()


class Memory(InspectionHook):
    """Set property `memory_mb` to the size of the memory; fail without one (S93)."""

    runs_dry = True

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set the property, or fail when the inventory has no size."""
        size = whole_number_at(inventory, "memory", "physical_mb")
        if not size:
            raise HardwareInspectionFailure(error="the inventory has no size of the memory (memory.physical_mb)")
        task.node.set_property("memory_mb", size)
        task.node.save()


def set_capabilities(task: StagedTask, changes: Mapping[str, str]) -> None:
    """Set these capabilities and keep the others; raises HardwareInspectionFailure when the property is malformed."""
    try:
        text = syntax.updated_capabilities(task.node.properties.get(_CAPABILITIES), changes)
    except ValueError as error:
        raise HardwareInspectionFailure(
            error=f"property {_CAPABILITIES} of node {task.node.uuid} can't be changed: {error}. Correct it first"
        ) from None
    task.node.set_property(_CAPABILITIES, text)
    task.node.save()


class CpuCapabilities(InspectionHook):
    """Set a capability for each CPU flag that the option names (S90)."""

    runs_dry = True

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set the capabilities of flags that the CPU has; others stay as they are."""
        if found := capabilities_of(list_at(inventory, "cpu", "flags"), CONF.inspector.cpu_capabilities):
            set_capabilities(task, found)


def capabilities_of(flags: Iterable[object], meanings: Mapping[str, str]) -> dict[str, str]:
    """Return the capabilities of these flags, each with value "true"."""
    present = {flag for flag in flags if isinstance(flag, str)}
    return {capability: "true" for flag, capability in meanings.items() if flag in present}


class BootMode(InspectionHook):
    """Set capability `boot_mode` to the mode in which the ramdisk was booted (S89)."""

    runs_dry = True

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set the capability when the inventory has a mode."""
        mode = text_at(inventory, "boot", "current_boot_mode")
        if mode in _BOOT_MODES:
            set_capabilities(task, {"boot_mode": mode})
