"""Redfish documents of odd machines, repaired to what the sushy library expects before it reads them.

The library reads all properties of a resource at once, and one of an odd type takes the whole resource away. So each
property that it reads has a row here with the type that the schema gives it. A value of another type is converted where
its meaning is plain (a single object for a list of one, "16" for a number) and left out otherwise, so that it counts as
not reported. Properties without a row stay as they are, and so does what vendors define by themselves.

What is left out is noted in the object, so that "the BMC has none" and "the BMC can't say" stay two things
(`document_faults`).
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, Final

import sushy

from ironic.core.texts import syntax
from ironic.drivers.modules.redfish.wire.document_faults import FAULTS

Document = dict[str, Any]

_LEFT_OUT: Final = object()
_NULL: Final = "is null"
_ODD: Final = "has a value of another type"
_LOSSY: Final = "has entries that can't be read"
_SINGLE: Final = "is one object where a list should be"
_ID: Final = "@odata.id"
_NUMBER: Final = re.compile(r"\s*[+-]?\d{1,18}(\.\d{1,9})?\s*")
_LARGEST: Final = 2**63
_SETTINGS: Final = "@Redfish.Settings"
_TRUTHS: Final = {"true": True, "false": False, "enabled": True, "disabled": False}
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


# What needs no look, by the function that would look: the words that a value may be.
_RIGHT_WORDS: Final[dict[object, frozenset[str]]] = {}


# Values by type: each function returns the value as it should be, or _LEFT_OUT. Null is one that the library knows for
# plain values.


def _text(value: object) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value if value is None or isinstance(value, str) else _LEFT_OUT


def _place(value: object) -> object:
    return value if isinstance(value, str) and value else _LEFT_OUT


def _file(value: object) -> object:
    """Return the place of a file, which older BMCs put into an object."""
    return _place(value.get(_ID) or value.get("extref") if isinstance(value, dict) else value)


def _number(value: object) -> object:
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value) if "." in value else int(value)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and math.isfinite(value) and abs(value) < _LARGEST else _LEFT_OUT  # type: ignore[arg-type]


def _whole(value: object) -> object:
    """Return a whole number; a fraction of things is none, and the library would cut it off."""
    found = _number(value)
    if isinstance(found, float):
        return int(found) if found.is_integer() else _LEFT_OUT
    return found


def _flag(value: object) -> object:
    if isinstance(value, str):
        return _TRUTHS.get(value.strip().lower(), _LEFT_OUT)
    return value if value is None or isinstance(value, bool) else _LEFT_OUT


def _moment(value: object) -> object:
    # Clocks that are not set yet show the year 0.
    return value if isinstance(value, str) and syntax.moment_of(value) is not None else _LEFT_OUT


def _words(value: object) -> object:
    if isinstance(value, str):
        return [value]
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else _LEFT_OUT


def _object(value: object) -> object:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, dict) else _LEFT_OUT


def _status(value: object) -> object:
    return {"State": value} if isinstance(value, str) else _object(value)


def _link(value: object) -> object:
    if isinstance(value, dict) and str(value.get(_ID)).startswith("/"):
        return value
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        value = {_ID: value}
    found = _object(value)
    return found if isinstance(found, dict) and _is_path(found.get(_ID)) else _LEFT_OUT


def _objects(value: object) -> list[Any]:
    items = value if isinstance(value, list) else [value]
    return [{_ID: item} if _is_path(item) else item for item in items if isinstance(item, dict) or _is_path(item)]


def _objects_or_link(value: object) -> object:
    return value if isinstance(value, dict) and _is_path(value.get(_ID)) else _objects(value)


def _is_path(value: object) -> bool:
    return isinstance(value, str) and value.startswith("/")


def _actions(value: object) -> object:
    if not isinstance(value, dict):
        return {}
    return {
        name: action
        for name, action in value.items()
        if not name.startswith("#") or (isinstance(action, dict) and _leads_somewhere(action.get("target")))
    }


def _leads_somewhere(target: object) -> bool:
    """Return whether an order can be sent to a target: "N/A" would become a path of the BMC."""
    is_plain = isinstance(target, str) and target.isascii() and target.isprintable() and " " not in target
    return is_plain and str(target).startswith(("/", "http://", "https://"))


def _apply_times(value: object) -> object:
    """Keep what is said of operations only if it says when they can be applied; windows of time are not used."""
    values = _words(value.get("SupportedValues")) if isinstance(value, dict) else _LEFT_OUT
    return _LEFT_OUT if values is _LEFT_OUT else {"SupportedValues": values}


def _word_of(words: Iterable[Enum | str]) -> Callable[[object], object]:
    """Return the function that spells a value as one of these words, if it is one of them in another case."""
    spelt = (str(word.value) if isinstance(word, Enum) else word for word in words)
    known = {word.lower(): word for word in spelt}

    def word(value: object) -> object:
        return known.get(value.strip().lower(), value) if isinstance(value, str) else _text(value)

    _RIGHT_WORDS[word] = frozenset(known.values())
    return word


def _words_of(words: Iterable[Enum]) -> Callable[[object], object]:
    """Return the function that spells the items of a list as these words, as `_word_of` does."""
    word = _word_of(words)

    def spelt(value: object) -> object:
        found = _words(value)
        return [word(item) for item in found] if isinstance(found, list) else found

    return spelt


def _choices(value: object) -> object:
    """Return the values of an enumeration without those that say nothing.

    The list is left out where one of them is odd: without all of them a right value would be refused.
    """
    items = value if isinstance(value, list) else [value]
    given = [item.get("ValueName", item.get("ValueDisplayName")) if isinstance(item, dict) else item for item in items]
    names = [name for name in given if name is not None]
    is_known = all(isinstance(name, str | int) and not isinstance(name, bool) for name in names)
    return [{"ValueName": name} for name in names] if is_known else _LEFT_OUT


def _left_out(value: object) -> object:
    return _LEFT_OUT


def _rows(kind: Callable[[object], object], names: str) -> dict[str, Callable[[object], object]]:
    return dict.fromkeys(names.split(), kind)


# The same: the type of a value that is not empty.
_RIGHT_TYPES: Final[Mapping[object, type]] = {_text: str, _place: str, _object: dict, _status: dict, _flag: bool}
_KINDS: Final[Mapping[str, Callable[[object], object]]] = {
    **_rows(
        _text,
        "@odata.type @odata.etag Id Name MemberId UUID SerialNumber Model Manufacturer Product SKU "
        "PartNumber SparePartNumber Socket BiosVersion FirmwareVersion FirmwarePackageVersion Revision AssetTag "
        "Description HostName Image ImageName DeviceId VendorId SubsystemId SubsystemVendorId RevisionId ClassCode "
        "DeviceClass FunctionType MACAddress PermanentMACAddress ChassisId PortId SystemName SystemDescription Version "
        "RedfishVersion HttpBootUri DateTime DateTimeLocalOffset OemLastState ReadingUnits PhysicalContext "
        "AttributeRegistry Registry RegistryPrefix Language ManagerType ChassisType SystemType "
        "ConnectedVia TransferMethod SecureBootCurrentBoot SecureBootMode BootMode "
        "UefiDevicePath AttributeName ReadingType MemoryType DeviceName DataSourceUri",
    ),
    **_rows(_word_of(sushy.PowerState), "PowerState"),
    **_rows(_word_of(sushy.State), "State"),
    **_rows(_word_of(sushy.Health), "Health HealthRollup TaskStatus JobStatus"),
    **_rows(_word_of(sushy.TaskState), "TaskState JobState"),
    **_rows(_word_of(sushy.IndicatorLED), "IndicatorLED"),
    **_rows(_word_of(sushy.BootProgressStates), "LastState"),
    **_rows(_word_of(sushy.BootSource), "BootSourceOverrideTarget"),
    **_rows(_word_of(sushy.BootSourceOverrideEnabled), "BootSourceOverrideEnabled"),
    **_rows(_word_of(sushy.BootSourceOverrideMode), "BootSourceOverrideMode"),
    **_rows(_word_of(sushy.ProcessorType), "ProcessorType"),
    **_rows(_word_of(sushy.ProcessorArchitecture), "ProcessorArchitecture"),
    **_rows(_word_of(sushy.InstructionSet), "InstructionSet"),
    **_rows(_word_of(sushy.RAIDType), "RAIDType"),
    **_rows(_word_of(sushy.VolumeType), "VolumeType"),
    **_rows(_word_of(("HDD", "SSD", "SMR")), "MediaType"),
    **_rows(_word_of(sushy.Protocol), "Protocol"),
    **_rows(_place, "@odata.id target @Redfish.ActionInfo"),
    **_rows(_file, "Uri ArchiveUri"),
    **_rows(
        _whole,
        "MaxSpeedMHz TotalCores TotalThreads CapacityBytes BlockSizeBytes SpeedMbps CurrentLinkSpeedMbps "
        "PhysicalPortNumber LanesInUse MaxLanes Lanes FunctionId BootPriority VLANId ManagementVlanId MTUSize "
        "PrimaryLUN PrimaryVLANId SecondaryLUN SecondaryVLANId SensorNumber PercentComplete LogicalProcessorCount "
        "MaxVirtualFunctions CapacityMiB Count",
    ),
    **_rows(
        _number,
        "TotalSystemMemoryGiB SpeedGbps CurrentSpeedGbps LastBootTimeSeconds LowerThresholdCritical "
        "LowerThresholdFatal LowerThresholdNonCritical UpperThresholdCritical UpperThresholdFatal "
        "UpperThresholdNonCritical MaxReadingRange MinReadingRange Reading MaxReadingRangeTemp MinReadingRangeTemp "
        "ReadingCelsius MaxAllowableOperatingValue MinAllowableOperatingValue MaximumFrequencyHz MaximumVoltage "
        "MinimumFrequencyHz MinimumVoltage OutputWattage LastPowerOutputWatts LineInputVoltage PowerCapacityWatts "
        "PredictedMediaLifeLeftPercent SpeedRPM ReadingRangeMax ReadingRangeMin",
    ),
    **_rows(
        _flag,
        "Inserted WriteProtected SecureBootEnable Encrypted HotPluggable VLANEnable SecondaryVLANEnable "
        "InterfaceEnabled ServiceEnabled BootOptionEnabled",
    ),
    **_rows(_moment, "LastStateTime"),
    **_rows(
        _words,
        "SupportedRAIDTypes SupportedControllerProtocols SupportedDeviceProtocols SupportedApplyTimes "
        "BootOrder Languages AssociatedMACAddresses AssociatedNetworkAddresses SupportedMedia",
    ),
    **_rows(_words_of(sushy.VirtualMediaType), "MediaTypes"),
    **_rows(
        _object,
        "Boot MemorySummary ProcessorSummary BootProgress @Redfish.Settings Links Oem Ethernet LLDPReceive "
        "LLDPTransmit ProcessorId PCIeInterface Slot RegistryEntries ProtocolFeaturesSupported Attributes SpeedPercent "
        "InputVoltage OutputPowerWatts",
    ),
    **_rows(_status, "Status"),
    **_rows(
        _link,
        "EthernetInterfaces Processors Memory SimpleStorage Storage Volumes Bios SecureBoot VirtualMedia Thermal Power "
        "NetworkAdapters NetworkDeviceFunctions NetworkPorts Ports PCIeFunctions SettingsObject Systems Managers "
        "UpdateService SessionService Sessions Registries CertificateService EventService Tasks TaskService "
        "FirmwareInventory SoftwareInventory BootOptions ThermalSubsystem PowerSubsystem ThermalMetrics Metrics "
        "Sensors Chassis Fabrics CompositionService",
    ),
    # A link elsewhere in the tree.
    **_rows(_objects_or_link, "Controllers PCIeDevices"),
    **_rows(
        _objects,
        "Members Drives StorageControllers Devices Fans Temperatures PowerSupplies InputRanges Identifiers Location "
        "Parameters TemperatureReadingsCelsius",
    ),
    **_rows(_actions, "Actions"),
    **_rows(_apply_times, "@Redfish.OperationApplyTimeSupport"),
    # Its members are demanded by the library and not used here.
    **_rows(_left_out, "@Redfish.MaintenanceWindow @Redfish.SettingsApplyTime"),
}
# What is in these objects has other types than elsewhere.
_KINDS_IN: Final = {
    "Links": {
        **_rows(_objects, "Chassis ManagedBy Managers ManagerForServers ComputerSystems Drives Volumes"),
        **_rows(_link, "Sessions NetworkAdapter"),
        **_rows(_object, "Oem"),
    },
    # What became of earlier changes is not used.
    _SETTINGS: {**_KINDS, **_rows(_text, "ETag"), **_rows(_left_out, "Messages Time")},
}
_KINDS_OF_ADAPTERS: Final = {**_KINDS, **_rows(_objects, "Controllers")}
# Of one attribute in a registry.
_KINDS_OF_ATTRIBUTES: Final = {
    **_rows(_text, "AttributeName"),
    **_rows(_word_of(("Enumeration", "Integer", "String", "Boolean", "Password")), "Type"),
    **_rows(_number, "LowerBound UpperBound MinLength MaxLength"),
    **_rows(_flag, "ReadOnly ResetRequired IsSystemUniqueProperty Immutable"),
    **_rows(_choices, "Value"),
}
_RIGHTS: Final = ("ReadOnly", "Immutable")
# In an attribute of a registry: its properties that can't be read. In the registry: whether it has such attributes.
ODD_PARTS: Final = "@ironic.odd"
NAMELESS: Final = "@ironic.nameless"
_ALLOWED: Final = "@Redfish.AllowableValues"
# What is chosen among these is ordered in the words of the standard.
_ALLOWED_WORDS: Final[Mapping[str, Callable[[object], object]]] = {
    f"ResetType{_ALLOWED}": _words_of(sushy.ResetType),
    f"BootSourceOverrideTarget{_ALLOWED}": _words_of(sushy.BootSource),
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


def _locations(places: Iterable[Document]) -> list[Document]:
    """Return the files of a registry with a language each: English, or else the first one is for all languages."""
    found = []
    for place in places:
        language = place.get("Language") or _ANY_LANGUAGE
        found.append({**place, "Language": _ENGLISH if language.lower().startswith(_ENGLISH) else language})
    if found and not any(place["Language"] in (_ENGLISH, _ANY_LANGUAGE) for place in found):
        found[0]["Language"] = _ANY_LANGUAGE
    return found


def _with_kinds(document: Mapping[str, Any], kinds: Mapping[str, Callable[[object], object]]) -> Document:
    found: Document = {}
    faults: dict[str, str] = {}
    for name, value in document.items():
        kind = _ALLOWED_WORDS.get(name, _words) if name.endswith(_ALLOWED) else kinds.get(name)
        is_right = value and type(value) is _RIGHT_TYPES.get(kind)
        is_right = is_right or (type(value) is str and value in _RIGHT_WORDS.get(kind, ()))
        if kind is not None and not is_right:
            given = value
            value = kind([] if given is None and kind in (_objects, _actions) else given)
            is_doubtful = value is not given and (value is _LEFT_OUT or isinstance(value, list))
            if is_doubtful and (fault := _fault(given, value)) is not None:
                faults[name] = fault
            elif isinstance(given, dict) and isinstance(value, list) and document.get(f"{name}@odata.count") != 1:
                # It may be one of several.
                faults[name] = _SINGLE
        if value is not _LEFT_OUT and name != FAULTS:
            if isinstance(value, dict) and name not in _APART:
                found[name] = _with_kinds(value, _KINDS_IN.get(name, _KINDS))
            else:
                found[name] = _inside(name, value) if isinstance(value, dict | list) else value
    if faults:
        found[FAULTS] = faults
    return found


def _fault(given: object, kept: object) -> str | None:
    """Return what is wrong with a given value of which ``kept`` could be used."""
    if kept is _LEFT_OUT:
        return _NULL if given is None else _ODD
    if not isinstance(kept, list):
        return None
    if isinstance(given, list):
        return _LOSSY if len(kept) < len(given) else None
    return None if kept else _NULL if given is None else _ODD


def _inside(name: str, value: Any) -> Any:
    """Return a list, or an object whose names are its own, with what is in it repaired."""
    if name == "RegistryEntries" and isinstance(value, dict):
        entries = _objects(value.get("Attributes") or [])
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
    if not isinstance(value, int) or abs(value) < _LARGEST:
        return False
    return value > 0 if name in ("UpperBound", "MaxLength") else value < 0


def _item(name: str, item: Document, number: int) -> Document:
    """Return an object of a list; the library demands names of some, which their place in the list stands for."""
    found = _with_kinds(item, _KINDS)
    is_link = item.keys() == {_ID}
    if not is_link or name in _NAMED_PARTS:
        found["MemberId"] = found.get("MemberId") or str(number)
        found["Name"] = found.get("Name") or found["MemberId"]
    return found
