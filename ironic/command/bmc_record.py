"""`ironic-inventory record-bmc`: write down what a Redfish BMC answers, without what must not leave the site.

It reads and changes nothing; the only other requests are those that begin and end its session. It needs neither a
database nor a service, and follows [redfish] and [bmc] of a configuration that is named. The password comes from
IRONIC_BMC_PASSWORD, from a file, or from the terminal, and never from the command line, which others on the host see.
The exit status is 0 when a record was written.
"""

import argparse
import getpass
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from ironic.command.lifecycle import WELL
from ironic.conf.release import release
from ironic.core.clock import CLOCK
from ironic.core.errors import InvalidParameterValue
from ironic.core.texts.operator_files import content_of, give_name
from ironic.drivers.modules.redfish.records.record import kinds_of, record_of
from ironic.drivers.modules.redfish.records.walk import Limits, Walk, Walked
from ironic.drivers.modules.redfish.wire.bmc_access import AUTH_TYPES, Access, access_by

NAME: Final = "record-bmc"
PASSWORD: Final = "IRONIC_BMC_PASSWORD"

_SECONDS_BETWEEN_LINES: Final = 5.0
_MIB: Final = 1024 * 1024


def add_command(parsers: Any) -> None:
    """Add the arguments of the command."""
    parser: argparse.ArgumentParser = parsers.add_parser(NAME, help="Record the answers of a Redfish BMC, anonymised.")
    parser.add_argument("address", metavar="ADDRESS", help="Address of the BMC, as redfish_address of a node.")
    parser.add_argument("--user", metavar="NAME", help=f"User name; its password is in {PASSWORD}, or asked for.")
    parser.add_argument("--password-file", type=Path, metavar="FILE", help="File whose first line is the password.")
    parser.add_argument("--auth-type", choices=AUTH_TYPES, help="How to log in, as redfish_auth_type of a node.")
    trust = parser.add_mutually_exclusive_group()
    trust.add_argument("--ca", metavar="PATH", help="File or directory of the authorities to verify the BMC with.")
    trust.add_argument("--insecure", action="store_true", help="Do not verify the certificate of the BMC.")
    parser.add_argument("--output", type=Path, default=Path("bmc-record.json"), metavar="FILE", help="Where to write.")
    parser.add_argument("--replace", action="store_true", help="Replace the file if it exists.")
    usual = Limits()
    parser.add_argument("--most-requests", type=_positive, default=usual.requests, metavar="NUMBER")
    parser.add_argument("--most-mib", type=_positive, default=usual.size // _MIB, metavar="MIB")
    parser.add_argument("--most-links", type=_positive, default=usual.depth, metavar="NUMBER", help="From the root on.")
    parser.add_argument("--most-seconds", type=_positive, default=int(usual.seconds), metavar="SECONDS")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def record(given: argparse.Namespace) -> int:
    """Walk through the BMC and write the record; print what it has, and what was left out. Return the exit status."""
    output: Path = given.output
    if output.exists() and not given.replace:
        raise InvalidParameterValue(err=f"{output} exists; name another file, or add --replace.")
    if not output.parent.is_dir():
        raise InvalidParameterValue(err=f"There is no directory {output.parent} to write {output.name} to.")
    access = _access(given)
    limits = Limits(given.most_requests, given.most_mib * _MIB, given.most_links, given.most_seconds)
    walked = Walk(access, limits, CLOCK, _Progress().say).run()
    host = urlsplit(access.address).hostname or ""
    made = record_of(walked, host, access.username, access.password, f"ironic {release()}")
    _write(output, json.dumps(made, indent=1) + "\n", replace=given.replace)
    _report(made, walked, output)
    return WELL


def _access(given: argparse.Namespace) -> Access:
    info: dict[str, object] = {"redfish_address": given.address, "redfish_auth_type": given.auth_type}
    if given.insecure or given.ca:
        info["redfish_verify_ca"] = False if given.insecure else given.ca
    if given.user:
        info |= {"redfish_username": given.user, "redfish_password": _password(given.user, given.password_file)}
    elif given.password_file or PASSWORD in os.environ:
        raise InvalidParameterValue(err="A password needs the name of its user: add --user.")
    return access_by({name: value for name, value in info.items() if value is not None})


def _password(user: str, file: Path | None) -> str:
    if file is not None:
        lines = content_of(file).decode().splitlines()
        return lines[0] if lines else ""
    if (found := os.environ.get(PASSWORD)) is not None:
        return found
    if not sys.stdin.isatty():
        raise InvalidParameterValue(err=f"No password: set {PASSWORD}, or name a file with --password-file.")
    return getpass.getpass(f"Password of {user}: ")


class _Progress:
    """A line on standard error every few seconds."""

    def __init__(self) -> None:
        self._next = CLOCK.monotonic() + _SECONDS_BETWEEN_LINES

    def say(self, answers: int, waiting: int) -> None:
        if CLOCK.monotonic() >= self._next:
            self._next = CLOCK.monotonic() + _SECONDS_BETWEEN_LINES
            print(f"{answers} answers; {waiting} links are known that were not followed yet", file=sys.stderr)


def _write(path: Path, text: str, *, replace: bool) -> None:
    """Write a file that its owner alone may read, all of it or none."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(part, flags, 0o600), "w") as file:
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            give_name(part, path, replace=replace)
        finally:
            part.unlink(missing_ok=True)


def _report(made: Mapping[str, Any], walked: Walked, output: Path) -> None:
    kinds = kinds_of(made)
    print(f"{output}: {sum(kinds.values())} answers of {_machine(made)}")
    for kind, count in sorted(kinds.items()):
        print(f"  {count:5} {kind}")
    for title, counts in (("replaced", made["replaced"]), ("left out", made["left_out"])):
        print(f"{title}: {', '.join(f'{name} ({count})' for name, count in counts.items()) or 'nothing'}")
    if walked.ended_early:
        print(f"The record is not complete: {walked.ended_early}.")
    print("Look at the file before it leaves your site; doc/record-a-bmc.md says how.")


def _machine(made: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in made["machine"].items()) or "a machine that says nothing"
