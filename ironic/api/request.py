"""One request as handlers see it.

A slotted object that is passed along; nothing is looked up in thread locals. It holds the version, the caller and the
services below the API (store, conductors, hash ring), and reads body and query on demand.
"""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import parse_qsl

from ironic.api import request_body
from ironic.api.settings import ApiSettings
from ironic.core.addresses.own_host import names_file_anywhere
from ironic.core.context import RequestContext
from ironic.core.errors import Invalid, NotAuthorized

if TYPE_CHECKING:
    # For annotations only: at run time these modules import this one, or are not needed.
    from ironic.api.policy import Policy, Rights
    from ironic.db import Store
    from ironic.rpc.client import ConductorClients
    from ironic.rpc.hash_ring import HashRingManager

# Key of the request in the WSGI environment.
REQUEST: Final = "ironic.request"

_UNREAD: Final = object()
_ORDINARY: Final = "max_body"
_REPORT: Final = "max_body_inspection"
_MOST_PARAMETERS: Final = 1000
_HOST: Final = re.compile(r"[A-Za-z0-9.\-_~%:\[\]]{1,300}")


class Row(Protocol):
    """The part of a row of the route table that the request itself needs."""

    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def body_limit(self) -> str: ...
    @property
    def of_ramdisks(self) -> bool: ...


class Services:
    """The services that all requests share."""

    __slots__ = ("conductors", "hash_ring", "policy", "settings", "store")

    def __init__(
        self,
        store: "Store",
        conductors: "ConductorClients",
        hash_ring: "HashRingManager",
        settings: ApiSettings,
        policy: "Policy",
    ) -> None:
        self.store, self.conductors, self.hash_ring = store, conductors, hash_ring
        self.settings, self.policy = settings, policy


class Request:
    """One request, created when its version has been negotiated."""

    __slots__ = (
        "_base",
        "_body",
        "_memory",
        "_rights",
        "announce",
        "context",
        "environ",
        "method",
        "minor",
        "node",
        "route",
        "services",
        "stripped",
        "within",
    )

    def __init__(self, environ: Mapping[str, Any], minor: int, context: RequestContext, services: Services) -> None:
        self.environ, self.minor, self.context, self.services = environ, minor, context, services
        self.method: str = environ["REQUEST_METHOD"]
        self.route: Row | None = None
        # The node that the request names, once the caller may do with it what the rule of the route guards.
        self.node: str | None = None
        # Whether the suffix `.json` was removed from the path.
        self.stripped = False
        # Path of the parent of the documents, for their links.
        self.within = ""
        # Called before a conductor is called, to send the start notification.
        self.announce: Callable[[], object] | None = None
        self._rights: Rights | None = None
        self._base: str | None = None
        self._body: Any = _UNREAD
        # Bytes of memory that are reserved for the body.
        self._memory = 0

    @property
    def store(self) -> "Store":
        """Return the database."""
        return self.services.store

    @property
    def conductors(self) -> "ConductorClients":
        """Return the RPC clients of the conductors; the start notification is sent first."""
        if self.announce is not None:
            self.announce()
        return self.services.conductors

    @property
    def hash_ring(self) -> "HashRingManager":
        """Return the hash rings."""
        return self.services.hash_ring

    @property
    def settings(self) -> ApiSettings:
        """Return the settings of the API."""
        return self.services.settings

    @property
    def rights(self) -> "Rights":
        """Return what the caller may do; the same rules decide from the first question to the last."""
        if self._rights is None:
            self._rights = self.services.policy.rights(self.context)
        return self._rights

    @property
    def is_judged(self) -> bool:
        """Return whether rules decide what the caller sees; a ramdisk sees whatever its routes show."""
        return not (self.services.policy.is_open or self.context.is_public_api)

    @property
    def base(self) -> str:
        """Return the URL that links start with: [api]public_endpoint, or the one that the client used."""
        if self._base is None:
            self._base = self.settings.public_endpoint or ""
            if not self._base:
                environ = self.environ
                host = environ.get("HTTP_HOST", "")
                if not _HOST.fullmatch(host):
                    # It goes into links and headers of the response, where only a host is allowed.
                    host = f"{environ.get('SERVER_NAME')}:{environ.get('SERVER_PORT')}"
                self._base = f"{environ.get('wsgi.url_scheme', 'http')}://{host}{environ.get('SCRIPT_NAME', '')}"
        return self._base

    def url(self, path: str) -> str:
        """Return the absolute URL of a path of this service."""
        return f"{self.base}{path}"

    def query(self) -> list[tuple[str, str]]:
        """Return the decoded query parameters in order, empty ones included; raises Invalid."""
        text = self.environ.get("QUERY_STRING")
        if not text:
            return []
        try:
            found = parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_PARAMETERS)
        except ValueError:
            raise Invalid(f"There are more than {_MOST_PARAMETERS} query parameters.") from None
        if any("\0" in name or "\0" in value for name, value in found):
            raise Invalid("Query parameters must not contain the character with code 0.")
        return found

    def json(self) -> object:
        """Return the parsed body, {} for a request without one; raises errors for a body over a limit."""
        if self._body is _UNREAD:
            limit = self.route.body_limit if self.route else _ORDINARY
            most_values = self.settings.max_values_inspection if limit == _REPORT else self.settings.max_values
            raw = self._read(getattr(self.settings, limit), most_values)
            self._body = request_body.parse(raw, self.settings.max_depth, of_machine=self._is_report)
            if limit != _REPORT:
                # Inspection data is not stored in columns; its handler checks what can be stored.
                request_body.check_storable(raw)
            self._refuse_files(self._body)
        return self._body

    @property
    def _is_report(self) -> bool:
        return self.route is not None and self.route.of_ramdisks and self.route.body_limit == _REPORT

    def _read(self, max_bytes: int, most_values: int) -> bytes:
        """Return the bytes of the body, with memory reserved for them and for the objects that they are parsed to."""
        memory = self.settings.body_memory
        if (length := request_body.length_of(self.environ, max_bytes)) > request_body.SMALL:
            self._memory = memory.take(request_body.most_of(length, most_values))
        of_ramdisk = self.route is not None and self.route.of_ramdisks
        raw = request_body.read(self.environ, max_bytes, of_ramdisk=of_ramdisk)
        signs = request_body.signs(raw, most_values)
        self._memory = memory.shrink(self._memory, request_body.taken_by(raw, signs))
        return raw

    def release(self) -> None:
        """Drop the body and release the memory that was reserved for it."""
        self._body = None
        if self._memory:
            self.settings.body_memory.give_back(self._memory)
            self._memory = 0

    def arguments(self) -> dict[str, object]:
        """Return the arguments of an action: the keys of the body and those of the query; raises Invalid."""
        given = self.json()
        if not isinstance(given, dict):
            raise Invalid("The request body has to be a JSON object.")
        parameters = self.query()
        self._refuse_files([value for _, value in parameters])
        for name, value in parameters:
            if name in given:
                raise Invalid(f"Argument {printable(name)} is given twice.")
            given[name] = value
        return given

    def _refuse_files(self, given: object) -> None:
        """Raise NotAuthorized for a file:// URL from a project's caller: the files are those of the service's hosts."""
        if self.is_judged and self.context.system_scope is None and names_file_anywhere(given):
            raise NotAuthorized("Only administrators of the whole site may name files of its hosts by file:// URLs.")


def printable(name: str) -> str:
    """Return a key of the request as an error text may quote it: short and without control characters."""
    return "".join(letter if letter.isprintable() else "?" for letter in name[:80])
