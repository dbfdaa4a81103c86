"""Walks lead where the operation goes, by the stops of the architecture page in their order, and do not become longer.

`make walks` prints how long five of them are.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ironic.core.flows import states
from ironic.core.flows.node_waits import Follows
from ironic.drivers.contract import waits
from ironic.drivers.contract.step_declarations import StepDone
from ironic.tests.functional.inspection.whole import Preparing, Whole, whole
from ironic.tests.functional.wire import keystone
from ironic.tests.unit.inspection.lab import MAC, inventory
from ironic.tests.unit.test_architecture import LINK, NAME, PAGE, WALKS, functions
from ironic.tests.walks import PRODUCT, Length, Walk, calls_of, follow


def patch(service: Whole, uuid: str) -> None:
    changes = [{"op": "add", "path": "/extra/a", "value": 1}, {"op": "add", "path": "/name", "value": "other"}]
    assert service.api.call("PATCH", f"/v1/nodes/{uuid}", body=changes).status == 200


def provision(service: Whole, uuid: str, **body: Any) -> None:
    assert service.api.call("PUT", f"/v1/nodes/{uuid}/states/provision", body=body).status == 202


def inspect(service: Whole, uuid: str) -> None:
    provision(service, uuid, target="inspect")
    query = Preparing.parameters["ipa-inspection-callback-url"].partition("?")[2]
    assert service.post({"inventory": inventory(MAC)}, query=f"?{query}").status == 200
    assert service.state(uuid) == states.MANAGEABLE


OPERATIONS = {"A PATCH of a node": patch, "An inspection": inspect}


@pytest.mark.parametrize("title", OPERATIONS)
def test_the_operation_goes_from_stop_to_stop(title: str, tmp_path: Path) -> None:
    with whole(tmp_path) as service:
        uuid = node(service)
        called = dict[tuple[Path, str], int]()
        for file, name in calls_of(lambda: OPERATIONS[title](service, uuid)):
            called.setdefault((PRODUCT / file, name.rpartition("<locals>.")[2]), len(called))
    reached = []
    for stop in re.split(r"^\d\. ", WALKS[title], flags=re.MULTILINE)[1:]:
        files = [(PAGE.parent / path).resolve() for path in LINK.findall(stop)]
        named = set(NAME.findall(LINK.sub("", stop))) & set().union(*map(functions, files))
        turns = {
            name: turn
            for (path, full_name), turn in called.items()
            for name in (full_name, full_name.rpartition(".")[2])
            if path in files and name in named
        }
        assert turns.keys() == named, stop
        reached.append(min(turns.values()))
    assert reached == sorted(reached)


def node(service: Whole) -> str:
    values = {"vendor_interface": "scripted", "boot_interface": "scripted", "power_state": states.POWER_ON}
    return service.node(MAC, state=states.MANAGEABLE, **values)


def change_power(service: Whole, uuid: str) -> None:
    wanted = states.POWER_ON if service.bench.row(uuid).power_state == states.POWER_OFF else states.POWER_OFF
    assert service.api.call("PUT", f"/v1/nodes/{uuid}/states/power", body={"target": wanted}).status == 202
    assert service.bench.row(uuid).power_state == wanted


def clean(service: Whole, uuid: str) -> None:
    provision(service, uuid, target="clean", clean_steps=[{"interface": "vendor", "step": "first"}])
    assert service.state(uuid) == states.MANAGEABLE


def wait(service: Whole, uuid: str) -> None:
    service.bench.script.answers |= {"first": begin_wait, "look": end_wait}
    provision(service, uuid, target="clean", clean_steps=[{"interface": "vendor", "step": "first"}])
    assert service.state(uuid) == states.CLEANWAIT
    service.bench.look(5)
    assert service.state(uuid) == states.MANAGEABLE


def begin_wait(task: Any) -> str:
    waits.begin(task, "scripted", "the hardware", None, interface="vendor", seconds=600, follows=Follows.FLOW)
    task.node.save()
    return states.CLEANWAIT


def end_wait(task: Any) -> StepDone:
    task.upgrade_lock("ending it", retry=False)
    return StepDone()


class Measured(NamedTuple):
    """An operation, the function with which its walk begins, and how long the walk may be."""

    operation: Callable[[Whole, str], None]
    entry: str
    longest: Length


# A little more than they are; each error that is made looks for keywords of plug-ins as well. Of the PATCH by a member
# 150, 16 and 45 are wanted.
LONGEST_PATCH = Length(184, 28, 53)
MEASURED = {
    "a power change": Measured(change_power, "Route.run", Length(180, 35, 75)),
    "an inspection": Measured(inspect, "Route.run", Length(870, 88, 455)),
    "a cleaning of one step": Measured(clean, "Route.run", Length(905, 60, 286)),
    "the end of a wait for hardware": Measured(wait, "WaitLooks.__call__", Length(404, 37, 137)),
}


@pytest.mark.parametrize("title", MEASURED)
def test_a_walk_does_not_become_longer(title: str, tmp_path: Path) -> None:
    operation, entry, longest = MEASURED[title]
    with whole(tmp_path) as service:
        uuid = node(service)
        operation(service, uuid)  # what is done once in a process is no part of the walk
        check(title, follow(lambda: operation(service, uuid), entry), longest)


def test_a_patch_by_a_member_of_a_project_does_not_become_longer(tmp_path: Path, conf: Callable[..., None]) -> None:
    def change(name: str) -> None:
        changes = [{"op": "add", "path": "/driver_info/ipmi_username", "value": name}]
        assert keystone.ask(service, "owner-member", "PATCH", f"/v1/nodes/{keystone.OWNED}", changes).status == 200

    with keystone.playing() as url:
        service = keystone.service(tmp_path, url, conf)
        try:
            change("first")
            walk = follow(lambda: change("second"), "Route.run")
        finally:
            service.close()
    check("a PATCH of one key of driver_info by a member", walk, LONGEST_PATCH)


def check(title: str, walk: Walk, longest: Length) -> None:
    calls, files, returns = walk.length
    sys.stdout.write(f"\n{title}: {calls} calls, {files} files, {returns} returns\n")
    assert all(one <= most for one, most in zip(walk.length, longest, strict=True)), walk.listed()
