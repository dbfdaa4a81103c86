"""`ironic-inventory convert-rules`: convert rules of the standalone ironic-inspector into inspection rules.

The rules come from a file (JSON or YAML: a list, an object with `rules`, or one rule), or from a running inspector by
its own client, python-ironic-inspector-client. `OS_AUTH_TYPE` and the other `OS_` variables say how to log in there;
without them no credentials are sent. The new rules are written as one JSON list, to --output or to standard output; the
report goes to standard error. The exit status is 0 when every rule was converted, 1 when one was not.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from keystoneauth1 import loading, session

from ironic.command.lifecycle import FAILED, WELL
from ironic.core.errors import InvalidParameterValue
from ironic.core.rules.inspector.conversion import IMPOSSIBLE, Conversion, converted
from ironic.core.texts.operator_files import document_in

NAME: Final = "convert-rules"
# What lists of rules are called in answers of the inspector and of this service.
_LISTS: Final = ("rules", "inspection_rules")


def add_command(parsers: Any) -> None:
    """Add the arguments of the command."""
    parser: argparse.ArgumentParser = parsers.add_parser(
        NAME, help="Convert rules of the standalone ironic-inspector into inspection rules."
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("file", nargs="?", type=Path, metavar="FILE", help="JSON or YAML with rules.")
    source.add_argument("--service", metavar="URL", help="URL of a running ironic-inspector.")
    parser.add_argument("--output", type=Path, metavar="FILE", help="Where to write the new rules.")


def convert(file: Path | None, service: str | None, output: Path | None) -> int:
    """Convert all rules of a file or a service, write them and the report; return the exit status."""
    found = list(_from_service(service) if service else rules_of_file(file or Path()))
    made = [converted(one) for one in found]
    text = json.dumps([one.rule for one in made if one.rule is not None], indent=2) + "\n"
    if output is None:
        print(text, end="")
    else:
        output.write_text(text)
    for number, one in enumerate(made, 1):
        for line in _report(number, one):
            print(line, file=sys.stderr)
    lost = sum(one.status == IMPOSSIBLE for one in made)
    print(f"{len(made) - lost} of {len(made)} rules were converted; new rules take nothing back.", file=sys.stderr)
    return FAILED if lost else WELL


def _report(number: int, conversion: Conversion) -> Iterator[str]:
    name = conversion.description or conversion.uuid or "without a description"
    yield f"rule {number} ({name}): {conversion.status}"
    for remark in dict.fromkeys(conversion.remarks):
        yield f"  - {remark}"


def rules_of_file(path: Path) -> list[object]:
    """Return the rules in a file of JSON or YAML, unchecked: a list, an answer of an API, or one rule.

    Raises InvalidParameterValue if it holds none.
    """
    try:
        found = document_in(path)
    except ValueError as error:
        raise InvalidParameterValue(err=f"{path} can't be read: {error}.") from None
    if isinstance(found, dict):
        found = next((found[name] for name in _LISTS if name in found), [found])
    if not isinstance(found, list):
        raise InvalidParameterValue(err=f"{path} has no list of rules.")
    return found


def _from_service(url: str) -> Iterator[dict[str, Any]]:
    """Yield the rules of a running inspector in the order of their creation."""
    try:
        import ironic_inspector_client
    except ImportError:
        raise InvalidParameterValue(
            err="python-ironic-inspector-client is not installed: install it, or save the rules to a file."
        ) from None
    try:
        rules = ironic_inspector_client.ClientV1(inspector_url=url, session=_session()).rules
        yield from [rules.get(short["uuid"]) for short in rules.get_all()]
    except Exception as error:  # of the client, of its HTTP library, of the login
        raise InvalidParameterValue(err=f"The rules of {url} can't be read: {error}") from None


def _session() -> session.Session:
    """Return a session that logs in as the variables of the environment say."""
    loader: Any = loading.get_plugin_loader(os.environ.get("OS_AUTH_TYPE", "none"))
    given = {option.dest: os.environ.get(f"OS_{option.dest.upper()}") for option in loader.get_options()}
    verify = os.environ.get("OS_CACERT", True)
    return session.Session(loader.load_from_options(**{k: v for k, v in given.items() if v}), verify=verify, timeout=60)
