"""Copies of images for virtual drives, fetched from a web server that runs here."""

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, IronicError
from ironic.integrations import virtual_media_images

NODE, OTHER = "11111111-0000-4000-8000-000000000001", "11111111-0000-4000-8000-000000000002"


def machine(uuid: str = NODE, **driver_info: Any) -> Any:
    return SimpleNamespace(uuid=uuid, driver_info=driver_info, owner=None, lessee=None)


IMAGE = b"an image" * 300_000


class _Images(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if "missing" in self.path:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(IMAGE)))
        self.end_headers()
        self.wfile.write(IMAGE if "short" not in self.path else IMAGE[:100])

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Images)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def root(conf: Any, tmp_path: Path) -> Path:
    conf(deploy__http_root=str(tmp_path), deploy__http_url="http://192.0.2.1:8080/", webserver_connection_timeout=5)
    return tmp_path


def copies(root: Path) -> list[Path]:
    return sorted((root / "vmedia").iterdir()) if (root / "vmedia").exists() else []


def test_a_copy_is_offered_under_a_name_that_nobody_guesses(web: str, root: Path) -> None:
    url = virtual_media_images.published(machine(), "cdrom", f"http://{web}/dir/x.ISO?token=1", "local")
    (copy,) = copies(root)
    assert copy.read_bytes() == IMAGE
    assert url == f"http://192.0.2.1:8080/vmedia/{copy.name}"
    assert copy.name.startswith(f"{NODE}.cdrom.") and copy.name.endswith(".iso")
    assert len(copy.name) > len(f"{NODE}.cdrom..iso") + 12


def test_a_drive_has_one_copy_and_loses_it_when_it_is_emptied(web: str, root: Path) -> None:
    for drive in ("cdrom", "cdrom", "floppy"):
        virtual_media_images.published(machine(), drive, f"http://{web}/x", "local")
    virtual_media_images.published(machine(OTHER), "cdrom", f"http://{web}/x", "local")
    assert len(copies(root)) == 3
    virtual_media_images.withdraw(NODE, ["cdrom"])
    assert [path.name.split(".")[:2] for path in copies(root)] == [[NODE, "floppy"], [OTHER, "cdrom"]]
    virtual_media_images.withdraw(NODE)
    assert [path.name.split(".")[0] for path in copies(root)] == [OTHER]
    virtual_media_images.withdraw("33333333-0000-4000-8000-000000000003")


@pytest.mark.parametrize(
    "url, source",
    [("http://192.0.2.9/x.iso", "http"), ("nfs://192.0.2.9/x.iso", "http"), ("smb://192.0.2.9/x", "http")],
)
def test_what_the_bmc_can_fetch_itself_is_not_copied(root: Path, url: str, source: str) -> None:
    assert virtual_media_images.published(machine(), "cdrom", url, source) == url
    assert copies(root) == []


@pytest.mark.parametrize("path", ["missing", "short"])
def test_an_image_that_can_not_be_fetched_leaves_nothing_behind(web: str, root: Path, path: str, caplog: Any) -> None:
    with pytest.raises(IronicError) as raised:
        virtual_media_images.published(machine(), "cdrom", f"http://user:hunter2@{web}/{path}", "local")
    assert copies(root) == []
    assert "127.0.0.1" in str(raised.value)
    assert "hunter2" not in str(raised.value) + caplog.text


def test_a_server_that_is_not_there_is_said_so(root: Path) -> None:
    with pytest.raises(IronicError, match="Connection refused"):
        virtual_media_images.published(machine(), "cdrom", "http://127.0.0.1:9/x", "local")


def test_an_image_has_an_end_in_bytes(conf: Any, web: str, root: Path) -> None:
    conf(outgoing__download_max_size=1)
    with pytest.raises(IronicError, match="larger than 1048576 bytes"):
        virtual_media_images.published(machine(), "cdrom", f"http://{web}/x", "local")
    assert copies(root) == []


def test_what_a_killed_service_had_begun_to_fetch_goes_with_the_rest(root: Path) -> None:
    (root / "vmedia").mkdir()
    for drive in ("cdrom", "floppy"):
        (root / "vmedia" / f".{NODE}.{drive}.0123456789abcdef.iso.part").write_bytes(b"half")
    virtual_media_images.withdraw(NODE, ["cdrom"])
    assert [path.name.split(".")[2] for path in copies(root)] == ["floppy"]
    virtual_media_images.withdraw(NODE)
    assert copies(root) == []


def test_copies_need_a_web_server(conf: Any, root: Path) -> None:
    virtual_media_images.check(machine(), "http://192.0.2.9/x", "local")
    conf(deploy__http_url=None)
    virtual_media_images.check(machine(), "http://192.0.2.9/x", "http")
    with pytest.raises(InvalidParameterValue, match=r"\[deploy\]http_url"):
        virtual_media_images.check(machine(), "http://192.0.2.9/x", "local")


@pytest.mark.parametrize("url", ["http://[x", "https://", "http://a:b/", "http:///x"])
@pytest.mark.parametrize("source", virtual_media_images.SOURCES)
def test_a_url_that_is_none_is_refused_at_once(root: Path, url: str, source: str) -> None:
    with pytest.raises(InvalidParameterValue, match="does not name a web server"):
        virtual_media_images.check(machine(), url, source)


@pytest.mark.parametrize("url", ["http://169.254.169.254/x", "http://0.0.0.0/x", "http://[::ffff:a9fe:a9fe]/x"])
def test_no_copy_is_made_of_what_is_out_of_reach(root: Path, url: str) -> None:
    with pytest.raises(IronicError, match="its address is"):
        virtual_media_images.published(machine(), "cdrom", url, "local")
    assert copies(root) == []


@pytest.mark.parametrize(
    "url, seen",
    [
        (f"http://192.0.2.1/vmedia/{NODE}.boot.0123456789abcdef.iso", "http://192.0.2.1/vmedia/******"),
        (f"http://192.0.2.1/x/vmedia/{NODE}.settings.01.img", "http://192.0.2.1/x/vmedia/******"),
        (f"http://192.0.2.1/vmedia/{NODE}.cdrom.01.iso", f"http://192.0.2.1/vmedia/{NODE}.cdrom.01.iso"),
        ("http://192.0.2.1/vmedia/tools.boot.iso", "http://192.0.2.1/vmedia/tools.boot.iso"),
        ("nfs://192.0.2.1/x", "nfs://192.0.2.1/x"),
        ("", ""),
    ],
)
def test_a_user_does_not_see_the_name_of_a_boot_image(url: str, seen: str) -> None:
    assert virtual_media_images.shown(url) == seen


@pytest.mark.parametrize("scheme", ["nfs", "cifs", "smb"])
def test_an_image_on_a_share_is_for_the_bmc_itself(root: Path, scheme: str) -> None:
    virtual_media_images.check(machine(), f"{scheme}://192.0.2.9/x", "http")
    with pytest.raises(InvalidParameterValue, match="image_download_source http"):
        virtual_media_images.check(machine(), f"{scheme}://192.0.2.9/x", "local")
    with pytest.raises(InvalidParameterValue, match="does not name a server"):
        virtual_media_images.check(machine(), f"{scheme}:///x", "http")
