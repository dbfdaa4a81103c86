"""Lists of checksums as download pages offer them: which checksum is that of an image.

A line is in the form of GNU (``sum  name``, ``sum *name``) or of BSD (``SHA256 (name) = sum``); a list may also be
nothing but one checksum, without a name. A sum counts under its own algorithm only: the one that the line names, else
the one that the name of the list does (SHA512SUMS), else the usual one of its length. Of several sums of one file the
strongest is taken. Lists come from servers that users name: a line is read once, and a long line is none of a list.
"""

import hashlib
import re
import string
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

# The algorithms that the agent knows, the strongest first.
STRENGTH: Final = ("sha512", "sha3_512", "sha384", "sha256", "sha3_256", "md5")

_LONGEST_LINE: Final = 4096  # characters
# Digits -> algorithm of a sum about which nothing else is said.
_USUAL: Final = {32: "md5", 64: "sha256", 96: "sha384", 128: "sha512"}
_HEXADECIMAL: Final = frozenset(string.hexdigits)
# The algorithms in names of lists, spelled without separators; a longer one before its beginning.
_IN_NAMES: Final = re.compile(r"sha3\d{3}|sha512(?:224|256)|sha(?:512|384|256|224|1)|md5|b2sum|blake|sm3|rmd160")


class BadList(ValueError):
    """A list of which no checksum can be taken; the text says why, after its subject."""


class _Sum(NamedTuple):
    """One line; ``algorithm`` is None where the line names none."""

    algorithm: str | None
    digest: str
    name: str


def digits(algorithm: str) -> int:
    """Return the length of a checksum in hexadecimal digits."""
    return 2 * hashlib.new(algorithm, usedforsecurity=False).digest_size


def is_checksum(text: str) -> bool:
    """Return whether a text has the form of a checksum of some algorithm."""
    return 32 <= len(text) <= 128 and _HEXADECIMAL.issuperset(text)


def listed_checksum(text: str, image: str, algorithms: Collection[str], list_name: str = "") -> tuple[str, str]:
    """Return the strongest of these algorithms for which a list has a checksum of the image, and the checksum.

    ``image`` and ``list_name`` are names of files. Raise BadList when there is none, or there are several.
    """
    sums = list(_sums(text))
    assumed = _algorithm_in(list_name.replace(image, "", 1) if image else list_name)
    # Who asks for one algorithm says with it what the sums are about which nothing is said.
    asked = next(iter(algorithms)) if len(algorithms) == 1 else None
    known = [(one.algorithm or assumed or _usual(one.digest, asked), one) for one in sums if _is_of(image, one, sums)]
    fitting = [(name, one) for name, one in known if name in STRENGTH and digits(name) == len(one.digest)]
    usable = [(name, one) for name, one in fitting if name in algorithms]
    # A file of this name in another folder may be another file.
    usable = [(name, one) for name, one in usable if one.name == image] or usable
    if not usable:
        others = ", ".join(sorted({name for name, _ in fitting}))
        raise BadList(f"has no {' or '.join(algorithms)} sum of {image}{f', only {others}' if others else ''}")
    best = min((name for name, _ in usable), key=STRENGTH.index)
    found = {one.digest for name, one in usable if name == best}
    if len(found) > 1:
        raise BadList(f"has several {best} sums of {image} that differ")
    return best, found.pop()


def _is_of(image: str, one: _Sum, sums: Sequence[_Sum]) -> bool:
    """Return whether a sum may be that of the image; one without a name is, when there is no other."""
    return one.name.rpartition("/")[2] == image if one.name else len(sums) == 1


def _sums(text: str) -> Iterator[_Sum]:
    for line in text.splitlines():
        if len(line) <= _LONGEST_LINE and (found := _of_bsd(line.strip()) or _of_gnu(line.strip())):
            yield found


def _of_gnu(line: str) -> _Sum | None:
    digest, *rest = line.split(maxsplit=1)[:2] or [""]
    return _Sum(None, digest.lower(), _plain_name(*rest)) if is_checksum(digest) else None


def _of_bsd(line: str) -> _Sum | None:
    named, _, digest = line.rpartition("=")
    algorithm, opened, name = named.strip().partition("(")
    name, closed, behind = name.rpartition(")")
    if not (opened and closed) or behind or not is_checksum(digest.strip()):
        return None
    return _Sum(_spelled(algorithm.strip()), digest.strip().lower(), _plain_name(name))


def _plain_name(name: str = "") -> str:
    """Return the name of a file without the mark of binary files and without the folder that it is in anyway."""
    return name.removeprefix("*").removeprefix("./")


def _spelled(algorithm: str) -> str:
    """Return an algorithm as the agent spells it: SHA-256 and SHA2-256 are sha256, SHA3-256 is sha3_256."""
    return algorithm.lower().replace("-", "_").replace("sha2_", "sha").replace("sha_", "sha")


def _algorithm_in(list_name: str) -> str | None:
    """Return the one algorithm that the name of a list has, also one that the agent does not know."""
    found = set(_IN_NAMES.findall(list_name.lower().replace("-", "").replace("_", "")))
    if len(found) != 1:
        return None
    name = found.pop()
    return f"sha3_{name[4:]}" if name.startswith("sha3") and len(name) == len("sha3256") else name


def _usual(digest: str, asked: str | None) -> str | None:
    return asked if asked and digits(asked) == len(digest) else _USUAL.get(len(digest))
