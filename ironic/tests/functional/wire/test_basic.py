"""Names and passwords from a file: who gets in, who doesn't, and what happens when the file changes."""

import base64
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path

import bcrypt
import pytest

from ironic.api.authentication import BadUserFile, Users
from ironic.api.settings import ApiSettings
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Response, Service, environ_of

NAME, PASSWORD = "admin", "pass:wörd"


def line(name: str, password: str) -> str:
    """Write a line as Apache's program does; its prefix differs from the library's."""
    stored = bcrypt.hashpw(password.encode()[:72], bcrypt.gensalt(rounds=4)).decode()
    return f"{name}:{stored.replace('$2b$', '$2y$')}\n"


def basic(text: str) -> str:
    return "Basic " + base64.b64encode(text.encode()).decode()


def rewrite(path: Path, text: str) -> None:
    """Replace a file as programs do that write a new one beside it."""
    beside = path.with_suffix(".new")
    beside.write_text(text)
    os.replace(beside, path)


@pytest.fixture
def users(tmp_path: Path) -> Path:
    path = tmp_path / "htpasswd"
    path.write_text(f"# who may come in\n\n{line(NAME, PASSWORD)}{line('second', 'x' * 100)}")
    return path


@pytest.fixture
def service(tmp_path: Path, users: Path) -> Iterator[Service]:
    running = services.start(tmp_path, ApiSettings(auth_strategy="http_basic", user_file=str(users)))
    yield running
    running.close()


def ask(service: Service, header: str | None, path: str = "/v1/nodes", method: str = "GET") -> Response:
    return service.call(method, path, headers={} if header is None else {"Authorization": header})


@pytest.mark.parametrize("text", [f"{NAME}:{PASSWORD}", f"second:{'x' * 100}"])
def test_who_is_in_the_file_may_do_everything(service: Service, text: str) -> None:
    for _ in range(2):
        assert ask(service, basic(text)).json == {"nodes": []}
    assert ask(service, basic(text).replace("Basic", "basic")).status == 200
    assert service.call("POST", "/v1/chassis", body={}, headers={"Authorization": basic(text)}).status == 201


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (None, 401),
        (basic(f"{NAME}:wrong"), 401),
        (basic(f"{NAME}:"), 401),
        (basic(f"nobody:{PASSWORD}"), 401),
        (basic(f":{PASSWORD}"), 401),
        (basic(f"{NAME}:{'x' * 10_000}"), 401),
        ("Bearer abc", 400),
        ("Basic", 400),
        ("Basic ???", 400),
        ("Basic " + base64.b64encode(b"\xff:\xff").decode(), 400),
        (basic("no colon"), 400),
        (basic(f"{NAME}:a\0b"), 400),
        ("", 400),
        ("a" * 10_000, 400),
    ],
)
def test_others_are_refused_in_the_shape_of_this_mode(service: Service, header: str | None, status: int) -> None:
    answer = ask(service, header)
    assert (answer.status, answer.json["error"]["code"]) == (status, status)
    assert answer.json["error"]["message"]
    assert answer.headers.get("WWW-Authenticate") == ('Basic realm="Baremetal API"' if status == 401 else None)
    assert "openstack-request-id" in answer.headers
    assert services.VERSION_HEADER not in answer.headers


def cpu_seconds(users: Users, name: bytes) -> float:
    """Return the least CPU time of three looks at a wrong password."""

    def once() -> float:
        began = time.thread_time()
        assert not users.knows(name, b"wrong")
        return time.thread_time() - began

    return min(once() for _ in range(3))


@pytest.mark.parametrize("rounds", [4, 12])
def test_an_unknown_name_takes_as_long_as_a_known_one(tmp_path: Path, rounds: int) -> None:
    path = tmp_path / "users"
    stored = bcrypt.hashpw(b"right", bcrypt.gensalt(rounds=rounds)).decode()
    path.write_text(f"known:{stored}\n")
    users = Users(path)
    known, unknown = cpu_seconds(users, b"known"), cpu_seconds(users, b"unknown")
    # A step of cost is a factor of two.
    assert known / 1.7 < unknown < known * 1.7


def guess(service: Service, text: str, source: str) -> int:
    sent = environ_of("GET", "/v1/nodes", b"") | {"HTTP_AUTHORIZATION": basic(text), "REMOTE_ADDR": source}
    return service.send(sent | {"HTTP_X_OPENSTACK_IRONIC_API_VERSION": "1.115"}).status


def test_guesses_are_limited_per_address_and_name_and_logged_with_both(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    assert guess(service, f"{NAME}:{PASSWORD}", "192.0.2.1") == 200
    with caplog.at_level(logging.INFO):
        answers = [guess(service, f"{NAME}:guess{n}", "192.0.2.1") for n in range(12)]
    assert answers == [401] * 10 + [429] * 2
    logged = [record.message for record in caplog.records if record.name == "ironic.api.authentication"]
    assert len(logged) == 12 and all("192.0.2.1" in text and NAME in text for text in logged)
    assert "guess1" not in caplog.text
    # The right password counts still: where it was used before, from elsewhere, and for another name.
    assert guess(service, f"{NAME}:{PASSWORD}", "192.0.2.1") == 200
    assert guess(service, f"{NAME}:wrong", "192.0.2.2") == 401
    assert guess(service, f"second:{'x' * 100}", "192.0.2.1") == 200


def test_guesses_over_many_names_are_limited_per_address(service: Service) -> None:
    # While they are sent, time allows some more.
    answers = [guess(service, f"name{n}:x", "192.0.2.1") for n in range(150)]
    assert answers[:100] == [401] * 100
    assert 429 in answers[100:]


def test_right_passwords_are_not_counted(service: Service, users: Path) -> None:
    for _ in range(12):
        users.touch()  # what was remembered is forgotten
        assert guess(service, f"{NAME}:{PASSWORD}", "192.0.2.1") == 200


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/openapi.json"])
def test_public_routes_ask_for_nothing(service: Service, path: str) -> None:
    assert ask(service, None, path).status == 200


def test_a_ramdisk_needs_no_password(service: Service) -> None:
    assert ask(service, None, "/v1/lookup?addresses=52:54:00:00:00:01").status == 404


def test_a_changed_file_counts_at_once(service: Service, users: Path) -> None:
    assert ask(service, basic(f"{NAME}:{PASSWORD}")).status == 200
    rewrite(users, line(NAME, "another") + line("third", "pw"))
    assert ask(service, basic(f"{NAME}:{PASSWORD}")).status == 401
    assert ask(service, basic(f"{NAME}:another")).status == 200
    assert ask(service, basic("third:pw")).status == 200
    rewrite(users, line("third", "pw"))
    assert ask(service, basic(f"{NAME}:another")).status == 401


def test_deleting_the_file_revokes_the_users_until_it_exists_again(
    service: Service, users: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text, known = users.read_text(), basic(f"{NAME}:{PASSWORD}")
    assert ask(service, known).status == 200
    users.unlink()
    with caplog.at_level(logging.ERROR):
        assert [ask(service, known).status for _ in range(2)] == [401, 401]
        assert ask(service, basic("nobody:x")).status == 401
    assert [str(users) in record.message for record in caplog.records if "user file" in record.message] == [True]
    rewrite(users, text)
    assert ask(service, known).status == 200


@pytest.mark.parametrize("text", ["admin:secret\n", "admin\n", ""])
def test_a_file_that_was_spoilt_changes_nothing_and_is_logged(
    service: Service, users: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    rewrite(users, text)
    with caplog.at_level(logging.ERROR):
        assert ask(service, basic(f"{NAME}:{PASSWORD}")).status == 200
        assert ask(service, basic(f"{NAME}:wrong")).status == 401
    assert [record.levelname for record in caplog.records if "user file" in record.message] == ["ERROR"]
    assert "secret" not in caplog.text


@pytest.mark.parametrize(
    "text",
    [None, "", "admin:{SHA}Ys23Ag/5IOWqZCw9QGaVDdHwH00=\n", ":x\n", line("a", "b") + "c\n"],
    ids=["missing", "empty", "another hash", "no name", "a line without a hash"],
)
def test_a_bad_file_refuses_the_start(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "users"
    if text is not None:
        path.write_text(text)
    with pytest.raises(BadUserFile, match=str(path)):
        Users(path)


def test_a_pipe_in_the_place_of_the_file_refuses_the_start_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "users")
    with pytest.raises(BadUserFile, match="it is no regular file"):
        Users(tmp_path / "users")
