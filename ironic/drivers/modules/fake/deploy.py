"""Deploying a fake machine: one step that ends well."""

from ironic.core import states
from ironic.drivers.interfaces import DeployInterface
from ironic.drivers.modules.fake.delay import delay
from ironic.drivers.modules.undemanding import Undemanding
from ironic.drivers.steps import deploy_step
from ironic.drivers.task import Task


class FakeDeploy(Undemanding, DeployInterface):
    """Deploys anything, without an agent."""

    @deploy_step(priority=100)
    def deploy(self, task: Task) -> str | None:
        delay("deploy")
        return None

    def tear_down(self, task: Task) -> str | None:
        delay("deploy")
        return states.DELETED

    def prepare(self, task: Task) -> None:
        delay("deploy")

    def clean_up(self, task: Task) -> None:
        delay("deploy")

    def take_over(self, task: Task) -> None:
        delay("deploy")
