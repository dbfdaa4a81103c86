"""All machines that are played as a whole: mock-ups in packages of the tests, and each record in `bmc-records`."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ironic.integrations.http_client import CallFailed
from ironic.tests.functional.drivers import recorded_machines as recorded
from ironic.tests.functional.drivers.played_bmc import Answer
from ironic.tests.functional.drivers.recorded_machines import Recorded
from ironic.tests.repository import ROOT

RECORDS = ROOT / "ironic" / "tests" / "data" / "bmc-records"


def of_dmtf() -> dict[str, Any]:
    found = recorded.with_chassis(recorded.with_another_bios(), "/redfish/v1/Chassis/1U")
    system, bios = found[recorded.MACHINE], found[f"{recorded.MACHINE}/Bios"]
    # The schema wants a list of links there; the machine of Dell has a link to a collection.
    cards = [{"@odata.id": path} for path in found if re.search("/PCIeDevices/[^/]+$", path)]
    # The summary counts an empty socket, and counts where the processors can't be read.
    summary = {**system["ProcessorSummary"], "Count": 1}
    # The drive that would be taken first is in use, and the next one is free.
    storage = f"{recorded.MACHINE}/Storage/1"
    volume, free = f"{storage}/Volumes/1", f"{storage}/Drives/35D38F11ACEF7BD3"
    first = {"Drives": [{"@odata.id": f"{storage}/Drives/32ADF365C6C1B7BD"}]}
    # The drive of the samples has no collection, and the settings of ZT can't be changed.
    drives = f"{recorded.MACHINE}/VirtualMedia"
    pending = {"SettingsObject": {"@odata.id": f"{recorded.MACHINE}/BIOS/Settings"}}
    return found | {
        recorded.MACHINE: {
            **system, "PCIeDevices": cards, "ProcessorSummary": summary, "VirtualMedia": {"@odata.id": drives},
        },
        drives: {"Name": "Drives", "Members": [{"@odata.id": f"{drives}/CD1"}]},
        f"{recorded.MACHINE}/Bios": {**bios, "@Redfish.Settings": pending},
        volume: {**found[volume], "Links": first},
        free: {**found[free], "Links": {**found[free]["Links"], "Volumes": []}},
    }  # fmt: skip


def of_dell() -> dict[str, Any]:
    found = recorded.of_dell()
    cards = {"@odata.id": f"{recorded.CHASSIS_OF_DELL}/PCIeDevices"}
    # The processors are those of the other machine.
    cpu = found[f"{recorded.DELL_MACHINE}/Processors/CPU1"]
    summary = {"Count": 1, "LogicalProcessorCount": cpu["TotalThreads"], "Model": cpu["Model"]}
    system = {**found[recorded.DELL_MACHINE], "PCIeDevices": cards, "ProcessorSummary": summary}
    return found | {recorded.DELL_MACHINE: system}


def complete(found: dict[str, Any]) -> dict[str, Any]:
    """Return documents whose lists of drives and members name only resources that there are: others are odd."""
    whole = dict(found)
    for path, document in found.items():
        for name in ("Drives", "Members"):
            links = document.get(name) if isinstance(document, dict) else None
            if isinstance(links, list):
                kept = [link for link in links if link.get("@odata.id", "").rstrip("/") in found]
                count = {f"{name}@odata.count": len(kept)} if f"{name}@odata.count" in document else {}
                whole[path] = {**whole[path], name: kept, **count}
    return whole


def of_intel() -> dict[str, Any]:
    found = recorded.of_intel()
    # The second machine of the mock-up has the actions of the first one.
    other = "/redfish/v1/Systems/System2"
    text = json.dumps(found[other]["Actions"]).replace(recorded.INTEL_MACHINE, other)
    # Its link to simple storage leads nowhere.
    system = {name: value for name, value in found[recorded.INTEL_MACHINE].items() if name != "SimpleStorage"}
    return found | {other: {**found[other], "Actions": json.loads(text)}, recorded.INTEL_MACHINE: system}


_NIC: tuple[str, Any] = ("NicBoot2", "NetworkBoot")
# The documents, the path of the system, and a BIOS setting to change.
MOCK_UPS: dict[str, tuple[Callable[[], dict[str, Any]], str, tuple[str, Any]]] = {
    "DMTF": (of_dmtf, recorded.MACHINE, ("TCG003", "Disable")),
    "Dell": (of_dell, recorded.DELL_MACHINE, _NIC),
    "Intel": (of_intel, recorded.INTEL_MACHINE, _NIC),
}

_SOURCES = {
    "DMTF": "mock-up of the DMTF, in sushy",
    "Dell": "mock-up of Dell, in sushy; what it lacks is that of the DMTF",
    "Intel": "mock-up of Intel's Rack Scale Design, in rsd-lib; what it lacks is that of the DMTF",
}


class Known(NamedTuple):
    """A machine: what its documents are from, where it is among them, and how it is played.

    ``setting`` is a BIOS setting to change; None is for the first one that can be changed.
    """

    name: str
    source: str
    documents: dict[str, Any]
    path: str
    setting: tuple[str, Any] | None = None
    recorded: Mapping[str, Answer | CallFailed] | None = None


def record_files() -> list[Path]:
    """Return the records, plain or packed."""
    return sorted(file for file in RECORDS.iterdir() if file.name.endswith((".json", ".json.xz")))


def machines_of(source: str) -> Iterator[Known]:
    """Yield the machine of a mock-up, or those of a record by the name of its file."""
    if source in MOCK_UPS:
        make, path, setting = MOCK_UPS[source]
        yield Known(source, _SOURCES[source], complete(make()), path, setting)
        return
    found = Recorded.of(RECORDS / source)
    for number, path in enumerate(found.systems, 1):
        name = source.partition(".")[0] + (f", machine {number}" if len(found.systems) > 1 else "")
        yield Known(name, found.note or f"record `{source}`", found.documents, path, recorded=found.answers)


SOURCES = [*MOCK_UPS, *(file.name for file in record_files())]
