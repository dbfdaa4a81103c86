"""The client of the standalone inspector logs in to a real Keystone, whose catalog says where the inspector is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from keystoneauth1 import loading

from ironic.conf import CONF
from ironic.integrations.standalone_inspector import Inspector, InspectorFailed
from ironic.tests.conftest import Setter
from ironic.tests.functional.inspection.scripted_inspector import ScriptedInspector, scripted_inspector
from ironic.tests.repository import tool

UUID = "11111111-0000-4000-8000-000000000001"


@pytest.fixture
def inspector() -> Iterator[ScriptedInspector]:
    with scripted_inspector() as running:
        yield running


@pytest.fixture
def login_options() -> Iterator[None]:
    """Know the options of a login by password for one test: one is required, which would stop all later starts."""
    options = loading.get_auth_plugin_conf_options("password")
    CONF.register_opts(options, "inspector")
    yield
    # An earlier test may have parsed a command line, after which options stay as they are.
    CONF.reset()
    CONF.unregister_opts(options, "inspector")


@pytest.fixture
def keystone(login_options: None, tmp_path: Path, inspector: ScriptedInspector, conf: Setter) -> Iterator[Any]:
    directory = tmp_path / "keystone"
    directory.mkdir()
    with tool("keystone_server").serving(directory, baremetal="http://127.0.0.1:9") as running:
        running.administrator().offer("baremetal-introspection", "inspector", f"{inspector.url}/")
        trust = running.trust()
        names = ("auth_url", "auth_type", "username", "password", "user_domain_name", "project_name")
        conf(**{f"inspector__{name}": trust[name] for name in (*names, "project_domain_name")})
        yield running


@pytest.mark.demand("S111")
def test_it_finds_the_inspector_and_logs_in_again_when_a_token_is_refused(
    keystone: Any, inspector: ScriptedInspector
) -> None:
    client = Inspector()
    client.start(UUID, manages_boot=False)
    assert inspector.states == {UUID: "waiting"}
    (started,) = inspector.asked
    headers = {"X-Auth-Token": started.authorization, "X-Subject-Token": started.authorization}
    known = requests.get(f"{keystone.url}/auth/tokens", headers=headers, timeout=30).json()
    assert known["token"]["user"]["name"] == "ironic"
    inspector.instead[UUID] = (401, b"")
    with pytest.raises(InspectorFailed, match="status 401"):
        client.state(UUID)
    tokens = [one.authorization for one in inspector.asked]
    assert len(tokens) == 3 and tokens[0] == tokens[1] != tokens[2]
    keystone.stop()
    with pytest.raises(InspectorFailed, match="keystone") as failed:
        Inspector().state(UUID)
    assert failed.value.is_silent
