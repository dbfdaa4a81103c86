"""What may be a trait: words of a published list, and those that sites make up themselves.

The list is a library that all services share; it is read at the first question about a word of it.
"""

import functools
import re
from typing import Final, TypeGuard

MOST_CHARACTERS: Final = 255

# So many may a node have.
MOST_OF_NODE: Final = 50

# What sites make up themselves.
CUSTOM: Final = re.compile(r"CUSTOM_[A-Z0-9_]+")


def is_trait(value: object) -> TypeGuard[str]:
    """Tell whether a value may be a trait."""
    if not isinstance(value, str) or len(value) > MOST_CHARACTERS:
        return False
    return CUSTOM.fullmatch(value) is not None or value in published()


@functools.cache
def published() -> frozenset[str]:
    """Return the words of the published list."""
    # The library walks through its own modules at import; most services never need it.
    import os_traits

    return frozenset(os_traits.get_traits())


def is_list_of_traits(value: object) -> TypeGuard[list[str]]:
    """Tell whether an instance could ask for these: a list of names, no longer than that of a node."""
    return isinstance(value, list) and len(value) <= MOST_OF_NODE and all(isinstance(one, str) for one in value)
