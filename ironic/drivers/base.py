"""The names that drivers in and out of tree import from ``ironic.drivers.base``."""

from ironic.core.hardware_interfaces import KINDS
from ironic.core.keys.info_keys import Holds, Property
from ironic.drivers.contract.classic_driver import BaseDriver
from ironic.drivers.contract.interfaces import (
    BIOSInterface,
    BootInterface,
    ConsoleInterface,
    DeployInterface,
    FirmwareInterface,
    InspectInterface,
    ManagementInterface,
    NetworkInterface,
    PowerInterface,
    RAIDInterface,
    RescueInterface,
    StorageInterface,
    VendorInterface,
)
from ironic.drivers.contract.interfaces.base_interface import BaseInterface
from ironic.drivers.contract.interfaces.bios_and_firmware import cache_bios_settings, cache_firmware_components
from ironic.drivers.contract.interfaces.boot_and_deploy import ImagePublisherSettings
from ironic.drivers.contract.interfaces.passthru import VendorMetadata, driver_passthru, passthru
from ironic.drivers.contract.interfaces.raid import RAID_APPLY_CONFIGURATION_ARGSINFO, RAID_CONFIG_SCHEMA
from ironic.drivers.contract.step_declarations import (
    ArgInfo,
    BaseStep,
    CleanStep,
    DeployStep,
    ServiceStep,
    VerifyStep,
    clean_step,
    deploy_step,
    service_step,
    verify_step,
)
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.contract.wait_declarations import looks

ALL_INTERFACES = frozenset(KINDS)

__all__ = [
    "ALL_INTERFACES",
    "Holds",
    "Property",
    "RAID_APPLY_CONFIGURATION_ARGSINFO",
    "RAID_CONFIG_SCHEMA",
    "ArgInfo",
    "BIOSInterface",
    "BareDriver",
    "BaseDriver",
    "BaseInterface",
    "BaseStep",
    "BootInterface",
    "CleanStep",
    "ConsoleInterface",
    "DeployInterface",
    "DeployStep",
    "FirmwareInterface",
    "ImagePublisherSettings",
    "InspectInterface",
    "ManagementInterface",
    "NetworkInterface",
    "PowerInterface",
    "RAIDInterface",
    "RescueInterface",
    "ServiceStep",
    "StorageInterface",
    "VendorInterface",
    "VendorMetadata",
    "VerifyStep",
    "cache_bios_settings",
    "cache_firmware_components",
    "clean_step",
    "deploy_step",
    "driver_passthru",
    "looks",
    "passthru",
    "service_step",
    "verify_step",
]
