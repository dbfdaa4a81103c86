"""The Python library and the SDK, as scripts use them."""

from typing import Any

import ironic_inspector_client
import ironic_inspector_client.v1
import openstack as sdk
import pytest

from ironic.tests.scenario.clients.sdk import QUIET
from ironic.tests.scenario.old_clients.inspected_site import MAC, REPORT, Site

pytestmark = QUIET


def test_introspect_with_wait(site: Site, client: Any) -> None:
    uuid = site.machine()
    client.introspect("one")
    site.wait_for("one", "inspect wait")
    assert client.get_status("one")["state"] == "waiting"
    with pytest.raises(ironic_inspector_client.v1.WaitTimeoutError):
        client.wait_for_finish(["one"], max_retries=0)
    site.post()
    # The time between two looks is the test's; what is waited for is the service's.
    found = client.wait_for_finish([uuid], retry_interval=0.1, max_retries=600)
    assert found[uuid]["error"] is None
    assert [one["uuid"] for one in client.list_statuses(limit=5)] == [uuid]
    data = client.get_data("one")
    assert data["inventory"] == REPORT["inventory"]
    assert client.get_data("one", processed=False) == REPORT
    assert client.get_interface_data("one", "eth0", ["mac"]) == {"mac": MAC}
    assert len(client.get_all_interface_data("one", ["mac", "interface"])) == 2
    client.reprocess("one")
    assert client.wait_for_finish(["one"], retry_interval=0.1, max_retries=600)["one"]["error"] is None


@pytest.mark.parametrize("version", ["1.0", "1.13", (1, 18), 1])
def test_every_version_is_supported(site: Site, version: Any) -> None:
    versioned = ironic_inspector_client.ClientV1(inspector_url=site.old_url, api_version=version)
    assert versioned.list_statuses() == []
    assert versioned.server_api_versions() == ((1, 0), (1, 18))


def test_the_caller_may_boot_the_machine(site: Site, client: Any) -> None:
    site.machine()
    client.introspect("one", manage_boot=False)
    site.wait_for("one", "inspect wait")
    client.abort("one")
    site.wait_for("one", "inspect failed")
    assert client.get_status("one")["finished"]


def test_an_error_is_one_of_the_library(site: Site, client: Any) -> None:
    with pytest.raises(ironic_inspector_client.ClientError, match="no node") as caught:
        client.get_status("missing")
    assert caught.value.response.status_code == 404
    with pytest.raises(ironic_inspector_client.VersionNotSupported):
        ironic_inspector_client.ClientV1(inspector_url=site.old_url, api_version="1.19")


def test_the_sdk_knows_the_same_service(site: Site) -> None:
    uuid = site.machine()
    with sdk.connect(auth_type="none", endpoint=site.old_url, load_envvars=False, load_yaml_config=False) as cloud:
        old: Any = cloud.baremetal_introspection
        old.start_introspection(uuid, manage_boot=True)
        site.wait_for("one", "inspect wait")
        site.post()
        found = old.wait_for_introspection(uuid, timeout=60)
        assert (found.is_finished, found.state, found.error) == (True, "finished", None)
        assert old.get_introspection_data(uuid)["inventory"] == REPORT["inventory"]
        assert old.get_introspection_data(uuid, processed=False) == REPORT
        assert [one.id for one in old.introspections()] == [uuid]
        old.start_introspection(uuid)
        site.wait_for("one", "inspect wait")
        old.abort_introspection(uuid)
        site.wait_for("one", "inspect failed")
