"""Which files of the host a file URL leads to, also while links and files are replaced."""

import itertools
import os
import socket
from pathlib import Path

import pytest

from ironic.conf import CONF
from ironic.integrations import host_files
from ironic.integrations.image_cache import Image, ImageCache
from ironic.tests.conftest import Setter
from ironic.tests.live_service import write_options

NODE = "11111111-0000-4000-8000-000000000001"


@pytest.fixture
def images(conf: Setter, tmp_path: Path) -> Path:
    """Return an allowed directory with an image, within the one where the service keeps everything."""
    (tmp_path / "images" / "deep").mkdir(parents=True)
    (tmp_path / "images" / "kernel").write_bytes(b"kernel")
    (tmp_path / "images" / "deep" / "kernel").write_bytes(b"deep")
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "images2").mkdir()
    (tmp_path / "images2" / "kernel").write_bytes(b"beside")
    conf(conductor__file_url_allowed_paths=[str(tmp_path / "images")])
    return tmp_path / "images"


def read(url: str) -> bytes:
    with host_files.open_image(url) as file:
        return file.read()


def refused(url: str, why: str) -> None:
    with pytest.raises(host_files.NotOffered, match=why):
        read(url)
    assert host_files.path_fault(url)


def test_what_is_allowed_is_read(images: Path) -> None:
    (images / "link").symlink_to("deep/kernel")
    spellings = [f"file://{images}/kernel", f"FILE:{images}/kernel", f"file://localhost{images}/%6bernel"]
    assert [read(url) for url in spellings] == [b"kernel"] * 3
    assert [read(f"file://{images}/{name}") for name in ("deep/kernel", "link", "deep/../kernel")] == [
        b"deep",
        b"deep",
        b"kernel",
    ]
    assert host_files.path_fault(spellings[0]) is None


@pytest.mark.parametrize(
    "path",
    ["../secret", "%2e%2e/secret", "..%2fsecret", "deep/../../secret", "../images2/kernel", "link", "away/secret", ""],
)
def test_no_path_leads_out(images: Path, path: str) -> None:
    (images / "link").symlink_to("../secret")
    (images / "away").symlink_to("..")
    refused(f"file://{images}/{path}", "does not allow")


@pytest.mark.parametrize(
    "url", ["file://elsewhere{}/kernel", "file:images/kernel", "file:~/kernel", "{}/kernel", "~/kernel"]
)
def test_only_a_whole_path_of_this_host_names_a_file(images: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.chdir(images.parent)
    monkeypatch.setenv("HOME", str(images))
    refused(url.format(images), "no file:// URL with a whole path")


def test_what_is_no_regular_file_is_refused_without_waiting(images: Path) -> None:
    os.mkfifo(images / "pipe")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(images / "socket"))
    refused(f"file://{images}/pipe", "no regular file")
    refused(f"file://{images}/deep", "no regular file")
    refused(f"file://{images}/socket", "can read")
    refused(f"file://{images}/nothing", "can read")
    refused(f"file://{images}/kernel/x", "can read")


@pytest.mark.parametrize(
    ("swapped", "before", "outcome"),
    [
        ("deep", 1, None),
        ("deep", 2, None),
        # The folder was opened already: what comes from its handle is what was judged.
        ("deep", 3, b"deep"),
        ("deep/kernel", 1, None),
        ("deep/kernel", 2, None),
        ("deep/kernel", 3, None),
    ],
)
def test_a_link_that_is_put_there_meanwhile_is_not_followed(
    images: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: str, before: int, outcome: bytes | None
) -> None:
    """Swap a folder or a file for a link just before the walk opens its first, second or third part."""
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "kernel").write_bytes(b"secret")
    opens, really_open = itertools.count(1), os.open

    def swapping(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if next(opens) == before:
            (images / swapped).rename(tmp_path / "parked")
            (images / swapped).symlink_to(tmp_path / "away" if swapped == "deep" else tmp_path / "away" / "kernel")
        return really_open(path, flags, mode, dir_fd=dir_fd)

    url = f"file://{images}/deep/kernel"
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", swapping)
        if outcome is None:
            with pytest.raises(host_files.NotOffered, match="can read"):
                read(url)
        else:
            assert read(url) == outcome
    assert (images / swapped).is_symlink()
    refused(url, "does not allow")


# Files of the service itself


@pytest.fixture
def house(conf: Setter, tmp_path: Path) -> Path:
    """Return an allowed directory in which the service keeps everything, too."""
    conf(
        conductor__file_url_allowed_paths=[str(tmp_path)],
        state_path=str(tmp_path),
        database__connection=f"sqlite:///{tmp_path}/ironic.sqlite",
        log_dir=str(tmp_path / "log"),
        log_file="ironic.log",
        http_basic_auth_user_file=str(tmp_path / "htpasswd"),
        agent__deploy_logs_local_path=str(tmp_path / "ramdisks"),
        deploy__http_root=str(tmp_path / "web"),
        pxe__tftp_root=str(tmp_path / "tftp"),
        pxe__tftp_master_path=str(tmp_path / "tftp" / "master_images"),
        pxe__instance_master_path=str(tmp_path / "master_images"),
    )
    return tmp_path


OWN = [
    "ironic.sqlite",
    "ironic.sqlite-wal",
    "ironic.sqlite-shm",
    "ironic.sqlite-journal",
    "ironic.sqlite.bak",
    "log/ironic.log",
    "log/ironic.log.1",
    "log/other.log",
    "htpasswd",
    "ramdisks/node.tar.gz",
    "master_images/0123",
    "tftp/master_images/0123",
    f"web/agent_images/{NODE}.0123456789abcdef",
    f"web/vmedia/{NODE}.cdrom.0.iso",
    f"web/{NODE}/config",
    f"tftp/{NODE}/deploy_kernel",
    "web/pxelinux.cfg/52-54-00-00-00-01",
    "tftp/pxelinux.cfg/01-52-54-00-00-00-01",
]


@pytest.mark.parametrize("name", OWN)
def test_a_file_of_the_service_is_no_image_by_any_name(house: Path, name: str) -> None:
    path = house / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"passwords")
    (house / "innocent").symlink_to(path)
    for url in (f"file://{path}", f"file://{house}/innocent", f"file://{house}/./images/%2e%2e/{name}"):
        refused(url, "this service itself|does not allow|can read")


@pytest.mark.parametrize("name", ["ironic.sqlite", "ironic.sqlite-wal", "log/ironic.log", "htpasswd"])
def test_nor_is_a_second_name_of_it(house: Path, name: str) -> None:
    path = house / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"passwords")
    (house / "kernel").hardlink_to(path)
    refused(f"file://{house}/kernel", "this service itself")


@pytest.mark.parametrize(
    "name", ["images/kernel", "kernel", "web/images/kernel", "web/kernel", "tftp/ipa.kernel", "log/a/b"]
)
def test_an_operators_image_beside_them_is_one(house: Path, name: str) -> None:
    (house / name).parent.mkdir(parents=True, exist_ok=True)
    (house / name).write_bytes(b"kernel")
    assert read(f"file://{house}/{name}") == b"kernel"


def test_files_that_the_configuration_names_are_none(tmp_path: Path) -> None:
    (tmp_path / "tls.pem").write_text("key")
    options = {"api": {"key_file": tmp_path / "tls.pem"}, "conductor": {"file_url_allowed_paths": tmp_path}}
    path = write_options(tmp_path / "own.conf", options)
    try:
        CONF([], default_config_files=[str(path)], default_config_dirs=[])
        refused(f"file://{tmp_path}/own.conf", "this service itself")
        refused(f"file://{tmp_path}/tls.pem", "this service itself")
        with pytest.raises(ValueError, match=r"file_url_allowed_paths has .*a directory of their own"):
            host_files.check_roots()
    finally:
        CONF.reset()


@pytest.mark.parametrize("mode, is_linked", [(0o644, True), (0o600, False)])
def test_link_and_copy_come_from_what_was_judged(images: Path, tmp_path: Path, mode: int, is_linked: bool) -> None:
    (images / "kernel").chmod(mode)
    cache = ImageCache(tmp_path / "masters", max_bytes=1 << 20, max_age_seconds=60)
    cache.provide(Image(f"FILE://{images}/kernel"), tmp_path / "target")
    assert (tmp_path / "target").read_bytes() == b"kernel"
    assert (tmp_path / "target").samefile(images / "kernel") is is_linked
    assert (images / "kernel").stat().st_mode & 0o777 == mode


def test_a_cache_is_private_and_what_is_offered_from_it_is_not(images: Path, tmp_path: Path) -> None:
    (tmp_path / "masters").mkdir(mode=0o755)
    (images / "kernel").chmod(0o600)  # so that it is copied
    cache = ImageCache(tmp_path / "masters", max_bytes=1 << 20, max_age_seconds=60)
    cache.provide(Image(f"file://{images}/kernel"), tmp_path / "target")
    assert (tmp_path / "masters").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "target").stat().st_mode & 0o777 == 0o644


def test_a_default_that_has_secrets_below_it_is_warned_of(house: Path, caplog: pytest.LogCaptureFixture) -> None:
    host_files.check_roots()
    assert f"{house}/ironic.sqlite ([database]connection)" in caplog.text
    assert "[conductor]file_url_allowed_paths" in caplog.text


@pytest.mark.parametrize("name", ["master_images", "tftp/master_images/deep", "web/agent_images", "web/pxelinux.cfg"])
def test_directories_of_images_of_nodes_are_never_allowed(conf: Setter, house: Path, name: str) -> None:
    conf(conductor__file_url_allowed_paths=[str(house / name)])
    with pytest.raises(ValueError, match="uses for images of nodes"):
        host_files.check_roots()


def test_a_directory_of_its_own_is_fine(conf: Setter, house: Path, caplog: pytest.LogCaptureFixture) -> None:
    conf(conductor__file_url_allowed_paths=[str(house / "images"), str(house / "web"), str(house / "log" / "images")])
    host_files.check_roots()
    assert caplog.text == ""


def test_a_database_that_is_named_by_a_url_in_the_url_is_known(conf: Setter, house: Path) -> None:
    conf(database__connection=f"sqlite:///file:{house}/ironic.sqlite?mode=rwc&uri=true")
    (house / "ironic.sqlite").write_bytes(b"passwords")
    refused(f"file://{house}/ironic.sqlite", "this service itself")
