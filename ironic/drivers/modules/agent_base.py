"""A door for third-party plug-ins: the base of deploy interfaces with an agent, and its steps."""

from ironic.drivers.modules.agent.agent_base import AgentBase as AgentBaseMixin
from ironic.drivers.modules.agent.agent_base import AgentBase as HeartbeatMixin
from ironic.drivers.plug_ins.agents import (
    HEARTBEAT_ALLOWED,
    VENDOR_PROPERTIES,
    execute_step,
    find_step,
    get_steps,
    log_and_raise_deployment_error,
    post_clean_step_hook,
    post_deploy_step_hook,
)

__all__ = [
    "AgentBaseMixin",
    "HEARTBEAT_ALLOWED",
    "HeartbeatMixin",
    "VENDOR_PROPERTIES",
    "execute_step",
    "find_step",
    "get_steps",
    "log_and_raise_deployment_error",
    "post_clean_step_hook",
    "post_deploy_step_hook",
]
