"""The record of a BMC: a file of JSON with every answer of a walk, anonymised, in the words that the BMC used.

    {"format": "ironic-bmc-record/1",
     "recorder": "ironic 1.2.0",
     "machine": {"Vendor": ..., "Model": ..., ...},            as far as the BMC says them
     "systems": ["/redfish/v1/Systems/1"],
     "ended_early": null,                                      or which limit ended the walk
     "left_out": {"sessions": 1, ...},                         what was not read, by reason
     "replaced": {"serial number or tag": 12, ...},            how many different values
     "answers": {"/redfish/v1": {"status": 200, "headers": {"ETag": ...}, "body": "{...}"},
                 "/redfish/v1/Systems/1/Logo": {"status": 200, "headers": {}, "no_json": {"kind": ..., "bytes": 9}},
                 "/redfish/v1/Fabrics": {"fault": "the answer did not come"}}}

A body is a text of JSON as it came. It stands for bytes of UTF-8, in which a byte that is none is a lone half of a
character (`surrogateescape`). The BMC's own URLs begin with the address `bmc.example`.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final

from ironic.core.texts import lenient_json
from ironic.drivers.modules.redfish.records.anonymous import Anonymiser
from ironic.drivers.modules.redfish.records.stand_ins import Kind
from ironic.drivers.modules.redfish.records.walk import Seen, Walked

FORMAT: Final = "ironic-bmc-record/1"

_FIRMWARE: Final = ("BiosVersion", "FirmwareVersion")
_MACHINE: Final = ("Manufacturer", "Model", *_FIRMWARE)
_SYSTEM: Final = re.compile(r"/Systems/[^/]+$")
_BOM: Final = "\ufeff"


def record_of(walked: Walked, host: str, username: str | None, password: str | None, recorder: str) -> dict[str, Any]:
    """Return the record of a walk through the BMC at a host; the login with which it was read is not in it."""
    login = [(kind, text) for kind, text in ((Kind.USER, username), (Kind.SECRET, password)) if text]
    anonymiser = Anonymiser(host, login)
    documents: dict[str, tuple[str, object]] = {}
    for path, seen in walked.seen.items():
        anonymiser.learn_text(path)
        for name, value in seen.headers.items():
            if name == "Location":
                anonymiser.learn_text(value)
        if (text := _text_of(seen.content)) is not None:
            documents[path] = text
            anonymiser.learn(text[0])
    anonymiser.begin_replacing()
    answers = {
        anonymiser.text(path): _answer(anonymiser, seen, documents[path][0] if path in documents else None)
        for path, seen in walked.seen.items()
    }
    facts = {
        name: anonymiser.text(value)
        for name, value in _facts({path: document for path, (_, document) in documents.items()})
    }
    systems = [
        anonymiser.text(path)
        for path, (_, document) in documents.items()
        # An odd one may not say its type.
        if _SYSTEM.search(path) and walked.seen[path].status == HTTPStatus.OK and isinstance(document, dict)
    ]
    return {
        "format": FORMAT,
        "recorder": recorder,
        "machine": facts,
        "systems": systems,
        "ended_early": walked.ended_early,
        "left_out": dict(sorted(walked.left_out.items())),
        "replaced": {kind.value: count for kind, count in anonymiser.stand_ins.counts.items()},
        "answers": answers,
    }


def kinds_of(record: Mapping[str, Any]) -> Counter[str]:
    """Return how many resources of each kind a record has, by the type that they say."""
    found: Counter[str] = Counter()
    for answer in record["answers"].values():
        if answer.get("status") == HTTPStatus.OK and "body" in answer:
            found[_kind_of(lenient_json.parse(answer["body"].encode(errors="surrogateescape")))] += 1
        else:
            found[f"answer {answer['status']}" if "status" in answer else "no answer"] += 1
    return found


def _text_of(content: bytes) -> tuple[str, object] | None:
    """Return a body as text and what it says, None where it is no object or list of JSON."""
    try:
        encoding = json.detect_encoding(content)
        document = lenient_json.parse(content)
        if encoding not in ("utf-8", "utf-8-sig"):
            # A record has one encoding; these are as rare as BMCs of another byte order.
            content = content.decode(encoding).encode()
    except ValueError:
        return None
    if not isinstance(document, dict | list):
        return None
    return content.decode(errors="surrogateescape"), document


def _answer(anonymiser: Anonymiser, seen: Seen, text: str | None) -> dict[str, Any]:
    if seen.fault:
        return {"fault": seen.fault}
    headers = {
        name: anonymiser.text(value) if name == "Location" else anonymiser.tag(value)
        for name, value in seen.headers.items()
    }
    answer: dict[str, Any] = {"status": seen.status, "headers": headers}
    if text is not None:
        mark = _BOM if text.startswith(_BOM) else ""
        answer["body"] = mark + anonymiser.document(text.removeprefix(_BOM))
    elif seen.content:
        answer["no_json"] = {"kind": seen.content_type, "bytes": len(seen.content)}
    return answer


def _kind_of(document: object) -> str:
    """Return the kind of a resource, as "Chassis" for "#Chassis.v1_2_0.Chassis"."""
    given = document.get("@odata.type") if isinstance(document, dict) else None
    return given.lstrip("#").partition(".")[0] if isinstance(given, str) and given else "without a type"


def _facts(documents: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield what a BMC says of itself and its first machine, for those who look for a record."""
    found: dict[str, str] = {}
    for document in documents.values():
        kind = _kind_of(document)
        names = {
            "ServiceRoot": ("Vendor", "Product", "RedfishVersion"),
            "ComputerSystem": _MACHINE,
            "Manager": _FIRMWARE,
        }
        assert isinstance(document, dict | list)
        for name in names.get(kind, ()):
            value = document.get(name) if isinstance(document, dict) else None
            if isinstance(value, str) and value:
                found.setdefault(name, value)
    yield from found.items()
