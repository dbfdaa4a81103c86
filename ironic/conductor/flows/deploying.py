"""Deploying and rebuilding: from what a user wants on the machine to active.

What is certainly wrong is told while the user waits; the rest becomes deploy failed with a reason. No maintenance:
a deployment that fails says nothing about the machine. Source: facts/steps.yaml.
"""

from typing import Any, Final

from ironic.conductor.flows import agent_link, engine
from ironic.conductor.flows.catalogue import offered_steps
from ironic.conductor.flows.flow import Flow
from ironic.conductor.flows.progress import Progress
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core import states
from ironic.core.errors import InstanceDeployFailure
from ironic.core.steps import Step, deploy_plan, parse_all


def start(
    task: Task,
    event: str,
    configdrive: str | dict[str, Any] | None = None,
    deploy_steps: list[dict[str, Any]] | None = None,
) -> None:
    """Accept a deployment (event deploy) or a rebuild."""
    for kind in ("power", "deploy"):
        task.driver.require(kind).validate(task)
    asked = parse_all(deploy_steps) if deploy_steps else None
    deploy_plan(offered_steps(task, "deploy"), asked or (), complete=False)
    agent_link.forget(task.node)
    Progress(task.node, DEPLOY).begin(asked)
    if configdrive is not None:
        task.node.instance_info["configdrive"] = configdrive
    task.process_event(event, callback=engine.begin, call_args=(task, DEPLOY))


def _prepare(task: Task) -> None:
    task.driver.require("deploy").prepare(task)


def _plan(task: Task, complete: bool) -> list[Step]:
    asked = Progress(task.node, DEPLOY).asked or ()
    offered = offered_steps(task, "deploy")
    if task.driver.require("deploy").brings_agent and not agent_link.is_known(task.node):
        complete = False
    return deploy_plan(offered, asked, complete=complete, disallowed=CONF.api.disallow_deploy_steps)


def _tear_down(task: Task) -> None:
    agent_link.forget(task.node)


def _give_up(task: Task) -> None:
    try:
        task.driver.require("deploy").clean_up(task)
    finally:
        agent_link.forget(task.node)


DEPLOY: Final = Flow(
    name="deploy",
    waiting=states.DEPLOYWAIT,
    finished_words=(states.DEPLOYDONE,),
    topic="deploying",
    gerund="deployment",
    column="deploy_step",
    asked_key="user_deploy_steps",
    failure=InstanceDeployFailure,
    prepare=_prepare,
    plan=_plan,
    tear_down=_tear_down,
    give_up=_give_up,
)
