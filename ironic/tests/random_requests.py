"""Requests with a random choice of what the service's own OpenAPI document says they may have."""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from ironic.api.openapi import document
from ironic.api.resources import ROUTES

Schema = Mapping[str, Any]

_UUID = "99999999-0000-4000-8000-{:012x}"
_MAC = "52:54:00:{:02x}:{:02x}:{:02x}"


class Drawn(NamedTuple):
    """One request as it is sent; ``body`` is None where none is taken."""

    method: str
    path: str
    body: bytes | None


class RandomRequests:
    """An endless row of requests to every operation of a version, in random order; the same seed gives the same."""

    def __init__(
        self,
        minor: int,
        seed: int,
        names: Mapping[str, str | Sequence[str]],
        skip: str = "DELETE|/openapi",
        told: Sequence[str] = (),
    ) -> None:
        """Put ``names`` into paths, one of several; leave out operations that match ``skip``, by "METHOD path".

        Every third text of a query or body is one of ``told``.
        """
        self._told = told
        self._all = document(ROUTES, minor, "http://drawn.test")
        self._random, self._names = random.Random(seed), names
        self._operations = [
            (method.upper(), path, operation)
            for path, item in self._all["paths"].items()
            for method, operation in item.items()
            if method in ("get", "head", "post", "put", "patch", "delete")
            and not re.search(skip, f"{method.upper()} {path}")
        ]

    def __len__(self) -> int:
        """Return how many operations there are."""
        return len(self._operations)

    def __iter__(self) -> Iterator[Drawn]:
        """Go through all operations again and again, each time in another order."""
        while True:
            self._random.shuffle(self._operations)
            for method, path, operation in self._operations:
                yield Drawn(method, self._filled(path) + self._query(operation), self._body(operation))

    def _filled(self, path: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda found: self._name(found[1]), path)

    def _name(self, kind: str) -> str:
        known = self._names.get(kind) or _UUID.format(0xDEAD)
        return known if isinstance(known, str) else self._random.choice(known)

    def _query(self, operation: Schema) -> str:
        known = {one["name"]: one["schema"] for one in operation.get("parameters", ()) if one.get("in") == "query"}
        chosen = {name: self._text(known[name]) for name in self._some(list(known), 0.2)}
        return f"?{urlencode(chosen)}" if chosen else ""

    def _body(self, operation: Schema) -> bytes | None:
        if "requestBody" not in operation:
            return None
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        return json.dumps(self._value(schema)).encode()

    def _some(self, names: list[str], share: float) -> list[str]:
        return [name for name in names if self._random.random() < share]

    def _text(self, schema: Schema) -> str:
        value = self._value(schema)
        return value if isinstance(value, str) else json.dumps(value).strip("[]").replace('"', "")

    def _value(self, schema: Schema) -> Any:
        if "$ref" in schema:
            return self._value(self._all["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
        for several in ("anyOf", "oneOf"):
            if several in schema:
                return self._value(self._random.choice(schema[several]))
        if "const" in schema or "enum" in schema:
            return schema["const"] if "const" in schema else self._random.choice(schema["enum"])
        kinds = schema.get("type", "object")
        kind = kinds if isinstance(kinds, str) else self._random.choice(kinds)
        return getattr(self, f"_{kind}")(schema)

    def _object(self, schema: Schema) -> dict[str, Any]:
        known = schema.get("properties", {})
        chosen = dict.fromkeys([*schema.get("required", ()), *self._some(list(known), 0.5)])
        return {name: self._value(known[name]) for name in chosen if name in known} or {"a": 1}

    def _array(self, schema: Schema) -> list[Any]:
        return [self._value(schema.get("items", {"type": "string"})) for _ in range(self._random.randrange(1, 3))]

    def _string(self, schema: Schema) -> str:
        if self._told and self._random.random() < 1 / 3:
            return self._random.choice(self._told)
        number = self._random.getrandbits(24)
        if schema.get("format") == "uuid":
            return _UUID.format(number)
        if ":" in schema.get("pattern", ""):
            return _MAC.format(number >> 16, number >> 8 & 255, number & 255)
        return f"CUSTOM_{number:x}" if "CUSTOM" in schema.get("pattern", "") else f"w{number:x}"

    def _integer(self, schema: Schema) -> int:
        return self._random.randrange(1, 100)

    def _number(self, schema: Schema) -> float:
        return 0.5

    def _boolean(self, schema: Schema) -> bool:
        return self._random.random() < 0.5

    def _null(self, schema: Schema) -> None:
        return None
