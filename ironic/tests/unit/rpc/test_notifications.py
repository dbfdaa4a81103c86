"""What notifications look like and when they are sent."""

import importlib
import pkgutil
from datetime import datetime

import pytest

from ironic.core import model
from ironic.core.context import RequestContext
from ironic.core.model.fields import RESOURCES
from ironic.rpc import notifications
from ironic.rpc.notifications import END, ERROR, NOTIFIER, START, payloads, subjects
from ironic.rpc.notifications.payloads import Payload
from ironic.tests.databases import counting_statements, sqlite_store
from ironic.tests.listening import listening

CONTEXT = RequestContext(request_id="req-1", user_id="u1")

# Names and versions that listeners rely on, and how many fields each has.
KNOWN = [
    ("NodePayload", "1.17", 45),
    ("NodeCRUDPayload", "1.15", 48),
    ("NodeSetPowerStatePayload", "1.17", 46),
    ("NodeCorrectedPowerStatePayload", "1.17", 46),
    ("NodeSetProvisionStatePayload", "1.18", 50),
    ("PortCRUDPayload", "1.8", 14),
    ("PortgroupCRUDPayload", "1.3", 11),
    ("ChassisCRUDPayload", "1.0", 3),
    ("VolumeConnectorCRUDPayload", "1.0", 5),
    ("VolumeTargetCRUDPayload", "1.0", 7),
    ("AllocationCRUDPayload", "1.1", 10),
    ("DeployTemplateCRUDPayload", "1.0", 4),
    ("RunbookCRUDPayload", "1.1", 9),
    ("InspectionRuleCRUDPayload", "1.0", 8),
]


@pytest.fixture
def store(tmp_path):
    store = sqlite_store(tmp_path)
    yield store
    store.close()


@pytest.fixture
def node(store):
    chassis = store.chassis.create({"description": "rack"})
    record = store.nodes.create(
        {
            "driver": "fake-hardware",
            "chassis_id": chassis.id,
            "driver_info": {"redfish_address": "http://bmc", "redfish_password": "canary"},
            "instance_info": {"configdrive": "canary", "image_url": "http://canary", "image_source": "file:///i"},
            "driver_internal_info": {"agent_secret_token": "canary", "agent_url": "http://agent"},
            "extra": {"deep": [{"api_key": "canary"}]},
            "clean_step": {"args": {"community": "canary", "settings": [{"name": "AdminPassword", "value": "canary"}]}},
            "last_error": "no answer from https://user:canary@bmc/",
            "provision_updated_at": datetime(2025, 1, 2, 3, 4, 5, 678),
        }
    )
    store.traits.add(record.id, "CUSTOM_A")
    return record


# A resource is known once its module is imported.
for _module in pkgutil.iter_modules(model.__path__):
    importlib.import_module(f"{model.__name__}.{_module.name}")
PAYLOADS = {
    payload.name: payload
    for payload in (
        *(value for value in vars(payloads).values() if isinstance(value, Payload)),
        *(payloads.crud_of(resource) for resource in RESOURCES.values() if resource.payload_version),
    )
}


@pytest.mark.parametrize("name, version, count", KNOWN)
def test_a_payload_has_the_version_and_fields_that_listeners_know(name, version, count):
    fields = PAYLOADS[name].fields
    assert (PAYLOADS[name].version, len(fields), len(set(fields))) == (version, count, count)


def test_all_payloads_are_known():
    assert PAYLOADS.keys() == {row[0] for row in KNOWN}


def test_a_payload_says_what_it_is_and_times_are_text(store, node):
    built = notifications.NODE.of(subjects.node(store, node))
    assert built["ironic_object.name"] == "NodePayload"
    assert built["ironic_object.namespace"] == "ironic"
    assert built["ironic_object.version"] == "1.17"
    data = built["ironic_object.data"]
    assert data["provision_updated_at"] == "2025-01-02T03:04:05Z"
    assert data["traits"] == ["CUSTOM_A"]
    assert data["power_interface"] is None
    assert data["deploy_step"] == {}


def test_no_secret_is_told(store, node):
    values = subjects.NODE.read(store, node.uuid)
    more = {"event": "deploy", "previous_provision_state": None, "previous_target_provision_state": None}
    for payload in (notifications.NODE_CRUD, notifications.NODE_SET_PROVISION):
        assert "canary" not in str(payload.of(values | more))
    told = notifications.NODE_CRUD.of(values)["ironic_object.data"]
    assert told["driver_info"] == {"redfish_address": "http://bmc", "redfish_password": "******"}
    assert told["instance_info"]["image_source"] == "file:///i"
    assert told["chassis_uuid"] == store.chassis.find()[0].uuid


def test_everything_there_is_to_tell_about_can_be_read(store, node):
    group = store.portgroups.create({"node_id": node.id})
    port = store.ports.create({"node_id": node.id, "address": "52:54:00:00:00:01", "portgroup_id": group.id})
    steps = [{"interface": "bios", "step": "apply", "args": {"password": "canary"}, "priority": 5, "order": 1}]
    rule = {"actions": [{"op": "fail", "args": {"msg": "canary"}}], "conditions": [], "sensitive": True}
    made = {
        "node": node,
        "port": port,
        "portgroup": group,
        "chassis": store.chassis.find()[0],
        "volumeconnector": store.volume_connectors.create({"node_id": node.id, "type": "ip", "connector_id": "c"}),
        "volumetarget": store.volume_targets.create(
            {"node_id": node.id, "volume_type": "iscsi", "boot_index": 0, "volume_id": "v"}
        ),
        "allocation": store.allocations.create({"state": "active", "resource_class": "r", "node_id": node.id}),
        "deploytemplate": store.deploy_templates.create_with({"name": "CUSTOM_T"}, steps),
        "runbook": store.runbooks.create_with({"name": "CUSTOM_R"}, steps),
        "inspectionrule": store.rules.create(rule),
    }
    known = {subject.kind: subject for word in RESOURCES if (subject := subjects.of(word)) is not None}
    assert made.keys() == known.keys()
    told = {
        kind: subject.payload.of(subject.read(store, made[kind].uuid))["ironic_object.data"]
        for kind, subject in known.items()
    }
    assert all(told[kind]["uuid"] == record.uuid for kind, record in made.items())
    assert (told["port"]["node_uuid"], told["port"]["portgroup_uuid"]) == (node.uuid, group.uuid)
    assert told["allocation"]["node_uuid"] == told["volumetarget"]["node_uuid"] == node.uuid
    assert told["runbook"]["steps"][0]["interface"] == "bios"
    assert "canary" not in str(told)


def test_what_is_told_says_who_tells_and_on_whose_behalf(store, node):
    with listening() as listener:
        values = subjects.node(store, node)
        NOTIFIER.emit("ironic-api", CONTEXT, "node.update", START, notifications.NODE_CRUD, values)
    (heard,) = listener.heard
    assert (heard.publisher, heard.level, heard.event_type) == ("ironic-api.h1", "info", "baremetal.node.update.start")
    assert heard.context["request_id"] == "req-1"


def test_only_what_is_important_enough_is_told(store, node):
    with listening(least="error") as listener:
        for status in (START, ERROR, END):
            NOTIFIER.emit("s", CONTEXT, "node.update", status, notifications.NODE, subjects.node(store, node))
    assert listener.events == ["node.update.error"]


def test_when_nobody_listens_nothing_is_told():
    assert NOTIFIER.on is False
    NOTIFIER.emit("s", CONTEXT, "node.update", END, notifications.NODE, {})


def test_reading_a_node_costs_two_statements_more(store, node):
    with counting_statements(store) as seen:
        subjects.node(store, node)
    assert seen.selects == 2
