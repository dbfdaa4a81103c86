"""The images of etc/container: built by buildah of a local Debian, and run by podman with nothing but their volume."""

import json
import platform
import socket
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from ironic.conf import CONF
from ironic.conf.release import release
from ironic.tests.repository import ROOT
from ironic.tests.scenario.packages.images import Images

pytestmark = pytest.mark.packages

SERVICE, SCREEN = "localhost/ironic", "localhost/ironic-screen"


@pytest.fixture(scope="module", autouse=True)
def screen(images: Images) -> None:
    images.build("screen/Containerfile", SCREEN)


def config(images: Images, name: str) -> dict:
    return json.loads(images.podman("inspect", "--type", "image", name))[0]


def wait_until(holds: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it has not come to pass"
        time.sleep(0.3)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("name", [SERVICE, SCREEN])
def test_an_image_has_a_user_a_health_check_and_no_tools_of_its_build(images: Images, name: str) -> None:
    found = config(images, name)
    assert found["User"] == "997:994"
    assert found["Healthcheck"]["Test"]
    command = "ls /wheels /pip /usr/bin/gcc 2> /dev/null; id -un"
    inside = images.podman("run", "--rm", "--network=none", name, "sh", "-c", command)
    assert inside in ("ironic", "screen")


def test_every_program_is_in_the_path_of_the_image_and_of_its_release(images: Images) -> None:
    programs = ("ironic", "ironic-api", "ironic-conductor", "ironic-novncproxy", "ironic-dbsync", "ironic-pxe-filter")
    command = " && ".join(f"/usr/bin/{program} --version" for program in programs)
    words = ("--rm", "--read-only", "--network=none", SERVICE, "sh", "-c", command)
    assert images.podman("run", *words).split() == [release()] * len(programs)


def test_the_image_has_what_makes_boot_images(images: Images) -> None:
    files = [CONF.efi_boot_program_by_arch[platform.machine()], CONF.isolinux_bin, CONF.ldlinux_c32]
    command = f"ls {' '.join(files)}; ls /usr/bin/mformat /usr/bin/mmd /usr/bin/mcopy /usr/bin/qemu-img"
    images.podman("run", "--rm", "--read-only", "--network=none", SERVICE, "sh", "-ec", command)


def test_the_service_runs_with_a_root_that_is_only_read(images: Images) -> None:
    port, files = free_port(), free_port()
    options = {"OS_API__PORT": port, "OS_API__HOST_IP": "127.0.0.1", "OS_DEFAULT__MY_IP": "127.0.0.1"}
    options |= {"OS_DEPLOY__HTTP_SERVER_PORT": files, "OS_DEFAULT__AUTH_STRATEGY": "noauth"}
    options |= {"OS_DEFAULT__RPC_TRANSPORT": "none", "OS_DEFAULT__ENABLED_HARDWARE_TYPES": "redfish,ipmi"}
    options |= {"OS_DEFAULT__ENABLED_BOOT_INTERFACES": "redfish-virtual-media,ipxe"}
    words = [word for name, value in options.items() for word in ("--env", f"{name}={value}")]
    words += ["--volume", "state:/var/lib/ironic"]
    schema = ("--rm", "--read-only", "--network=none", *words)
    images.podman("run", *schema, SERVICE, "ironic-dbsync", "upgrade")
    images.start("all-in-one", SERVICE, *words, "ironic")
    url = f"http://127.0.0.1:{port}"

    def serves() -> bool:
        try:
            return bool(urllib.request.urlopen(f"{url}/", timeout=5).status == 200)
        except OSError:
            return False

    try:
        wait_until(serves)
    except AssertionError:
        pytest.fail(images.podman("logs", "all-in-one"))
    asked = urllib.request.Request(f"{url}/v1/conductors", headers={"X-OpenStack-Ironic-API-Version": "1.49"})
    conductors = json.loads(urllib.request.urlopen(asked, timeout=10).read())["conductors"]
    assert [one["alive"] for one in conductors] == [True]
    assert images.podman("exec", "all-in-one", "ironic-health", f"{url}/") == ""
    with pytest.raises(AssertionError, match="does not answer"):
        images.podman("exec", "all-in-one", "ironic-health", f"http://127.0.0.1:{free_port()}/")
    with pytest.raises(AssertionError, match="Read-only file system"):
        images.podman("exec", "all-in-one", "touch", "/opt/ironic/written")
    assert images.written("all-in-one") == set()
    images.podman("stop", "--time", "60", "all-in-one")
    assert images.podman("inspect", "--format", "{{.State.ExitCode}}", "all-in-one") == "0"


@pytest.mark.parametrize(("read_only", "info"), [("False", {"node_uuid": "rack1-07"}), ("True", {})])
def test_a_screen_speaks_vnc(images: Images, read_only: str, info: dict) -> None:
    name = f"screen-{read_only}"
    environment = {"APP": "fake", "APP_INFO": json.dumps(info), "READ_ONLY": read_only}
    words = [word for key, value in environment.items() for word in ("--env", f"{key}={value}")]
    images.start(name, SCREEN, *words, "show")

    def healthy() -> bool:
        try:
            return images.podman("exec", name, "show", "--health") == ""
        except AssertionError:
            return False

    wait_until(healthy)
    # As often as it is asked, the next viewer is let in.
    for _ in range(12):
        images.podman("healthcheck", "run", name)
    with socket.create_connection(("127.0.0.1", 5900), timeout=5) as connection:
        assert connection.recv(12) == b"RFB 003.008\n"
        connection.sendall(b"RFB 003.008\n")
        # One kind of login, which is none.
        assert connection.recv(2) == bytes((1, 1))
    assert images.written(name) == set()
    images.podman("rm", "--force", "--time", "0", name)


def test_a_screen_shows_the_page_of_a_bmc_in_a_browser(images: Images, tmp_path: Path) -> None:
    port = free_port()
    requests: list[str] = []
    with socket.create_server(("127.0.0.1", port)) as bmc:
        bmc.settimeout(90)
        environment = {"APP": "redfish-graphical", "APP_INFO": json.dumps({"address": f"http://127.0.0.1:{port}"})}
        words = [word for key, value in environment.items() for word in ("--env", f"{key}={value}")]
        images.start("browser", SCREEN, *words, "show")
        try:
            connection, _ = bmc.accept()
        except TimeoutError:
            pytest.fail(images.podman("logs", "browser"))
        with connection:
            requests.append(connection.recv(4000).decode())
    images.podman("rm", "--force", "--time", "0", "browser")
    assert requests[0].startswith("GET / HTTP/1.1") and "Chrome" in requests[0]


def headless(images: Images, policies: str, url: str, *words: str) -> str:
    """Return what the browser of the screen makes of a page, with policies in the place of those of the image."""
    mounts = ("--tmpfs=/tmp", policies) if policies else ("--tmpfs=/tmp",)
    command = "timeout 20 chromium --headless --no-sandbox --disable-dev-shm-usage --user-data-dir=/tmp/browser"
    said = f"{command} {' '.join(words)} '{url}' 2>&1; true"
    hardened = ("--rm", "--read-only", "--cap-drop=all", "--network=none", "--env=HOME=/tmp", *mounts)
    return images.podman("run", *hardened, SCREEN, "sh", "-c", said)


def test_the_browser_of_a_screen_opens_no_file(images: Images, tmp_path: Path) -> None:
    policy = json.loads((ROOT / "etc" / "container" / "screen" / "policy.json").read_text())
    # That of the image forbids the page by which the browser prints another one.
    blocked = [pattern for pattern in policy["URLBlocklist"] if pattern != "chrome://*"]
    shorter = tmp_path / "shorter.json"
    shorter.write_text(json.dumps({"URLBlocklist": blocked}))
    shorter.chmod(0o644)
    none = "--tmpfs=/etc/chromium/policies:notmpcopyup"
    files = f"--volume={shorter}:/etc/chromium/policies/managed/screen.json:ro"
    assert "root:x:0" in headless(images, none, "file:///etc/passwd", "--dump-dom")
    assert "root:x:0" not in headless(images, files, "file:///etc/passwd", "--dump-dom")
    assert "<p>seen" in headless(images, files, "data:text/html,<p>seen", "--dump-dom")
    # The whole file of the image is read, and has no name that the browser does not know.
    refused = "disallowed by the system admin"
    assert refused not in headless(images, files, "about:blank", "--remote-debugging-port=0")
    assert refused in headless(images, "", "about:blank", "--remote-debugging-port=0")
    found = f"grep -aoFwe {' -e '.join(policy)} /usr/lib/chromium/chromium | sort -u"
    assert images.podman("run", "--rm", "--network=none", SCREEN, "sh", "-c", found).split() == sorted(policy)


def test_a_screen_refuses_what_it_does_not_have(images: Images) -> None:
    with pytest.raises(AssertionError, match="shows redfish-graphical and fake"):
        images.podman("run", "--rm", "--network=none", "--env", "APP=other", SCREEN)
    with pytest.raises(AssertionError, match="has no address"):
        images.podman("run", "--rm", "--network=none", "--env", "APP=redfish-graphical", SCREEN)
