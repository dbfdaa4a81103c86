"""What can go wrong with an agent on a machine, beside what can with anything.

IronicError - AgentConnectionFailed, AgentNotCalled, AgentCommandTimeout
            - AgentAPIError - AgentInProgress
"""

from ironic.core.errors import IronicError


class AgentConnectionFailed(IronicError):
    """The agent can't be reached, so that what it was asked for was not begun; after a restart that is normal."""

    text = "The agent of node {node} can't be reached for {command}: {reason}. Check that the ramdisk still runs."


class AgentNotCalled(IronicError):
    """The agent has named an address that this service does not call."""

    text = "The agent of node {node} is not called for {command}: {reason}. See the options of [outgoing]."


class AgentAPIError(IronicError):
    """The agent refused a call, or answered with something that makes no sense."""

    text = "The agent of node {node} answered {command} with status {status}: {error}"


class AgentInProgress(AgentAPIError):
    """The agent is busy with another command; the same call can be made again later."""

    text = "The agent of node {node} did not take {command}, because it is busy: {error}"


class AgentCommandTimeout(IronicError):
    """Nobody knows how a command ended: no answer came in time."""

    text = "The agent of node {node} did not say in time how {command} ended. Look at the ramdisk's log."


class AgentCommandFailed(IronicError):
    """The agent did what it was told, and failed."""

    text = "Command {command} of the agent of node {node} failed: {error}"
