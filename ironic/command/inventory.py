"""`ironic-inventory`: takes over inspection data that the old, separate inspector has stored.

    ironic-inventory [--config-file FILE] import [--replace] [--node NODE] FILE...

Each file is the dump of one node; the node's UUID stands in its name, as in `<uuid>.json`, unless --node names it. A
node that has an inventory keeps it, unless --replace says otherwise. The exit status is 0 when all files were taken, 1
when one was not.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from oslo_config import cfg

from ironic.command.dbsync import DONE, EXPLAINED, FAILED
from ironic.conf import CONF, prepare
from ironic.core.errors import IronicError
from ironic.db import Store, require_current
from ironic.inspection.importing import Importer


def _add_commands(parsers: Any) -> None:
    parsers.required = True
    taking: argparse.ArgumentParser = parsers.add_parser("import", help="Take over dumps of the old inspector.")
    taking.add_argument("files", nargs="+", type=Path, metavar="FILE", help="The dump of one node.")
    taking.add_argument("--node", help="UUID or name of the node, for a single file.")
    taking.add_argument("--replace", action="store_true", help="Replace inventories that are there.")


def take_all(store: Store, files: Sequence[Path], node: str | None, *, replace: bool) -> int:
    """Take every file over, saying what became of it; return the exit status."""
    importer, refused = Importer(store, replace=replace), 0
    for path in files:
        try:
            print(f"{path}: taken as the inventory of node {importer.take(path, node)}")
        except IronicError as error:
            refused += 1
            print(f"{path}: {error}", file=sys.stderr)
    print(f"{len(files) - refused} of {len(files)} dumps were taken.")
    return FAILED if refused else DONE


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return the exit status."""
    CONF.register_cli_opt(cfg.SubCommandOpt("command", title="commands", handler=_add_commands))
    try:
        prepare(sys.argv[1:] if argv is None else argv)
        if CONF.command.node and len(CONF.command.files) > 1:
            raise ValueError("--node names the node of a single file")
        store = Store.from_conf()
        try:
            require_current(store)
            return take_all(store, CONF.command.files, CONF.command.node, replace=CONF.command.replace)
        finally:
            store.close()
    except EXPLAINED as fault:
        print(f"ironic-inventory: {fault}", file=sys.stderr)
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
