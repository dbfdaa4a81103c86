"""The page of what is proved on which BMC, made from the table of outcomes; `tools/pages.py` writes both."""

import json
import tempfile
from pathlib import Path
from typing import Any

from ironic.tests.functional.drivers.bmc_corpus import SOURCES
from ironic.tests.functional.drivers.proved_operations import CASES, NOT_OFFERED, OUTCOMES, PROVED, played_machines

HEAD = """\
# What is proved on which BMC

Each recorded machine is played in the tests, with all operations of the Redfish interfaces. An operation is

- *proved* if it shows all that the record has, each value of each list and no more: sensors, settings, versions, CPUs,
  memory, disks and cards, as the test reads the documents by itself. Only which cards the firmware boots from is not
  compared. An order is proved if the played BMC has got it, and has stored it where an order is stored at once:
  restarts, NMI, boot modes, resets of BIOS settings and updates of firmware as far as that the order has come;
- *refused* if it ends with an error, which says why;
- *not offered* if the machine has nothing for it.

A played BMC does what the standard says. So this shows what the service makes of the answers of a machine, and what
it orders; the machine may still do something else with an order. Steps that wait for the machine are played up to
their wait. A mock-up is what a vendor or the DMTF published as an example, and no record of a machine that stands
somewhere.

Your machines are not here? [Record one](record-a-bmc.md): with the record all later releases are tried on it.
"""
TABLE = """
| machine | BMC | known from | proved |
| --- | --- | --- | --- |
"""


def write_table() -> None:
    """Play all machines, and write what became of each operation."""
    rows: dict[str, Any] = {}
    for source in SOURCES:
        with tempfile.TemporaryDirectory() as directory:
            rows |= played_machines(source, Path(directory))
    OUTCOMES.write_text(json.dumps(rows, indent=1) + "\n")


def page() -> str:
    """Return the page: all machines, and what is refused or not offered by each."""
    rows = json.loads(OUTCOMES.read_text())
    lines, parts = [], []
    for name, row in sorted(rows.items(), key=lambda one: (one[1]["vendor"].lower(), one[0].lower())):
        machine = " ".join(filter(None, (row["vendor"], row["model"]))) or "without a name"
        words = row["operations"]
        proved = [one for one, word in words.items() if word == PROVED]
        number = f"{len(proved)} of {len(words)}"
        lines.append(f"| {machine} | {row['firmware']} | {row['source']} | {number} |\n")
        parts.append(f"\n## {machine} ({name})\n\nFrom {row['source']}.\n\n")
        parts.append("| operation | outcome |\n| --- | --- |\n")
        parts += [f"| {one} | {word} |\n" for one, word in _together(words)]
    return f"{HEAD}{TABLE}{''.join(lines)}{''.join(parts)}"


def _together(words: dict[str, str]) -> list[tuple[str, str]]:
    """Return the operations that are proved, and those that are not offered, in a row each; refusals one by one."""
    order = [case.words for case in CASES]
    all_of = {word: ", ".join(one for one in order if words[one] == word) for word in (PROVED, NOT_OFFERED)}
    refused = [(one, words[one]) for one in order if words[one] not in all_of]
    return [(all_of[PROVED], PROVED), *refused, *([(all_of[NOT_OFFERED], NOT_OFFERED)] if all_of[NOT_OFFERED] else [])]
