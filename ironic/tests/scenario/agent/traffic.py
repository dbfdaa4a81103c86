"""Who asked whom what, in order: of agents in these tests, and as it was recorded with the reference.

The two sides act at the same time, so each has an order of its own.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

Exchanges = Sequence[Mapping[str, Any]]

RECORDED: dict[str, list[str]] = json.loads((Path(__file__).parents[2] / "data" / "agent-traffic.json").read_text())

LOOK = "agent: GET /v1/commands -> 200"
LOGS = "agent: log.collect_system_logs -> 200"
CONFLICT = 409


def order_of(wire: Exchanges) -> list[str]:
    """Return what was said, in short.

    What the agent has to repeat is left out: the node was held just then, or the service was not there.
    """
    heard = [each for each in wire if each.get("status") not in (None, CONFLICT)]
    return [f"{each['to']}: {_subject(each)} -> {each['status']}" for each in heard]


def said_by_agent(order: Sequence[str]) -> list[str]:
    """Return what the agent said, in order; how often it repeated its heartbeat is a matter of timing."""
    return [line for line, _ in groupby(each for each in order if each.startswith("service: "))]


def asked_of_agent(order: Sequence[str]) -> list[str]:
    """Return what the agent was asked, in order; how often for its list of commands is a matter of timing."""
    return [line for line in order if line.startswith("agent: ") and line != LOOK]


def tokens_of(wire: Exchanges) -> set[str]:
    """Return how the agent was shown its token, in the calls that need one."""
    calls = [each["url"] for each in wire if each["to"] == "agent"]
    return {url.partition("agent_token=")[2] for url in calls}


def _subject(exchange: Mapping[str, Any]) -> str:
    body = exchange.get("body")
    if exchange["to"] == "agent" and isinstance(body, dict):
        return str(body["name"])
    path = exchange["url"].split("://", 1)[1].partition("/")[2].partition("?")[0].strip("/")
    return f"{exchange['method']} /{'/'.join(path.split('/')[:2])}"
