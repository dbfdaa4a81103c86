"""Rescue mode: a ramdisk with a password of the user's on a machine that is in use, and the way back.

The hash of the password stays with the instance as the rescue interface needs it; the password itself only where the
interface wants it, or where [conductor]require_rescue_password_hashed allows ramdisks that can't take a hash.
"""

from typing import Any, Final

from passlib.hash import sha256_crypt, sha512_crypt

from ironic.conductor.flows import engine
from ironic.conductor.flows.operation import Operation, bind
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core import flow
from ironic.core.agent_memory import AgentMemory

_SCHEMES: Final = {"sha256": sha256_crypt, "sha512": sha512_crypt}


def start(task: Task, rescue_password: str) -> None:
    """Accept a request to bring the machine into rescue mode."""
    _validate(task)
    if task.rescue.wants_password or not CONF.conductor.require_rescue_password_hashed:
        task.node.instance_info["rescue_password"] = rescue_password
    task.node.instance_info["hashed_rescue_password"] = _hashed(rescue_password)
    AgentMemory(task.node).forget()
    task.process_event("rescue", callback=engine.begin, call_args=(task, RESCUE))


def start_back(task: Task) -> None:
    """Accept a request to leave rescue mode."""
    _validate(task)
    AgentMemory(task.node).forget()
    task.process_event("unrescue", callback=engine.begin, call_args=(task, UNRESCUE))


def _validate(task: Task) -> None:
    for kind in ("power", "rescue"):
        task.driver.require(kind).validate(task)


def _rescue(task: Task) -> object:
    return task.rescue.rescue(task)


def _finish(task: Task) -> Any:
    return task.rescue.finish_rescue(task)


def _unrescue(task: Task) -> object:
    return task.rescue.unrescue(task)


def _clear_up(task: Task) -> None:
    task.rescue.clean_up(task)


def _hashed(password: str) -> str:
    """Return the password as it stands in a shadow file; the rounds are what every Linux takes without being told."""
    scheme = _SCHEMES[CONF.conductor.rescue_password_hash_algorithm]
    return str(scheme.using(rounds=5000).hash(password))  # type: ignore[no-untyped-call]  # its stubs leave it out


RESCUE: Final = bind(Operation(flow=flow.RESCUE, act=_rescue, resume=_finish, give_up=_clear_up))
UNRESCUE: Final = bind(Operation(flow=flow.UNRESCUE, act=_unrescue, give_up=_clear_up))
