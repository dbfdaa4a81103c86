"""Rescue mode: boot a ramdisk with a password of the user on a machine that is in use, and the way back.

The node's instance_info keeps the hash of the password, as the rescue interface needs it. The password itself is kept
only if the interface asks for it, or if [conductor]require_rescue_password_hashed allows ramdisks that take no hash.
"""

from typing import Final

from passlib.hash import sha256_crypt, sha512_crypt

from ironic.conductor.flows import engine
from ironic.conductor.flows.engine import Operation, bind
from ironic.conductor.tasks import TaskManager
from ironic.conf import CONF
from ironic.core.flows import flow
from ironic.core.memory.agent_memory import AgentMemory

_SCHEMES: Final = {"sha256": sha256_crypt, "sha512": sha512_crypt}


def start(task: TaskManager, rescue_password: str) -> None:
    """Accept a request to boot the machine into rescue mode."""
    _validate(task)
    if task.rescue.requires_plain_password or not CONF.conductor.require_rescue_password_hashed:
        task.node.instance_info["rescue_password"] = rescue_password
    # As in a shadow file; 5000 rounds are the default of every Linux.
    scheme = _SCHEMES[CONF.conductor.rescue_password_hash_algorithm]
    hashed = scheme.using(rounds=5000).hash(rescue_password)  # type: ignore[no-untyped-call]  # its stubs leave it out
    task.node.instance_info["hashed_rescue_password"] = str(hashed)
    AgentMemory(task.node).forget()
    task.process_event("rescue", callback=engine.begin, call_args=(task, RESCUE))


def start_unrescue(task: TaskManager) -> None:
    """Accept a request to leave rescue mode."""
    _validate(task)
    AgentMemory(task.node).forget()
    task.process_event("unrescue", callback=engine.begin, call_args=(task, UNRESCUE))


def _validate(task: TaskManager) -> None:
    for kind in ("power", "rescue"):
        task.driver.require(kind).validate(task)


def _clean_up(task: TaskManager) -> None:
    task.rescue.clean_up(task)


RESCUE: Final = bind(
    Operation(
        flow=flow.RESCUE,
        act=lambda task: task.rescue.rescue(task),
        resume=lambda task: task.rescue.finish_rescue(task),
        clean_up=_clean_up,
    )
)
UNRESCUE: Final = bind(
    Operation(
        flow=flow.UNRESCUE,
        act=lambda task: task.rescue.unrescue(task),
        clean_up=_clean_up,
    )
)
