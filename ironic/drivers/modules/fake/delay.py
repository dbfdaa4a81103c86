"""How long a fake machine takes."""

import random

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.drivers.waiting import pause


def delay(kind: str) -> None:
    """Take as long as [fake]<kind>_delay says."""
    seconds = duration(CONF.fake[f"{kind}_delay"])
    if seconds:
        pause(seconds)


def duration(text: str) -> float:
    """Read "5" as five seconds and "5,9" as a random time from five to nine, rather near five than near nine."""
    try:
        low, high = (float(part) for part in (text.split(",") if "," in text else (text, text)))
    except ValueError:
        low = high = -1.0
    if not 0 <= low <= high:
        raise InvalidParameterValue(
            err=f"A delay of the [fake] options must be seconds, or two with a comma, the smaller one first: {text!r}."
        )
    return random.triangular(low, high, low)
