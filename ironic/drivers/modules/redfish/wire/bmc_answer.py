"""An answer of a BMC: its document, as the sushy library expects it."""

import io
import json
import zipfile
import zlib
from email.message import Message
from http import HTTPStatus
from typing import Any, Final

from ironic.conf import CONF
from ironic.core.addresses.allowed_addresses import Server
from ironic.core.texts import lenient_json
from ironic.drivers.modules.redfish.wire.bmc_failures import NotADocument, UnusableAnswer
from ironic.drivers.modules.redfish.wire.document_faults import FORMER_NEXT_PAGE, NEXT_PAGE, next_page_in
from ironic.drivers.modules.redfish.wire.document_repair import repaired
from ironic.drivers.modules.redfish.wire.own_links import may_have_urls, with_own_paths
from ironic.drivers.modules.redfish.wire.refusals import HiddenRefusal, error_document

_MIB: Final = 1024 * 1024
_SMALL: Final = 64 * 1024
# What zlib takes for the formats of gzip and zlib, whichever comes.
_EITHER: Final = 32 + zlib.MAX_WBITS
# How a body of gzip and an archive begin, whatever the headers say.
_GZIP: Final = b"\x1f\x8b"
_ARCHIVE: Final = b"PK"


class BmcAnswer:
    """An answer to a request for ``path`` at a server, with what the library reads of requests.Response."""

    def __init__(
        self, status: int, headers: Message, content: bytes, server: Server, path: str, *, is_of_order: bool = False
    ) -> None:
        self.status_code, self.headers, self.content = status, headers, content
        self._server, self._path, self._is_of_order = server, path, is_of_order
        # Whether the words of a refusal, or of a task that fails, are for the log only.
        self.is_hidden = False
        # Passwords that its words may repeat.
        self.secrets: tuple[str, ...] = ()

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
            refusal = error_document(self.content)
            return {"error": HiddenRefusal(refusal["error"])} if self.is_hidden else refusal
        return self.document() if self._is_of_order else self._read()

    def document(self) -> dict[str, Any]:
        """Return the document, empty where there is none."""
        try:
            return self._read()
        except NotADocument:
            return {}

    def as_sent(self) -> dict[str, Any]:
        """Return the document as the BMC sent it, for one value of it; raises NotADocument for what is none."""
        try:
            document = lenient_json.parse(self.content)
        except ValueError as error:
            raise self._unreadable(str(error)) from None
        if not isinstance(document, dict):
            raise self._unreadable("it is no object of JSON")
        return document

    def _read(self) -> dict[str, Any]:
        document = self.as_sent()
        if may_have_urls(self.content):
            document = with_own_paths(document, self._server)
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
        place = next_page_in(document) if isinstance(document, dict) else None
        if place is None:
            return None
        link: dict[str, str] = with_own_paths({"@odata.id": place}, self._server)
        return link["@odata.id"]

    def with_page(self, page: "BmcAnswer") -> "BmcAnswer":
        """Return this page and the next one as one; what can't be read of either stays so."""
        first, second = lenient_json.parse(self.content), lenient_json.parse(page.content)
        members = [member for part in (first, second) for member in _listed(part.get("Members"))]
        pages = (NEXT_PAGE, FORMER_NEXT_PAGE)
        whole = {name: value for name, value in first.items() if name not in pages} | {"Members": members}
        if page.next_page is not None:
            whole[NEXT_PAGE] = page.next_page
        return BmcAnswer(self.status_code, self.headers, json.dumps(whole).encode(), self._server, self._path)


def _listed(members: object) -> list[object]:
    return members if isinstance(members, list) else [members]


def unpacked(headers: Message, content: bytes) -> bytes:
    """Return the body, unpacked where it is compressed; a small body may not become a large one.

    What a body is shows at its beginning. Headers that say something else do not count.
    """
    most = CONF.bmc.largest_answer * _MIB
    is_deflated = "deflate" in headers.get("Content-Encoding", "").lower()
    if content.startswith(_GZIP) or is_deflated:
        unpacker = zlib.decompressobj(_EITHER)
        try:
            unpacked = unpacker.decompress(content, most)
        except zlib.error:
            if not is_deflated:
                raise UnusableAnswer("its answer is compressed in a wrong way") from None
            return content
        content = unpacked
        if unpacker.unconsumed_tail:
            raise UnusableAnswer(f"its answer is larger than {most} bytes, the limit")
    if content.startswith(_ARCHIVE) and headers.get_content_type() == "application/zip":
        # The library unpacks archives of registries, as far as their directory says.
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                size = sum(member.file_size for member in archive.infolist())
        except (zipfile.BadZipFile, ValueError):
            raise UnusableAnswer("its archive is broken") from None
        if size > most:
            raise UnusableAnswer(f"its archive is larger than {most} bytes, the limit")
    return content
