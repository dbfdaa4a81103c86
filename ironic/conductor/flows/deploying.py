"""Deploying and rebuilding: from a user's request to an active machine.

Requests that are certainly wrong are refused at once; later errors lead to deploy failed with a reason, without
maintenance, because a failed deployment proves no fault of the machine. Source: doc/contract/steps.md#deploying.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from ironic.conductor import consoles
from ironic.conductor.flows import engine
from ironic.conductor.flows.driver_steps import offered_steps
from ironic.conductor.flows.engine import Operation, bind
from ironic.conductor.flows.outcomes import Remark
from ironic.conductor.tasks import TaskManager
from ironic.conf import CONF
from ironic.core import node_rules
from ironic.core.errors import Conflict, InvalidParameterValue
from ironic.core.flows import flow
from ironic.core.flows.step_cursor import StepCursor
from ironic.core.flows.steps import Step, deploy_plan, parse_all
from ironic.core.keys.internal_keys import InternalKey
from ironic.core.memory import own_values
from ironic.core.memory.agent_memory import AgentMemory
from ironic.drivers.nodes import fast_track, secure_boot, volumes


def start(
    task: TaskManager,
    event: str,
    configdrive: str | Mapping[str, object] | None = None,
    deploy_steps: Sequence[Mapping[str, object]] | None = None,
    judged_instance: Mapping[str, object] | None = None,
) -> None:
    """Accept a deployment (event deploy) or a rebuild.

    ``judged_instance`` has the traits for whose deploy templates the API has checked the caller's rights; None: none
    were needed. Raises Conflict when the traits have changed since, and what the interfaces and the plan refuse.
    """
    if judged_instance is not None and judged_instance["traits"] != task.node.instance_info.get("traits"):
        raise Conflict(
            f"The traits of the instance of node {task.node.uuid} were changed by another request. Try again."
        )
    task.power.validate(task)
    if configdrive is not None:
        task.node.instance_info["configdrive"] = configdrive
    own_values.take_back(task.node, "instance_info")
    # A deploy interface that chooses another one by itself chooses again at each deployment.
    restore_interface(task)
    task.deploy.switch_interface(task)
    task.load_driver()
    task.deploy.validate(task)
    secure_boot.check(task)
    asked = parse_all(deploy_steps) if deploy_steps else None
    _planned(task, asked or (), complete=False)
    fast_track.forget_former_agent(task.node)
    _lease(task)
    StepCursor.begun(flow.DEPLOY, asked).put(task.node)
    task.process_event(event, callback=engine.begin, call_args=(task, DEPLOY))


_IS_LEASED: Final = InternalKey("automatic_lessee", bool, "The lessee was set by the deployment, and goes with it.")
_LONGEST_PROJECT: Final = 255


def _lease(task: TaskManager) -> None:
    """Make the project that the options name the lessee of a node without one; the caller saves the node."""
    node, source = task.node, CONF.conductor.automatic_lessee_source
    if not CONF.conductor.automatic_lessee or source == "none" or node.lessee:
        return
    project = task.context.project_id if source == "request" else node.instance_info.get("project_id")
    if not project:
        return
    if not isinstance(project, str) or len(project) > _LONGEST_PROJECT:
        raise InvalidParameterValue(
            err=f"project_id in instance_info of node {node.uuid} can't be its lessee; it must be the ID of a project."
        )
    node.lessee = project
    _IS_LEASED.set(node, True)


def end_lease(task: TaskManager) -> None:
    """Remove a lessee that a deployment has set; the caller saves the node."""
    if _IS_LEASED.delete(task.node):
        task.node.lessee = None


def restore_interface(task: TaskManager) -> None:
    """Restore the node's own deploy interface where it has chosen another one; the caller saves the node."""
    if task.driver.deploy is not None:
        task.driver.deploy.restore_interface(task)
        task.load_driver()


def _plan(task: TaskManager, complete: bool) -> list[Step]:
    is_awaited = task.deploy.boots_agent and not AgentMemory(task.node).is_known
    return _planned(task, StepCursor.of(task.node, flow.DEPLOY).asked or (), complete=complete and not is_awaited)


def _planned(task: TaskManager, asked: Sequence[Step], *, complete: bool) -> list[Step]:
    """Return the plan: steps of the request, of the deploy templates that the traits name, and of the drivers."""
    # A machine that boots from a volume boots no agent, so all steps are known.
    boots_agent = volumes.is_image_written(task)
    offered = offered_steps(task, "deploy", with_agent=complete and boots_agent)
    traits = node_rules.instance_traits(task.node.uuid, task.node.instance_info)
    named = task.store.deploy_templates.steps_of(traits)
    return deploy_plan(
        offered,
        asked,
        templates={name: parse_all(named[name]) for name in sorted(named)},
        complete=complete or not boots_agent,
        disallowed=CONF.api.disallow_deploy_steps,
    )


def _prepare(task: TaskManager) -> object:
    """Prepare the machine, then attach its volumes: the former instance, which may use them, has ended by then."""
    secure_boot.require(task)
    secure_boot.turn_former_off(task)
    answer = task.deploy.prepare(task)
    volumes.attach(task)
    return answer


def _end(task: TaskManager) -> Remark | None:
    """Turn secure boot on where the boot interface has not done so before the machine booted the instance."""
    if not task.node.secure_boot:
        secure_boot.turn_on(task)
    AgentMemory(task.node).forget()
    error = consoles.open_for_instance(task)
    return Remark(error) if error else None


def _clean_up(task: TaskManager) -> None:
    try:
        task.deploy.clean_up(task)
        own_values.take_back(task.node, "instance_info")
        volumes.detach_unused(task)
    finally:
        AgentMemory(task.node).forget()


def tear_down(task: TaskManager) -> None:
    """Remove the instance from the machine; its volumes are detached once the machine does not use them any more."""
    task.deploy.tear_down(task)
    volumes.detach(task)


DEPLOY: Final = bind(
    Operation(
        flow=flow.DEPLOY,
        prepare=_prepare,
        plan=_plan,
        tear_down=_end,
        clean_up=_clean_up,
        refreshes_at_end=True,
        # Removes what earlier steps have written to the machine, which a user may have used while it was held.
        clean_up_held=tear_down,
    )
)
