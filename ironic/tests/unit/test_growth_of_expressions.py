"""Each regular expression of the product takes a time that grows with its text, at most 2.5 times with each doubling.

They are found in the sources, and the texts are made of what each expression names: its characters and words, repeated,
in turn, one after the other, with a beginning and an end that do not fit.
"""

import importlib
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, Final

import pytest
import re2

from ironic.drivers.modules.redfish.records import private_names, walk
from ironic.drivers.modules.redfish.records.private_values import _any_of
from ironic.drivers.modules.redfish.wire.differences import TABLE
from ironic.tests.expressions import Expression, calls_of, expressions
from ironic.tests.growth import grows_too_fast

Use = Callable[[Any], object]
Text = Any

# What computed expressions can be, by how they are written; those of operators and of rules are not the product's.
_OPERATORS: Final = "options of operators"
COMPUTED: dict[str, Callable[[], list[str]] | str] = {
    "row.text": lambda: [row.text for row in TABLE if row.text],
    "pattern": lambda: [
        call.args[1].value for call in calls_of("Pattern") if len(call.args) == 3 and hasattr(call.args[1], "value")
    ],
    "_NUMBER": lambda: [importlib.import_module("ironic.core.rules.inspector.conversion")._NUMBER],
    "f'\\\\A{noun} {named}: '": lambda: ["\\A(?i:node) a1b2: "],
    "f' for {noun} {named}(?![\\\\w-])'": lambda: [" for node a1b2(?![\\w-])"],
    "f'\\\\b({noun}) {named}(?![\\\\w-])'": lambda: ["\\b((?i:node)) a1b2(?![\\w-])"],
    "CONF.inspection_rules.supported_interfaces": _OPERATORS,
    "f'/(?:{parts})(?:/|$)'": lambda: [one.pattern for one in walk.LEFT_OUT.values()],
    "f'(?:{words})$'": lambda: [one.pattern for _, one in private_names._RULES],
    "_branches(root) if root else '(?!)'": lambda: [_any_of(["cz1234", "cz1299", "abc"]).pattern],
    "f'(?<![0-9A-Za-z])(?:{_any_of(words).pattern})(?![0-9A-Za-z])'": lambda: [
        f"(?<![0-9A-Za-z])(?:{_any_of(['cz1234', 'cz1299', 'abc']).pattern})(?![0-9A-Za-z])"
    ],
    "f'{_any_of(distinct).pattern}|(?<![0-9])(?:{_any_of(digits).pattern})(?![0-9])'": lambda: [
        f"{_any_of(['cz1234', 'cz1299']).pattern}|(?<![0-9])(?:{_any_of(['12345678', '12349999']).pattern})(?![0-9])"
    ],
    "text": "patterns of rules, with RE2, which are measured in core/rules/test_argument_kinds_costs.py",
}
FOUND: Final = expressions()
_MOST_UNITS: Final = 12


def patterns_of(found: Expression) -> list[Any]:
    """Return the compiled patterns of an expression."""
    library: Any = {"re": re, "re2": re2}[found.library]
    if found.pattern is not None:
        return [
            library.compile(found.pattern, found.flags) if found.library == "re" else library.compile(found.pattern)
        ]
    module, _, _ = found.where.partition(":")
    if found.source in COMPUTED:
        known = COMPUTED[found.source]
        return [] if isinstance(known, str) else [library.compile(text) for text in known()]
    own = importlib.import_module(module)
    values = [value for name, value in vars(own).items() if isinstance(value, re.Pattern)]
    return [value for value in values if value.pattern not in {other.pattern for other in FOUND}]


def use_of(pattern: Any, method: str) -> Use:
    if method in ("sub", "subn"):
        return lambda text: getattr(pattern, method)(b"" if isinstance(text, bytes) else "", text)
    if method == "finditer":
        return lambda text: sum(1 for _ in pattern.finditer(text))
    return lambda text: getattr(pattern, method)(text)


def units_of(pattern: str) -> list[str]:
    """Return the characters and words that an expression names, and some of each kind."""
    plain = pattern.replace("\\", "")
    words = words_of(pattern)[:4]
    signs = [sign for sign in dict.fromkeys(plain) if not sign.isalnum() and sign not in "?*+|^$"]
    letters = [sign for sign in dict.fromkeys(plain) if sign.isalnum()][:2]
    return list(dict.fromkeys([*words, *signs[: _MOST_UNITS - 6], "a", "0", " ", "\n", '"', "\\", *letters]))


def words_of(pattern: str) -> list[str]:
    """Return the words that an expression names, the longest first, with signs and without."""
    plain = pattern.replace("\\", "")
    words = {word for signs in (":/.@ =<>-", "") for word in re.findall(rf"[\w{signs}]{{2,24}}", plain)}
    return sorted(words, key=lambda word: (-len(word), word))


def texts_of(pattern: str) -> Iterator[Callable[[int], str]]:
    """Yield what makes hostile texts of a number of characters."""
    for word in words_of(pattern):
        yield partial(_repeated, "", word, "", "")
    units = units_of(pattern)
    for first in units:
        yield partial(_repeated, "", first, "", "")
        yield partial(_repeated, "", first, "", "\0")
        for second in units:
            if first != second:
                yield partial(_repeated, "", first + second, "", "")
                yield partial(_repeated, "", first, second, "")
                yield partial(_repeated, first, second, "", "\0")
                for word in units[:2]:
                    yield partial(_repeated, word, first, second, " ")


def _repeated(begin: str, first: str, second: str, end: str, characters: int) -> str:
    times = characters // len(first + second)
    return begin + first * times + second * times + end


def faults_of(pattern: Any, methods: frozenset[str]) -> list[str]:
    """Return for each method the first text for which the time grows too fast."""
    is_bytes = isinstance(pattern.pattern, bytes)
    written = pattern.pattern.decode("latin-1") if is_bytes else pattern.pattern

    def given(make: Callable[[int], str], size: int) -> Text:
        return make(size).encode("latin-1", "ignore") if is_bytes else make(size)

    return [
        f"{method}: {make(24)!r}"
        for method in sorted(methods)
        for make in islice(
            (one for one in texts_of(written) if grows_too_fast(use_of(pattern, method), partial(given, one))), 1
        )
    ]


def test_all_are_found() -> None:
    assert len(FOUND) > 120 and {found.library for found in FOUND} == {"re", "re2"}
    unknown = [found.where for found in FOUND if found.source not in COMPUTED and not patterns_of(found)]
    assert unknown == [], "computed expressions: say in COMPUTED what they can be"


@pytest.mark.parametrize("module", sorted({found.where.partition(":")[0] for found in FOUND}))
def test_the_time_of_an_expression_grows_with_its_text(module: str) -> None:
    own = [found for found in FOUND if found.where.partition(":")[0] == module]
    faults = {
        found.where: faults for found in own for one in patterns_of(found) if (faults := faults_of(one, found.methods))
    }
    assert faults == {}


@pytest.mark.parametrize(
    "pattern, method",
    [
        ("a*b", "search"),
        ("(a*)*b", "fullmatch"),
        ("\\((.+)\\) ?= ?(.*)", "search"),
        ('://[^\\s/?#]*\\"[^\\s/?#]*@(?=[^\\s\\"]*\\Z)', "search"),
        ("\\s+$", "sub"),
        ("-----BEGIN|ssh-rsa|ecdsa-sha2|long-words|eyJ[\\w-]{8,}\\.", "finditer"),
    ],
)
def test_this_test_sees_what_grows_faster(pattern: str, method: str) -> None:
    # A busy machine hides it at times.
    assert any(faults_of(re.compile(pattern), frozenset({method})) for _ in range(4))
