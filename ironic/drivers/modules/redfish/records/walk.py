"""A walk through all resources of a BMC that reads and does nothing else, one request at a time.

It begins at the service root and follows links of the standard and of vendors to resources of the same server, the
nearest first. What it must not take along (`LEFT_OUT`) is not even read. It ends at its limits, whatever a BMC shows.
"""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Final, NamedTuple
from urllib.parse import urljoin, urlsplit

from sushy import exceptions as sushy_errors

from ironic.core.clock import Clock
from ironic.core.errors import InvalidParameterValue
from ironic.core.texts import lenient_json
from ironic.drivers.modules.bmc.bmc_gateway import BmcBusy, CallClass, Exhausted
from ironic.drivers.modules.bmc.error_texts import safe_text
from ironic.drivers.modules.bmc.login_guard import LoginBarred, LoginGuard, LoginRefused
from ironic.drivers.modules.redfish.wire.bmc_access import Access
from ironic.drivers.modules.redfish.wire.bmc_answer import BmcAnswer
from ironic.drivers.modules.redfish.wire.bmc_failures import LostConnection, UnusableAnswer
from ironic.drivers.modules.redfish.wire.bmc_login import BmcLogin
from ironic.drivers.modules.redfish.wire.document_faults import next_page_in
from ironic.drivers.modules.redfish.wire.transport import READS, Transport

# What is not read, by the reason in words for people: paths, whose last part may be that of any vendor.
LEFT_OUT: Final[Mapping[str, re.Pattern[str]]] = {
    reason: re.compile(rf"/(?:{parts})(?:/|$)", re.IGNORECASE)
    for reason, parts in (
        ("accounts", "AccountService|Accounts|LDAP|ActiveDirectory"),
        ("sessions", "Sessions"),
        ("entries of logs", "Entries|LogEntries|LCLogs?|SEL|Dumps|LogServices/[^/]+/[^/]+"),
        (
            "certificates and keys",
            "Certificates|TrustedCertificates|CertificateService|CertificateLocations|Keys|KeyService|SSHKeys"
            "|SecureBootDatabases|HttpsCert|SecurityService/[^/]+",
        ),
        ("licences", "Licenses?|LicenseService"),
        ("tasks and jobs", "(?:Tasks|Jobs|JobQueue)/[^/]+"),
        ("subscriptions to events", "Subscriptions|SSE|EventDestinations"),
        ("schemas", r"JsonSchemas|SchemaStore|Schemas|odata|\$metadata"),
        ("actions", r"Actions/(?:Oem/)?[^/]*(?<!ActionInfo)"),
    )
}  # fmt: skip
ELSEWHERE: Final = "links to other servers"
# What is written of an answer that came and breaks the rules of HTTP or a limit; all other faults are of connections.
UNUSABLE: Final = "the answer can't be used"
TOO_DEEP: Final = "resources that are too many links away"
TOO_MANY: Final = "links of a resource beyond the first ones"

_HEADERS: Final = ("ETag", "Allow", "Location", "Retry-After")
_PAGES: Final = ("Members@odata.nextLink", "@odata.nextLink")
_MOST_LINKS: Final = 1000
_MOST_PAGES: Final = 50
_MOST_FAULTS: Final = 5
_LONGEST_PAUSE: Final = 1.0
_MOST_LOGINS: Final = 2
_NOT_ACCEPTABLE, _UNAUTHORIZED = 406, 401


class Limits(NamedTuple):
    """Where a walk ends: requests, bytes of all answers, links from the root, seconds."""

    requests: int = 5000
    size: int = 128 * 1024 * 1024
    depth: int = 12
    seconds: float = 3600.0


class Seen(NamedTuple):
    """One answer: its status, the headers that readers need, and the body; or why there is none."""

    status: int
    headers: dict[str, str]
    content: bytes = b""
    content_type: str = ""
    fault: str = ""


@dataclass(slots=True)
class Walked:
    """What a walk has seen, by path."""

    seen: dict[str, Seen] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    # Which limit has ended it.
    ended_early: str | None = None


class _Place(NamedTuple):
    # With the slash at its end, if a link has one: some BMCs know one spelling only.
    spelled: str
    depth: int = 0
    page: int = 0

    @property
    def path(self) -> str:
        return self.spelled.rstrip("/")


class _FewLogins(LoginGuard):
    """The guard of a program that runs once: a login that is refused is not tried often, so that none is locked."""

    def __init__(self) -> None:
        self.refused = 0

    def check(self) -> None:
        if self.refused >= _MOST_LOGINS:
            raise LoginBarred("it refuses the user name or the password")

    @contextmanager
    def attempt(self, seconds: float = 0.0) -> Iterator[None]:
        self.check()
        try:
            yield
        except LoginRefused:
            self.refused += 1
            raise


class Walk:
    """One walk through the BMC of ``access``; ``say`` gets the number of answers now and then."""

    def __init__(self, access: Access, limits: Limits, clock: Clock, say: Callable[[int, int], None]) -> None:
        self._access, self._limits, self._clock, self._say = access, limits, clock, say
        self._transport = Transport(access)
        self._guard = _FewLogins() if access.has_login else None
        self._login = BmcLogin(access, self._guard, self._transport)
        self._walked = Walked()
        self._size = 0
        self._waiting: deque[_Place] = deque()
        self._known: set[str] = set()

    def run(self) -> Walked:
        """Walk until all is read, or a limit is reached; raise InvalidParameterValue when nothing can be read."""
        root = self._access.root_prefix
        self._add(root, _Place(root))
        until, faults = self._clock.monotonic() + self._limits.seconds, 0
        try:
            while self._waiting:
                if (reached := self._reached(until)) is not None:
                    self._walked.ended_early = reached
                    self._walked.left_out["links that were not followed any more"] += len(self._waiting)
                    break
                place, began = self._waiting.popleft(), self._clock.monotonic()
                faults = faults + 1 if self._visit(place, until).fault else 0
                if faults >= _MOST_FAULTS:
                    self._walked.ended_early = f"the BMC did not answer {faults} times"
                    break
                self._say(len(self._walked.seen), len(self._waiting))
                # As long as the request took, so that others have half of the BMC's time.
                self._clock.delay(min(self._clock.monotonic() - began, _LONGEST_PAUSE))
        except KeyboardInterrupt:
            if not self._walked.seen:
                raise
            # What was read is a record, too.
            self._walked.ended_early = "it was interrupted"
        finally:
            self._login.log_out()
        return self._walked

    def _reached(self, until: float) -> str | None:
        limits = self._limits
        if len(self._walked.seen) >= limits.requests:
            return f"{limits.requests} requests were sent"
        if self._size >= limits.size:
            return f"the answers have {limits.size} bytes"
        return f"it took {limits.seconds:g} seconds" if self._clock.monotonic() >= until else None

    def _visit(self, place: _Place, until: float) -> Seen:
        is_root = not self._walked.seen
        answer: BmcAnswer | None = None
        try:
            answer = self._answer(place, until)
            headers = {name: answer.headers[name] for name in _HEADERS if name in answer.headers}
            seen = Seen(answer.status_code, headers, answer.content, answer.headers.get_content_type())
        except LoginBarred as error:
            raise InvalidParameterValue(err=f"The BMC can't be read: {error}.") from None
        except sushy_errors.AccessError:
            raise InvalidParameterValue(err="The BMC refuses the user name or the password.") from None
        except (sushy_errors.SushyError, BmcBusy, Exhausted) as error:
            if is_root:
                said = error.details if isinstance(error, LostConnection) else str(error)
                if "redfish_verify_ca" in said:
                    said += " (here: --ca, or --insecure)"
                text = safe_text(said, self._access.password)
                raise InvalidParameterValue(err=f"The BMC at {self._access.address} can't be read: {text}") from None
            seen = Seen(0, {}, fault=_fault(error))
        if seen.status == _UNAUTHORIZED and len(self._walked.seen) <= 1:
            needs = "refuses the user name or the password" if self._access.has_login else "wants a user name"
            raise InvalidParameterValue(err=f"The BMC {needs}.")
        self._walked.seen[place.path] = seen
        self._size += len(seen.content)
        if answer is not None:
            if is_root:
                self._login.find_sessions(SimpleNamespace(json=answer.document()))
            self._follow(place, seen)
        return seen

    def _answer(self, place: _Place, until: float) -> BmcAnswer:
        seconds = max(1.0, until - self._clock.monotonic())
        url = self._transport.url(place.spelled)
        other = url.removesuffix("/") if url.endswith("/") else f"{url}/"
        with self._transport.gateway.operation(CallClass.READ, seconds=seconds):
            answer = self._login.send(READS, url, None, {})
            target = answer.headers.get("Location", "")
            if 300 <= answer.status_code < 400 and urljoin(url, target) == other:
                answer = self._login.send(READS, other, None, {})
            if answer.status_code == _NOT_ACCEPTABLE:
                # Some can only send compressed answers.
                answer = self._login.send(READS, url, None, {"Accept-Encoding": "gzip"})
        return answer

    def _follow(self, place: _Place, seen: Seen) -> None:
        if 300 <= seen.status < 400 and (target := seen.headers.get("Location")):
            self._add(target, _Place(place.spelled, place.depth + 1))
        if seen.status >= 300:
            return
        try:
            document = lenient_json.parse(seen.content)
        except ValueError:
            return
        for number, link in enumerate(links_of(document)):
            if number >= _MOST_LINKS:
                self._walked.left_out[TOO_MANY] += 1
            else:
                self._add(link, _Place(place.spelled, place.depth + 1))
        page = next_page_in(document) if isinstance(document, dict) else None
        if page is not None and place.page < _MOST_PAGES:
            self._add(page, _Place(place.spelled, place.depth, place.page + 1))
        elif page is not None:
            self._walked.left_out[TOO_MANY] += 1

    def _add(self, link: str, place: _Place) -> None:
        """Have a link of the resource at ``place.path`` followed, if it may be."""
        link = link.strip()
        if f"/{link}".startswith("/redfish/"):
            link = f"/{link}"
        try:
            url = self._transport.url(urljoin(self._transport.url(place.spelled), link))
            parts = urlsplit(url)
        except (UnusableAnswer, ValueError):
            self._walked.left_out[ELSEWHERE] += 1
            return
        spelled = parts.path + (f"?{parts.query}" if parts.query else "")
        path = spelled.rstrip("/")
        root = self._access.root_prefix.rstrip("/")
        is_below = parts.path.rstrip("/") == root or parts.path.startswith((f"{root}/", "/redfish/"))
        if path in self._known or not is_below:
            return
        self._known.add(path)
        reason = next((reason for reason, pattern in LEFT_OUT.items() if pattern.search(parts.path)), None)
        if reason is None and place.depth > self._limits.depth:
            reason = TOO_DEEP
        if reason is not None:
            self._walked.left_out[reason] += 1
        else:
            self._waiting.append(_Place(spelled, place.depth, place.page))


def links_of(document: object) -> Iterator[str]:
    """Yield the links of a document to resources, in its order; those of actions are none."""
    waiting: list[tuple[object, bool]] = [(document, False)]
    while waiting:
        value, is_of_file = waiting.pop()
        if isinstance(value, list):
            waiting += [(item, is_of_file) for item in reversed(value)]
        elif isinstance(value, dict):
            # Registries are files, whose places have links of another name.
            for name in ("@odata.id", "@Redfish.ActionInfo", *(["Uri"] if is_of_file else [])):
                if isinstance(link := value.get(name), str) and link:
                    yield link
            below = [(item, name == "Location") for name, item in value.items() if name not in _PAGES]
            waiting += reversed(below)


def _fault(error: Exception) -> str:
    """Return what is wrong with an answer in words that name no address."""
    if isinstance(error, LostConnection):
        return "the answer did not come" if error.has_begun else "no connection"
    return UNUSABLE
