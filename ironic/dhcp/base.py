"""A door for third-party plug-ins: the base of DHCP providers."""

from ironic.integrations.dhcp.task_provider import BaseDHCP

__all__ = ["BaseDHCP"]
