"""The forms of a request that BMCs take: one after another is sent, as long as the refusal of one leads to the next."""

from collections.abc import Callable, Generator
from typing import TypeVar

from sushy import exceptions as sushy_errors

Form = TypeVar("Form")
Result = TypeVar("Result")

# Yields the forms, the likeliest first; is sent the refusal of each, and ends when that leads to no other one.
Forms = Generator[Form, sushy_errors.HTTPError, None]


def in_one_form(forms: Forms[Form], send: Callable[[Form], Result]) -> Result:
    """Return what ``send`` makes of the first form that the BMC takes; raise its last refusal when it takes none.

    A refusal has changed nothing at the BMC, so that the next form is no second order.
    """
    form = next(forms)
    while True:
        try:
            return send(form)
        except sushy_errors.HTTPError as error:
            try:
                form = forms.send(error)
            except StopIteration:
                raise error from None
