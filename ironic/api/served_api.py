"""What differs between the APIs that the application serves: their routes, versions, and the shape of errors.

Requests, access checks, limits and handlers know the microversions of the bare metal API only; another API names the
one whose behaviour its callers get.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from ironic.api import answers, error_responses, version_negotiation
from ironic.api.error_responses import Headers, Refusal
from ironic.api.routes import Route


class ServedApi(Protocol):
    """One API: its route table, its versions and its errors."""

    @property
    def rows(self) -> Sequence[Route]:
        """Return the rows of its route table."""

    @property
    def vary(self) -> tuple[str, str]:
        """Return the header that names the request headers on which a document depends."""

    def negotiate(self, environ: Mapping[str, Any]) -> int:
        """Return the microversion in which a request is served; raises a Refusal for a version that is not served."""

    def version_headers(self, environ: Mapping[str, Any], minor: int | None) -> Headers:
        """Return the version headers of a response; ``minor`` is None if the version was not negotiated."""

    def refusal(self, error: Refusal) -> bytes:
        """Return the body for a request that is refused outside its handler."""

    def fault(self, status: int, text: str, debuginfo: str | None = None) -> bytes:
        """Return the body for an error that a handler raised; secrets that the text quotes are masked."""


class BareMetalApi:
    """The bare metal API: doc/contract/versions.md#negotiation and doc/contract/errors.md#shapes."""

    vary: Final = answers.VARY

    def __init__(self, rows: Sequence[Route]) -> None:
        self.rows = rows

    def negotiate(self, environ: Mapping[str, Any]) -> int:
        """Return the microversion that the headers ask for."""
        return version_negotiation.negotiate(environ)

    def version_headers(self, environ: Mapping[str, Any], minor: int | None) -> Headers:
        """Return the three headers of every routed response."""
        served = version_negotiation.MINIMUM if minor is None else minor
        return [
            (error_responses.MINIMUM_HEADER, version_negotiation.TEXTS[version_negotiation.MINIMUM]),
            (error_responses.MAXIMUM_HEADER, version_negotiation.TEXTS[version_negotiation.MAXIMUM]),
            (error_responses.VERSION_HEADER, version_negotiation.TEXTS[served]),
        ]

    def refusal(self, error: Refusal) -> bytes:
        """Return the body in the shape of the refusal."""
        return error.body()

    def fault(self, status: int, text: str, debuginfo: str | None = None) -> bytes:
        """Return a `fault`."""
        return error_responses.fault(status, text, debuginfo)
