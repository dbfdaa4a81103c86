"""Values of an inventory: plain words, and only what is known."""

Found = dict[str, object]


def word_of(value: object) -> str | None:
    """Return the word of the Redfish document; sushy turns known words into members of an enumeration."""
    return None if value is None else str(getattr(value, "value", value))


def known(**values: object) -> Found:
    """Return the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}
