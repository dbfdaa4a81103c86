"""The network of the lab: a tap device of the machine, and a dnsmasq for DHCP and TFTP.

All is in a network namespace that ends with the programs in it (`unshare --net`), so addresses and ports are fixed.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

TAP: Final = "lab0"
HOST: Final = "10.66.0.1"

_SETTING_UP: Final = f"""
link set lo up
tuntap add dev {TAP} mode tap
addr add {HOST}/24 dev {TAP}
link set {TAP} up
"""
_DHCP: Final = """\
# DHCP and TFTP, no DNS
port=0
interface={tap}
bind-interfaces
dhcp-range=10.66.0.50,10.66.0.150,255.255.255.0,10m
"""
_OF_THE_LAB: Final = """\
user=root
no-ping
dhcp-leasefile={directory}/leases
log-facility={directory}/dnsmasq.log
log-dhcp
"""
# As doc/network-boot.md has it: only machines that the service boots get an answer.
_BY_THE_SERVICE: Final = """\
dhcp-hostsdir={directory}/hosts.d
dhcp-optsdir={directory}/options.d
dhcp-match=set:ipxe,175
dhcp-ignore=tag:!ironic
enable-tftp
tftp-root={directory}/tftp
"""


def require_own_namespace() -> None:
    """End the program when it is in the network namespace of the host; a new one has no routes."""
    if len(Path("/proc/self/net/route").read_text().splitlines()) > 1:
        raise SystemExit("The lab has a network of its own: run it by `unshare --net`, as tools/lab/run.sh does.")


@contextmanager
def network(directory: Path, *, boots_machines: bool = False, configuration: str | None = None) -> Iterator[None]:
    """Have a network until the block ends; ``boots_machines`` says whether DHCP is the service's matter.

    ``configuration`` is that of dnsmasq, in place of the lab's own.
    """
    for line in _SETTING_UP.strip().splitlines():
        subprocess.run(["ip", *line.split()], check=True)
    for name in ("hosts.d", "options.d", "tftp"):
        (directory / name).mkdir()
    text = (_DHCP + (_BY_THE_SERVICE if boots_machines else "")).format(tap=TAP, directory=directory)
    own = _OF_THE_LAB.format(directory=directory)
    (directory / "dnsmasq.conf").write_text((configuration or text) + own)
    program = shutil.which("dnsmasq", path=f"{os.environ.get('PATH', '')}:/usr/sbin") or "dnsmasq"
    command = [program, f"--conf-file={directory}/dnsmasq.conf", "--keep-in-foreground", "--pid-file="]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as server:
        try:
            yield
        finally:
            server.terminate()
