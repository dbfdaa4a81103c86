"""Paths of resources of a BMC, in the form in which they can be compared.

BMCs spell some in two ways in two documents: in another case, with a slash at the end, with a fragment. Two spellings
are one resource then, and a part of a resource counts as the resource. In one list, parts of a resource are different
ones, and two that differ in case only may be.
"""

from collections.abc import Iterable


def plain_path(path: str) -> str:
    """Return a path in the form in which it can be compared."""
    return path.partition("#")[0].rstrip("/").lower()


def different_paths(paths: Iterable[str]) -> list[str]:
    """Return the different paths of a list in their order; a slash at the end, or an empty fragment, is no difference.

    They are as they are spelt first.
    """
    found: dict[str, str] = {}
    for path in paths:
        found.setdefault(_within_list(path), path)
    return list(found.values())


def differ_in_case_only(paths: Iterable[str]) -> bool:
    """Return whether two of these different paths do, so that they may be one."""
    spelt = list(paths)
    return len({_within_list(path).lower() for path in spelt}) < len(spelt)


def _within_list(path: str) -> str:
    return path.rstrip("#").rstrip("/")


def end_of(path: str) -> str:
    """Return the last part of a path as it is spelt, which stands for the name of a resource."""
    return path.rstrip("/").rpartition("/")[2]
