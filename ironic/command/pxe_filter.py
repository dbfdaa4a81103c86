"""`ironic-pxe-filter`: keeps the host files of a dnsmasq in line with the database.

    ironic-pxe-filter [--config-file FILE] [--once] [--dry-run]

It runs until a signal ends it, or looks once and ends. A dry run prints what would be written and writes nothing. It
reads the database and needs neither the message bus nor another program of this service.
"""

import logging
import sys
import threading
from collections.abc import Sequence

from oslo_config import cfg
from oslo_db.exception import DBError

from ironic.command import lifecycle, program
from ironic.command.lifecycle import Part
from ironic.command.signals import Pause
from ironic.conf import CONF, prepare
from ironic.core.errors import IronicError
from ironic.db import Store
from ironic.inspection.pxe_filter import HostsDir, PxeFilter

LOG = logging.getLogger(__name__)

NAME = "The PXE filter"
FIRST_SECONDS = 1.0
EXPLAINED = (IronicError, OSError, ValueError, cfg.Error, DBError)

COMMAND_LINE = [
    cfg.BoolOpt("once", default=False, help="Look once, then end."),
    cfg.BoolOpt("dry-run", default=False, help="Print what would be written, write nothing, then end."),
]


class FilterPart(Part):
    """The filter at work, in a thread of its own."""

    def __init__(self, store: Store, hosts: HostsDir) -> None:
        self._store, self._filter = store, PxeFilter(store, hosts)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pxe-filter", daemon=True)

    def start(self) -> None:
        """Begin; the database may come later."""
        self._thread.start()

    def stop(self) -> None:
        """Let the present round end."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join()
        self._store.close()

    def _run(self) -> None:
        wait = FIRST_SECONDS
        while not self._ending.wait(wait):
            try:
                self._filter.sync()
            except Exception as error:
                LOG.error("The host files could not be brought up to date; the next round will try again: %s", error)
            wait = CONF.pxe_filter.sync_period


def look_once(*, dry_run: bool) -> int:
    """Bring the files up to date, or say what would be written; return the exit status."""
    store = Store.from_conf()
    try:
        result = PxeFilter(store, HostsDir(CONF.pxe_filter.dhcp_hostsdir)).sync(dry_run=dry_run)
    finally:
        store.close()
    for name, content in sorted(result.changes.items()):
        print(f"{name}: {content.strip()}")
    print(f"{len(result.changes)} of {result.hosts} host files {'would be' if dry_run else 'were'} changed.")
    for name, reason in result.failed.items():
        print(f"{name} could not be written: {reason}", file=sys.stderr)
    return lifecycle.FAILED if result.failed else lifecycle.WELL


def main(argv: Sequence[str] | None = None) -> int:
    """Run until a signal ends it, or once."""
    CONF.register_cli_opts(COMMAND_LINE)
    arguments = sys.argv[1:] if argv is None else argv
    if not {"--once", "--dry-run"} & set(arguments):
        return program.run(NAME, _parts, arguments)
    try:
        prepare(arguments)
        return look_once(dry_run=CONF["dry_run"])
    except EXPLAINED as fault:
        print(f"ironic-pxe-filter: {fault}", file=sys.stderr)
        return lifecycle.FAILED


def _parts(pause: Pause) -> Sequence[Part]:
    hosts = HostsDir(CONF.pxe_filter.dhcp_hostsdir)
    return [FilterPart(Store.from_conf(), hosts)]


if __name__ == "__main__":
    sys.exit(main())
