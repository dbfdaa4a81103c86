"""Redfish documents of odd machines, repaired to what the sushy library expects before it reads them.

The library reads all properties of a resource at once, and one of an odd type takes the whole resource away. So each
property that it reads has a row here with the type that the schema gives it. A value of another type is converted where
its meaning is plain (a single object for a list of one, "16" for a number) and left out otherwise, so that it counts as
not reported. Properties without a row stay as they are, and so does what vendors define by themselves.

What is left out is noted in the object, so that "the BMC has none" and "the BMC can't say" stay two things
(`document_faults`).
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import sushy

from ironic.drivers.modules.redfish.wire.document_faults import FAULTS
from ironic.drivers.modules.redfish.wire.value_types import (
    ID,
    LARGEST,
    LEFT_OUT,
    RIGHT_TYPES,
    RIGHT_WORDS,
    ValueType,
    actions,
    apply_times,
    choices,
    file_place,
    flag,
    left_out,
    link,
    mapping,
    moment,
    number,
    objects,
    objects_or_link,
    place,
    status,
    text,
    whole,
    word_of,
    words,
    words_of,
)

Document = dict[str, Any]

_NULL: Final = "is null"
_ODD: Final = "has a value of another type"
_LOSSY: Final = "has entries that can't be read"
_SINGLE: Final = "is one object where a list should be"
_SETTINGS: Final = "@Redfish.Settings"
# Whose names are chosen by vendors, so a name says nothing about the type of its value.
_OPAQUE: Final = frozenset({"Attributes", "Oem", FAULTS})
_APART: Final = _OPAQUE | {"RegistryEntries"}
# What the library demands besides Id and Name, and what stands for it.
_DEMANDED_AT: Final[Mapping[str, Document]] = {"Chassis": {"ChassisType": "Other"}}
# Lists whose items must have names, also where a BMC has a link in the place of an item.
_NAMED_PARTS: Final = frozenset({"Fans", "Temperatures", "PowerSupplies", "StorageControllers", "Devices"})
# By each of these a resource says what it is.
TOLD_OF_ITSELF: Final = frozenset({"Id", "Name", "@odata.id", "@odata.type"})
_DEMANDED_OF_REGISTRIES: Final = {"Language": "en", "OwningEntity": "", "RegistryVersion": ""}
# The library knows a registry by its type, and a file of it by its language.
_ATTRIBUTE_REGISTRY: Final = "#AttributeRegistry.v1_0_0.AttributeRegistry"
_ENGLISH: Final = "en"
_ANY_LANGUAGE: Final = "default"


def _rows(kind: ValueType, names: str) -> dict[str, ValueType]:
    return dict.fromkeys(names.split(), kind)


_KINDS: Final[Mapping[str, ValueType]] = {
    **_rows(
        text,
        "@odata.type @odata.etag Id Name MemberId UUID SerialNumber Model Manufacturer Product SKU "
        "PartNumber SparePartNumber Socket BiosVersion FirmwareVersion FirmwarePackageVersion Revision AssetTag "
        "Description HostName Image ImageName DeviceId VendorId SubsystemId SubsystemVendorId RevisionId ClassCode "
        "DeviceClass FunctionType MACAddress PermanentMACAddress ChassisId PortId SystemName SystemDescription Version "
        "RedfishVersion HttpBootUri DateTime DateTimeLocalOffset OemLastState ReadingUnits PhysicalContext "
        "AttributeRegistry Registry RegistryPrefix Language ManagerType ChassisType SystemType "
        "ConnectedVia TransferMethod SecureBootCurrentBoot SecureBootMode BootMode "
        "UefiDevicePath AttributeName ReadingType MemoryType DeviceName DataSourceUri",
    ),
    **_rows(word_of(sushy.PowerState), "PowerState"),
    **_rows(word_of(sushy.State), "State"),
    **_rows(word_of(sushy.Health), "Health HealthRollup TaskStatus JobStatus"),
    **_rows(word_of(sushy.TaskState), "TaskState JobState"),
    **_rows(word_of(sushy.IndicatorLED), "IndicatorLED"),
    **_rows(word_of(sushy.BootProgressStates), "LastState"),
    **_rows(word_of(sushy.BootSource), "BootSourceOverrideTarget"),
    **_rows(word_of(sushy.BootSourceOverrideEnabled), "BootSourceOverrideEnabled"),
    **_rows(word_of(sushy.BootSourceOverrideMode), "BootSourceOverrideMode"),
    **_rows(word_of(sushy.ProcessorType), "ProcessorType"),
    **_rows(word_of(sushy.ProcessorArchitecture), "ProcessorArchitecture"),
    **_rows(word_of(sushy.InstructionSet), "InstructionSet"),
    **_rows(word_of(sushy.RAIDType), "RAIDType"),
    **_rows(word_of(sushy.VolumeType), "VolumeType"),
    **_rows(word_of(("HDD", "SSD", "SMR")), "MediaType"),
    **_rows(word_of(sushy.Protocol), "Protocol"),
    **_rows(place, "@odata.id target @Redfish.ActionInfo"),
    **_rows(file_place, "Uri ArchiveUri"),
    **_rows(
        whole,
        "MaxSpeedMHz TotalCores TotalThreads CapacityBytes BlockSizeBytes SpeedMbps CurrentLinkSpeedMbps "
        "PhysicalPortNumber LanesInUse MaxLanes Lanes FunctionId BootPriority VLANId ManagementVlanId MTUSize "
        "PrimaryLUN PrimaryVLANId SecondaryLUN SecondaryVLANId SensorNumber PercentComplete LogicalProcessorCount "
        "MaxVirtualFunctions CapacityMiB Count",
    ),
    **_rows(
        number,
        "TotalSystemMemoryGiB SpeedGbps CurrentSpeedGbps LastBootTimeSeconds LowerThresholdCritical "
        "LowerThresholdFatal LowerThresholdNonCritical UpperThresholdCritical UpperThresholdFatal "
        "UpperThresholdNonCritical MaxReadingRange MinReadingRange Reading MaxReadingRangeTemp MinReadingRangeTemp "
        "ReadingCelsius MaxAllowableOperatingValue MinAllowableOperatingValue MaximumFrequencyHz MaximumVoltage "
        "MinimumFrequencyHz MinimumVoltage OutputWattage LastPowerOutputWatts LineInputVoltage PowerCapacityWatts "
        "PredictedMediaLifeLeftPercent SpeedRPM ReadingRangeMax ReadingRangeMin",
    ),
    **_rows(
        flag,
        "Inserted WriteProtected SecureBootEnable Encrypted HotPluggable VLANEnable SecondaryVLANEnable "
        "InterfaceEnabled ServiceEnabled BootOptionEnabled",
    ),
    **_rows(moment, "LastStateTime"),
    **_rows(
        words,
        "SupportedRAIDTypes SupportedControllerProtocols SupportedDeviceProtocols SupportedApplyTimes "
        "BootOrder Languages AssociatedMACAddresses AssociatedNetworkAddresses SupportedMedia",
    ),
    **_rows(words_of(sushy.VirtualMediaType), "MediaTypes"),
    **_rows(
        mapping,
        "Boot MemorySummary ProcessorSummary BootProgress @Redfish.Settings Links Oem Ethernet LLDPReceive "
        "LLDPTransmit ProcessorId PCIeInterface Slot RegistryEntries ProtocolFeaturesSupported Attributes SpeedPercent "
        "InputVoltage OutputPowerWatts",
    ),
    **_rows(status, "Status"),
    **_rows(
        link,
        "EthernetInterfaces Processors Memory SimpleStorage Storage Volumes Bios SecureBoot VirtualMedia Thermal Power "
        "NetworkAdapters NetworkDeviceFunctions NetworkPorts Ports PCIeFunctions SettingsObject Systems Managers "
        "UpdateService SessionService Sessions Registries CertificateService EventService Tasks TaskService "
        "FirmwareInventory SoftwareInventory BootOptions ThermalSubsystem PowerSubsystem ThermalMetrics Metrics "
        "Sensors Chassis Fabrics CompositionService",
    ),
    # A link elsewhere in the tree.
    **_rows(objects_or_link, "Controllers PCIeDevices"),
    **_rows(
        objects,
        "Members Drives StorageControllers Devices Fans Temperatures PowerSupplies InputRanges Identifiers Location "
        "Parameters TemperatureReadingsCelsius",
    ),
    **_rows(actions, "Actions"),
    **_rows(apply_times, "@Redfish.OperationApplyTimeSupport"),
    # Its members are demanded by the library and not used here.
    **_rows(left_out, "@Redfish.MaintenanceWindow @Redfish.SettingsApplyTime"),
}
# What is in these objects has other types than elsewhere.
_KINDS_IN: Final = {
    "Links": {
        **_rows(objects, "Chassis ManagedBy Managers ManagerForServers ComputerSystems Drives Volumes"),
        **_rows(link, "Sessions NetworkAdapter"),
        **_rows(mapping, "Oem"),
    },
    # What became of earlier changes is not used.
    _SETTINGS: {**_KINDS, **_rows(text, "ETag"), **_rows(left_out, "Messages Time")},
}
_KINDS_OF_ADAPTERS: Final = {**_KINDS, **_rows(objects, "Controllers")}
# Of one attribute in a registry.
_KINDS_OF_ATTRIBUTES: Final = {
    **_rows(text, "AttributeName"),
    **_rows(word_of(("Enumeration", "Integer", "String", "Boolean", "Password")), "Type"),
    **_rows(number, "LowerBound UpperBound MinLength MaxLength"),
    **_rows(flag, "ReadOnly ResetRequired IsSystemUniqueProperty Immutable"),
    **_rows(choices, "Value"),
}
_RIGHTS: Final = ("ReadOnly", "Immutable")
# In an attribute of a registry: its properties that can't be read. In the registry: whether it has such attributes.
ODD_PARTS: Final = "@ironic.odd"
NAMELESS: Final = "@ironic.nameless"
_ALLOWED: Final = "@Redfish.AllowableValues"
# What is chosen among these is ordered in the words of the standard.
_ALLOWED_WORDS: Final[Mapping[str, ValueType]] = {
    f"ResetType{_ALLOWED}": words_of(sushy.ResetType),
    f"BootSourceOverrideTarget{_ALLOWED}": words_of(sushy.BootSource),
}


def repaired(document: Document, path: str) -> Document:
    """Return a resource as the library expects it; ``path`` is that of the resource on the BMC."""
    parts = path.rstrip("/").split("/")
    found = _with_kinds(document, _KINDS_OF_ADAPTERS if parts[-2:-1] == ["NetworkAdapters"] else _KINDS)
    if "SettingsObject" not in found.get(_SETTINGS, {}):
        # The library follows the link without looking whether it is there.
        found.pop(_SETTINGS, None)
    # A collection needs nothing, and what says nothing about itself is none of Redfish.
    if "Members" in found or not found.keys() & TOLD_OF_ITSELF:
        return found
    demanded: Document = {
        "Id": parts[-1],
        "Name": parts[-1],
        **_DEMANDED_AT.get(parts[-2] if len(parts) > 1 else "", {}),
    }
    if parts[-1] in ("EventService", "UpdateService"):
        demanded["Actions"] = {}
    if "RegistryEntries" in found:
        demanded |= _DEMANDED_OF_REGISTRIES
        if found["RegistryEntries"]["Attributes"]:
            found["@odata.type"] = _ATTRIBUTE_REGISTRY
    if "Location" in found and found.keys() & {"Registry", "Languages"}:
        found["Location"] = _locations(found["Location"])
        demanded |= {"Languages": [], "Registry": found.get("Id") or parts[-1]}
    return found | {name: value for name, value in demanded.items() if found.get(name) is None}


def _locations(files: Iterable[Document]) -> list[Document]:
    """Return the files of a registry with a language each: English, or else the first one is for all languages."""
    found = []
    for file in files:
        language = file.get("Language") or _ANY_LANGUAGE
        found.append({**file, "Language": _ENGLISH if language.lower().startswith(_ENGLISH) else language})
    if found and not any(file["Language"] in (_ENGLISH, _ANY_LANGUAGE) for file in found):
        found[0]["Language"] = _ANY_LANGUAGE
    return found


def _with_kinds(document: Mapping[str, Any], kinds: Mapping[str, ValueType]) -> Document:
    found: Document = {}
    faults: dict[str, str] = {}
    for name, value in document.items():
        kind = _ALLOWED_WORDS.get(name, words) if name.endswith(_ALLOWED) else kinds.get(name)
        is_right = value and type(value) is RIGHT_TYPES.get(kind)
        is_right = is_right or (type(value) is str and value in RIGHT_WORDS.get(kind, ()))
        if kind is not None and not is_right:
            given = value
            value = kind([] if given is None and kind in (objects, actions) else given)
            is_doubtful = value is not given and (value is LEFT_OUT or isinstance(value, list))
            if is_doubtful and (fault := _fault(given, value)) is not None:
                faults[name] = fault
            elif isinstance(given, dict) and isinstance(value, list) and document.get(f"{name}@odata.count") != 1:
                # It may be one of several.
                faults[name] = _SINGLE
        if value is not LEFT_OUT and name != FAULTS:
            if isinstance(value, dict) and name not in _APART:
                found[name] = _with_kinds(value, _KINDS_IN.get(name, _KINDS))
            else:
                found[name] = _inside(name, value) if isinstance(value, dict | list) else value
    if faults:
        found[FAULTS] = faults
    return found


def _fault(given: object, kept: object) -> str | None:
    """Return what is wrong with a given value of which ``kept`` could be used."""
    if kept is LEFT_OUT:
        return _NULL if given is None else _ODD
    if not isinstance(kept, list):
        return None
    if isinstance(given, list):
        return _LOSSY if len(kept) < len(given) else None
    return None if kept else _NULL if given is None else _ODD


def _inside(name: str, value: Any) -> Any:
    """Return a list, or an object whose names are its own, with what is in it repaired."""
    if name == "RegistryEntries" and isinstance(value, dict):
        entries = objects(value.get("Attributes") or [])
        found = [_attribute(entry) for entry in entries if isinstance(entry, dict)]
        named = [entry for entry in found if isinstance(entry.get("AttributeName"), str)]
        given = value.get("Attributes")
        return {**value, "Attributes": named, NAMELESS: not isinstance(given, list) or len(named) < len(given)}
    if name in _OPAQUE:
        return value
    return [_item(name, item, number) if isinstance(item, dict) else item for number, item in enumerate(value)]


def _attribute(entry: Document) -> Document:
    """Return an attribute of a registry, with the names of its properties that are not as they should be."""
    found = _with_kinds(entry, _KINDS_OF_ATTRIBUTES)
    odd = [
        name
        for name in _KINDS_OF_ATTRIBUTES
        if (name in entry and name not in found and not _is_no_bound(name, entry[name]))
        or (name in _RIGHTS and name in entry and entry[name] is None)
    ]
    return {**found, ODD_PARTS: odd}


def _is_no_bound(name: str, value: object) -> bool:
    """Return whether a bound is so far away that no number is beyond it."""
    if not isinstance(value, int) or abs(value) < LARGEST:
        return False
    return value > 0 if name in ("UpperBound", "MaxLength") else value < 0


def _item(name: str, item: Document, number: int) -> Document:
    """Return an object of a list; the library demands names of some, which their place in the list stands for."""
    found = _with_kinds(item, _KINDS)
    is_link = item.keys() == {ID}
    if not is_link or name in _NAMED_PARTS:
        found["MemberId"] = found.get("MemberId") or str(number)
        found["Name"] = found.get("Name") or found["MemberId"]
    return found
