"""The connector that the sushy library sends requests to a Redfish BMC through.

sushy takes a connector of its user. Ours replaces the library's own because that one repeats orders, follows redirects
and links to other servers with the login, and reads answers of any size. Here every request goes through the gateway of
the BMC, has an end, is sent once, and only to the BMC. A read is shared with others that ask the same (`bmc_gateway`).
"""

import itertools
import logging
from collections.abc import Iterator
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urljoin

from sushy import exceptions as sushy_errors

from ironic.drivers.modules.bmc.bmc_gateway import RUNNING
from ironic.drivers.modules.bmc.login_guard import LoginGuard
from ironic.drivers.modules.redfish.wire.bmc_access import Access
from ironic.drivers.modules.redfish.wire.bmc_answer import BmcAnswer
from ironic.drivers.modules.redfish.wire.bmc_failures import LostConnection, UnusableAnswer
from ironic.drivers.modules.redfish.wire.bmc_login import BmcLogin
from ironic.drivers.modules.redfish.wire.etags import etags
from ironic.drivers.modules.redfish.wire.forms import in_one_form
from ironic.drivers.modules.redfish.wire.transport import MOST_REDIRECTS, READS, Headers, Transport

LOG = logging.getLogger(__name__)

_MOST_PAGES: Final = 50

_NUMBERS: Final = itertools.count()


class BmcConnector:
    """Sends the requests of one login to one BMC."""

    def __init__(self, access: Access, guard: LoginGuard | None) -> None:
        self._access = access
        self._transport = Transport(access)
        self.login = BmcLogin(access, guard, self._transport)
        self.gateway = self._transport.gateway
        # Answers are shared within one login only.
        self._number = next(_NUMBERS)

    # What the library calls; it passes further arguments, which have no meaning here

    def set_auth(self, auth: object) -> None:
        """Do nothing: the connector logs in itself."""

    def close(self) -> None:
        """Do nothing: a connection ends with its request."""

    def get(self, path: str = "", data: object = None, headers: Headers | None = None, **more: Any) -> BmcAnswer:
        """Read a resource, or share the answer to another thread."""
        url, running = self._transport.url(path), RUNNING.get()

        def fetch() -> BmcAnswer:
            return self._with_pages(url, self._read(url, headers or {}), headers or {})

        key = f"{self._number} {url}"
        answer = self.gateway.read_once(key, running, fetch, lambda answer: answer.is_small)
        sushy_errors.raise_for_response(READS, url, answer)
        return answer

    def post(self, path: str = "", data: object = None, headers: Headers | None = None, **more: Any) -> BmcAnswer:
        """Send an order."""
        return self._order("POST", path, data, headers or {})

    def put(self, path: str = "", data: object = None, headers: Headers | None = None, **more: Any) -> BmcAnswer:
        """Replace a resource."""
        return self._conditional("PUT", path, data, headers or {}, (headers or {}).get("If-Match"))

    def delete(self, path: str = "", data: object = None, headers: Headers | None = None, **more: Any) -> BmcAnswer:
        """Delete a resource."""
        return self._conditional("DELETE", path, data, headers or {}, (headers or {}).get("If-Match"))

    def patch(
        self, path: str = "", data: object = None, headers: Headers | None = None, etag: str | None = None, **more: Any
    ) -> BmcAnswer:
        """Change a resource; BMCs want its ETag in many forms (`etags`)."""
        return self._conditional("PATCH", path, data, headers or {}, etag or (headers or {}).get("If-Match"))

    def _read(self, url: str, headers: Headers) -> BmcAnswer:
        """Send a GET; redirects within the BMC are followed, such as one to the same path with a slash."""
        for _ in range(MOST_REDIRECTS + 1):
            answer = self._acceptable(READS, url, None, headers)
            target = answer.headers.get("Location")
            if not 300 <= answer.status_code < 400:
                return answer
            if not target:
                break
            url = self._transport.url(urljoin(url, target))
        raise UnusableAnswer("it redirects in circles or to nowhere")

    def _with_pages(self, url: str, answer: BmcAnswer, headers: Headers) -> BmcAnswer:
        """Return a collection with the members of all its pages; one that is not read leaves its link there."""
        seen = {url}
        try:
            for _ in range(_MOST_PAGES):
                place = answer.next_page if answer.status_code < HTTPStatus.BAD_REQUEST else None
                if place is None or (next_url := self._transport.url(urljoin(url, place))) in seen:
                    break
                seen.add(next_url)
                page = self._read(next_url, headers)
                if not page.has_members:
                    raise UnusableAnswer("it has no members")
                answer = answer.with_page(page)
        except (LostConnection, UnusableAnswer, ValueError) as error:
            if isinstance(error, LostConnection) and not (error.has_begun and RUNNING.get().may_lose_another()):
                raise
            LOG.info("BMC %s: a page of %s can't be read: %s", self._access.address, url, error)
        return answer

    def _conditional(self, method: str, path: str, data: object, headers: Headers, first: str | None) -> BmcAnswer:
        """Send an order under the ETag that the BMC wants; one that it refuses has changed nothing."""
        plain = {name: value for name, value in headers.items() if name != "If-Match"}

        def current() -> Iterator[str | None]:
            with suppress(sushy_errors.HTTPError, UnusableAnswer):
                answer = self.get(path)
                yield answer.headers.get("ETag")
                yield answer.document().get("@odata.etag")

        def send(tag: str | None) -> BmcAnswer:
            return self._order(method, path, data, {**plain, "If-Match": tag} if tag else plain)

        return in_one_form(etags(first, current), send)

    def _order(self, method: str, path: str, body: object, headers: Headers) -> BmcAnswer:
        url = self._transport.url(path)
        try:
            answer = self._transport.followed(lambda url: self._acceptable(method, url, body, headers), url)
        finally:
            self.gateway.machine_changes()
        sushy_errors.raise_for_response(method, url, answer)
        if 300 <= answer.status_code < 400:
            raise UnusableAnswer(f"it redirects an order ({method}) to another place, which is not followed")
        return answer

    def _acceptable(self, method: str, url: str, body: object, headers: Headers) -> BmcAnswer:
        """Send a request; some BMCs can only send compressed answers and refuse others."""
        answer = self.login.send(method, url, body, headers)
        if answer.status_code != HTTPStatus.NOT_ACCEPTABLE:
            return answer
        return self.login.send(method, url, body, {**headers, "Accept-Encoding": "gzip"})
