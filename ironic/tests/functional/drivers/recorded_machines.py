"""Documents of whole machines, from the mock-ups that packages of the tests bring with them, and from records.

The sushy library (Apache licence) has parts of the DMTF's mock-ups and of answers of real machines, in several releases
of the schemas, and a machine of Dell. rsd-lib (Apache licence) has a machine of Intel's Rack Scale Design.
`Recorded` is what `ironic-inventory record-bmc` has written.
"""

import contextlib
import importlib.util
import json
import lzma
import re
from pathlib import Path
from typing import Any, NamedTuple, Self

import sushy

from ironic.core.texts import lenient_json
from ironic.drivers.modules.redfish.records.record import FORMAT
from ironic.drivers.modules.redfish.records.stand_ins import OWN_HOST
from ironic.drivers.modules.redfish.records.walk import UNUSABLE
from ironic.integrations.http_client import BrokenOff, CallFailed, TooLarge
from ironic.tests.functional.drivers.played_bmc import ADDRESS, Answer

SAMPLES = Path(sushy.__file__).parent / "tests" / "unit" / "json_samples"
DELL = Path(sushy.__file__).parent / "tests" / "oem" / "dell" / "unit" / "json_samples"
MACHINE = "/redfish/v1/Systems/437XR1138R2"
DELL_MACHINE = "/redfish/v1/Systems/System.Embedded.1"
ZT = "BiosAttributeRegistryProt0.208.208.0"
CHASSIS_OF_DELL = "/redfish/v1/Chassis/System.Embedded.1"
INTEL_MACHINE = "/redfish/v1/Systems/System1"
_MANAGER_OF_INTEL = "/Managers/PSME"
_CHASSIS = "/redfish/v1/Chassis/"
_LINKS_OF_INTEL = {"Chassis": f"{_CHASSIS}1", "ManagedBy": f"/redfish/v1{_MANAGER_OF_INTEL}"}


# In a text of JSON a slash may be escaped.
_OWN_URL = re.compile(rf"https?:(\\?/\\?/){re.escape(OWN_HOST)}")


class Recorded(NamedTuple):
    """A record: documents that can be read, all answers as they came, paths of machines, and where it is from."""

    documents: dict[str, Any]
    answers: dict[str, Answer | CallFailed]
    systems: list[str]
    note: str = ""

    @classmethod
    def of(cls, file: Path) -> Self:
        """Read a record of `ironic-inventory record-bmc`, plain or packed."""
        content = file.read_bytes()
        record = json.loads(lzma.decompress(content) if file.suffix == ".xz" else content)
        assert record["format"] == FORMAT
        own = rf"http:\g<1>{ADDRESS.removeprefix('http://')}"
        documents, answers = dict[str, Any](), dict[str, Answer | CallFailed]()
        for path, answer in record["answers"].items():
            if "fault" in answer:
                kind = TooLarge if answer["fault"] == UNUSABLE else BrokenOff
                answers[path] = kind(answer["fault"])
                continue
            # What was no JSON is not recorded, and is none here.
            body = answer.get("body", "no JSON" if "no_json" in answer else "")
            content = _OWN_URL.sub(own, body).encode(errors="surrogateescape")
            headers = {name: _OWN_URL.sub(own, value) for name, value in answer["headers"].items()}
            answers[path] = Answer(answer["status"], content, headers)
            if answer["status"] == 200 and "body" in answer:
                documents[path] = lenient_json.parse(content)
        return cls(documents, answers, record["systems"], record.get("note", ""))


def tree(*variants: str, samples: Path = SAMPLES) -> dict[str, Any]:
    """Return the resources by path; of several for one path, those of the named files."""
    found: dict[str, Any] = {}
    for path in sorted(samples.glob("*.json")):
        document = json.loads(path.read_text())
        place = document.get("@odata.id") if isinstance(document, dict) else None
        if isinstance(place, str) and (place.rstrip("/") not in found or path.name in variants):
            found[place.rstrip("/")] = document
    if samples == SAMPLES:
        # The file spells its own path in another way than the system that leads to it.
        found[f"{MACHINE}/Bios"] = found.pop(f"{MACHINE}/BIOS")
        if "bare_minimum_root.json" not in variants:
            found["/redfish/v1"] = json.loads((SAMPLES / "root.json").read_text())
    return found


def sample(name: str) -> Any:
    return json.loads((SAMPLES / name).read_text())


def with_another_bios() -> dict[str, Any]:
    """Return a machine with the BIOS settings of ZT, whose registry is another."""
    registries = {"Name": "All", "Members": [{"@odata.id": f"/redfish/v1/Registries/{name}"} for name in ("Test", ZT)]}
    bios = {**sample("bios_zt.json"), "@odata.id": f"{MACHINE}/Bios"}
    return tree() | {f"{MACHINE}/Bios": bios, "/redfish/v1/Registries": registries}


def expanded() -> dict[str, Any]:
    """Return a machine whose BMC puts the members of a collection into it."""
    found = tree()
    for name, file in (("Storage", "storage_collection"), ("SimpleStorage", "simple_storage_collection")):
        found[f"{MACHINE}/{name}"] = sample(f"{file}_expanded.json")
        for member in found[f"{MACHINE}/{name}"]["Members"]:
            found[member["@odata.id"]] = member
    return found


def with_chassis(found: dict[str, Any], place: str) -> dict[str, Any]:
    """Add the chassis that a machine leads to, with fans, power supplies, network adapters and PCI devices."""
    links = {
        "Thermal": "/redfish/v1/Chassis/Blade1/Thermal",
        "Power": "/redfish/v1/Chassis/MultiBladeEncl/Power",
        "NetworkAdapters": f"{CHASSIS_OF_DELL}/NetworkAdapters",
        "PCIeDevices": f"{CHASSIS_OF_DELL}/PCIeDevices",
    }
    chassis = {**sample("chassis.json"), **{name: {"@odata.id": path} for name, path in links.items()}}
    # The sample is the chassis of a machine that is not there.
    machine = DELL_MACHINE if DELL_MACHINE in found else MACHINE
    chassis["Links"] = {**chassis["Links"], "ComputerSystems": [{"@odata.id": machine}]}
    return found | {place: {**chassis, "@odata.id": place}}


def of_dell() -> dict[str, Any]:
    """Return a machine of Dell; what its mock-up leaves out is that of the other machine."""
    text = json.dumps(tree()).replace(MACHINE, DELL_MACHINE).replace("/Managers/BMC", "/Managers/iDRAC.Embedded.1")
    found = json.loads(text) | tree(samples=DELL)
    return with_chassis(found, CHASSIS_OF_DELL)


def of_intel() -> dict[str, Any]:
    """Return a machine of Intel's Rack Scale Design; what its mock-up leaves out is that of the other machine."""
    package = importlib.util.find_spec("rsd_lib")
    assert package is not None and package.origin is not None, "the requirements of the tests have rsd-lib"
    own: dict[str, Any] = {}
    # Later releases replace what earlier ones have.
    for path in sorted((Path(package.origin).parent / "tests" / "unit" / "json_samples").glob("v2_*/*.json")):
        # Two files are of one machine and spell its path in another way; one is no JSON.
        text = path.read_text().replace("/Systems/1/Storage", f"/{INTEL_MACHINE.split('/', 3)[3]}/Storage")
        with contextlib.suppress(ValueError):
            document = json.loads(text)
            if isinstance(place := document.get("@odata.id"), str):
                own[place.rstrip("/")] = document
    system, storage = own[INTEL_MACHINE], own[f"{INTEL_MACHINE}/Storage/SATA"]
    system["Links"] |= {name: [{"@odata.id": path}] for name, path in _LINKS_OF_INTEL.items()}
    storage["Drives"] = [{"@odata.id": path} for path in own if re.match(f"{_CHASSIS}[^/]+/Drives/[^/]+$", path)]
    own[storage["Volumes"]["@odata.id"]] = {"Name": "None", "Members": []}
    found = json.loads(json.dumps(tree()).replace(MACHINE, INTEL_MACHINE).replace("/Managers/BMC", _MANAGER_OF_INTEL))
    merged = {
        path: {**found[path], **own[path]} for path in ("/redfish/v1", INTEL_MACHINE, _LINKS_OF_INTEL["ManagedBy"])
    }
    return found | own | merged
