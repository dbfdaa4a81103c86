"""What boot programs make of their files: a reader per language, written from its grammar and not from the writers.

Each returns the commands of a file as lists of words. Checked against iPXE 1.0.0+, GRUB 2.06 and PXELINUX 6.04 in
virtual machines: the files here gave the same kernel command lines there.
"""

import re
from typing import NamedTuple

EXPANDED = "\N{REPLACEMENT CHARACTER}"


class Command(NamedTuple):
    """One command, and what decides whether the next one on its line runs."""

    words: list[str]
    end: str


# iPXE: lines, continued by a backslash; words at spaces, no quotes; ${...} expanded inside of each word

_IPXE_ENDS = ("||", "&&", ";", "#")
_IPXE_SPACE = " \t\v\f\r"


def ipxe(text: str) -> list[Command]:
    """Read an iPXE script; labels are commands of one word."""
    found: list[Command] = []
    for line in _ipxe_lines(text):
        if line.startswith("#"):
            continue
        words: list[str] = []
        for word in re.split(f"[{_IPXE_SPACE}]+", line.strip(_IPXE_SPACE)):
            if word in _IPXE_ENDS:
                found.append(Command(words, word))
                words = []
                if word == "#":
                    break
            elif word:
                words.append(_ipxe_expanded(word))
        if words:
            found.append(Command(words, ""))
    return found


def _ipxe_lines(text: str) -> list[str]:
    lines, kept = [], ""
    for line in text.split("\n"):
        kept += line.removesuffix("\r")
        if kept.endswith("\\"):
            kept = kept[:-1]
        else:
            lines.append(kept)
            kept = ""
    return [*lines, kept]


def _ipxe_expanded(word: str) -> str:
    """Replace what is expanded, the innermost first, as often as there is something to expand."""
    while (end := _first_end(word)) is not None:
        start = word.rindex("${", 0, end)
        word = word[:start] + EXPANDED + word[end + 1 :]
    return word


def _first_end(word: str) -> int | None:
    start = word.find("${")
    if start < 0 or (end := word.find("}", start)) < 0:
        return None
    return end


def ipxe_command_line(command: Command) -> str:
    """Return what the kernel gets of a command `kernel`: what follows the options and the URL."""
    words = command.words[1:]
    while words and words[0].startswith("--"):
        words = words[2:] if words[0] == "--timeout" else words[1:]
    return " ".join(words[1:])


# GRUB: a shell's grammar

_GRUB_TOKEN = re.compile(
    r"""(?P<space>[ \t]+) | (?P<comment>\#[^\n]*) | (?P<end>\n|;|\|\||&&|[|&{}<>])
    | (?P<word>(?: '[^']*' | "(?:[^"\\]|\\.)*" | \\. | \$\{[^}]*\} | \$\w+ | \$ | [^ \t\n'"\\$;|&{}<>] )+)""",
    re.VERBOSE | re.DOTALL,
)
_GRUB_PART = re.compile(
    r"""'(?P<single>[^']*)' | "(?P<double>(?:[^"\\]|\\.)*)" | \\(?P<escaped>.) | (?P<variable>\$\{[^}]*\}|\$\w+)
    | (?P<plain>.)""",
    re.VERBOSE | re.DOTALL,
)


def grub(text: str) -> list[Command]:
    """Read a configuration of GRUB; text that is none is an AssertionError."""
    found: list[Command] = []
    words: list[str] = []
    place = 0
    while place < len(text):
        token = _GRUB_TOKEN.match(text, place)
        assert token, f"no GRUB configuration from {text[place:][:40]!r} on"
        place = token.end()
        if token["word"] is not None:
            words.append(_grub_word(token["word"]))
        elif token["end"] is not None:
            if words or token["end"] != "\n":
                found.append(Command(words, token["end"].strip()))
            words = []
    return [*found, Command(words, "")] if words else found


def _grub_word(spelled: str) -> str:
    word = ""
    for part in _GRUB_PART.finditer(spelled):
        if part["single"] is not None:
            word += part["single"]
        elif part["double"] is not None:
            word += re.sub(r"\\(.)", r"\1", re.sub(r"(?<!\\)\$(\w+|\{[^}]*\})", EXPANDED, part["double"]))
        elif part["escaped"] is not None:
            word += part["escaped"]
        elif part["variable"] is not None:
            word += EXPANDED
        else:
            assert part["plain"] not in "*?[", "it would be expanded to names of files"
            word += part["plain"]
    return word


def grub_command_line(command: Command) -> str:
    """Return what the kernel gets of a command `linux`."""
    return " ".join(_as_grub_hands_on(word) for word in command.words[2:])


def _as_grub_hands_on(word: str) -> str:
    assert not re.search(r"\\x[0-9a-fA-F]{2}", word), "some releases read it as a letter"
    escaped = re.sub(r"""([\\'"])""", r"\\\1", word)
    return f'"{escaped}"' if " " in word else escaped


# PXELINUX: a keyword and the rest of its line, which is cut at 4095 bytes

_PXELINUX_LINE = 4095


def pxelinux(text: str) -> list[Command]:
    """Read a configuration of PXELINUX; a command has two words, the second is all that follows the first."""
    found = []
    for line in text.encode().split(b"\n"):
        for begin in range(0, max(len(line), 1), _PXELINUX_LINE):
            part = line[begin : begin + _PXELINUX_LINE].decode(errors="replace").split("\r")[0].lstrip(" \t")
            if part and not part.startswith("#"):
                keyword, _, rest = part.partition(" ")
                found.append(Command([keyword.lower(), rest.lstrip(" \t")], ""))
    return found


def pxelinux_command_line(command: Command) -> str:
    """Return what the kernel gets of a command `append`; PXELINUX loads all that initrd= names."""
    first, *others = re.findall(r"initrd=\S*", command.words[1])
    assert not others, "PXELINUX would load another file"
    return command.words[1].replace(first, "", 1).lstrip(" ")
