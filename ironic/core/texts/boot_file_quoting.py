r"""Quote values for the configuration files of boot programs.

Kernel parameters are words separated by spaces; quotes of either kind protect spaces, and a backslash is an ordinary
character. Before the kernel, a boot program parses its file by a grammar of its own:

- iPXE splits a line at spaces and knows no quotes. The words ``||``, ``&&``, ``;`` and ``#`` end a command, ``${``
  begins an expansion anywhere, consecutive spaces become one, a backslash at the end of a line joins the next line.
- GRUB parses like a shell. It passes words on to the kernel with a backslash before each quote and backslash, and with
  quotes around each word with a space; some releases expand ``\x41`` there.
- PXELINUX takes the rest of the line unchanged, up to 4095 bytes of the line; what follows is its next line.

A value that can't be expressed for a program raises ValueError. The message never quotes the value, which may be a
secret. Observed in iPXE 1.0.0+, GRUB 2.06 and PXELINUX 6.04.
"""

import re
from collections.abc import Iterable
from typing import Final

IPXE: Final = "ipxe"
GRUB: Final = "grub"
PXELINUX: Final = "pxelinux"

# Bytes of kernel parameters: from one source, and of all together, which fit into PXELINUX's line.
LONGEST: Final = 3000
_LONGEST_OF_ALL: Final = 4000

_WORD: Final = re.compile(r"""(?:[^ "']|"[^"]*"|'[^'"]*')+""")
_QUOTED: Final = re.compile(r""""[^"]*"|'[^'"]*'""")
# A quoted part, which stays as it is, or a tab, which counts as a blank. A quote without an end is refused afterwards.
_BLANKS: Final = re.compile(r"""("[^"]*"|'[^']*')|\t""")
_ENDS_A_COMMAND: Final = frozenset({"||", "&&", ";", "#"})
_EXPANDS: Final = "${"
# A word that needs no quotes in GRUB.
_BARE: Final = re.compile(r"[A-Za-z0-9_.,:/=+@%-]+")


def words(text: str) -> list[str]:
    """Split kernel parameters into words, which keep their quotes; ValueError says why they can't be used.

    Tabs between words are blanks, and so is a line end at the end, as a folded text of YAML has one. Every other
    character that can't be printed is refused, wherever it stands.
    """
    check_length(text)
    body = text.rstrip(" \t\r\n")
    end = text[len(body) :].replace("\r\n", " ").replace("\n", " ")
    text = _BLANKS.sub(lambda found: found[1] or " ", body + end)
    if not text.isprintable():
        raise ValueError("must be one line of printable text")
    # PXELINUX and the kernel's EFI stub fetch the file it names, anywhere in the line.
    if "initrd=" in text:
        raise ValueError("must not have initrd=, by which boot programs fetch files")
    if _WORD.sub("", text).strip(" "):
        raise ValueError("must have every quote closed, and no double quote within single ones")
    return _WORD.findall(text)


def check_length(text: str) -> None:
    """Raise ValueError for parameters that leave no room for others."""
    if len(text.encode(errors="replace")) > LONGEST:
        raise ValueError(f"must not be longer than {LONGEST} bytes")


def parameter(name: str, value: object) -> str:
    """Return a kernel parameter as one word; a value of None makes a flag."""
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
    """Return the words of kernel parameters in the syntax of a boot program's file."""
    text = " ".join(_written(program, word) for word in chosen)
    if len(text.encode()) > _LONGEST_OF_ALL:
        raise ValueError(f"must not be longer than {_LONGEST_OF_ALL} bytes")
    return text


def address(program: str, text: str) -> str:
    """Return a URL or path in the syntax of a boot program's file."""
    if not text.isprintable() or " " in text:
        raise ValueError("must be one word of printable text")
    return _quoted_for_grub(text) if program == GRUB else _written(program, text)


def check_unexpanded(text: str) -> None:
    """Raise ValueError for a value that iPXE would expand."""
    if _EXPANDS in text:
        raise ValueError("must not have ${, which iPXE expands")


def _written(program: str, word: str) -> str:
    if program == GRUB:
        return _quoted_for_grub(_QUOTED.sub(lambda quoted: quoted[0][1:-1], word))
    if program != IPXE:
        return word
    check_unexpanded(word)
    parts = word.split(" ")
    if not _ENDS_A_COMMAND.isdisjoint(parts):
        raise ValueError("must not have ||, &&, ; or # as a word, which ends a command of iPXE")
    if "" in parts:
        raise ValueError("must not have consecutive spaces within quotes, which iPXE reduces to one")
    if word.endswith("\\"):
        raise ValueError("must not have a backslash at the end of a word, which joins lines in iPXE")
    return word


def _quoted_for_grub(meant: str) -> str:
    if any(letter in meant for letter in "\\'\""):
        raise ValueError("must not have a backslash, or a quote within quotes, which GRUB changes")
    return meant if _BARE.fullmatch(meant) else f"'{meant}'"
