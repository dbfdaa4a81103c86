"""Loading hooks by name: the order, what they need, and everything that is wrong at once."""

import re
from pathlib import Path
from typing import Any

import pytest
from oslo_config import cfg

from ironic.conf import CONF, OPTIONS
from ironic.core.errors import HookLoadError
from ironic.inspection.hooks import base
from ironic.inspection.hooks.base import InspectionHook
from ironic.inspection.pipeline import Pipeline


class Plain(InspectionHook):
    def __call__(self, task: Any, inventory: Any, plugin_data: Any) -> None:
        """Do nothing."""


class Needy(Plain):
    dependencies = ("plain", "other")


class Broken(Plain):
    def __init__(self) -> None:
        raise RuntimeError("no power")


class Point:
    def __init__(self, cls: Any) -> None:
        self.value = f"tests:{cls}"
        self._cls = cls

    def load(self) -> Any:
        if isinstance(self._cls, Exception):
            raise self._cls
        return self._cls


PUBLISHED = {
    "plain": Point(Plain),
    "other": Point(Plain),
    "needy": Point(Needy),
    "broken": Point(Broken),
    "missing": Point(ImportError("no such module")),
    "abstract": Point(InspectionHook),
    "no-hook": Point(dict),
}


@pytest.mark.demand("S83", "S100")
def test_it_loads_the_default_hooks_in_their_order() -> None:
    names = base.hook_names(CONF.inspector.hooks)
    assert names == ["ramdisk-error", "architecture", "validate-interfaces", "ports"]
    assert [one.name for one in Pipeline.load(names).hooks] == names


@pytest.mark.demand("S100")
@pytest.mark.parametrize("written", ["early, $default_hooks,late ,", "early,${default_hooks},late"])
def test_it_lets_hooks_be_added_around_the_default_ones(tmp_path: Path, written: str) -> None:
    file = tmp_path / "ironic.conf"
    file.write_text(f"[inspector]\nhooks = {written}\n")
    options = cfg.ConfigOpts()
    options.register_opts(OPTIONS["inspector"], group="inspector")
    options(["--config-file", str(file)])
    names = base.hook_names(options.inspector.hooks)
    assert names == ["early", "ramdisk-error", "architecture", "validate-interfaces", "ports", "late"]


@pytest.mark.demand("S82")
def test_it_wants_what_a_hook_needs_earlier_in_the_list() -> None:
    assert [one.name for one in base.load_hooks(["plain", "other", "needy"], PUBLISHED)] == [
        "plain",
        "other",
        "needy",
    ]
    for names, missing in ((["needy"], ["plain", "other"]), (["needy", "plain", "other"], ["plain", "other"])):
        with pytest.raises(HookLoadError) as error:
            base.load_hooks(names, PUBLISHED)
        assert error.value.facts["faults"] == [f"hook needy needs hook {name} earlier in the list" for name in missing]


@pytest.mark.demand("S82")
def test_it_needs_the_main_call_of_a_hook() -> None:
    with pytest.raises(HookLoadError, match="hook abstract can't be loaded: TypeError: Can't instantiate abstract"):
        base.load_hooks(["abstract"], PUBLISHED)


def test_it_tells_everything_that_is_wrong_at_once() -> None:
    with pytest.raises(HookLoadError) as error:
        base.load_hooks(["nonsense", "broken", "missing", "no-hook", "plain", "plain"], PUBLISHED)
    text = str(error.value)
    for part in (
        "there is no hook nonsense; installed ones: abstract, broken,",
        "hook broken can't be loaded: RuntimeError: no power",
        "hook missing can't be loaded: ImportError: no such module",
        "hook no-hook (tests:<class 'dict'>) is no inspection hook",
        "hook plain is named more than once",
    ):
        assert part in text


def test_it_makes_every_hook_that_ships() -> None:
    names = sorted(base.installed_hooks())
    first = ["validate-interfaces"]
    made = base.load_hooks(first + [name for name in names if name not in first])
    assert len(made) >= 16


@pytest.mark.demand("S108")
def test_it_names_hooks_with_dashes() -> None:
    assert all(re.fullmatch("[a-z]+(-[a-z]+)*", name) for name in base.installed_hooks())
    assert base.GROUP == "ironic.inspection.hooks"
