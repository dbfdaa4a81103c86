"""Deploy interface `autodetect`: looks at what is to be deployed and puts the interface in its place that fits.

[DEFAULT]autodetect_deploy_interfaces says which ones are asked, in this order; those that the node can't have are
passed over. The node shows the chosen one until the instance is gone. Cleaning and servicing need no choice.
"""

from typing import Any, Final

from ironic.conf import CONF
from ironic.core.errors import InstanceDeployFailure, InvalidParameterValue
from ironic.drivers.interfaces.deploy import replace_interface
from ironic.drivers.modules.agent.base import AgentBase
from ironic.drivers.steps import deploy_step
from ironic.drivers.task import Task

NAME: Final = "autodetect"


class AutodetectDeploy(AgentBase):
    """Leaves the deployment to another interface."""

    def validate(self, task: Task) -> None:
        """Choose, and have the chosen one look at the node."""
        task.alternative("deploy", _fitting(task)).validate(task)

    def switch_interface(self, task: Task) -> None:
        replace_interface(task.node, _fitting(task))

    def prepare(self, task: Task) -> None:
        raise _unchosen(task)

    @deploy_step(priority=100)
    def deploy(self, task: Task) -> str | None:
        """Never runs: the chosen interface has a step of this name."""
        raise _unchosen(task)


def _fitting(task: Task) -> str:
    """Return the name of the first interface that fits what the node is to be deployed with."""
    for name in CONF.autodetect_deploy_interfaces:
        candidate = _candidate(task, name)
        if candidate is not None and candidate.supports_deploy(task):
            return str(name)
    raise InvalidParameterValue(
        err=f"None of the deploy interfaces {', '.join(CONF.autodetect_deploy_interfaces)} fits what instance_info of "
        f"node {task.node.uuid} names. Give image_source for a disk, or kernel and ramdisk or boot_iso without one; or "
        "choose a deploy interface."
    )


def _candidate(task: Task, name: str) -> Any:
    """Return the interface of a name; None when the node can't have it here."""
    if name == NAME:
        return None
    try:
        return task.alternative("deploy", name)
    except InvalidParameterValue:
        return None


def _unchosen(task: Task) -> InstanceDeployFailure:
    return InstanceDeployFailure(
        node=task.node.uuid, reason="no deploy interface was chosen in place of autodetect; deploy the node again"
    )
