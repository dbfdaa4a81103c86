"""The operation of polishing: its start and its end, and a vendor interface with steps for it."""

from typing import Any

from ironic.conductor import provisioning
from ironic.conductor.flows import engine, step_list
from ironic.conductor.flows.engine import Operation, bind
from ironic.conductor.tasks import TaskManager
from ironic.core.flows.steps import Step
from ironic.drivers import base
from ironic.drivers.contract.step_declarations import flow_step
from ironic.tests.fifth_flow import POLISH
from ironic.tests.unit.conductor.flows.bench import Script


def start(task: TaskManager, polish_steps: list[dict[str, Any]]) -> None:
    """Accept a user's list of polish steps."""
    task.power.validate(task)
    step_list.accept_steps(task, POLISH, polish_steps, disable_ramdisk=True)
    task.process_event("polish", callback=engine.begin, call_args=(task, OPERATION))


def _plan(task: TaskManager, complete: bool) -> list[Step]:
    return step_list.plan_accepted(task, POLISH, complete)


def _tear_down(task: TaskManager) -> None:
    task.node.extra = {**task.node.extra, "shines": task.node.provision_state == POLISH.working}


OPERATION = bind(Operation(flow=POLISH, plan=_plan, tear_down=_tear_down, clean_up=_tear_down))
provisioning.ACTIONS["polish"] = start


def polisher(script: Script) -> type:
    """Return a vendor interface whose steps do what a script says."""

    class Polisher(base.VendorInterface):
        def get_properties(self) -> dict[str, str]:
            return {}

        def validate(self, task: Any, method: str | None = None, **kwargs: Any) -> None:
            pass

        @flow_step("polish", priority=0, abortable=True, requires_ramdisk=False)
        def wax(self, task: Any) -> Any:
            return script.play("wax", task)

        @flow_step("polish", priority=0, requires_ramdisk=False)
        def shine(self, task: Any) -> Any:
            return script.play("shine", task)

    return Polisher
