"""A door for third-party plug-ins: the DHCP provider that the options name."""

from ironic.integrations.dhcp.task_provider import DHCPFactory

__all__ = ["DHCPFactory"]
