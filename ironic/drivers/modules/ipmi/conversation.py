"""Conversations with IPMI BMCs: one run of ipmitool each, through the gateway of the BMC.

A BMC gets one conversation at a time, and a pause of [ipmi]min_command_interval after each. Power synchronisation and
sensors are no patient callers: their BMC gets less time for each answer, and a silent one is not asked again. All
others may repeat a conversation until [ipmi]command_retry_timeout is over, after a pause of random length, if its error
is worth that. What must not happen twice is repeated only when the BMC can't have begun it. A refused login is never
tried again by itself: `login_guard` counts it.
"""

import logging
import socket
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from ironic.conf import CONF
from ironic.core.clock import CLOCK
from ironic.core.errors.hardware_errors import IPMIConnectionFailure, IPMIFailure
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.bmc.bmc_gateway import BmcBusy, CallClass, Exhausted, Operation, RequestLimits, gateway_to
from ironic.drivers.modules.bmc.error_texts import safe_text
from ironic.drivers.modules.bmc.login_guard import LoginBarred, RepeatedLogin, guard_of
from ironic.drivers.modules.ipmi import tool_process
from ironic.drivers.modules.ipmi.bmc_access import Access, access_of
from ironic.drivers.modules.ipmi.command_line import PROGRAM, command_line
from ironic.drivers.modules.ipmi.password_files import password_file
from ironic.drivers.modules.ipmi.tool_errors import Fault, fault_in, is_begun, summary
from ironic.drivers.modules.ipmi.tool_process import Ended, Preempted, TooLate, TooMuch
from ironic.integrations.allowed_destinations import UNREACHABLE, Refused, bmc_policy, resolve_allowed
from ironic.integrations.hidden_faults import hidden

LOG = logging.getLogger(__name__)

_MIB: Final = 1024 * 1024
_SMALL: Final = 64 * 1024
_MOST_LINES: Final = 4096
# Seconds that a BMC gets for an answer that no user waits for: a hundred dead ones must not take all workers.
_SHORT: Final = 2
_ONE_AT_A_TIME: Final = RequestLimits(lambda: 1, lambda: float(CONF.ipmi.min_command_interval))
# The answer proves that the BMC has accepted the login, or refuses it.
_ABOUT_LOGIN: Final = (None, Fault.REFUSED, Fault.ANSWERED)


def read(
    task: Task,
    command: Sequence[str],
    *,
    anew: bool = False,
    kind: CallClass = CallClass.READ,
    is_long: bool = False,
) -> str:
    """Return what a command of ipmitool writes, which only reads; it may run several times.

    With ``anew`` the BMC is asked even if it was a moment ago: for what changes by itself. Raise IPMIConnectionFailure
    when the BMC does not answer or has no room for the request, IPMIFailure for any other failure. With ``is_long`` it
    has the time of a command that a user waits for.
    """
    return _converse(task, _Request(tuple(command), kind, anew=anew, is_long=is_long))


def change(task: Task, command: Sequence[str], *, kind: CallClass = CallClass.CHANGE, once: bool = False) -> str:
    """Run a command of ipmitool that changes something, and return what it writes; raises as `read` does.

    With ``once`` it is sent again only when the BMC has certainly not begun it.
    """
    return _converse(task, _Request(tuple(command), kind, is_change=True, once=once))


def with_checked_address(access: Access) -> Access:
    """Return the access with an IP address that may be contacted; raises Refused or OSError.

    ipmitool gets this address, so that it does not resolve the name to another one.
    """
    found = resolve_allowed(access.address, access.port, policy=bmc_policy(by_project=access.by_project))
    return replace(access, address=str(found[0].address[0]))


@dataclass(frozen=True, slots=True)
class _Request:
    """A command of ipmitool, and how it may be treated."""

    command: tuple[str, ...]
    kind: CallClass
    is_change: bool = False
    once: bool = False
    anew: bool = False
    is_long: bool = False

    @property
    def title(self) -> str:
        """The command without the data of a raw request."""
        return " ".join(self.command[:3])

    @property
    def seconds(self) -> float:
        """Seconds for all attempts together."""
        is_patient = self.kind.is_patient or self.is_long
        return float(CONF.ipmi.command_retry_timeout if is_patient else CONF.bmc.telemetry_timeout)


class CommandFailed(Exception):
    """A conversation failed; the text is what ipmitool says."""

    def __init__(self, fault: Fault, messages: str) -> None:
        super().__init__(summary(messages))
        self.fault, self.is_begun = fault, is_begun(messages)


def _converse(task: Task, request: _Request) -> str:
    access = access_of(task.node)
    with _ironic_errors(task.node, access, request.title):
        line = LINES.get(access, task.store)
        line.login.check()
        with line.gateway.operation(request.kind, anew=request.anew) as operation:
            if not request.is_change:
                key = f"{access.protocol} {access.privilege} {' '.join((*access.bridge, *request.command))}"
                return line.gateway.read_once(
                    key,
                    operation,
                    lambda: line.repeated(access, request, operation),
                    lambda text: len(text) <= _SMALL,
                )
            try:
                return line.repeated(access, request, operation)
            finally:
                line.gateway.machine_changes()


@contextmanager
def _ironic_errors(node: Node, access: Access, title: str) -> Iterator[None]:
    """Raise an error as one of Ironic that names the node, the command and what to check."""

    def failed(kind: type[IPMIFailure], reason: str) -> IPMIFailure:
        return kind(node=node.uuid, address=f"{access.address} port {access.port}", operation=title, error=reason)

    try:
        with _one_text(access):
            yield
    except _Unreachable as error:
        raise failed(IPMIConnectionFailure, str(error)) from error
    except BmcBusy as error:
        raise failed(IPMIConnectionFailure, str(error)) from error
    except CommandFailed as error:
        said = safe_text(str(error), access.password)
        if error.fault is Fault.NO_SESSION:
            raise failed(IPMIConnectionFailure, f"it does not answer ({said}); check ipmi_address") from error
        if error.fault is Fault.REFUSED:
            why = f"wrong password or user name: the BMC refuses the login ({said})"
            text = f"{why}; check ipmi_username and ipmi_password"
            raise failed(IPMIFailure, text) from error
        if error.fault is Fault.KEY:
            raise failed(IPMIFailure, f"the BMC has another key K_g ({said}); check ipmi_hex_kg_key") from error
        raise failed(IPMIFailure, said) from error
    except TooLate as error:
        raise failed(IPMIConnectionFailure, "ipmitool did not end in time and was killed") from error
    except TooMuch as error:
        reason = f"the BMC sends more than [bmc]largest_answer, {CONF.bmc.largest_answer} MiB"
        raise failed(IPMIFailure, reason) from error
    except (LoginBarred, Exhausted) as error:
        raise failed(IPMIFailure, f"BMC {access.address}: {error}") from error
    except Refused as error:
        raise failed(IPMIFailure, f"the address in ipmi_address is {error}") from error
    except socket.gaierror as error:
        raise failed(IPMIFailure, f"the name in ipmi_address can't be resolved: {error.strerror}") from error
    except OSError as error:
        raise failed(IPMIFailure, f"{PROGRAM} can't be run on this conductor: {error.strerror}") from error


class _Unreachable(Exception):
    """A BMC at an address that a project chose can't be reached, for whatever reason."""


@contextmanager
def _one_text(access: Access) -> Iterator[None]:
    """Raise _Unreachable for each error that would show a project what is at an address of its choice."""
    try:
        yield
    except (CommandFailed, TooLate, Refused, socket.gaierror) as error:
        if not access.by_project or (isinstance(error, CommandFailed) and error.fault is not Fault.NO_SESSION):
            raise
        raise _Unreachable(hidden(UNREACHABLE, f"BMC {access.server}", error or type(error).__name__)) from error


class Line:
    """The way to one BMC with one login."""

    def __init__(self, access: Access, login: RepeatedLogin) -> None:
        self.login, self.gateway = login, gateway_to(access.server, _ONE_AT_A_TIME)
        # The cipher suite of [ipmi]cipher_suite_versions that the BMC takes, once it is known.
        self._cipher_suite: str | None = None

    def repeated(self, access: Access, request: _Request, operation: Operation) -> str:
        """Run a command until it succeeds or is not worth another attempt; raise its last error."""
        clock, until = self.gateway.clock, self.gateway.clock() + request.seconds
        interval = float(CONF.ipmi.min_command_interval)
        others = list(CONF.ipmi.cipher_suite_versions) if access.cipher_suite is None else []
        # One command goes to one address, whatever its name means at the next attempt.
        judged: list[Access] = []
        if self._cipher_suite in others:
            others.remove(self._cipher_suite)

        def is_worth_it(error: BaseException) -> bool:
            if not isinstance(error, CommandFailed) or clock() + interval >= until:
                return False
            if error.fault is Fault.CIPHER and others:
                self._cipher_suite = others.pop()
                return True
            return _is_worth_repeating(error, request)

        def attempt() -> str:
            with self.gateway.request(request.kind, operation.seconds_left(clock(), until - clock())):
                if not judged:
                    judged.append(with_checked_address(access))
                suite = access.cipher_suite or self._cipher_suite
                seconds = operation.seconds_left(clock(), _longest(request))
                return self._once(replace(judged[0], cipher_suite=suite), request, seconds)

        return CLOCK.retrying(
            max(1, int(request.seconds // max(interval, 1.0))),
            lambda _state: CLOCK.chance.uniform(0, max(interval / 2, 0.1)),
            is_worth_it,
            lambda error: LOG.debug("IPMI %s at %s failed, trying again: %s", request.title, access.server, error),
        )(attempt)

    def _once(self, access: Access, request: _Request, seconds: float) -> str:
        """Run a command; raise CommandFailed, TooLate or TooMuch."""

        def exchange() -> tuple[Ended, Fault | None]:
            ended = self._run(access, request, seconds)
            fault = fault_in(ended.errors) if ended.status else None
            if fault not in _ABOUT_LOGIN:
                raise CommandFailed(fault, ended.errors)
            return ended, fault

        ended, fault = self.login.send(exchange, lambda answer: answer[1] is not Fault.REFUSED)
        if fault is not None:
            raise CommandFailed(fault, ended.errors)
        return ended.output

    def _run(self, access: Access, request: _Request, seconds: float) -> Ended:
        # Only a verbose ipmitool says whether the login was refused.
        before = [*([] if "-v" in request.command else ["-v"]), *_timing(request.kind)]
        with ExitStack() as stack:
            file = None if CONF.ipmi.store_cred_in_env else stack.enter_context(password_file(access.password))
            line = command_line(access, request.command, file, before=before)
            try:
                ended = tool_process.run(
                    line,
                    seconds=seconds,
                    most_bytes=CONF.bmc.largest_answer * _MIB,
                    is_preempted=lambda: self.gateway.is_preempted(request.kind),
                )
            except Preempted:
                raise BmcBusy("another request to it goes first") from None
        if CONF.ipmi.debug:
            text = safe_text(summary(ended.errors), access.password)
            LOG.debug("IPMI %s at %s ended with status %d: %s", request.title, access.server, ended.status, text)
        return ended


def _is_worth_repeating(error: CommandFailed, request: _Request) -> bool:
    if request.once and error.is_begun:
        return False
    if error.fault is Fault.BUSY:
        return True
    if CONF.ipmi.use_ipmitool_retries or not request.kind.is_patient:
        return False
    return error.fault in (Fault.NO_SESSION, Fault.OTHER)


def _longest(request: _Request) -> float:
    """Return after how many seconds one attempt is killed."""
    is_left_alone = request.kind.is_patient and not CONF.ipmi.kill_on_timeout
    return float(CONF.bmc.operation_timeout) if is_left_alone else request.seconds


def _timing(kind: CallClass) -> list[str]:
    """Return how often ipmitool sends a request, and how many seconds it waits for each answer."""
    interval = max(1, CONF.ipmi.min_command_interval)
    tries = 1
    if not kind.is_patient:
        interval = min(interval, _SHORT)
    elif CONF.ipmi.use_ipmitool_retries:
        left, seconds = CONF.ipmi.command_retry_timeout - interval, interval + 1
        while left >= seconds:
            tries, left, seconds = tries + 1, left - seconds, seconds + 1
    return ["-R", str(tries), "-N", str(interval)]


class Lines:
    """The lines used last; safe to use from any thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[object, ...], Line] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, access: Access, store: Any) -> Line:
        """Return the line to a BMC with a login; controllers behind the same BMC share it."""
        key = (access.server, access.username, access.password, access.kg_key)
        with self._lock:
            if (kept := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return kept
        if not access.username or not access.password:
            LOG.warning("BMC %s is used with an empty user name or password", access.server)
        # The digest of the guard takes time.
        made = Line(access, RepeatedLogin(guard_of(store, access.server, access.username or "", access.password)))
        with self._lock:
            line = self._kept.setdefault(key, made)
            while len(self._kept) > _MOST_LINES:
                self._kept.popitem(last=False)
        return line


LINES = Lines()
