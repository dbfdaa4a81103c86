"""A project that chooses the address of a BMC reaches no loopback, and learns nothing about what is there."""

import json
import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from sushy import exceptions as sushy_errors

from ironic.command.own_addresses import own
from ironic.core.addresses.allowed_addresses import Server
from ironic.core.addresses.bmc_hosts import BY_PROJECT
from ironic.core.errors.hardware_errors import ConsoleError, IPMIConnectionFailure, RedfishConnectionError, RedfishError
from ironic.drivers.modules.ipmi.power import IPMIPower
from ironic.drivers.modules.redfish.graphical_console import RedfishGraphicalConsole
from ironic.drivers.modules.redfish.orders.bmc_tasks import TASK_FAILS, read_task
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.tree.task_ends import End
from ironic.drivers.modules.redfish.wire.bmc_answer import BmcAnswer
from ironic.drivers.modules.redfish.wire.bmc_connection import read
from ironic.drivers.modules.redfish.wire.bmc_messages import reason_of, refusal_of
from ironic.integrations.allowed_destinations import UNREACHABLE
from ironic.tests.functional.drivers.hostile_bmc import Handler, hostile_bmc
from ironic.tests.live_service import free_port
from ironic.tests.unit.drivers.machine import Work, work_on

REFERENCE = re.compile(r" \(reference ([0-9a-f]{8})\)")


def by_project(**driver_info: Any) -> Work:
    return work_on(driver_info=driver_info, driver_internal_info={BY_PROJECT.name: True})


@pytest.fixture
def quick(conf: Callable[..., None]) -> Callable[..., None]:
    conf(
        redfish__connection_attempts=1,
        redfish__read_timeout=2,
        redfish__connect_timeout=2,
        ipmi__command_retry_timeout=2,
    )
    return conf


@pytest.fixture
def places() -> Iterator[dict[str, str]]:
    """Return URLs with nothing behind them that is a BMC, each with another fault."""
    with ExitStack() as stack:
        silent = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        untrusted = stack.enter_context(hostile_bmc())
        yield {
            "closed": f"http://127.0.0.1:{free_port()}",
            "silent": f"http://127.0.0.1:{silent.getsockname()[1]}",
            "plain, not TLS": untrusted.address.replace("http:", "https:"),
            "no name": "http://no-such-name.invalid",
            "link-local": "http://169.254.169.254",
            "multicast": "http://224.0.0.1",
        }


def test_an_operator_chooses_a_loopback_address(quick: Callable[..., None]) -> None:
    quick(outgoing__allow_loopback=False)
    with hostile_bmc() as bmc:
        assert RedfishPower().get_power_state(work_on(driver_info=bmc.driver_info()))


def test_a_project_reaches_the_loopback_by_the_option_only(quick: Callable[..., None]) -> None:
    with hostile_bmc() as bmc:
        quick(outgoing__allow_loopback=False)
        with pytest.raises(RedfishConnectionError, match="it can't be reached"):
            RedfishPower().get_power_state(by_project(**bmc.driver_info()))
        quick(outgoing__allow_loopback=True)
        assert RedfishPower().get_power_state(by_project(**bmc.driver_info()))


@pytest.mark.parametrize("allowed", [True, False])
def test_all_faults_of_a_connection_look_alike(
    places: dict[str, str], quick: Callable[..., None], allowed: bool
) -> None:
    quick(outgoing__allow_loopback=allowed)
    for place in places.values():
        with pytest.raises(RedfishConnectionError) as told:
            RedfishPower().get_power_state(by_project(redfish_address=place, redfish_system_id="/redfish/v1/Systems/1"))
        assert UNREACHABLE in str(told.value)
        assert str(told.value).replace(place, "PLACE").count("PLACE") == 1


PAGE = b"<html><title>Intranet of payroll</title></html>"
MESSAGE = json.dumps({"error": {"code": "Base.1.0.GeneralError", "message": "Intranet of payroll"}}).encode()
ANSWERS = [
    *((status, body) for status in (400, 401, 403, 404, 500, 503) for body in (PAGE, MESSAGE, b"Intranet of payroll")),
    # Answers that are no Redfish.
    *((200, body) for body in (PAGE, b"[]", b"{}", b"", b'{"Systems": 1}')),
    (302, b""),
]


def sending(status: int, body: bytes, length: int | None = None) -> Callable[[Handler], bool]:
    """Return what gives this answer to every request."""

    def misbehave(handler: Handler) -> bool:
        handler.send(status, body, length=length)
        return True

    return misbehave


def told_of(place: str, caplog: pytest.LogCaptureFixture) -> str:
    """Return the text of a failure at a project's BMC without its reference, under which the log has the reason."""
    caplog.clear()
    with pytest.raises(RedfishError) as told:
        RedfishPower().get_power_state(by_project(redfish_address=place, redfish_system_id="/redfish/v1/Systems/1"))
    text = REFERENCE.sub("", str(told.value)).replace(place, "PLACE")
    references = REFERENCE.findall(str(told.value))
    assert len(references) == 1
    assert references[0] in caplog.text
    return re.sub(r"node [0-9a-f-]{36}", "node NODE", text)


def test_all_that_goes_wrong_at_a_bmc_of_a_project_has_one_text(
    places: dict[str, str], quick: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    quick(outgoing__allow_loopback=True)
    texts = {told_of(place, caplog) for place in places.values()}
    with hostile_bmc() as bmc:
        for status, body in ANSWERS:
            bmc.misbehave = sending(status, body)
            texts.add(told_of(bmc.address, caplog))
        # The head of an answer that breaks off.
        bmc.misbehave = sending(200, b"{", 500)
        texts.add(told_of(bmc.address, caplog))
    assert len(texts) == 1
    assert UNREACHABLE in texts.pop()


def test_the_words_of_a_task_are_for_operators(quick: Callable[..., None], caplog: pytest.LogCaptureFixture) -> None:
    quick(outgoing__allow_loopback=True)
    with hostile_bmc() as bmc:
        bmc.documents["/task"] = {"TaskState": "Exception", "Messages": [{"Message": "Intranet of payroll"}]}
        task = by_project(redfish_address=bmc.address, redfish_system_id="/redfish/v1/Systems/1")
        state = read(task, "watching a task", lambda system: read_task(system, "/task"))
    assert state.end is End.BAD
    assert TASK_FAILS in state.text and "Intranet" not in state.text
    assert REFERENCE.findall(state.text)[0] in caplog.text and "Intranet of payroll" in caplog.text


@pytest.mark.parametrize("is_hidden", [True, False])
def test_a_refusal_is_quoted_to_operators_only(is_hidden: bool, caplog: pytest.LogCaptureFixture) -> None:
    server = Server("http", "127.0.0.1", 80)
    answer = BmcAnswer(400, Message(), MESSAGE, server, "/x")
    answer.is_hidden = is_hidden
    refusal = sushy_errors.BadRequestError("POST", "/x", answer)
    for text in (refusal_of(refusal), reason_of(refusal)):
        assert ("Intranet" in text) is not is_hidden
        assert ("400" in REFERENCE.sub("", text)) is not is_hidden
        assert bool(REFERENCE.search(text)) is is_hidden
    assert ("Intranet" in caplog.text) is is_hidden


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "no-such-name.invalid", "169.254.169.254"])
def test_ipmi_says_no_more(address: str, quick: Callable[..., None]) -> None:
    quick(outgoing__allow_loopback=False)
    with pytest.raises(IPMIConnectionFailure) as told:
        IPMIPower().get_power_state(by_project(ipmi_address=address, ipmi_username="u", ipmi_password="p"))
    assert UNREACHABLE in str(told.value)


# Names that change their address

NAME = "moving.example"
IPMI = {"ipmi_address": NAME, "ipmi_username": "u", "ipmi_password": "p"}
ABROAD = "198.51.100.7"


@pytest.fixture
def calls_of_ipmitool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Put a program in the place of ipmitool that notes its calls and finds no BMC; return them."""
    calls, tool = tmp_path / "calls", tmp_path / "ipmitool"
    silence = "Error: Unable to establish IPMI v2 / RMCP+ session"
    tool.write_text(f'#!/bin/sh\ncase "$*" in *-h) exit 0;; esac\necho "$*" >> {calls}\necho "{silence}" >&2\nexit 1\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return lambda: calls.read_text().splitlines() if calls.exists() else []


def test_a_redfish_session_stays_at_the_address_that_was_judged(
    names: dict[str, list[str]], quick: Callable[..., None]
) -> None:
    # Nothing listens at the second address, so a request that went there would fail.
    names[NAME] = ["127.0.0.1", "127.0.0.2"]
    with hostile_bmc("secret") as bmc:
        task = by_project(**bmc.driver_info(redfish_address=bmc.address.replace("127.0.0.1", NAME)))
        for _ in range(2):
            RedfishPower().get_power_state(task)
        assert names[NAME] == ["127.0.0.2"]
        assert len(bmc.tokens) == 1


def test_a_name_that_moves_to_the_loopback_reaches_nothing_there(
    names: dict[str, list[str]], quick: Callable[..., None]
) -> None:
    quick(outgoing__allow_loopback=False)
    outside = next((one for one in own() if not one.startswith("127.") and "." in one), ABROAD)
    names[NAME] = [outside, "127.0.0.1"]
    with hostile_bmc() as bmc:
        task = by_project(**bmc.driver_info(redfish_address=bmc.address.replace("127.0.0.1", NAME)))
        for _ in range(3):
            with pytest.raises(RedfishConnectionError, match="it can't be reached"):
                RedfishPower().get_power_state(task)
        assert names[NAME] == ["127.0.0.1"]
        assert bmc.requests == []


def test_ipmitool_gets_the_address_that_was_judged(
    names: dict[str, list[str]], quick: Callable[..., None], calls_of_ipmitool: Callable[[], list[str]]
) -> None:
    quick(outgoing__allow_loopback=False, ipmi__min_command_interval=0)
    names[NAME] = [ABROAD, "127.0.0.1"]
    for _ in range(2):
        with pytest.raises(IPMIConnectionFailure) as failed:
            IPMIPower().get_power_state(by_project(**IPMI))
        assert UNREACHABLE in str(failed.value)
    # Attempts of the first command; the second one is refused before it runs.
    assert len(calls_of_ipmitool()) > 1
    assert all(f"-H {ABROAD}" in call for call in calls_of_ipmitool())


@pytest.mark.parametrize(
    ("driver_info", "address"),
    [
        ({"redfish_address": f"http://{NAME}:8000"}, f"http://{ABROAD}:8000"),
        ({"redfish_address": f"https://{NAME}", "redfish_verify_ca": False}, f"https://{ABROAD}"),
        # A server elsewhere has no certificate for the name.
        ({"redfish_address": f"https://{NAME}", "redfish_verify_ca": True}, f"https://{NAME}"),
    ],
)
def test_the_browser_of_a_console_gets_the_address_that_was_judged(
    names: dict[str, list[str]], quick: Callable[..., None], driver_info: dict[str, Any], address: str
) -> None:
    quick(outgoing__allow_loopback=False, vnc__container_provider="fake")
    names[NAME] = [ABROAD, "127.0.0.1"]
    task = by_project(**driver_info)
    console = RedfishGraphicalConsole()
    assert console.app_info(task)["address"] == address
    with pytest.raises(ConsoleError, match="it can't be reached"):
        console.app_info(task)
    assert console.app_info(work_on(driver_info=driver_info))["address"] == driver_info["redfish_address"]
