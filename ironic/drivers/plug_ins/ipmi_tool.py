"""Requests to IPMI BMCs as third-party plug-ins send them."""

from typing import Final

from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.ipmi import raw_requests
from ironic.drivers.modules.ipmi.bmc_access import PROPERTIES, access_of
from ironic.drivers.modules.ipmi.conversation import read

COMMON_PROPERTIES: Final = dict(PROPERTIES)


def send_raw(task: Task, raw_bytes: str) -> tuple[str, str]:
    """Send the bytes of a text such as ``0x2c 0x01``; return what ipmitool writes, and an empty text for its errors.

    Raises IPMIFailure, and InvalidParameterValue for what are no bytes.
    """
    return raw_requests.send(task, raw_requests.check(raw_bytes)), ""


def dump_sdr(task: Task, file_path: str) -> None:
    """Write the sensor data repository of a BMC to a file; raises IPMIFailure."""
    read(task, ("sdr", "dump", file_path), is_long=True)


def is_bridging_enabled(node: Node) -> bool:
    """Return whether requests to the node's BMC are passed on by another one."""
    return bool(access_of(node).bridge)
