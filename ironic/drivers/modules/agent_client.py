"""A door for third-party plug-ins: the commands of an agent."""

from ironic.drivers.plug_ins.agents import AgentClient, get_client, get_command_error

__all__ = [
    "AgentClient",
    "get_client",
    "get_command_error",
]
