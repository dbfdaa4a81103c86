"""Which of a machine's disks a system is to be put on: hints of the operator's, matched against what was found.

A hint is a value, or text with an operator before it: `= >= > <= <` compare numbers, `s== s!= s< s<= s> s>=` text,
`<in>` looks for a part, `<all-in>` for several, and `<or> a <or> b` gives alternatives. Without an operator text has to
be equal, whatever its case, and a size is in GiB. Nothing here does I/O.
"""

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

GIB: Final = 1 << 30

# What may be hinted at, by the kind of its value.
TEXTS: Final = frozenset(
    {"model", "vendor", "serial", "wwn", "wwn_with_extension", "wwn_vendor_extension", "name", "hctl", "by_path"}
)
NUMBERS: Final = frozenset({"size"})
FLAGS: Final = frozenset({"rotational"})

Disk = Mapping[str, Any]
Hints = Mapping[str, Any]

_NUMERIC: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    # With a single sign, which the oldest ones have, a disk may be larger than asked for.
    "=": operator.ge,
}
_TEXTUAL: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "s==": operator.eq,
    "s!=": operator.ne,
    "s>=": operator.ge,
    "s<=": operator.le,
    "s>": operator.gt,
    "s<": operator.lt,
}
_SIGNS: Final = re.compile(r"\s*(<or>|<in>|<all-in>|s==|s!=|s>=|s<=|s>|s<|==|!=|>=|<=|=|>|<)\s*(.*)", re.DOTALL)
_WORDS: Final = dict.fromkeys(("true", "yes", "1", "on"), True) | dict.fromkeys(("false", "no", "0", "off"), False)
_LONGEST: Final = 1024


def faults(hints: Any) -> list[str]:
    """Return what is wrong with hints; an empty list when they can be used."""
    if not isinstance(hints, Mapping):
        return ["root device hints have to be an object"]
    return [fault for name, value in hints.items() if (fault := _fault(name, value))]


def find(disks: Iterable[Disk], hints: Hints) -> list[Disk]:
    """Return the disks that every hint fits; the hints must have no faults."""
    return [disk for disk in disks if all(_fits(disk, name, wanted) for name, wanted in hints.items())]


def find_by_any(disks: Iterable[Disk], several: Sequence[Hints]) -> list[Disk]:
    """Return the disks that all hints of at least one set fit; an empty set fits none."""
    found = list(disks)
    return [disk for disk in found if any(hints and find([disk], hints) for hints in several)]


def _fault(name: Any, value: Any) -> str | None:
    if name not in TEXTS | NUMBERS | FLAGS:
        return f"there is no root device hint {str(name)[:64]!r}"
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"root device hint {name} is too long"
    if name in FLAGS:
        return None if _flag(value) is not None else f"root device hint {name} is neither true nor false"
    if name in NUMBERS:
        return _number_fault(name, value)
    return None if isinstance(value, str) and value.strip() else f"root device hint {name} is no text"


def _number_fault(name: str, value: Any) -> str | None:
    sign, rest = _split(value)
    parts = rest.split("<or>") if sign == "<or>" else [rest]
    usable = sign is None or sign == "<or>" or sign in _NUMERIC
    if usable and all((number := _number(part)) is not None and number > 0 for part in parts):
        return None
    return f"root device hint {name} is no number above zero"


def _fits(disk: Disk, name: str, wanted: Any) -> bool:
    found = disk.get(name)
    if found is None:
        return False
    if name in FLAGS:
        return _flag(found) is _flag(wanted)
    sign, rest = _split(wanted)
    if name in NUMBERS:
        return _number_fits(_number(found), sign, rest)
    return _text_fits(str(found).strip().lower(), sign, rest.lower())


def _number_fits(size: float | None, sign: str | None, rest: str) -> bool:
    if size is None:
        return False
    # Disks are measured in bytes and thought of in GiB.
    whole = int(size) // GIB
    if sign == "<or>":
        return any(whole == _number(part) for part in rest.split("<or>"))
    return _NUMERIC[sign or "=="](whole, _number(rest))


def _text_fits(found: str, sign: str | None, rest: str) -> bool:
    match sign:
        case None:
            return found == rest
        case "<or>":
            return found in [part.strip() for part in rest.split("<or>")]
        case "<in>":
            return rest in found
        case "<all-in>":
            return all(part in found for part in rest.split())
    if sign in _TEXTUAL:
        return _TEXTUAL[sign](found, rest)
    number, wanted = _number(found), _number(rest)
    if number is not None and wanted is not None:
        return _NUMERIC[sign](number, wanted)
    return _NUMERIC[sign](found, rest)


def _split(value: Any) -> tuple[str | None, str]:
    """Return the operator of a hint, if it has one, and the rest."""
    found = _SIGNS.fullmatch(str(value))
    return (found[1], found[2].strip()) if found else (None, str(value).strip())


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if abs(number) < float(1 << 63) else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else _WORDS.get(str(value).strip().lower())
