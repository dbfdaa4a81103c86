"""Vendor methods and the clock of a Redfish BMC."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, UnsupportedDriverExtension
from ironic.core.errors.hardware_errors import RedfishError, SubscriptionNotFound
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.vendor import RedfishVendorPassthru
from ironic.tests.functional.drivers.hostile_bmc import Handler, HostileBmc, hostile_bmc
from ironic.tests.unit.drivers.machine import Work, work_on

EVENTS = "/redfish/v1/EventService"
SUBSCRIPTIONS = f"{EVENTS}/Subscriptions"
MANAGER = "/redfish/v1/Managers/1"
EJECT = f"{MANAGER}/VirtualMedia/CD/Actions/Eject"
DESTINATION = "https://events.example.com/redfish"


@pytest.fixture
def sent() -> list[tuple[str, str, Any]]:
    return []


@pytest.fixture
def bmc(sent: list[tuple[str, str, Any]]) -> Iterator[HostileBmc]:
    with hostile_bmc(Links={"ManagedBy": [{"@odata.id": MANAGER}]}) as running:
        running.documents["/redfish/v1"]["EventService"] = {"@odata.id": EVENTS}
        running.documents |= {
            EVENTS: {
                "Id": "EventService",
                "Name": "Events",
                "EventTypesForSubscription": ["Alert", "StatusChange"],
                "Subscriptions": {"@odata.id": SUBSCRIPTIONS},
                "Actions": {"#EventService.SubmitTestEvent": {"target": f"{EVENTS}/Actions/Test"}},
            },
            SUBSCRIPTIONS: {"Name": "Subscriptions", "Members": [{"@odata.id": f"{SUBSCRIPTIONS}/7"}]},
            f"{SUBSCRIPTIONS}/7": {"Id": "7", "Destination": DESTINATION, "Secret": "x"},
            MANAGER: {
                "Id": "1",
                "DateTime": "2020-01-01T00:00:00Z",
                "VirtualMedia": {"@odata.id": f"{MANAGER}/VirtualMedia"},
            },
            f"{MANAGER}/VirtualMedia": {
                "Name": "Media",
                "Members": [{"@odata.id": f"{MANAGER}/VirtualMedia/{name}"} for name in ("CD", "Floppy")],
            },
            f"{MANAGER}/VirtualMedia/CD": {
                "Id": "CD",
                "Name": "CD",
                "MediaTypes": ["DVD", "CD"],
                "Inserted": True,
                "Actions": {"#VirtualMedia.EjectMedia": {"target": EJECT}},
            },
            f"{MANAGER}/VirtualMedia/Floppy": {
                "Id": "Floppy",
                "Name": "F",
                "MediaTypes": ["Floppy"],
                "Inserted": False,
            },
        }

        def misbehave(handler: Handler) -> bool:
            if handler.command == "GET":
                return False
            body = json.loads(handler.content) if handler.content else None
            sent.append((handler.command, handler.path, body))
            if handler.path == SUBSCRIPTIONS:
                handler.answer(201, None, {"Location": f"{SUBSCRIPTIONS}/7"})
                return True
            if handler.path == MANAGER:
                running.documents[MANAGER].update(body)
            return False

        running.misbehave = misbehave
        yield running


def on(bmc: HostileBmc) -> Work:
    return work_on(driver_info=bmc.driver_info())


def test_a_subscription_is_created_and_shown_without_its_secrets(bmc: HostileBmc, sent: list[Any]) -> None:
    vendor = RedfishVendorPassthru()
    found = vendor.create_subscription(on(bmc), http_method="POST", Destination=DESTINATION)
    assert found == {"Id": "7", "Context": None, "Protocol": None, "Destination": DESTINATION, "EventTypes": None}
    body = {"Destination": DESTINATION, "EventTypes": ["Alert"], "Context": "", "Protocol": "Redfish"}
    assert sent == [("POST", SUBSCRIPTIONS, body)]


@pytest.mark.parametrize("content", [b"created", b"[1]", b""])
def test_a_subscription_that_the_bmc_does_not_show_is_created_all_the_same(bmc: HostileBmc, content: bytes) -> None:
    def misbehave(handler: Handler) -> bool:
        is_meant = handler.path.startswith(SUBSCRIPTIONS)
        if is_meant and handler.command == "POST":
            handler.send(201, content, {"Location": f"{SUBSCRIPTIONS}/8"})
        elif is_meant:
            handler.answer(404 if handler.path.endswith("/8") else 200, {"Members": []})
        return is_meant

    bmc.misbehave = misbehave
    found = RedfishVendorPassthru().create_subscription(on(bmc), http_method="POST", Destination=DESTINATION)
    assert found["Id"] == "8"


def test_subscriptions_are_read_and_deleted(bmc: HostileBmc, sent: list[Any]) -> None:
    vendor, task = RedfishVendorPassthru(), on(bmc)
    assert vendor.get_all_subscriptions(task) == bmc.documents[SUBSCRIPTIONS]
    assert vendor.get_subscription(task, id="7")["Id"] == "7"
    vendor.delete_subscription(task, id="7")
    assert sent == [("DELETE", f"{SUBSCRIPTIONS}/7", None)]


@pytest.mark.parametrize("method", ["get_subscription", "delete_subscription"])
def test_a_subscription_that_the_bmc_lacks_is_not_found(bmc: HostileBmc, method: str) -> None:
    usual = bmc.misbehave

    def misbehave(handler: Handler) -> bool:
        if handler.command == "DELETE":
            handler.answer(404, {})
        return handler.command == "DELETE" or usual(handler)

    bmc.misbehave = misbehave
    with pytest.raises(SubscriptionNotFound, match="no subscription 8") as error:
        getattr(RedfishVendorPassthru(), method)(on(bmc), id="8")
    assert error.value.status == 404


@pytest.mark.parametrize(
    "method, arguments",
    [
        ("create_subscription", {}),
        ("create_subscription", {"Destination": "nowhere"}),
        ("create_subscription", {"Destination": DESTINATION, "EventTypes": "Alert"}),
        ("create_subscription", {"Destination": DESTINATION, "HttpHeaders": "a"}),
        ("create_subscription", {"Destination": DESTINATION, "Context": 5}),
        ("create_subscription", {"Destination": DESTINATION, "more": 5}),
        ("get_subscription", {}),
        ("get_subscription", {"id": "../../Systems/1"}),
        ("delete_subscription", {"id": 5}),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_sent(
    bmc: HostileBmc, method: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(InvalidParameterValue):
        RedfishVendorPassthru().validate(on(bmc), method=method, http_method="POST", **arguments)
    assert bmc.requests == []


def test_events_that_the_bmc_does_not_have_are_refused(bmc: HostileBmc) -> None:
    with pytest.raises(InvalidParameterValue, match="no events Other; it has Alert, StatusChange"):
        RedfishVendorPassthru().create_subscription(on(bmc), Destination=DESTINATION, EventTypes=["Other"])


@pytest.mark.parametrize("kind, ejected", [(None, 1), ("cdrom", 1), ("floppy", 0)])
def test_media_are_ejected_by_type(bmc: HostileBmc, sent: list[Any], kind: str | None, ejected: int) -> None:
    RedfishVendorPassthru().eject_vmedia(on(bmc), **({"boot_device": kind} if kind else {}))
    assert [path for _, path, _ in sent] == [EJECT] * ejected


def test_an_ejection_that_is_refused_is_an_error_in_the_words_of_the_bmc(bmc: HostileBmc) -> None:
    def misbehave(handler: Handler) -> bool:
        if handler.path == EJECT:
            handler.answer(409, {"error": {"@Message.ExtendedInfo": [{"Message": "The drive is locked."}]}})
        return handler.path == EJECT

    bmc.misbehave = misbehave
    with pytest.raises(RedfishError, match="The drive is locked"):
        RedfishVendorPassthru().eject_vmedia(on(bmc))


def test_a_type_of_media_that_does_not_exist_is_refused(bmc: HostileBmc) -> None:
    with pytest.raises(InvalidParameterValue, match="cdrom, floppy, disk"):
        RedfishVendorPassthru().eject_vmedia(on(bmc), boot_device="tape")


# The clock


def test_the_clock_is_set_to_the_time_of_the_conductor(bmc: HostileBmc) -> None:
    task = on(bmc)
    RedfishManagement().set_bmc_clock(task)
    shown = datetime.fromisoformat(bmc.documents[MANAGER]["DateTime"])
    assert shown == task.node.now().replace(tzinfo=UTC)
    assert shown.microsecond == 0, "the BMC shows none"


def test_a_given_time_and_offset_are_set(bmc: HostileBmc, sent: list[Any]) -> None:
    RedfishManagement().set_bmc_clock(on(bmc), "2030-05-06T07:08:09Z", "+02:00")
    assert sent == [("PATCH", MANAGER, {"DateTime": "2030-05-06T07:08:09Z", "DateTimeLocalOffset": "+02:00"})]


def test_a_clock_that_does_not_change_is_an_error(bmc: HostileBmc) -> None:
    bmc.misbehave = lambda _handler: False
    with pytest.raises(RedfishError, match="shows 2020"):
        RedfishManagement().set_bmc_clock(on(bmc))


@pytest.mark.parametrize("given", ["now", 5])
def test_a_wrong_time_is_refused(bmc: HostileBmc, given: Any) -> None:
    with pytest.raises(InvalidParameterValue, match="ISO 8601"):
        RedfishManagement().set_bmc_clock(on(bmc), given)


def test_a_bmc_without_a_clock_says_so(bmc: HostileBmc) -> None:
    del bmc.documents[MANAGER]["DateTime"]
    with pytest.raises(UnsupportedDriverExtension):
        RedfishManagement().set_bmc_clock(on(bmc))


def test_a_verified_node_gets_the_right_time_if_that_is_wanted(
    bmc: HostileBmc, sent: list[Any], conf: Callable[..., None]
) -> None:
    RedfishManagement().verify_bmc_clock(on(bmc))
    assert bmc.requests == []
    conf(redfish__enable_verify_bmc_clock=True)
    RedfishManagement().verify_bmc_clock(on(bmc))
    assert sent[0][2]["DateTimeLocalOffset"] == "+00:00"
    sent.clear()
    bmc.documents[MANAGER]["DateTime"] = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    RedfishManagement().verify_bmc_clock(on(bmc))
    assert len(sent) == 1
