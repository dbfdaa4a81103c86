"""Metal3's image: one program, configured by a directory and the environment, behind a web server; several as one."""

import signal
import socket
from contextlib import ExitStack
from pathlib import Path

import bcrypt
import requests

from ironic.tests.databases import empty_database
from ironic.tests.functional.live.asking import call
from ironic.tests.live_service import PROGRAMS, free_port
from ironic.tests.redfish_bmc import write_certificate
from ironic.tests.scenario.enrolment import LOGS
from ironic.tests.scenario.tools.conftest import Enrol
from ironic.tests.scenario.tools.rendered import Tool
from ironic.tests.site import eventually


def probe(door: Path) -> bytes:
    """Ask for / at the socket as the probe does; return the first line of the answer."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(str(door))
        connection.sendall(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
        return connection.recv(1000).partition(b"\r\n")[0]


def test_one_pod(tmp_path: Path, enrol_to_active: Enrol) -> None:
    with Tool("metal3", tmp_path) as image:
        # The directory has other files as well, which are no configuration.
        (tmp_path / "ironic.conf.orig").write_text("[DEFAULT]\nauth_strategy = keystone\n")
        assert image.version() == "None\n"
        assert image.run("ironic-dbsync", "create_schema")[0] == 0
        image.words = ["--config-dir", str(tmp_path)]
        image.environment |= {"OS_CONDUCTOR__INSPECT_TIMEOUT": "1800", "OS_SENSOR_DATA__INTERVAL": "160"}
        service = image.start("ironic", log="service.log")
        service.await_ready()
        door = tmp_path / "ironic.sock"
        assert probe(door).split(b" ")[1] == b"200"
        assert door.stat().st_mode & 0o777 == 0o666
        image.proxy(door)
        assert requests.get(f"{image.api.url}/v1", timeout=30).status_code == 200
        node = enrol_to_active(image.api, "ipmi")
        assert (node["deploy_interface"], node["network_interface"]) == ("direct", "noop")
        # What a container beside it prints and deletes.
        (logs,) = (tmp_path / "logs").rglob("*.tar.gz")
        assert logs.read_bytes() == LOGS
        service.signal(signal.SIGTERM)
        assert service.end()[0] == 0
        assert "Traceback" not in service.log


def test_pods_of_high_availability(tmp_path: Path, enrol_to_active: Enrol) -> None:
    certificate, key = write_certificate(tmp_path)
    users = tmp_path / "htpasswd-rpc"
    users.write_text(f"ironic:{bcrypt.hashpw(b's3cret', bcrypt.gensalt(4)).decode()}\n")
    ports = [free_port(), free_port()]
    with ExitStack() as stack:
        database = stack.enter_context(empty_database("mariadb", tmp_path))
        pods, services = [], []
        for number, port in enumerate(ports):
            directory = tmp_path / f"pod{number}"
            directory.mkdir()
            pod = stack.enter_context(Tool("metal3", directory, [("rpc_transport = none", "rpc_transport = json-rpc")]))
            with pod.file.open("a") as file:
                file.write(
                    "[json_rpc]\nauth_strategy = http_basic\nusername = ironic\npassword = s3cret\nuse_ssl = true\n"
                    f"http_basic_auth_user_file = {users}\ncafile = {certificate}\nhost_ip = 127.0.0.1\nport = 1\n"
                    f"[ssl]\ncert_file = {certificate}\nkey_file = {key}\n"
                )
            pod.environment |= {
                "OS_JSON_RPC__PORT": str(port),
                "OS_DATABASE__CONNECTION": f"{database}?charset=utf8",
                "OS_CONDUCTOR__HEARTBEAT_INTERVAL": "1",
                "OS_DEFAULT__HASH_RING_RESET_INTERVAL": "1",
            }
            pods.append(pod)
        # The job of the upgrade is repeated until it ends well; each pod may have one.
        assert [pod.run("ironic-dbsync", "upgrade")[0] for pod in pods] == [0, 0]
        assert pods[0].run("ironic-dbsync", "online_data_migrations")[0] == 0
        for pod in pods:
            pod.words = ["--config-dir", str(pod.directory)]
            services.append(pod.start("ironic", log="service.log"))
        for pod, service in zip(pods, services, strict=True):
            service.await_ready()
            pod.proxy(pod.directory / "ironic.sock")
        found = call(pods[0].api, "GET", "/v1/conductors").json()["conductors"]
        assert {each["hostname"] for each in found} == {f"127.0.0.1:{port}" for port in ports}
        # One of the two is asked, whichever the machine belongs to.
        node = enrol_to_active(pods[0].api, "redfish")
        # A conductor leaves, and the other one answers for the machine.
        owner = next(number for number, port in enumerate(ports) if node["conductor"].endswith(f":{port}"))
        services[owner].signal(signal.SIGTERM)
        assert services[owner].end()[0] == 0
        path = f"/v1/nodes/{node['uuid']}/management/boot_device"
        eventually(lambda: call(pods[1 - owner].api, "GET", path).status_code, 200)
        assert all("Traceback" not in service.log and "s3cret" not in service.log for service in services)


def test_a_pod_with_networking(tmp_path: Path) -> None:
    lines = ("enabled_network_interfaces = noop", "enabled_network_interfaces = noop,ironic-networking")
    with Tool("metal3", tmp_path, [lines]) as image:
        assert image.run("ironic-dbsync", "create_schema")[0] == 0
        said = image.refusal("ironic")
        assert "network interface ironic-networking is asked for" in said
        assert "remove it from the option" in said
    assert not (PROGRAMS / "ironic-networking").exists()
