"""Telling a DHCP server what machines shall boot from the network.

A provider is a class under the entry point group `ironic.dhcp`, chosen by [dhcp]dhcp_provider and made without
arguments. It is told about the ports of a machine before the machine starts and once it needs the network no more.
"""

from ironic.integrations.dhcp.base import BOOT_PROGRAM, DhcpError, DhcpProvider, Host, Option
from ironic.integrations.dhcp.choice import provider

__all__ = ["BOOT_PROGRAM", "DhcpError", "DhcpProvider", "Host", "Option", "provider"]
