"""How a request to a BMC fails: its answer can't be used, or does not come."""

import ssl
from typing import Final

from sushy import exceptions as sushy_errors

from ironic.integrations.allowed_destinations import UNREACHABLE
from ironic.integrations.http_client import BrokenOff, CallFailed, NotAllowed

# Errors that sushy does not catch when an answer has not the form of Redfish.
NOT_REDFISH: Final = (ValueError, TypeError, AttributeError, KeyError, IndexError, RecursionError)


class UnusableAnswer(sushy_errors.SushyError):  # type: ignore[misc]  # the library brings no types
    """The answer can't be used, or there is none; ``is_lost`` when the same request may succeed later."""

    message = "%(error)s"

    def __init__(self, error: str, *, is_lost: bool = False) -> None:
        super().__init__(error=error)
        self.is_lost = is_lost


class NotADocument(UnusableAnswer, ValueError):
    """The answer has no JSON object."""


class LostConnection(sushy_errors.ConnectionError):  # type: ignore[misc]  # the library brings no types
    """The BMC can't be reached or broke the connection off; ``is_passing`` when another attempt may succeed.

    ``has_begun`` when it took the request, and did not answer it to the end. ``hint`` says what may help, with a mark
    before it.
    """

    def __init__(self, error: CallFailed, hint: str, *, by_project: bool) -> None:
        # A project learns nothing of what is at an address that it has chosen.
        self.details = f"{error}{hint}"
        self.text = UNREACHABLE if by_project else self.details
        super().__init__(url="of the BMC", error=self.text)
        self.has_begun = isinstance(error, BrokenOff)
        self.is_passing = not isinstance(error.__cause__, ssl.SSLError | TimeoutError) and not isinstance(
            error, NotAllowed
        )
