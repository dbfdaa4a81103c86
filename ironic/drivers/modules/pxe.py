"""Boot interfaces without iPXE, under the names that third-party hardware types list."""

from ironic.drivers.modules.netboot import HttpBoot, PXEBoot

__all__ = ["HttpBoot", "PXEBoot"]
