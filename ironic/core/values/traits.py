"""Traits: the published ones of os-traits, and the custom ones of a site.

The published list is loaded on its first use.
"""

import functools
import re
from typing import Final, TypeGuard

MOST_CHARACTERS: Final = 255

# The traits that a node may have at most.
MOST_OF_NODE: Final = 50

# The form of a custom trait.
CUSTOM: Final = re.compile(r"CUSTOM_[A-Z0-9_]+")


def is_trait(value: object) -> TypeGuard[str]:
    """Return whether a value is a published or custom trait."""
    if not isinstance(value, str) or len(value) > MOST_CHARACTERS:
        return False
    return CUSTOM.fullmatch(value) is not None or value in published()


@functools.cache
def published() -> frozenset[str]:
    """Return the published traits."""
    # Imported late: the import is slow, and most services never need it.
    import os_traits

    return frozenset(os_traits.get_traits())


def is_list_of_traits(value: object) -> TypeGuard[list[str]]:
    """Return whether a value is a list of names, no longer than the traits of a node."""
    return isinstance(value, list) and len(value) <= MOST_OF_NODE and all(isinstance(one, str) for one in value)
