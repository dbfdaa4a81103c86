"""Paths that third-party plug-ins import lead to our names, and plug-ins may write errors in the words they know."""

import importlib
import re
from types import ModuleType

import pytest

from ironic.common import boot_devices, boot_modes, exception, states
from ironic.conductor import periodics, task_manager, utils
from ironic.conductor.tasks import TaskManager
from ironic.core import errors
from ironic.core.flows import states as our_states
from ironic.db import NodeRecord, PortRecord
from ironic.drivers import utils as driver_utils
from ironic.drivers.modules import ipmitool
from ironic.drivers.modules.inspector.hooks import base as hooks
from ironic.drivers.modules.ipmi.socat_console import IPMISocatConsole
from ironic.inspection.hooks.base import InspectionHook
from ironic.objects import Node, Port
from ironic.rpc import message_format
from ironic.tests.repository import ROOT
from ironic.tests.unit.drivers.machine import work_on

DOORS = (
    "ironic.common.boot_devices",
    "ironic.common.boot_modes",
    "ironic.common.config",
    "ironic.common.dhcp_factory",
    "ironic.common.exception",
    "ironic.common.i18n",
    "ironic.common.metrics_utils",
    "ironic.common.states",
    "ironic.common.utils",
    "ironic.conductor.periodics",
    "ironic.conductor.task_manager",
    "ironic.conductor.utils",
    "ironic.context",
    "ironic.db.sqlalchemy.api",
    "ironic.dhcp.base",
    "ironic.drivers.base",
    "ironic.drivers.modules.agent_base",
    "ironic.drivers.modules.agent_client",
    "ironic.drivers.modules.boot_mode_utils",
    "ironic.drivers.modules.deploy_utils",
    "ironic.drivers.modules.inspect_utils",
    "ironic.drivers.modules.inspector.hooks.base",
    "ironic.drivers.modules.ipmitool",
    "ironic.drivers.modules.redfish.boot",
    "ironic.drivers.modules.redfish.utils",
    "ironic.drivers.task",
    "ironic.drivers.utils",
    "ironic.drivers.waits",
    "ironic.objects",
    "ironic.objects.chassis",
    "ironic.objects.conductor",
    "ironic.objects.node",
    "ironic.objects.node_history",
    "ironic.objects.port",
    "ironic.objects.portgroup",
    "ironic.objects.trait",
    "ironic.objects.volume_connector",
    "ironic.objects.volume_target",
)


@pytest.mark.parametrize("door", DOORS)
def test_a_door_leads_to_all_it_names(door: str) -> None:
    module = importlib.import_module(door)
    assert module.__all__
    assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.parametrize("door", [door for door in DOORS if door != "ironic.drivers.base"])
def test_nothing_lives_behind_a_door_but_names_of_others(door: str) -> None:
    module = importlib.import_module(door)
    own = [name for name in module.__all__ if getattr(getattr(module, name), "__module__", None) == door]
    assert own == []


_IMPORTS = re.compile(r"^from (ironic[\w.]*) import ([\w, ]+?)(?: as \w+)?$", re.MULTILINE)
_PAGES = sorted((ROOT / "doc").glob("*.md"))
_SHOWN = sorted({found for page in _PAGES for found in _IMPORTS.findall(page.read_text())})


@pytest.mark.parametrize(("module", "names"), _SHOWN)
def test_what_pages_import_is_there(module: str, names: str) -> None:
    for name in names.split(", "):
        exec(f"from {module} import {name}", {})


def test_pages_show_the_bases_of_plug_ins() -> None:
    assert {"ironic.drivers", "ironic.inspection.hooks.base", "ironic.inspection.rules.base"} <= {
        one for one, _ in _SHOWN
    }


# What a door uses of another room; the errors of a table are found by their names.
NOT_OFFERED = {
    "ironic.common.exception": {"Any", "plug_in_errors"},
    "ironic.conductor.utils": {"TaskManager"},
    "ironic.drivers.base": {"KINDS"},
}

DESCRIBED = (
    "ironic.common.config",
    "ironic.common.i18n",
    "ironic.common.metrics_utils",
    "ironic.common.utils",
    "ironic.db.sqlalchemy.api",
)


_ROW = re.compile(r"^\| `(ironic\.[\w.]+)` \| (.*) \|$", re.MULTILINE)
_PAGES_OF_DOORS = "\n".join((ROOT / "doc" / f"plug-in-{page}.md").read_text() for page in ("doors", "objects"))
_LEFT_OUT = _PAGES_OF_DOORS.partition("\n## What is left out\n")[2]
_LISTED = dict(_ROW.findall(_PAGES_OF_DOORS.partition("\n## What is left out\n")[0]))
_NAMES = re.compile(r"`(\w+)(?:\([^`]*\))?`")


def test_pages_list_every_door() -> None:
    assert {*_LISTED, *DESCRIBED, "ironic.common.exception"} == set(DOORS)


@pytest.mark.parametrize("door", _LISTED)
def test_a_page_lists_what_a_door_has(door: str) -> None:
    module = importlib.import_module(door)
    assert set(_NAMES.findall(_LISTED[door])) == set(module.__all__)


@pytest.mark.parametrize("door", DOORS)
def test_a_door_has_what_it_names(door: str) -> None:
    module = importlib.import_module(door)
    public = {name for name, one in vars(module).items() if name[0] != "_" and not isinstance(one, ModuleType)}
    assert public - set(module.__all__) - NOT_OFFERED.get(door, set()) == set()


def test_the_page_counts_the_errors() -> None:
    said = re.search(r"All (\d+) errors that third parties know", _PAGES_OF_DOORS)
    # One more is this service's own.
    assert said is not None and int(said[1]) == len(set(exception.__all__) - {"CleanStepFailed"})


_MODULES = "ironic.drivers.modules."
_LEFT = re.findall(r"(?:^\| |; )`([\w.]+)`: ((?:`\w+`(?:, )?)+)", _LEFT_OUT, re.MULTILINE)


@pytest.mark.parametrize(("module", "names"), _LEFT)
def test_what_the_page_leaves_out_is_not_there(module: str, names: str) -> None:
    path = module if module.startswith("ironic.") else f"{_MODULES}{module}"
    try:
        door = importlib.import_module(path)
    except ImportError:
        return
    assert [name for name in _NAMES.findall(names) if hasattr(door, name)] == []


@pytest.mark.parametrize("door", DESCRIBED)
def test_a_page_says_what_each_helper_does(door: str) -> None:
    page = (ROOT / "doc" / "plug-in-doors.md").read_text()
    section = page.partition(f"\n## {door}\n")[2].partition("\n## ")[0]
    said = set(re.findall(r"`(\w+)(?:\(|`)", section))
    assert set(importlib.import_module(door).__all__) - said == set()


def test_names_are_the_same_things() -> None:
    assert (states.CLEANWAIT, states.POWER_ON) == (our_states.CLEANWAIT, our_states.POWER_ON)
    assert (boot_devices.PXE, boot_modes.UEFI) == ("pxe", "uefi")
    assert task_manager.TaskManager is TaskManager
    assert issubclass(Node, NodeRecord) and issubclass(Port, PortRecord)
    assert ipmitool.IPMISocatConsole is IPMISocatConsole
    assert hooks.InspectionHook is InspectionHook
    assert exception.IronicException is errors.IronicError
    assert callable(utils.node_power_action) and callable(periodics.node_periodic)


@pytest.mark.parametrize(
    "name, status",
    [
        ("InvalidParameterValue", 400),
        ("UnsupportedDriverExtension", 400),
        ("ExclusiveLockRequired", 403),
        ("NodeNotFound", 404),
        ("NodeLocked", 409),
        ("PowerStateFailure", 409),
        ("VifAlreadyAttached", 409),
        ("NoFreeConductorWorker", 503),
        ("DriverOperationError", 500),
    ],
)
def test_errors_have_the_status_that_plug_ins_know(name: str, status: int) -> None:
    assert getattr(exception, name)("x").code == status


class TooHot(exception.IronicException):
    _msg_fmt = "Node %(node)s is at %(celsius)d degrees {in words}"
    code = 418


class FarTooHot(TooHot):
    """Inherits sentence and status."""


@pytest.mark.parametrize("cls", [TooHot, FarTooHot])
def test_an_error_in_a_plug_ins_own_words_is_one_of_ours(cls: type[TooHot]) -> None:
    error = cls(node="n1", celsius=99)
    assert str(error) == "Node n1 is at 99 degrees {in words}"
    assert (error.status, error.code, error.kwargs) == (418, 418, {"node": "n1", "celsius": 99})
    assert str(cls("said by hand")) == "said by hand"
    with pytest.raises(cls, match="99 degrees") as raised:
        message_format.result_of(message_format.error_message(error))
    assert raised.value.status == 418


def test_what_drivers_ask_of_a_node() -> None:
    task = work_on(properties={"capabilities": "a:1,b:2"})
    task.ports = [NodePort("52:54:00:00:00:01"), NodePort("52:54:00:00:00:02")]
    assert driver_utils.get_node_mac_addresses(task) == ["52:54:00:00:00:01", "52:54:00:00:00:02"]
    assert driver_utils.get_node_capability(task.node, "b") == "2"
    assert driver_utils.get_node_capability(task.node, "c") is None
    driver_utils.add_node_capability(task, "c", True)
    assert task.node.saved["properties"]["capabilities"] == "a:1,b:2,c:True"
    assert driver_utils.capabilities_to_dict("x:y") == {"x": "y"}
    with pytest.raises(exception.InvalidParameterValue, match="capabilities"):
        driver_utils.get_node_capability(work_on(properties={"capabilities": "nonsense"}).node, "a")


class NodePort:
    uuid = "p"

    def __init__(self, address: str) -> None:
        self.address = address
