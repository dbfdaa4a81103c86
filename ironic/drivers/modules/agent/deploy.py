"""Deploy interface `direct`: the agent fetches an image and writes it to the disk.

A deployment is a row of steps. The first one boots the agent; when it has come, the agent writes the image, is told to
go, and the machine starts from its own disk in its user's network.
"""

from ironic.drivers.modules.agent import boot_loader, configdrive, images, in_band
from ironic.drivers.modules.agent.custom import CustomAgentDeploy
from ironic.drivers.steps import deploy_step
from ironic.drivers.task import Task


class AgentDeploy(CustomAgentDeploy):
    """Deploys by an agent that does it all."""

    def get_properties(self) -> dict[str, str]:
        return {**super().get_properties(), **images.PROPERTIES}

    def validate(self, task: Task) -> None:
        super().validate(task)
        images.check(task.node)
        configdrive.check(task.node)
        boot_loader.check(task.node)

    def supports_deploy(self, task: Task) -> bool:
        return bool(task.node.instance_info.get("image_source"))

    def prepare(self, task: Task) -> None:
        images.prepare(task.node)
        super().prepare(task)

    def clean_up(self, task: Task) -> None:
        super().clean_up(task)
        images.forget(task.node)

    @deploy_step(priority=80)
    def write_image(self, task: Task) -> str | None:
        """Have the agent write the image, and the config drive behind it."""
        args = {"image_info": images.info_of(task.node), "configdrive": configdrive.of(task.node)}
        return in_band.begin(task, "deploy", {"interface": "deploy", "step": "write_image", "args": args})

    @deploy_step(priority=60)
    def prepare_instance_boot(self, task: Task) -> str | None:
        """Have the machine boot from the disk from now on; nobody needs the image any more."""
        images.withdraw(task.node)
        boot_loader.install(task.node)
        return super().prepare_instance_boot(task)
