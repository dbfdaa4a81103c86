"""One request as handlers see it.

Slotted and handed on, nothing is looked up in thread locals. Holds the version, the caller and the rooms below (store,
conductors, placement); reads body and query on demand.
"""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import parse_qsl

from ironic.api import body, body_memory
from ironic.api.settings import ApiSettings
from ironic.core.context import RequestContext
from ironic.core.errors import Invalid, NotAuthorized
from ironic.core.file_urls import names_file_anywhere

if TYPE_CHECKING:
    # Only names in annotations; at run time these modules stand above or beside this one.
    from ironic.api.policy import Policy
    from ironic.db import Store
    from ironic.rpc.conductors import Conductors
    from ironic.rpc.placement import Placement

# Where a WSGI environment has the request, from then on.
REQUEST: Final = "ironic.request"

_UNREAD: Final = object()
_ORDINARY: Final = "max_body"
_REPORT: Final = "max_body_inspection"
_MOST_PARAMETERS: Final = 1000
_HOST: Final = re.compile(r"[A-Za-z0-9.\-_~%:\[\]]{1,300}")


class Row(Protocol):
    """The row of the route table that a request led to, as far as the request itself needs it."""

    @property
    def body_limit(self) -> str: ...


class Services:
    """What is wired once and shared by all requests."""

    __slots__ = ("conductors", "placement", "policy", "settings", "store")

    def __init__(
        self,
        store: "Store",
        conductors: "Conductors",
        placement: "Placement",
        settings: ApiSettings,
        policy: "Policy",
    ) -> None:
        self.store, self.conductors, self.placement = store, conductors, placement
        self.settings, self.policy = settings, policy


class Request:
    """One request, from the moment its version is known."""

    __slots__ = (
        "_base",
        "_body",
        "_memory",
        "announce",
        "context",
        "environ",
        "method",
        "minor",
        "route",
        "services",
        "stripped",
        "within",
    )

    def __init__(self, environ: Mapping[str, Any], minor: int, context: RequestContext, services: Services) -> None:
        self.environ, self.minor, self.context, self.services = environ, minor, context, services
        self.method: str = environ["REQUEST_METHOD"]
        self.route: Row | None = None
        # True when a '.json' was taken off the path, which old versions ask for.
        self.stripped = False
        # Path of what a shown thing belongs to, for the links of things that live below another.
        self.within = ""
        # Called before a conductor is asked for something.
        self.announce: Callable[[], object] | None = None
        self._base: str | None = None
        self._body: Any = _UNREAD
        # Bytes of memory set aside for the body.
        self._memory = 0

    @property
    def store(self) -> "Store":
        """The database."""
        return self.services.store

    @property
    def conductors(self) -> "Conductors":
        """The way to ask a conductor."""
        if self.announce is not None:
            self.announce()
        return self.services.conductors

    @property
    def placement(self) -> "Placement":
        """Which conductor serves what."""
        return self.services.placement

    @property
    def settings(self) -> ApiSettings:
        """The configuration of the API."""
        return self.services.settings

    @property
    def is_judged(self) -> bool:
        """Tell whether rules decide what the caller may see; a ramdisk sees what its routes show."""
        return not (self.services.policy.is_open or self.context.is_public_api)

    @property
    def base(self) -> str:
        """URL that links start with: the configured one, or what the client called us."""
        if self._base is None:
            self._base = self.settings.public_endpoint or _own_url(self.environ)
        return self._base

    def url(self, path: str) -> str:
        """Return an absolute URL of this service."""
        return f"{self.base}{path}"

    def query(self) -> list[tuple[str, str]]:
        """Return the query parameters in order, decoded, empty ones included."""
        text = self.environ.get("QUERY_STRING")
        return _parameters(text) if text else []

    def json(self) -> object:
        """Return the parsed body; {} when there is none."""
        if self._body is _UNREAD:
            limit = self.route.body_limit if self.route else _ORDINARY
            most_values = self.settings.max_values_inspection if limit == _REPORT else self.settings.max_values
            raw = self._read(getattr(self.settings, limit), most_values)
            self._body = body.parse(raw, self.settings.max_depth)
            if limit != _REPORT:
                # What a machine reports is no row but data: its handler knows what it can hold.
                body.check_storable(raw)
            self._refuse_files(self._body)
        return self._body

    def _read(self, max_bytes: int, most_values: int) -> bytes:
        """Return the body's bytes, with memory set aside for them and for what they stand for."""
        memory = self.settings.body_memory
        if (length := body.length_of(self.environ, max_bytes)) > body_memory.SMALL:
            self._memory = memory.take(body_memory.most_of(length, most_values))
        raw = body.read(self.environ, max_bytes)
        signs = body.signs(raw, most_values)
        self._memory = memory.shrink(self._memory, body_memory.taken_by(raw, signs))
        return raw

    def release(self) -> None:
        """Drop the body and let other requests have the memory that was set aside for it."""
        self._body = None
        if self._memory:
            self.settings.body_memory.give_back(self._memory)
            self._memory = 0

    def arguments(self) -> dict[str, object]:
        """Return what an action is called with: the body's keys, or the query where the body has none."""
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
        """Refuse URLs of files to callers who stand for a project: the files are those of the service's hosts."""
        if self.is_judged and self.context.system_scope is None and names_file_anywhere(given):
            raise NotAuthorized("Only administrators of the whole site may name files of its hosts by file:// URLs.")


def _parameters(text: str) -> list[tuple[str, str]]:
    try:
        found = parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_PARAMETERS)
    except ValueError:
        raise Invalid(f"There are more than {_MOST_PARAMETERS} query parameters.") from None
    if any("\0" in name or "\0" in value for name, value in found):
        raise Invalid("Query parameters must not contain the character with code 0.")
    return found


def printable(name: str) -> str:
    """Return a caller's key as it may appear in an error: short and without control characters."""
    return "".join(letter if letter.isprintable() else "?" for letter in name[:80])


def _own_url(environ: Mapping[str, Any]) -> str:
    """Return scheme, host and mount point the client used."""
    scheme = environ.get("wsgi.url_scheme", "http")
    host = environ.get("HTTP_HOST", "")
    if not _HOST.fullmatch(host):
        # It goes into links and headers of the answer, where only a host may stand.
        host = f"{environ.get('SERVER_NAME')}:{environ.get('SERVER_PORT')}"
    return f"{scheme}://{host}{environ.get('SCRIPT_NAME', '')}"
