"""What a machine says becomes one printable, short line without markup."""

import pytest

from ironic.core.texts.syntax import SHORT, one_line, plain_text


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("disk sda is gone", "disk sda is gone"),
        ("a\r\nERROR forged line\x1b[31m\x00", "a ERROR forged line [31m"),
        ("<script>alert(1)</script> broken", "alert(1) broken"),
        ("<img src=x onerror=alert(1) no end", "img src=x onerror=alert(1) no end"),
        ("right\u202eto left\u2028next", "right to left next"),
        ({"error": ["x"]}, "{'error': ['x']}"),
        (None, "None"),
    ],
)
def test_it_is_one_line_of_plain_text(said: object, shown: str) -> None:
    assert plain_text(said) == shown


def test_it_is_short() -> None:
    assert len(plain_text("x" * 10_000_000)) == SHORT
    assert plain_text("x" * 10, 5) == "xxxx…"
    assert one_line("a\nb\tc") == "a b c"
