"""Rows of the route table that only refuse.

Some paths are there to say what is wrong with them: a change of a collection as a whole, a part that is only listed.
`Refuses` is the handler of such a row; the description of the API leaves these rows out.
"""

from collections.abc import Callable
from typing import Any, NoReturn

from ironic.api.request import Request
from ironic.core.errors import InvalidParameterValue


class Refuses:
    """A handler that raises, whatever is sent; `first` may refuse for a better reason."""

    def __init__(self, error: Callable[[], Exception], first: Callable[[Request], object] | None = None) -> None:
        self._error, self._first = error, first

    def __call__(self, request: Request, *ignored: Any) -> NoReturn:
        """Refuse."""
        if self._first is not None:
            self._first(request)
        raise self._error()


def refuses(text: str) -> Refuses:
    """Refuse with a 400 that says this."""
    return Refuses(lambda: InvalidParameterValue(err=text))


def needs_one(what: str) -> Refuses:
    """Refuse to change a collection as a whole, and to create where a thing already is; ``what`` names one of them."""
    return refuses(f"This needs {what} in the path, and nothing else there.")
