"""The conductor's own web server for [deploy]http_root: boot files and images for machines and BMCs.

It runs where [deploy]http_url names no other web server. Starlette answers requests (ranges, conditions, media types),
on connections with the limits of `http_connection`. It serves regular files that every user of this host may read, and
nothing else: no directory, no name with a dot in front, no link that leads out, none of the caches. Names of published
images are random, so who does not know one can't download it.
"""

import asyncio
import logging
import math
import os
import stat
import threading
import time
from typing import ClassVar, Final

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from ironic.command.http_connection import Connection
from ironic.command.http_server import HttpServer, ServerSettings
from ironic.command.lifecycle import Component
from ironic.conf import CONF
from ironic.core.texts import syntax
from ironic.integrations import host_files, web_root

LOG = logging.getLogger(__name__)

# Seconds in which a client has to take what the kernel buffers for it, some 100 KiB.
STALLED_SECONDS: Final = 60
_DRAIN_SECONDS: Final = 2
# Between two attempts to listen at an address that is taken.
RETRY_SECONDS: Final = 5.0
_ALL_ADDRESSES: Final = ("0.0.0.0", "::")


class PublishedFiles(StaticFiles):
    """The files below a directory that are meant for machines; the directory may appear later."""

    async def check_config(self) -> None:
        """Accept a directory that is not there yet: nothing is published until then."""

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """Return the path of a file and its status, None for what is not served."""
        if any(part.startswith(".") for part in path.split(os.sep)):
            return "", None
        try:
            full_path, found = super().lookup_path(path)
        except OSError:
            return "", None
        is_served = (
            found is not None
            and stat.S_ISREG(found.st_mode)
            # The operator's copy of a boot file has a token in it, and only the service may read it.
            and found.st_mode & stat.S_IROTH
            and not host_files.is_secret_or_cached(full_path)
        )
        return (full_path, found) if is_served else ("", None)


class _FileConnection(Connection):
    """A client that downloads: it has to make progress, and it is one of a few from its address."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register the client unless its address has too many connections."""
        self.client = transport.get_extra_info("peername")[:2]
        super().connection_made(transport)
        others = sum(1 for each in self.peers if each.client and self.client and each.client[0] == self.client[0])
        if others > CONF.deploy.http_server_connections_per_client:
            self.transport.abort()

    def pause_writing(self) -> None:
        """Limit the time until the client takes more."""
        super().pause_writing()
        self.deadline = min(self.deadline, time.monotonic() + STALLED_SECONDS)

    def resume_writing(self) -> None:
        """Give the client that made progress its time again: a whole image may take long."""
        super().resume_writing()
        if self.unanswered:
            self.deadline = math.inf


class FileServer(HttpServer):
    """Serve the published files."""

    subject: ClassVar[str] = "file"
    connection: ClassVar[type[Connection]] = _FileConnection

    def __init__(self, directory: str, address: tuple[str, int], most_connections: int) -> None:
        settings = ServerSettings(
            address, body_limit=0, most_connections=most_connections, drain_seconds=_DRAIN_SECONDS, group="deploy"
        )
        files = PublishedFiles(directory=directory, check_dir=False)
        super().__init__(Starlette(routes=[Mount("/", files)]), settings)


class PublishedFilesComponent(Component):
    """The file server of a conductor, where the options ask for one.

    The service starts without it when the address is taken; what needs it is refused with the reason. It is tried
    again: the service before this one may hold the address until it has ended.
    """

    def __init__(self) -> None:
        self._server: FileServer | None = None
        self._ending = threading.Event()
        self._trying: threading.Thread | None = None

    def start(self) -> None:
        """Serve, and state where."""
        root, port, address = CONF.deploy.http_root, CONF.deploy.http_server_port, CONF.deploy.http_server_ip
        if CONF.deploy.http_url or not port or not root:
            return
        self._server = FileServer(root, (address, port), CONF.deploy.http_server_connections)
        reason = self._serve(self._server)
        # While an exception is being handled, oslo.log repeats it after every message.
        if reason is not None:
            LOG.warning(
                "%s can't be served to machines: %s, or serve it by a web server of your own and set [deploy]http_url. "
                "Until then virtual media and network boot that need it are refused. It is tried again every %s "
                "seconds.",
                root,
                reason,
                RETRY_SECONDS,
            )
            self._trying = threading.Thread(
                target=self._try_again, args=(self._server,), name="file-server-start", daemon=True
            )
            self._trying.start()

    def _serve(self, server: FileServer) -> str | None:
        """Begin to serve; return why that is not possible now."""
        try:
            server.start()
        except OSError as error:
            return error.strerror or str(error)
        port, address = CONF.deploy.http_server_port, CONF.deploy.http_server_ip
        # An address that stands for all of this host's is none for clients.
        own = f"http://{syntax.host_in_url(CONF.my_ip)}:{port}" if address in _ALL_ADDRESSES else server.url
        web_root.announce(CONF.deploy.http_server_url or own)
        LOG.info("%s is served to machines at %s", CONF.deploy.http_root, web_root.url())
        return None

    def _try_again(self, server: FileServer) -> None:
        while not self._ending.wait(RETRY_SECONDS) and self._serve(server) is not None:
            pass

    def stop(self) -> None:
        """Serve no more."""
        self._ending.set()
        if self._trying:
            self._trying.join()
        web_root.announce(None)
        if self._server:
            self._server.stop()
