"""Booting machines over the network."""

from ironic.drivers.modules.netboot.boot import HttpBoot, IPXEBoot, IPXEHttpBoot, NetworkBoot, PXEBoot

__all__ = ["HttpBoot", "IPXEBoot", "IPXEHttpBoot", "NetworkBoot", "PXEBoot"]
