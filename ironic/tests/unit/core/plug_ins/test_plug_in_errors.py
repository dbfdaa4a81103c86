"""All errors that plug-ins know have the names, statuses, bases and keywords by which they know them."""

import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ironic.api.error_responses import status_and_text
from ironic.common import exception
from ironic.core import errors
from ironic.core.errors.failure_texts import places_of
from ironic.core.errors.plug_in_keywords import TEXTS
from ironic.core.plug_ins import plug_in_errors
from ironic.rpc import message_format

OF_CALLERS = ("ClientSideError", "InvalidInput", "UnknownArgument", "UnknownAttribute")
_ROW = re.compile(r"^(\w+) (\d+) (\w+)(?: (\([\w, ]*\)))?$", re.MULTILINE)
# Name, status, base, and the keywords where they are not the ones that we use ourselves.
KNOWN = _ROW.findall((Path(__file__).parents[3] / "data" / "plug-in-errors.txt").read_text())
WITH_KEYWORDS = [(row[0], [one for one in row[3][1:-1].split(", ") if one]) for row in KNOWN if row[3]]


@pytest.mark.parametrize(("name", "status", "base"), [row[:3] for row in KNOWN])
def test_name_status_and_base(name: str, status: str, base: str) -> None:
    found = getattr(exception, name)
    # What is read on the class is what an error of it has.
    assert found.code == found.status == int(status)
    if base != "Exception":
        assert issubclass(found, getattr(exception, base))
    assert name in exception.__all__


@pytest.mark.parametrize(("name", "keywords"), WITH_KEYWORDS)
def test_keywords_make_a_sentence(name: str, keywords: list[str]) -> None:
    text = str(getattr(exception, name)(**{one: f"<{one}>" for one in keywords}))
    assert all(f"<{one}>" in text for one in keywords)
    assert "unknown" not in text and not re.search(r"[{}%]|None", text)
    # Nothing was left over and appended.
    assert not re.search(r"\(\w+=", text)


def test_the_list_is_whole() -> None:
    assert (len(KNOWN), len(WITH_KEYWORDS)) == (211, 159)


@pytest.mark.parametrize("name", [one for one in exception.__all__ if one not in OF_CALLERS])
def test_no_error_shows_a_raw_place(name: str) -> None:
    found = getattr(exception, name)
    bare, surprised = str(found()), str(found(surprise="<seen>"))
    assert bare and not re.search(r"[{}]|%\(", bare + surprised)
    # What an error of ours that lacks nothing is given besides is for its readers in code.
    assert "(surprise=<seen>)" in surprised or not places_of(found.text)


@pytest.mark.parametrize("name", TEXTS)
def test_second_texts_are_for_classes_and_differ_in_their_places(name: str) -> None:
    assert places_of(getattr(exception, name).text) != places_of(TEXTS[name])


def test_no_class_is_there_twice() -> None:
    ours = {
        name
        for name, found in errors.all_errors().items()
        if found.__module__.startswith("ironic.core.") and found.__module__ != plug_in_errors.__name__
    }
    assert ours.isdisjoint(plug_in_errors.__all__)


def test_the_four_that_plug_ins_raise_with_words_of_their_own() -> None:
    assert str(exception.PowerStateFailure(pstate="power on")) == (
        "The machine could not be brought to the power state 'power on'."
    )
    assert str(exception.IPMIFailure(cmd="chassis power on")) == "The IPMI call failed: chassis power on"
    assert str(exception.RedfishError(error="no such system")) == "A Redfish operation failed: no such system"
    assert str(exception.DriverLoadError(driver="acme", reason="no module")) == (
        "Driver acme can't be loaded: no module"
    )
    # Ours are as they were.
    ours = exception.PowerStateFailure(target="power on", reason="the BMC refuses")
    assert str(ours) == "the BMC refuses (changing the power state to 'power on' failed)"


def test_what_is_missing_or_unknown_is_shown() -> None:
    assert str(exception.AllocationFailed(uuid="u")) == "Allocation u failed: (unknown)"
    assert str(exception.StorageError(volume="v")) == "The storage of a volume failed. (volume=v)"
    assert str(exception.PowerStateFailure(pstate="power on", node="n")).endswith("'power on'. (node=n)")


class MyPowerFailure(exception.PowerStateFailure):
    """A plug-in's own, in the words of its base."""


class MyStorageError(exception.StorageError):
    _msg_fmt = "Only %(free).1f of 100%% is free on %(disk)r, %(count)05d files, %(gone)s"


class OlderError(exception.IronicException):
    """In the words of packages from before `_msg_fmt`; one of them is still published."""

    message = "The hypervisor failed: %(err)s."


def test_an_older_package_says_its_sentence_elsewhere() -> None:
    assert str(OlderError(err="gone")) == "The hypervisor failed: gone."
    assert OlderError("by hand").message == "by hand"


def test_plug_ins_derive_from_them() -> None:
    assert str(MyPowerFailure(pstate="reboot")).endswith("'reboot'.")
    error = MyStorageError(free=12.345, disk="sda", count="many", secret="x")
    assert str(error) == "Only 12.3 of 100% is free on 'sda', many files, (unknown) (secret=x)"
    assert str(MyStorageError(free=1, disk="sda", count=7, gone="none", secret="x")) == (
        "Only 1.0 of 100% is free on 'sda', 00007 files, none"
    )
    with pytest.raises(exception.IronicException):
        raise error
    assert MyStorageError.code == 500


def test_the_status_of_one_error_is_set() -> None:
    error = exception.NodeNotFound("gone", code=410)
    assert (error.code, error.status, error.kwargs, error.headers, error.safe) == (410, 410, {}, {}, False)
    error.code = 423
    assert (error.status, exception.NodeNotFound.code) == (423, 404)


def test_a_status_that_is_no_error_is_answered_as_one() -> None:
    for code in (0, 200, 302, 600, 99999):
        assert status_and_text(exception.StorageError("odd", code=code)) == (500, "odd")
    assert status_and_text(exception.StorageError("fine", code=507)) == (507, "fine")


def test_client_side_errors() -> None:
    error = exception.InvalidInput("name", "!", "no letters")
    assert issubclass(exception.InvalidInput, exception.ClientSideError)
    assert issubclass(exception.ClientSideError, RuntimeError)
    assert (error.faultstring, error.code) == ("Field name can't have the value '!': no letters", 400)
    assert str(exception.UnknownArgument("colour")) == "There is no argument colour."
    assert str(exception.UnknownAttribute("port", {"b", "a"})) == "There are no such attributes of port: a, b."
    assert exception.ClientSideError("busy", status_code=409).code == 409
    assert "not valid" in str(exception.ClientSideError())


def test_a_name_that_is_none_is_refused_as_usual() -> None:
    assert not hasattr(exception, "NoSuchError")
    with pytest.raises(ImportError, match="NoSuchError"):
        exec("from ironic.common.exception import NoSuchError", {})


def test_they_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(exception.StorageError)) is exception.StorageError


class NodeLocked(exception.IronicException):
    """A plug-in's error with a name of ours."""


def test_an_error_of_ours_is_not_taken_for_a_plug_ins_of_the_same_name() -> None:
    assert errors.all_errors()["NodeLocked"] is errors.NodeLocked


_READER = """
import json, sys
from ironic.rpc import message_format
from ironic.api.error_responses import status_and_text
from ironic.core import errors
from ironic.core.errors import call_errors, hardware_errors, resource_errors
assert "ironic.core.plug_ins.plug_in_errors" not in sys.modules
for message in json.load(sys.stdin):
    error = message_format.error_of(message["error"])
    print(json.dumps([type(error).__name__, *status_and_text(error)]))
"""


def test_they_arrive_where_no_plug_in_is() -> None:
    sent = [
        exception.StorageError("full"),
        exception.Unauthorized(),
        exception.SNMPFailure(operation="GET", error="silent"),
        exception.OciImageTagNotFound(image_url="oci://a", tags=["1"]),
        exception.InvalidInput("name", "!"),
        exception.ClientSideError("busy", status_code=409),
        MyStorageError(free=1, disk=b"x", count=2, gone=object),
        exception.NodeNotFound("gone", code=410),
    ]
    messages = json.dumps([message_format.error_message(error) for error in sent])
    ran = subprocess.run([sys.executable, "-c", _READER], input=messages, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    assert [tuple(json.loads(line)) for line in ran.stdout.splitlines()] == [
        ("IronicError", 500, "full"),
        ("IronicError", 401, "The request needs a valid login."),
        ("DriverOperationError", 502, "The SNMP operation GET failed: silent"),
        ("NotFound", 404, "The registry has no such tag for oci://a; it has ['1']."),
        ("Invalid", 400, "Field name can't have the value '!'."),
        ("Invalid", 409, "busy"),
        ("IronicError", 500, str(sent[6])),
        ("NodeNotFound", 410, "gone"),
    ]
