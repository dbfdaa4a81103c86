"""Files of this host that belong to the service itself and are no images: no URL leads to them.

Secrets are what it keeps for itself: its database, logs, configuration, passwords and keys. Stores are directories in
which it keeps or offers images of all nodes; machines are led there by the service, and never by the name of a file.
"""

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from ironic.conf import CONF, written
from ironic.core.syntax import is_stored_uuid


@dataclass(frozen=True, slots=True)
class Own:
    """A file or directory of the service, links followed, and the option that says where it is."""

    path: str
    option: str
    is_directory: bool = False
    is_deep: bool = False  # the directories in it are the service's as well

    def holds(self, path: str) -> bool:
        """Tell whether a file, links followed, is this one or lies in it; a file's name may go on, as copies' do."""
        if self.is_deep:
            return is_below(path, self.path)
        if self.is_directory:
            return os.path.dirname(path) == self.path
        return os.path.dirname(path) == os.path.dirname(self.path) and path.startswith(self.path)


def is_below(path: str, directory: str) -> bool:
    """Tell whether a path is a directory or lies below it; both are absolute, links followed."""
    return os.path.commonpath((path, directory)) == directory


def secrets() -> Collection[Own]:
    """Return what the service keeps for itself."""
    return {
        Own(os.path.realpath(path), option, is_directory)
        for path, option, is_directory in (*_databases(), *_logs(), *_configuration(), *_keys())
        if path
    }


def stores() -> Collection[Own]:
    """Return the directories in which images of all nodes are kept or offered."""
    http, tftp, images = CONF.deploy.http_root, CONF.pxe.tftp_root, CONF.deploy.http_image_subdir
    named = (
        (CONF.pxe.tftp_master_path, "[pxe]tftp_master_path"),
        (CONF.pxe.instance_master_path, "[pxe]instance_master_path"),
        (CONF.dnsmasq.dhcp_hostsdir, "[dnsmasq]dhcp_hostsdir"),
        (CONF.dnsmasq.dhcp_optsdir, "[dnsmasq]dhcp_optsdir"),
        (os.path.join(http, images), "[deploy]http_root"),
        (os.path.join(http, "vmedia"), "[deploy]http_root"),
        (os.path.join(http, CONF.pxe.pxe_config_subdir), "[deploy]http_root"),
        (os.path.join(tftp, CONF.pxe.pxe_config_subdir), "[pxe]tftp_root"),
    )
    return {Own(os.path.realpath(path), option, is_directory=True, is_deep=True) for path, option in named}


def is_own(path: str, found: os.stat_result) -> bool:
    """Tell whether a file belongs to the service: by its path, links followed, or under another name (a hard link)."""
    kept = secrets()
    if any(own.holds(path) for own in kept) or is_of_nodes(path):
        return True
    return any(os.path.samestat(found, one) for one in _stats(own.path for own in (*kept, *_named())))


def is_of_nodes(path: str) -> bool:
    """Tell whether a path, links followed, is where images or boot files of nodes are kept or offered."""
    return any(own.holds(path) for own in stores()) or _is_of_node(path)


def _named() -> Iterator[Own]:
    """Yield the files that the configuration names, whatever they are for."""
    for (group, option), text in written.values(CONF):
        if text.startswith("/"):
            yield Own(os.path.realpath(text), f"[{group}]{option}", os.path.isdir(text))


def _databases() -> Iterator[tuple[str, str, bool]]:
    for name in ("connection", "slave_connection"):
        try:
            url = make_url(CONF.database[name] or "")
        except ArgumentError:
            continue
        if url.get_backend_name() == "sqlite" and url.database and url.database != ":memory:":
            # It may be a URL in its turn, with options of SQLite behind it.
            path = urlsplit(url.database).path if url.database.startswith("file:") else url.database
            yield path, f"[database]{name}", False


def _logs() -> Iterator[tuple[str, str, bool]]:
    yield CONF.log_dir or "", "[DEFAULT]log_dir", True
    yield os.path.join(CONF.log_dir or "", CONF.log_file) if CONF.log_file else "", "[DEFAULT]log_file", False
    yield CONF.agent.deploy_logs_local_path or "", "[agent]deploy_logs_local_path", True


def _configuration() -> Iterator[tuple[str, str, bool]]:
    # These two are known once a command line was read.
    yield from ((path, "--config-file", False) for path in getattr(CONF, "config_file", None) or ())
    yield from ((path, "--config-dir", True) for path in getattr(CONF, "config_dir", None) or ())
    yield CONF.log_config_append or "", "[DEFAULT]log_config_append", False
    yield CONF.http_basic_auth_user_file, "[DEFAULT]http_basic_auth_user_file", False


def _keys() -> Iterator[tuple[str, str, bool]]:
    """Yield the files of keys that the configuration names, those of libraries included."""
    for (group, option), text in written.values(CONF):
        if "key" in option and text.startswith("/"):
            yield text, f"[{group}]{option}", False


def _is_of_node(path: str) -> bool:
    """Tell whether a file lies in what is offered to one node: the folder of its UUID below a root."""
    for root in map(os.path.realpath, (CONF.deploy.http_root, CONF.pxe.tftp_root)):
        if is_below(path, root) and is_stored_uuid(os.path.relpath(path, root).partition(os.sep)[0]):
            return True
    return False


def _stats(paths: Iterator[str]) -> Iterator[os.stat_result]:
    for path in paths:
        for beside in ("", "-wal", "-shm", "-journal"):
            try:
                yield os.stat(path + beside)
            except OSError:
                continue
