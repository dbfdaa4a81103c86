"""Images that go through this host: fetched once, looked into, made raw, offered while a node needs them."""

import base64
import hashlib
import io
import os
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pycdlib
import pytest

from ironic.conductor.housekeeping import ImageCacheCleanup
from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import (
    BootImageFailed,
    ImageConvertFailed,
    ImageUnacceptable,
    InsufficientDiskSpace,
    InsufficientMemory,
)
from ironic.core.flows import states
from ironic.drivers.modules.agent import deployment_image, host_memory, published_images
from ironic.integrations import host_files, image_formats
from ironic.integrations.image_cache import ImageCache
from ironic.tests.functional.agent.conftest import beat
from ironic.tests.functional.agent.test_direct import deploying
from ironic.tests.unit.drivers.machine import Machine
from ironic.tests.web_server import WebServer, web_server

CONTENT = b"a small system" * 5000
SUM = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def web(tmp_path) -> Iterator[WebServer]:
    (tmp_path / "web").mkdir()
    with web_server(tmp_path / "web") as running:
        yield running


@pytest.fixture
def here(conf, tmp_path) -> Path:
    """Have images go through this host; return the directory that is offered."""
    conf(deploy__http_root=str(tmp_path / "www"), deploy__http_url="http://here/", agent__image_download_source="local")
    conf(pxe__instance_master_path=str(tmp_path / "masters"), conductor__file_url_allowed_paths=[str(tmp_path / "web")])
    return Path(tmp_path / "www/agent_images")


Make = Callable[..., str]


@pytest.fixture
def make(web: WebServer) -> Make:
    """Return a function that puts an image on the web server and returns its checksum."""

    def image(name: str, form: str = "raw", *options: str) -> str:
        path = web.directory / name
        raw = path.with_suffix(".content")
        raw.write_bytes(CONTENT)
        if form == "raw":
            raw.rename(path)
        elif options:
            subprocess.run(["qemu-img", "create", "-q", "-f", form, *options, str(path), "1M"], check=True)
        else:
            subprocess.run(["qemu-img", "convert", "-f", "raw", "-O", form, str(raw), str(path)], check=True)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    return image


def node_with(url: str, **info: Any) -> Machine:
    return Machine(instance_info={"image_source": url, **info})


def told(node: Machine) -> dict[str, Any]:
    """Prepare the image as a deployment does; return the data that the agent gets."""
    deployment_image.check_image(node)
    deployment_image.prepare_image(node)
    return deployment_image.image_info_of(node)


def test_an_image_is_fetched_once_and_offered_while_it_is_needed(web, here, make):
    info = {"image_checksum": make("a.raw"), "image_disk_format": "raw"}
    first, second = node_with(f"{web.url}/a.raw", **info), node_with(f"{web.url}/a.raw", **info)
    second.uuid = "11111111-0000-4000-8000-000000000001"
    names = []
    for node in (first, second):
        found = told(node)
        assert (found["disk_format"], found["os_hash_algo"], found["os_hash_value"]) == ("raw", "sha256", SUM)
        place, _, name = found["urls"][0].rpartition("/")
        assert (place, name.partition(".")[0]) == ("http://here/agent_images", node.uuid)
        assert (here / name).read_bytes() == CONTENT
        names.append(name)
    assert web.sent == ["/a.raw"]
    deployment_image.withdraw_image(first)
    assert [path.name for path in here.iterdir()] == names[1:]
    assert "agent_image_info" not in first.driver_internal_info


@pytest.mark.parametrize("kept", [True, False])
def test_an_image_is_made_ready_where_the_operator_wants_it(web, here, make, conf, tmp_path, kept):
    own = tmp_path / "images"
    conf(pxe__images_path=str(own), **({} if kept else {"pxe__instance_master_path": ""}))
    node, sums = Machine(), {"os_hash_algo": "sha256", "os_hash_value": make("a", "qcow2")}
    urls: Any = published_images.publish(node, f"{web.url}/a", sums)["urls"]
    (ready,) = own.iterdir()
    offered = here / ready.name
    assert urls[0].endswith(f"/{ready.name}") and offered.samefile(ready)
    assert host_files.is_secret_or_cached(os.path.realpath(ready))
    assert own.stat().st_mode & 0o077 == 0
    published_images.withdraw(node)
    assert not offered.exists() and not list(own.iterdir())


def test_preparing_again_offers_no_second_copy(web, here, make):
    node = node_with(f"{web.url}/a.raw", image_checksum=make("a.raw"))
    assert told(node)["urls"] != told(node)["urls"]
    assert len(list(here.iterdir())) == 1


@pytest.mark.parametrize("form", ["qcow2", "vmdk"])
def test_an_image_is_made_raw(web, here, make, conf, form):
    conf(conductor__permitted_image_formats=["raw", form])
    found = told(node_with(f"{web.url}/a", image_checksum=make("a", form), image_disk_format=form))
    (offered,) = here.iterdir()
    assert offered.read_bytes().startswith(CONTENT)
    assert found["disk_format"] == "raw"
    assert found["os_hash_value"] == found["checksum"] == hashlib.sha256(offered.read_bytes()).hexdigest()


@pytest.mark.parametrize("called", [None, "raw", "ami", "gpt"])
def test_what_is_written_byte_by_byte_goes_by_several_names(web, here, make, called):
    found = told(node_with(f"{web.url}/a", image_checksum=make("a"), image_disk_format=called))
    assert (found["disk_format"], found["os_hash_value"]) == ("raw", SUM)


def test_an_image_stays_as_it_is_where_that_is_wanted(web, here, make, conf):
    conf(force_raw_images=False)
    value = make("a", "qcow2")
    found = told(node_with(f"{web.url}/a", image_checksum=value))
    assert (found["disk_format"], found["os_hash_value"]) == ("qcow2", value)


@pytest.mark.parametrize("form, options, called, fault", [
    ("qcow2", ("-b", "/etc/passwd", "-F", "raw"), "qcow2", "not safe.*backing"),
    ("qcow2", ("-o", "data_file={web}/data"), "qcow2", "not safe.*data_file"),
    ("qcow2", (), "raw", "qcow2 although it is called raw"),
    ("qcow2", (), "ami", "qcow2 although it is called ami"),
    ("raw", (), "qcow2", "raw although it is called qcow2"),
    ("vmdk", (), "vmdk", "permitted_image_formats"),
])  # fmt: skip
def test_an_image_that_is_not_what_it_should_be_is_refused(web, here, make, form, options, called, fault):
    value = make("a", form, *(option.format(web=web.directory) for option in options))
    node = node_with(f"{web.url}/a", image_checksum=value, image_disk_format=called)
    with pytest.raises(ImageUnacceptable, match=fault):
        told(node)
    assert not list(here.iterdir())


def test_looking_into_images_can_be_switched_off(web, here, make, conf):
    conf(conductor__disable_deep_image_inspection=True)
    found = told(node_with(f"{web.url}/a", image_checksum=make("a", "qcow2"), image_disk_format="raw"))
    assert found["disk_format"] == "raw"


@pytest.mark.parametrize("sums", [
    {"image_checksum": "0" * 64},
    {"image_checksum": "0" * 32},
    {"image_os_hash_algo": "sha3_256", "image_os_hash_value": SUM},
])  # fmt: skip
def test_an_image_with_another_checksum_is_refused(web, here, make, sums):
    make("a.raw")
    with pytest.raises(BootImageFailed, match="checksum"):
        told(node_with(f"{web.url}/a.raw", **sums))
    assert not list(here.iterdir())


@pytest.mark.parametrize("algorithm", ["md5", "sha256", "sha384", "sha512", "sha3_256", "sha3_512"])
def test_every_algorithm_is_checked(web, here, make, algorithm):
    make("a.raw")
    value = hashlib.new(algorithm, CONTENT).hexdigest()
    found = told(node_with(f"{web.url}/a.raw", image_os_hash_algo=algorithm, image_os_hash_value=value))
    assert (found["os_hash_algo"], found["os_hash_value"]) == ("sha256", SUM)


def test_all_images_go_through_this_host_where_they_are_all_looked_into(web, here, make, conf):
    conf(agent__image_download_source="http", conductor__conductor_always_validates_images=True)
    assert told(node_with(f"{web.url}/a.raw", image_checksum=make("a.raw")))["urls"][0].startswith("http://here/")


@pytest.mark.parametrize("source, goes", [("local", True), ("http", False), ("swift", False)])
def test_a_node_may_say_who_hands_it_over(web, here, make, source, goes):
    node = node_with(f"{web.url}/a.raw", image_checksum=make("a.raw"))
    node.driver_info["image_download_source"] = source
    assert told(node)["urls"][0].startswith("http://here/") is goes


def test_an_image_that_can_not_be_offered_is_refused_at_once(web, here, make, conf):
    conf(deploy__http_url=None)
    with pytest.raises(InvalidParameterValue, match="http_url"):
        deployment_image.check_image(node_with(f"{web.url}/a.raw", image_checksum=make("a.raw")))


@pytest.mark.parametrize("options, gets", [
    ({}, False),
    ({"image_server_auth_permit_unknown_hosts": True}, True),
    ({"image_server_auth_hosts": ["127.0.0.1"]}, True),
])  # fmt: skip
def test_servers_are_shown_credentials_where_they_may_be(web, here, make, conf, options, gets):
    web.login = "Basic " + base64.b64encode(b"kim:canary").decode()
    node = node_with(f"{web.url}/a.raw", image_checksum=make("a.raw"))
    with pytest.raises(BootImageFailed, match="401"):
        told(node)
    conf(deploy__image_server_auth_strategy="http_basic", deploy__image_server_user="kim")
    conf(deploy__image_server_password="canary", **{f"deploy__{name}": value for name, value in options.items()})
    if gets:
        assert "canary" not in str(told(node))
    else:
        with pytest.raises(BootImageFailed, match="401"):
            told(node)


def test_many_machines_at_once_have_it_fetched_once(web, here, make):
    info = {"image_checksum": make("a", "qcow2"), "image_disk_format": "qcow2"}
    nodes = [node_with(f"{web.url}/a", **info) for _ in range(8)]
    for number, node in enumerate(nodes):
        node.uuid = f"11111111-0000-4000-8000-{number:012}"
    with ThreadPoolExecutor(len(nodes)) as pool:
        found = list(pool.map(told, nodes))
    assert len({each["os_hash_value"] for each in found}) == 1
    assert (web.sent, len(list(here.iterdir()))) == (["/a"], 8)


def test_kept_images_are_bounded_and_those_in_use_stay(web, here, make, conf, tmp_path, bench):
    def kept() -> int:
        return len(list((tmp_path / "masters").glob("[!.]*")))

    nodes = [node_with(f"{web.url}/{name}", image_checksum=make(name)) for name in ("a", "b")]
    for node in nodes:
        told(node)
    nodes[1].uuid = "11111111-0000-4000-8000-000000000001"
    told(nodes[0])
    conf(pxe__image_cache_size=0)
    ImageCache.from_conf(str(tmp_path / "masters")).trim()
    assert kept() == 1
    deployment_image.withdraw_image(nodes[0])
    ImageCacheCleanup(bench.store)()
    assert kept() == 0


# Images in files of this host


def test_an_image_in_a_file_needs_no_checksum(bench, agent, here, web, make, conf):
    conf(agent__image_download_source="http")
    make("a b.raw")
    none: dict[str, Any] = {"image_os_hash_algo": None, "image_os_hash_value": None, "image_checksum": None}
    uuid = deploying(bench, agent, info={"image_source": f"file://{web.directory}/a%20b.raw", **none})
    beat(bench, agent, uuid)
    assert agent.received[-1][1]["step"]["args"]["image_info"]["os_hash_value"] == SUM
    (offered,) = here.iterdir()
    assert offered.read_bytes() == CONTENT
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.ACTIVE
    assert not list(here.iterdir())


def test_a_failed_deployment_offers_its_image_no_longer(bench, agent, here, web, make):
    sums = {"image_checksum": make("a.raw"), "image_os_hash_algo": None, "image_os_hash_value": None}
    uuid = deploying(bench, agent, info={"image_source": f"file://{web.directory}/a.raw", **sums})
    beat(bench, agent, uuid)
    assert list(here.iterdir())
    agent.end("FAILED", error="no disk")
    assert beat(bench, agent, uuid)[0] == states.DEPLOYFAIL
    assert not list(here.iterdir())


def test_an_unusable_image_fails_the_deployment_and_says_why(bench, agent, here, web, make):
    value = make("a", "qcow2", "-b", "/etc/passwd", "-F", "raw")
    info = {"image_source": f"{web.url}/a", "image_checksum": value, "image_disk_format": "qcow2",
            "image_os_hash_algo": None, "image_os_hash_value": None}  # fmt: skip
    uuid = deploying(bench, agent, info=info)
    assert bench.state(uuid)[0] == states.DEPLOYFAIL
    assert "not safe" in bench.row(uuid).last_error


def test_a_link_out_of_the_allowed_directory_leads_nowhere(conf, tmp_path):
    (tmp_path / "ok").mkdir()
    (tmp_path / "ok/a.raw").write_bytes(b"x")
    (tmp_path / "secret").write_bytes(b"x")
    (tmp_path / "ok/link").symlink_to(tmp_path / "secret")
    conf(conductor__file_url_allowed_paths=[str(tmp_path / "ok")], deploy__http_url="http://here")
    published_images.check(Machine(), f"file://{tmp_path}/ok/a.raw")
    for path in ("ok/link", "secret", "ok/../secret", "ok/%2e%2e/secret", "okay", "ok/missing", "ok"):
        with pytest.raises(InvalidParameterValue):
            published_images.check(Machine(), f"file://{tmp_path}/{path}")
    with pytest.raises(InvalidParameterValue):
        published_images.check(Machine(), f"file://elsewhere{tmp_path}/ok/a.raw")


# Converting


def test_a_conversion_without_room_is_not_begun(conf, tmp_path):
    conf(outgoing__download_max_size=1 << 50)
    with pytest.raises(InsufficientDiskSpace):
        image_formats.make_raw(tmp_path / "a", image_formats.Format("qcow2", 1 << 60))


MORE_THAN_ANY = 1 << 40


def test_a_conversion_waits_for_memory_and_then_fails(web, here, make, conf):
    conf(minimum_required_memory=MORE_THAN_ANY, minimum_memory_wait_time=0, minimum_memory_wait_retries=2)
    value = make("a", "qcow2")
    sums = {"os_hash_algo": "sha256", "os_hash_value": value}
    with pytest.raises(InsufficientMemory, match="minimum_required_memory asks for"):
        published_images.publish(Machine(), f"{web.url}/a", sums)
    assert not list(here.iterdir())
    # What needs no conversion needs no memory.
    published_images.publish(Machine(), f"{web.url}/b", {"os_hash_algo": "sha256", "os_hash_value": make("b")})


def test_a_conversion_goes_on_where_a_warning_is_enough(web, here, make, conf, caplog):
    conf(minimum_required_memory=MORE_THAN_ANY, minimum_memory_warning_only=True)
    sums = {"os_hash_algo": "sha256", "os_hash_value": make("a", "qcow2")}
    assert published_images.publish(Machine(), f"{web.url}/a", sums)["disk_format"] == "raw"
    assert "of memory available" in caplog.text


def test_no_minimum_of_memory_asks_for_none(conf):
    conf(minimum_required_memory=0)
    host_memory.await_enough()


def test_a_conversion_that_takes_too_long_is_ended(tmp_path, monkeypatch, conf):
    conf(disk_utils__image_convert_timeout=3)
    program = tmp_path / "bin" / "qemu-img"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 600\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    (tmp_path / "a").write_bytes(b"image")
    with pytest.raises(ImageConvertFailed, match="image_convert_timeout"):
        image_formats.make_raw(tmp_path / "a", image_formats.Format("qcow2", 1))
    if (tmp_path / "pid").exists():  # a very busy machine may not have come that far
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_small_file_that_unpacks_to_a_huge_image_is_refused(tmp_path, conf):
    conf(outgoing__download_max_size=1)
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", str(tmp_path / "a"), "2M"], check=True)
    with pytest.raises(ImageUnacceptable, match="download_max_size"):
        image_formats.inspect(tmp_path / "a", None, ["qcow2"])


@pytest.mark.parametrize("path, fault", [("/nowhere", "can't be found"), (None, "ended with status")])
def test_a_conversion_that_fails_leaves_nothing_behind(tmp_path, monkeypatch, conf, path, fault):
    conf(disk_utils__image_convert_attempts=1)
    (tmp_path / "a").write_bytes(b"no qcow2 image")
    if path:
        monkeypatch.setenv("PATH", path)
    with pytest.raises(ImageConvertFailed, match=fault):
        image_formats.make_raw(tmp_path / "a", image_formats.Format("qcow2", 1))
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def hybrid_iso(path, table: bytes) -> None:
    """Write an ISO image with a partition table before it."""
    iso, written = pycdlib.PyCdlib(), io.BytesIO()
    iso.new(interchange_level=3, vol_ident="X")
    iso.write_fp(written)
    iso.close()
    data = bytearray(written.getvalue() + b"\0" * (2 << 20))
    data[446 : 446 + len(table)], data[510:512] = table, b"\x55\xaa"
    path.write_bytes(data)


PROTECTED = bytes([0, 0, 2, 0, 0xEE, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0, 0xFF, 0x1F, 0, 0])
BOOTED = bytes([0x80, 0, 2, 0, 0x17, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0x1F, 0, 0])


@pytest.mark.parametrize("table", [PROTECTED, BOOTED])
@pytest.mark.parametrize("called", ["iso", "raw", None])
def test_an_iso_image_that_starts_from_a_disk_too_is_an_image(tmp_path, table, called):
    hybrid_iso(tmp_path / "a", table)
    found = image_formats.inspect(tmp_path / "a", called, ["raw", "iso"])
    assert (found.name, found.is_verbatim) == ("iso", True)
    with pytest.raises(ImageUnacceptable, match="its format is iso although it is called qcow2"):
        image_formats.inspect(tmp_path / "a", "qcow2", ["raw", "iso"])


def test_an_image_of_two_other_formats_is_refused(tmp_path):
    hybrid_iso(tmp_path / "a", PROTECTED)
    with (tmp_path / "a").open("r+b") as file:
        file.write(b"QFI\xfb\0\0\0\3" + b"\0" * 96)
    with pytest.raises(ImageUnacceptable, match="Multiple formats detected"):
        image_formats.inspect(tmp_path / "a", None, ["raw", "iso", "qcow2"])
