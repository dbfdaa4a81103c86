"""The commands of the page of signals are typed in a shell: they print nothing while all is well, and what is not."""

import os
import re
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from ironic.tests.live_service import PROGRAMS
from ironic.tests.repository import ROOT
from ironic.tests.scenario.clients.lab import Lab

PAGE = (ROOT / "doc" / "what-to-watch.md").read_text()
BLOCK = re.compile(r"^## ([^\n]+)\n\n```bash\n(.+?)\n```$", re.MULTILINE | re.DOTALL)
COMMANDS: dict[str, str] = dict(BLOCK.findall(PAGE))
LONG_AGO = "2001-02-03 04:05:06"

# What makes a signal speak, in the database, and what its command prints then.
SIGNALS = {
    "Dead conductors": ("UPDATE conductors SET updated_at = :before", "{host} False\n"),
    "Failed nodes": (
        "UPDATE nodes SET provision_state = 'deploy failed', last_error = 'no disk' WHERE name = 'ill'",
        "ill deploy failed no disk\n",
    ),
    "Nodes with a fault": (
        "UPDATE nodes SET maintenance = true, fault = 'power failure', maintenance_reason = 'BMC' WHERE name = 'ill'",
        "ill power failure BMC\n",
    ),
    "The oldest wait": (
        "UPDATE nodes SET provision_state = 'clean wait', provision_updated_at = :before WHERE name = 'ill'",
        "2001-02-03T04:05:06.000000+00:00 ill clean wait\n",
    ),
    # Of a conductor that is gone, another one would end the reservation.
    "Long locks": (
        "UPDATE nodes SET reservation = (SELECT hostname FROM conductors) WHERE name = 'ill'",
        "ill {host}\n",
    ),
    "Unknown power": ("UPDATE nodes SET power_state = NULL WHERE name = 'ill'", "ill None available\n"),
}


def typed(lab: Lab, name: str) -> str:
    """Return what the command of a signal prints."""
    logs = lab.service.log_file.parent
    command = COMMANDS[name].replace("/var/log/ironic/ironic.log", str(lab.service.log_file))
    command = command.replace("/var/log/ironic", str(logs)).replace("/var/lib/ironic", str(logs))
    settings = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
    settings |= {"OS_AUTH_TYPE": "none", "OS_ENDPOINT": lab.url, "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", command], env=settings, capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    return done.stdout


@contextmanager
def changed(lab: Lab, table: str, statement: str) -> Iterator[None]:
    """Change rows as something that went wrong would have, and put them back afterwards."""
    with closing(sqlite3.connect(lab.service.log_file.parent / "ironic.sqlite", timeout=30)) as database:
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        rows = database.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
        database.execute(statement, {"before": LONG_AGO} if ":before" in statement else {})
        database.commit()
        yield
        sets = ", ".join(f"{column} = ?" for column in columns)
        for row in rows:
            database.execute(f"UPDATE {table} SET {sets} WHERE id = ?", [*row, row[columns.index("id")]])
        database.commit()


def test_every_signal_of_the_table_has_a_command() -> None:
    table = re.findall(r"^\| \[([^\]]+)\]\(#([\w-]+)\) \|", PAGE, re.MULTILINE)
    assert len(table) == 10
    assert [anchor for _, anchor in table] == [name.lower().replace(" ", "-") for name in COMMANDS]


@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_prints_what_is_not_well_and_nothing_otherwise(lab: Lab, name: str) -> None:
    for node in ("ill", "well"):
        lab.enroll(node, "available")
        lab.power(node, "power off")
    statement, printed = SIGNALS[name]
    assert typed(lab, name) == ""
    seen = set()
    # The conductor itself may give a sign of life between the change and the command.
    for _ in range(3):
        with changed(lab, statement.split()[1], statement):
            (conductor,) = lab.shown("conductors")["conductors"]
            seen.add(typed(lab, name))
    assert seen - {""} == {printed.format(host=conductor["hostname"])}


def test_numbers_of_the_api_its_logs_and_disks(lab: Lab) -> None:
    assert re.fullmatch(r"200 \d\.\d+\n", typed(lab, "The API answers"))
    access = lab.service.log_file.parent / "access.log"
    before = int(typed(lab, "Answers with 5xx"))
    (line,) = [line for line in access.read_text().splitlines() if '"GET /"' in line][-1:]
    with access.open("a") as file:
        file.write(line.replace('" 200 ', '" 503 ') + "\n")
    assert int(typed(lab, "Answers with 5xx")) == before + 1
    errors = int(typed(lab, "Errors in the log"))
    assert errors == lab.service.log.count(" ERROR ")
    assert all(re.fullmatch(r" *\d+% /.*", line) for line in typed(lab, "Space on disks").splitlines())
