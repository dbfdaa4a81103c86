"""What keeps strangers away from the endpoints that ask for no credentials: a token per boot, a limit per address."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.core.flows import states
from ironic.tests.functional.inspection.whole import URL, Preparing, Whole, whole
from ironic.tests.unit.inspection.lab import MAC, inventory

REPORT = {"inventory": inventory(MAC, booted=MAC)}


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Whole]:
    with whole(tmp_path) as running:
        yield running


def booted(running: Whole) -> tuple[str, str]:
    """Begin an inspection; return the node and the query of the URL that its ramdisk posts to."""
    uuid = running.node(MAC, state=states.MANAGEABLE)
    assert running.bench.verb(uuid, "inspect")[0] == states.INSPECTWAIT
    url = Preparing.parameters["ipa-inspection-callback-url"]
    assert url.startswith(f"{URL}/v1/continue_inspection?boot_token=")
    return uuid, url.removeprefix(f"{URL}/v1/continue_inspection")


@pytest.mark.demand("S73")
@pytest.mark.parametrize("version", [None, "1.84"])
def test_only_the_ramdisk_that_was_booted_can_report(guarded: Whole, version: str | None) -> None:
    uuid, query = booted(guarded)
    stranger = guarded.post({"inventory": inventory("52:54:00:00:00:99")}, version=version)
    for shown in ("", "?boot_token=", "?boot_token=guess", query[:-1], query + "x"):
        answer = guarded.post(REPORT, query=shown, version=version)
        assert (answer.status, answer.body) == (404, stranger.body)
    assert guarded.state(uuid) == states.INSPECTWAIT
    (kept, *_) = guarded.store.rejected_callbacks.newest(1)
    assert "does not show the boot token" in kept.reason
    assert guarded.post(REPORT, query=query, version=version).status == 200
    assert guarded.state(uuid) == states.MANAGEABLE


@pytest.mark.demand("S73")
def test_a_token_serves_one_boot(guarded: Whole) -> None:
    uuid, first = booted(guarded)
    assert guarded.bench.verb(uuid, "abort")[0] == states.INSPECTFAIL
    guarded.bench.verb(uuid, "inspect")
    assert guarded.post(REPORT, query=first).status == 404
    second = Preparing.parameters["ipa-inspection-callback-url"].partition("continue_inspection")[2]
    assert guarded.post(REPORT, query=second).status == 200
    assert "inspection_boot_token" not in guarded.bench.row(uuid).driver_internal_info


def test_nobody_is_shown_the_token(guarded: Whole, caplog: pytest.LogCaptureFixture) -> None:
    uuid, query = booted(guarded)
    token = query.partition("=")[2]
    guarded.post(REPORT, query="?boot_token=guess")
    shown = guarded.api.call("GET", f"/v1/nodes/{uuid}")
    assert token not in shown.body.decode() + caplog.text
    assert guarded.bench.row(uuid).driver_internal_info["inspection_boot_token"] == token


def test_a_ramdisk_that_somebody_else_boots_needs_none(guarded: Whole) -> None:
    uuid = guarded.node(MAC)
    assert guarded.post(REPORT).status == 200
    assert guarded.state(uuid) == states.MANAGEABLE


def test_without_the_option_no_token_is_made_or_wanted(tmp_path: Path) -> None:
    with whole(tmp_path, inspector__boot_token=False) as running:
        uuid = running.node(MAC, state=states.MANAGEABLE)
        running.bench.verb(uuid, "inspect")
        assert Preparing.parameters["ipa-inspection-callback-url"] == f"{URL}/v1/continue_inspection"
        assert running.post(REPORT, query="?boot_token=whatever", version=None).status == 200


@pytest.mark.demand("S73")
def test_an_address_that_calls_too_often_is_told_to_come_later(tmp_path: Path) -> None:
    with whole(tmp_path, api__ramdisk_calls_per_minute=3) as running:
        uuid = running.node(MAC)
        strange = {"inventory": inventory("52:54:00:00:00:99")}
        assert [running.post(strange, source="192.0.2.66").status for _ in range(5)] == [404] * 3 + [503] * 2
        assert running.state(uuid) == states.INSPECTWAIT
        assert running.post(REPORT, source="192.0.2.7").status == 200
