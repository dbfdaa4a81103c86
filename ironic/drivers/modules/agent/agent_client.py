"""The agent client: the commands of an agent and the HTTP calls that carry them.

An agent runs one long command at a time and keeps all commands with their results in a list. Short commands are waited
for; a long one is only started, and its result is read from the list later. Commands, parameters and results:
doc/contract/agent.md#commands.

A call whose connection could not be made is repeated. A command that the agent may have received is repeated only if
the caller declares it repeatable. The HTTP client checks with each call whether the agent's address may be called. The
token is part of the query, as the agent requires, so no text quotes a URL.
"""

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, TypeGuard
from urllib.parse import urlencode

import orjson

from ironic.conf import CONF
from ironic.core.errors.hardware_errors import (
    AgentAPIError,
    AgentCommandFailed,
    AgentCommandTimeout,
    AgentConnectionFailed,
    AgentInProgress,
    AgentNotCalled,
)
from ironic.core.readings import ABSENT, Known, Unreadable, Value
from ironic.core.secrets.masking import REPLACEMENT, masked
from ironic.core.texts.syntax import plain_text
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.agent.agent_access import Access, access_of
from ironic.integrations import http_client

LOG = logging.getLogger(__name__)

# Logs of a ramdisk come in one answer.
_LARGEST_ANSWER: Final = 64 * 1024 * 1024
# The whole call may last this many times as long as one wait for data.
_MOST_WAITS: Final = 10
_SECONDS_BETWEEN: Final = 0.5
_HEADERS: Final = {"Accept": "application/json", "Content-Type": "application/json"}

RUNNING: Final = "RUNNING"
SUCCEEDED: Final = "SUCCEEDED"
FAILED: Final = "FAILED"
# The hardware managers are not those that offered the steps; older agents use the first word.
MISMATCH: Final = frozenset({"CLEAN_VERSION_MISMATCH", "VERSION_MISMATCH"})
# Steps are stored on the node; hardware managers of several vendors offer a tenth of this size.
_LARGEST_STEPS: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Command:
    """A command of an agent, with its status and result; a status that is no text can't be read."""

    name: str
    status: Value[str]
    result: object = None
    error: object = None
    id: str = ""

    @classmethod
    def parse(cls, document: Mapping[str, object]) -> "Command":
        """Return a command from an entry of the agent's list of commands."""
        return cls(
            name=plain_text(document.get("command_name")).rpartition(".")[2],
            status=_status_in(document),
            result=document.get("command_result"),
            error=document.get("command_error"),
            id=str(document.get("id") or ""),
        )

    def document(self) -> dict[str, object]:
        """Return the command in the agent's form, its name without the part before the dot."""
        return {
            "id": self.id,
            "command_name": self.name,
            "command_status": self.status.shown(None),
            "command_result": self.result,
            "command_error": self.error,
        }

    @property
    def reason(self) -> str:
        """The agent's reason for a failure, as one line of plain text."""
        if isinstance(self.error, Mapping):
            texts = [plain_text(self.error[key]) for key in ("type", "message", "details") if self.error.get(key)]
            return ": ".join(dict.fromkeys(texts)) or "no reason given"
        return plain_text(self.error or "no reason given")


def _status_in(document: Mapping[str, object]) -> Value[str]:
    said = document.get("command_status")
    if said is None:
        return ABSENT
    return Known(plain_text(said)) if isinstance(said, str) else Unreadable(ValueError("its status is no text"))


class Agent:
    """The agent of one node.

    Every method raises AgentConnectionFailed when no connection can be made, AgentNotCalled when the agent's address is
    not allowed, AgentCommandTimeout when the answer is lost, AgentInProgress when the agent is busy, and AgentAPIError
    for any other refusal or an answer that can't be read.
    """

    def __init__(self, node: Node) -> None:
        self._node = node

    # Commands

    def commands(self) -> list[Command]:
        """Return the commands that the agent has received since it started, oldest first."""
        answer = self._call("the list of commands", "GET", query={}, body=None, repeatable=True)
        listed = answer.get("commands")
        if not isinstance(listed, list) or not all(isinstance(each, Mapping) for each in listed):
            raise self._unreadable("the list of commands", "there is no list of commands in the answer")
        return [Command.parse(each) for each in listed]

    def start(self, name: str, **params: object) -> Command:
        """Start a command and return at once; it is sent only once."""
        return self._send(name, params, wait=False, repeatable=False)

    def execute(self, name: str, **params: object) -> object:
        """Run a short command that may be repeated; return its result, or raise AgentCommandFailed."""
        return self.result(self._send(name, params, wait=True, repeatable=True))

    def result(self, command: Command) -> object:
        """Return the result of a command that has ended, or raise AgentCommandFailed."""
        if command.status != Known(SUCCEEDED):
            said = command.status.shown("nothing that can be read")
            error = command.reason if said == FAILED else f"it ended as {said}"
            raise AgentCommandFailed(node=self._node.uuid, command=command.name, error=error)
        return command.result

    # Steps

    def steps(self, flow: str, task: Task) -> tuple[Mapping[str, list[dict[str, object]]], dict[str, str]]:
        """Return the steps the agent offers for a flow by hardware manager, and the managers' versions."""
        result = self.execute(f"{flow}.get_{flow}_steps", **self._about(flow, task))
        if not isinstance(result, Mapping):
            raise self._unreadable(f"get_{flow}_steps", "the answer holds no steps by hardware manager")
        offered, versions = result.get(f"{flow}_steps"), result.get("hardware_manager_version")
        if offered is None or not _are_steps(offered) or not isinstance(versions, Mapping):
            raise self._unreadable(f"get_{flow}_steps", "the answer holds no steps by hardware manager")
        if len(orjson.dumps([offered, versions])) > _LARGEST_STEPS:
            raise self._unreadable(f"get_{flow}_steps", f"its steps take more than {_LARGEST_STEPS} bytes")
        return offered, dict(versions)

    def start_step(self, flow: str, task: Task, step: Mapping[str, object], versions: Mapping[str, str]) -> Command:
        """Start a step; the list of commands shows its end."""
        params = {"step": dict(step), f"{flow}_version": dict(versions), **self._about(flow, task)}
        return self.start(f"{flow}.execute_{flow}_step", **params)

    # Calls

    def _about(self, flow: str, task: Task) -> dict[str, object]:
        return {"node": node_document(task.node, flow), "ports": port_documents(task)}

    def _send(self, name: str, params: Mapping[str, object], *, wait: bool, repeatable: bool) -> Command:
        body = {"name": name, "params": dict(params)}
        LOG.debug("Node %s: command %s is sent to the agent", self._node.uuid, name)
        query = {"wait": str(wait).lower()}
        answer = self._call(name, "POST", query=query, body=body, repeatable=repeatable)
        if not isinstance(answer.get("command_status"), str):
            raise self._unreadable(name, "the answer holds no status of the command")
        return Command.parse(answer)

    def _call(
        self, command: str, method: str, *, query: dict[str, str], body: object, repeatable: bool
    ) -> Mapping[str, object]:
        """Call the agent's list of commands and return the answer; ``command`` names the call in errors and logs.

        A call without a connection is sent again, a ``repeatable`` one also after a lost answer.
        """
        access = access_of(self._node, command)
        payload = None if body is None else orjson.dumps(body)
        parameters = {**query, "agent_token": access.token} if access.token else query
        target = f"/{CONF.agent.agent_api_version}/commands/?{urlencode(parameters)}"
        call = self._node.clock.retrying(
            CONF.agent.max_command_attempts,
            _SECONDS_BETWEEN,
            lambda error: isinstance(error, AgentConnectionFailed) or (repeatable and isinstance(error, _AnswerLost)),
            lambda error: LOG.info("Node %s: %s; trying again", access.node, error),
        )
        try:
            return call(_call_once, access, command, method, target, payload)
        except _AnswerLost as error:
            raise AgentCommandTimeout(node=access.node, command=command) from error

    def _unreadable(self, command: str, error: str) -> AgentAPIError:
        return AgentAPIError(node=self._node.uuid, command=command, status=200, error=error)


def _are_steps(offered: object) -> TypeGuard[Mapping[str, list[dict[str, object]]]]:
    if not isinstance(offered, Mapping) or not all(isinstance(steps, list) for steps in offered.values()):
        return False
    every = [step for steps in offered.values() for step in steps]
    return all(isinstance(step, Mapping) and _is_step(step) for step in every)


def _is_step(step: Mapping[str, object]) -> bool:
    """Return whether a step has names and a priority that is a number, if any: a step without one is not run."""
    priority = step.get("priority", 0)
    is_number = isinstance(priority, int | float) and not isinstance(priority, bool) and math.isfinite(priority)
    return is_number and all(isinstance(step.get(name), str) and step[name] for name in ("step", "interface"))


# Nodes and ports as an agent receives them


def node_document(node: Node, flow: str) -> dict[str, object]:
    """Return the node as plain data without secrets; the config drive is included for a deployment only."""
    document: dict[str, Any] = masked(node.as_dict())
    instance = document.get("instance_info") or {}
    if flow != "deploy" and instance.get("configdrive"):
        document["instance_info"] = {**instance, "configdrive": REPLACEMENT}
    return document


def port_documents(task: Task) -> list[dict[str, object]]:
    """Return the node's ports as plain data without secrets."""
    return [{**masked(port.as_dict()), "node_uuid": task.node.uuid} for port in task.ports]


# One call over HTTP


class _AnswerLost(Exception):
    """The connection broke after the command had been sent."""


def _call_once(access: Access, command: str, method: str, target: str, payload: bytes | None) -> Mapping[str, object]:
    """Send one request and return the decoded answer; raise the errors of `Agent`, _AnswerLost for a lost answer."""
    timeout = CONF.agent.command_timeout
    terms = http_client.Terms(
        tls=access.tls,
        seconds=_MOST_WAITS * timeout,
        idle_seconds=timeout,
        most_bytes=_LARGEST_ANSWER,
        follows_redirects=False,
    )
    # An older service may have stored more than a server in the URL.
    url = f"{access.url.scheme}://{access.url.netloc.rpartition('@')[2]}{target}"
    try:
        with http_client.send(method, url, terms, _HEADERS, payload) as answer:
            status, content = answer.status, answer.read()
    except http_client.NotAllowed as error:
        raise AgentNotCalled(node=access.node, command=command, reason=str(error)) from error
    except http_client.NotConnected as error:
        raise AgentConnectionFailed(node=access.node, command=command, reason=str(error)) from error
    except http_client.TooLarge as error:
        raise AgentAPIError(node=access.node, command=command, status=answer.status, error=str(error)) from error
    except http_client.BrokenOff as error:
        raise _AnswerLost(f"the agent's answer to {command} was lost ({error})") from error
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        document = None
    if status >= HTTPStatus.BAD_REQUEST:
        fault = document.get("faultstring") if isinstance(document, dict) else None
        kind = AgentInProgress if status == HTTPStatus.CONFLICT else AgentAPIError
        reason = plain_text(fault) if fault else "no reason given"
        raise kind(node=access.node, command=command, status=status, error=reason)
    if not isinstance(document, dict):
        raise AgentAPIError(node=access.node, command=command, status=status, error="the answer is no JSON object")
    return document
