"""What types the properties have that all resources of Redfish have, and what several of them have.

A row gives the type of the names at one place of a resource.
"""

from typing import Final, NamedTuple

import sushy

from ironic.drivers.modules.redfish.wire.value_types import (
    ValueType,
    actions,
    apply_times,
    as_it_is,
    choices,
    flag,
    left_out,
    link,
    mapping,
    number,
    objects,
    opaque,
    place,
    status,
    text,
    whole,
    word_of,
    words,
    words_of,
)

ALLOWED: Final = "@Redfish.AllowableValues"
# The row of a place whose names are no properties, as those of actions.
EACH: Final = "*"
ENTRIES: Final = "RegistryEntries"
ATTRIBUTE_REGISTRY: Final = "AttributeRegistry"
SETTINGS: Final = "@Redfish.Settings"
LINKS: Final = "Links"
MESSAGES: Final = "Messages"


class Row(NamedTuple):
    """Names of properties with one type; ``inside`` are the rows of the objects that they have."""

    type: ValueType
    names: tuple[str, ...]
    inside: "tuple[Row, ...]" = ()
    # Whether a property of this name has this type also where it is not known what has it.
    is_everywhere: bool = True


def row(kind: ValueType, names: str, *inside: Row) -> Row:
    """Return the row of names, separated by blanks, that have this type wherever they are not known to have another."""
    return Row(kind, tuple(names.split()), inside)


def own(kind: ValueType, names: str, *inside: Row) -> Row:
    """Return the row of names that have this type at one resource, and say nothing elsewhere."""
    return Row(kind, tuple(names.split()), inside, is_everywhere=False)


# What several rows share.
HEALTH: Final = word_of(sushy.Health)
TASK_STATE: Final = word_of(sushy.TaskState)
LED: Final = word_of(sushy.IndicatorLED)
POWER_STATE: Final = word_of(sushy.PowerState)
PROTOCOL: Final = word_of(sushy.Protocol)
WARES: Final = row(text, "Manufacturer Model SerialNumber PartNumber SparePartNumber SKU AssetTag")
DURABLE_NAMES: Final = row(objects, "Identifiers", own(text, "DurableName DurableNameFormat"))
PCI: Final = row(text, "DeviceId VendorId SubsystemId SubsystemVendorId")
STORAGE_CONTROLLER: Final = (
    row(words, "SupportedRAIDTypes SupportedControllerProtocols SupportedDeviceProtocols"),
    row(number, "SpeedGbps"),
    row(text, "FirmwareVersion"),
    WARES,
    DURABLE_NAMES,
)
THRESHOLDS: Final = row(
    number,
    "LowerThresholdCritical LowerThresholdFatal LowerThresholdNonCritical "
    "UpperThresholdCritical UpperThresholdFatal UpperThresholdNonCritical",
)
CONSOLE: Final = (
    row(flag, "ServiceEnabled"), own(whole, "MaxConcurrentSessions"), own(words, "ConnectTypesSupported"),
)  # fmt: skip
READING: Final = (row(number, "Reading SpeedRPM"), row(text, "DataSourceUri"))
VLAN: Final = own(mapping, "VLAN", row(flag, "VLANEnable"), row(whole, "VLANId"))
FLOW_CONTROL: Final = own(text, "FlowControlConfiguration FlowControlStatus")
MACS: Final = row(text, "MACAddress PermanentMACAddress")
JOB: Final = (
    row(TASK_STATE, "TaskState JobState"),
    row(HEALTH, "TaskStatus JobStatus"),
    row(whole, "PercentComplete"),
    # What reads a task looks at all that is odd about its end, and at what it says as the BMC has it.
    own(as_it_is, f"{MESSAGES} StartTime EndTime TaskMonitor"),
)
# Of one attribute in a registry.
ATTRIBUTE: Final = (
    row(text, "AttributeName"),
    row(word_of(("Enumeration", "Integer", "String", "Boolean", "Password")), "Type"),
    row(number, "LowerBound UpperBound MinLength MaxLength"),
    row(flag, "ReadOnly ResetRequired IsSystemUniqueProperty Immutable"),
    row(choices, "Value"),
    row(as_it_is, "DefaultValue DisplayName"),
)
REGISTRY: Final = (row(text, "Language RegistryPrefix"), own(text, "OwningEntity RegistryVersion"))

COMMON: Final = (
    row(text, "@odata.type @odata.etag Id Name MemberId Description"),
    row(place, "@odata.id"),
    row(status, "Status", row(word_of(sushy.State), "State"), row(HEALTH, "Health HealthRollup")),
    row(mapping, LINKS, row(opaque, "Oem")),
    row(opaque, "Oem"),
    row(objects, "Members"),
    row(
        actions,
        "Actions",
        row(
            mapping,
            EACH,
            row(place, "target @Redfish.ActionInfo"),
            row(words_of(sushy.ResetType), f"ResetType{ALLOWED}"),
        ),
    ),
    row(
        mapping,
        SETTINGS,
        own(text, "ETag"),
        row(link, "SettingsObject"),
        row(words, "SupportedApplyTimes"),
        # What became of earlier changes is not used.
        own(left_out, f"{MESSAGES} Time"),
    ),
    row(apply_times, "@Redfish.OperationApplyTimeSupport"),
    row(left_out, "@Redfish.MaintenanceWindow @Redfish.SettingsApplyTime"),
)
