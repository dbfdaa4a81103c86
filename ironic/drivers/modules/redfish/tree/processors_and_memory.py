"""What a Redfish machine computes with: its CPUs and its memory, in the form of a ramdisk's inventory.

The CPUs are those that the BMC lists, if all of them can be read and its summary counts no more; what they do not say
is taken from the summary. Of memory the summary counts, and where there is none, the modules do, if all of them can be
read. A part would be a wrong number, and is none.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import sushy

from ironic.drivers.modules.redfish.tree.certainty import Document, Uncertain, given, leads_to, whole_paths
from ironic.drivers.modules.redfish.tree.inventory_values import Found, known, word_of
from ironic.drivers.modules.redfish.tree.members import is_there, seen_members
from ironic.drivers.modules.redfish.wire.bmc_system import System, connector_of, optional
from ironic.drivers.modules.redfish.wire.document_faults import fault_at

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
_MEMORY: Final = "dram"
_NO_MEMORY: Final = frozenset(("nvdimm_n", "nvdimm_f", "nvdimm_p", "inteloptane"))
_MOST_MODULES: Final = 256
# Kinds of processors that are CPUs; BMCs need not say it.
_CPU: Final = (None, sushy.ProcessorType.CPU.value)


def cpu_of(system: System) -> Found:
    """Return the number of threads, architecture, model and frequency of the CPUs, and how many there are."""
    seen = seen_members(system, "processors")
    processors = [one for one in seen.items if _is_cpu(one)]
    first = processors[0] if processors else None
    words = (word_of(value) for one in processors for value in (one.instruction_set, one.processor_architecture))
    summary: Mapping[str, Any] = system.json.get("ProcessorSummary", {})
    counted = _Counted(*(_positive(summary.get(name)) for name in ("Count", "LogicalProcessorCount")))
    is_whole = not seen.missing and all(map(_says_what_it_is, seen.items)) and counted.fits(seen.items)
    return known(
        count=_threads(processors, is_whole, counted),
        architecture=next((_ARCHITECTURES[word] for word in words if word and word in _ARCHITECTURES), None),
        model_name=(first and first.model) or summary.get("Model"),
        frequency=first and first.max_speed_mhz,
        socket_count=len(processors) if processors and is_whole else counted.at_least(len(processors)),
    )


class _Counted(NamedTuple):
    """What the summary counts; None where it does not."""

    sockets: int | None
    threads: int | None

    def fits(self, listed: Sequence[Any]) -> bool:
        """Return whether the list may have all processors that are counted.

        BMCs count empty sockets as well, and some count cores or threads.
        """
        cpus = [one for one in listed if word_of(one.processor_type) in _CPU]
        cores, threads = (
            sum(_positive(number) or 0 for number in numbers)
            for numbers in ([one.total_cores for one in cpus], [one.total_threads for one in cpus])
        )
        return self.sockets is None or self.sockets <= len(cpus) or self.sockets in (cores, threads)

    def at_least(self, sockets: int) -> int | None:
        """Return the number of sockets unless more are listed than counted."""
        return None if self.sockets is None or self.sockets < sockets else self.sockets


def _threads(processors: Sequence[Any], is_whole: bool, counted: _Counted) -> int | None:
    """Return the number of threads; None where the list and the summary can't both be right, as it may be a part."""
    said = [number for one in processors if (number := _positive(one.total_threads)) is not None]
    if processors and is_whole and len(said) == len(processors):
        return None if (counted.threads or 0) > sum(said) else sum(said)
    # One more socket has threads, too.
    is_more = len(said) == len(processors) and (counted.sockets or 0) > len(processors) > 0
    return None if (counted.threads or 0) < sum(said) + is_more else counted.threads


def _positive(number: Any) -> int | None:
    """Return a whole number of things, None for what can't be one."""
    return int(number) if number is not None and number > 0 and number == int(number) else None


def memory_of(system: System) -> Found:
    """Return the size of the memory in MiB; nothing where the BMC does not say it."""
    size = system.memory_summary.size_gib if system.memory_summary is not None else None
    if size and size > 0:
        return known(physical_mb=int(size * _MIB_PER_GIB))
    return known(physical_mb=optional(lambda: _in_modules(system), None))


def _in_modules(system: System) -> int | None:
    """Return the size of all modules together; raise Uncertain where one of them does not say it."""
    if not leads_to(system, "Memory"):
        return None
    connector, path, total = connector_of(system), system.json["Memory"]["@odata.id"], 0.0
    collection = Document(path, connector.get(path).json())
    modules = whole_paths(collection)
    if len(modules) > _MOST_MODULES:
        raise Uncertain(path, f"it lists more than {_MOST_MODULES} modules of memory")
    for module in modules:
        total += _size_of(Document(module, connector.get(module).json()))
    return int(total) or None


def _size_of(module: Document) -> float:
    """Return the size of a module in MiB, 0 for an empty slot and for what is no memory of the operating system."""
    kind, size = given(module, "MemoryType", str), given(module, "CapacityMiB", int)
    state = given(module, "Status", dict) or {}
    if state.get("State") == sushy.STATE_ABSENT.value or str(kind).lower() in _NO_MEMORY:
        return 0
    if kind is not None and kind.lower() != _MEMORY:
        raise Uncertain(module.path, f"MemoryType is {kind!r:.40}, which is no type that is known")
    # Without a state, zero and null are the size of an empty slot.
    is_empty = not size and "CapacityMiB" in module.json and "State" not in state
    if not is_empty and (size is None or size <= 0):
        raise Uncertain(module.path, "it does not show its size, CapacityMiB")
    return size or 0


def _says_what_it_is(processor: Any) -> bool:
    """Return whether kind and state can be read; a processor with threads is there, whatever its state."""
    if any(fault_at(processor.json, name) for name in ("ProcessorType", "Status")):
        return False
    state = processor.json.get("Status") or {}
    is_said = fault_at(state, "State") is None and state.get("State", "") is not None
    return is_said or _positive(processor.total_threads) is not None


def _is_cpu(processor: Any) -> bool:
    """Return whether a processor is a CPU that is there: BMCs also list accelerators and empty sockets."""
    kind = word_of(processor.processor_type)
    return kind in _CPU and is_there(processor)
