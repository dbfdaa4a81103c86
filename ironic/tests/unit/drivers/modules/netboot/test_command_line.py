"""Kernel command lines."""

from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.drivers.modules.netboot import command_line
from ironic.tests.conftest import Setter
from ironic.tests.unit.drivers.machine import Machine


@pytest.mark.parametrize(
    "own, instance, expected",
    [
        (None, None, "nofb quiet ipa-api-url=http://s:1"),
        ("console=ttyS0", None, "console=ttyS0 ipa-api-url=http://s:1"),
        ("%default% console=ttyS0", None, "nofb quiet console=ttyS0 ipa-api-url=http://s:1"),
        ("", None, "ipa-api-url=http://s:1"),
        ("console=ttyS0", "debug", "debug ipa-api-url=http://s:1"),
    ],
)
def test_the_operators_words_come_first(conf: Setter, own: str | None, instance: str | None, expected: str) -> None:
    conf(pxe__kernel_append_params="nofb quiet")
    node = Machine(driver_info={"kernel_append_params": own}, instance_info={"kernel_append_params": instance})
    assert command_line.render(node, {"ipa-api-url": "http://s:1"}) == expected


@pytest.mark.parametrize(
    "parameters, expected",
    [({"a": 1}, "a=1"), ({"flag": None}, "flag"), ({"a": "two words"}, 'a="two words"'), ({}, ""), ({"a": ""}, "a=")],
)
def test_parameters_are_words(conf: Setter, parameters: dict[str, Any], expected: str) -> None:
    conf(pxe__kernel_append_params="")
    assert command_line.render(Machine(), parameters) == expected


@pytest.mark.parametrize("bad", ["a\nb", "a\rb", "a\x00", "a\tb\x1b[0m"])
def test_it_stays_one_line(bad: str) -> None:
    with pytest.raises(InvalidParameterValue, match="one line"):
        command_line.check(Machine(driver_info={"kernel_append_params": bad}))
    with pytest.raises(InvalidParameterValue, match="one line"):
        command_line.render(Machine(), {"name": bad})
