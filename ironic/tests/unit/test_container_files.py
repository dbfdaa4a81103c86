"""The recipes of images and the Compose file fit the programs: their names, options, ports and places."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from ironic.conf import CONF, checked_values
from ironic.tests.conftest import Setter
from ironic.tests.repository import ROOT

CONTAINER = ROOT / "etc" / "container"
RECIPES = [CONTAINER / "Containerfile", CONTAINER / "screen" / "Containerfile"]
COMPOSE = yaml.safe_load((CONTAINER / "compose.yaml").read_text())
OWN = {name: one for name, one in COMPOSE["services"].items() if name not in ("database", "broker")}
PROGRAMS = {
    "schema": "ironic-dbsync",
    "api": "ironic-api",
    "conductor-1": "ironic-conductor",
    "conductor-2": "ironic-conductor",
}
ADDRESS = "192.0.2.7"


def settings(name: str) -> dict[str, str]:
    """Return the options that a service of the Compose file gets, with the values of an operator filled in."""
    text = json.dumps(COMPOSE["services"][name]["environment"])
    values = {"ADDRESS": ADDRESS, "DATABASE_PASSWORD": "d", "BROKER_PASSWORD": "b"}
    return json.loads(re.sub(r"\$\{(\w+):\?\}", lambda found: values[found[1]], text))


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.parent.name)
def test_an_image_runs_as_the_user_of_other_images_and_says_whether_it_serves(recipe: Path) -> None:
    text = recipe.read_text()
    assert text.splitlines()[1].startswith("ARG BASE=")
    assert set(re.findall(r"^FROM (\S+)", text, re.MULTILINE)) == {"${BASE}"}
    assert re.findall(r"^USER (\S+)", text, re.MULTILINE) == ["997:994"]
    assert "--uid 997 --gid 994" in text and "\nHEALTHCHECK " in text
    copied = re.findall(r"^COPY (?!--from)(\S+) ", text, re.MULTILINE)
    assert copied and [path for path in copied if path != "dist/*.whl" and not (ROOT / path).is_file()] == []


def test_an_image_has_the_extras_whose_wheels_are_made() -> None:
    (made,) = re.findall(r"^extras=(\S+)", (ROOT / "tools" / "packaging" / "wheels.sh").read_text(), re.MULTILINE)
    for path in (RECIPES[0], ROOT / "tools" / "packaging" / "deb.sh"):
        assert f"[{made}]" in path.read_text()


def test_the_image_keeps_what_it_writes_in_its_volume() -> None:
    text = RECIPES[0].read_text()
    (volume,) = re.findall(r"^VOLUME (\S+)", text, re.MULTILINE)
    places = dict(re.findall(r"(OS_\w+)=(/\S+)", text))
    assert len(places) == 4
    assert [place for place in places.values() if not f"{place}/".startswith(f"{volume}/")] == []
    assert [name for name in places if option(name) is None] == []
    assert f"EXPOSE {CONF.api.port} {CONF.deploy.http_server_port}" in text


def option(variable: str) -> Any:
    """Return the registered option that a variable of the environment sets, or None."""
    for group in ("DEFAULT", *CONF._groups):
        options = CONF._opts if group == "DEFAULT" else CONF._groups[group]._opts
        for name, found in options.items():
            if checked_values.variable(group, name) == variable:
                return found
    return None


def test_the_site_has_an_api_two_conductors_and_their_servers() -> None:
    assert {name: one["command"][0] for name, one in OWN.items()} == PROGRAMS
    for name, one in OWN.items():
        assert one["read_only"] is True and one["user"] == "997:994" and one["cap_drop"] == ["ALL"], name
        assert one["depends_on"].keys() <= COMPOSE["services"].keys()
        assert {volume.partition(":")[2] for volume in one["volumes"]} == {"/var/lib/ironic"}
        assert {volume.partition(":")[0] for volume in one["volumes"]} <= COMPOSE["volumes"].keys()
    # Who reaches these two has every machine.
    for name in ("database", "broker"):
        assert COMPOSE["services"][name]["networks"] == ["inner"] and "ports" not in COMPOSE["services"][name]
    assert COMPOSE["networks"]["inner"] == {"internal": True}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_option_of_the_site_is_one_and_takes_its_value(name: str, conf: Setter) -> None:
    for variable, value in settings(name).items():
        # That of the bus belongs to oslo.messaging, which registers it when the bus is used.
        if variable == "OS_DEFAULT__TRANSPORT_URL":
            assert value == "rabbit://ironic:b@broker:5672/"
            continue
        found = option(variable)
        assert found is not None, variable
        assert found["opt"].type(value) is not None


def test_the_site_enables_nothing_that_needs_servers_which_it_does_not_have() -> None:
    given = settings("conductor-1")
    assert given["OS_DEFAULT__ENABLED_BOOT_INTERFACES"] == "redfish-virtual-media"
    # The machines of ipmi boot from the network only.
    assert given["OS_DEFAULT__ENABLED_HARDWARE_TYPES"] == "redfish"


def test_each_conductor_is_another_one_and_is_reached_where_it_says() -> None:
    first, second = (settings(f"conductor-{number}") for number in (1, 2))
    assert first["OS_DEFAULT__HOST"] != second["OS_DEFAULT__HOST"]
    for number, given in ((1, first), (2, second)):
        # That of a container is reached from its host only.
        assert given["OS_DEFAULT__MY_IP"] == ADDRESS
        (port,) = COMPOSE["services"][f"conductor-{number}"]["ports"]
        host = port.replace("${ADDRESS:?}", ADDRESS).rsplit(":", 1)
        assert given["OS_DEPLOY__HTTP_SERVER_URL"] == f"http://{host[0]}"
        assert int(host[1]) == CONF.deploy.http_server_port
        assert given["OS_DEPLOY__HTTP_SERVER_IP"] == "0.0.0.0"
        check = COMPOSE["services"][f"conductor-{number}"]["healthcheck"]["test"]
        assert check == ["CMD", "ironic-health", "conductor", f"http://127.0.0.1:{CONF.deploy.http_server_port}/"]
    api = settings("api")
    assert api["OS_SERVICE_CATALOG__ENDPOINT_OVERRIDE"] == f"http://{ADDRESS}:{CONF.api.port}"
    assert COMPOSE["services"]["api"]["ports"] == [f"${{ADDRESS:?}}:{CONF.api.port}:{CONF.api.port}"]


def test_a_screen_opens_the_page_of_the_bmc_that_the_console_names() -> None:
    show = load(CONTAINER / "screen" / "show.py")
    trusting = show.application("redfish-graphical", {"address": "https://192.0.2.9", "verify_ca": False})
    checking = show.application("redfish-graphical", {"address": "https://192.0.2.9", "verify_ca": True})
    assert trusting[-1] == checking[-1] == "https://192.0.2.9"
    assert {*trusting} - {*checking} == {"--ignore-certificate-errors"}
    assert "rack1-07" in show.application("fake", {"node_uuid": "rack1-07"})
    for name, info in (("other", {}), ("redfish-graphical", {}), ("redfish-graphical", {"address": "--flag"})):
        with pytest.raises(ValueError):
            show.application(name, info)
    assert [one for one in show.server(read_only=True) if one.endswith("=1")] == []
    assert len([one for one in show.server(read_only=False) if one.endswith("=1")]) == 3


def test_the_browser_of_a_screen_is_kept_to_pages() -> None:
    (place,) = re.findall(r"^COPY etc/container/screen/policy.json (\S+)$", RECIPES[1].read_text(), re.MULTILINE)
    assert place.startswith("/etc/chromium/policies/managed/")
    policy = json.loads((CONTAINER / "screen" / "policy.json").read_text())
    assert {"file://*", "chrome://*", "view-source:*"} <= {*policy["URLBlocklist"]}
    assert policy["DownloadRestrictions"] == 3 and policy["DeveloperToolsAvailability"] == 2
    assert policy["ExtensionInstallBlocklist"] == ["*"] and policy["AllowFileSelectionDialogs"] is False


def test_a_screen_begins_anew_without_the_login_of_the_bmc(monkeypatch: pytest.MonkeyPatch) -> None:
    show = load(CONTAINER / "screen" / "show.py")
    seen: list[dict[str, str]] = []

    def begin_anew(_program: str, _words: list[str], environment: dict[str, str]) -> None:
        seen.append(environment)
        raise SystemExit

    info = {"address": "https://192.0.2.9", "username": "admin", "password": "canary"}
    monkeypatch.setattr(show.os, "execve", begin_anew)
    monkeypatch.setattr(show.sys, "argv", ["show"])
    monkeypatch.setenv("APP", "redfish-graphical")
    monkeypatch.setenv("APP_INFO", json.dumps(info))
    with pytest.raises(SystemExit):
        show.main()
    assert json.loads(seen[0]["APP_INFO"]) == {"address": "https://192.0.2.9"}
    assert "canary" not in str(seen)
