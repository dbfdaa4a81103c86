"""The pieces of doc/write-a-hardware-type.md: the files of its package by name, and its configuration."""

import re

from ironic.tests.repository import ROOT

PAGE = ROOT / "doc" / "write-a-hardware-type.md"


def files() -> dict[str, str]:
    """Return the files that the page shows as a whole, by their names in the package."""
    return dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", _text(), re.MULTILINE | re.DOTALL))


def configuration() -> str:
    """Return the configuration that the page shows."""
    (text,) = re.findall(r"^```ini\n(.*?)^```$", _text(), re.MULTILINE | re.DOTALL)
    return str(text)


def _text() -> str:
    return PAGE.read_text()
