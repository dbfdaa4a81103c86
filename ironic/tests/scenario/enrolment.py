"""A machine's way from its enrolment to use and back, with requests to the API and an agent's double."""

import base64
import hashlib
from pathlib import Path
from typing import Any

from ironic.tests.agent_double import agent_double
from ironic.tests.functional.live.asking import ask, call, follow
from ironic.tests.functional.live.ramdisk import Ramdisk
from ironic.tests.live_service import Answering
from ironic.tests.web_server import WebServer

LOGS = b"what the ramdisk logged"


def enrol_to_active(
    api: Answering,
    driver: str,
    login: dict[str, Any],
    mac: str,
    web: WebServer,
    *,
    instance_info: dict[str, Any] | None = None,
    config_drive: dict[str, Any] | None = None,
    served: Path | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """Enrol a machine, make first contact, and deploy; return the node.

    ``login`` is what the BMC wants, ``mac`` the address of the port, ``instance_info`` another image than image.raw of
    the web server, which has kernel and ramdisk too. ``served`` is where the service has the CDs of virtual media.
    """
    boot = {"deploy_kernel": f"{web.url}/kernel", "deploy_ramdisk": f"{web.url}/ramdisk"}
    body = {"driver": driver, "driver_info": {**login, **boot}, "automated_clean": False, **fields}
    answer = call(api, "POST", "/v1/nodes", body)
    assert answer.status_code == 201, answer.text
    node = answer.json()
    uuid = node["uuid"]
    assert call(api, "POST", "/v1/ports", {"node_uuid": uuid, "address": mac}).status_code == 201
    checksum = hashlib.sha256((web.directory / "image.raw").read_bytes()).hexdigest()
    info = {"image_source": f"{web.url}/image.raw", "image_checksum": checksum, "image_disk_format": "raw"}
    for verb, state in (("manage", "manageable"), ("provide", "available")):
        assert (answer := ask(api, uuid, verb)).status_code == 202, answer.text
        follow(api, uuid, state)
    patch = [{"op": "add", "path": "/instance_info", "value": instance_info or info}]
    assert call(api, "PATCH", f"/v1/nodes/{uuid}", patch).status_code == 200
    more = {"configdrive": config_drive} if config_drive else {}
    assert (answer := ask(api, uuid, "active", **more)).status_code == 202, answer.text
    with agent_double(tls=True) as agent:
        agent.ends_at_once.add("image.install_bootloader")
        agent.results["log.collect_system_logs"] = {"system_logs": base64.b64encode(LOGS).decode()}
        follow(api, uuid, "wait call-back")
        ramdisk = Ramdisk(api, agent, uuid, mac)
        ramdisk.boot(served)
        assert ramdisk.next_step()["step"] == "write_image"
        ramdisk.end()
        return follow(api, uuid, "active")


def active_to_available(api: Answering, uuid: str) -> None:
    """Take a machine back, which is not cleaned."""
    assert (answer := ask(api, uuid, "deleted")).status_code == 202, answer.text
    follow(api, uuid, "available")
