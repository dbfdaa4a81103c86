"""Commands of pip in pages and messages install this product: the name `ironic` of the package index is another one."""

import configparser
import re
from pathlib import Path

from ironic.tests.repository import ROOT

BY_NAME = re.compile(r"pip install[^\n`]*?[\s'\"]ironic(?![\w./-])")
EXTRAS = re.compile(r"pip install '\.\[(\w+)\]'")


def pages() -> list[Path]:
    return [ROOT / "README.md", ROOT / "ironic/api/README.md", *ROOT.glob("doc/**/*.md"), *ROOT.glob("api-ref/*.md")]


def sources() -> list[Path]:
    return [path for path in (ROOT / "ironic").rglob("*.py") if "tests" not in path.relative_to(ROOT).parts]


def test_nothing_says_to_install_the_product_by_its_name() -> None:
    assert [text for text in ("pip install ironic", "pip install 'ironic[mysql]'") if not BY_NAME.search(text)] == []
    assert not BY_NAME.search("/opt/ironic/bin/pip install '.[mysql]'")
    said = {str(path.relative_to(ROOT)): BY_NAME.findall(path.read_text()) for path in [*pages(), *sources()]}
    assert len(said) > 100
    assert {path: found for path, found in said.items() if found} == {}


def test_every_extra_that_a_page_installs_exists() -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    named = {extra for page in pages() for extra in EXTRAS.findall(page.read_text())}
    assert {"client", "inspector", "memcached", "mysql", "postgresql"} <= named
    assert named <= {*setup["options.extras_require"]}
