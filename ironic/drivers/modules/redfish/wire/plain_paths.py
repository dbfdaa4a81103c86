"""Paths of resources of a BMC, in the form in which they can be compared.

BMCs spell some in two ways: in another case, with a slash at the end, with an empty fragment. Two spellings are one
resource, in lists too, and a part of a resource counts as the resource.
"""

from collections.abc import Iterable


def plain_path(path: str) -> str:
    """Return a path in the form in which it can be compared."""
    return path.partition("#")[0].rstrip("/").lower()


def different_paths(paths: Iterable[str]) -> list[str]:
    """Return the paths of different resources in their order, each as it is spelt first."""
    found: dict[str, str] = {}
    for path in paths:
        found.setdefault(plain_path(path), path)
    return list(found.values())


def end_of(path: str) -> str:
    """Return the last part of a path as it is spelt, which stands for the name of a resource."""
    return path.rstrip("/").rpartition("/")[2]
