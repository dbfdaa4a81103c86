"""Rules of a file or of a running inspector, converted by the program."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from ironic.core.rules import check_rule
from ironic.db import Store
from ironic.inspection.rules import inspector_rules

RULES = [one["rule"] for one in yaml.safe_load((Path(__file__).parents[2] / "data/inspector-rules.yaml").read_text())]
COMMAND = [sys.executable, "-m", "ironic.command.inventory", "convert-rules"]


def run(*arguments: str | Path) -> tuple[int, str, str]:
    ended = subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert "Traceback" not in ended.stderr
    return ended.returncode, ended.stdout, ended.stderr


@contextmanager
def serving(store: Store) -> Iterator[str]:
    """Serve the rules of a store as the API of the standalone inspector does; yield the URL."""
    versions = {"X-OpenStack-Ironic-Inspector-API-Minimum-Version": "1.0"}
    versions["X-OpenStack-Ironic-Inspector-API-Maximum-Version"] = "1.18"

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            _, _, uuid = self.path.removeprefix("/v1").rpartition("/rules")
            if not self.path.startswith("/v1/rules"):
                self._answer({"versions": []})
            elif uuid:
                self._answer(inspector_rules.show(store, uuid.strip("/")))
            else:
                self._answer({"rules": inspector_rules.listed(store)})

        def _answer(self, document: Any) -> None:
            content = json.dumps(document).encode()
            self.send_response(200)
            for name, value in (*versions.items(), ("Content-Length", str(len(content)))):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.demand("S172")
def test_a_file_is_converted_with_a_report(tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps({"rules": RULES}))
    status, printed, report = run(old, "--output", new)
    assert (status, printed) == (1, "")
    made = json.loads(new.read_text())
    for rule in made:
        check_rule(rule)
    lines = report.splitlines()
    assert "rule 7 (a text in a field): converted" in lines
    assert "rule 6 (refuse machines of another vendor): converted with a difference" in lines
    place = lines.index("rule 16 (anywhere): not convertible")
    assert (
        lines[place + 1]
        == "  - conditions[0]: the path has more than names, one wildcard, and indexes from the beginning"
    )
    assert lines[-1] == f"{len(made)} of {len(RULES)} rules were converted; new rules take nothing back."


def test_one_rule_in_yaml_goes_to_standard_output(tmp_path: Path) -> None:
    old = tmp_path / "old.yaml"
    old.write_text(yaml.safe_dump(RULES[6]))
    status, printed, report = run(old)
    assert status == 0
    assert [one["description"] for one in json.loads(printed)] == ["a text in a field"]
    assert report.endswith("1 of 1 rules were converted; new rules take nothing back.\n")


@pytest.mark.demand("S172")
def test_the_rules_of_a_running_inspector_are_converted(store: Store) -> None:
    wanted = [RULES[number] for number in (1, 6, 7)]
    uuids = [inspector_rules.create(store, rule)["uuid"] for rule in wanted]
    with serving(store) as url:
        status, printed, report = run("--service", url)
    assert status == 0, report
    made = json.loads(printed)
    assert [one["uuid"] for one in made] == uuids
    assert [one["description"] for one in made] == [one["description"] for one in wanted]


@pytest.mark.parametrize(
    ("content", "reason"),
    [("[", "is neither JSON nor YAML"), ("7", "has no list of rules"), (None, "No such file")],
)
def test_what_can_not_be_read_is_explained(tmp_path: Path, content: str | None, reason: str) -> None:
    old = tmp_path / "old.json"
    if content is not None:
        old.write_text(content)
    status, printed, report = run(old)
    assert (status, printed) == (1, "")
    assert "ironic-inventory: " in report and reason in report


def test_a_service_that_does_not_answer_is_explained() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.server_close()  # the port is free again
    status, _, report = run("--service", f"http://127.0.0.1:{server.server_port}")
    assert status == 1
    assert f"The rules of http://127.0.0.1:{server.server_port} can't be read" in report
