"""Metal3's image: one program, configured by a directory and the environment, behind a web server; several as one."""

import os
import re
import signal
import socket
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import bcrypt
import requests

from ironic.tests.functional.live.asking import ask, call
from ironic.tests.ipmi_bmc import IpmiBmc
from ironic.tests.live_service import PROGRAMS, free_port
from ironic.tests.private_servers import Database
from ironic.tests.redfish_bmc import RedfishBmc, write_certificate
from ironic.tests.scenario.enrolment import LOGS
from ironic.tests.scenario.tools.conftest import Enrol
from ironic.tests.scenario.tools.rendered import Tool, read_only_root
from ironic.tests.site import eventually
from ironic.tests.web_server import WebServer, web_server


def probe(door: Path) -> bytes:
    """Ask for / at the socket as the probe does; return the first line of the answer."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(str(door))
        connection.sendall(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
        return connection.recv(1000).partition(b"\r\n")[0]


IDRAC = {
    "driver": "idrac",
    "boot_interface": "idrac-redfish-virtual-media",
    "driver_info": {
        "redfish_address": "https://192.0.2.3",
        "redfish_system_id": "/redfish/v1/Systems/System.Embedded.1",
        "redfish_username": "root",
        "redfish_password": "calvin",
    },
    **{f"{kind}_interface": "idrac-redfish" for kind in ("bios", "management", "power", "raid", "vendor")},
}


def test_one_pod(tmp_path: Path, enrol_to_active: Enrol, ipmi: IpmiBmc) -> None:
    with Tool("metal3", tmp_path) as image:
        if os.geteuid() == 0:
            image.within = read_only_root(tmp_path)
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
        if image.within:
            status = Path(f"/proc/{service.process_id}/status").read_text()
            assert re.search(r"^Uid:\t997\t997\t997\t997$", status, re.MULTILINE)
        node = enrol_to_active(image.api, "ipmi")
        assert (node["deploy_interface"], node["network_interface"]) == ("direct", "noop")
        # What a container beside it prints and deletes.
        (logs,) = (tmp_path / "logs").rglob("*.tar.gz")
        assert logs.read_bytes() == LOGS
        # A Dell host, as the operator registers it by an address that begins with idrac-virtualmedia://.
        answer = call(image.api, "POST", "/v1/nodes", IDRAC)
        assert (answer.status_code, "idrac" in answer.text) == (400, True), answer.text
        # An image of a registry is refused before the machine is touched.
        before = len(ipmi.calls)
        patch = [{"op": "add", "path": "/instance_info/image_source", "value": "oci://127.0.0.1:5000/os:1"}]
        assert call(image.api, "PATCH", f"/v1/nodes/{node['uuid']}", patch).status_code == 200
        answer = ask(image.api, node["uuid"], "rebuild")
        assert (answer.status_code, "http, https, file" in answer.text) == (400, True), answer.text
        assert not [each for each in ipmi.calls[before:] if "power" in each]
        service.signal(signal.SIGTERM)
        assert service.end()[0] == 0
        assert "Traceback" not in service.log


# A section per way to boot, of which the first `goto` names one, as the image's own template has them.
TEMPLATE = """\
#!ipxe

goto deploy

:deploy
kernel {{ pxe_options.deployment_aki_path }} selinux=0 {{ pxe_options.pxe_append_params|default("", true) }}
initrd {{ pxe_options.deployment_ari_path }}
boot

:boot_ramdisk
{%- if pxe_options.boot_iso_url %}
sanboot {{ pxe_options.boot_iso_url }}
{%- else %}
kernel {{ pxe_options.aki_path }} root=/dev/ram0 {{ pxe_options.ramdisk_opts|default("", true) }}
boot
{%- endif %}

:boot_whole_disk
sanboot --no-describe
"""


def test_without_httpd(tmp_path: Path, ipmi: IpmiBmc, redfish: RedfishBmc, web: WebServer) -> None:
    certificate, key = write_certificate(tmp_path)
    users, template, port = tmp_path / "htpasswd", tmp_path / "ipxe_config.template", free_port()
    users.write_text(f"ironic:{bcrypt.hashpw(b's3cret', bcrypt.gensalt(4)).decode()}\n")
    template.write_text(TEMPLATE)
    (tmp_path / "html").mkdir()
    with ExitStack() as stack:
        # The conductor's own address is one that no BMC reaches.
        outside = stack.enter_context(web_server(tmp_path / "html"))
        lines = [
            ("auth_strategy = noauth", f"auth_strategy = http_basic\nhttp_basic_auth_user_file = {users}"),
            (f"unix_socket = {tmp_path}/ironic.sock", f"host_ip = ::\nport = {port}\nenable_ssl_api = true"),
            ("http_url = http://127.0.0.1:6180", f"http_url = http://[::1]:6180\nexternal_http_url = {outside.url}"),
            ("[auto_discovery]\nenabled = false", "[auto_discovery]\nenabled = true"),
            (
                "ipxe_fallback_script = inspector.ipxe",
                f"ipxe_fallback_script = inspector.ipxe\nipxe_config_template = {template}",
            ),
        ]
        image = stack.enter_context(Tool("metal3", tmp_path, lines))
        with image.file.open("a") as file:
            file.write(f"[ssl]\ncert_file = {certificate}\nkey_file = {key}\n")
        assert image.run("ironic-dbsync", "create_schema")[0] == 0
        service = image.start("ironic", log="service.log")
        service.await_ready()
        url = f"https://[::1]:{port}"
        session = stack.enter_context(requests.Session())
        # Of the environment no authority counts.
        session.trust_env, session.verify = False, certificate
        session.headers["X-OpenStack-Ironic-API-Version"] = "1.115"
        # The probe and the ramdisk have no login, and all else needs one.
        assert session.get(f"{url}/v1", timeout=30).status_code == 200
        assert session.get(f"{url}/v1/nodes", timeout=30).status_code == 401
        report = {
            "inventory": {
                "interfaces": [{"name": "eth0", "mac_address": "52:54:00:00:00:09"}],
                "boot": {"pxe_interface": "52:54:00:00:00:09", "current_boot_mode": "bios"},
                "cpu": {"architecture": "x86_64", "count": 8},
                "memory": {"physical_mb": 4096},
                "bmc_address": "127.0.0.1",
            },
            "error": None,
        }
        answer = session.post(f"{url}/v1/continue_inspection", json=report, timeout=30)
        assert answer.status_code == 200, answer.text
        session.auth = ("ironic", "s3cret")
        (node,) = session.get(f"{url}/v1/nodes", timeout=30).json()["nodes"]
        found = f"{url}/v1/nodes/{node['uuid']}"
        eventually(lambda: session.get(found, timeout=30).json()["properties"].get("cpu_arch"), "x86_64", 10)
        assert session.get(found, timeout=30).json()["driver"] == "ipmi"
        assert len(session.get(f"{found}/ports", timeout=30).json()["ports"]) == 1

        def boots_iso(uuid: str, boot: str, info: Mapping[str, object]) -> None:
            values = {
                "/driver_info": info,
                "/instance_info/boot_iso": f"{web.url}/image.raw",
                "/boot_interface": boot,
                "/deploy_interface": "ramdisk",
                "/automated_clean": False,
            }
            patch = [{"op": "add", "path": field, "value": value} for field, value in values.items()]
            path = f"{url}/v1/nodes/{uuid}"
            assert (answer := session.patch(path, json=patch, timeout=30)).ok, answer.text
            for target, state in (("manage", "manageable"), ("provide", "available"), ("active", "active")):
                moved = session.put(f"{path}/states/provision", json={"target": target}, timeout=30)
                assert moved.ok, moved.text
                eventually(lambda: session.get(path, timeout=30).json()["provision_state"], state)

        boots_iso(node["uuid"], "ipxe", ipmi.driver_info())
        script = (tmp_path / "html" / node["uuid"] / "config").read_text()
        assert re.findall(r"^goto (.+)$", script, re.MULTILINE) == ["boot_ramdisk"]
        assert f"\nsanboot {web.url}/image.raw\n" in script
        made = session.post(f"{url}/v1/nodes", json={"driver": "redfish"}, timeout=30).json()
        boots_iso(made["uuid"], "redfish-virtual-media", redfish.driver_info())
        # The BMC has fetched the image, which only the address for those outside has.
        assert outside.sent
        service.signal(signal.SIGTERM)
        assert service.end()[0] == 0
        assert "Traceback" not in service.log and "s3cret" not in service.log


def test_pods_of_high_availability(tmp_path: Path, enrol_to_active: Enrol) -> None:
    certificate, key = write_certificate(tmp_path)
    users = tmp_path / "htpasswd-rpc"
    users.write_text(f"ironic:{bcrypt.hashpw(b's3cret', bcrypt.gensalt(4)).decode()}\n")
    ports = [free_port(), free_port()]
    names = [f"127.0.0.1:{ports[0]}", f"[::1]:{ports[1]}"]
    database = Database(tmp_path / "database")
    database.certificate = certificate, key
    with ExitStack() as stack:
        database.start()
        stack.callback(database.end)
        pods = []
        for number, (address, port) in enumerate(zip(("127.0.0.1", "::1"), ports, strict=True)):
            directory = tmp_path / f"pod{number}"
            directory.mkdir()
            url_host = names[number].removesuffix(f":{port}")
            lines = [
                ("rpc_transport = none", "rpc_transport = json-rpc"),
                ("host = 127.0.0.1", f"host = {address}"),
                ("my_ip = 127.0.0.1", f"my_ip = {address}"),
                # OpenShift's image renders the address as it is.
                ("http_url = http://127.0.0.1:6180", f"http_url = http://{address}:6180"),
                (
                    f"connection = sqlite:///{directory}/ironic.sqlite",
                    f"connection = mysql+pymysql://root@{url_host}:{database.port}/ironic"
                    f"?charset=utf8&ssl=on&ssl_ca={certificate}",
                ),
            ]
            pod = stack.enter_context(Tool("metal3", directory, lines))
            with pod.file.open("a") as file:
                file.write(
                    "[json_rpc]\nauth_strategy = http_basic\nusername = ironic\npassword = s3cret\nuse_ssl = true\n"
                    f"http_basic_auth_user_file = {users}\ncafile = {certificate}\nhost_ip = {address}\nport = 1\n"
                    f"[ssl]\ncert_file = {certificate}\nkey_file = {key}\n"
                )
            pod.environment |= {
                "OS_JSON_RPC__PORT": str(port),
                "OS_CONDUCTOR__HEARTBEAT_INTERVAL": "1",
                "OS_CONDUCTOR__HEARTBEAT_TIMEOUT": "5",
                "OS_DEFAULT__HASH_RING_RESET_INTERVAL": "1",
            }
            pods.append(pod)
        # The job of the upgrade is repeated until it ends well; each pod may have one.
        assert [pod.run("ironic-dbsync", "upgrade")[0] for pod in pods] == [0, 0]
        assert pods[0].run("ironic-dbsync", "online_data_migrations")[0] == 0
        # A server of another authority is not asked.
        (tmp_path / "other").mkdir()
        other, _ = write_certificate(tmp_path / "other")
        of_others = {
            "OS_DATABASE__CONNECTION": f"{database.url}?charset=utf8&ssl=on&ssl_ca={other}",
            "OS_DATABASE__MAX_RETRIES": "0",
        }
        usual = pods[0].environment
        pods[0].environment = {**usual, **of_others}
        status, printed = pods[0].run("ironic-dbsync", "version")
        assert (status, "certificate verify failed" in printed) == (1, True), printed
        pods[0].environment = usual
        services = []
        for pod in pods:
            pod.words = ["--config-dir", str(pod.directory)]
            services.append(pod.start("ironic", log="service.log"))
        for pod, service in zip(pods, services, strict=True):
            service.await_ready()
            pod.proxy(pod.directory / "ironic.sock")
        found = call(pods[0].api, "GET", "/v1/conductors").json()["conductors"]
        assert {each["hostname"] for each in found} == set(names)
        # One of the two is asked, whichever the machine belongs to.
        node = enrol_to_active(pods[0].api, "redfish")
        path = f"/v1/nodes/{node['uuid']}"
        # The pod of the machine dies, and the other one has it.
        owner = names.index(node["conductor"])
        services[owner].signal(signal.SIGKILL)
        services[owner].end()
        api = pods[1 - owner].api
        eventually(lambda: call(api, "GET", path).json()["conductor"], names[1 - owner])
        assert call(api, "PUT", f"{path}/states/power", {"target": "power off"}).status_code == 202
        eventually(lambda: call(api, "GET", path).json()["power_state"], "power off")
        # It comes back, and the other one leaves in order.
        (pods[owner].directory / "service.log").rename(pods[owner].directory / "killed.log")
        services[owner] = pods[owner].start("ironic", log="service.log")
        services[owner].await_ready()
        services[1 - owner].signal(signal.SIGTERM)
        assert services[1 - owner].end()[0] == 0
        api = pods[owner].api
        eventually(lambda: call(api, "GET", f"{path}/management/boot_device").status_code, 200)
        assert call(api, "GET", path).json()["conductor"] == names[owner]
        assert all("Traceback" not in service.log and "s3cret" not in service.log for service in services)


def test_a_pod_with_networking(tmp_path: Path) -> None:
    lines = ("enabled_network_interfaces = noop", "enabled_network_interfaces = noop,ironic-networking")
    with Tool("metal3", tmp_path, [lines]) as image:
        assert image.run("ironic-dbsync", "create_schema")[0] == 0
        said = image.refusal("ironic")
        assert "network interface ironic-networking is asked for" in said
        assert "remove it from the option" in said
    assert not (PROGRAMS / "ironic-networking").exists()
