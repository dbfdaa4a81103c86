"""Whatever a user puts into instance_info and driver_info: a deploy interface takes or refuses it, and never breaks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.drivers.contract.interfaces import DeployInterface
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules.agent import AgentDeploy, CustomAgentDeploy
from ironic.drivers.modules.fake import FakeBoot
from ironic.drivers.modules.ramdisk import RamdiskDeploy
from ironic.tests.effort import examples
from ironic.tests.unit.drivers.machine import Work, work_on

NAMES = [
    *("image_source", "image_checksum", "image_os_hash_algo", "image_os_hash_value", "image_disk_format", "image_type"),
    *("kernel", "ramdisk", "boot_iso", "root_gb", "swap_mb", "ephemeral_gb", "ephemeral_format", "preserve_ephemeral"),
    *("capabilities", "root_device", "configdrive", "image_container_format", "traits"),
    *("image_server_auth_strategy", "image_server_user", "image_server_password"),
]
SENSIBLE = st.sampled_from([
    "http://host/image", "file:///etc/passwd", "a" * 64, "a" * 32, "sha256", "md5", "partition", "whole-disk", "raw",
    "qcow2", "boot_mode:uefi", {"boot_mode": "bios"}, {"size": ">= 1"}, {"boot_option": "ramdisk"}, 10, "10",
    "http_basic", "true", "eA==",
])  # fmt: skip
LEAF = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
ANYTHING = SENSIBLE | st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
)


class AbleBoot(FakeBoot):
    """Starts users' ramdisks."""

    capabilities = ["ramdisk_boot"]


def work(info: dict[str, object], said: object) -> Work:
    task = work_on(instance_info=info, driver_info={"image_download_source": said, "agent_verify_ca": said})
    task.driver = BareDriver({"boot": AbleBoot()})
    return task


@pytest.mark.parametrize("interface", [AgentDeploy(), CustomAgentDeploy(), RamdiskDeploy()])
@settings(max_examples=examples(400), deadline=None)
@given(info=st.dictionaries(st.sampled_from(NAMES), ANYTHING, max_size=12), said=ANYTHING)
def test_it_takes_it_or_refuses_it(interface: DeployInterface, info: dict[str, object], said: object) -> None:
    task = work(info, said)
    interface.supports_deploy(task)
    try:
        interface.validate(task)
    except (InvalidParameterValue, MissingParameterValue) as error:
        assert task.node.uuid in str(error)
