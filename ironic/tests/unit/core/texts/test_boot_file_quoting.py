"""What stands in a boot program's file for a value; whether the program takes it for that, test_boot_files judges."""

import pytest

from ironic.core.texts import boot_file_quoting
from ironic.core.texts.boot_file_quoting import GRUB, IPXE, PXELINUX

# What Python or a kernel takes for a blank or a line end, and a zero byte.
UNPRINTABLE = (
    "\r",
    "\x00",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x1d",
    "\x1e",
    "\x1f",
    "\x85",
    "\xa0",
    "\u2003",
    "\u2028",
    "\u2029",
)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", []),
        ("  a  b=c ", ["a", "b=c"]),
        ('a="b c" d', ['a="b c"', "d"]),
        ("a='b c'd e", ["a='b c'd", "e"]),
        ('a="it\'s" b', ['a="it\'s"', "b"]),
        ("a\\ b", ["a\\", "b"]),
        ("x" * 3000, ["x" * 3000]),
        (" a  b\n", ["a", "b"]),
        ('a\tb="c d"\t\r\n', ["a", 'b="c d"']),
    ],
)
def test_parameters_are_parted_at_spaces_outside_quotes(text: str, expected: list[str]) -> None:
    assert boot_file_quoting.words(text) == expected


@pytest.mark.parametrize(
    "text, fault",
    [
        ("a\nb", "one line"),
        ("\na", "one line"),
        *((text.format(odd), "one line") for odd in UNPRINTABLE for text in ("{}", "a {}", "{} a", "a{}b", 'a="{}"')),
        ('a="b\tc"', "one line"),
        ('a="b', "every quote closed"),
        ("it's", "every quote closed"),
        ("a='b\"c'", "no double quote within"),
        ("noinitrd initrd=x", "initrd="),
        ("\u00e9" * 1501, "3000 bytes"),
    ],
)
def test_what_no_program_can_carry_is_refused(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        boot_file_quoting.words(text)


# None: refused
@pytest.mark.parametrize(
    "word, ipxe, grub, pxelinux",
    [
        ("quiet", "quiet", "quiet", "quiet"),
        ("console=ttyS0,115200n8", "console=ttyS0,115200n8", "console=ttyS0,115200n8", "console=ttyS0,115200n8"),
        ('k="a b"', 'k="a b"', "'k=a b'", 'k="a b"'),
        ("u=h?a&b;c", "u=h?a&b;c", "'u=h?a&b;c'", "u=h?a&b;c"),
        ("||", None, "'||'", "||"),
        ("&&", None, "'&&'", "&&"),
        (";", None, "';'", ";"),
        ("#", None, "'#'", "#"),
        ("#x", "#x", "'#x'", "#x"),
        ("a=$b", "a=$b", "'a=$b'", "a=$b"),
        ("a=${b}", None, "'a=${b}'", "a=${b}"),
        ("a=${b", None, "'a=${b'", "a=${b"),
        ("}", "}", "'}'", "}"),
        ("a\\b", "a\\b", None, "a\\b"),
        ("a\\", None, None, "a\\"),
        ('a="b  c"', None, "'a=b  c'", 'a="b  c"'),
        ('a="b || c"', None, "'a=b || c'", 'a="b || c"'),
        ('a="it\'s"', 'a="it\'s"', None, 'a="it\'s"'),
        ("a=*", "a=*", "'a=*'", "a=*"),
        ('""', '""', "''", '""'),
    ],
)
def test_each_program_has_a_grammar(word: str, ipxe: str | None, grub: str | None, pxelinux: str | None) -> None:
    for program, expected in ((IPXE, ipxe), (GRUB, grub), (PXELINUX, pxelinux)):
        if expected is not None:
            assert boot_file_quoting.arguments(program, [word]) == expected
            continue
        with pytest.raises(ValueError, match="must not have") as raised:
            boot_file_quoting.arguments(program, [word])
        assert word not in str(raised.value) or len(word) <= 2


@pytest.mark.parametrize("program", [IPXE, GRUB, PXELINUX])
def test_all_together_fit_on_a_line(program: str) -> None:
    boot_file_quoting.arguments(program, ["x" * 2000, "y" * 1999])
    with pytest.raises(ValueError, match="4000 bytes"):
        boot_file_quoting.arguments(program, ["x" * 2000, "y" * 2000])


@pytest.mark.parametrize(
    "program, text, expected",
    [
        (IPXE, "http://h/a'b?c=d", "http://h/a'b?c=d"),
        (IPXE, "http://h/${x}", None),
        (IPXE, "http://h/a b", None),
        (IPXE, "http://h/\\", None),
        (GRUB, "/a;b", "'/a;b'"),
        (GRUB, "/a'b", None),
        (PXELINUX, "u/kernel", "u/kernel"),
        (PXELINUX, "u/a\nb", None),
    ],
)
def test_an_address_is_one_word(program: str, text: str, expected: str | None) -> None:
    if expected is not None:
        assert boot_file_quoting.address(program, text) == expected
        return
    with pytest.raises(ValueError, match="must"):
        boot_file_quoting.address(program, text)
