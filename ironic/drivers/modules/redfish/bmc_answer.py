"""An answer of a BMC: its document, as the sushy library expects it."""

import io
import json
import zipfile
import zlib
from email.message import Message
from http import HTTPStatus
from typing import Any, Final

from sushy import exceptions as sushy_errors

from ironic.conf import CONF
from ironic.core import lenient_json
from ironic.drivers.modules.redfish.document_repair import repaired
from ironic.drivers.modules.redfish.refusals import error_document

_MIB: Final = 1024 * 1024
_SMALL: Final = 64 * 1024
# What zlib takes for the format of gzip.
_GZIP: Final = 16 + zlib.MAX_WBITS
_NEXT_PAGE: Final = "Members@odata.nextLink"


class UnusableAnswer(sushy_errors.SushyError):  # type: ignore[misc]  # the library brings no types
    """The answer can't be used, or there is none; ``is_lost`` when the same request may succeed later."""

    message = "%(error)s"

    def __init__(self, error: str, *, is_lost: bool = False) -> None:
        super().__init__(error=error)
        self.is_lost = is_lost


class NotADocument(UnusableAnswer, ValueError):
    """The answer has no JSON object."""


class BmcAnswer:
    """An answer to a request for ``path``, with the attributes of requests.Response that the library reads."""

    def __init__(self, status: int, headers: Message, content: bytes, path: str, *, is_of_order: bool = False) -> None:
        self.status_code, self.headers, self.content, self._path = status, headers, content, path
        self._is_of_order = is_of_order

    @property
    def text(self) -> str:
        """The body as text."""
        return self.content.decode(errors="replace")

    @property
    def is_small(self) -> bool:
        """Whether it may be kept for a moment."""
        return len(self.content) <= _SMALL

    def json(self) -> dict[str, Any]:
        """Return the document; raises NotADocument for anything that is none.

        The answer to an order has an empty one then: the order is carried out whatever the BMC says with it.
        """
        if self.status_code >= HTTPStatus.BAD_REQUEST:
            return error_document(self.content)
        return self.document() if self._is_of_order else self._read()

    def document(self) -> dict[str, Any]:
        """Return the document, empty where there is none."""
        try:
            return self._read()
        except NotADocument:
            return {}

    def _read(self) -> dict[str, Any]:
        try:
            document = lenient_json.parse(self.content)
        except ValueError as error:
            raise self._unreadable(str(error)) from None
        if not isinstance(document, dict):
            raise self._unreadable("it is no object of JSON")
        return repaired(document, self._path)

    def _unreadable(self, why: str) -> NotADocument:
        return NotADocument(f"its answer at {self._path} can't be read ({why}); check redfish_address")

    @property
    def has_members(self) -> bool:
        """Whether it is a collection, or a page of one."""
        return "Members" in self.document()

    @property
    def next_page(self) -> str | None:
        """Where the members go on that this page of a collection does not have; None for the last page."""
        if b"nextLink" not in self.content:
            return None
        try:
            document = lenient_json.parse(self.content)
        except ValueError:
            return None
        place = document.get(_NEXT_PAGE) if isinstance(document, dict) else None
        place = place.get("@odata.id") if isinstance(place, dict) else place
        return place if isinstance(place, str) and place else None

    def with_page(self, page: "BmcAnswer") -> "BmcAnswer":
        """Return this page and the next one as one."""
        first, second = self.json(), page.json()
        members = [*first.get("Members", []), *second.get("Members", [])]
        whole = {name: value for name, value in first.items() if name != _NEXT_PAGE} | {"Members": members}
        if page.next_page is not None:
            whole[_NEXT_PAGE] = page.next_page
        return BmcAnswer(self.status_code, self.headers, json.dumps(whole).encode(), self._path)


def is_whole(collection: Any) -> bool:
    """Return whether a collection has all its members: no page is missing, and each entry names a resource."""
    document = collection.json
    named = [member for member in document.get("Members", []) if member.get("@odata.id")]
    return _NEXT_PAGE not in document and len(named) == len(document.get("Members", []))


def unpacked(headers: Message, content: bytes) -> bytes:
    """Return the body, unpacked where it is compressed; a small body may not become a large one."""
    most = CONF.bmc.largest_answer * _MIB
    if headers.get("Content-Encoding", "").lower() == "gzip":
        unpacker = zlib.decompressobj(_GZIP)
        try:
            content = unpacker.decompress(content, most)
        except zlib.error:
            raise UnusableAnswer("its answer is compressed in a wrong way") from None
        if unpacker.unconsumed_tail:
            raise UnusableAnswer(f"its answer is larger than {most} bytes, the limit")
    if headers.get_content_type() == "application/zip":
        # The library unpacks archives of registries, as far as their directory says.
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                size = sum(member.file_size for member in archive.infolist())
        except (zipfile.BadZipFile, ValueError):
            raise UnusableAnswer("its archive is broken") from None
        if size > most:
            raise UnusableAnswer(f"its archive is larger than {most} bytes, the limit")
    return content
