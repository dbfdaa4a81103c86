"""DHCP providers: configure a DHCP server for machines that boot from the network.

A provider is a class under the entry point group `ironic.dhcp`, chosen by [dhcp]dhcp_provider and made without
arguments; `task_provider` calls also those of the older shape, which get a task. It gets the ports of a machine before
the machine boots, and again when it no longer boots from the network.
"""

from ironic.integrations.dhcp.dhcp_provider import BOOT_PROGRAM, DhcpError, DhcpProvider, Host, Option, provider

__all__ = ["BOOT_PROGRAM", "DhcpError", "DhcpProvider", "Host", "Option", "provider"]
