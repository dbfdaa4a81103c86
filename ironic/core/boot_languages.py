"""How values are written into the files of boot programs, so that each program takes them for values and nothing else.

Kernel parameters are words parted by spaces; quotes of either kind keep spaces together, a backslash is a letter like
others. A boot program reads them from its file by a grammar of its own before the kernel does:

- iPXE parts a line at spaces and knows no quotes. The words ``||``, ``&&``, ``;`` and ``#`` end a command, ``${``
  begins an expansion anywhere, spaces in a row become one, a backslash at the end of a line goes on with the next one.
- GRUB reads like a shell. What it hands to a kernel gets a backslash before each quote and backslash, and quotes around
  each word with a space; some releases read ``\\x41`` there.
- PXELINUX takes the rest of a line as it is, up to 4095 bytes of the line; what follows is its next line.

What a program can't be made to take as it is meant raises ValueError, with a text that quotes no value: the value may
hold a secret. All of this was seen in iPXE 1.0.0+, GRUB 2.06 and PXELINUX 6.04.
"""

import re
from collections.abc import Iterable
from typing import Final

IPXE: Final = "ipxe"
GRUB: Final = "grub"
PXELINUX: Final = "pxelinux"

# Bytes of kernel parameters: of one who wants some, and of all together, which fit into PXELINUX's line.
LONGEST: Final = 3000
_LONGEST_OF_ALL: Final = 4000

_WORD: Final = re.compile(r"""(?:[^ "']|"[^"]*"|'[^'"]*')+""")
_QUOTED: Final = re.compile(r""""[^"]*"|'[^'"]*'""")
_ENDS_A_COMMAND: Final = frozenset({"||", "&&", ";", "#"})
_EXPANDS: Final = "${"
# A word of GRUB's that needs no quotes.
_BARE: Final = re.compile(r"[A-Za-z0-9_.,:/=+@%-]+")


def words(text: str) -> list[str]:
    """Part kernel parameters into words, which keep their quotes."""
    if not text.isprintable():
        raise ValueError("must be one line of printable text")
    check_length(text)
    # PXELINUX and the kernel's EFI stub fetch what it names, wherever in the line it stands.
    if "initrd=" in text:
        raise ValueError("must not have initrd=, by which boot programs fetch files")
    if _WORD.sub("", text).strip(" "):
        raise ValueError("must have every quote closed, and no double quote within single ones")
    return _WORD.findall(text)


def check_length(text: str) -> None:
    """Refuse parameters that leave no room for others."""
    if len(text.encode(errors="replace")) > LONGEST:
        raise ValueError(f"must not be longer than {LONGEST} bytes")


def parameter(name: str, value: object) -> str:
    """Return a kernel parameter as one word; without a value (None) it is a flag."""
    text = "" if value is None else str(value)
    if '"' in text:
        raise ValueError("must not have a double quote")
    word = name if value is None else f"{name}={text}"
    if " " in text or "'" in text:
        word = f'{name}="{text}"'
    if words(word) != [word]:
        raise ValueError("must be one word")
    return word


def arguments(program: str, chosen: Iterable[str]) -> str:
    """Return words of kernel parameters as they are written into a file of this program."""
    text = " ".join(_written(program, word) for word in chosen)
    if len(text.encode()) > _LONGEST_OF_ALL:
        raise ValueError(f"must not be longer than {_LONGEST_OF_ALL} bytes")
    return text


def address(program: str, text: str) -> str:
    """Return a URL or path as it is written into a file of this program."""
    if not text.isprintable() or " " in text:
        raise ValueError("must be one word of printable text")
    return _quoted_for_grub(text) if program == GRUB else _written(program, text)


def check_unexpanded(text: str) -> None:
    """Refuse what iPXE expands, in a value that may come to be read by it."""
    if _EXPANDS in text:
        raise ValueError("must not have ${, which iPXE expands")


def _written(program: str, word: str) -> str:
    if program == IPXE:
        return _for_ipxe(word)
    return _for_grub(word) if program == GRUB else word


def _for_ipxe(word: str) -> str:
    check_unexpanded(word)
    parts = word.split(" ")
    if not _ENDS_A_COMMAND.isdisjoint(parts):
        raise ValueError("must not have ||, &&, ; or # by themselves, which end a command of iPXE")
    if "" in parts:
        raise ValueError("must not have spaces in a row within quotes, which iPXE makes one")
    if word.endswith("\\"):
        raise ValueError("must not have a backslash at the end of a word, which joins lines in iPXE")
    return word


def _for_grub(word: str) -> str:
    return _quoted_for_grub(_QUOTED.sub(lambda quoted: quoted[0][1:-1], word))


def _quoted_for_grub(meant: str) -> str:
    if any(letter in meant for letter in "\\'\""):
        raise ValueError("must not have a backslash, or a quote within other ones, which GRUB changes")
    return meant if _BARE.fullmatch(meant) else f"'{meant}'"
