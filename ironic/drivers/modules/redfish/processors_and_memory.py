"""What a Redfish machine computes with: its CPUs and its memory, in the form of a ramdisk's inventory.

The CPUs are those that the BMC lists; what they do not say is taken from its summary. Of memory the summary counts, and
where there is none, the modules do, if all of them can be read: a part of the memory would be a wrong size.
"""

from collections.abc import Mapping
from typing import Any, Final

import sushy

from ironic.drivers.modules.redfish.bmc_answer import UnusableAnswer, is_whole
from ironic.drivers.modules.redfish.bmc_connection import System, connector_of, optional
from ironic.drivers.modules.redfish.inventory_values import Found, known, word_of
from ironic.drivers.modules.redfish.members import is_there, members_of, paths_in

# By instruction sets, then by architectures; 32-bit x86 is not expected behind Redfish.
_ARCHITECTURES: Final[Mapping[str, str]] = {
    "x86-64": "x86_64",
    "x86": "x86_64",
    "ARM-A64": "aarch64",
    "ARM-A32": "armv7l",
    "ARM": "aarch64",
    "IA-64": "ia64",
    "MIPS32": "mips",
    "MIPS64": "mips64",
    "PowerISA": "ppc64le",
    "Power": "ppc64le",
}
_MIB_PER_GIB: Final = 1024
# Modules that are no memory of the operating system have another type.
_MEMORY: Final = ("DRAM", None)
_MOST_MODULES: Final = 256
_NOT_SAID: Final = object()


def cpu_of(system: System) -> Found:
    """Return the number of threads, architecture, model and frequency of the CPUs, and how many there are."""
    processors = [one for one in members_of(system, "processors") if _is_cpu(one)]
    threads = [one.total_threads for one in processors if (one.total_threads or 0) > 0]
    first = processors[0] if processors else None
    words = (word_of(value) for one in processors for value in (one.instruction_set, one.processor_architecture))
    summary: Mapping[str, Any] = system.json.get("ProcessorSummary", {})
    in_all = None if threads and len(threads) == len(processors) else summary.get("LogicalProcessorCount")
    return known(
        count=in_all or sum(threads) or None,
        architecture=next((_ARCHITECTURES[word] for word in words if word and word in _ARCHITECTURES), None),
        model_name=(first and first.model) or summary.get("Model"),
        frequency=first and first.max_speed_mhz,
        socket_count=len(processors) or summary.get("Count"),
    )


def memory_of(system: System) -> Found:
    """Return the size of the memory in MiB; nothing where the BMC does not say it."""
    size = system.memory_summary.size_gib if system.memory_summary is not None else None
    if size and size > 0:
        return known(physical_mb=int(size * _MIB_PER_GIB))
    return known(physical_mb=optional(lambda: _in_modules(system), None))


def _in_modules(system: System) -> int | None:
    """Return the size of all modules together; raise UnusableAnswer where one of them does not say it."""
    connector, total = connector_of(system), 0.0
    for path in paths_in(system.json.get("Memory")):
        collection = connector.get(path).json()
        modules = paths_in(collection.get("Members"))
        if not is_whole(collection) or len(modules) > _MOST_MODULES:
            raise UnusableAnswer(f"its list {path} is incomplete")
        for module in modules:
            document = connector.get(module).json()
            state, size = document.get("Status", {}).get("State"), document.get("CapacityMiB", _NOT_SAID)
            if document.get("MemoryType") not in _MEMORY or state == sushy.STATE_ABSENT.value:
                continue
            if size is _NOT_SAID or (size is None and state is not None):
                raise UnusableAnswer(f"the module of memory at {module} does not show its size")
            # Without a state, null is the size of an empty slot.
            total += max(size or 0, 0)
    return int(total) or None


def _is_cpu(processor: Any) -> bool:
    """Return whether a processor is a CPU that is there: BMCs also list accelerators and empty sockets."""
    kind = word_of(processor.processor_type)
    return kind in (None, sushy.ProcessorType.CPU.value) and is_there(processor)
