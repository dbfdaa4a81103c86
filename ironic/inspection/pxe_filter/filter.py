"""One look at the database, and what has to be written for it.

May be repeated at any time and run beside another filter: what is right already is not written again. A file that can't
be written does not keep the others from it.
"""

import logging
from dataclasses import dataclass, field

from ironic.conf import CONF
from ironic.db import Store
from ironic.inspection.pxe_filter import decide
from ironic.inspection.pxe_filter.hosts_dir import HostsDir

LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class Sync:
    """What was done, or would have been."""

    hosts: int = 0
    changes: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


class PxeFilter:
    """Keeps a directory in line with the database."""

    def __init__(self, store: Store, hosts: HostsDir) -> None:
        self._store, self._hosts = store, hosts

    def sync(self, *, dry_run: bool = False) -> Sync:
        """Write what has changed, unless that is only to be told; raises errors of the database."""
        ports, any_inspected = self._store.ports.inspected(CONF.pxe_filter.supported_inspect_interfaces)
        present = self._hosts.sizes()
        unknown_served = any_inspected or CONF.auto_discovery.enabled
        contents = decide.wanted(ports, present, unknown_served=unknown_served)
        result = Sync(len(contents), decide.changes(contents, present))
        if not dry_run:
            self._write(result)
        return result

    def _write(self, result: Sync) -> None:
        for name, content in result.changes.items():
            try:
                self._hosts.write(name, content)
            except OSError as error:
                LOG.error("Host file %s can't be written, the next round will try again: %s", name, error)
                result.failed[name] = str(error)
        if result.changes:
            LOG.info("%d of %d host files were written", len(result.changes) - len(result.failed), result.hosts)
