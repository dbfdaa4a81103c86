"""Virtual drives of BMCs that have them in different places, refuse some orders, and fail at times."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import RedfishError
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.orders import virtual_media
from ironic.tests.functional.drivers.scripted_bmc import SYSTEM, ScriptedBmc, scripted_bmc
from ironic.tests.unit.drivers.machine import Work, work_on

MANAGER = "/redfish/v1/Managers/BMC"
URL = "http://user:hunter2@192.0.2.5:8080/vmedia/0123456789abcdef.iso"


@pytest.fixture
def bmc(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedBmc]:
    monkeypatch.setattr(virtual_media, "_SECONDS", 0.0)
    with scripted_bmc(Links={"ManagedBy": [{"@odata.id": MANAGER}]}) as running:
        running.documents[MANAGER] = {"Id": "BMC", "Name": "BMC", "ManagerType": "BMC"}
        running.documents["/redfish/v1"]["Managers"] = {"@odata.id": "/redfish/v1/Managers"}
        running.documents["/redfish/v1/Managers"] = {"Name": "Managers", "Members": [{"@odata.id": MANAGER}]}
        yield running


@pytest.fixture
def task(bmc: ScriptedBmc) -> Work:
    return work_on(driver="redfish", driver_info={"redfish_address": bmc.address})


@pytest.fixture
def management() -> RedfishManagement:
    return RedfishManagement()


@pytest.fixture
def has(bmc: ScriptedBmc) -> Callable[..., None]:
    """Give the system or the manager a drive."""

    def add(owner: str, name: str, *media: str, actions: bool = True, **state: Any) -> None:
        collection, path = f"{owner}/VirtualMedia", f"{owner}/VirtualMedia/{name}"
        bmc.documents[owner]["VirtualMedia"] = {"@odata.id": collection}
        members = bmc.documents.setdefault(collection, {"Name": "Drives", "Members": []})["Members"]
        members.append({"@odata.id": path})
        orders = {f"#VirtualMedia.{verb}Media": {"target": f"{path}/{verb}"} for verb in ("Insert", "Eject") if actions}
        bmc.documents[path] = {
            "@odata.id": path, "Id": name, "Name": name, "MediaTypes": list(media), "Inserted": False, "Image": None,
            "Actions": orders, **state,
        }  # fmt: skip

    return add


def orders(bmc: ScriptedBmc) -> list[str]:
    """Return where orders went, without the beginning of the path."""
    return [path.rpartition("VirtualMedia/")[2] for path, _ in bmc.orders]


def test_the_drives_of_the_system_come_first(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work
) -> None:
    has(MANAGER, "Old", "CD")
    has(SYSTEM, "New", "CD", "DVD")
    management.attach_virtual_media(task, "cdrom", URL)
    assert bmc.orders == [(f"{SYSTEM}/VirtualMedia/New/Insert", {"Image": URL})]
    assert management.get_virtual_media(task) == [{"media_types": ["CD", "DVD"], "inserted": True, "image": URL}]


@pytest.mark.difference("DVD for CD")
@pytest.mark.parametrize("medium", ["CD", "DVD"])
def test_a_dvd_drive_takes_a_cd(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work, medium: str
) -> None:
    has(MANAGER, "Stick", "USBStick")
    has(MANAGER, "Disc", medium)
    management.attach_virtual_media(task, "cdrom", URL)
    assert orders(bmc) == ["Disc/Insert"]


@pytest.mark.difference("full drives")
def test_a_full_drive_is_emptied_first(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work
) -> None:
    has(SYSTEM, "1", "CD", Inserted=True, Image="http://192.0.2.6/old.iso")
    has(SYSTEM, "2", "USBStick", Inserted=True, Image="http://192.0.2.6/other.img")
    management.attach_virtual_media(task, "cdrom", URL)
    assert orders(bmc) == ["1/Eject", "1/Insert"]


def test_a_drive_that_can_not_be_emptied_is_filled_all_the_same(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work
) -> None:
    has(SYSTEM, "1", "CD", Inserted=True, Image="x")
    bmc.answers = [409]
    management.attach_virtual_media(task, "cdrom", URL)
    assert orders(bmc) == ["1/Eject", "1/Insert"]


@pytest.mark.difference("drives that refuse")
@pytest.mark.parametrize("refusal", [400, 405])
def test_a_drive_that_refuses_is_followed_by_the_next(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work, refusal: int
) -> None:
    has(SYSTEM, "1", "CD")
    has(SYSTEM, "2", "CD")
    bmc.answers = [refusal]
    management.attach_virtual_media(task, "cdrom", URL)
    assert orders(bmc) == ["1/Insert", "2/Insert"]


def test_a_bmc_with_a_fault_is_asked_three_times(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work
) -> None:
    has(SYSTEM, "1", "CD")
    bmc.answers = [500, 503]
    management.attach_virtual_media(task, "cdrom", URL)
    assert orders(bmc) == ["1/Insert"] * 3


def missing(name: str, **more: Any) -> dict[str, Any]:
    """Return a message of the standard that misses a parameter."""
    text = f"The action InsertMedia requires the parameter {name} to be present in the request body."
    return {"MessageId": "Base.1.8.ActionParameterMissing", "Message": text, **more}


PARAMETERS: dict[str, dict[str, Any]] = {
    "UserName": {"UserName": "none", "Password": "none"},
    "Password": {"UserName": "none", "Password": "none"},
    "TransferProtocolType": {"TransferProtocolType": "HTTP"},
    "TransferMethod": {"TransferMethod": "Stream"},
    "Inserted": {"Inserted": True},
    "WriteProtected": {"WriteProtected": True},
    "MediaType": {"MediaType": "CD"},
}


@pytest.mark.difference("parameters of images")
@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize(
    "shape",
    [
        lambda name: {"error": {"@Message.ExtendedInfo": [missing(name)]}},
        lambda name: {"error": {"@Message.ExtendedInfo": missing(name)}},
        lambda name: {"error": {"code": "Base.1.0.GeneralError", "@Message.ExtendedInfo": [missing(name)]}},
        lambda name: {
            "error": {
                "@Message.ExtendedInfo": [
                    {"MessageId": "Base.1.0.GeneralError", "Message": "A general error has occurred."},
                    missing(name, Message="", MessageArgs=["InsertMedia", name]),
                ]
            }
        },
        lambda name: {
            "error": {
                "code": "Base.1.8.PropertyMissing",
                "message": "one",
                "@Message.ExtendedInfo": [
                    {"MessageId": "Base.1.8.PropertyMissing", "RelatedProperties": [f"#/{name}"]},
                ],
            }
        },
        lambda name: {"error": {"code": "Base.1.0.GeneralError", "message": f"{name} is a required parameter"}},
        lambda name: {"error": {"message": f"the property {name.lower()} must be given"}},
        lambda name: {"error": {"code": "Base.1.8.ActionParameterMissing", "message": f"no {name}"}},
    ],
)
def test_a_parameter_that_a_bmc_misses_is_sent(
    bmc: ScriptedBmc,
    has: Callable[..., None],
    management: RedfishManagement,
    task: Work,
    name: str,
    shape: Callable[[str], Any],
) -> None:
    has(SYSTEM, "1", "CD")
    bmc.answers = [(400, shape(name))]
    management.attach_virtual_media(task, "cdrom", URL)
    assert bmc.sent() == [{"Image": URL}, {"Image": URL} | PARAMETERS[name]]


def test_a_bmc_may_miss_one_parameter_after_another(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work
) -> None:
    has(SYSTEM, "1", "CD")
    bmc.answers = [(400, {"error": {"@Message.ExtendedInfo": [missing(name)]}}) for name in PARAMETERS]
    del bmc.answers[1]  # the login is sent as a whole
    management.attach_virtual_media(task, "cdrom", URL)
    everything: dict[str, Any] = {"Image": URL}
    for added in PARAMETERS.values():
        everything |= added
    assert bmc.sent()[-1] == everything
    assert len(bmc.sent()) == len(PARAMETERS)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"@Message.ExtendedInfo": [missing("UserName")]}},
        {"error": {"@Message.ExtendedInfo": [missing("OemColour")]}},
        {"error": {"message": "TransferProtocolType is not supported"}},
        {
            "error": {
                "@Message.ExtendedInfo": [{"MessageId": "Base.1.0.ActionParameterNotSupported", "Message": "Image"}]
            }
        },
        {"error": {"@Message.ExtendedInfo": []}},
        {"error": {}},
    ],
)
def test_a_refusal_that_no_parameter_helps_is_one(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work, body: Any
) -> None:
    has(SYSTEM, "1", "CD")
    bmc.answers = [(400, body)] * 9
    with pytest.raises(InvalidParameterValue, match="status 400"):
        management.attach_virtual_media(task, "cdrom", URL)
    assert len(bmc.orders) <= 2


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "No licence for virtual media"}},
        {"error": {"@Message.ExtendedInfo": [{"Message": "No licence for virtual media"}]}},
        {
            "error": {
                "@Message.ExtendedInfo": {"MessageId": "Oem.1.0.NoLicence", "Message": "No licence for virtual media"}
            }
        },
        {
            "error": {
                "code": "Base.1.0.GeneralError",
                "message": "See ExtendedInfo",
                "@Message.ExtendedInfo": [
                    {"MessageId": "Oem.1.0.NoLicence", "Message": "No licence for virtual media"}
                ],
            }
        },
    ],
)
def test_the_words_of_the_bmc_are_quoted(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work, body: Any
) -> None:
    has(SYSTEM, "1", "CD")
    bmc.answers = [(400, body)]
    with pytest.raises(InvalidParameterValue, match=r"status 400: No licence for virtual media\)"):
        management.attach_virtual_media(task, "cdrom", URL)


def test_the_words_of_the_bmc_are_bounded_and_have_no_secret(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work
) -> None:
    has(SYSTEM, "1", "CD")
    words = f"can't read {URL} (0123456789abcdef.iso, hunter2)\x1b[31m\n" + "x" * 5000
    bmc.answers = [(400, {"error": {"message": words}})]
    with pytest.raises(InvalidParameterValue) as raised:
        management.attach_virtual_media(task, "cdrom", URL)
    text = str(raised.value)
    assert "can't read ***" in text and len(text) < 800 and text.isprintable()
    assert "hunter2" not in text and "0123456789abcdef" not in text


def test_a_parameter_is_missed_by_patch_as_well(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work
) -> None:
    has(SYSTEM, "1", "CD", actions=False)
    bmc.allow = "GET, PATCH"
    bmc.answers = [(400, {"error": {"@Message.ExtendedInfo": [missing("UserName")]}})]
    management.attach_virtual_media(task, "cdrom", URL)
    usual = {"Image": URL, "Inserted": True, "WriteProtected": True}
    assert bmc.sent() == [usual, {**usual, "UserName": "none", "Password": "none"}]


@pytest.mark.parametrize("status", [400, 404, 409, 415, 500])
@pytest.mark.parametrize("has_actions", [True, False])
def test_a_refused_ejection_is_an_error_while_the_drive_is_full(
    bmc: ScriptedBmc,
    has: Callable[..., None],
    management: RedfishManagement,
    task: Work,
    status: int,
    has_actions: bool,
) -> None:
    has(SYSTEM, "1", "CD", actions=has_actions, Inserted=True)
    bmc.answers = [(status, {"error": {"message": "The drive is locked"}})] * 4
    with pytest.raises(RedfishError, match=f"status {status}: The drive is locked"):
        management.detach_virtual_media(task)


def test_a_refused_ejection_of_a_drive_that_has_become_empty_is_done(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work
) -> None:
    has(SYSTEM, "1", "CD", Inserted=True)

    bmc.on_order = lambda _path: bmc.documents[f"{SYSTEM}/VirtualMedia/1"].update(Inserted=False)
    bmc.answers = [409]
    management.detach_virtual_media(task)
    assert orders(bmc) == ["1/Eject"]


@pytest.mark.difference("bodies of ejections")
@pytest.mark.parametrize("status", [400, 415])
def test_an_ejection_may_need_an_empty_object(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work, status: int
) -> None:
    has(SYSTEM, "1", "CD", Inserted=True)
    bmc.answers = [status]
    management.detach_virtual_media(task)
    assert bmc.sent() == [None, {}]


def test_when_no_drive_takes_it_the_reason_has_no_secret(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work, caplog: Any
) -> None:
    has(SYSTEM, "1", "CD")
    has(SYSTEM, "2", "CD")
    bmc.answers = [400, 500, 500, 500]
    with pytest.raises(InvalidParameterValue) as raised:
        management.attach_virtual_media(task, "cdrom", URL)
    text = str(raised.value)
    assert "drive 1: the BMC answers with status 400" in text and "status 500" in text and "192.0.2.5:8080" in text
    assert "hunter2" not in text and "0123456789abcdef" not in text


def test_what_the_user_may_not_do_is_no_refused_drive(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work
) -> None:
    has(SYSTEM, "1", "CD")
    has(SYSTEM, "2", "CD")
    bmc.answers = [403] * 8
    with pytest.raises(RedfishError, match="forbids that to the user"):
        management.attach_virtual_media(task, "cdrom", URL)
    # The library may log in anew and repeat the order; the other drive is not tried.
    assert set(orders(bmc)) == {"1/Insert"}


def test_a_bmc_without_such_a_drive_is_said_so(
    has: Callable[..., None], management: RedfishManagement, task: Work
) -> None:
    with pytest.raises(InvalidParameterValue, match="has no virtual media"):
        management.get_virtual_media(task)
    has(SYSTEM, "1", "CD")
    with pytest.raises(InvalidParameterValue, match="no virtual drive for Floppy"):
        management.attach_virtual_media(task, "floppy", URL)


def test_everything_is_ejected_wherever_it_is(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work
) -> None:
    has(SYSTEM, "1", "CD", Inserted=True)
    has(SYSTEM, "2", "Floppy")
    has(MANAGER, "3", "USBStick", Inserted=True)
    has(MANAGER, "4", "DVD", Inserted=True)
    management.detach_virtual_media(task, ["cdrom"])
    assert orders(bmc) == ["1/Eject", "4/Eject"]
    bmc.orders.clear()
    management.detach_virtual_media(task)
    assert orders(bmc) == ["3/Eject"]


def test_a_drive_that_can_not_be_emptied_keeps_no_other_full(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work
) -> None:
    has(SYSTEM, "1", "CD", Inserted=True)
    has(MANAGER, "2", "USBStick", Inserted=True)
    bmc.answers = [400, 409, 204]
    with pytest.raises(RedfishError, match="409"):
        management.detach_virtual_media(task)
    # The library repeats the first in another form.
    assert orders(bmc) == ["1/Eject", "1/Eject", "2/Eject"]


def test_an_image_may_be_awaited(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work, conf: Any
) -> None:
    conf(redfish__enable_vmedia_insert_polling=True, redfish__vmedia_insert_timeout=1)
    has(SYSTEM, "1", "CD", Inserted=None)
    # What is answered with 200 is not carried out.
    bmc.answers = [200]
    with pytest.raises(InvalidParameterValue, match="does not report it"):
        management.attach_virtual_media(task, "cdrom", URL)
    management.attach_virtual_media(task, "cdrom", URL)


def test_an_image_that_the_bmc_shows_not_to_be_there_is_not(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work, conf: Any
) -> None:
    conf(redfish__vmedia_insert_timeout=1)
    has(SYSTEM, "1", "CD")
    bmc.answers = [200]
    with pytest.raises(InvalidParameterValue, match="does not report it"):
        management.attach_virtual_media(task, "cdrom", URL)
    # One that says nothing is believed.
    bmc.documents[f"{SYSTEM}/VirtualMedia/1"]["Inserted"] = None
    bmc.answers = [200]
    management.attach_virtual_media(task, "cdrom", URL)


def test_a_drive_with_an_image_that_says_it_is_empty_is_emptied(
    bmc: ScriptedBmc, has: Callable[..., None], management: RedfishManagement, task: Work
) -> None:
    has(SYSTEM, "1", "CD", Inserted=False, Image=URL)
    management.detach_virtual_media(task)
    assert orders(bmc) == ["1/Eject"]
