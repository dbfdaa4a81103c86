"""The two ways a machine's firmware starts things."""

from typing import Final

LEGACY_BIOS: Final = "bios"
UEFI: Final = "uefi"
