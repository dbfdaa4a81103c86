"""Measure power synchronisation of many IPMI machines of which some are dead: `python tools/bench_ipmi.py`.

The service runs with its defaults but for the hardware type. A program in the place of ipmitool answers for the living
machines at once, and lets the dead ones take the time that the real one needs for two requests without an answer. With
`--real` the real ipmitool speaks with an ipmi_sim per living machine, and with silent UDP ports. Each call is noted,
so the figures are what BMCs see. With `--sensors` the service reads sensors too, those of each machine once in five
minutes; the program in the place of ipmitool takes three seconds for them.
"""

import argparse
import contextlib
import os
import shutil
import socket
import sqlite3
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import requests

from ironic.tests.ipmi_bmc import PASSWORD, USER, free_udp_port, ipmi_sim
from ironic.tests.live_service import all_in_one_below

TOOL = """\
#!/bin/sh
case "$*" in *-h) exec {real} "$@";; esac
previous=
for word in "$@"; do
    case $previous in -H) address=$word;; -p) port=$word;; -N) seconds=$word;; esac
    previous=$word
done
case "$*" in *"sdr -v") what=sensors;; *) what=power;; esac
echo "$(date +%s.%N) $address:$port $what" >> {calls}
{act}
status=$?
case $address in 127.2.*) echo "$(date +%s.%N) $address:$port $what end" >> {calls};; esac
exit $status
"""

FAKE = """\
case $address in
    127.2.*) sleep $((2 * seconds)); echo "Error: Unable to establish IPMI v2 / RMCP+ session" >&2; false;;
    *) if [ $what = sensors ]; then sleep 3; echo "$sensors"; else echo Chassis Power is on; fi;;
esac"""

SENSORS = """
sensors='
Sensor ID              : Inlet Temp (0x1)
 Entity ID             : 55.1 (Air Inlet)
 Sensor Type (Threshold)  : Temperature (0x01)
 Sensor Reading        : 23 (+/- 0) degrees C
 Status                : ok
'
"""

PORT = 623

Address = tuple[str, int]


def main() -> None:
    """Run the service for a while and print what the BMCs have seen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machines", type=int, default=1000)
    parser.add_argument("--dead", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--real", action="store_true", help="use the real ipmitool and simulators")
    parser.add_argument("--sensors", action="store_true", help="read sensors too")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ironic-bench-") as name, contextlib.ExitStack() as stack:
        directory = Path(name)
        calls = directory / "calls"
        tool, real = directory / "ipmitool", shutil.which("ipmitool") or "ipmitool"
        act = f'{real} "$@"' if asked.real else SENSORS + FAKE
        tool.write_text(TOOL.format(calls=calls, real=real if asked.real else "true", act=act))
        tool.chmod(0o755)
        os.environ["PATH"] = f"{directory}:{os.environ['PATH']}"
        addresses = [address(number, asked.dead) for number in range(asked.machines)]
        if asked.real:
            addresses = [real_bmc(stack, directory, *each) for each in addresses]
        serve(directory, addresses, asked.seconds, has_sensors=asked.sensors)
        lines = [line.split() for line in calls.read_text().splitlines()]
        for what in ("power", "sensors")[: 1 + asked.sensors]:
            print(f"{what}:")
            report([(float(moment), address, end) for moment, address, kind, *end in lines if kind == what])


def address(number: int, dead: int) -> Address:
    """Return where a BMC is; those of the dead begin with 127.2."""
    return f"127.{2 if number < dead else 1}.{number // 250}.{number % 250 + 1}", PORT


def real_bmc(stack: contextlib.ExitStack, directory: Path, host: str, port: int) -> Address:
    """Run a simulator, or a port that never answers in the place of a dead BMC; return where it is."""
    if host.startswith("127.2."):
        silent = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        port = free_udp_port()
        silent.bind((host, port))
        return host, port
    bmc = stack.enter_context(ipmi_sim(directory / host))
    bmc.switch(on=True)
    return "127.0.0.1", bmc.port


def serve(directory: Path, addresses: Sequence[Address], seconds: int, *, has_sensors: bool) -> None:
    """Run the service with a machine at each address."""
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "enabled_hardware_types": "ipmi",
            "enabled_boot_interfaces": "ipxe",
            "enabled_management_interfaces": "ipmitool" if has_sensors else "noop",
        },
        "sensor_data": {"send_sensor_data": has_sensors, "interval": 300, "enable_for_undeployed_nodes": True},
        "oslo_messaging_notifications": {"driver": "log"},
    }
    with all_in_one_below(directory, options) as service:
        for host, bmc_port in addresses:
            info = {"ipmi_address": host, "ipmi_port": bmc_port, "ipmi_cipher_suite": "3"}
            info |= {"ipmi_username": USER, "ipmi_password": PASSWORD}
            body = {"driver": "ipmi", "driver_info": info}
            headers = {"X-OpenStack-Ironic-API-Version": "1.95"}
            requests.post(f"{service.url}/v1/nodes", json=body, headers=headers, timeout=30).raise_for_status()
        with sqlite3.connect(directory / "service.sqlite", timeout=30) as database:
            database.execute("UPDATE nodes SET provision_state = 'available', power_state = 'power on'")
        (directory / "calls").write_text("")
        time.sleep(seconds)
    with sqlite3.connect(directory / "service.sqlite") as database:
        query = "SELECT count(*), sum(fault IS NOT NULL), sum(power_state = 'power on') FROM nodes"
        found, failed, on = database.execute(query).fetchone()
        print(f"load of this machine {os.getloadavg()[1]:.1f}")
        print(f"{found} machines, {failed} in maintenance because of a power failure, {on} recorded as on")


def report(calls: Sequence[tuple[float, str, list[str]]]) -> None:
    """Print how often the BMCs were asked, and what the dead ones cost."""
    begun: dict[str, list[float]] = defaultdict(list)
    lasted: dict[str, list[float]] = defaultdict(list)
    for moment, address, end in calls:
        if end:
            lasted[address].append(moment - begun[address][-1])
        else:
            begun[address].append(moment)
    living = {address: times for address, times in begun.items() if not address.startswith("127.2.")}
    dead = [times for address, times in begun.items() if address.startswith("127.2.")]
    apart = [late - early for times in living.values() for early, late in zip(times, times[1:], strict=False)]
    print(f"{len(living)} living BMCs asked {sum(map(len, living.values()))} times, {min(map(len, living.values()))} "
          f"to {max(map(len, living.values()))} times each")  # fmt: skip
    if apart:
        print(f"seconds from one reading to the next: median {statistics.median(apart):.0f}, longest {max(apart):.0f}")
    print(f"{len(dead)} dead BMCs asked {sum(map(len, dead))} times, at most {max(map(len, dead), default=0)} each")
    for number in range(max((len(times) for times in lasted.values()), default=0)):
        turn = [times[number] for times in lasted.values() if len(times) > number]
        print(f"reading {number + 1} of a dead BMC: {statistics.mean(turn):.1f} s of a worker ({len(turn)} BMCs)")


if __name__ == "__main__":
    main()
