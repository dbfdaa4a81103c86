"""The agent family: deployment, cleaning, RAID and rescue by the agent that runs in a machine's ramdisk.

To be read in this order: `agent_base` and `agent_deploy` (the deploy interfaces), `in_band_steps` (steps that the agent
runs), `ramdisk_boot` (power and networks around a ramdisk), `agent_client` and `agent_access` (commands and how the
agent is reached); `deployment_image`, `published_images`, `partition_images` and `config_drive` (what the agent
writes); `agent_raid`, `agent_rescue` and `ramdisk_logs`.
"""

from ironic.drivers.modules.agent.agent_base import AgentBase
from ironic.drivers.modules.agent.agent_deploy import AgentDeploy, CustomAgentDeploy
from ironic.drivers.modules.agent.agent_raid import AgentRAID
from ironic.drivers.modules.agent.agent_rescue import AgentRescue

__all__ = ["AgentBase", "AgentDeploy", "AgentRAID", "AgentRescue", "CustomAgentDeploy"]
