"""The pieces of pages that build a package: its files by name, its configuration and commands."""

import re
from pathlib import Path

from ironic.tests.repository import ROOT

HARDWARE_TYPE = ROOT / "doc" / "write-a-hardware-type.md"
PLUGINS = ROOT / "doc" / "write-inspection-plugins.md"


def files(page: Path = HARDWARE_TYPE) -> dict[str, str]:
    """Return the files that the page shows as a whole, by their names in the package."""
    return dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL))


def only_block(language: str, page: Path = HARDWARE_TYPE) -> str:
    """Return the only block of a language that is no file of the package."""
    (text,) = _blocks(language, page)
    return text


def configuration() -> str:
    """Return the configuration that the page shows."""
    return only_block("ini")


def commands() -> list[list[str]]:
    """Return the commands that the page shows, block by block."""
    return [block.splitlines() for block in _blocks("sh", HARDWARE_TYPE)]


def _blocks(language: str, page: Path) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
