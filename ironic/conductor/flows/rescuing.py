"""Rescue mode: a ramdisk with a password of the user's on a machine that is in use, and the way back.

The hash of the password stays with the instance as the rescue interface needs it; the password itself only where the
interface wants it, or where [conductor]require_rescue_password_hashed allows ramdisks that can't take a hash.
"""

from collections.abc import Callable
from typing import Any, Final

from passlib.hash import sha256_crypt, sha512_crypt

from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.moves import shortened
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core import states
from ironic.core.agent_memory import AgentMemory
from ironic.core.errors import InstanceRescueFailure, InstanceUnrescueFailure, IronicError

_SCHEMES: Final = {"sha256": sha256_crypt, "sha512": sha512_crypt}

_FAILURE: Final[dict[str, type[IronicError]]] = {
    "rescue": InstanceRescueFailure,
    "unrescue": InstanceUnrescueFailure,
}


def start(task: Task, rescue_password: str) -> None:
    """Accept a request to bring the machine into rescue mode."""
    _validate(task)
    if task.rescue.wants_password or not CONF.conductor.require_rescue_password_hashed:
        task.node.instance_info["rescue_password"] = rescue_password
    task.node.instance_info["hashed_rescue_password"] = _hashed(rescue_password)
    AgentMemory(task.node).forget()
    task.process_event("rescue", callback=_work, call_args=(task, "rescue", _rescue))


def start_back(task: Task) -> None:
    """Accept a request to leave rescue mode."""
    _validate(task)
    AgentMemory(task.node).forget()
    task.process_event("unrescue", callback=_work, call_args=(task, "unrescue", _unrescue))


def resume(task: Task) -> None:
    """Go on after the rescue ramdisk has come up."""
    task.process_event("resume", callback=_work, call_args=(task, "rescue", _finish))


def abort(task: Task) -> None:
    """Give up waiting for the rescue ramdisk."""
    task.process_event("abort", callback=_clear_up, call_args=(task,), last_error="The rescue was aborted by request.")


def give_up(task: Task, reason: str) -> None:
    """Fail a rescue that was waited for too long."""
    _fail(task, "rescue", reason)


def _validate(task: Task) -> None:
    for kind in ("power", "rescue"):
        task.driver.require(kind).validate(task)


def _rescue(task: Task) -> Any:
    return task.rescue.rescue(task)


def _finish(task: Task) -> Any:
    return task.rescue.finish_rescue(task)


def _unrescue(task: Task) -> Any:
    return task.rescue.unrescue(task)


def _work(task: Task, verb: str, act: Callable[[Task], Any]) -> None:
    answer = attempt(task, act)
    if isinstance(answer, Failed):
        _fail(task, verb, answer.reason)
    elif answer == states.RESCUEWAIT and verb == "rescue":
        task.finish("wait")
    elif answer in (None, states.RESCUE, states.ACTIVE):
        task.finish("done")
    else:
        _fail(task, verb, f"the rescue interface answered {answer!r}, which means nothing here")


def _fail(task: Task, verb: str, reason: str) -> None:
    text = str(_FAILURE[verb](node=task.node.uuid, reason=reason))
    task.finish("fail", last_error=text + _cleared_up(task))


def _clear_up(task: Task) -> None:
    if more := _cleared_up(task):
        task.node.last_error = shortened(f"{task.node.last_error}{more}")
    task.save_and_release()


def _cleared_up(task: Task) -> str:
    answer = attempt(task, lambda task: task.rescue.clean_up(task))
    return f" Clearing up failed as well: {answer.reason}" if isinstance(answer, Failed) else ""


def _hashed(password: str) -> str:
    """Return the password as it stands in a shadow file; the rounds are what every Linux takes without being told."""
    scheme = _SCHEMES[CONF.conductor.rescue_password_hash_algorithm]
    return str(scheme.using(rounds=5000).hash(password))  # type: ignore[no-untyped-call]
