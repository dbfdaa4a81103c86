"""Why a rule stops while it runs.

Raised by operators, actions and look-ups, caught in one place (`evaluation`), which adds the rule, the phase and the
position. The texts name paths, arguments and types; what stands in the facts is quoted only in short.
"""

_QUOTED = 60


class RuleFault(Exception):
    """A condition or an action can't be carried out with these facts."""


class FailRequested(RuleFault):
    """A rule says that the inspection has failed."""


class TooMuchWork(RuleFault):
    """The rules of one evaluation used up the work they are allowed."""


def quoted(value: object) -> str:
    """Return a short form of a value for a message: scalars in full up to a bound, containers by their kind."""
    if isinstance(value, dict):
        return f"an object of {len(value)} keys"
    if isinstance(value, list):
        return f"a list of {len(value)} items"
    if isinstance(value, str) and len(value) > _QUOTED:
        return f"{value[:_QUOTED]!r}..."
    text = repr(value)
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}..."
