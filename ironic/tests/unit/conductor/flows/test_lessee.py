"""The project of an instance is the lessee of its node, from the deployment to the removal."""

import pytest

from ironic.core.errors import InvalidParameterValue, IronicError
from ironic.core.flows import states

OF_INSTANCE = {"instance_info": {"project_id": "tenant"}}


def node(bench, **values) -> str:
    return bench.node("deploy", provision_state=states.AVAILABLE, automated_clean=False, **(OF_INSTANCE | values))


@pytest.mark.parametrize(
    "source, lessee", [(None, "tenant"), ("instance", "tenant"), ("request", "lab"), ("none", None)]
)
def test_the_project_is_the_lessee_while_the_instance_exists(bench, conf, source, lessee):
    if source:
        conf(conductor__automatic_lessee_source=source)
    uuid = node(bench)
    bench.verb(uuid, "active")
    assert bench.row(uuid).lessee == lessee
    bench.verb(uuid, "rebuild")
    assert bench.row(uuid).lessee == lessee
    bench.verb(uuid, "deleted")
    row = bench.row(uuid)
    assert (row.lessee, row.driver_internal_info) == (None, {})


def test_a_lessee_that_an_administrator_has_set_stays(bench):
    uuid = node(bench, lessee="other")
    bench.verb(uuid, "active")
    bench.verb(uuid, "deleted")
    assert bench.row(uuid).lessee == "other"


def test_a_failed_deployment_keeps_the_lessee_so_that_the_user_can_remove_it(bench):
    bench.script.answers["prepare"] = IronicError("no")
    uuid = node(bench)
    assert bench.verb(uuid, "active")[0] == states.DEPLOYFAIL
    assert bench.row(uuid).lessee == "tenant"


def test_it_can_be_switched_off(bench, conf):
    conf(conductor__automatic_lessee=False)
    uuid = node(bench)
    bench.verb(uuid, "active")
    assert bench.row(uuid).lessee is None


@pytest.mark.parametrize("project", [7, "x" * 256, {"a": 1}])
def test_what_is_no_project_is_refused(bench, project):
    uuid = node(bench, instance_info={"project_id": project})
    with pytest.raises(InvalidParameterValue, match="project_id"):
        bench.verb(uuid, "active")
