"""What `baremetal node validate` finds out at a BMC, and what it costs."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ironic.core.flows import states
from ironic.drivers.contract.interfaces.base_interface import BaseInterface
from ironic.drivers.modules.redfish.bios import RedfishBIOS
from ironic.drivers.modules.redfish.bmc_survey import SURVEY
from ironic.drivers.modules.redfish.firmware import RedfishFirmware
from ironic.drivers.modules.redfish.inspect import RedfishInspect
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.raid import RedfishRAID
from ironic.drivers.modules.redfish.virtual_media_boot import RedfishVirtualMediaBoot
from ironic.tests.functional.drivers.hostile_bmc import SESSIONS, SYSTEM, Handler, HostileBmc, hostile_bmc
from ironic.tests.redfish_bmc import RedfishBmc
from ironic.tests.unit.drivers.machine import UUID, Work, work_on

BOUND = 60.0
PASSWORD = "canary-of-the-bmc"
INTERFACES: dict[str, BaseInterface] = {
    "bios": RedfishBIOS(),
    "boot": RedfishVirtualMediaBoot(),
    "firmware": RedfishFirmware(),
    "inspect": RedfishInspect(),
    "management": RedfishManagement(),
    "power": RedfishPower(),
    "raid": RedfishRAID(),
}
DRIVES = f"{SYSTEM}/VirtualMedia"
UPDATES = "/redfish/v1/UpdateService"


def faults(task: Work) -> dict[str, str]:
    return {kind: finding.text for kind, finding in SURVEY.findings(task, INTERFACES).items()}


def the_only(task: Work) -> str:
    """Return the fault that all interfaces have."""
    found = faults(task)
    assert found.keys() == INTERFACES.keys()
    (text,) = set(found.values())
    assert UUID in text
    assert PASSWORD not in text
    return text


@pytest.fixture
def plain() -> Iterator[HostileBmc]:
    """Run a BMC that wants a password and can do nothing but switch its machine."""
    with hostile_bmc(PASSWORD) as bmc:
        yield bmc


def on(bmc: HostileBmc, **changes: Any) -> Work:
    return work_on(driver_info=bmc.driver_info(**changes))


def test_the_emulated_machine_has_what_the_interfaces_need(task: Work) -> None:
    # Fake machines have no BIOS settings.
    assert faults(task).keys() == {"bios"}


def test_a_right_login_and_certificate_are_no_fault(guarded_bmc: RedfishBmc) -> None:
    assert faults(work_on(driver_info=guarded_bmc.driver_info())).keys() == {"bios"}


@pytest.mark.parametrize("auth_type", ["auto", "basic", "session"])
def test_it_names_a_wrong_password(plain: HostileBmc, auth_type: str) -> None:
    text = the_only(on(plain, redfish_password="wrong", redfish_auth_type=auth_type))
    assert "refuses the login" in text


def test_it_does_not_lock_the_account(plain: HostileBmc) -> None:
    task = on(plain, redfish_password="wrong", redfish_auth_type="session")
    for _ in range(5):
        the_only(task)
    assert len(plain.logins) == 3
    assert "3 times" in the_only(task)


def test_it_names_an_untrusted_certificate(guarded_bmc: RedfishBmc) -> None:
    assert "certificate" in the_only(work_on(driver_info=guarded_bmc.driver_info(redfish_verify_ca=True)))


def test_it_names_an_address_where_nobody_answers(plain: HostileBmc) -> None:
    assert "can't be reached" in the_only(on(plain, redfish_address="http://127.0.0.1:1"))


def test_it_names_a_system_that_is_not_there(plain: HostileBmc) -> None:
    assert "/redfish/v1/Systems/2" in the_only(on(plain, redfish_system_id="/redfish/v1/Systems/2"))


def test_it_asks_which_of_several_systems(bmc: RedfishBmc) -> None:
    assert "set redfish_system_id" in the_only(work_on(driver_info=bmc.driver_info(redfish_system_id=None)))


def test_it_names_an_address_that_is_no_bmc(plain: HostileBmc) -> None:
    def talk_html(handler: Handler) -> bool:
        handler.send(200, b"<html>")
        return True

    plain.misbehave = talk_html
    assert "can't be read" in the_only(on(plain))


def test_it_says_what_each_interface_misses(plain: HostileBmc) -> None:
    found = faults(on(plain))
    assert {kind for kind in INTERFACES if kind not in found} == {"power"}
    for kind, word in {
        "bios": "no-bios",
        "boot": "virtual drive for CD",
        "firmware": "UpdateService",
        "inspect": "EthernetInterfaces",
        "management": "Boot",
        "raid": "Storage",
    }.items():
        assert word in found[kind], kind


def test_what_only_steps_need_is_no_fault(plain: HostileBmc) -> None:
    found = SURVEY.findings(on(plain), INTERFACES)
    assert {kind for kind in found if not found[kind].is_fault} == {"bios", "firmware", "raid"}
    refused = SURVEY.findings(on(plain, redfish_password="wrong"), INTERFACES)
    assert all(finding.is_fault for finding in refused.values())


def test_a_missing_part_is_found_below_the_system(plain: HostileBmc) -> None:
    plain.documents["/redfish/v1"]["UpdateService"] = {"@odata.id": UPDATES}
    plain.documents[UPDATES] = {"Id": "u", "Name": "u", "Actions": {}}
    plain.documents[SYSTEM] |= {"Actions": {}, "VirtualMedia": {"@odata.id": DRIVES}}
    plain.documents[DRIVES] = {"Name": "drives", "Members": [{"@odata.id": f"{DRIVES}/1"}]}
    plain.documents[f"{DRIVES}/1"] = {"Id": "1", "Name": "1", "MediaTypes": ["Floppy"], "Inserted": False}
    found = faults(on(plain))
    assert "ComputerSystem.Reset" in found["power"]
    assert "SimpleUpdate" in found["firmware"]
    assert "only for Floppy" in found["boot"]


@pytest.mark.parametrize("actions", [None, [], "none", {"#ComputerSystem.Reset": 7}])
def test_nonsense_is_a_fault_of_one_interface(plain: HostileBmc, actions: object) -> None:
    plain.documents[SYSTEM] |= {"Actions": actions, "Bios": [1], "Boot": 7, "Storage": {"@odata.id": 1}}
    assert faults(on(plain)).keys() >= {"bios", "raid"}


def test_it_changes_nothing_and_reads_each_resource_once(plain: HostileBmc) -> None:
    faults(on(plain))
    reads = [path for method, path in plain.requests if method == "GET"]
    assert len(reads) == len(set(reads)) == 2  # the service root and the system
    assert [request for request in plain.requests if request[0] != "GET"] == [("POST", SESSIONS)]


def test_a_bmc_that_hangs_is_given_up_in_time(plain: HostileBmc, conf: Callable[..., Any]) -> None:
    """Requests may take a minute; a validation ends long before, also one that waits for the login of another."""
    conf(bmc__validation_timeout=1, redfish__read_timeout=BOUND, redfish__connection_attempts=9)
    go_on = threading.Event()
    plain.misbehave = lambda handler: go_on.wait(BOUND) and False
    began = time.monotonic()
    try:
        with ThreadPoolExecutor(3) as pool:
            texts = list(pool.map(the_only, [on(plain) for _ in range(3)]))
    finally:
        go_on.set()
    assert time.monotonic() - began < BOUND / 2
    assert all("in time" in text or "1 seconds" in text for text in texts), texts


def test_it_can_be_switched_off(plain: HostileBmc, conf: Callable[..., Any]) -> None:
    conf(bmc__validation_timeout=0)
    assert faults(on(plain)) == {}
    assert plain.requests == []


def test_an_order_passes_a_validation_that_waits(plain: HostileBmc, conf: Callable[..., Any]) -> None:
    conf(redfish__read_timeout=5)
    waits, go_on = threading.Event(), threading.Event()

    def misbehave(handler: Handler) -> bool:
        if handler.path == UPDATES:
            waits.set()
            go_on.wait(BOUND)
        return False

    plain.misbehave = misbehave
    plain.documents["/redfish/v1"]["UpdateService"] = {"@odata.id": UPDATES}
    with ThreadPoolExecutor(1) as pool:
        trying = pool.submit(faults, on(plain))
        assert waits.wait(BOUND)
        RedfishPower().set_power_state(on(plain), states.POWER_ON)
        assert plain.documents[SYSTEM]["PowerState"] == "On"
        go_on.set()
        trying.result(BOUND)
