"""A BMC in this process, below the connector: no socket, so that thousands of odd machines are played in a minute.

Everything of the product runs but the TCP connection: gateway, connector, repair, library, drivers. It does what it is
ordered, and keeps the orders as they came.
"""

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from email.message import Message
from typing import Any, NamedTuple, Self

import pytest
from sushy.resources import base

from ironic.core.clock import CLOCK
from ironic.drivers.modules.bmc.bmc_gateway import RECENT
from ironic.drivers.modules.redfish.wire import transport
from ironic.drivers.modules.redfish.wire.bmc_answer import BmcAnswer
from ironic.drivers.modules.redfish.wire.connection_cache import CONNECTIONS
from ironic.integrations import http_client
from ironic.integrations.http_client import CallFailed

Document = dict[str, Any]

ADDRESS = "http://192.0.2.9"
TASK = "/redfish/v1/TaskService/Tasks/of-an-order"
_JUMP = 1000.0


class Order(NamedTuple):
    method: str
    path: str
    body: Any


class Answer:
    """What the connector reads of an answer."""

    def __init__(self, status: int, content: bytes = b"", headers: Mapping[str, str] | None = None) -> None:
        self.status, self.content, self.headers = status, content, Message()
        for name, value in (headers or {}).items():
            self.headers[name] = value

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def read(self) -> bytes:
        return self.content


class PlayedBmc:
    """What it serves, what was asked, and the orders that came.

    A record of a BMC has answers of its own (`Recorded`): they are given as they came, until an order changes the
    document. ``answers`` has what is answered to questions in place of a document, by path, just as long.
    """

    def __init__(
        self, documents: Mapping[str, Document], recorded: Mapping[str, Answer | CallFailed] | None = None
    ) -> None:
        self.whole = documents
        # Answers to questions as they are given, or how they fail.
        self._given = dict(recorded or {})
        # action target -> action, path of the resource that has it
        self._targets: dict[str, tuple[str, str]] = {}
        self._collections: set[str] = set()
        for path, document in documents.items():
            actions = document.get("Actions") if isinstance(document, dict) else None
            for name, action in actions.items() if isinstance(actions, dict) else ():
                target = action.get("target") if isinstance(action, dict) else None
                if name.startswith("#") and isinstance(target, str):
                    # HPE's have a slash at the end.
                    self._targets.setdefault(target.removeprefix(ADDRESS).rstrip("/"), (name, path))
            if path.endswith("/Volumes"):
                self._collections.add(path)
        self.begin({})

    def begin(self, changed: Mapping[str, Document | None], answers: Mapping[str, Answer] | None = None) -> None:
        """Be the machine with these documents in place of its own, None for one that is missing; forget all orders."""
        self.changed, self.answers = dict(changed), dict(answers or {})
        self._own_copies: set[str] = set()
        self.asked: set[str] = set()
        self.orders: list[Order] = []
        RECENT._kept.clear()

    @property
    def documents(self) -> dict[str, Any]:
        """All documents as they are now."""
        now = {**self.whole, **self.changed}
        return {path: document for path, document in now.items() if document is not None}

    def forget_root(self) -> None:
        """Have the next operation read the service root."""
        CONNECTIONS._kept.clear()
        CONNECTIONS._of_nodes.clear()

    def send(self, method: str, url: str, terms: object, headers: Mapping[str, str], body: bytes | None) -> Answer:
        """Answer a request, as `http_client.send` does."""
        path = url.removeprefix(ADDRESS).rstrip("/")
        if method == "GET":
            self.asked.add(path)
            return self.answers[path] if path in self.answers else self._document(path)
        content = None if body is None else json.loads(body)
        self.orders.append(Order(method, path, content))
        return self._take(method, path, content)

    def _document(self, path: str) -> Answer:
        if path in self.changed:
            document = self.changed[path]
            return Answer(404, b"{}") if document is None else Answer(200, json.dumps(document).encode())
        if path not in self._given:
            document = self.whole.get(path)
            if document is None:
                return Answer(404, b"{}")
            self._given[path] = Answer(200, json.dumps(document).encode())
        answer = self._given[path]
        if isinstance(answer, CallFailed):
            raise answer
        return answer

    def _own(self, path: str) -> Any:
        """Return a document that an order may change, None where there is none."""
        self.answers.pop(path, None)
        document = self.changed.get(path, None if path in self.changed else self.whole.get(path))
        if path not in self._own_copies and document is not None:
            self._own_copies.add(path)
            self.changed[path] = document = copy.deepcopy(document)
        return document

    def _merge(self, path: str, more: Document) -> None:
        document = self._own(path)
        if isinstance(document, dict):
            _put_into(document, more)

    def _take(self, method: str, path: str, body: Any) -> Answer:
        done = Answer(204)
        if method == "PATCH" and self._own(path) is not None:
            self._merge(path, body)
            return done
        if method == "DELETE" and self._own(path) is not None:
            self.changed[path] = None
            self._edit_members(path.rpartition("/")[0], lambda links: [one for one in links if one != _link(path)])
            return done
        if method != "POST":
            return Answer(404, b"{}")
        if path in self._collections:
            made = f"{path}/made-{len(self.orders)}"
            self.changed[made] = {"@odata.id": made, "Id": "made", "Name": "made", **body}
            self._edit_members(path, lambda links: [*links, _link(made)])
            return Answer(201, b"{}", {"Location": made})
        action, owner = self._targets.get(path, ("", ""))
        if action == "#ComputerSystem.Reset":
            self._merge(owner, {"PowerState": "Off" if body["ResetType"] in ("ForceOff", "GracefulShutdown") else "On"})
        elif action == "#VirtualMedia.InsertMedia":
            self._merge(owner, {"Image": body["Image"], "Inserted": True})
        elif action == "#VirtualMedia.EjectMedia":
            self._merge(owner, {"Image": None, "Inserted": False})
        elif action == "#UpdateService.SimpleUpdate":
            self.changed[TASK] = {"@odata.id": TASK, "Id": "1", "Name": "Update", "TaskState": "Running"}
            return Answer(202, b"{}", {"Location": TASK})
        return done if action else Answer(404, b"{}")

    def _edit_members(self, path: str, edit: Callable[[list[Any]], list[Any]]) -> None:
        collection = self._own(path)
        if isinstance(collection, dict) and isinstance(collection.get("Members"), list):
            collection["Members"] = edit(collection["Members"])
            if isinstance(collection.get("Members@odata.count"), int):
                collection["Members@odata.count"] = len(collection["Members"])


def _link(path: str) -> dict[str, str]:
    return {"@odata.id": path}


def _put_into(document: Document, more: Document) -> None:
    for name, value in more.items():
        if isinstance(value, dict) and isinstance(document.get(name), dict):
            _put_into(document[name], value)
        else:
            document[name] = value


class _OwnTime:
    """A clock that goes on by pauses only."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def pause(self, seconds: float) -> bool:
        # Who looks again looks once more: the BMC changes by orders only.
        self.now += _JUMP if seconds > 0 else 0.0
        return True


@contextmanager
def _reading_once(most: int = 512) -> Iterator[Callable[[BmcAnswer], Document]]:
    """Provide what reads an answer, each content once: nearly all documents are those of the whole machine.

    At the end they have to be what they were: the product changes no document that it has read.
    """
    read, known = BmcAnswer._read, dict[tuple[bytes, str], tuple[BmcAnswer, Document]]()

    def read_once(answer: BmcAnswer) -> Document:
        key = answer.content, answer._path
        if key not in known:
            if len(known) >= most:
                del known[next(iter(known))]
            known[key] = answer, read(answer)
        return known[key][1]

    yield read_once
    assert all(read(answer) == document for answer, document in known.values())


def _fields_of_class() -> Callable[[Any], list[tuple[str, Any]]]:
    """Return what finds the fields of a resource of the library, once for each class: they never change."""
    find, known = base._collect_fields, dict[type, list[tuple[str, Any]]]()

    def fields(resource: Any) -> list[tuple[str, Any]]:
        kind = type(resource)
        if kind not in known:
            known[kind] = list(find(resource))
        return known[kind]

    return fields


@contextmanager
def played() -> Iterator[Callable[[PlayedBmc], None]]:
    """Have the product talk with a BMC of this process, the one that was chosen last; it never waits."""
    clock, bmcs = _OwnTime(), list[PlayedBmc]()

    def choose(bmc: PlayedBmc) -> None:
        if bmcs != [bmc]:
            bmcs[:] = [bmc]
            bmc.forget_root()

    class Transport:
        def __getattr__(self, name: str) -> Any:
            return getattr(http_client, name)

        def send(self, *request: Any) -> Answer:
            return bmcs[0].send(*request)

    with pytest.MonkeyPatch.context() as patch, _reading_once() as read_once:
        patch.setattr(transport, "http_client", Transport())
        patch.setattr(BmcAnswer, "_read", read_once)
        patch.setattr(base, "_collect_fields", _fields_of_class())
        patch.setattr(CLOCK, "monotonic", clock.monotonic)
        patch.setattr(CLOCK, "sleep", clock.pause)
        yield choose
    CONNECTIONS._kept.clear()
    CONNECTIONS._of_nodes.clear()
