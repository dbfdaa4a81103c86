"""Errors as the parts of the service raise them, and what users read of them afterwards."""

import json
import os
import re
from collections.abc import Callable
from typing import Any, Final

import pytest

from ironic.core import errors
from ironic.core.errors import hardware_errors
from ironic.drivers.modules.bmc.power_actions import Action, ActionPower, await_power
from ironic.tests.repository import ROOT
from ironic.tests.unit.conductor.flows.bench import Bench
from ironic.tests.unit.conductor.flows.kinds import CLEAN, DEPLOY, SERVICE

FILE: Final = ROOT / "ironic" / "tests" / "data" / "failure-texts.json"
# With KEEP_FAILURE_TEXTS=1 the file is written anew; the difference is to be read then, line by line.
KEEPS: Final = bool(os.environ.get("KEEP_FAILURE_TEXTS"))

Expect = Callable[..., None]

BMC = "192.0.2.9"
STEP = "vendor.first"

# By name, the errors that can be raised wherever something is done with a node.
RAISED: dict[str, Callable[[str], Exception]] = {
    "a sentence": lambda uuid: errors.IronicError("the BMC is gone"),
    "a sentence with the node": lambda uuid: errors.IronicError(f"Node {uuid}: the BMC of node {uuid} is gone."),
    "a sentence for the node": lambda uuid: errors.IronicError(f"No disk was found for node {uuid}"),
    "nothing": lambda uuid: errors.IronicError(""),
    "no error of ours": lambda uuid: ValueError("odd"),
    "not valid": lambda uuid: errors.InvalidParameterValue(err=f"driver_info of node {uuid} has no address."),
    "not supported": lambda uuid: errors.UnsupportedDriverExtension(driver="of this node", extension="raid"),
    "no room": lambda uuid: errors.NoFreeConductorWorker(host="here"),
    "Redfish": lambda uuid: hardware_errors.RedfishError(
        node=uuid, operation="setting the boot device", error=f"BMC {BMC}: it has no such device"
    ),
    "no Redfish": lambda uuid: hardware_errors.RedfishConnectionError(node=uuid, address=BMC, error="no route to host"),
    "IPMI": lambda uuid: hardware_errors.IPMIFailure(node=uuid, operation="chassis power", error=f"BMC {BMC}: busy"),
    "no agent": lambda uuid: hardware_errors.AgentConnectionFailed(
        node=uuid, command="standby.sync", reason="no agent has sent a heartbeat yet"
    ),
    "agent": lambda uuid: hardware_errors.AgentCommandFailed(node=uuid, command="standby.sync", error="disk full"),
    "network": lambda uuid: hardware_errors.NetworkError(node=uuid, reason="the switch is gone"),
    "image": lambda uuid: hardware_errors.ImageUnacceptable(reason="it is a compressed one"),
    "power": lambda uuid: errors.PowerStateFailure(node=uuid, target="power off", reason="the BMC is gone."),
    "clean step": lambda uuid: errors.CleanStepFailed(node=uuid, step=STEP, reason="no disk"),
    "cleaning": lambda uuid: errors.NodeCleaningFailure(node=uuid, reason="no disk"),
    "deployment": lambda uuid: errors.InstanceDeployFailure(node=uuid, reason="no disk."),
    "servicing": lambda uuid: errors.NodeServicingFailure(node=uuid, reason="no disk"),
    "verifying": lambda uuid: errors.NodeVerifyFailure(node=uuid, reason="no disk"),
    "rescue": lambda uuid: errors.InstanceRescueFailure(node=uuid, reason="no disk"),
    "unrescue": lambda uuid: errors.InstanceUnrescueFailure(node=uuid, reason="no disk"),
    "inspection": lambda uuid: errors.HardwareInspectionFailure(error="the inventory has no {disk}"),
    "rule": lambda uuid: errors.InspectionRuleFailure(rule="r1", what=f"node {uuid}", error="phase main: no"),
}
FEW = ("a sentence", "a sentence with the node", "no error of ours", "Redfish", "power")

KINDS = {"cleaning": CLEAN, "deployment": DEPLOY, "servicing": SERVICE}

every_error = pytest.mark.parametrize("error", RAISED)
few_errors = pytest.mark.parametrize("error", FEW)
every_kind = pytest.mark.parametrize("flow", KINDS)


def raising(error: str) -> Callable[[Any], None]:
    """Return a step or method of an interface that raises an error about its node."""

    def act(task: Any) -> None:
        raise RAISED[error](task.node.uuid)

    return act


class Bmc(ActionPower):
    """A power interface whose BMC does as it is said."""

    def __init__(self, act: Action) -> None:
        self._act = act

    @property
    def actions(self) -> dict[str, Action]:
        return dict.fromkeys(("power on", "power off", "rebooting", "soft power off"), self._act)

    def get_properties(self) -> dict[str, str]:
        return {}

    def validate(self, task: Any) -> None:
        pass

    def get_power_state(self, task: Any) -> str:
        return "power on"


def by_bmc(target: str, make: Callable[[str], Exception] = RAISED["Redfish"]) -> Callable[[Any], None]:
    """Return a change of the power in which the BMC answers with an error."""

    def act(task: Any, timeout: int | None) -> None:
        raise make(task.node.uuid)

    return lambda task: Bmc(act).set_power_state(task, target)


def not_in_time(target: str) -> Callable[[Any], None]:
    """Return a change of the power that does not come."""

    def act(task: Any, timeout: int | None) -> None:
        await_power(task, BMC, target, lambda: False, -1)

    return lambda task: Bmc(act).set_power_state(task, target)


def read(bench: Bench, *uuids: str) -> list[str]:
    """Return what users read of nodes, the first of which is the one it is about: errors and history."""
    texts: list[str] = []
    for uuid in uuids:
        row = bench.row(uuid)
        found = {"last_error": row.last_error, "maintenance": row.maintenance_reason}
        texts += [f"{name}: {text}" for name, text in found.items() if text]
        for severity, topic, event in bench.history(uuid):
            if severity != "INFO":
                shown = "as last_error" if event == row.last_error else event
                texts.append(f"history ({severity}, {topic}): {shown}")
    return texts


def settled(texts: list[str], names: dict[str, str]) -> list[str]:
    """Return texts without what differs from run to run: UUIDs become names, moments a word."""
    made = []
    for text in texts:
        for uuid, name in names.items():
            text = text.replace(uuid, name)
        made.append(re.sub(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?", "WHEN", text))
    return made


def known() -> dict[str, list[str]]:
    """Return the texts by the name of the test that produces them."""
    found: dict[str, list[str]] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return found


def keep(found: dict[str, list[str]]) -> None:
    """Put texts in the place of those that the same tests have produced."""
    FILE.write_text(json.dumps(dict(sorted({**known(), **found}.items())), indent=1, ensure_ascii=False) + "\n")
