"""What goes wrong at the URL of an image that a project names is told in one text, with a reference to the log."""

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ironic.conf import CONF
from ironic.core.errors import IronicError
from ironic.drivers.modules.agent import config_drive, deployment_image
from ironic.drivers.modules.netboot import kernel_and_ramdisk
from ironic.drivers.modules.redfish.orders import firmware_images
from ironic.integrations import virtual_media_images
from ironic.integrations.hidden_faults import NO_IMAGE
from ironic.integrations.image_cache import ImageCache
from ironic.tests.live_service import free_port
from ironic.tests.unit.drivers.machine import work_on

REFERENCE = re.compile(r" \(reference ([0-9a-f]{8})\)")
OWNERS: list[dict[str, Any]] = [{"owner": "p"}, {"lessee": "p"}]
ANSWERS = {
    "not found": b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
    "forbidden": b"HTTP/1.1 403 No\r\nContent-Length: 3\r\n\r\nNo!",
    "fault": b"HTTP/1.1 500 Fault\r\nContent-Length: 3\r\n\r\nNo!",
    "no HTTP": b"SSH-2.0-OpenSSH_9.0\r\n",
    "broken off": b"HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\nab",
    "to another scheme": b"HTTP/1.1 302 Found\r\nLocation: ftp://x/\r\nContent-Length: 0\r\n\r\n",
    "to a refused address": b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n",
    "hung up": b"",
}


@contextmanager
def answering(answer: bytes | None) -> Iterator[str]:
    """Answer each request with these bytes, None with nothing at all; return the URL of a file there."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    taken, _ = server.accept()
                except OSError:
                    return
                with taken:
                    taken.settimeout(5)
                    taken.recv(65536)
                    taken.sendall(answer or b"")

        thread = threading.Thread(target=serve, daemon=True)
        if answer is not None:
            thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/file.img"
        server.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def faulty(conf: Callable[..., None], tmp_path: Path) -> Iterator[list[str]]:
    """Return URLs with a fault each."""
    conf(
        webserver_connection_timeout=1,
        outgoing__allow_loopback=True,
        deploy__http_root=str(tmp_path / "http"),
        deploy__http_url="http://192.0.2.1",
        pxe__tftp_master_path=str(tmp_path / "master"),
    )
    with ExitStack() as stack:
        urls = [stack.enter_context(answering(answer)) for answer in (*ANSWERS.values(), None)]
        plain = urls[0].replace("http:", "https:")
        yield [*urls, plain, f"http://127.0.0.1:{free_port()}/file.img", "http://no-such-name.invalid/file.img"]


def _config_drive(node: Any, url: str) -> None:
    node.instance_info = {"configdrive": url}
    config_drive.config_drive_image(node)


def _checksum(node: Any, url: str) -> None:
    node.instance_info = {"image_source": "http://127.0.0.1/x", "image_checksum": url}
    deployment_image.given_checksum(node, "http://127.0.0.1/x")


def _virtual_media(node: Any, url: str) -> None:
    virtual_media_images.published(node, "cdrom", url, "local")


def _firmware(node: Any, url: str) -> None:
    firmware_images.stage(node, {"url": url, "source": "local"})


def _kernel(node: Any, url: str) -> None:
    node.instance_info = {"kernel": url, "ramdisk": url}
    image = kernel_and_ramdisk.of_instance(node).kernel
    ImageCache.from_conf(str(Path(CONF.pxe.tftp_master_path))).provide(image, Path("/nowhere"))


def told(use: Callable[[Any, str], None], url: str, **owner: Any) -> str:
    """Return what users read of a fault at a URL, without what the URL itself says."""
    node = work_on(**owner).node
    with pytest.raises(IronicError) as failed:
        use(node, url)
    text = str(failed.value).replace(str(node.uuid), "NODE")
    return text.replace("no-such-name.invalid", "HOST").replace("127.0.0.1", "HOST")


USES = [_config_drive, _checksum, _virtual_media, _firmware, _kernel]


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("use", USES)
def test_all_faults_at_a_url_of_a_project_have_one_text(
    faulty: list[str], use: Callable[[Any, str], None], owner: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    texts = [told(use, url, **owner) for url in faulty]
    assert len({REFERENCE.sub("", text) for text in texts}) == 1
    assert NO_IMAGE in texts[0]
    references = [REFERENCE.findall(text) for text in texts]
    assert all(len(found) == 1 and f"(reference {found[0]}): " in caplog.text for found in references)
    assert len({found[0] for found in references}) == len(faulty)
    # The log tells them apart.
    assert "status 404" in caplog.text
    assert "Connection refused" in caplog.text


@pytest.mark.parametrize("use", USES)
def test_an_operator_reads_what_went_wrong(faulty: list[str], use: Callable[[Any, str], None]) -> None:
    assert "status 404" in told(use, faulty[0])
    assert len({told(use, url) for url in faulty}) > 5


def test_the_images_of_options_are_the_operator_s(conf: Callable[..., None]) -> None:
    conf(conductor__deploy_kernel="http://127.0.0.1/k", conductor__deploy_ramdisk="http://127.0.0.1/r")
    node = work_on(owner="p").node
    assert not kernel_and_ramdisk.find_ramdisk(node, "deploy").kernel.by_project
    node.driver_info = {"deploy_kernel": "http://127.0.0.1/k", "deploy_ramdisk": "http://127.0.0.1/r"}
    assert kernel_and_ramdisk.find_ramdisk(node, "deploy").kernel.by_project
