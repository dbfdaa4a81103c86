"""Every resource of the API treated badly: a new one joins by its line in `SAMPLES`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.api.openapi import operations
from ironic.api.resources import ROUTES
from ironic.api.version_negotiation import MAXIMUM
from ironic.core.model.allocation import Allocation
from ironic.core.model.conductor import Conductor, Driver
from ironic.core.model.fields import Resource
from ironic.core.model.inspection_rule import InspectionRule
from ironic.core.model.node import BiosSetting, Chassis, FirmwareComponent, HistoryEntry, Node, NodeStates
from ironic.core.model.port import Port, Portgroup
from ironic.core.model.step_lists import DeployTemplate, Runbook
from ironic.core.model.volumes import VolumeConnector, VolumeTarget
from ironic.tests.functional.wire import service as services
from ironic.tests.suites.api import ResourceSuite, Sample, Target, WritableSuite

NODE = "11111111-0000-4000-8000-000000000001"
ENTRY = "33333333-0000-4000-8000-000000000001"
STEP = {"interface": "deploy", "step": "x", "args": {}}
ACTION = {"op": "set-attribute", "args": {"path": "/extra/a", "value": 1}}

SAMPLES = (
    Sample(Node, lambda n: {"driver": "fake-hardware", "name": f"n{n}", "power_interface": "fake"}),
    Sample(Chassis, lambda n: {"description": f"rack {n}"}),
    Sample(Port, lambda n: {"node_uuid": NODE, "address": f"52:54:00:00:00:{n:02x}", "name": f"eth{n}"}),
    Sample(Portgroup, lambda n: {"node_uuid": NODE, "name": f"bond{n}"}),
    Sample(
        VolumeConnector,
        lambda n: {"node_uuid": NODE, "type": "iqn", "connector_id": f"iqn.{n}"},
        path="volume/connectors",
    ),
    Sample(
        VolumeTarget,
        lambda n: {"node_uuid": NODE, "volume_type": "iscsi", "boot_index": n, "volume_id": f"v{n}"},
        path="volume/targets",
    ),
    Sample(Allocation, lambda n: {"resource_class": "gold", "name": f"a{n}"}),
    Sample(DeployTemplate, lambda n: {"name": f"CUSTOM_T{n}", "steps": [STEP | {"priority": n}]}),
    Sample(Runbook, lambda n: {"name": f"CUSTOM_R{n}", "steps": [STEP | {"order": n}]}),
    Sample(InspectionRule, lambda n: {"description": f"rule {n}", "actions": [ACTION]}, stored="rules"),
    Sample(Conductor, item="/v1/conductors/wire-conductor"),
    Sample(HistoryEntry, path=f"nodes/{NODE}/history", item=f"/v1/nodes/{NODE}/history/{ENTRY}"),
    Sample(Driver, item="/v1/drivers/fake-hardware", paged=False),
    Sample(BiosSetting, path=f"nodes/{NODE}/bios", item=f"/v1/nodes/{NODE}/bios/virt", paged=False, chooses=False),
    Sample(
        FirmwareComponent,
        path=f"nodes/{NODE}/firmware",
        item=f"/v1/nodes/{NODE}/firmware/bmc",
        paged=False,
        one=405,
        chooses=False,
    ),
)
# One document and no list: what is asked of it is asked of all routes elsewhere.
NO_LISTS = {NodeStates}


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Target]:
    running = services.start(tmp_path)
    common = {f"{kind}_interface": names[0] for kind, names in services.SERVED["fake-hardware"].items()}
    node = running.store.nodes.create(
        common | {"uuid": NODE, "driver": "fake-hardware", "provision_state": "enroll", "power_state": "power off"}
    )
    running.store.history.create({"uuid": ENTRY, "node_id": node.id, "event": "something"})
    running.store.bios_settings.sync(node.id, [{"name": "virt", "value": "on"}])
    running.store.firmware.sync(node.id, [{"component": "bmc", "initial_version": "1"}])
    watched = Target(running)
    yield watched
    watched.close()
    running.close()


@pytest.fixture(params=SAMPLES, ids=str)
def sample(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def item(target: Target, sample: Sample) -> str:
    if sample.body is None:
        return sample.item
    answer = target.send("POST", sample.collection, json.dumps(sample.body(1)).encode())
    assert answer.status == 201, answer.body
    return f"{sample.collection}/{answer.json['uuid']}"


@pytest.fixture(autouse=True)
def something_is_there(item: str) -> None:
    """Give lists something to show."""


class TestResources(ResourceSuite):
    pass


class TestWritableResources(WritableSuite):
    @pytest.fixture(params=[sample for sample in SAMPLES if sample.body], ids=str)
    def sample(self, request: pytest.FixtureRequest) -> Any:
        return request.param

    @pytest.fixture
    def maker(self, sample: Sample) -> bytes:
        assert sample.body is not None
        return json.dumps(sample.body(2)).encode()


def test_every_resource_has_joined() -> None:
    joined = {sample.resource for sample in SAMPLES} | NO_LISTS
    shown = {one for one in Resource.__subclasses__() if not one.__module__.startswith("ironic.tests")}
    assert shown == joined


def test_every_list_of_the_api_is_treated_badly() -> None:
    treated = {sample.resource.__name__ for sample in SAMPLES}
    for route in ROUTES:
        if operations.is_shown(route, MAXIMUM) and (told := operations.content_of(route, MAXIMUM)) is not None:
            name = (told.answer or {}).get("$ref", "").rpartition("/")[2]
            assert not name.endswith("List") or name.removesuffix("List") in treated, route.path


def test_every_thing_that_can_be_made_is_made_badly() -> None:
    written = {sample.resource.__name__ for sample in SAMPLES if sample.body is not None}
    for route in ROUTES:
        if operations.is_shown(route, MAXIMUM) and (told := operations.content_of(route, MAXIMUM)) is not None:
            name = (told.body or {}).get("$ref", "").rpartition("/")[2]
            assert not name or name.removesuffix("Create").removesuffix("Patch") in written, route.path
