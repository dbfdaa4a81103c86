"""PXE filter: choose which machines a dnsmasq serves and write its dhcp-hostsdir.

The dnsmasq on this host serves the nodes in inspection, and unknown machines while discovery or an inspection needs
them. The directory has one small file per MAC address and one for unknown hosts. A file is never deleted, because
dnsmasq keeps the rule of a deleted file: a MAC address that no port has any more is treated like unknown hosts. A file
is rewritten in place under a lock, because dnsmasq reads a file when it is closed and may miss other changes. Files of
other names are left alone.

Between two synchronisations, which read all ports, the filter follows the nodes whose inspection begins or ends: one
small query finds them, so a machine is served about a second after its inspection has begun, whatever the number of
nodes.

A synchronisation may be repeated at any time and run at the same time as another filter; a file that can't be written
does not stop the others. Source: doc/contract/inspection.md#pxe-filter.
"""

import fcntl
import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_fixed

from ironic.conf import CONF
from ironic.core.errors import IronicError
from ironic.core.texts import syntax
from ironic.db import Store

LOG = logging.getLogger(__name__)

UNKNOWN_HOSTS: Final = "unknown_hosts_filter"

_ANY: Final = "*:*:*:*:*:*"
_LOCK_ATTEMPTS: Final = 10
_LOCK_PAUSE: Final = 0.01  # seconds


def is_ours(name: str) -> bool:
    """Return whether a file of this name belongs to the filter."""
    return name == UNKNOWN_HOSTS or syntax.mac_of(name) == name


def host_rule(host: str, *, served: bool) -> str:
    """Return the content of a host's file: serve it or ignore it."""
    return f"{host}\n" if served else f"{host},ignore\n"


def wanted_hosts(ports: Mapping[str, bool], present: Iterable[str], *, unknown_served: bool) -> dict[str, str]:
    """Return the contents of all files by name; ``ports`` maps MAC addresses to whether their node is in inspection."""
    contents = {mac: host_rule(mac, served=inspected) for mac, inspected in ports.items() if is_ours(mac)}
    for name in present:
        if name != UNKNOWN_HOSTS and name not in contents:
            contents[name] = host_rule(name, served=unknown_served)
    contents[UNKNOWN_HOSTS] = host_rule(_ANY, served=unknown_served)
    return contents


def changed_hosts(contents: Mapping[str, str], present: Mapping[str, int]) -> dict[str, str]:
    """Return the files to write; ``present`` has sizes, by which the two possible contents of a file differ."""
    return {name: text for name, text in contents.items() if present.get(name) != len(text)}


class HostsDirError(IronicError):
    """The directory is not set, missing or not usable."""

    text = "[pxe_filter]dhcp_hostsdir {path}: {error}"


class HostsDir:
    """The dhcp-hostsdir of one dnsmasq."""

    def __init__(self, path: str | None) -> None:
        if not path:
            raise HostsDirError(path="is not set", error="name the directory that dnsmasq watches")
        if not os.path.isdir(path):
            raise HostsDirError(path=path, error="there is no such directory; create it before dnsmasq starts")
        self.path = path

    def sizes(self) -> dict[str, int]:
        """Return the sizes in bytes of the filter's files, by name."""
        with os.scandir(self.path) as entries:
            return {entry.name: entry.stat().st_size for entry in entries if is_ours(entry.name)}

    def write(self, name: str, content: str) -> None:
        """Write a file in place, or raise OSError."""
        data = content.encode()
        file = os.open(os.path.join(self.path, name), os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            _lock(file)
            os.pwrite(file, data, 0)
            os.ftruncate(file, len(data))
        finally:
            os.close(file)


@retry(
    retry=retry_if_exception_type(BlockingIOError),
    stop=stop_after_attempt(_LOCK_ATTEMPTS),
    wait=wait_fixed(_LOCK_PAUSE),
    reraise=True,
)
def _lock(file: int) -> None:
    """Lock a file against other filters until it is closed."""
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@dataclass(slots=True)
class Sync:
    """The result of a synchronisation: how many files there are, new contents and errors by name."""

    hosts: int = 0
    changes: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


class PxeFilter:
    """Writes the host files for the nodes and ports in the database."""

    def __init__(self, store: Store, hosts: HostsDir) -> None:
        self._store, self._hosts = store, hosts
        # As last written: the addresses that are served because of an inspection, and whether unknown hosts are.
        self._served: frozenset[str] = frozenset()
        self._unknown_served: bool | None = None

    def sync(self, *, dry_run: bool = False) -> Sync:
        """Write the files that have changed, or with ``dry_run`` only return them; raises errors of the database."""
        ports, any_inspected = self._store.ports.inspected(CONF.pxe_filter.supported_inspect_interfaces)
        present = self._hosts.sizes()
        unknown_served = any_inspected or CONF.auto_discovery.enabled
        contents = wanted_hosts(ports, present, unknown_served=unknown_served)
        result = Sync(len(contents), changed_hosts(contents, present))
        if dry_run:
            return result
        self._write(result)
        self._served = frozenset(mac for mac, inspected in ports.items() if inspected and mac not in result.failed)
        self._unknown_served = None if UNKNOWN_HOSTS in result.failed else unknown_served
        return result

    def follow(self) -> Sync:
        """Write the files of nodes whose inspection has begun or ended since the last call or synchronisation.

        Synchronises when unknown hosts are to be treated differently from now on, which may concern all files. Raises
        errors of the database.
        """
        served, any_inspected = self._store.ports.in_inspection(CONF.pxe_filter.supported_inspect_interfaces)
        if (any_inspected or CONF.auto_discovery.enabled) != self._unknown_served:
            return self.sync()
        changed = {mac for mac in served ^ self._served if is_ours(mac)}
        result = Sync(len(changed), {mac: host_rule(mac, served=mac in served) for mac in sorted(changed)})
        self._write(result)
        # What could not be written still differs, so the next call tries again.
        self._served = served ^ frozenset(result.failed)
        return result

    def _write(self, result: Sync) -> None:
        for name, content in result.changes.items():
            try:
                self._hosts.write(name, content)
            except OSError as error:
                LOG.error("Host file %s can't be written, the next synchronisation tries again: %s", name, error)
                result.failed[name] = str(error)
        if result.changes:
            LOG.info("%d of %d host files were written", len(result.changes) - len(result.failed), result.hosts)
