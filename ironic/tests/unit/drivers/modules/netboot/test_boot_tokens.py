"""The token of an inspection's boot reaches the ramdisk as it was made, whichever program boots it."""

from pathlib import Path
from typing import Any

import pytest

from ironic.drivers.modules.inspector import agent
from ironic.drivers.modules.netboot import IPXEHttpBoot
from ironic.inspection import boot_tokens
from ironic.tests.conftest import Setter
from ironic.tests.unit.drivers.machine import UUID
from ironic.tests.unit.drivers.modules.netboot.conftest import machine
from ironic.tests.unit.drivers.modules.netboot.test_boot_files import LANGUAGES, meaning

OFFERED = LANGUAGES | {"ipxe over http": LANGUAGES["ipxe"]._replace(cls=IPXEHttpBoot)}


@pytest.mark.parametrize("name", OFFERED)
def test_it_is_a_word_of_the_command_line(conf: Setter, place: Path, name: str) -> None:
    conf(service_catalog__endpoint_override="https://[2001:db8::1]:6385", inspector__extra_kernel_params="a=b")
    language = OFFERED[name]
    task = machine(properties={"capabilities": language.mode})
    node: Any = task.node
    token = boot_tokens.issue(node)
    language.cls().prepare_ramdisk(task, agent.ramdisk_parameters(token))
    commands = language.read((place / language.root / UUID / "config").read_text())
    (boots,) = (one for one in commands if one.words[:1] == [language.keyword])
    url = f"https://[2001:db8::1]:6385/v1/continue_inspection?boot_token={token}"
    assert f"ipa-inspection-callback-url={url}" in meaning(language.command_line(boots))
