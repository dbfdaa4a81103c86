"""What may be left of a machine with one odd part: what the whole machine shows, with gaps, and never another value.

Orders are those that the whole machine gets, or none, with an error that names what is wrong.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from ironic.core.texts import lenient_json
from ironic.tests.functional.drivers.played_operations import Kinds, Outcome

MISSING: Any = object()
DROPPED: Any = object()
# What is stored of a machine and used as a fact; of what is odd only a size or a count can be one.
FACTS = frozenset({"properties", "ports"})
# What one place describes for all items, or is one thing.
_WHOLE_LISTS = frozenset({"BIOS_words", "root_disk"})
# No person reads names of the program, nor that an answer is odd in a way that it does not know.
OF_PYTHON = re.compile(
    r"<[A-Z]\w+\.|\b[A-Z]\w+\.[A-Z_]{2,}\b|\b(Type|Attribute|Key|Index|Value)Error\b|NoneType|has not the form"
)
_MIB_PER_GIB = 1024
# What stands for broken text, of one byte or several.
_BROKEN = re.compile("\ufffd+")
# What things are called by, one where the other is missing.
_NAMES = ("Id", "Name", "MemberId", "UUID", "SerialNumber")


@dataclass(frozen=True)
class Oddity:
    """How an odd value may be shown as itself: as a number, or as a text in place of the former one."""

    numbers: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
    former: str = ""
    was_null: bool = False

    @classmethod
    def of(cls, document: Any, path: str, place: tuple[str | int, ...], odd: Any) -> Self:
        """Return how ``odd`` may be shown at this place of a document."""
        owner, former = MISSING, document
        for step in place:
            owner, former = former, former[step]
        names = [path.rstrip("/").rpartition("/")[2], *(str(step) for step in place if isinstance(step, int))]
        for thing in (document, owner):
            names += [str(thing[name]) for name in _NAMES if isinstance(thing, Mapping) and name in thing]
        is_number = isinstance(odd, int | float) and not isinstance(odd, bool)
        numbers = (odd, odd * _MIB_PER_GIB) if is_number else ()
        if isinstance(odd, bytes):
            names.append(odd.decode("latin-1"))
            odd = lenient_json.parse(b'["%s"]' % odd)[0]
        if is_number and path.endswith(("/Thermal", "/Power")):
            # Readings are shown in whole units.
            numbers = (*numbers, int(odd))
        if isinstance(odd, str | int | float):
            plain = "".join("\ufffd" if one == "\0" or "\ud800" <= one <= "\udfff" else one for one in str(odd))
            names += [plain, plain.lower(), plain.upper(), plain.strip()]
        is_plain = isinstance(former, str | int | float) and not isinstance(former, bool)
        return cls(
            numbers,
            tuple(_BROKEN.sub("\ufffd", name) for name in names),
            str(former) if is_plain else "",
            former is None,
        )

    def may_be(self, left: object, whole: object) -> bool:
        """Return whether a value is the odd one, shown where the whole machine shows the former one."""
        if whole is MISSING or whole is None:
            return self.was_null and (left in self.texts or (not isinstance(left, bool) and left in self.numbers))
        if isinstance(left, str) and isinstance(whole, str):
            left = _BROKEN.sub("\ufffd", left)
            return left in self.texts or any(
                left == head + text + tail for head, tail in self._around(whole) for text in self.texts
            )
        return isinstance(left, int | float) and not isinstance(left, bool) and left in self.numbers

    def _around(self, whole: str) -> Iterator[tuple[str, str]]:
        """Yield what stands before and after the former value in a text."""
        start = whole.find(self.former) if self.former else -1
        while start >= 0:
            yield whole[:start], whole[start + len(self.former) :]
            start = whole.find(self.former, start + 1)

    def as_fact(self) -> "Oddity":
        """Return what of it can be stored."""
        return Oddity(tuple(number for number in self.numbers if number > 0 and number % 1 == 0))


NOTHING = Oddity()


def is_same(left: Any, whole: Any) -> bool:
    """Return whether two values are equal in all types, too: true is not 1."""
    return bool(left == whole) and repr(left) == repr(whole)


def differences(left: Any, whole: Any, odd: Oddity = NOTHING, place: str = "", *, gaps: bool = True) -> Iterator[str]:
    """Yield where something is left that the whole does not have, but for the odd value itself, and for ``gaps``."""
    if is_same(left, whole) or odd.may_be(left, whole):
        return
    if left is MISSING or left is None:
        if not gaps:
            yield f"{place}: nothing in place of {whole!r:.200}"
    elif isinstance(left, Mapping) and isinstance(whole, Mapping):
        if not gaps and len(left) < len(whole):
            yield f"{place}: less than {list(whole)}"
        for name in left:
            if name in whole:
                yield from differences(left[name], whole[name], odd, f"{place}.{name}", gaps=gaps)
            elif not odd.may_be(left[name], MISSING) and not any(
                odd.may_be(name, one) and not any(differences(left[name], whole[one], odd, gaps=gaps)) for one in whole
            ):
                yield f"{place}.{name}: {left[name]!r:.200} in place of nothing"
    elif isinstance(left, list | tuple) and isinstance(whole, list | tuple):
        rest = list(whole)
        if not gaps and len(left) < len(whole):
            yield f"{place}: less than {whole!r:.400}"
        for item in left:
            fits = next((n for n, one in enumerate(rest) if not any(differences(item, one, odd, gaps=gaps))), None)
            if fits is None:
                yield f"{place}: {item!r:.200} is not among {rest!r:.400}"
            else:
                # Gaps are passed over, the order stays.
                del rest[: fits + 1]
    else:
        yield f"{place}: {left!r:.200} in place of {'nothing' if whole is MISSING else repr(whole)[:200]}"


def lost_items(left: Any, whole: Any) -> int:
    """Return how many items of a list or object are missing."""
    if isinstance(whole, Mapping | list | tuple):
        return len(whole) - (len(left) if isinstance(left, Mapping | list | tuple) else 0)
    return int(left != whole)


@dataclass(frozen=True)
class Judge:
    """What a place may take away: kinds of values and of orders, of lists ``most`` items at most.

    ``other`` are the kinds of orders that may be given in another way, to the same resources or to one of ``paths``.
    """

    may_lose: frozenset[str]
    most: int | None = None
    odd: Oddity = NOTHING
    other: frozenset[str] = frozenset()
    paths: re.Pattern[str] = re.compile("(?!)")
    # Kinds that something else says instead.
    otherwise: frozenset[str] = frozenset()

    def faults(self, whole: Outcome, left: Outcome, kind: str) -> Iterator[str]:
        """Yield what is wrong with the outcome of orders of a kind, beside that of the whole machine."""
        text = str(left.error)
        if left.error is not None and (not text or OF_PYTHON.search(text)):
            yield f"the error is not for people: {text}"
        if kind in self.otherwise:
            return
        if left.orders == whole.orders:
            if whole.orders and left.error is not None and whole.error is None and kind not in self.may_lose:
                yield f"all is ordered, and yet: {text}"
        elif left.orders:
            named = {order.path for order in whole.orders}
            is_right = all(order.path in named or self.paths.search(order.path) for order in left.orders)
            if kind not in self.other or not is_right:
                yield f"other orders: {left.orders} in place of {whole.orders} ({text})"
        elif left.error is None:
            yield f"nothing is ordered in place of {whole.orders}, and that is not said"
        elif kind not in self.may_lose:
            yield f"it is refused: {text}"
        yield from self._faults_of_kinds(whole.kinds, {} if left.error is not None else left.kinds, left, kind)

    def _faults_of_kinds(self, whole: Kinds, left: Kinds, outcome: Outcome, order: str) -> Iterator[str]:
        for kind in sorted(whole.keys() | left.keys()):
            before, after = whole.get(kind, MISSING), left.get(kind, MISSING)
            is_of_order = kind.endswith(" stores")
            if (
                before == after
                or kind in self.otherwise
                or (is_of_order and (outcome.error is not None or order in self.other))
            ):
                continue
            odd = self.odd.as_fact() if kind in FACTS else self.odd
            if found := list(differences(after, before, odd, kind)):
                yield from found
            elif not any(differences(after, before, odd, gaps=False)):
                continue
            elif kind not in self.may_lose and not (is_of_order and order in self.may_lose):
                yield f"{kind} is lost: {after!r:.300} in place of {before!r:.300} ({outcome.error})"
            elif self.most is not None and kind not in _WHOLE_LISTS and lost_items(after, before) > self.most:
                yield f"{kind}: more than {self.most} lost: {after!r:.300} in place of {before!r:.300}"
