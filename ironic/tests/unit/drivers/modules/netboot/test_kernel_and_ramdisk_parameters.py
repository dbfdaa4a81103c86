"""Kernel command lines: whose parameters go to which kernel, and the errors for parameters that can't be written."""

from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.core.texts.boot_file_quoting import GRUB, IPXE, PXELINUX
from ironic.drivers.info_keys import DEPLOY, RESCUE
from ironic.drivers.modules.netboot import kernel_and_ramdisk
from ironic.drivers.modules.netboot.kernel_and_ramdisk import INSTANCE
from ironic.tests.conftest import Setter
from ironic.tests.unit.drivers.machine import UUID, Machine

URL = {"ipa-api-url": "http://s:1"}


@pytest.mark.parametrize(
    "purpose, own, instance, expected",
    [
        (DEPLOY, None, None, "nofb quiet ipa-api-url=http://s:1"),
        (DEPLOY, "console=ttyS0", None, "console=ttyS0 ipa-api-url=http://s:1"),
        (DEPLOY, "%default% console=ttyS0", None, "nofb quiet console=ttyS0 ipa-api-url=http://s:1"),
        (DEPLOY, "", None, "ipa-api-url=http://s:1"),
        (INSTANCE, "console=ttyS0", "debug", "debug ipa-api-url=http://s:1"),
        (INSTANCE, "console=ttyS0", None, "console=ttyS0 ipa-api-url=http://s:1"),
    ],
)
def test_the_operators_words_come_first(
    conf: Setter, purpose: str, own: str | None, instance: str | None, expected: str
) -> None:
    conf(pxe__kernel_append_params="nofb quiet")
    node = Machine(driver_info={"kernel_append_params": own}, instance_info={"kernel_append_params": instance})
    assert kernel_and_ramdisk.render_command_line(node, IPXE, purpose, URL) == expected


def test_a_users_arguments_follow_and_reach_its_own_ramdisk_only(conf: Setter) -> None:
    conf(pxe__kernel_append_params="nofb")
    node = Machine(instance_info={"ramdisk_kernel_arguments": "rw init=/x"})
    assert kernel_and_ramdisk.render_command_line(node, IPXE, INSTANCE, {}) == "nofb rw init=/x"
    assert kernel_and_ramdisk.render_command_line(node, IPXE, DEPLOY, {}) == "nofb"
    node.instance_info = {"ramdisk_kernel_arguments": ["rw"]}
    with pytest.raises(InvalidParameterValue, match="ramdisk_kernel_arguments in instance_info"):
        kernel_and_ramdisk.check_command_line(node, IPXE, INSTANCE)


@pytest.mark.parametrize("purpose", [DEPLOY, RESCUE])
@pytest.mark.parametrize("attack", ["ipa-api-url=http://evil", "ipa-insecure=1 sshkey=x", 'systemd.unit="', "a || b"])
def test_a_users_parameters_reach_no_ramdisk_of_the_service(conf: Setter, purpose: str, attack: str) -> None:
    conf(pxe__kernel_append_params="nofb")
    node = Machine(instance_info={"kernel_append_params": attack})
    for program in (IPXE, GRUB, PXELINUX):
        kernel_and_ramdisk.check_command_line(node, program, purpose)
        assert kernel_and_ramdisk.render_command_line(node, program, purpose, URL) == "nofb ipa-api-url=http://s:1"


@pytest.mark.parametrize(
    "parameters, expected",
    [({"a": 1}, "a=1"), ({"flag": None}, "flag"), ({"a": "two words"}, 'a="two words"'), ({}, ""), ({"a": ""}, "a=")],
)
def test_parameters_are_words(conf: Setter, parameters: dict[str, Any], expected: str) -> None:
    conf(pxe__kernel_append_params="")
    assert kernel_and_ramdisk.render_command_line(Machine(), IPXE, DEPLOY, parameters) == expected


@pytest.mark.parametrize(
    "bad", ["a\nb", "a\rb", "a\x00", "a\tb\x1b[0m", {"a": 1}, 'a="b', "x" * 5000, "%default%" * 400, "\ud800"]
)
@pytest.mark.parametrize("place, purpose", [("driver_info", DEPLOY), ("instance_info", INSTANCE)])
def test_a_refusal_names_node_field_and_program(place: str, purpose: str, bad: Any) -> None:
    node = Machine(**{place: {"kernel_append_params": bad}})
    for refused in (
        lambda: kernel_and_ramdisk.check_command_line(node, PXELINUX, purpose),
        lambda: kernel_and_ramdisk.render_command_line(node, PXELINUX, purpose, {}),
    ):
        with pytest.raises(InvalidParameterValue) as raised:
            refused()
        assert f"kernel_append_params in {place} of node {UUID}, as pxelinux reads it, must " in str(raised.value)
        assert str(bad) not in str(raised.value)


@pytest.mark.parametrize("name, value", [("a b", 1), ("a", "x\ny"), ("a", 'say "no"'), ("", None), ("a", "${x}")])
def test_what_the_service_wants_to_tell_is_judged_as_well(name: str, value: Any) -> None:
    with pytest.raises(InvalidParameterValue, match=f"Kernel parameter {name!r} of node {UUID}, as ipxe reads it"):
        kernel_and_ramdisk.render_command_line(Machine(), IPXE, DEPLOY, {name: value})


def test_an_option_that_can_not_be_written_is_named(conf: Setter) -> None:
    conf(pxe__kernel_append_params="ip=${net0/ip}")
    kernel_and_ramdisk.check_command_line(Machine(), PXELINUX, DEPLOY)
    with pytest.raises(InvalidParameterValue, match=r"Option \[pxe\]kernel_append_params of node .* iPXE expands"):
        kernel_and_ramdisk.check_command_line(Machine(), IPXE, DEPLOY)
