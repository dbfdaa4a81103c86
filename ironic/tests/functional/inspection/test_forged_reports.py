"""A stranger who can reach the callbacks and knows much about a machine: what the reports it makes up can't do.

Each report is one of a forger; the node, its ports and the token of its agent stay what they are, and the machine's own
report is taken afterwards.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.api.settings import ApiSettings
from ironic.core.errors import NoFreeConductorWorker
from ironic.core.flows import states
from ironic.tests.conftest import Setter
from ironic.tests.functional.inspection.whole import URL, Preparing, Whole, whole
from ironic.tests.functional.wire.service import Response, environ_of
from ironic.tests.unit.inspection.lab import MAC, OTHER_MAC, inventory

FORGER, MACHINE = "192.0.2.66", "192.0.2.7"
FORGED_MAC = "52:54:00:00:00:66"
BMC = "192.0.2.200"


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Whole]:
    with whole(tmp_path) as made:
        yield made


def report(*macs: str, **more: Any) -> dict[str, Any]:
    return {"inventory": inventory(*macs, booted=macs[0]) | more}


REPORT = report(MAC)


def look_up(running: Whole, source: str, **headers: str) -> Response:
    sent = environ_of("GET", f"/v1/lookup?addresses={MAC}", b"")
    return running.api.send(sent | {"REMOTE_ADDR": source, "HTTP_X_OPENSTACK_IRONIC_API_VERSION": "1.115"} | headers)


def token_of(running: Whole, uuid: str) -> Any:
    return running.bench.row(uuid).driver_internal_info.get("agent_secret_token")


def macs_of(running: Whole, uuid: str) -> set[str]:
    return {port.address for port in running.store.ports.find(node_id=running.store.nodes.get(uuid).id)}


def query_of_ramdisk() -> str:
    return str(Preparing.parameters["ipa-inspection-callback-url"]).removeprefix(f"{URL}/v1/continue_inspection")


FORGED = {
    "with the machine's address": report(MAC),
    "with one more": report(MAC, FORGED_MAC),
    "with an error": {**report(MAC), "error": "the disk is gone"},
    "by the BMC alone": report(FORGED_MAC, bmc_address=BMC),
}


@pytest.mark.parametrize("name", FORGED)
@pytest.mark.parametrize("version", [None, "1.84"])
def test_a_machine_that_the_service_booted_is_safe(running: Whole, name: str, version: str | None) -> None:
    uuid = running.node(MAC, state=states.MANAGEABLE, driver_info={"redfish_address": f"https://{BMC}"})
    running.bench.verb(uuid, "inspect")
    stranger = running.post(report("52:54:00:00:00:99"), source=FORGER, version=version)
    for query in ("", "?boot_token=", "?boot_token=guess", f"?node_uuid={uuid}", f"?node_uuid={uuid}&boot_token=x"):
        if version is None and "node_uuid" in query:
            continue
        answer = running.post(FORGED[name], query=query, source=FORGER, version=version)
        assert (answer.status, answer.body) == (404, stranger.body)
    assert (running.state(uuid), macs_of(running, uuid), token_of(running, uuid)) == (states.INSPECTWAIT, {MAC}, None)
    kept = running.store.rejected_callbacks.newest(1)[0]
    assert (kept.source, "boot token" in kept.reason) == (FORGER, True)
    assert running.post(report(MAC, OTHER_MAC), query=query_of_ramdisk(), source=MACHINE, version=None).status == 200
    assert (running.state(uuid), macs_of(running, uuid)) == (states.MANAGEABLE, {MAC, OTHER_MAC})


def test_a_token_that_was_given_out_is_wanted_whatever_the_option_says_now(running: Whole, conf: Setter) -> None:
    uuid = running.node(MAC, state=states.MANAGEABLE)
    running.bench.verb(uuid, "inspect")
    conf(inspector__boot_token=False)
    assert running.post(REPORT, source=FORGER).status == 404


# Ramdisks that the service does not boot


def test_a_token_is_never_given_out_a_second_time(running: Whole) -> None:
    running.node(MAC)
    token = look_up(running, MACHINE).json["config"]["agent_token"]
    assert len(token) > 40
    answer = running.post(REPORT, source=MACHINE)
    assert (answer.status, answer.json["config"]["agent_token"]) == (200, "******")
    assert token not in answer.body.decode()


def test_a_token_that_nobody_was_told_is_taken_back(running: Whole, monkeypatch: pytest.MonkeyPatch) -> None:
    uuid = running.node(MAC)

    def full(*args: Any, **more: Any) -> None:
        raise NoFreeConductorWorker(host="c")

    with monkeypatch.context() as patched:
        patched.setattr(type(running.bench.endpoint), "continue_inspection", full)
        assert running.post(REPORT, source=MACHINE).status == 503
    assert token_of(running, uuid) is None
    assert "agent_looked_up_from" not in running.bench.row(uuid).driver_internal_info
    assert len(running.post(REPORT, source=MACHINE).json["config"]["agent_token"]) > 40


@pytest.mark.parametrize("version", [None, "1.84"])
def test_a_report_from_elsewhere_than_the_look_up_is_refused_and_kept(running: Whole, version: str | None) -> None:
    uuid = running.node(MAC)
    token = look_up(running, MACHINE).json["config"]["agent_token"]
    stranger = running.post(report("52:54:00:00:00:99"), source=FORGER, version=version)
    answer = running.post(REPORT, source=FORGER, version=version)
    assert (answer.status, answer.body) == (404, stranger.body)
    assert (running.state(uuid), token_of(running, uuid)) == (states.INSPECTWAIT, token)
    kept = running.store.rejected_callbacks.newest(1)[0]
    assert f"comes from {FORGER}, and the agent token of node {uuid} was given to {MACHINE}" in kept.reason
    assert running.post(REPORT, source=f"::ffff:{MACHINE}", version=version).status == 200


def test_reports_without_a_login_fill_no_store(running: Whole) -> None:
    kept = ApiSettings().rejected_callbacks_kept
    uuid = running.node(MAC)
    for number in range(kept + 5):
        # Of one address fewer are kept.
        sent = report(f"52:54:00:00:01:{number % 256:02x}")
        assert running.post(sent, source=f"198.51.100.{number % 50}").status == 404
    assert len(running.store.rejected_callbacks.newest(2 * kept)) == kept
    # A node has one report, whatever comes.
    assert running.post(REPORT, source=MACHINE).status == 200
    running.bench.verb(uuid, "inspect")
    assert running.post(report(MAC, OTHER_MAC), source=MACHINE, query=query_of_ramdisk()).status == 200
    for table in ("node_inventory", "rejected_callbacks"):
        with running.store.writing() as connection:
            rows = connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar()
        assert rows == (1 if table == "node_inventory" else kept)


@pytest.mark.parametrize(
    ("looked_up", "headers"),
    [("2001:db8::7", {}), ("192.0.2.250", {"HTTP_X_FORWARDED_FOR": MACHINE}), ("192.0.2.250", {"HTTP_VIA": "1.1 p"})],
)
def test_what_can_not_be_compared_refuses_nothing(running: Whole, looked_up: str, headers: dict[str, str]) -> None:
    uuid = running.node(MAC)
    assert look_up(running, looked_up, **headers).status == 200
    assert running.post(REPORT, source=MACHINE).status == 200
    assert running.state(uuid) == states.MANAGEABLE


def test_a_booted_machine_may_have_several_addresses(running: Whole) -> None:
    uuid = running.node(MAC, state=states.MANAGEABLE)
    running.bench.verb(uuid, "inspect")
    assert look_up(running, MACHINE).status == 200
    assert running.post(REPORT, query=query_of_ramdisk(), source="192.0.2.8", version=None).status == 200
    assert running.state(uuid) == states.MANAGEABLE


def with_bmc(running: Whole, *macs: str) -> str:
    uuid = running.node(*macs)
    running.store.nodes.set_bmc_addresses(running.store.nodes.get(uuid).id, [BMC])
    return uuid


def test_a_bmc_address_alone_leads_to_nodes_without_ports_only(running: Whole) -> None:
    uuid = with_bmc(running, MAC)
    assert running.post(report(FORGED_MAC, bmc_address=BMC), source=FORGER).status == 404
    assert (running.state(uuid), macs_of(running, uuid)) == (states.INSPECTWAIT, {MAC})
    assert "only a BMC address leads to" in running.store.rejected_callbacks.newest(1)[0].reason
    assert running.post(report(MAC, bmc_address=BMC), source=MACHINE).status == 200


def test_a_node_without_ports_gets_them_by_its_bmc_address(running: Whole) -> None:
    uuid = with_bmc(running)
    assert running.post(report(MAC, OTHER_MAC, bmc_address=BMC), source=MACHINE).status == 200
    assert macs_of(running, uuid) == {MAC, OTHER_MAC}


@pytest.mark.parametrize("keep", ["all", "present", "added"])
def test_who_knows_a_uuid_changes_no_ports(tmp_path: Path, keep: str) -> None:
    with whole(tmp_path, inspector__keep_ports=keep) as running:
        uuid = running.node(MAC)
        assert running.post(report(FORGED_MAC), query=f"?node_uuid={uuid}", source=FORGER).status == 200
        (port,) = running.store.ports.find(node_id=running.store.nodes.get(uuid).id)
        assert (port.address, port.pxe_enabled) == (MAC, True)


def test_with_a_known_address_the_others_become_ports(running: Whole) -> None:
    uuid = running.node(MAC)
    assert running.post(report(MAC, OTHER_MAC), source=MACHINE).status == 200
    assert macs_of(running, uuid) == {MAC, OTHER_MAC}
