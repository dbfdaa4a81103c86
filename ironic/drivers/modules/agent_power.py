"""Power interface `agent`, under the name that third-party hardware types list."""

from ironic.drivers.modules.agent.power import AgentPower

__all__ = ["AgentPower"]
