"""Orders at odd BMCs: redirects that keep them, ETags in all forms, and refusals in every published shape."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, PowerStateFailure
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.flows import states
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules.bmc.bmc_gateway import CallClass
from ironic.drivers.modules.bmc.login_guard import guard_of
from ironic.drivers.modules.redfish.bios import RedfishBIOS
from ironic.drivers.modules.redfish.bmc_survey import SURVEY
from ironic.drivers.modules.redfish.firmware import RedfishFirmware
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.vendor import RedfishVendorPassthru
from ironic.drivers.modules.redfish.wire.bmc_access import access_of
from ironic.drivers.modules.redfish.wire.bmc_connection import change
from ironic.drivers.modules.redfish.wire.bmc_connector import BmcConnector
from ironic.tests.conftest import Setter
from ironic.tests.functional.drivers.hostile_bmc import SESSIONS, SYSTEM, USER, Handler, HostileBmc, hostile_bmc
from ironic.tests.functional.drivers.test_odd_machines import RESET, SECRET, answer_at, on
from ironic.tests.unit.drivers.machine import Work


@pytest.fixture
def bmc() -> Iterator[HostileBmc]:
    with hostile_bmc() as running:
        yield running


@pytest.mark.difference("orders redirected")
@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("is_absolute", [True, False])
def test_an_order_follows_a_redirect_that_keeps_it(bmc: HostileBmc, status: int, is_absolute: bool) -> None:
    came: list[tuple[str, str, bytes]] = []

    def misbehave(handler: Handler) -> bool:
        if handler.command == "GET" or handler.path.endswith("/"):
            return False
        came.append((handler.command, handler.path, handler.content))
        place = f"{bmc.address if is_absolute else ''}{handler.path}/"
        handler.send(status, b"", {"Location": place})
        return True

    bmc.misbehave = misbehave
    RedfishPower().set_power_state(on(bmc), states.POWER_ON)
    RedfishManagement().set_boot_device(on(bmc), "pxe")
    assert [(method, path) for method, path, _ in came] == [("POST", RESET), ("PATCH", SYSTEM)]
    assert bmc.documents[SYSTEM]["PowerState"] == "On"
    assert bmc.documents[SYSTEM]["Boot"]["BootSourceOverrideTarget"] == "Pxe"


def test_a_session_begins_and_ends_behind_a_redirect() -> None:
    with hostile_bmc(SECRET) as bmc:

        def misbehave(handler: Handler) -> bool:
            is_session = handler.path.startswith(SESSIONS) and not handler.path.endswith("/")
            if is_session:
                handler.send(308, b"", {"Location": f"{handler.path}/"})
            return is_session

        bmc.misbehave = misbehave
        assert RedfishPower().get_power_state(on(bmc)) == states.POWER_OFF
        assert bmc.logins == [("session", True)]


@pytest.mark.difference("ETags in documents")
@pytest.mark.parametrize("status", [412, 428])
@pytest.mark.parametrize(
    "header, body, wanted",
    [
        (None, 'W/"777"', 'W/"777"'),
        (None, 'W/"777"', '"777"'),
        ('""777""', '"777"', '"777"'),
        ('"old"', '"777"', '"777"'),
        ("777", None, '"777"'),
        (None, None, "*"),
        ('"1"', '"2"', "*"),
    ],
)
def test_a_change_has_the_etag_that_the_bmc_wants(
    bmc: HostileBmc, status: int, header: str | None, body: str | None, wanted: str
) -> None:
    def misbehave(handler: Handler) -> bool:
        if handler.command == "GET" and handler.path.rstrip("/") == SYSTEM:
            etag = {"@odata.etag": body} if body else {}
            handler.answer(200, {**bmc.documents[SYSTEM], **etag}, {"ETag": header} if header else None)
            return True
        is_refused = handler.command == "PATCH" and handler.headers.get("If-Match") != wanted
        if is_refused:
            handler.answer(status, {})
        return is_refused

    bmc.misbehave = misbehave
    RedfishManagement().set_boot_device(on(bmc), "pxe")
    assert bmc.documents[SYSTEM]["Boot"]["BootSourceOverrideTarget"] == "Pxe"


# An order of each kind that changes a resource: where it goes, what the BMC has there, and how it is given
BIOS = f"{SYSTEM}/Bios/Settings"
DRIVE = "/redfish/v1/Managers/1/VirtualMedia/Cd"
URL = "http://192.0.2.5:8080/vmedia/0123456789abcdef.iso"
NOW = "2030-05-06T07:08:09Z"
CHANGES: dict[str, tuple[str, str, dict[str, Any], Callable[[Work], Any]]] = {
    "boot device": ("PATCH", SYSTEM, {}, lambda task: RedfishManagement().set_boot_device(task, "pxe")),
    "light": ("PATCH", SYSTEM, {}, lambda task: RedfishManagement().set_indicator_state(task, "system", "u", "on")),
    "secure boot": (
        "PATCH", f"{SYSTEM}/SecureBoot", {"SecureBootEnable": False},
        lambda task: RedfishManagement().set_secure_boot_state(task, True),
    ),
    "BIOS settings": (
        "PATCH", BIOS, {"Attributes": {}},
        lambda task: RedfishBIOS().apply_configuration(task, [{"name": "Turbo", "value": "On"}]),
    ),
    "clock": (
        "PATCH", "/redfish/v1/Managers/1", {"DateTime": NOW, "VirtualMedia": {"@odata.id": DRIVE.rpartition("/")[0]}},
        lambda task: RedfishManagement().set_bmc_clock(task, NOW),
    ),
    "image": (
        "PATCH", DRIVE, {"MediaTypes": ["CD"], "Inserted": False},
        lambda task: RedfishManagement().attach_virtual_media(task, "cdrom", URL),
    ),
    "ejection": (
        "PATCH", DRIVE, {"MediaTypes": ["CD"], "Inserted": True},
        lambda task: RedfishManagement().detach_virtual_media(task),
    ),
    "subscription": (
        "DELETE", "/redfish/v1/EventService/Subscriptions/7", {},
        lambda task: RedfishVendorPassthru().delete_subscription(task, id="7"),
    ),
    "replacement": (
        "PUT", f"{SYSTEM}/Own", {},
        lambda task: change(
            task, "replacing", lambda system: system.root.bmc_connector.put(f"{SYSTEM}/Own", data={"a": 1})
        ),
    ),
}  # fmt: skip


def machine_with(place: str, document: dict[str, Any]) -> dict[str, Any]:
    """Return the documents of a machine that all these orders can be given to."""

    def link(path: str) -> dict[str, str]:
        return {"@odata.id": path}

    def members(path: str) -> dict[str, Any]:
        return {"Name": "All", "Members": [link(path)]}

    manager, events = "/redfish/v1/Managers/1", "/redfish/v1/EventService"
    system = {
        "Id": "1", "UUID": "u", "IndicatorLED": "Off", "PowerState": "On", "Bios": link(f"{SYSTEM}/Bios"),
        "SecureBoot": link(f"{SYSTEM}/SecureBoot"), "Links": {"ManagedBy": [link(manager)]},
        "Actions": {"#ComputerSystem.Reset": {"target": RESET}},
    }  # fmt: skip
    found: dict[str, Any] = {
        "/redfish/v1": {"Id": "Root", "Systems": link("/redfish/v1/Systems"), "EventService": link(events)},
        "/redfish/v1/Systems": members(SYSTEM),
        SYSTEM: system,
        f"{SYSTEM}/Bios": {"Attributes": {"Turbo": "Off"}, "@Redfish.Settings": {"SettingsObject": link(BIOS)}},
        BIOS: {"Attributes": {}},
        events: {"Subscriptions": link(f"{events}/Subscriptions")},
        f"{events}/Subscriptions": members(f"{events}/Subscriptions/7"),
        manager: {"VirtualMedia": link(f"{manager}/VirtualMedia")},
        f"{manager}/VirtualMedia": members(DRIVE),
        DRIVE: {"MediaTypes": ["CD"]},
    }
    found[place] = {**found.get(place, {}), **document}
    return {path: {"@odata.id": path, **content} for path, content in found.items()}


def ordered(bmc: HostileBmc, give: Callable[[Work], Any]) -> None:
    task = on(bmc, provision_state=states.CLEANING)
    task.driver = BareDriver({"power": RedfishPower()})
    give(task)


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("status", [307, 308])
def test_each_change_follows_a_redirect_that_keeps_it(bmc: HostileBmc, conf: Setter, name: str, status: int) -> None:
    conf(redfish__boot_mode_config_timeout=0)
    method, place, document, give = CHANGES[name]
    bmc.documents = machine_with(place, document)
    came: list[tuple[str, Any]] = []

    def misbehave(handler: Handler) -> bool:
        is_meant = handler.command == method and handler.path.startswith(place)
        if is_meant:
            came.append((handler.path, handler.content))
            is_there = handler.path == f"{place}/moved"
            bmc.documents[SYSTEM]["IndicatorLED"] = "Lit"
            bmc.documents[DRIVE]["Inserted"] = name == "image"
            handler.send(204 if is_there else status, b"", {} if is_there else {"Location": f"{place}/moved"})
        return is_meant

    bmc.misbehave = with_patch_allowed(misbehave)
    ordered(bmc, give)
    assert [path for path, _ in came] == [place, f"{place}/moved"]
    assert came[0][1] == came[1][1]


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_has_the_etag_of_the_document_where_the_bmc_wants_it(
    bmc: HostileBmc, conf: Setter, name: str
) -> None:
    conf(redfish__boot_mode_config_timeout=0)
    method, place, document, give = CHANGES[name]
    bmc.documents = machine_with(place, {**document, "@odata.etag": 'W/"7"'})
    came: list[str | None] = []

    def misbehave(handler: Handler) -> bool:
        is_meant = handler.command == method and handler.path == place
        if is_meant:
            came.append(handler.headers.get("If-Match"))
            bmc.documents[SYSTEM]["IndicatorLED"] = "Lit"
            bmc.documents[DRIVE]["Inserted"] = name == "image"
            handler.send(204 if came[-1] == '"7"' else 428, b"")
        return is_meant

    bmc.misbehave = with_patch_allowed(misbehave)
    ordered(bmc, give)
    assert came[-1] == '"7"' and came.count('"7"') == 1


def with_patch_allowed(misbehave: Callable[[Handler], bool]) -> Callable[[Handler], bool]:
    """Have drives say that they can be changed by PATCH."""

    def answer(handler: Handler) -> bool:
        is_drive = handler.command == "GET" and handler.path == DRIVE
        if is_drive:
            handler.answer(200, handler.bmc.documents[DRIVE], {"Allow": "GET, PATCH"})
        return is_drive or misbehave(handler)

    return answer


@pytest.mark.difference("drives without media types")
@pytest.mark.parametrize(
    "drive, is_taken",
    [
        ({"MediaTypes": None}, True),
        ({"MediaTypes": []}, True),
        ({"MediaTypes": [None, 5]}, True),
        ({"MediaTypes": "cd"}, True),
        ({"MediaTypes": ["CDROM", "USBStick"]}, True),
        ({"MediaTypes": ["Virtual DVD"], "Id": "2"}, True),
        ({"MediaTypes": None, "Id": "2", "Name": "Virtual CD"}, True),
        ({"MediaTypes": None, "Id": "2", "Name": "Virtual Removable Media"}, False),
        ({"MediaTypes": ["USBStick"]}, False),
        ({"MediaTypes": ["Own"]}, False),
        ({"Inserted": None, "Image": None}, True),
        ({"Inserted": "no", "Image": {"a": 1}, "ConnectedVia": 5, "TransferMethod": [1]}, True),
        ({"TransferProtocolType": ["x"], "Status": "Enabled", "@odata.etag": 5}, True),
    ],
)
@pytest.mark.parametrize("owner", ["/redfish/v1/Managers/1", SYSTEM])
def test_an_image_goes_into_an_odd_drive_that_takes_it(
    bmc: HostileBmc, owner: str, drive: dict[str, Any], is_taken: bool
) -> None:
    place = f"{owner}/VirtualMedia/Cd"
    action = {"#VirtualMedia.InsertMedia": {"target": f"{bmc.address}{place}/Insert", "Oem": None}, "Oem": []}
    bmc.documents = machine_with(DRIVE, {})
    bmc.documents["/redfish/v1/Managers/1"]["VirtualMedia"] = None
    bmc.documents[owner]["VirtualMedia"] = {"@odata.id": f"{owner}/VirtualMedia"}
    bmc.documents[f"{owner}/VirtualMedia"] = {"Name": "All", "Members": [{"@odata.id": place}]}
    bmc.documents[place] = {"Id": "Cd", "Name": "Drive", "MediaTypes": ["CD"], "Actions": action, **drive}
    if is_taken:
        RedfishManagement().attach_virtual_media(on(bmc), "cdrom", URL)
        assert bmc.count("POST", f"{place}/Insert") == 1
    else:
        with pytest.raises(InvalidParameterValue, match="no virtual drive for CD"):
            RedfishManagement().attach_virtual_media(on(bmc), "cdrom", URL)


NOTE = {"MessageId": "Base.1.18.ActionNotSupported", "Message": "No licence for power."}


@pytest.mark.difference("refusals of other shapes")
@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": "Base.1.0.GeneralError", "message": "See ExtendedInfo.", "@Message.ExtendedInfo": [NOTE]}},
        {"error": {"@Message.ExtendedInfo": [NOTE]}},
        {"error": {"@Message.ExtendedInfo": NOTE}},
        {"error": {"@Message.ExtendedInfo": ["No licence for power."]}},
        {"error": {"@Message.ExtendedInfo": "No licence for power."}},
        {"@Message.ExtendedInfo": [NOTE]},
        {"ResetType@Message.ExtendedInfo": [NOTE]},
        {"error": {"message": "No licence for power."}},
        {"error": "No licence for power."},
        {"error": [NOTE]},
        [NOTE],
        "No licence for power.",
        {"Error": {"Message": "No licence for power."}},
        {"error": {"@Message.ExtendedInfo": {"Messages": [NOTE]}}},
        {"error": {"@Message.ExtendedInfo": {"0": NOTE}}},
        {"error": {"@Message.ExtendedInfo": [[NOTE]]}},
        {"error": {"Message.ExtendedInfo": [NOTE]}},
        {"error": {"ExtendedInfo": NOTE}},
        {"error": {"innererror": {"message": "No licence for power."}}},
        {"error": {"@Message.ExtendedInfo": [{"Message": {"en": "No licence for power."}}]}},
        {"error": {"@Message.ExtendedInfo": [{"Message": "", "Resolution": "No licence for power."}]}},
        {"error": {"@Message.ExtendedInfo": [{"Message": "No %1 for %2.", "MessageArgs": ["licence", "power"]}]}},
        {"error": {"code": 5, "details": [{"message": "No licence for power."}]}},
        {"error": {}, "message": "No licence for power."},
        {"Oem": {"Own": {"@Message.ExtendedInfo": [NOTE]}}},
        {"code": "Own.1.0.No", "message": "No licence for power."},
        {"errors": [{"title": "Bad request", "detail": "No licence for power."}]},
        {"status": 400, "title": "No licence for power."},
        {"reason": "No licence for power."},
        b'{"error": {"message": "No licence for power.",}}',
        b'{"error": {"code": "x", "message": "No licence for power.", "@Message.Exten',
        b"<?xml version='1.0'?><error><message>No licence for power.</message></error>",
        b"No licence for power.\r\n",
        b"<html><head><title>400</title></head><body><h1>No licence for power.</h1></body></html>",
        b'{"error": {"message": "No licence\nfor power."}}',
        b"{",
        b"",
    ],
)
def test_a_refusal_is_quoted_in_whatever_shape_it_comes(bmc: HostileBmc, body: Any) -> None:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    bmc.misbehave = answer_at(RESET, lambda handler: handler.send(400, content), "POST")
    with pytest.raises(PowerStateFailure) as failure:
        RedfishPower().set_power_state(on(bmc), states.POWER_ON)
    text = str(failure.value)
    assert "No licence for power." in text or len(content) < 2
    assert "status 400" in text and "{" not in text.replace(content.decode(), "") and "<" not in text


@pytest.mark.parametrize("body", [{}, [], None, 5, "", {"error": None}, {"error": {"code": 5, "message": 7}}, [[[]]]])
def test_a_refusal_that_says_nothing_is_said_to_give_no_reason(bmc: HostileBmc, body: Any) -> None:
    bmc.misbehave = answer_at(RESET, lambda handler: handler.answer(400, body), "POST")
    with pytest.raises(PowerStateFailure, match="it answers with status 400 and gives no reason"):
        RedfishPower().set_power_state(on(bmc), states.POWER_ON)


def test_what_went_well_is_not_quoted_as_a_reason(bmc: HostileBmc) -> None:
    well = {"MessageId": "Base.1.8.Success", "Message": "The request completed successfully."}
    body = {"error": {"@Message.ExtendedInfo": [well, NOTE]}}
    bmc.misbehave = answer_at(RESET, lambda handler: handler.answer(400, body), "POST")
    with pytest.raises(PowerStateFailure, match="with status 400: No licence for power. "):
        RedfishPower().set_power_state(on(bmc), states.POWER_ON)


def test_a_huge_refusal_is_quoted_in_a_line(bmc: HostileBmc) -> None:
    body = {"error": {"deep": [{"x": "y" * 1000}] * 3000, "nested": {"a": {"b": "c"}}, "message": ["n" * 100_000]}}
    bmc.misbehave = answer_at(RESET, lambda handler: handler.answer(400, body), "POST")
    with pytest.raises(PowerStateFailure) as failure:
        RedfishPower().set_power_state(on(bmc), states.POWER_ON)
    assert len(str(failure.value)) < 1000


# Where a session is: what the BMC says of it, and where it is ended.
@pytest.mark.difference("sessions without a place")
@pytest.mark.parametrize(
    "place, document, ended",
    [
        (f"{SESSIONS}/7", {}, f"{SESSIONS}/7"),
        ("{own}" + f"{SESSIONS}/7", {}, f"{SESSIONS}/7"),
        (f"https://bmc.example.com{SESSIONS}/7", {}, f"{SESSIONS}/7"),
        (f" {SESSIONS[1:]}/7 ", {}, f"{SESSIONS}/7"),
        ("Sessions/7", {}, f"{SESSIONS}/7"),
        ("7", {}, f"{SESSIONS}/7"),
        (None, {"@odata.id": f"{SESSIONS}/7"}, f"{SESSIONS}/7"),
        ("", {"Id": "7", "Name": "Session"}, f"{SESSIONS}/7"),
        (None, {}, None),
        ("http://[own", {}, None),
        (None, {"@odata.id": 7}, None),
    ],
)
@pytest.mark.parametrize("token", ["token", "token \t", "t\xf6ken"])
def test_a_session_is_used_and_ended_wherever_it_is_said_to_be(
    place: str | None, document: dict[str, Any], ended: str | None, token: str
) -> None:
    used: list[str | None] = []

    def misbehave(handler: Handler) -> bool:
        if handler.command == "POST":
            location = {} if place is None else {"Location": place.replace("{own}", running.address)}
            handler.answer(201, document, {"X-Auth-Token": token, **location})
        elif handler.command == "DELETE":
            handler.send(204, b"")
        elif handler.path == SYSTEM:
            used.append(handler.headers.get("X-Auth-Token"))
            handler.answer(200, running.documents[SYSTEM])
        else:
            return False
        return True

    with hostile_bmc(SECRET) as running:
        running.misbehave, task = misbehave, on(running)
        connector = BmcConnector(access_of(task.node), guard_of(task.store, running.address, USER, SECRET))
        with connector.gateway.operation(CallClass.READ):
            connector.get(SYSTEM)
        connector.login.log_out()
        deleted = [path for method, path in running.requests if method == "DELETE"]
    assert used == [token.strip()] and deleted == ([] if ended is None else [ended])


@pytest.mark.parametrize("token", ["", " "])
def test_a_session_without_a_token_is_none(token: str) -> None:
    with hostile_bmc(SECRET) as bmc:
        bmc.misbehave = answer_at(SESSIONS, lambda handler: handler.answer(201, {}, {"X-Auth-Token": token}), "POST")
        assert RedfishPower().get_power_state(on(bmc)) == states.POWER_OFF
        assert bmc.logins == [("basic", True)] * len(bmc.logins) != []


@pytest.mark.parametrize("auth_type", ["session", "basic"])
@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_login_is_quoted(auth_type: str, status: int) -> None:
    def misbehave(handler: Handler) -> bool:
        is_login = handler.path.startswith(SESSIONS) or "Authorization" in handler.headers
        if is_login:
            handler.answer(status, {"error": {"@Message.ExtendedInfo": [{"Message": f"Locked: {SECRET}."}]}})
        return is_login

    with hostile_bmc(SECRET) as bmc:
        bmc.misbehave = misbehave
        task = on(bmc)
        task.node.driver_info["redfish_auth_type"] = auth_type
        with pytest.raises(RedfishError, match=r"check .* \(it answers with status 40[13]: Locked: \*\*\*\.\)"):
            RedfishPower().get_power_state(task)


def test_a_finding_about_an_interface_is_quoted(bmc: HostileBmc) -> None:
    bmc.documents["/redfish/v1"]["UpdateService"] = {"@odata.id": "/redfish/v1/UpdateService"}
    bmc.misbehave = answer_at("/redfish/v1/UpdateService", lambda handler: handler.answer(400, NOTE))
    findings = SURVEY.findings(on(bmc), {"firmware": RedfishFirmware()})
    assert findings["firmware"].text.endswith(
        "an answer for interface firmware that can't be used (it answers with status 400: No licence for power.)."
    )
