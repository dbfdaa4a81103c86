"""`ironic-status`: tells whether all is ready for an upgrade.

    ironic-status [--config-file FILE] upgrade check [--json]

The exit status is 0 when all is well, 1 for a warning, 2 for a failure, 255 when the checks could not even be begun.
"""

import argparse
import json
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from oslo_config import cfg

from ironic.command import upgrade_checks
from ironic.command.dbsync import EXPLAINED
from ironic.command.upgrade_checks import Row
from ironic.conf import CONF, prepare
from ironic.db import Store

WIDTH = 100


def _add_commands(parsers: Any) -> None:
    upgrade: argparse.ArgumentParser = parsers.add_parser("upgrade", help="What concerns upgrades.")
    actions = upgrade.add_subparsers(dest="action", required=True)
    check = actions.add_parser("check", help="Tell whether all is ready.")
    check.add_argument("--json", action="store_true", dest="as_json", help="Answer in JSON.")


def as_table(rows: Sequence[Row]) -> str:
    """Return the rows as people read them."""
    line = f"+{'-' * (WIDTH + 2)}+"
    return "\n".join([line, _cell("Upgrade checks"), line, *(text for row in rows for text in (*_cells(row), line))])


def _cells(row: Row) -> Iterator[str]:
    yield _cell(f"Check: {row.check}")
    yield _cell(f"Result: {row.result.name.capitalize()}")
    for paragraph in row.details.splitlines():
        first = "Details: " if paragraph == row.details.splitlines()[0] else "         "
        yield from map(_cell, textwrap.wrap(first + paragraph, WIDTH, subsequent_indent="         "))


def _cell(text: str) -> str:
    return f"| {text:<{WIDTH}} |"


def as_json(rows: Sequence[Row]) -> str:
    """Return the rows as programs read them."""
    checks = [{"check": row.check, "result": int(row.result), "details": row.details or None} for row in rows]
    return json.dumps({"name": "Upgrade checks", "checks": checks})


def main(argv: Sequence[str] | None = None) -> int:
    """Run the checks and return the exit status."""
    CONF.register_cli_opt(cfg.SubCommandOpt("command", title="commands", handler=_add_commands))
    try:
        prepare(sys.argv[1:] if argv is None else argv)
        store = Store.from_conf()
        try:
            rows = upgrade_checks.run(store)
        finally:
            store.close()
    except EXPLAINED as fault:
        print(f"ironic-status: {fault}", file=sys.stderr)
        return 255
    print((as_json if CONF.command.as_json else as_table)(rows))
    return max(row.result for row in rows)


if __name__ == "__main__":
    sys.exit(main())
