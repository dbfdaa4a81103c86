"""A third party's vendor interface whose steps write down that they begin, and can be stopped where a test wants it.

A node's directory, named in driver_info, holds ``journal``, with a line for every step that began; ``stop``, which says
where to stay until the process is killed: "before second" (saved, not begun) or "inside second"; ``stopped``, which
appears when that place is reached. With ``stepping_waits`` in driver_info the second step goes on elsewhere and ends
when a file ``go`` appears.
"""

import os
import time
from pathlib import Path
from typing import Any

from ironic.common import states
from ironic.conductor import periodics
from ironic.conductor import utils as conductor_utils
from ironic.drivers import base

DIRECTORY, WAITS = "stepping_directory", "stepping_waits"

_WAITING = {
    states.CLEANING: states.CLEANWAIT,
    states.DEPLOYING: states.DEPLOYWAIT,
    states.SERVICING: states.SERVICEWAIT,
}
_BACK = {
    states.CLEANWAIT: conductor_utils.notify_conductor_resume_clean,
    states.DEPLOYWAIT: conductor_utils.notify_conductor_resume_deploy,
    states.SERVICEWAIT: conductor_utils.notify_conductor_resume_service,
}


class SteppingVendor(base.VendorInterface):
    """Three steps for each flow, which run in this order."""

    def get_properties(self) -> dict[str, str]:
        return {DIRECTORY: "Where the journal is.", WAITS: "Whether the second step goes on elsewhere."}

    def validate(self, task: Any, method: str | None = None, **more: Any) -> None:
        pass

    # By the time these are called, the step is saved.

    def execute_clean_step(self, task: Any, step: Any) -> Any:
        self._stop(task, "before", step["step"])
        return super().execute_clean_step(task, step)

    def execute_deploy_step(self, task: Any, step: Any) -> Any:
        self._stop(task, "before", step["step"])
        return super().execute_deploy_step(task, step)

    def execute_service_step(self, task: Any, step: Any) -> Any:
        self._stop(task, "before", step["step"])
        return super().execute_service_step(task, step)

    @base.clean_step(priority=30, requires_ramdisk=False)
    @base.deploy_step(priority=300)
    @base.service_step(priority=0, requires_ramdisk=False)
    def first(self, task: Any) -> None:
        """Begin and end."""
        self._begin(task, "first")

    @base.clean_step(priority=20, requires_ramdisk=False)
    @base.deploy_step(priority=200)
    @base.service_step(priority=0, requires_ramdisk=False)
    def second(self, task: Any) -> str | None:
        """Begin, and end at once or elsewhere."""
        self._begin(task, "second")
        return _WAITING[task.node.provision_state] if task.node.driver_info.get(WAITS) else None

    @base.clean_step(priority=10, requires_ramdisk=False)
    @base.deploy_step(priority=150)
    @base.service_step(priority=0, requires_ramdisk=False)
    def third(self, task: Any) -> None:
        """Begin and end."""
        self._begin(task, "third")

    @periodics.node_periodic(
        purpose="watching steps that go on elsewhere",
        spacing=1,
        filters={"reserved": False, "provision_state_in": list(_BACK)},
        predicate=lambda node: Path(node.driver_info[DIRECTORY], "go").exists(),
        shared_task=False,
    )
    def watch(self, task: Any, manager: Any, context: Any) -> None:
        """Bring the node back when its step has ended."""
        _BACK[task.node.provision_state](task)

    def _begin(self, task: Any, name: str) -> None:
        with open(_place(task, "journal"), "a") as journal:
            journal.write(f"{name}\n")
            journal.flush()
            os.fsync(journal.fileno())
        self._stop(task, "inside", name)

    def _stop(self, task: Any, where: str, name: str) -> None:
        """Stay here if this is the place."""
        stop = _place(task, "stop")
        if stop.exists() and stop.read_text() == f"{where} {name}":
            _place(task, "stopped").touch()
            while stop.exists():
                time.sleep(0.2)


def _place(task: Any, name: str) -> Path:
    return Path(task.node.driver_info[DIRECTORY], name)
