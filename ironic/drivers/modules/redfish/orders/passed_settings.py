"""What a ramdisk that boots from virtual media is passed: kernel parameters, token, network data, certificate.

No DHCP or TFTP server is involved, so the image has everything by which the ramdisk finds this service and proves that
it is the one that was booted.
"""

import logging
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from ironic.conf import CONF
from ironic.core.errors.hardware_errors import ImageCreationFailed
from ironic.core.flows.flow import INSPECT, in_state
from ironic.core.memory.agent_memory import AgentMemory
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.redfish.orders.ramdisk_images import Passed

LOG = logging.getLogger(__name__)

_TOKEN_BYTES: Final = 32
_API: Final = "ipa-api-url"
_CALLBACK: Final = "ipa-inspection-callback-url"
_CA_ON_CD: Final = "etc/ironic-python-agent/ironic.crt"
_CA_SETTING: Final = "etc/ironic-python-agent.d/ironic-tls.conf"


def for_agent(task: Task, parameters: Mapping[str, object]) -> Passed:
    """Return what the agent's ramdisk is passed; its new token is put on the node, which the caller saves."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    AgentMemory(task.node).store_built_in_token(token)
    passed = {**_from_outside(parameters), "ipa-agent-token": token, "boot_method": "vmedia"}
    passed.setdefault("ipa-global-request-id", task.context.request_id)
    if CONF.debug:
        passed["ipa-debug"] = "1"
    if card := _current_card(task):
        passed["BOOTIF"] = card
    return with_parameters(task, passed)


def with_parameters(task: Task, parameters: Mapping[str, object]) -> Passed:
    """Return what a ramdisk with these parameters is passed."""
    return Passed(parameters, _network_data(task), _certificate())


def _from_outside(parameters: Mapping[str, object]) -> dict[str, object]:
    """Replace this service's address by [deploy]external_callback_url, where that is set."""
    outside, passed = CONF.deploy.external_callback_url, dict(parameters)
    if not outside:
        return passed
    if _API in passed:
        passed[_API] = outside.rstrip("/")
    if _CALLBACK in passed:
        inner, outer = urlsplit(str(passed[_CALLBACK])), urlsplit(outside.rstrip("/"))
        path = f"{outer.path}{inner.path[inner.path.rindex('/v1/') :]}"
        passed[_CALLBACK] = urlunsplit((outer.scheme, outer.netloc, path, inner.query, ""))
    return passed


def _current_card(task: Task) -> str | None:
    """Return the MAC address of the port that is connected at present, None when no port is known to be."""
    return next((port.address for port in task.ports if task.network.get_current_vif(task, port)), None)


def _network_data(task: Task) -> dict[str, Any]:
    if CONF.inspector.force_dhcp and in_state(task.node.provision_state) is INSPECT:
        return {}
    return task.network.get_node_network_data(task)


def _certificate() -> dict[str, bytes]:
    path = CONF.agent.api_ca_file
    if not path:
        return {}
    try:
        certificate = Path(path).read_bytes()
    except OSError as error:
        raise ImageCreationFailed(image_type="ISO", error=f"[agent]api_ca_file {path}: {error.strerror}") from error
    return {_CA_ON_CD: certificate, _CA_SETTING: f"[DEFAULT]\ncafile = /{_CA_ON_CD}\n".encode()}
