"""Putting a system on a machine, and preparing the machine for everything an agent does on it."""

import logging
from abc import abstractmethod
from typing import ClassVar, Final

from ironic.drivers.interfaces.base import BaseInterface
from ironic.drivers.step_ends import StepEnd
from ironic.drivers.steps import StepKind
from ironic.drivers.task import Node, Task

LOG = logging.getLogger(__name__)

# Key in driver_internal_info: the interface that another one has the place of for the time of an instance.
ORIGINAL: Final = "original_deploy_interface"
_REPLACEMENT: Final = "detected_deploy_interface"


class DeployInterface(BaseInterface):
    """Deployment of a machine. Every method may be repeated: a conductor that takes over calls it again."""

    interface_type: ClassVar[str] = "deploy"

    # An agent comes up in the course of a deployment and brings steps that nobody knows of before.
    brings_agent: ClassVar[bool] = False

    @abstractmethod
    def deploy(self, task: Task) -> str | None:
        """Write the image; DEPLOYWAIT when it goes on elsewhere, None or DEPLOYDONE when finished.

        Usually this is also the deploy step of priority 100.
        """

    @abstractmethod
    def tear_down(self, task: Task) -> str | None:
        """Take the system off the machine; DELETED when done."""

    @abstractmethod
    def prepare(self, task: Task) -> None:
        """Set up what the deployment needs, before its first step."""

    @abstractmethod
    def clean_up(self, task: Task) -> None:
        """Undo :meth:`prepare`; may be called with a shared lock only."""

    @abstractmethod
    def take_over(self, task: Task) -> None:
        """Rebuild on this conductor what the one before had set up on its own host."""

    # Cleaning and servicing

    def prepare_cleaning(self, task: Task) -> str | None:
        """Set up cleaning; CLEANWAIT when an agent must start first."""
        return None

    def tear_down_cleaning(self, task: Task) -> None:
        """Undo :meth:`prepare_cleaning`."""

    def prepare_service(self, task: Task) -> str | None:
        """Set up servicing; SERVICEWAIT when an agent must start first."""
        return None

    def tear_down_service(self, task: Task) -> None:
        """Undo :meth:`prepare_service`."""

    # The agent

    def heartbeat(
        self,
        task: Task,
        callback_url: str,
        agent_version: str,
        agent_verify_ca: str | None = None,
        agent_status: str | None = None,
        agent_status_message: str | None = None,
    ) -> StepEnd | None:
        """Look how the agent gets on, with the lock held, and return what has come to an end. Here it is logged."""
        LOG.warning(
            "An agent called for node %s, whose deploy interface has no use for it. Check what the machine booted.",
            task.node.uuid,
        )
        return None

    def learn_steps(self, task: Task, kind: StepKind) -> None:
        """Ask a running agent which steps it has, and keep what it says on the node; without one nothing happens."""

    # Choosing another implementation (used by an interface that finds out by itself which one fits)

    def supports_deploy(self, task: Task) -> bool:
        """Tell whether this interface fits what the node is to be deployed with; asked before it is chosen."""
        return False

    def switch_interface(self, task: Task) -> None:
        """Put another implementation in this one's place at the beginning of a deployment; the caller saves."""

    def restore_interface(self, task: Task) -> None:
        """Undo :meth:`switch_interface`, unless somebody has chosen yet another one meanwhile; the caller saves."""
        memory = task.node.driver_internal_info
        original = memory.get(ORIGINAL)
        if original and memory.get(_REPLACEMENT, _used(task.node)) == _used(task.node):
            _use(task.node, original)
        for key in (ORIGINAL, _REPLACEMENT):
            task.node.del_driver_internal_info(key)


def replace_interface(node: Node, name: str) -> None:
    """Give the node another deploy interface until it is restored; the caller saves."""
    node.set_driver_internal_info(ORIGINAL, _used(node))
    node.set_driver_internal_info(_REPLACEMENT, name)
    _use(node, name)


def _used(node: Node) -> object:
    """Return the interface in use: the instance may have asked for another one than the node has."""
    return node.instance_info.get("deploy_interface") or node.deploy_interface


def _use(node: Node, name: str) -> None:
    if node.instance_info.get("deploy_interface"):
        node.instance_info["deploy_interface"] = name
    else:
        node.deploy_interface = name
