"""The tutorial's code is the package that tests build and drive (S41)."""

import pytest

from ironic.tests import tutorial
from ironic.tests.out_of_tree import EXAMPLE


@pytest.mark.demand("S41")
def test_the_tutorial_shows_every_file_of_the_package_as_it_is() -> None:
    shown = tutorial.files()
    package = {path.relative_to(EXAMPLE).as_posix() for path in EXAMPLE.rglob("*") if path.suffix in (".py", ".cfg")}
    assert shown.keys() == package
    stale = [name for name, text in shown.items() if text != (EXAMPLE / name).read_text()]
    assert stale == [], "bring doc/write-a-hardware-type.md up to date"


def test_the_tutorial_enables_what_the_package_brings() -> None:
    for kind in ("power", "management", "vendor"):
        assert f"enabled_{kind}_interfaces = acme" in tutorial.configuration()
