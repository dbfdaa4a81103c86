"""Hold answers against the schemas that the OpenAPI document has for them ([api]response_validation).

An answer in another form than described is a defect of this service. It is logged without its values, which may be
secrets. Checking costs more than most answers do, so it is off unless the operator asks for it.
"""

import functools
import logging
from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import quote

import orjson

from ironic.api.answers import Answer
from ironic.api.error_responses import Refused
from ironic.api.request import Request
from ironic.api.routes import Route

LOG = logging.getLogger(__name__)

IGNORE: Final = "ignore"
_ERROR: Final = "error"
_NAME: Final = "urn:openapi"
# Documents of so many versions are kept: clients negotiate few.
_VERSIONS_KEPT: Final = 8
_MOST_NAMED: Final = 5

Check = Callable[[Request, Answer], None]


def of_mode(mode: str, rows: Sequence[Route]) -> Check | None:
    """Return a check of answers that raises Refused or warns, by the mode; None for that which ignores them.

    Raises ValueError if the Python module that it needs is not installed.
    """
    if mode == IGNORE:
        return None
    try:
        from jsonschema import Draft202012Validator
        from referencing import Registry
        from referencing.jsonschema import DRAFT202012
    except ModuleNotFoundError as missing:
        raise ValueError(
            f"[api]response_validation = {mode} needs Python module {missing.name}: pip install jsonschema, or set it "
            f"to {IGNORE}"
        ) from None

    # Without the option the start need not import it.
    from ironic.api.openapi import document

    @functools.lru_cache(_VERSIONS_KEPT)
    def described(minor: int) -> tuple[dict[str, Any], Any]:
        made = document(rows, minor, "")
        return made, Registry().with_resource(_NAME, DRAFT202012.create_resource(made))

    def check(request: Request, answer: Answer) -> None:
        route = request.route
        if route is None or answer.body is None:
            return
        paths, registry = described(request.minor)
        method = "get" if route.method == "*" else route.method.lower()
        responses = paths["paths"].get(route.path, {}).get(method, {}).get("responses", {})
        if answer.content_type not in responses.get(str(answer.status), {}).get("content", ()):
            return
        kind = answer.content_type.replace("/", "~1")
        place = f"paths/{route.path.replace('/', '~1')}/{method}/responses/{answer.status}/content/{kind}/schema"
        schema = {"$ref": f"{_NAME}#/{quote(place, safe='/~')}"}
        body = answer.body if isinstance(answer.body, bytes) else b"".join(answer.body)
        found = Draft202012Validator(schema, registry=registry).iter_errors(orjson.loads(body))
        named = sorted({f"{one.json_path} breaks {one.validator}" for one in found})
        if named:
            more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
            text = f"{', '.join(named[:_MOST_NAMED])}{more}"
            LOG.error("The answer to %s %s is not as described: %s", route.method, route.path, text)
            if mode == _ERROR:
                raise Refused(500, f"The answer is not as the API describes it ([api]response_validation): {text}.")

    return check
