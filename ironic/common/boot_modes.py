"""A door for third-party plug-ins: names of boot modes under the path they import them from."""

from ironic.drivers.contract.boot_devices import LEGACY_BIOS, UEFI

__all__ = ["LEGACY_BIOS", "UEFI"]
