"""Fill a service of the reference through its REST API: nodes in every state that lasts, in waits and at work.

All secrets are made up. The service is killed in the end, so that nodes stay where they are.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from change_over.service import HOST, Reference

STATE_TIMEOUT = 40.0  # seconds
_RAMDISK = {"deploy_kernel": "http://127.0.0.1/kernel", "deploy_ramdisk": "http://127.0.0.1/ramdisk"}
_LOGIN = {"ipmi_address": "192.0.2.7", "ipmi_username": "admin", "ipmi_password": "s3cret"}
_IMAGE = {"image_checksum": "d41d8cd98f00b204e9800998ecf8427e", "image_disk_format": "raw"}
# With `fake`, a step ends at once; a service that is started again sleeps in it, and is killed there.
SLOW = "[fake]\ndeploy_delay = 600\npower_delay = 600\n"


class _AnyImage(BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        """Answer that there is an image."""
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()

    do_GET = do_HEAD

    def log_message(self, *_arguments: object) -> None:
        """Log nothing."""


@contextmanager
def images() -> Iterator[str]:
    """Serve an image under every path; give its URL."""
    with ThreadingHTTPServer((HOST, 0), _AnyImage) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{HOST}:{server.server_port}/image"
        server.shutdown()


class Filler:
    """Makes resources in one service."""

    def __init__(self, reference: Reference, image: str) -> None:
        self.reference, self.image = reference, image
        self.minor = int(reference.version().partition(".")[2])

    def all(self) -> None:
        """Make resources of every kind, with nodes in every state that a process reaches by itself."""
        self.resources()
        for name, path in PATHS.items():
            self.lead(name, path)
        self.inventory()
        self.failures()

    def make(self, path: str, **values: object) -> str:
        """Create a resource and return its UUID; what this release does not have is left out."""
        since = {"description": {"/v1/ports": 100, "/v1/runbooks": 112}}
        kept = {name: value for name, value in values.items() if since.get(name, {}).get(path, 0) <= self.minor}
        return str(self.reference.call("POST", path, kept)["uuid"])

    def node(self, name: str, **values: object) -> str:
        """Create a node and return its UUID."""
        info = {**_RAMDISK, **_LOGIN}
        instance = {"image_source": self.image, **_IMAGE}
        usual = {"driver": "fake-hardware", "name": name, "driver_info": info, "instance_info": instance}
        return self.make("/v1/nodes", **{**usual, **values})

    def resources(self) -> None:
        """Make a chassis, and a node with one of everything that a node can have."""
        chassis = self.make("/v1/chassis", description="row 4, rack 2", extra={"room": "östlich"})
        node = self.node(
            "full",
            chassis_uuid=chassis,
            resource_class="baremetal",
            properties={
                "cpus": 8,
                "memory_mb": 65536,
                "capabilities": "boot_mode:uefi",
                "root_device": {"size": ">=100"},
            },
            extra={"umlaut": "ö 😀", "big": 2**53 + 1, "deep": {"list": [1, 2.5, None, True, ""]}, "html": "</script>"},
            lessee="project-2",
            description="one of everything",
            conductor_group="",
            automated_clean=True,
            network_data={},
        )
        at = f"/v1/nodes/{node}"
        self.reference.call("PATCH", at, [{"op": "add", "path": "/owner", "value": "project-1"}])
        self.reference.call("PUT", f"{at}/traits", {"traits": ["CUSTOM_GPU", "HW_CPU_X86_VMX"]})
        group = self.make(
            "/v1/portgroups", node_uuid=node, name="bond0", address="52:54:00:00:00:10", mode="802.3ad",
            properties={"miimon": 100},
        )  # fmt: skip
        link = {"switch_id": "0a:1b:2c:3d:4e:5f", "port_id": "Eth1/4", "switch_info": "tor-4"}
        self.make(
            "/v1/ports", node_uuid=node, portgroup_uuid=group, address="52:54:00:00:00:11", local_link_connection=link,
            physical_network="physnet1", extra={"slot": 1}, description="left port",
        )  # fmt: skip
        self.make("/v1/ports", node_uuid=node, address="52:54:00:00:00:12", pxe_enabled=False, name="second")
        self.make("/v1/volume/connectors", node_uuid=node, type="iqn", connector_id="iqn.2026-01.org.example:one")
        self.make(
            "/v1/volume/targets", node_uuid=node, volume_type="iscsi", boot_index=0, volume_id="volume-1",
            properties={"target_iqn": "iqn.2026-01.org.example:two", "auth_password": "s3cret"},
        )  # fmt: skip
        step = {"interface": "deploy", "step": "erase_devices", "args": {"passes": 3}, "priority": 90}
        self.make("/v1/deploy_templates", name="CUSTOM_ERASE", steps=[step], extra={"why": "tidy"})
        if self.minor >= 92:
            order = {"interface": "deploy", "step": "erase_devices", "args": {}, "order": 1}
            named = {"description": "erases"} if self.minor >= 112 else {}
            self.make("/v1/runbooks", name="CUSTOM_ERASE", steps=[order], public=True, extra={}, **named)
            self.make("/v1/runbooks", name="CUSTOM_OWNED", steps=[order])
        if self.minor >= 96:
            self.make(
                "/v1/inspection_rules",
                description="notes large machines",
                priority=10,
                phase="main",
                conditions=[{"op": "!is-empty", "args": {"value": "{inventory}"}}],
                actions=[{"op": "set-attribute", "args": {"path": "/extra/large", "value": True}}],
            )
        self.node("child", parent_node=self.node("parent"), shard="shard-1")
        self.make("/v1/allocations", name="waiting-in-vain", resource_class="unheard-of", extra={"a": 1})

    def lead(self, name: str, path: tuple[tuple[str, str, dict[str, object]], ...]) -> None:
        """Create a node and lead it by verbs, waiting for the state after each."""
        interfaces = {"deploy_interface": "direct", "inspect_interface": "agent"} if "wait" in name else {}
        self.node(name, **interfaces, resource_class="baremetal")
        for verb, state, more in path:
            self.provision(name, verb, state, **more)
        self.await_unlocked(name)

    def provision(self, name: str, verb: str, state: str, **more: object) -> None:
        """Order a verb and wait for the state."""
        self.await_unlocked(name)
        self.reference.call("PUT", f"/v1/nodes/{name}/states/provision", {"target": verb, **more})
        self.await_state(name, state)

    def await_state(self, name: str, state: str) -> None:
        """Wait until a node is in the state; raises RuntimeError when it takes too long."""
        until = time.monotonic() + STATE_TIMEOUT
        while (node := self.reference.get(f"/v1/nodes/{name}"))["provision_state"] != state:
            if time.monotonic() > until:
                raise RuntimeError(f"{name} is in {node['provision_state']}, not {state}: {node['last_error']}")
            time.sleep(0.1)

    def await_unlocked(self, name: str) -> None:
        """Wait until no work holds a node."""
        while self.reference.get(f"/v1/nodes/{name}")["reservation"]:
            time.sleep(0.05)

    def inventory(self) -> None:
        """Report inspection data for a node that waits for them."""
        self.node("inspected", inspect_interface="agent", deploy_interface="direct")
        node = self.reference.get("/v1/nodes/inspected")["uuid"]
        self.make("/v1/ports", node_uuid=node, address="52:54:00:00:00:21")
        self.provision("inspected", "manage", "manageable")
        self.provision("inspected", "inspect", "inspect wait")
        self.await_unlocked("inspected")
        self.reference.call("POST", "/v1/continue_inspection", REPORT)
        self.await_state("inspected", "manageable")

    def failures(self) -> None:
        """Have operations fail, for their history and their texts."""
        self.node("marked")
        self.provision("marked", "manage", "manageable")
        self.reference.call("PUT", "/v1/nodes/marked/maintenance", {"reason": "fan 3 is loud"})
        self.node("protected", resource_class="other")
        self.provision("protected", "manage", "manageable")
        self.provision("protected", "adopt", "active")
        self.await_unlocked("protected")
        patch = [
            {"op": "add", "path": "/protected", "value": True},
            {"op": "add", "path": "/protected_reason", "value": "!"},
        ]
        self.reference.call("PATCH", "/v1/nodes/protected", patch)

    def work(self) -> None:
        """Begin work that does not end: for a service that was started again and sleeps in its steps."""
        self.node("at-work", resource_class="other")
        self.reference.call("PUT", "/v1/nodes/full/states/power", {"target": "power on"})
        self.provision("slow", "active", "deploying")
        time.sleep(1)


_Verb = tuple[str, str, dict[str, object]]
_MANAGE: _Verb = ("manage", "manageable", {})
_PROVIDE: _Verb = ("provide", "available", {})
_ERASE = {"interface": "deploy", "step": "erase_devices", "args": {}}
PATHS: dict[str, tuple[_Verb, ...]] = {
    "enrolled": (),
    "manageable": (_MANAGE,),
    "available": (_MANAGE, _PROVIDE),
    "slow": (_MANAGE, _PROVIDE),
    "active": (_MANAGE, _PROVIDE, ("active", "active", {})),
    "adopted": (_MANAGE, ("adopt", "active", {})),
    "rescue": (_MANAGE, ("adopt", "active", {}), ("rescue", "rescue", {"rescue_password": "s3cret"})),
    "wait-clean": (_MANAGE, ("clean", "clean wait", {"clean_steps": [_ERASE]})),
    "wait-deploy": (_MANAGE, _PROVIDE, ("active", "wait call-back", {})),
    "wait-inspect": (_MANAGE, ("inspect", "inspect wait", {})),
    "wait-service": (_MANAGE, ("adopt", "active", {}), ("service", "service wait", {"service_steps": [_ERASE]})),
    "wait-aborted": (_MANAGE, ("clean", "clean wait", {"clean_steps": [_ERASE]}), ("abort", "clean failed", {})),
}

REPORT = {
    "inventory": {
        "interfaces": [{"name": "eth0", "mac_address": "52:54:00:00:00:21", "has_carrier": True, "ipv4_address": None}],
        "cpu": {"count": 4, "architecture": "x86_64", "model_name": "Example", "flags": ["vmx"]},
        "memory": {"total": 8589934592, "physical_mb": 8192},
        "disks": [{"name": "/dev/sda", "size": 107374182400, "model": "Beispiel ö", "rotational": False}],
        "boot": {"current_boot_mode": "uefi", "pxe_interface": "52:54:00:00:00:21"},
        "bmc_address": "192.0.2.7",
        "hostname": "machine",
        "system_vendor": {"product_name": "P", "serial_number": "1", "manufacturer": "M"},
    },
    "boot_interface": "52:54:00:00:00:21",
    "root_disk": {"name": "/dev/sda", "size": 107374182400},
    "all_interfaces": {},
}


def fill(reference: Reference) -> None:
    """Fill a service that was started; afterwards it runs with work under way."""
    with images() as image:
        Filler(reference, image).all()
        reference.kill()
        reference.start(SLOW)
        Filler(reference, image).work()
