"""Measure what reading many BMCs costs them and the conductor: `make bench-bmcs`, half an hour.

One process plays 1,000 Redfish BMCs, each below an address of its own, and counts requests per BMC. A real all-in-one
service synchronises power and reads sensors of all of them. Then a tenth of the BMCs stops answering: their connections
are accepted and nothing comes back. Figures are per BMC and for the conductor, between two readings of the counters.
"""

import argparse
import contextlib
import http.client
import json
import os
import socketserver
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import requests

from ironic.tests.live_service import Service, all_in_one, free_port, write_options

SYSTEM = "/redfish/v1/Systems/1"
CHASSIS = "/redfish/v1/Chassis/1"
HEALTHY = {"State": "Enabled", "Health": "OK"}


def document(path: str, name: str = "") -> dict[str, Any]:
    """Return a resource with what every resource has."""
    return {"@odata.id": path, "Id": path.rpartition("/")[2], "Name": name or path.rpartition("/")[2]}


def collection(path: str, *members: str) -> dict[str, Any]:
    """Return a collection."""
    return document(path) | {"Members": [{"@odata.id": member} for member in members]}


def documents() -> dict[str, bytes]:
    """Return what a BMC with one machine serves, by path."""
    fans = [{"MemberId": str(one), "Name": f"Fan {one}", "Reading": 6000, "Status": HEALTHY} for one in range(4)]
    temperatures = [
        {"MemberId": str(one), "Name": f"Probe {one}", "ReadingCelsius": 40, "Status": HEALTHY} for one in range(8)
    ]
    supplies = [{"MemberId": str(one), "Name": f"PSU {one}", "Status": HEALTHY} for one in range(2)]
    machine = document(SYSTEM, "machine") | {
        "UUID": "5d8a3f0e-30a6-44a5-9c39-0f2f6d5a7a11",
        "PowerState": "Off",
        "Status": HEALTHY,
        "Boot": {
            "BootSourceOverrideEnabled": "Disabled",
            "BootSourceOverrideTarget": "None",
            "BootSourceOverrideTarget@Redfish.AllowableValues": ["Pxe", "Hdd"],
            "BootSourceOverrideMode": "UEFI",
        },
        "Actions": {
            "#ComputerSystem.Reset": {
                "target": f"{SYSTEM}/Actions/ComputerSystem.Reset",
                "ResetType@Redfish.AllowableValues": ["On", "ForceOff", "ForceRestart"],
            }
        },
        "Links": {"Chassis": [{"@odata.id": CHASSIS}], "ManagedBy": []},
        "Storage": {"@odata.id": f"{SYSTEM}/Storage"},
        "SimpleStorage": {"@odata.id": f"{SYSTEM}/SimpleStorage"},
    }
    root = document("/redfish/v1", "Root") | {
        "RedfishVersion": "1.6.0",
        "UUID": "5d8a3f0e-30a6-44a5-9c39-0f2f6d5a7a12",
        "Systems": {"@odata.id": "/redfish/v1/Systems"},
        "Chassis": {"@odata.id": "/redfish/v1/Chassis"},
        "Managers": {"@odata.id": "/redfish/v1/Managers"},
    }
    served = [
        root,
        machine,
        collection("/redfish/v1/Systems", SYSTEM),
        collection("/redfish/v1/Chassis", CHASSIS),
        collection("/redfish/v1/Managers"),
        collection(f"{SYSTEM}/Storage"),
        collection(f"{SYSTEM}/SimpleStorage"),
        document(CHASSIS, "chassis")
        | {"ChassisType": "RackMount", "Thermal": {"@odata.id": f"{CHASSIS}/Thermal"}}
        | {"Power": {"@odata.id": f"{CHASSIS}/Power"}, "Status": HEALTHY},
        document(f"{CHASSIS}/Thermal", "Thermal") | {"Fans": fans, "Temperatures": temperatures},
        document(f"{CHASSIS}/Power", "Power") | {"PowerSupplies": supplies},
    ]
    return {str(each["@odata.id"]): json.dumps(each).encode() for each in served}


class Server(socketserver.ThreadingTCPServer):
    """All BMCs: they have one port, and each an address below 127.0.0.0/8."""

    allow_reuse_address = daemon_threads = True
    request_queue_size = 1024


def play(port: int, orders: Connection) -> None:
    """Play BMCs until the other side hangs up; "count" is answered with requests by address, others name the dead."""
    served, counts, dead, guard = documents(), Counter[str](), set[str](), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            address = self.connection.getsockname()[0]
            with guard:
                counts[address] += 1
            if address in dead:
                time.sleep(600)
            body = served.get(self.path.rstrip("/"))
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            pass

    with Server(("0.0.0.0", port), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        orders.send("ready")
        with contextlib.suppress(EOFError):
            while True:
                order = orders.recv()
                if order == "count":
                    with guard:
                        orders.send(dict(counts))
                else:
                    dead.update(order)
    os._exit(0)


def address(number: int) -> str:
    """Return the address of a BMC."""
    return f"127.1.{number // 250}.{number % 250 + 1}"


@contextlib.contextmanager
def bmcs(port: int) -> Iterator[Connection]:
    """Play the BMCs in a process of its own."""
    here, there = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=play, args=(port, there), daemon=True)
    process.start()
    here.recv()
    yield here
    here.close()
    process.terminate()


def usage(process: int) -> tuple[float, float, int]:
    """Return the CPU seconds, MiB and threads of a process."""
    numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    cpu = (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")
    status = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
    return cpu, int(status["VmRSS"].split()[0]) / 1024, int(status["Threads"])


def enrol(service: Service, number: int, port: int) -> None:
    """Enrol a node for each BMC; SQLite takes them one after another."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port or 0, timeout=60)
    headers = {"X-OpenStack-Ironic-API-Version": "1.95", "Content-Type": "application/json"}
    for each in range(number):
        info = {"redfish_address": f"http://{address(each)}:{port}", "redfish_system_id": SYSTEM}
        body = {"driver": "redfish", "name": f"n{each}", "driver_info": info}
        connection.request("POST", "/v1/nodes", json.dumps(body), headers)
        answer = connection.getresponse()
        if answer.status != 201:
            raise SystemExit(f"node {each}: {answer.status} {answer.read()[:300]!r}")
        answer.read()
        connection.request("PUT", f"/v1/nodes/n{each}/states/provision", '{"target": "manage"}', headers)
        connection.getresponse().read()


def await_managed(service: Service, number: int) -> None:
    """Wait until all nodes are managed, and ask again for those that were refused for lack of workers."""
    while True:
        nodes = requests.get(
            f"{service.url}/v1/nodes?provision_state=enroll&limit=1000", timeout=60, headers=HEADERS
        ).json()["nodes"]
        if not nodes and len(states(service).get("manageable", [])) == number:
            return
        for node in nodes:
            path = f"{service.url}/v1/nodes/{node['uuid']}/states/provision"
            requests.put(path, json={"target": "manage"}, timeout=60, headers=HEADERS)
        time.sleep(2)


HEADERS = {"X-OpenStack-Ironic-API-Version": "1.95"}


def states(service: Service) -> dict[str, list[str]]:
    """Return the names of nodes by provision state."""
    found: dict[str, list[str]] = {}
    path = f"{service.url}/v1/nodes?limit=1000"
    while path:
        page = requests.get(path, timeout=60, headers=HEADERS).json()
        for node in page["nodes"]:
            found.setdefault(node["provision_state"], []).append(node["name"])
        path = page.get("next", "")
    return found


def observe(what: str, service: Service, orders: Connection, seconds: float, interval: float, alive: set[str]) -> None:
    """Print what BMCs and the conductor did in a while."""
    orders.send("count")
    before, (cpu, _, _) = orders.recv(), usage(service.process_id)
    time.sleep(seconds)
    orders.send("count")
    after, (cpu_after, memory, threads) = orders.recv(), usage(service.process_id)
    asked = {each: (after.get(each, 0) - before.get(each, 0)) * interval / seconds for each in alive}
    rest = sum((after.get(each, 0) - before.get(each, 0)) for each in after.keys() - alive)
    print(
        f"{what:<44} requests per BMC in {interval:.0f} s: {statistics.mean(asked.values()):.1f} on average, "
        f"{min(asked.values()):.1f} to {max(asked.values()):.1f}; of dead ones {rest} in all; "
        f"conductor {100 * (cpu_after - cpu) / seconds:.0f}% CPU, {memory:.0f} MiB, {threads} threads; "
        f"load of this machine {os.getloadavg()[1]:.1f}",
        flush=True,
    )


def main() -> None:
    """Print the figures of each kind of reading, and with dead BMCs."""
    parser = argparse.ArgumentParser(description="Requests to BMCs, CPU and memory of a conductor that reads them.")
    parser.add_argument("--bmcs", type=int, default=1000)
    parser.add_argument("--interval", type=int, default=60, help="of power synchronisation and sensor readings")
    parser.add_argument("--skip", type=int, default=0, help="how many of the three configurations to leave out")
    arguments = parser.parse_args()
    number, interval = arguments.bmcs, arguments.interval
    health = {"conductor": {"enable_health_monitoring": True}}
    kinds: list[tuple[str, dict[str, dict[str, Any]]]] = [
        ("power", {}),
        ("power and health", health),
        ("power, health and sensors", {**health, "sensor_data": {"send_sensor_data": True}}),
    ]
    for what, more in kinds[arguments.skip :]:
        with tempfile.TemporaryDirectory() as directory:
            run(Path(directory), what, more, number, interval)


def run(directory: Path, what: str, more: dict[str, dict[str, Any]], number: int, interval: int) -> None:
    """Measure one configuration, with all BMCs alive and then with a tenth of them dead."""
    port, bmc_port = free_port(), free_port()
    interfaces = {f"enabled_{kind}_interfaces": "redfish" for kind in ("power", "management")}
    monitoring = more.get("conductor", {"enable_health_monitoring": False})
    sensors = {"send_sensor_data": True, "interval": interval, "enable_for_undeployed_nodes": True}
    options: dict[str, Mapping[str, object]] = {
        "DEFAULT": {"auth_strategy": "noauth", "state_path": directory, "enabled_hardware_types": "redfish"}
        | {"rpc_transport": "none", "log_file": f"{directory}/log", **interfaces},
        "api": {"host_ip": "127.0.0.1", "port": port},
        "database": {"connection": f"sqlite:///{directory}/ironic.sqlite"},
        "conductor": {"sync_power_state_interval": interval, **monitoring},
        "oslo_messaging_notifications": {"driver": "noop", "transport_url": "fake://"},
        "sensor_data": sensors if "sensor_data" in more else {},
    }
    configuration = write_options(directory / "ironic.conf", options)
    with bmcs(bmc_port) as orders, all_in_one([configuration], directory / "log", port) as service:
        enrol(service, number, bmc_port)
        await_managed(service, number)
        time.sleep(interval)
        alive = {address(each) for each in range(number)}
        observe(what, service, orders, 2 * interval, interval, alive)
        dead = {address(each) for each in range(0, number, 10)}
        orders.send(dead)
        observe(f"{what}, a tenth just died", service, orders, 2 * interval, interval, alive - dead)
        observe(f"{what}, a tenth dead", service, orders, 2 * interval, interval, alive - dead)


if __name__ == "__main__":
    main()
