"""What an agent can be told and asked, in its own words.

An agent runs one long command at a time and remembers all of them with their results. Short commands are waited for;
of a long one only the beginning is, and a later look at the list says how it went. Commands, parameters and results:
doc/contract/agent.md#commands.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeGuard

import orjson

from ironic.conf import CONF
from ironic.core.agent_errors import AgentAPIError, AgentCommandFailed, AgentCommandTimeout
from ironic.core.plain_text import plain
from ironic.drivers import waiting
from ironic.drivers.modules.agent import transport
from ironic.drivers.modules.agent.access import access_of
from ironic.drivers.modules.agent.documents import node_document, port_documents
from ironic.drivers.task import Node, Task

LOG = logging.getLogger(__name__)

RUNNING: Final = "RUNNING"
SUCCEEDED: Final = "SUCCEEDED"
FAILED: Final = "FAILED"
# The hardware managers are not those that offered the steps; agents of different age say it differently.
MISMATCH: Final = frozenset({"CLEAN_VERSION_MISMATCH", "VERSION_MISMATCH"})
# They are kept on the node; hardware managers of several vendors offer a tenth of that.
_LARGEST_STEPS: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Command:
    """A command that an agent was given, and how it stands."""

    name: str
    status: str
    result: object = None
    error: object = None
    id: str = ""

    @classmethod
    def parse(cls, document: Mapping[str, object]) -> "Command":
        """Read what the agent says about a command."""
        return cls(
            name=plain(document.get("command_name")).rpartition(".")[2],
            status=plain(document.get("command_status")),
            result=document.get("command_result"),
            error=document.get("command_error"),
            id=str(document.get("id") or ""),
        )

    @property
    def reason(self) -> str:
        """Why it failed, in the agent's words, as one line of plain text."""
        if isinstance(self.error, Mapping):
            said = [plain(self.error[key]) for key in ("type", "message", "details") if self.error.get(key)]
            return ": ".join(dict.fromkeys(said)) or "no reason given"
        return plain(self.error or "no reason given")


class Agent:
    """The agent of one node; errors are those of core/agent_errors.py."""

    def __init__(self, node: Node) -> None:
        self._node = node

    # The general part

    def commands(self) -> list[Command]:
        """Return the commands the agent was given since it started, oldest first."""
        answer = self._call("the list of commands", "GET", _path(), query={}, body=None, asks=True)
        listed = answer.get("commands")
        if not isinstance(listed, list) or not all(isinstance(each, Mapping) for each in listed):
            raise self._nonsense("the list of commands", "there is no list of commands in the answer")
        return [Command.parse(each) for each in listed]

    def begin(self, name: str, **params: object) -> Command:
        """Give an order and come back at once; the order is sent one time only."""
        return self._send(name, params, wait=False, asks=False)

    def ask(self, name: str, **params: object) -> object:
        """Have a short command done that may be repeated; return its result."""
        return self._result(name, self._send(name, params, wait=True, asks=True))

    def finish(self, name: str, **params: object) -> object:
        """Give an order and wait for its end, as long as [agent] allows; return its result."""
        begun = self.begin(name, **params)
        found = begun

        def has_ended() -> bool:
            nonlocal found
            found = next((each for each in self.commands() if each.id == begun.id), begun)
            return found.status != RUNNING

        interval = CONF.agent.command_wait_interval
        limit = interval * CONF.agent.command_wait_attempts
        if begun.status == RUNNING and not waiting.until(has_ended, timeout=limit, interval=interval):
            raise AgentCommandTimeout(node=self._node.uuid, command=name)
        return self._result(name, found)

    # Steps

    def steps(self, flow: str, task: Task) -> tuple[Mapping[str, list[dict[str, object]]], dict[str, str]]:
        """Return the steps the agent offers for a flow by hardware manager, and the managers' versions."""
        result = self.ask(f"{flow}.get_{flow}_steps", **self._about(flow, task))
        if not isinstance(result, Mapping):
            raise self._nonsense(f"get_{flow}_steps", "the answer holds no steps by hardware manager")
        offered, versions = result.get(f"{flow}_steps"), result.get("hardware_manager_version")
        if offered is None or not _are_steps(offered) or not isinstance(versions, Mapping):
            raise self._nonsense(f"get_{flow}_steps", "the answer holds no steps by hardware manager")
        if len(orjson.dumps([offered, versions])) > _LARGEST_STEPS:
            raise self._nonsense(f"get_{flow}_steps", f"its steps take more than {_LARGEST_STEPS} bytes")
        return offered, dict(versions)

    def begin_step(self, flow: str, task: Task, step: Mapping[str, object], versions: Mapping[str, str]) -> Command:
        """Have the agent begin a step; its end shows in the list of commands."""
        params = {"step": dict(step), f"{flow}_version": dict(versions), **self._about(flow, task)}
        return self.begin(f"{flow}.execute_{flow}_step", **params)

    # The inside

    def _about(self, flow: str, task: Task) -> dict[str, object]:
        return {"node": node_document(task.node, flow), "ports": port_documents(task)}

    def _send(self, name: str, params: Mapping[str, object], *, wait: bool, asks: bool) -> Command:
        body = {"name": name, "params": dict(params)}
        LOG.debug("Node %s: the agent is given %s", self._node.uuid, name)
        answer = self._call(name, "POST", _path(), query={"wait": str(wait).lower()}, body=body, asks=asks)
        if not isinstance(answer.get("command_status"), str):
            raise self._nonsense(name, "the answer does not say how the command stands")
        return Command.parse(answer)

    def _call(
        self, command: str, method: str, path: str, *, query: dict[str, str], body: object, asks: bool
    ) -> Mapping[str, object]:
        return transport.call(access_of(self._node, command), command, method, path, query=query, body=body, asks=asks)

    def _result(self, name: str, command: Command) -> object:
        if command.status != SUCCEEDED:
            error = command.reason if command.status == FAILED else f"it ended as {command.status}"
            raise AgentCommandFailed(node=self._node.uuid, command=name, error=error)
        return command.result

    def _nonsense(self, command: str, error: str) -> AgentAPIError:
        return AgentAPIError(node=self._node.uuid, command=command, status=200, error=error)


def _path() -> str:
    """Return where agents keep their commands."""
    return f"/{CONF.agent.agent_api_version}/commands/"


def _are_steps(offered: object) -> TypeGuard[Mapping[str, list[dict[str, object]]]]:
    if not isinstance(offered, Mapping) or not all(isinstance(steps, list) for steps in offered.values()):
        return False
    every = [step for steps in offered.values() for step in steps]
    return all(isinstance(step, Mapping) and step.get("step") and step.get("interface") for step in every)
