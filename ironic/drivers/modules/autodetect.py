"""Deploy interface `autodetect`: replaces itself by the deploy interface that fits what is to be deployed.

[DEFAULT]autodetect_deploy_interfaces lists the candidates in order; those that the node can't use are skipped. The node
shows the chosen interface until its instance is deleted. Cleaning and servicing need no choice.
"""

from typing import Any, Final

from ironic.conf import CONF
from ironic.core.errors import InstanceDeployFailure, InvalidParameterValue
from ironic.drivers.contract.interfaces.boot_and_deploy import replace_interface
from ironic.drivers.contract.step_declarations import deploy_step
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.agent.agent_base import AgentBase

NAME: Final = "autodetect"

# Keys of instance_info that name what is deployed.
_INSTANCE: Final = ("image_source", "kernel", "ramdisk", "boot_iso")


class AutodetectDeploy(AgentBase):
    """Chooses another interface for the deployment."""

    def validate(self, task: Task) -> None:
        """Choose an interface and have it validate the node."""
        task.alternative("deploy", _fitting(task)).validate(task)

    def switch_interface(self, task: Task) -> None:
        replace_interface(task.node, _fitting(task))

    def switch_for_adoption(self, task: Task) -> None:
        """Choose an interface if the instance is named; the node keeps `autodetect` for a system of unknown origin."""
        if any(task.node.instance_info.get(name) for name in _INSTANCE):
            self.switch_interface(task)

    def prepare(self, task: Task) -> None:
        raise _unchosen(task)

    @deploy_step(priority=100)
    def deploy(self, task: Task) -> str | None:
        """Raise InstanceDeployFailure; the chosen interface has a step of this name, which runs instead."""
        raise _unchosen(task)


def _fitting(task: Task) -> str:
    """Return the name of the first interface that fits; raise InvalidParameterValue when none does."""
    usable = []
    for name in CONF.autodetect_deploy_interfaces:
        if name == NAME:
            continue
        try:
            candidate: Any = task.alternative("deploy", name)
        except InvalidParameterValue:
            continue  # the node can't use it here
        usable.append(name)
        if candidate.supports_deploy(task):
            return str(name)
    raise InvalidParameterValue(
        err=f"None of the deploy interfaces ({', '.join(usable)}) that autodetect may choose for node {task.node.uuid} "
        "fits its instance_info. Give image_source for a disk, or kernel and ramdisk or boot_iso without one; or "
        "choose a deploy interface."
    )


def _unchosen(task: Task) -> InstanceDeployFailure:
    return InstanceDeployFailure(
        node=task.node.uuid, reason="no deploy interface was chosen in place of autodetect; deploy the node again"
    )
