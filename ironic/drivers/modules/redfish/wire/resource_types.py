"""What types the properties of Redfish resources have, by the resource.

A document says what it is (`@odata.type`), and its properties have the types that this resource gives them. What has
one type in all resources is in `common_types`. A resource that does not say what it is, or is none of these, has the
types of all together, but for the rows that are a resource's own: elsewhere their names have other types, or nothing
reads them.
"""

from collections.abc import Mapping
from typing import Final

import sushy

from ironic.drivers.modules.redfish.wire.common_types import (
    ALLOWED,
    ATTRIBUTE,
    ATTRIBUTE_REGISTRY,
    CONSOLE,
    DURABLE_NAMES,
    EACH,
    ENTRIES,
    FLOW_CONTROL,
    JOB,
    LED,
    LINKS,
    MACS,
    MESSAGES,
    PCI,
    POWER_STATE,
    PROTOCOL,
    READING,
    REGISTRY,
    STORAGE_CONTROLLER,
    THRESHOLDS,
    VLAN,
    WARES,
    Row,
    own,
    row,
)
from ironic.drivers.modules.redfish.wire.value_types import (
    as_it_is,
    file_place,
    flag,
    link,
    mapping,
    moment,
    number,
    objects,
    objects_or_link,
    opaque,
    parts,
    text,
    whole,
    word_of,
    words,
    words_of,
)

# The resources that the service reads, in the spelling of the standard.
RESOURCES: Final[Mapping[str, tuple[Row, ...]]] = {
    "ServiceRoot": (
        row(text, "UUID Product RedfishVersion"),
        row(
            link,
            "Systems Managers Chassis UpdateService SessionService Registries CertificateService EventService Tasks "
            "TaskService Fabrics CompositionService",
        ),
        row(
            mapping,
            "ProtocolFeaturesSupported",
            own(as_it_is, "ExcerptQuery ExpandQuery FilterQuery OnlyMemberQuery SelectQuery"),
        ),
        row(mapping, LINKS, row(link, "Sessions")),
    ),
    "ComputerSystem": (
        WARES,
        row(text, "UUID HostName BiosVersion SystemType"),
        row(POWER_STATE, "PowerState"),
        row(LED, "IndicatorLED"),
        row(
            mapping,
            "Boot",
            row(word_of(sushy.BootSource), "BootSourceOverrideTarget"),
            row(word_of(sushy.BootSourceOverrideEnabled), "BootSourceOverrideEnabled"),
            row(word_of(sushy.BootSourceOverrideMode), "BootSourceOverrideMode"),
            row(words_of(sushy.BootSource), f"BootSourceOverrideTarget{ALLOWED}"),
            row(text, "HttpBootUri"),
            row(words, "BootOrder"),
            row(link, "BootOptions"),
        ),
        row(
            mapping,
            "BootProgress",
            row(word_of(sushy.BootProgressStates), "LastState"),
            row(moment, "LastStateTime"),
            row(number, "LastBootTimeSeconds"),
            row(text, "OemLastState"),
        ),
        row(mapping, "MemorySummary", row(number, "TotalSystemMemoryGiB")),
        row(mapping, "ProcessorSummary", row(whole, "Count LogicalProcessorCount"), row(text, "Model")),
        row(link, "Bios SecureBoot EthernetInterfaces Processors Memory SimpleStorage Storage VirtualMedia"),
        row(objects_or_link, "PCIeDevices"),
        row(mapping, LINKS, row(objects, "Chassis ManagedBy Managers")),
    ),
    "Chassis": (
        WARES,
        row(text, "UUID ChassisType"),
        row(POWER_STATE, "PowerState"),
        row(LED, "IndicatorLED"),
        own(number, "DepthMm HeightMm WidthMm WeightKg"),
        own(
            mapping,
            "PhysicalSecurity",
            own(text, "IntrusionSensor IntrusionSensorReArm"),
            own(whole, "IntrusionSensorNumber"),
        ),
        row(link, "Thermal Power ThermalSubsystem PowerSubsystem Sensors NetworkAdapters"),
        # A link elsewhere in the tree.
        row(objects_or_link, "PCIeDevices"),
        row(mapping, LINKS, row(objects, "ComputerSystems ManagedBy Drives")),
    ),
    "Manager": (
        WARES,
        row(text, "UUID FirmwareVersion ManagerType DateTime DateTimeLocalOffset"),
        own(flag, "AutoDSTEnabled"),
        own(mapping, "CommandShell GraphicalConsole SerialConsole", *CONSOLE),
        row(link, "EthernetInterfaces VirtualMedia"),
        row(mapping, LINKS, row(objects, "ManagerForServers")),
    ),
    "VirtualMedia": (
        row(text, "Image ImageName ConnectedVia TransferMethod"),
        own(text, "UserName"),
        row(flag, "Inserted WriteProtected"),
        own(flag, "VerifyCertificate"),
        row(words_of(sushy.VirtualMediaType), "MediaTypes"),
        row(words, "SupportedMedia"),
        own(link, "Certificates"),
    ),
    "Bios": (row(text, "AttributeRegistry"), row(opaque, "Attributes")),
    "SecureBoot": (row(flag, "SecureBootEnable"), row(text, "SecureBootCurrentBoot SecureBootMode")),
    "BootOption": (row(flag, "BootOptionEnabled"), row(text, "UefiDevicePath")),
    "Processor": (
        WARES,
        row(text, "Socket"),
        row(word_of(sushy.ProcessorType), "ProcessorType"),
        row(word_of(sushy.ProcessorArchitecture), "ProcessorArchitecture"),
        row(word_of(sushy.InstructionSet), "InstructionSet"),
        row(whole, "MaxSpeedMHz TotalCores TotalThreads"),
        row(
            mapping,
            "ProcessorId",
            own(text, "EffectiveFamily EffectiveModel IdentificationRegisters MicrocodeInfo Step VendorID"),
        ),
    ),
    "Memory": (WARES, row(text, "MemoryType"), row(whole, "CapacityMiB")),
    "EthernetInterface": (
        MACS,
        row(whole, "SpeedMbps MTUSize"),
        row(flag, "InterfaceEnabled"),
        own(as_it_is, "VLAN", *VLAN.inside),
    ),
    "NetworkAdapter": (
        WARES,
        own(objects, "Controllers", row(text, "FirmwarePackageVersion")),
        row(link, "NetworkDeviceFunctions NetworkPorts Ports"),
    ),
    "NetworkDeviceFunction": (
        row(text, "BootMode"),
        own(text, "NetDevFuncType"),
        own(words, "NetDevFuncCapabilities"),
        row(whole, "MaxVirtualFunctions"),
        row(mapping, "Ethernet", MACS, row(whole, "MTUSize"), VLAN),
        own(mapping, "FibreChannel", own(objects, "BootTargets", own(text, "LUNID WWPN"), row(whole, "BootPriority"))),
        own(
            mapping,
            "iSCSIBoot",
            own(
                text,
                "AuthenticationMethod InitiatorDefaultGateway InitiatorIPAddress InitiatorNetmask IPAddressType "
                "PrimaryDNS PrimaryTargetIPAddress SecondaryDNS SecondaryTargetIPAddress",
            ),
            row(whole, "PrimaryLUN PrimaryVLANId SecondaryLUN SecondaryVLANId"),
            own(whole, "PrimaryTargetTCPPort SecondaryTargetTCPPort"),
            row(flag, "SecondaryVLANEnable"),
            own(flag, "PrimaryVLANEnable"),
        ),
    ),
    "NetworkInterface": (row(mapping, LINKS, row(link, "NetworkAdapter")),),
    "NetworkPort": (
        row(words, "AssociatedNetworkAddresses"),
        row(whole, "CurrentLinkSpeedMbps PhysicalPortNumber"),
        own(text, "LinkStatus"),
        FLOW_CONTROL,
    ),
    "Port": (
        row(text, "PortId"),
        own(text, "LinkStatus"),
        row(number, "CurrentSpeedGbps"),
        row(
            mapping,
            "Ethernet",
            row(words, "AssociatedMACAddresses"),
            FLOW_CONTROL,
            row(
                mapping,
                "LLDPReceive LLDPTransmit",
                row(text, "ChassisId PortId SystemDescription SystemName"),
                own(
                    text,
                    "ChassisIdSubtype ManagementAddressIPv4 ManagementAddressIPv6 ManagementAddressMAC PortIdSubtype",
                ),
                row(whole, "ManagementVlanId"),
                own(words, "SystemCapabilities"),
            ),
        ),
    ),
    "PCIeDevice": (
        WARES,
        row(text, "FirmwareVersion"),
        own(text, "DeviceType"),
        row(mapping, "PCIeInterface", row(whole, "LanesInUse MaxLanes"), own(text, "MaxPCIeType PCIeType")),
        row(
            mapping,
            "Slot",
            row(flag, "HotPluggable"),
            row(whole, "Lanes"),
            own(text, "LaneSplitting PCIeType SlotType"),
            own(mapping, "Location"),
        ),
        row(link, "PCIeFunctions"),
    ),
    "PCIeFunction": (
        PCI,
        row(text, "ClassCode DeviceClass FunctionType RevisionId"),
        own(text, "BusNumber DeviceNumber FunctionNumber FunctionProtocol SegmentNumber"),
        row(whole, "FunctionId"),
        own(flag, "Enabled"),
    ),
    "Storage": (
        row(objects, "Drives"),
        row(parts, "StorageControllers", *STORAGE_CONTROLLER),
        # A list of links in some BMCs.
        row(objects_or_link, "Controllers"),
        row(link, "Volumes"),
    ),
    "StorageController": STORAGE_CONTROLLER,
    "Drive": (
        WARES,
        row(text, "Revision"),
        row(whole, "CapacityBytes BlockSizeBytes"),
        row(number, "PredictedMediaLifeLeftPercent"),
        row(word_of(("HDD", "SSD", "SMR")), "MediaType"),
        row(PROTOCOL, "Protocol"),
        row(LED, "IndicatorLED"),
        DURABLE_NAMES,
        row(mapping, LINKS, row(objects, "Volumes")),
    ),
    "Volume": (
        row(word_of(sushy.RAIDType), "RAIDType"),
        row(word_of(sushy.VolumeType), "VolumeType"),
        row(whole, "CapacityBytes BlockSizeBytes"),
        row(flag, "Encrypted"),
        DURABLE_NAMES,
        row(mapping, LINKS, row(objects, "Drives")),
    ),
    "SimpleStorage": (row(parts, "Devices", row(text, "Manufacturer Model"), row(whole, "CapacityBytes")),),
    "Thermal": (
        row(
            parts,
            "Fans",
            WARES,
            THRESHOLDS,
            row(number, "Reading MaxReadingRange MinReadingRange"),
            row(text, "ReadingUnits PhysicalContext"),
            row(LED, "IndicatorLED"),
        ),
        row(
            parts,
            "Temperatures",
            THRESHOLDS,
            row(
                number,
                "ReadingCelsius MaxReadingRangeTemp MinReadingRangeTemp MaxAllowableOperatingValue "
                "MinAllowableOperatingValue",
            ),
            row(whole, "SensorNumber"),
            row(text, "PhysicalContext"),
        ),
    ),
    "Power": (
        row(
            parts,
            "PowerSupplies",
            WARES,
            row(text, "FirmwareVersion"),
            own(text, "IndicatorLed LineInputVoltageType PowerSupplyType"),
            row(number, "LastPowerOutputWatts LineInputVoltage PowerCapacityWatts"),
            row(
                objects,
                "InputRanges",
                own(text, "InputType"),
                row(number, "MaximumFrequencyHz MaximumVoltage MinimumFrequencyHz MinimumVoltage OutputWattage"),
            ),
        ),
    ),
    "ThermalSubsystem": (own(objects_or_link, "Fans"), row(link, "ThermalMetrics")),
    "ThermalMetrics": (row(objects, "TemperatureReadingsCelsius", *READING, row(text, "DeviceName PhysicalContext")),),
    "Fan": (WARES, row(text, "PhysicalContext"), row(mapping, "SpeedPercent", *READING)),
    "Sensor": (
        row(number, "Reading ReadingRangeMax ReadingRangeMin"),
        row(text, "ReadingType ReadingUnits PhysicalContext"),
    ),
    "PowerSubsystem": (own(objects_or_link, "PowerSupplies"),),
    "PowerSupply": (WARES, row(number, "PowerCapacityWatts"), row(link, "Metrics")),
    "PowerSupplyMetrics": (row(mapping, "InputVoltage OutputPowerWatts", *READING),),
    "UpdateService": (
        row(flag, "ServiceEnabled"),
        own(flag, "HttpPushUriTargetsBusy"),
        own(text, "HttpPushUri"),
        own(words, "HttpPushUriTargets"),
        row(link, "FirmwareInventory SoftwareInventory"),
    ),
    "SoftwareInventory": (
        row(text, "Version Manufacturer"),
        own(text, "SoftwareId LowestSupportedVersion ReleaseDate"),
        own(flag, "Updateable"),
        own(objects, "RelatedItem"),
        own(words, "UefiDevicePaths"),
    ),
    "EventService": (
        row(flag, "ServiceEnabled"),
        own(words, "EventTypesForSubscription"),
        own(whole, "DeliveryRetryAttempts DeliveryRetryIntervalSeconds"),
    ),
    "SessionService": (row(flag, "ServiceEnabled"), own(whole, "SessionTimeout"), row(link, "Sessions")),
    "Session": (own(text, "UserName"),),
    "TaskService": (
        row(flag, "ServiceEnabled"),
        own(flag, "LifeCycleEventOnTaskStateChange"),
        own(text, "CompletedTaskOverWritePolicy"),
        row(link, "Tasks"),
    ),
    "Task": JOB,
    "Job": JOB,
    "ActionInfo": (row(objects, "Parameters", own(words, "AllowableValues")),),
    ATTRIBUTE_REGISTRY: (
        *REGISTRY,
        row(mapping, ENTRIES, row(objects, "Attributes", *ATTRIBUTE)),
        own(objects, "SupportedSystems"),
    ),
    "MessageRegistryFile": (
        row(text, "Registry"),
        row(words, "Languages"),
        row(
            objects,
            "Location",
            row(file_place, "Uri ArchiveUri"),
            row(text, "Language"),
            own(text, "ArchiveFile PublicationUri"),
        ),
    ),
}
# Those that the library reads besides: what they call a property says nothing about another resource.
OTHERS: Final[Mapping[str, tuple[Row, ...]]] = {
    "SecureBootDatabase": (row(text, "DatabaseId"),),
    # Users get it as the BMC has it.
    "EventDestination": (row(as_it_is, "Context Destination Protocol EventTypes HttpHeaders"),),
    "MessageRegistry": (
        *REGISTRY,
        # The library demands all of each message, and takes it as it is.
        row(
            mapping,
            MESSAGES,
            row(mapping, EACH, row(as_it_is, "Message NumberOfArgs ParamTypes Resolution Severity")),
        ),
    ),
    "CertificateService": (row(link, "CertificateLocations"),),
    "CertificateLocations": (),
    "Certificate": (
        row(
            text,
            "CertificateString CertificateType CertificateUsageType Fingerprint FingerprintHashAlgorithm SerialNumber "
            "SignatureAlgorithm UefiSignatureOwner",
        ),
        row(words, "KeyUsage"),
        row(moment, "ValidNotAfter ValidNotBefore"),
        row(
            mapping, "Issuer Subject", row(text, "City CommonName Country Email Organization OrganizationalUnit State")
        ),
    ),
    "CompositionService": (row(flag, "ServiceEnabled AllowOverprovisioning AllowZoneAffinity"),),
    "ResourceBlock": (
        row(
            mapping,
            "CompositionStatus",
            row(as_it_is, "CompositionState"),
            row(whole, "MaxCompositions NumberOfCompositions"),
            row(flag, "Reserved SharingCapable SharingEnabled"),
        ),
        row(as_it_is, "ResourceBlockType"),
    ),
    "Zone": (row(mapping, LINKS, row(objects, "Endpoints InvolvedSwitches ResourceBlocks")),),
    "Fabric": (row(text, "FabricType"), row(whole, "MaxZones")),
    "Endpoint": (
        row(text, "EndpointProtocol"),
        row(whole, "HostReservationMemoryBytes"),
        row(mapping, "PciId", PCI),
        row(
            objects,
            "ConnectedEntities",
            row(mapping, "EntityPciId", PCI),
            row(text, "EntityRole EntityType PciClassCode"),
            row(whole, "PciFunctionNumber"),
            DURABLE_NAMES,
        ),
        row(
            objects,
            "IPTransportDetails",
            row(
                mapping, "IPv4Address IPv6Address",
                row(text, "Address AddressOrigin AddressState Gateway SubnetMask"), row(whole, "PrefixLength"),
            ),
            row(whole, "Port"),
            row(text, "TransportProtocol"),
        ),
    ),
}  # fmt: skip
