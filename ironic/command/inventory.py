"""`ironic-inventory`: take over data and rules of the standalone inspector, list nodes by origin, and record BMCs.

    ironic-inventory [--config-file FILE] import [--replace] [--node NODE] FILE...
    ironic-inventory [--config-file FILE] nodes [--auto-discovered] [--json]
    ironic-inventory convert-rules [--output FILE] FILE | --service URL
    ironic-inventory [--config-file FILE] import-rules FILE...
    ironic-inventory [--config-file FILE] record-bmc [--user NAME] [--output FILE] ADDRESS

Each file is the dump of one node; the node's UUID stands in its name, as in `<uuid>.json`, unless --node names it. A
node that has an inventory keeps it, unless --replace says otherwise. The exit status is 0 when all files were
imported, 1 when one was not.

`nodes` prints one line per node in the order of their creation; --auto-discovered restricts it to nodes that
auto-discovery has created, which the stock client cannot do (S109).

`convert-rules` is in `rule_conversion`; it needs neither a configuration nor a database. `import-rules` is in
`rule_import`. `record-bmc` is in `bmc_record`; it needs no database either.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from oslo_config import cfg

from ironic.command import bmc_record, rule_conversion, rule_import
from ironic.command.dbsync import EXPLAINED, used
from ironic.command.lifecycle import FAILED, WELL
from ironic.conf import CONF, config_files, prepare_command
from ironic.core.errors import IronicError
from ironic.db import Store, require_current
from ironic.inspection.inspector_import import Importer


def _add_commands(parsers: Any) -> None:
    parsers.required = True
    importing: argparse.ArgumentParser = parsers.add_parser(
        "import", help="Import dumps of the standalone ironic-inspector."
    )
    importing.add_argument("files", nargs="+", type=Path, metavar="FILE", help="The dump of one node.")
    importing.add_argument("--node", help="UUID or name of the node, for a single file.")
    importing.add_argument("--replace", action="store_true", help="Replace existing inventories.")
    rule_conversion.add_command(parsers)
    rule_import.add_command(parsers)
    bmc_record.add_command(parsers)
    listing: argparse.ArgumentParser = parsers.add_parser("nodes", help="List nodes.")
    listing.add_argument("--auto-discovered", action="store_true", help="Only nodes that auto-discovery has created.")
    listing.add_argument("--json", action="store_true", help="Print a JSON array of objects.")


def import_files(store: Store, files: Sequence[Path], node: str | None, *, replace: bool) -> int:
    """Import every file and print the result of each; return the exit status."""
    importer, refused = Importer(store, replace=replace), 0
    for path in files:
        try:
            print(f"{path}: imported as the inventory of node {importer.take(path, node)}")
        except IronicError as error:
            refused += 1
            print(f"{path}: {error}", file=sys.stderr)
    print(f"{len(files) - refused} of {len(files)} dumps were imported into {used()}.")
    return FAILED if refused else WELL


_COLUMNS: Final = ("uuid", "name", "driver", "provision_state", "auto_discovered", "created_at")


def list_nodes(store: Store, *, auto_discovered: bool, as_json: bool) -> int:
    """Print the nodes, as a table or as JSON; return the exit status."""
    rows = store.nodes.rows(_COLUMNS, filters={"auto_discovered": True} if auto_discovered else {})
    if as_json:
        print(json.dumps([dict(zip(_COLUMNS, row, strict=True)) for row in rows], default=str, indent=2))
        return WELL
    table = [_COLUMNS, *(["-" if value is None else str(value) for value in row] for row in rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(_COLUMNS))]
    for line in table:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())
    return WELL


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return the exit status."""
    CONF.register_cli_opt(cfg.SubCommandOpt("command", title="commands", handler=_add_commands))
    try:
        prepare_command(sys.argv[1:] if argv is None else argv, without=(rule_conversion.NAME, bmc_record.NAME))
        command = CONF.command
        if command.name == "import" and command.node and len(command.files) > 1:
            raise ValueError("--node names the node of a single file")
        if command.name == rule_conversion.NAME:
            return rule_conversion.convert(command.file, command.service, command.output)
        if command.name == bmc_record.NAME:
            return bmc_record.record(command)
        store = Store.from_conf()
        try:
            require_current(store)
            if command.name == rule_import.NAME:
                return rule_import.import_rules(store, command.files)
            if command.name == "nodes":
                return list_nodes(store, auto_discovered=command.auto_discovered, as_json=command.json)
            return import_files(store, command.files, command.node, replace=command.replace)
        finally:
            store.close()
    except EXPLAINED as fault:
        print(f"ironic-inventory: {config_files.in_words(fault)}", file=sys.stderr)
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
