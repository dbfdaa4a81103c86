"""Stored data of inspections, and ports for addresses, as inspect interfaces of plug-ins ask for them."""

from typing import Any, cast

import pytest

from ironic.context import get_admin_context
from ironic.core.errors import HookLoadError
from ironic.core.errors.resource_errors import NodeInventoryNotFound
from ironic.db import Store
from ironic.drivers.contract.task import BareDriver, Task
from ironic.drivers.modules import inspect_utils
from ironic.inspection.pipeline import Pipeline
from ironic.tests.conftest import Setter
from ironic.tests.unit.inspection import lab
from ironic.tests.unit.inspection.lab import MAC, OTHER_MAC

CONTEXT = get_admin_context()


def test_data_are_there_as_soon_as_an_inspection_has_ended(store: Store) -> None:
    task = lab.work_on(store, lab.new_node(store))
    with pytest.raises(NodeInventoryNotFound, match=task.node.uuid):
        inspect_utils.get_inspection_data(task.node, task.context)
    Pipeline.load(["validate-interfaces", "ports"]).run(task, lab.inventory(MAC, booted=MAC), {"mine": 1})
    found = inspect_utils.get_inspection_data(task.node, task.context)
    assert found["inventory"]["interfaces"][0]["mac_address"] == MAC
    assert found["plugin_data"]["mine"] == 1
    assert MAC in str(found["plugin_data"]["all_interfaces"])
    assert found["plugin_data"].keys() == {"mine", "all_interfaces", "valid_interfaces", "macs"}


def test_data_are_stored_in_place_of_earlier_ones(store: Store, conf: Setter) -> None:
    task = lab.work_on(store, lab.new_node(store))
    for number in range(2):
        inspect_utils.store_inspection_data(task.node, {"n": number}, {"p": number}, task.context)
    assert inspect_utils.get_inspection_data(task.node, CONTEXT) == {"inventory": {"n": 1}, "plugin_data": {"p": 1}}
    conf(inventory__data_backend="none")
    with pytest.raises(NodeInventoryNotFound):
        inspect_utils.get_inspection_data(task.node, CONTEXT)


class Management:
    def get_mac_addresses(self, task: object) -> list[str]:
        return [OTHER_MAC, "no address"]


def test_ports_are_made_for_addresses_without_one(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    node = lab.new_node(store)
    lab.new_port(store, lab.new_node(store), "52:54:00:00:00:07")
    task: Any = lab.work_on(store, node, BareDriver({"management": Management()}))
    inspect_utils.create_ports_if_not_exist(cast(Task, task), [MAC.upper(), MAC, "52:54:00:00:00:07"])
    assert [port.address for port in task.ports] == [MAC]
    inspect_utils.create_ports_if_not_exist(cast(Task, task))
    assert [port.address for port in task.ports] == [MAC, OTHER_MAC]
    assert "'no address' is no MAC address" in caplog.text


def test_where_ramdisks_send_their_data_and_which_hooks_can_be_loaded(conf: Setter) -> None:
    assert inspect_utils.get_inspection_callback("http://192.0.2.1/") == "http://192.0.2.1/v1/continue_inspection"
    conf(service_catalog__endpoint_override="http://192.0.2.2:6385")
    assert inspect_utils.get_inspection_callback().startswith("http://192.0.2.2:6385/v1/")
    inspect_utils.validate_inspection_hooks(["validate-interfaces", "ports"])
    with pytest.raises(HookLoadError, match="validate-interfaces"):
        inspect_utils.validate_inspection_hooks(["ports", "validate-interfaces"])
