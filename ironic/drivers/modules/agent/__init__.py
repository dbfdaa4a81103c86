"""The agent family: what is done on a machine by the agent in its ramdisk."""

from ironic.drivers.modules.agent.base import AgentBase
from ironic.drivers.modules.agent.custom import CustomAgentDeploy
from ironic.drivers.modules.agent.deploy import AgentDeploy
from ironic.drivers.modules.agent.raid import AgentRAID
from ironic.drivers.modules.agent.rescue import AgentRescue

__all__ = ["AgentBase", "AgentDeploy", "AgentRAID", "AgentRescue", "CustomAgentDeploy"]
