"""Drivers, conductors and parts of a node in all 115 versions, held against a list that is not the field tables."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Service

VIEWS: dict[str, dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "part_history.yml").read_text())
UUID = "11111111-0000-4000-8000-000000000001"
NEWEST = 115


@dataclass
class Known:
    """A service with one of each part, and how paths name them."""

    service: Service
    entry: str

    def call(self, path: str, minor: int) -> services.Response:
        return self.service.call("GET", path.format(U=UUID, E=self.entry), version=f"1.{minor}")


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Known]:
    running = services.start(tmp_path_factory.mktemp("parts"))
    running.call("POST", "/v1/nodes", body={"driver": "fake-hardware", "uuid": UUID})
    node = running.store.nodes.get(UUID).id
    running.store.bios_settings.sync(node, [{"name": "virt", "value": "on"}])
    running.store.firmware.sync(node, [{"component": "bmc", "initial_version": "1", "current_version": "1"}])
    running.store.history.add(node, event="x", event_type="cleaning", severity="INFO", conductor="wire-conductor")
    entry = running.call("GET", f"/v1/nodes/{UUID}/history").json["history"][0]["uuid"]
    yield Known(running, entry)
    running.close()


def fields_of(name: str, minor: int) -> set[str]:
    view = VIEWS[name]
    whole = VIEWS[view.get("like", name)]["fields"]
    shown = {field for since, fields in whole.items() for field in fields if since <= minor}
    return shown & set(view["plain"]) if "plain" in view else shown


@pytest.mark.parametrize("name", VIEWS)
def test_each_version_shows_its_fields_and_no_other(known: Known, name: str) -> None:
    view = VIEWS[name]
    since = view.get("since", 1)
    for minor in range(1, NEWEST + 1):
        answer = known.call(view["path"], minor)
        if minor < since:
            below = view.get("below", 404) if minor >= view.get("from", 1) else 404
            assert answer.status == below, (minor, answer.body)
            continue
        found = answer.json
        for step in view.get("at", ()):
            found = found[step]
        assert found.keys() == fields_of(name, minor), minor


def _chosen(known: Known, path: str, field: str, minor: int) -> Any:
    answer = known.call(f"{path}?fields={field}", minor)
    return answer.json if answer.status == 200 else answer.status


@pytest.mark.parametrize("field", sorted(fields_of("driver", NEWEST)))
def test_a_field_of_a_driver_can_be_chosen_once_there_is_choice(known: Known, field: str) -> None:
    for minor in (76, 77, 85, 86, NEWEST):
        found = _chosen(known, "/v1/drivers/fake-hardware", field, minor)
        expected = {field, "links"} if minor >= 77 and field in fields_of("driver", minor) else 406
        assert (found.keys() if isinstance(found, dict) else found) == expected, minor


@pytest.mark.parametrize("field", sorted(fields_of("BIOS setting", NEWEST)))
def test_a_field_of_bios_settings_can_be_chosen_since_1_74(known: Known, field: str) -> None:
    path = f"/v1/nodes/{UUID}/bios"
    assert _chosen(known, path, field, 73) == 400
    found = _chosen(known, path, field, 74)
    if field == "upper_bound":
        assert found == 400
    else:
        assert found["bios"][0].keys() == {field, "created_at", "updated_at", "links"}


@pytest.mark.parametrize("field", sorted(fields_of("firmware", NEWEST)))
def test_a_field_of_firmware_can_be_chosen_from_its_version_on(known: Known, field: str) -> None:
    for minor in (86, 113, 114, NEWEST):
        found = _chosen(known, f"/v1/nodes/{UUID}/firmware", field, minor)
        if field in fields_of("firmware", minor):
            assert found["firmware"][0].keys() == {field, "created_at", "updated_at"}, minor
        else:
            assert found == 400, minor


@pytest.mark.parametrize("field", sorted(fields_of("history entry", NEWEST) - {"links"}))
def test_a_history_can_be_sorted_by_a_field_from_its_version_on(known: Known, field: str) -> None:
    for minor in (78, 112, 113, 114, NEWEST):
        expected = 200 if field in fields_of("history entry", minor) else 406
        assert known.call(f"/v1/nodes/{UUID}/history?sort_key={field}", minor).status == expected, minor
