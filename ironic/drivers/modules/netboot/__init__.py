"""Boot interfaces that start machines over the network: pxe, ipxe, http and http-ipxe.

To be read in this order: `network_boot` (the boot interfaces), `boot_variants` (how the four differ, and where files
lie), `kernel_and_ramdisk` (what a machine boots), `boot_files` (the files of one node and its DHCP options),
`shared_boot_files` (the files of all nodes), `prepared_boot` (what is stored on the node), `firmware_boot` (boot
device, boot mode and the retry of a failed boot).
"""

from ironic.drivers.modules.netboot.network_boot import HttpBoot, IPXEBoot, IPXEHttpBoot, NetworkBoot, PXEBoot

__all__ = ["HttpBoot", "IPXEBoot", "IPXEHttpBoot", "NetworkBoot", "PXEBoot"]
