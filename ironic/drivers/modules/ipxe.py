"""Boot interfaces with iPXE, under the names that third-party hardware types list."""

from ironic.drivers.modules.netboot import IPXEBoot, IPXEHttpBoot

iPXEBoot = IPXEBoot
iPXEHttpBoot = IPXEHttpBoot

__all__ = ["iPXEBoot", "iPXEHttpBoot"]
