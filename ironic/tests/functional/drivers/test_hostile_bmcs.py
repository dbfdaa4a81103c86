"""BMCs that lie, stall, hang up and send nonsense: each is a clear error, and none holds anything."""

import gzip
import json
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ironic.core.errors import PowerStateFailure
from ironic.core.errors.hardware_errors import RedfishConnectionError, RedfishError
from ironic.core.flows import states
from ironic.drivers.modules.bmc.bmc_gateway import gateway_to
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.raid import RedfishRAID
from ironic.tests.functional.drivers.hostile_bmc import SESSIONS, SYSTEM, Handler, HostileBmc, hostile_bmc
from ironic.tests.site import eventually
from ironic.tests.unit.drivers.machine import Work, work_on

BOUND = 60.0
MIB = 1024 * 1024
SECRET = "hunter2"


@pytest.fixture
def bmc() -> Iterator[HostileBmc]:
    with hostile_bmc() as running:
        yield running
        gateway = gateway_to(running.address)
        # A session may be logged out of at this moment.
        eventually(lambda: (gateway._running.total(), len(gateway._operations), gateway._waiting.total()), (0, 0, 0))


def on(bmc: HostileBmc, store: Any = None, **changes: Any) -> Work:
    task = work_on(driver_info=bmc.driver_info(**changes))
    task.store = store or task.store
    return task


def of_system(act: Callable[[Handler], None]) -> Callable[[Handler], bool]:
    """Return a misbehaviour that is shown where the system is read."""

    def misbehave(handler: Handler) -> bool:
        if handler.command != "GET" or handler.path.rstrip("/") != SYSTEM:
            return False
        act(handler)
        return True

    return misbehave


def hang_up(handler: Handler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


def nested(handler: Handler) -> None:
    handler.send(200, b"[" * 200_000)


def compressed(handler: Handler) -> None:
    handler.send(200, gzip.compress(b" " * 20 * MIB), {"Content-Encoding": "gzip"})


@pytest.mark.parametrize(
    "act, error, why",
    [
        (hang_up, RedfishConnectionError, "broke off"),
        (lambda handler: handler.send(200, b'{"Id": "1"', length=5000), RedfishConnectionError, "broke off"),
        (lambda handler: handler.send(500, b"<html>oops</html>"), RedfishError, "500"),
        (lambda handler: handler.answer(503, {"error": {"message": "not now"}}), RedfishError, "not now"),
        (lambda handler: handler.answer(500, {"error": ["no"]}), RedfishError, "500"),
        (lambda handler: handler.answer(400, [1]), RedfishError, "400"),
        (lambda handler: handler.send(200, b'{"Id": '), RedfishError, "can't be read"),
        (lambda handler: handler.answer(200, [1, 2]), RedfishError, "can't be read"),
        (lambda handler: handler.send(200, b" " * 9 * MIB), RedfishError, "larger than 8388608 bytes"),
        (lambda handler: handler.send(200, b" ", length=10**12), RedfishError, "larger than 8388608 bytes"),
        (compressed, RedfishError, "larger than 8388608 bytes"),
        (nested, RedfishError, "nested too deeply"),
        (
            lambda handler: handler.send(302, b"", {"Location": "https://192.0.2.7/redfish/v1"}),
            RedfishError,
            "another server",
        ),
        (lambda handler: handler.send(302, b"", {"Location": SYSTEM}), RedfishError, "redirects in circles"),
        (lambda handler: handler.answer(404, {}), RedfishError, "not found"),
    ],
)
def test_each_is_a_clear_error(
    bmc: HostileBmc, act: Callable[[Handler], None], error: type[Exception], why: str
) -> None:
    bmc.misbehave = of_system(act)
    with pytest.raises(error, match=why) as failure:
        RedfishManagement().get_boot_mode(on(bmc))
    assert bmc.address in str(failure.value)


def test_many_large_answers_are_too_large_together(bmc: HostileBmc, conf: Callable[..., None]) -> None:
    conf(bmc__largest_answer=1)
    cards = f"{SYSTEM}/EthernetInterfaces"
    bmc.documents[SYSTEM]["EthernetInterfaces"] = {"@odata.id": cards}
    bmc.documents[cards] = {"Name": "Cards", "Members": [{"@odata.id": f"{cards}/{number}"} for number in range(12)]}
    for number in range(12):
        bmc.documents[f"{cards}/{number}"] = {"Id": str(number), "Name": "x" * (MIB - 1000)}
    with pytest.raises(RedfishError, match="more than 8388608 bytes together"):
        RedfishManagement().get_mac_addresses(on(bmc))
    assert bmc.count("GET", f"{cards}/8") == 1 and bmc.count("GET", f"{cards}/9") == 0


def test_a_redirect_within_the_bmc_is_followed(bmc: HostileBmc) -> None:
    bmc.documents["/elsewhere"] = bmc.documents[SYSTEM]
    bmc.misbehave = of_system(lambda handler: handler.send(308, b"", {"Location": "/elsewhere"}))
    assert RedfishPower().get_power_state(on(bmc)) == states.POWER_OFF


def test_a_login_does_not_follow_a_link_to_another_server() -> None:
    with hostile_bmc(SECRET) as thief, hostile_bmc(SECRET) as bmc:
        bmc.documents["/redfish/v1/Systems"]["Members"] = [{"@odata.id": f"{thief.address}{SYSTEM}"}]
        with pytest.raises(RedfishError, match="another server"):
            RedfishPower().get_power_state(on(bmc, redfish_system_id=None))
        assert thief.requests == []


@pytest.mark.parametrize(
    "status, place, why",
    [
        (301, "/elsewhere", "redirects an order"),
        (302, "/elsewhere", "redirects an order"),
        (303, "/elsewhere", "redirects an order"),
        (307, "http://192.0.2.7/elsewhere", "another server"),
        (308, "http://192.0.2.7/elsewhere", "another server"),
        (308, "https://127.0.0.1/elsewhere", "does the BMC want https"),
    ],
)
def test_an_order_is_not_sent_where_a_redirect_points(bmc: HostileBmc, status: int, place: str, why: str) -> None:
    def misbehave(handler: Handler) -> bool:
        if handler.command == "POST":
            handler.send(status, b"", {"Location": place})
        return handler.command == "POST"

    bmc.misbehave = misbehave
    with pytest.raises(PowerStateFailure, match=why):
        RedfishPower().set_power_state(on(bmc), states.POWER_ON)
    assert [path for method, path in bmc.requests if method == "POST"] == [f"{SYSTEM}/Actions/ComputerSystem.Reset"]


def test_an_error_that_repeats_the_password_is_shown_without_it() -> None:
    with hostile_bmc(SECRET) as bmc:
        bmc.misbehave = of_system(lambda handler: handler.answer(500, {"error": {"message": f"{SECRET} " * 500}}))
        with pytest.raises(RedfishError) as failure:
            RedfishPower().get_power_state(on(bmc))
    assert SECRET not in str(failure.value)
    assert len(str(failure.value)) < 1000


def test_a_stalling_bmc_ends_in_time_and_leaves_room_for_power(bmc: HostileBmc, conf: Callable[..., None]) -> None:
    """Three reads hang; an order to switch on passes them."""
    conf(redfish__read_timeout=5, redfish__connection_attempts=1)
    stalled, go_on = threading.Semaphore(0), threading.Event()
    chassis = "/redfish/v1/Chassis/1"

    def misbehave(handler: Handler) -> bool:
        if handler.path.rstrip("/") == f"{SYSTEM}/SecureBoot":
            stalled.release()
            go_on.wait(BOUND)
            hang_up(handler)
            return True
        return False

    bmc.misbehave = misbehave
    bmc.documents[SYSTEM]["SecureBoot"] = {"@odata.id": f"{SYSTEM}/SecureBoot"}
    bmc.documents[chassis] = {"Id": "1"}
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(RedfishManagement().get_secure_boot_state, on(bmc))
        assert stalled.acquire(timeout=BOUND)
        RedfishPower().set_power_state(on(bmc), states.POWER_ON)
        assert bmc.documents[SYSTEM]["PowerState"] == "On"
        with pytest.raises(RedfishConnectionError, match="in time"):
            reading.result(BOUND)
        go_on.set()


@pytest.mark.parametrize("auth_type", ["session", "basic"])
def test_power_does_not_wait_for_telemetry_that_opens_the_connection(
    bmc: HostileBmc, conf: Callable[..., None], auth_type: str
) -> None:
    """Telemetry reads the service root, or begins a session, while other telemetry stalls; power needs both too."""
    conf(redfish__connection_attempts=1, bmc__telemetry_timeout=int(BOUND))
    bmc.password, chassis = SECRET, "/redfish/v1/Chassis/1"
    bmc.documents[SYSTEM] |= {"Links": {"Chassis": [{"@odata.id": chassis}]}, "SecureBoot": {"@odata.id": "/broken"}}
    thermal = {"@odata.id": f"{chassis}/Thermal"}
    bmc.documents[chassis] = {"Id": "1", "Name": "C", "ChassisType": "RackMount", "Thermal": thermal}
    stalled, go_on = threading.Event(), threading.Event()

    def misbehave(handler: Handler) -> bool:
        if handler.path.endswith("/Thermal"):
            stalled.set()
            go_on.wait(BOUND)
        elif handler.path == "/broken":
            hang_up(handler)
        return handler.path == "/broken"

    bmc.misbehave = misbehave
    gateway = gateway_to(bmc.address)

    def read_sensors() -> Any:
        return RedfishManagement().get_sensors_data(on(bmc, redfish_auth_type=auth_type))

    with ThreadPoolExecutor(3) as pool:
        try:
            first = pool.submit(read_sensors)
            assert stalled.wait(BOUND)
            with pytest.raises(RedfishConnectionError):
                RedfishManagement().get_secure_boot_state(on(bmc, redfish_auth_type=auth_type))
            bmc.expire_sessions()
            gateway.machine_changes()  # nothing that was read before is used again
            second = pool.submit(read_sensors)
            eventually(lambda: gateway._waiting.total(), 1)
            task = on(bmc, redfish_auth_type=auth_type)
            pool.submit(RedfishPower().set_power_state, task, states.POWER_ON).result(BOUND / 4)
        finally:
            go_on.set()
        assert first.result(BOUND) and second.result(BOUND)


@pytest.mark.difference("compressed answers only")
def test_an_answer_that_is_only_sent_compressed_is_read(bmc: HostileBmc) -> None:
    def act(handler: Handler) -> None:
        if handler.headers["Accept-Encoding"] != "gzip":
            return handler.answer(406, {})
        content = gzip.compress(json.dumps(bmc.documents[SYSTEM]).encode())
        return handler.send(200, content, {"Content-Encoding": "gzip"})

    bmc.misbehave = of_system(act)
    assert RedfishPower().get_power_state(on(bmc)) == states.POWER_OFF


# Logins


def test_nodes_of_one_bmc_share_a_session() -> None:
    with hostile_bmc(SECRET) as bmc:
        for _ in range(5):
            RedfishPower().get_power_state(on(bmc))
        assert bmc.logins == [("session", True)]


def test_an_expired_session_is_renewed_and_the_order_is_done_once() -> None:
    with hostile_bmc(SECRET) as bmc:
        task = on(bmc)
        RedfishPower().get_power_state(task)
        resets = f"{SYSTEM}/Actions/ComputerSystem.Reset"

        def misbehave(handler: Handler) -> bool:
            if handler.path == resets and bmc.count("POST", resets) == 1:
                bmc.expire_sessions()
            return False

        bmc.misbehave = misbehave
        RedfishPower().set_power_state(task, states.POWER_ON)
        assert bmc.logins == [("session", True)] * 2
        # The first was refused with 401, so nothing was done twice.
        assert bmc.count("POST", resets) == 2


def test_a_bmc_that_forgets_each_session_at_once_is_not_asked_for_ever() -> None:
    with hostile_bmc(SECRET) as bmc:
        bmc.misbehave = of_system(lambda handler: handler.answer(401, {}))
        with pytest.raises(RedfishError, match="refuses the login"):
            RedfishPower().get_power_state(on(bmc))
        assert len(bmc.logins) <= 2


@pytest.mark.difference("service root for users only")
@pytest.mark.parametrize("auth_type", ["session", "basic", "auto"])
def test_a_bmc_that_shows_its_root_to_users_only_gets_the_login(bmc: HostileBmc, auth_type: str) -> None:
    bmc.password = SECRET

    def misbehave(handler: Handler) -> bool:
        is_hidden = handler.path.rstrip("/") == "/redfish/v1" and not handler._is_let_in()
        if is_hidden:
            handler.answer(401, {})
        return is_hidden

    bmc.misbehave = misbehave
    assert RedfishPower().get_power_state(on(bmc, redfish_auth_type=auth_type)) == states.POWER_OFF
    assert {is_right for _, is_right in bmc.logins} == {True}


@pytest.mark.difference("no place for a session")
def test_a_bmc_without_sessions_gets_the_password() -> None:
    with hostile_bmc(SECRET) as bmc:
        bmc.has_sessions = False
        assert RedfishPower().get_power_state(on(bmc)) == states.POWER_OFF
        assert set(bmc.logins) == {("basic", True)}


@pytest.mark.parametrize("auth_type", ["session", "basic", "auto"])
def test_after_three_refused_logins_nothing_is_tried(auth_type: str, bmc: HostileBmc) -> None:
    """Nodes, threads and conductors share the count through the database; here through the store."""
    bmc.password = SECRET
    store = work_on().store
    wrong = {"redfish_password": "wrong", "redfish_auth_type": auth_type}
    for _ in range(6):
        with pytest.raises(RedfishError):
            RedfishPower().get_power_state(on(bmc, store, **wrong))
    assert [is_right for _, is_right in bmc.logins] == [False] * 3
    requests = len(bmc.requests)
    with pytest.raises(RedfishError, match="refused this login 3 times.*change the address"):
        RedfishPower().get_power_state(on(bmc, store, **wrong))
    assert len(bmc.requests) == requests, "nothing at all is sent"
    # Other credentials are tried.
    assert RedfishPower().get_power_state(on(bmc, store, redfish_auth_type=auth_type)) == states.POWER_OFF


def refuse_sessions(status: int, text: str = "") -> Callable[[Handler], bool]:
    """Return a misbehaviour where each session is refused with a status and a message."""

    def misbehave(handler: Handler) -> bool:
        is_login = (handler.command, handler.path) == ("POST", SESSIONS)
        if is_login:
            handler.answer(status, {"error": {"message": text}} if text else {})
        return is_login

    return misbehave


@pytest.mark.parametrize("status", [302, 400, 404, 405, 501, 503])
def test_a_bmc_that_begins_no_session_does_not_begin_the_count_anew(status: int, bmc: HostileBmc) -> None:
    """Such an answer says nothing about the password, which goes along with the next request."""
    bmc.password, bmc.misbehave = SECRET, refuse_sessions(status)
    store = work_on().store
    for _ in range(6):
        with pytest.raises(RedfishError):
            RedfishPower().get_power_state(on(bmc, store, redfish_password="wrong"))
    assert bmc.logins == [("basic", False)] * 3
    assert RedfishPower().get_power_state(on(bmc, store)) == states.POWER_OFF


@pytest.mark.difference("parts that a user may not see")
def test_what_a_user_may_not_see_takes_nothing_away_from_the_rest(bmc: HostileBmc) -> None:
    bmc.password = SECRET
    bmc.documents[SYSTEM] |= {"Storage": {"@odata.id": f"{SYSTEM}/Storage"}, "Manufacturer": "Acme"}

    def misbehave(handler: Handler) -> bool:
        is_hidden = handler.path == f"{SYSTEM}/Storage"
        if is_hidden:
            handler.answer(403, {"error": {"message": "administrators only"}})
        return is_hidden

    bmc.misbehave = misbehave
    readings: Any = RedfishManagement().get_sensors_data(on(bmc))
    assert (readings["Drive"], readings["Extra"]["Manufacturer"]) == ({}, "Acme")
    with pytest.raises(RedfishError, match="forbids that to the user.*check the rights.*administrators only"):
        RedfishRAID().delete_configuration(on(bmc))


def test_a_session_that_is_forbidden_is_a_refused_login(bmc: HostileBmc) -> None:
    bmc.password, bmc.misbehave = SECRET, refuse_sessions(403)
    with pytest.raises(RedfishError, match="refuses the login"):
        RedfishPower().get_power_state(on(bmc, redfish_auth_type="session"))


def test_a_bmc_without_a_place_for_a_session_is_not_taken_for_one_that_refuses(bmc: HostileBmc) -> None:
    bmc.password, bmc.misbehave = SECRET, refuse_sessions(503, "too many sessions")
    store = work_on().store
    for _ in range(6):
        with pytest.raises(RedfishError, match="too many sessions"):
            RedfishPower().get_power_state(on(bmc, store, redfish_auth_type="session"))
    bmc.misbehave = lambda _handler: False
    assert RedfishPower().get_power_state(on(bmc, store, redfish_auth_type="session")) == states.POWER_OFF


@pytest.mark.difference("no place for a session")
@pytest.mark.parametrize("status", [404, 503])
def test_a_bmc_that_begins_no_further_session_gets_the_password(bmc: HostileBmc, status: int) -> None:
    """Others may have taken all places, or a new firmware has no sessions any more."""
    bmc.password = SECRET
    assert RedfishPower().get_power_state(on(bmc)) == states.POWER_OFF
    bmc.expire_sessions()
    bmc.misbehave = refuse_sessions(status)
    assert RedfishPower().get_power_state(on(bmc)) == states.POWER_OFF
    assert bmc.logins == [("session", True), ("basic", True)]


@pytest.mark.difference("refusal of a login as a bad request")
def test_a_login_refused_as_a_bad_request_is_counted(bmc: HostileBmc) -> None:
    bmc.password, bmc.misbehave = SECRET, refuse_sessions(400, "iLO.2.8.UnauthorizedLoginAttempt")
    store = work_on().store
    for _ in range(3):
        with pytest.raises(RedfishError, match="refuses the login; check"):
            RedfishPower().get_power_state(on(bmc, store, redfish_auth_type="session"))
    with pytest.raises(RedfishError, match="refused this login 3 times"):
        RedfishPower().get_power_state(on(bmc, store, redfish_auth_type="session"))
    assert bmc.count("POST", SESSIONS) == 3


@pytest.mark.parametrize("is_busy", [True, False])
def test_what_is_answered_to_everyone_proves_no_password(is_busy: bool, bmc: HostileBmc) -> None:
    """Neither the service root nor a BMC that is busy looks at the password that comes along."""
    bmc.password = SECRET
    store = work_on().store
    info = {"redfish_password": "wrong", "redfish_auth_type": "basic"}
    for _ in range(2):
        with pytest.raises(RedfishError, match="refuses the login"):
            RedfishPower().get_power_state(on(bmc, store, **info))
        bmc.misbehave = of_system((lambda handler: handler.answer(503, {})) if is_busy else hang_up)
        with pytest.raises(RedfishError):
            RedfishPower().get_power_state(on(bmc, store, **info))
        bmc.misbehave = lambda _handler: False
    with pytest.raises(RedfishError, match="refuses the login"):
        RedfishPower().get_power_state(on(bmc, store, **info))
    with pytest.raises(RedfishError, match="refused this login 3 times"):
        RedfishPower().get_power_state(on(bmc, store, **info))


@pytest.mark.parametrize("auth_type", ["session", "basic"])
def test_no_log_has_the_password_that_a_refusal_repeats(
    auth_type: str, bmc: HostileBmc, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    bmc.password = SECRET

    def misbehave(handler: Handler) -> bool:
        is_public = handler.path.rstrip("/") == "/redfish/v1"
        if not is_public:
            handler.answer(401, {"error": {"message": f"no user has {SECRET}"}})
        return not is_public

    bmc.misbehave = misbehave
    with pytest.raises(RedfishError, match="refuses the login"):
        RedfishPower().get_power_state(on(bmc, redfish_auth_type=auth_type))
    assert "no user has" in caplog.text
    assert SECRET not in caplog.text


def test_a_password_that_was_changed_at_the_bmc_is_tried_three_times(bmc: HostileBmc) -> None:
    bmc.password, bmc.has_sessions = SECRET, False
    store = work_on().store
    tasks = [on(bmc, store, redfish_auth_type="basic") for _ in range(8)]
    RedfishPower().get_power_state(tasks[0])
    bmc.password = "another"
    bmc.logins.clear()
    for task in tasks:
        with pytest.raises(RedfishError):
            RedfishPower().get_power_state(task)
    assert bmc.logins == [("basic", False)] * 3


def test_a_lost_connection_is_no_refused_login(bmc: HostileBmc, conf: Callable[..., None]) -> None:
    conf(redfish__connection_attempts=1)
    bmc.password = SECRET
    store = work_on().store

    def misbehave(handler: Handler) -> bool:
        if handler.path == SESSIONS:
            hang_up(handler)
        return handler.path == SESSIONS

    bmc.misbehave = misbehave
    for _ in range(5):
        with pytest.raises(RedfishConnectionError):
            RedfishPower().get_power_state(on(bmc, store))
    bmc.misbehave = lambda _handler: False
    assert RedfishPower().get_power_state(on(bmc, store)) == states.POWER_OFF


@pytest.mark.parametrize("way", ["basic", "session"])
def test_a_password_that_is_a_common_word_is_hidden_in_the_words_of_a_bmc_and_not_in_ours(
    bmc: HostileBmc, way: str
) -> None:
    bmc.password = SECRET

    def refuse(handler: Handler) -> bool:
        is_login = handler.path == SYSTEM or handler.path == SESSIONS
        if is_login:
            handler.answer(401, {"error": {"message": "no entry by <wrong>"}})
        return is_login

    bmc.misbehave = refuse
    store = work_on().store
    said = []
    for _ in range(4):
        with pytest.raises(RedfishError) as refused:
            RedfishPower().get_power_state(on(bmc, store, redfish_password="wrong", redfish_auth_type=way))
        said.append(str(refused.value))
    assert all("wrong password or user name: it refuse" in each for each in said), said
    assert all("<wrong>" not in each for each in said), said
    assert any("<***>" in each for each in said), said
    assert "3 times" in said[-1]
