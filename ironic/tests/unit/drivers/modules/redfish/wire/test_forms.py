"""Requests in the forms that BMCs take."""

import pytest
from sushy import exceptions as sushy_errors

from ironic.drivers.modules.redfish.wire.forms import Forms, in_one_form


class _Answer:
    def __init__(self, status: int) -> None:
        self.status_code, self.content = status, b""

    def json(self) -> dict[str, object]:
        return {}


def refusal(status: int) -> sushy_errors.HTTPError:
    return sushy_errors.HTTPError("PATCH", "/one", _Answer(status))


def tags() -> Forms[str]:
    for tag in "ABC":
        if (yield tag).status_code != 412:
            return


def played(*statuses: int | None) -> tuple[list[str], str | sushy_errors.HTTPError]:
    """Return the forms that are sent to a BMC that refuses them with these statuses, and what becomes of it."""
    sent: list[str] = []

    def send(tag: str) -> str:
        sent.append(tag)
        if (status := statuses[len(sent) - 1]) is not None:
            raise refusal(status)
        return f"taken {tag}"

    try:
        return sent, in_one_form(tags(), send)
    except sushy_errors.HTTPError as error:
        return sent, error


def test_the_first_form_that_is_taken_is_the_last_that_is_sent() -> None:
    assert played(None) == (["A"], "taken A")
    assert played(412, 412, None) == (["A", "B", "C"], "taken C")


@pytest.mark.parametrize(("statuses", "sent"), [((400,), "A"), ((412, 500), "AB"), ((412, 412, 412), "ABC")])
def test_a_refusal_that_leads_to_no_other_form_is_raised(statuses: tuple[int, ...], sent: str) -> None:
    forms, error = played(*statuses)
    assert "".join(forms) == sent
    assert isinstance(error, sushy_errors.HTTPError) and error.status_code == statuses[-1]
    assert error.__suppress_context__


def test_what_is_no_refusal_is_raised_at_once() -> None:
    def send(tag: str) -> str:
        raise sushy_errors.ConnectionError(url="/one", error=tag)

    with pytest.raises(sushy_errors.ConnectionError, match="A"):
        in_one_form(tags(), send)
