"""Deploying and rebuilding: from what a user wants on the machine to active.

What is certainly wrong is told while the user waits; the rest becomes deploy failed with a reason. No maintenance:
a deployment that fails says nothing about the machine. Source: doc/contract/steps.md#deploying.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from ironic.conductor.flows import engine
from ironic.conductor.flows.catalogue import offered_steps
from ironic.conductor.flows.operation import Operation, bind
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core import flow
from ironic.core.agent_memory import AgentMemory
from ironic.core.errors import Conflict, InvalidParameterValue
from ironic.core.step_cursor import StepCursor
from ironic.core.steps import Step, deploy_plan, parse_all
from ironic.core.traits import MOST_OF_NODE, is_list_of_traits
from ironic.drivers import agent_link


def start(
    task: Task,
    event: str,
    configdrive: str | Mapping[str, object] | None = None,
    deploy_steps: Sequence[Mapping[str, object]] | None = None,
    judged_instance: Mapping[str, object] | None = None,
) -> None:
    """Accept a deployment (event deploy) or a rebuild.

    ``judged_instance`` has the traits whose deploy templates the caller had the right to; None: no right was needed.
    """
    if judged_instance is not None and judged_instance["traits"] != task.node.instance_info.get("traits"):
        raise Conflict(f"The traits of the instance of node {task.node.uuid} were changed in this moment. Try again.")
    task.power.validate(task)
    if configdrive is not None:
        task.node.instance_info["configdrive"] = configdrive
    _choose_interface(task)
    task.deploy.validate(task)
    asked = parse_all(deploy_steps) if deploy_steps else None
    _planned(task, asked or (), complete=False)
    agent_link.begin_anew(task.node)
    StepCursor.begun(flow.DEPLOY, asked).put(task.node)
    task.process_event(event, callback=engine.begin, call_args=(task, DEPLOY))


def _choose_interface(task: Task) -> None:
    """Let an interface that finds out by itself which one fits put that one in its place, anew each time."""
    restore_interface(task)
    task.deploy.switch_interface(task)
    task.load_driver()


def restore_interface(task: Task) -> None:
    """Give the node the deploy interface back that another one had the place of; the caller saves."""
    if task.driver.deploy is not None:
        task.driver.deploy.restore_interface(task)
        task.load_driver()


def _prepare(task: Task) -> None:
    task.deploy.prepare(task)


def _plan(task: Task, complete: bool) -> list[Step]:
    is_awaited = task.deploy.brings_agent and not AgentMemory(task.node).is_known
    return _planned(task, StepCursor.of(task.node, flow.DEPLOY).asked or (), complete=complete and not is_awaited)


def _planned(task: Task, asked: Sequence[Step], *, complete: bool) -> list[Step]:
    return deploy_plan(
        offered_steps(task, "deploy", with_agent=complete),
        asked,
        templates=_templates(task),
        complete=complete,
        disallowed=CONF.api.disallow_deploy_steps,
    )


def _templates(task: Task) -> dict[str, list[Step]]:
    """Return the steps of the deploy templates that the instance's traits name."""
    traits = task.node.instance_info.get("traits") or []
    if not is_list_of_traits(traits):
        raise InvalidParameterValue(
            err=f"traits in instance_info of node {task.node.uuid} must be a list of at most {MOST_OF_NODE} names."
        )
    named = task.store.deploy_templates.steps_of(traits)
    return {name: parse_all(named[name]) for name in sorted(named)}


def _tear_down(task: Task) -> None:
    AgentMemory(task.node).forget()


def _give_up(task: Task) -> None:
    try:
        task.deploy.clean_up(task)
    finally:
        AgentMemory(task.node).forget()


def _give_up_held(task: Task) -> None:
    """Take off what an earlier step has put on the machine, which a user may have looked at meanwhile."""
    task.deploy.tear_down(task)


DEPLOY: Final = bind(
    Operation(
        flow=flow.DEPLOY,
        prepare=_prepare,
        plan=_plan,
        tear_down=_tear_down,
        give_up=_give_up,
        give_up_held=_give_up_held,
    )
)
