"""One table of changes of nodes: POST, PATCH and inspection rules take and refuse the same, whoever their author is.

An operator's word is a request of an administrator, or the literal text of a rule. A project's is a request with its
token, or what a rule takes from the report of a machine.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ironic.core.addresses.bmc_hosts import BY_PROJECT
from ironic.core.errors import IronicError
from ironic.core.flows import states
from ironic.core.rules import AnyRule, check_rule
from ironic.db import NodeRecord, Store
from ironic.inspection.phases import PHASES
from ironic.inspection.rules import Inspection, RuleBook
from ironic.inspection.staged_task import StagedTask
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.keystone import ask
from ironic.tests.functional.wire.service import Service
from ironic.tests.unit.inspection.lab import work_on

Values = Mapping[str, Any]
OPERATOR, PROJECT = "system-admin", "owner-admin"
POST, PATCH, RULE = "POST", "PATCH", "rule"
ALL = (POST, PATCH, RULE)
# What can't be said of a new node, because it is about what a node has already.
OLD = (PATCH, RULE)
CHASSIS = "33333333-0000-4000-8000-000000000001"
INSTANCE = "44444444-0000-4000-8000-000000000001"


class Case(NamedTuple):
    """What an author writes: the columns that are stored then, or the text that refuses it."""

    author: str
    # Path of a field or a key of an object -> value.
    values: Values
    end: Values | str
    node: Values = {}
    by: tuple[str, ...] = ALL


BMC = {"redfish_address": "https://192.0.2.20", "redfish_username": "admin", "redfish_password": "hunter2"}
IPMI = {"ipmi_address": "192.0.2.30", "ipmi_password": "hunter2"}
ELSEWHERE = "https://192.0.2.66"
IMAGE = {"image_source": "https://images.example.com/a", "image_server_password": "old"}
SENDS = "would send"
NOT_FOR_PROJECTS = "for administrators"
GOOD_NETWORKS: Values = {"links": [], "networks": [], "services": []}

CASES: dict[str, Case] = {
    # What an operator may write: everything.
    "a name": Case(OPERATOR, {"name": "node-7"}, {"name": "node-7"}),
    "a reserved name": Case(OPERATOR, {"name": "detail"}, "reserved word"),
    "a description": Case(OPERATOR, {"description": "rack 4"}, {"description": "rack 4"}),
    "a resource class": Case(OPERATOR, {"resource_class": "gold"}, {"resource_class": "gold"}),
    "an owner": Case(OPERATOR, {"owner": "p1"}, {"owner": "p1"}),
    "a lessee": Case(OPERATOR, {"lessee": "p2"}, {"lessee": "p2"}),
    "extra": Case(OPERATOR, {"extra/a": {"b": 1}}, {"extra": {"a": {"b": 1}}}),
    "properties": Case(OPERATOR, {"properties/cpus": 4}, {"properties": {"cpus": 4}}),
    "properties in words": Case(OPERATOR, {"properties/cpus": "4"}, {"properties": {"cpus": "4"}}),
    "a size that is none": Case(OPERATOR, {"properties/cpus": "many"}, "cpus in properties must be a whole number"),
    "a negative size": Case(OPERATOR, {"properties/memory_mb": -1}, "memory_mb in properties must be a whole number"),
    "a fraction of a disk": Case(OPERATOR, {"properties/local_gb": 1.5}, "local_gb in properties must be a whole"),
    "several odd sizes": Case(OPERATOR, {"properties": {"cpus": "a", "memory_mb": "b"}}, "cpus, memory_mb in"),
    "network data": Case(OPERATOR, {"network_data": GOOD_NETWORKS}, {"network_data": GOOD_NETWORKS}),
    "malformed network data": Case(OPERATOR, {"network_data": {"links": []}}, "network_data must be {} or have"),
    "an unknown part of network data": Case(OPERATOR, {"network_data": {"x": []}}, "network_data must be {} or have"),
    # Marks and their reasons.
    "retired": Case(OPERATOR, {"retired": True}, {"retired": True}),
    "retired with a reason": Case(
        OPERATOR, {"retired": True, "retired_reason": "old"}, {"retired": True, "retired_reason": "old"}
    ),
    "a reason without retirement": Case(OPERATOR, {"retired_reason": "old"}, "retired_reason needs retired to be true"),
    "not retired any more": Case(
        OPERATOR, {"retired": False}, {"retired_reason": None}, {"retired": True, "retired_reason": "old"}, OLD
    ),
    "protected before its time": Case(OPERATOR, {"protected": True}, "only active and rescued nodes can be", {}, OLD),
    "a reason without protection": Case(
        OPERATOR, {"protected_reason": "mine"}, "protected_reason needs protected to be true", {}, OLD
    ),
    "not protected any more": Case(
        OPERATOR, {"protected": False}, {"protected_reason": None}, {"protected": True, "protected_reason": "x"}, OLD
    ),
    "maintenance": Case(OPERATOR, {"maintenance": True}, {"maintenance": True}),
    "out of maintenance": Case(
        OPERATOR,
        {"maintenance": False},
        {"maintenance_reason": None, "fault": None},
        {"maintenance": True, "maintenance_reason": "broken", "fault": "power failure"},
        OLD,
    ),
    # The instance.
    "the name of an instance": Case(OPERATOR, {"instance_info/display_name": "web"}, {"instance_name": "web"}),
    "a name that stays": Case(
        OPERATOR, {"instance_info/display_name": "web"}, {"instance_name": "db"}, {"instance_name": "db"}, OLD
    ),
    "another instance": Case(
        OPERATOR, {"instance_uuid": CHASSIS}, "has the instance", {"instance_uuid": INSTANCE, "name": "n"}, OLD
    ),
    "an interface of the instance": Case(
        OPERATOR, {"instance_info/deploy_interface": "fake"}, {"instance_info": {"deploy_interface": "fake"}}
    ),
    "an interface of the instance that is none": Case(OPERATOR, {"instance_info/deploy_interface": "x"}, "interface"),
    "an interface of the instance without a name": Case(
        OPERATOR, {"instance_info/deploy_interface": 5}, "deploy_interface in instance_info must be the name of an"
    ),
    # Driver, interfaces, group.
    "an interface": Case(OPERATOR, {"storage_interface": "fake"}, {"storage_interface": "fake"}),
    "an interface that is none": Case(OPERATOR, {"boot_interface": "nonexistent"}, "nonexistent"),
    "a group that none serves": Case(OPERATOR, {"conductor_group": "moon"}, "in conductor group 'moon'"),
    "a driver that none serves": Case(OPERATOR, {"driver": "nothing"}, "No live conductor serves driver nothing"),
    "another driver": Case(
        OPERATOR,
        {"driver": "manual-management"},
        {"driver": "manual-management", "power_interface": "agent"},
        {},
        (RULE,),
    ),
    "another driver with an interface that it lacks": Case(
        OPERATOR, {"driver": "manual-management", "power_interface": "fake"}, "fake", {}, ALL
    ),
    "a driver while the console is open": Case(
        OPERATOR, {"driver": "manual-management"}, "stop its console first", {"console_enabled": True}, OLD
    ),
    # References.
    "a chassis": Case(OPERATOR, {"chassis_uuid": CHASSIS}, {"chassis_uuid": CHASSIS}),
    "a chassis that is none": Case(OPERATOR, {"chassis_uuid": INSTANCE}, INSTANCE),
    "a parent by its name": Case(OPERATOR, {"parent_node": "enclosure"}, {}),
    "a parent that is none": Case(OPERATOR, {"parent_node": "nothing-here"}, "parent_node names no node"),
    "a parent of another owner": Case(
        OPERATOR, {"parent_node": "enclosure", "owner": "p9"}, "parent_node belongs to another owner"
    ),
    # Where the BMC is, and who has chosen that.
    "an address": Case(OPERATOR, {"driver_info/redfish_address": ELSEWHERE}, {BY_PROJECT.name: None}),
    "an address by a name": Case(
        OPERATOR, {"driver_info/redfish_address": "https://bmc.example"}, {BY_PROJECT.name: False}
    ),
    "an address taken over": Case(
        OPERATOR,
        {"driver_info/redfish_address": "https://evil.example"},
        {BY_PROJECT.name: False},
        {"driver_info": {"redfish_address": "https://x.example"}, "noted": ["redfish_address"]},
        OLD,
    ),
    "a BMC with another address": Case(
        OPERATOR, {"driver_info/redfish_address": ELSEWHERE}, {}, {"driver_info": BMC}, OLD
    ),
    "a scope": Case(OPERATOR, {"properties/inspection_scope": "rack"}, {"properties": {"inspection_scope": "rack"}}),
    "a share": Case(OPERATOR, {"driver_info/vmedia_transport_protocol": "CIFS"}, {}),
    "an order for the agent": Case(OPERATOR, {"driver_info/kernel_append_params": "ipa-debug=1"}, {}),
    "a file of trust": Case(OPERATOR, {"driver_info/redfish_verify_ca": "/etc/ssl/one.pem"}, {}),
    "a port of the hosts": Case(OPERATOR, {"driver_info/ipmi_terminal_port": 10001}, {}),
    # The same by a project, or by the report of a machine.
    "a project's address": Case(PROJECT, {"driver_info/redfish_address": ELSEWHERE}, {}),
    "a project's loopback": Case(
        PROJECT, {"driver_info/redfish_address": "https://localhost"}, {BY_PROJECT.name: ["redfish_address"]}
    ),
    "a project's name of a BMC": Case(
        PROJECT, {"driver_info/redfish_address": "https://bmc.example"}, {BY_PROJECT.name: ["redfish_address"]}
    ),
    "a project sends a password": Case(
        PROJECT, {"driver_info/redfish_address": ELSEWHERE}, SENDS, {"driver_info": BMC}, OLD
    ),
    "a project selects another machine": Case(
        PROJECT, {"driver_info/redfish_system_id": "/redfish/v1/Systems/2"}, SENDS, {"driver_info": BMC}, OLD
    ),
    "a project trusts anything": Case(
        PROJECT, {"driver_info/redfish_verify_ca": False}, SENDS, {"driver_info": BMC}, OLD
    ),
    "a project uses a port": Case(PROJECT, {"driver_info/ipmi_port": 6230}, SENDS, {"driver_info": IPMI}, OLD),
    "a project uses a bridge": Case(
        PROJECT, {"driver_info/ipmi_bridging": "single"}, SENDS, {"driver_info": IPMI}, OLD
    ),
    "a project downgrades the protocol": Case(
        PROJECT, {"driver_info/ipmi_protocol_version": "1.5"}, SENDS, {"driver_info": IPMI}, OLD
    ),
    "a project's console": Case(PROJECT, {"driver_info/ipmi_terminal_x": "a"}, {}, {"driver_info": IPMI}, OLD),
    "a project's user": Case(PROJECT, {"driver_info/redfish_username": "root"}, {}, {"driver_info": BMC}, OLD),
    "a project's kernel": Case(
        PROJECT, {"driver_info/deploy_kernel": "https://192.0.2.9/k"}, {}, {"driver_info": BMC}, OLD
    ),
    "a project's image": Case(PROJECT, {"instance_info/image_source": ELSEWHERE}, SENDS, {"instance_info": IMAGE}, OLD),
    "a project's proxy": Case(
        PROJECT, {"driver_info/image_http_proxy": ELSEWHERE}, SENDS, {"instance_info": IMAGE}, OLD
    ),
    "a project's share": Case(PROJECT, {"driver_info/vmedia_transport_protocol": "CIFS"}, "its login for the share"),
    "a project's BMC with a share": Case(
        PROJECT,
        {"driver_info/redfish_address": ELSEWHERE},
        "its login for the share",
        {"driver_info": {"redfish_address": "https://192.0.2.20", "vmedia_transport_protocol": "CIFS"}},
        OLD,
    ),
    "a project's order for the agent": Case(
        PROJECT, {"driver_info/kernel_append_params": "ipa-debug=1"}, NOT_FOR_PROJECTS
    ),
    "a project's order in its image": Case(
        PROJECT, {"instance_info/ramdisk_kernel_arguments": "ipa-debug=1"}, NOT_FOR_PROJECTS
    ),
    "a project's kernel parameters": Case(PROJECT, {"driver_info/kernel_append_params": "console=ttyS0"}, {}),
    "a project's file of trust": Case(
        PROJECT, {"driver_info/redfish_verify_ca": "/etc/ssl/one.pem"}, "must be true or false"
    ),
    "a project's port of the hosts": Case(
        PROJECT, {"driver_info/ipmi_terminal_port": "10001"}, "a port on the hosts of the service"
    ),
    "a project's scope": Case(
        PROJECT, {"properties/inspection_scope": "rack"}, "selects inspection rules", {}, (POST, PATCH)
    ),
    "a project's extra": Case(PROJECT, {"extra/a": "b"}, {"extra": {"a": "b"}}),
    "a project's size": Case(PROJECT, {"properties/cpus": "many"}, "cpus in properties must be a whole number"),
    "a project's reserved name": Case(PROJECT, {"name": "detail"}, "reserved word"),
}


@pytest.fixture
def service(tmp_path: Path, identity: str, conf: Callable[..., None]) -> Iterator[Service]:
    conf(inspection_rules__supported_interfaces=".*")
    running = keystone.service(tmp_path, identity, conf)
    running.store.chassis.create({"uuid": CHASSIS})
    running.store.nodes.create({**common(running.store), "name": "enclosure", "owner": "owners"})
    yield running
    running.close()


def common(store: Store) -> dict[str, Any]:
    """Return what the nodes of the service share."""
    known = store.nodes.get(keystone.OWNED)
    interfaces = {name: value for name, value in known.as_dict().items() if name.endswith("_interface")}
    return interfaces | {"driver": known.driver, "provision_state": states.MANAGEABLE}


def stored(service: Service, case: Case) -> NodeRecord:
    """Create the node of a case."""
    columns = {**common(service.store), "owner": "owners", **case.node}
    if (noted := columns.pop("noted", None)) is not None:
        columns["driver_internal_info"] = {BY_PROJECT.name: noted}
    return service.store.nodes.create(columns)


def by_post(service: Service, case: Case) -> tuple[str | None, str]:
    document: dict[str, Any] = {"driver": "fake-hardware", "owner": "owners"}
    for path, value in case.values.items():
        name, _, key = path.partition("/")
        document[name] = {**document.get(name, {}), key: value} if key else value
    answer = ask(service, case.author, "POST", "/v1/nodes", document)
    return (None, answer.json["uuid"]) if answer.status == 201 else (answer.body.decode(), "")


def by_patch(service: Service, case: Case) -> tuple[str | None, str]:
    uuid = stored(service, case).uuid
    changes = [{"op": "add", "path": f"/{path}", "value": value} for path, value in case.values.items()]
    answer = ask(service, case.author, "PATCH", f"/v1/nodes/{uuid}", changes)
    return (None if answer.status == 200 else answer.body.decode()), uuid


class Given(RuleBook):
    """One rule that is not stored."""

    def __init__(self, rule: AnyRule) -> None:
        super().__init__()
        self._rule = rule

    def rules(self, *_: object) -> list[AnyRule]:
        return [self._rule]


def by_rule(service: Service, case: Case) -> tuple[str | None, str]:
    record = stored(service, case)
    service.store.nodes.update(record.id, {"provision_state": states.INSPECTING})
    found = {str(number): value for number, value in enumerate(case.values.values())}
    reported = case.author == PROJECT
    actions = [
        {"op": "set-attribute", "args": [f"/{path}", f"{{inventory[{number}]}}" if reported else value]}
        for number, (path, value) in enumerate(case.values.items())
    ]
    staged = StagedTask(work_on(service.store, service.store.nodes.get(record.uuid)))
    try:
        Inspection(Given(check_rule({"actions": actions})), staged).run(PHASES["main"], found, {})
        staged.commit()
    except IronicError as error:
        return str(error), record.uuid
    return None, record.uuid


WAYS = {POST: by_post, PATCH: by_patch, RULE: by_rule}
RUNS = [(title, way) for title, case in CASES.items() for way in case.by]


@pytest.mark.parametrize(("title", "way"), RUNS, ids=[f"{title}, {way}" for title, way in RUNS])
def test_a_change_has_the_same_end_by_every_way(service: Service, title: str, way: str) -> None:
    case = CASES[title]
    refusal, uuid = WAYS[way](service, case)
    if isinstance(case.end, str):
        assert refusal is not None
        assert case.end in refusal
        return
    assert refusal is None
    columns = service.store.nodes.get(uuid).as_dict()
    columns[BY_PROJECT.name] = columns["driver_internal_info"].get(BY_PROJECT.name)
    (columns["chassis_uuid"],) = service.store.nodes.row(("chassis_uuid",), uuid)
    assert {name: columns[name] for name in case.end} == case.end
    for path, value in case.values.items():
        name, _, key = path.partition("/")
        if name != "parent_node":
            assert (columns[name][key] if key else columns[name]) == value


def test_the_table_has_many_cases() -> None:
    assert len(CASES) >= 60
