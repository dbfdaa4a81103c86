"""PCI devices as a ramdisk reports them, which several hooks look at."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from ironic.inspection.reading import list_at, text_at

_LARGEST_ID: Final = 4  # hexadecimal digits


class PciDevice(NamedTuple):
    """One device: who made it, what it is, where it is plugged in."""

    vendor_id: str
    product_id: str
    bus: str | None = None

    @property
    def model(self) -> tuple[str, str]:
        """What two devices of one kind share."""
        return self.vendor_id, self.product_id


def identifier(value: object) -> str | None:
    """Return a vendor's or product's number as four lower case hexadecimal digits, None when it is none."""
    if not isinstance(value, str):
        return None
    digits = value.strip().lower().removeprefix("0x")
    if not digits or len(digits) > _LARGEST_ID or not all(digit in "0123456789abcdef" for digit in digits):
        return None
    return digits.zfill(_LARGEST_ID)


def devices_at(data: Mapping[str, object]) -> list[PciDevice]:
    """Return the devices that stand under `pci_devices`; entries that are none are left out."""
    found = []
    for entry in list_at(data, "pci_devices"):
        vendor, product = (identifier(text_at(entry, name)) for name in ("vendor_id", "product_id"))
        if vendor and product:
            found.append(PciDevice(vendor, product, text_at(entry, "bus")))
    return found
