"""Tasks of a BMC: work that it goes on with after it has answered an order.

The library reads a task only as long as its monitor answers 202; how the task has ended is then lost. Here the document
is read whatever the status is. A task that is gone has ended: some BMCs delete it at once, or when they restart.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sushy import exceptions as sushy_errors

from ironic.drivers.modules.redfish.bmc_connection import System, connector_of

_UNDER_WAY: Final = frozenset({"New", "Starting", "Running", "Pending", "Stopping", "Suspended"})
_GOOD: Final = frozenset({"OK", "Warning", None})
_ACCEPTED: Final = 202
_MOST_MESSAGES: Final = 10


@dataclass(frozen=True, slots=True)
class BmcTask:
    """The state of a task; ``word`` is the BMC's, empty where it says nothing."""

    word: str
    is_over: bool
    is_good: bool = True
    text: str = ""


def read_task(system: System, uri: str) -> BmcTask:
    """Return the state of a task by the path of its monitor."""
    try:
        answer = connector_of(system).get(uri)
    except sushy_errors.ResourceNotFoundError:
        return BmcTask("", is_over=True)
    document = answer.json() if answer.content else {}
    word = document.get("TaskState") if isinstance(document, Mapping) else None
    if not isinstance(word, str):
        return BmcTask("", is_over=answer.status_code != _ACCEPTED)
    if word in _UNDER_WAY:
        return BmcTask(word, is_over=False)
    is_good = word == "Completed" and document.get("TaskStatus") in _GOOD
    return BmcTask(word, is_over=True, is_good=is_good, text=_text(document))


def _text(document: Mapping[str, Any]) -> str:
    messages = document.get("Messages")
    found = []
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, Mapping):
            text = message.get("Message")
            usable = isinstance(text, str) and text.lower() != "unknown"
            found.append(str(text if usable else message.get("MessageId")))
    return "; ".join(found[:_MOST_MESSAGES]) or f"the BMC reports state {document.get('TaskState')} and no reason"
