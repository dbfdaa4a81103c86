"""Paths of resources, in the form in which they can be compared: BMCs spell some in two ways."""


def plain_path(path: str) -> str:
    """Return a path in the form in which it can be compared: BMCs spell some in two ways."""
    return path.partition("#")[0].rstrip("/").lower()
