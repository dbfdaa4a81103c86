"""Files that options name are read with a bound, and only regular ones."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ironic.api.authentication import BadUserFile, Users
from ironic.api.policy_files import BadPolicyFile, SiteRules
from ironic.core.errors import InvalidParameterValue
from ironic.inspection import inspector_import
from ironic.integrations import boot_templates
from ironic.tests.unit.api.test_policy_files import configured

REASON = "no regular file|has more than [0-9]+ bytes|more than [0-9]+ KiB"


@pytest.fixture(params=["a pipe", "a device", "a large file"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "a device":
        return Path("/dev/zero")
    if request.param == "a pipe":
        os.mkfifo(found := tmp_path / "pipe")
    else:
        (found := tmp_path / "large").write_text("a: b\n" * 3_000_000)
    return found


def test_policy_files(path: Path, tmp_path: Path) -> None:
    with pytest.raises(BadPolicyFile, match=REASON):
        SiteRules(configured(tmp_path, f"policy_file = {path}"))


def test_users(path: Path) -> None:
    with pytest.raises(BadUserFile, match=REASON):
        Users(path)


def test_boot_templates(path: Path) -> None:
    with pytest.raises(InvalidParameterValue, match=REASON):
        boot_templates.render(str(path))


def test_dumps_of_inspections(path: Path, conf: Callable[..., Any]) -> None:
    conf(inventory__size_limit=1024)
    with pytest.raises(inspector_import.ImportRefused, match=REASON):
        inspector_import.read(path)
