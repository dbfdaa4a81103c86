"""Files of boot programs, judged by readers of their languages: out comes what went in, or it was refused."""

import functools
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.drivers.modules.netboot import HttpBoot, IPXEBoot, NetworkBoot, PXEBoot, boot_files, kernel_and_ramdisk
from ironic.drivers.modules.netboot.boot_variants import VARIANTS
from ironic.drivers.nodes import node_attributes
from ironic.integrations import boot_templates
from ironic.tests import boot_readers
from ironic.tests.boot_readers import Command
from ironic.tests.conftest import Setter
from ironic.tests.effort import examples
from ironic.tests.unit.drivers.machine import UUID, Work
from ironic.tests.unit.drivers.modules.netboot.conftest import Firmware, machine

BIOS, UEFI = "boot_mode:bios", "boot_mode:uefi"
SERVICE = {
    "ipa-api-url": "http://192.0.2.1:6385",
    "ipa-flag": None,
    "ipa-text": "two words",
    "ipa-global-request-id": "req-1",
}
SERVICES_WORDS = ["ipa-api-url=http://192.0.2.1:6385", "ipa-flag", "ipa-text=two words", "ipa-global-request-id=req-1"]


class Language(NamedTuple):
    """A boot program, and how it is had by a boot interface."""

    cls: type[NetworkBoot]
    mode: str
    root: str
    read: Callable[[str], list[Command]]
    keyword: str
    command_line: Callable[[Command], str]
    its_own: tuple[str, ...]


LANGUAGES = {
    "ipxe": Language(
        IPXEBoot,
        UEFI,
        "http",
        boot_readers.ipxe,
        "kernel",
        boot_readers.ipxe_command_line,
        (f"BOOTIF={boot_readers.EXPANDED}", "initrd={purpose}_ramdisk"),
    ),
    "grub": Language(
        HttpBoot,
        UEFI,
        "http",
        boot_readers.grub,
        "linux",
        boot_readers.grub_command_line,
        (f"BOOTIF={boot_readers.EXPANDED}",),
    ),
    "pxelinux": Language(
        PXEBoot, BIOS, "tftp", boot_readers.pxelinux, "append", boot_readers.pxelinux_command_line, ()
    ),
}

WHAT_OPERATORS_USE = [
    'sshkey="ssh-rsa AAAAB3Nza/+x== user@host"',
    "sshkey='ssh-ed25519 AAAA user@host'",
    "ip=192.0.2.5::192.0.2.1:255.255.255.0:node-1:eno1:off nameserver=192.0.2.53",
    "ip=[2001:db8::5]::[2001:db8::1]:64::eno1:off",
    "console=tty0 console=ttyS0,115200n8 nofb nomodeset vga=normal",
    "rd.luks.key=/k:UUID=0d8a1c62 rd.driver.blacklist=nouveau modprobe.blacklist=a,b",
    "foo='a b' quiet",
    "coreos.inst.ignition_url=https://h/a?b=c&d=e%20f#g coreos.live.rootfs_url=http://h/r;v=1",
    "ds=nocloud-net;s=http://192.0.2.1:8080/x/ autoinstall",
    "inst.ks=nfs:192.0.2.1:/ks/{mac}.cfg inst.repo=http://h/$releasever/$basearch",
    "systemd.unit=rescue.target systemd.mask=dev-sda1.swap systemd.log_level=debug",
    "isolcpus=1-3,5 hugepagesz=1G default_hugepagesz=1G intel_iommu=on pci=realloc=off",
    "memmap=4G!12G root=LABEL=a*b? init=/sbin/init -- --user=x",
    'dyndbg="file drivers/usb/* +p" video=HDMI-A-1:1920x1080@60',
    "%default% console=ttyS1",
    "",
]

# Each is one that some loader, read without quoting, would not take as part of a parameter.
ATTACKS = [
    "a || chain http://evil/x ||",
    "a && shell",
    "a ; set x y",
    "a # gone",
    "a ${net0/ip} ${keep:uristring}",
    "x=${cwuri}",
    "x=\\",
    "x=a\\",
    "x=\\x20y",
    "a\nchain http://evil/x",
    "a\r\nkernel evil",
    "\r",
    "a\rb",
    "a\n\r",
    "a\tb\r\n",
    "a\x00b",
    "a\x0bb",
    "a\u2028b",
    "a } menuentry x { linux /evil",
    "a}",
    "a;reboot",
    "$root ${root} $(reboot) `reboot`",
    "a|b",
    "a&b",
    "a>b <c",
    "it's",
    'a="it\'s"',
    "a='say \"x\"'",
    'a="open',
    'a=b"c d"e"f g"',
    "'a'\\''b'",
    'a="  two"',
    'a="x || y"',
    'a="x # y"',
    "initrd=other/ramdisk",
    'a="b initrd=../x c"',
    "x" * 2990,
    "x" * 3000 + "y",
    "x" * 4090 + " append evil",
    "\u00e9" * 2100 + "    kernel evil",
]


def prepared(language: Language, place: Path, text: Any, *, instance: bool) -> str:
    """Have a machine's file written with these parameters; return it."""
    boot = language.cls()
    if instance:
        task = instance_of(place, language, kernel_append_params=text)
        boot.validate(task)
        boot.prepare_instance(task)
    else:
        task = machine(
            properties={"capabilities": language.mode},
            driver_info={"kernel_append_params": text},
            instance_info={"kernel_append_params": "a-users || shell"},
        )
        boot.validate(task)
        boot.prepare_ramdisk(task, SERVICE)
    return (place / language.root / UUID / "config").read_text()


def instance_of(place: Path, language: Language, **info: Any) -> Work:
    images = f"file://{place}/images"
    named = {"kernel": f"{images}/own-kernel", "ramdisk": f"{images}/own-ramdisk"} if "boot_iso" not in info else {}
    return machine(
        properties={"capabilities": language.mode},
        instance_info={**named, "capabilities": {"boot_option": "ramdisk", "boot_mode": language.mode[10:]}, **info},
    )


def meaning(text: str) -> list[str]:
    """Part text into words as a kernel command line is read: quotes group, a backslash is a letter.

    Line ends at the end are those of the file from which the text came.
    """
    reader = shlex.shlex(re.sub(r"(\r?\n[ \t]*)+\Z", "", text), posix=True, punctuation_chars=False)
    reader.whitespace, reader.whitespace_split = " \t", True
    reader.commenters = reader.escape = ""
    return list(reader)


def judged(language: Language, text: str, harmless: str, intended: str, purpose: str) -> None:
    """Compare a file with a harmless one: the same commands, and exactly the intended parameters."""
    commands, others = language.read(text), language.read(harmless)
    (boots,) = (number for number, command in enumerate(others) if command.words[:1] == [language.keyword])
    assert commands[:boots] + commands[boots + 1 :] == others[:boots] + others[boots + 1 :]
    assert commands[boots].end == others[boots].end
    services = SERVICES_WORDS if purpose == "deploy" else []
    its_own = [word.format(purpose=purpose) for word in language.its_own]
    expected = meaning(intended.replace("%default%", "nofb vga=normal")) + services + its_own
    found = meaning(language.command_line(commands[boots]))
    assert [word for word in found if word] == [word for word in expected if word]


def went_through(language: Language, place: Path, text: Any, *, instance: bool) -> bool:
    """Return whether the file was written; it is right then."""
    harmless = _harmless(language, place, instance)
    try:
        written = prepared(language, place, text, instance=instance)
    except InvalidParameterValue as error:
        assert UUID in str(error)
        assert "kernel_append_params" in str(error)
        return False
    judged(language, written, harmless, text, "instance" if instance else "deploy")
    return True


@functools.cache
def _harmless(language: Language, place: Path, instance: bool) -> str:
    return prepared(language, place, "harmless", instance=instance)


@pytest.mark.parametrize("instance", [True, False])
@pytest.mark.parametrize("name", LANGUAGES)
@pytest.mark.parametrize("text", WHAT_OPERATORS_USE)
def test_what_operators_use_goes_through(place: Path, name: str, text: str, instance: bool) -> None:
    assert went_through(LANGUAGES[name], place, text, instance=instance)


@pytest.mark.parametrize("instance", [True, False])
@pytest.mark.parametrize("name", LANGUAGES)
@pytest.mark.parametrize("text", ATTACKS)
def test_what_a_loader_would_read_as_syntax_is_quoted_or_refused(
    place: Path, name: str, text: str, instance: bool
) -> None:
    went_through(LANGUAGES[name], place, text, instance=instance)


SPELLED = st.lists(
    st.one_of(
        st.sampled_from(ATTACKS + WHAT_OPERATORS_USE),
        st.sampled_from(
            ["||", "&&", ";", "#", "${", "}", "$", "{", "\\", "'", '"', " ", "  ", "=", "x", "&", "|", "--"]
        ),
        st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=6),
    ),
    max_size=8,
).map("".join)


@pytest.mark.parametrize("name", LANGUAGES)
@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=SPELLED, instance=st.booleans())
def test_any_parameters_come_out_as_they_went_in_or_are_refused(
    place: Path, name: str, text: str, instance: bool
) -> None:
    went_through(LANGUAGES[name], place, text, instance=instance)


# URLs


def started(place: Path, url: Any) -> list[Command]:
    """Have a user's ISO image started; return the commands of the script."""
    language = LANGUAGES["ipxe"]
    task = instance_of(place, language, boot_iso=url)
    IPXEBoot().validate(task)
    IPXEBoot().prepare_instance(task)
    return boot_readers.ipxe((place / "http" / UUID / "config").read_text())


URLS = st.lists(
    st.one_of(
        st.sampled_from(
            ["${cwuri}", "$", "{", "}", "\\", "#", "||", ";", " ", "?a=b&c=d", "%20", "'", '"', "/x.iso", "\n"]
        ),
        st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=6),
    ),
    max_size=6,
).map(lambda parts: "http://images/" + "".join(parts))


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(url=URLS)
@example(url="http://images/live.iso?a=b&c=d#e;f||g")
@example(url="http://images/${net0/mac}")
@example(url="http://images/x\\")
def test_the_url_of_an_image_is_one_word_or_refused(place: Path, url: str) -> None:
    try:
        commands = started(place, url)
    except InvalidParameterValue as error:
        assert f"boot_iso of node {UUID}" in str(error)
    else:
        assert commands == [Command(["sanboot", url], "")]


@pytest.mark.parametrize("url", ["http://images/live.iso?a=b&c=d", "https://u:p@h:8443/a;v=1/b%20c.iso"])
def test_usual_urls_go_through(place: Path, url: str) -> None:
    assert started(place, url) == [Command(["sanboot", url], "")]


@pytest.mark.parametrize("name", ["kernel", "ramdisk", "boot_iso"])
def test_no_url_has_anything_to_expand(place: Path, name: str) -> None:
    task = instance_of(place, LANGUAGES["ipxe"], **{name: "http://images/${net0/ip}/x"})
    with pytest.raises(InvalidParameterValue, match=rf"{name} of node {UUID} must not have \$\{{"):
        IPXEBoot().validate(task)


def test_an_iso_image_needs_ipxe_and_that_is_said_early(place: Path) -> None:
    with pytest.raises(InvalidParameterValue, match="without iPXE"):
        PXEBoot().validate(instance_of(place, LANGUAGES["pxelinux"], boot_iso="http://images/x.iso"))


@pytest.mark.parametrize("instance", [False, True], ids=["deploy", "instance"])
def test_a_template_written_for_upstream_finds_its_variables(conf: Setter, place: Path, instance: bool) -> None:
    template = place / "theirs.template"
    template.write_text(
        "#!ipxe\ngoto deploy\n\n:deploy\n"
        "kernel --timeout {{ pxe_options.ipxe_timeout }} {{ pxe_options.deployment_aki_path }} "
        '{{ pxe_options.pxe_append_params|default("", true) }} initrd={{ pxe_options.initrd_filename }}\n'
        "initrd {{ pxe_options.deployment_ari_path }}\nboot\n"
        "# {{ pxe_options.aki_path }} {{ pxe_options.ari_path }} {{ pxe_options.tftp_server }}\n"
        # Parameters stand in the quoted command line only: a client may have chosen the ID of its request.
        "# {{ pxe_options['ipa-global-request-id'] is defined }}\n"
        "# {% if pxe_options.boot_from_volume %}volume{% endif %}<{{ pxe_options.ks_cfg_url }}"
        "{{ pxe_options.boot_iso_url }}>\n"
    )
    conf(pxe__ipxe_config_template=str(template), pxe__ipxe_timeout=3)
    text = prepared(LANGUAGES["ipxe"], place, "console=ttyS0", instance=instance)
    purpose = "instance" if instance else "deploy"
    kernel, ramdisk = (f"http://192.0.2.1:8080/boot/{UUID}/{purpose}_{name}" for name in ("kernel", "ramdisk"))
    (line,) = (line for line in text.splitlines() if line.startswith("kernel"))
    assert line.startswith(f"kernel --timeout 3000 {kernel} ") and line.endswith(f" initrd={purpose}_ramdisk")
    assert " console=ttyS0 " in line
    assert f"initrd {ramdisk}\n" in text
    assert f"# {kernel} {ramdisk} 192.0.2.1\n# False\n# <>\n" in text


@pytest.mark.parametrize(
    ("what", "wanted", "line"),
    [
        ("deploy", "deploy", f"kernel http://192.0.2.1:8080/boot/{UUID}/deploy_kernel"),
        ("ramdisk", "boot_ramdisk", f"kernel http://192.0.2.1:8080/boot/{UUID}/instance_kernel"),
        ("boot_iso", "boot_ramdisk", "sanboot http://images/x.iso"),
    ],
)
def test_a_template_with_sections_begins_with_the_wanted_one(
    conf: Setter, place: Path, what: str, wanted: str, line: str
) -> None:
    template = place / "theirs.template"
    template.write_text(
        "#!ipxe\ngoto deploy\n\n:deploy\nkernel {{ pxe_options.deployment_aki_path }} selinux=0\nboot\n\n"
        ":boot_ramdisk\n{%- if pxe_options.boot_iso_url %}\nsanboot {{ pxe_options.boot_iso_url }}\n"
        "{%- else %}\nkernel {{ pxe_options.aki_path }} root=/dev/ram0\nboot\n{%- endif %}\n"
    )
    conf(pxe__ipxe_config_template=str(template))
    language = LANGUAGES["ipxe"]
    if what == "boot_iso":
        language.cls().prepare_instance(instance_of(place, language, boot_iso="http://images/x.iso"))
        text = (place / language.root / UUID / "config").read_text()
    else:
        text = prepared(language, place, "quiet", instance=what == "ramdisk")
    assert f"#!ipxe\ngoto {wanted}\n" in text
    assert text.split(f"\n:{wanted}\n")[1].splitlines()[0].startswith(line)


def test_a_template_that_is_written_for_every_way_to_boot_fails_for_none(conf: Setter, place: Path) -> None:
    template = place / "theirs.template"
    template.write_text(
        "#!ipxe\ngoto deploy\n\n:deploy\nkernel {{ pxe_options.deployment_aki_path }}\nboot\n\n"
        ":boot_partition\nkernel {{ pxe_options.aki_path }} root={{ ROOT }} {{ pxe_options.ramdisk_opts }}\nboot\n\n"
        ":boot_anaconda\nkernel {{ pxe_options.aki_path }} inst.ks={{ pxe_options.ks_cfg_url }}"
        "{% if pxe_options.repo_url %} inst.repo={{ pxe_options.repo_url }}{% endif %}\nboot\n\n"
        ":boot_iscsi\n{% if pxe_options.boot_from_volume %}\nset username {{ pxe_options.username }}\n"
        "{% for number, volume in enumerate(pxe_options.iscsi_volumes) %}{{ number }}{% endfor %}\n{% endif %}\n"
        ":boot_whole_disk\nsanboot --no-describe\n"
    )
    conf(pxe__ipxe_config_template=str(template), pxe__enable_netboot_fallback=True)
    language = LANGUAGES["ipxe"]
    assert prepared(language, place, "quiet", instance=False).startswith("#!ipxe\ngoto deploy\n")
    language.cls().prepare_instance(machine(properties={"capabilities": language.mode}))
    text = (place / language.root / UUID / "config").read_text()
    assert text.startswith("#!ipxe\ngoto boot_whole_disk\n")
    assert "root={{ ROOT }} " in text


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("ipxe", [["sanboot", "--no-describe", "--drive", "0x80"], ["exit"]]),
        ("grub", [["exit"], []]),
        ("pxelinux", [["label", "disk"], ["localboot", "0"]]),
    ],
)
def test_a_deployed_machine_that_boots_from_the_network_all_the_same_goes_on_to_its_disk(
    conf: Setter, place: Path, name: str, last: list[list[str]]
) -> None:
    conf(pxe__enable_netboot_fallback=True)
    language, firmware = LANGUAGES[name], Firmware()
    task = machine(firmware=firmware, properties={"capabilities": language.mode})
    language.cls().prepare_instance(task)
    commands = language.read((place / language.root / UUID / "config").read_text())
    assert [command.words for command in commands][-len(last) :] == last
    assert ("disk", True) in firmware.recorded
    language.cls().clean_up_instance(task)
    assert not (place / language.root / UUID).exists()


@pytest.mark.parametrize("other", boot_templates.OTHER_NAMES)
def test_a_template_is_found_by_the_name_that_upstreams_has(conf: Setter, other: str) -> None:
    assert not (Path(CONF.pybasedir) / other).exists()
    with pytest.raises(InvalidParameterValue, match="is undefined"):
        boot_templates.render(f"{CONF.pybasedir}/{other}")
    with pytest.raises(InvalidParameterValue, match="No such file"):
        boot_templates.render(f"{CONF.pybasedir}/{other}.other")


@pytest.mark.parametrize("key", ["x86_64", "x86_64-uefi", "X86_64-UEFI"])
def test_kernel_and_ramdisk_may_be_those_of_an_architecture_and_a_boot_mode(
    conf: Setter, place: Path, key: str
) -> None:
    images = f"file://{place}/images"
    by_arch = {key: f"{images}/own-kernel"}
    conf(conductor__deploy_kernel_by_arch=by_arch, conductor__deploy_ramdisk_by_arch={key: f"{images}/own-ramdisk"})
    of_mode = machine(
        properties={"cpu_arch": "x86_64", "capabilities": "boot_mode:uefi"}, driver_info={}, instance_info={}
    )
    assert kernel_and_ramdisk.find_ramdisk(of_mode.node, "deploy").kernel.url == by_arch[key]
    conf(pxe__ipxe_bootfile_name_by_arch={key: "own.efi"}, pxe__pxe_config_template_by_arch={key: "/own"})
    assert boot_files.boot_program_of(VARIANTS["ipxe"], "uefi", "x86_64") == "own.efi"
    wanted = node_attributes.for_architecture({**by_arch, "x86_64-bios": "other"}, "x86_64", "uefi")
    assert wanted == by_arch[key]
    assert node_attributes.for_architecture({"x86_64": "plain", **by_arch}, "x86_64", "bios") in ("plain", by_arch[key])
    assert node_attributes.for_architecture(by_arch, "aarch64", "uefi") is None
    assert node_attributes.for_architecture(by_arch, None, "uefi") is None
