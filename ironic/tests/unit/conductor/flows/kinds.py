"""The flows as their users start them: what the tests of the engine and of reserved steps run on."""

from dataclasses import dataclass
from typing import Any

import pytest

from ironic.conductor.flows import wait_ends
from ironic.core.flows import states


@dataclass(frozen=True)
class Kind:
    """One flow as a user starts it."""

    name: str
    begins_in: str
    verb: str
    working: str
    waiting: str
    held: str
    failed: str
    done: tuple[str, str | None]
    target: str
    asks: str
    fault: str | None = None

    @property
    def column(self) -> str:
        return f"{self.name}_step"

    def steps(self, *names: str, **args: Any) -> dict[str, Any]:
        """Return the verb's arguments for these steps of the vendor interface, in this order."""
        listed: list[dict[str, Any]] = [{"interface": "vendor", "step": name} for name in names]
        if self.name == "deploy":
            listed = [{**step, "args": {}, "priority": 900 - index} for index, step in enumerate(listed)]
            rest = {"first", "second", "third"} - set(names)
            listed += [{"interface": "vendor", "step": name, "args": {}, "priority": 0} for name in sorted(rest)]
        for step in listed:
            step["args"] = {**step.get("args", {}), **args.get(step["step"], {})}
        return {self.asks: listed}


CLEAN = Kind(
    "clean", states.MANAGEABLE, "clean", states.CLEANING, states.CLEANWAIT, states.CLEANHOLD, states.CLEANFAIL,
    (states.MANAGEABLE, None), states.MANAGEABLE, "clean_steps", "clean failure",
)  # fmt: skip
DEPLOY = Kind(
    "deploy", states.AVAILABLE, "active", states.DEPLOYING, states.DEPLOYWAIT, states.DEPLOYHOLD, states.DEPLOYFAIL,
    (states.ACTIVE, None), states.ACTIVE, "deploy_steps",
)  # fmt: skip
SERVICE = Kind(
    "service", states.ACTIVE, "service", states.SERVICING, states.SERVICEWAIT, states.SERVICEHOLD, states.SERVICEFAIL,
    (states.ACTIVE, None), states.ACTIVE, "service_steps", "service failure",
)  # fmt: skip

every_flow = pytest.mark.parametrize("kind", [CLEAN, DEPLOY, SERVICE], ids=lambda kind: kind.name)


def begin(bench, kind: Kind, *names: str, node: dict[str, Any] | None = None, **args: Any) -> str:
    """Start a flow with these steps on a new node; return its UUID."""
    uuid = bench.node("vendor", "deploy", provision_state=kind.begins_in, **(node or {}))
    bench.verb(uuid, kind.verb, **kind.steps(*names, **args))
    return uuid


def played(bench) -> list[str]:
    """Return the steps that ran, in order."""
    return [name for name in bench.script.calls if name in ("first", "second", "third", "on_demand")]


def resume(bench, uuid: str) -> None:
    """Do what a driver's poll does when it finds its step finished."""
    with bench.tasks.acquire(bench.context, uuid, purpose="poll") as task:
        wait_ends.continue_flow(task)
