"""`ironic-pxe-filter`: keep the host files of a dnsmasq in line with the database.

    ironic-pxe-filter [--config-file FILE] [--once] [--dry-run]

It runs until a signal ends it, or once. A dry run prints what would be written and writes nothing. It reads the
database and needs neither the message bus nor another program of this service.
"""

import logging
import sys
import threading
import time
from collections.abc import Sequence

from oslo_config import cfg

from ironic.command import lifecycle
from ironic.command.lifecycle import Component, Pause
from ironic.conf import CONF, config_files, prepare_command
from ironic.db import Store
from ironic.inspection.pxe_filter import HostsDir, PxeFilter

LOG = logging.getLogger(__name__)

NAME = "The PXE filter"
FIRST_SECONDS = 1.0
# Between two queries for inspections that have begun or ended.
FOLLOW_SECONDS = 1.0

COMMAND_LINE = [
    cfg.BoolOpt("once", default=False, help="Write the host files once, then end."),
    cfg.BoolOpt("dry-run", default=False, help="Print what would be written, write nothing, then end."),
]


class FilterComponent(Component):
    """Run the PXE filter periodically, in a thread of its own."""

    def __init__(self, store: Store, hosts: HostsDir) -> None:
        self._store, self._filter = store, PxeFilter(store, hosts)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pxe-filter", daemon=True)

    def start(self) -> None:
        """Start the thread; the database may come up later."""
        self._thread.start()

    def stop(self) -> None:
        """Let the current round end."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join()
        self._store.close()

    def _run(self) -> None:
        wait, synchronised = FIRST_SECONDS, None
        while not self._ending.wait(wait):
            now = time.monotonic()
            try:
                if synchronised is None or now - synchronised >= CONF.pxe_filter.sync_period:
                    self._filter.sync()
                    synchronised = now
                else:
                    self._filter.follow()
                wait = min(FOLLOW_SECONDS, CONF.pxe_filter.sync_period)
            except Exception as error:
                LOG.error("The host files could not be updated; the next round will try again: %s", error)
                wait, synchronised = CONF.pxe_filter.sync_period, None


def sync_once(*, dry_run: bool) -> int:
    """Update the files, or print what would be written; return the exit status."""
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

        def components(pause: Pause) -> Sequence[Component]:
            return [FilterComponent(Store.from_conf(), HostsDir(CONF.pxe_filter.dhcp_hostsdir))]

        return lifecycle.run_program(NAME, components, arguments)
    try:
        prepare_command(arguments)
        return sync_once(dry_run=CONF["dry_run"])
    except lifecycle.EXPLAINED as fault:
        print(f"ironic-pxe-filter: {config_files.in_words(fault)}", file=sys.stderr)
        return lifecycle.FAILED


if __name__ == "__main__":
    sys.exit(main())
