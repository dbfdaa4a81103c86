"""What the agent is told of an image: checksums by list, files of this host; and config drives that are built here."""

import base64
import functools
import gzip
import http.server
import io
import json
import threading
from collections.abc import Iterator

import pycdlib
import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.drivers.modules.agent import checksums, configdrive, images, published
from ironic.tests.unit.drivers.machine import UUID, Machine

MD5, SHA256, OTHER = "a" * 32, "b" * 64, "c" * 64


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A web server that does not talk."""

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def downloads(tmp_path) -> Iterator[str]:
    """Return the URL of a page with lists of checksums."""
    (tmp_path / "GNU").write_text(f"# sums\n{OTHER}  other.img\n{SHA256} *disk.img\n")
    (tmp_path / "BSD").write_text(f"SHA256 (other.img) = {OTHER}\nSHA256 (disk.img) = {SHA256.upper()}\n")
    (tmp_path / "only").write_text(f"{SHA256}\n")
    (tmp_path / "of-another").write_text(f"{OTHER}  other.img\n")
    (tmp_path / "page").write_text("<html>no sums here</html>")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def found(**info) -> tuple[str, str]:
    """Return algorithm and value that the agent is told."""
    node = Machine(instance_info={"image_source": "http://here/disk.img", **info})
    images.check(node)
    images.prepare(node)
    told = images.info_of(node)
    return told["os_hash_algo"], told["os_hash_value"]


@pytest.mark.parametrize("name", ["GNU", "BSD", "only"])
def test_a_checksum_may_be_given_by_a_list(downloads, name):
    url = f"{downloads}/{name}"
    assert found(image_checksum=url) == ("sha256", SHA256)
    assert found(image_os_hash_algo="sha256", image_os_hash_value=url) == ("sha256", SHA256)


@pytest.mark.parametrize("name", ["of-another", "page", "missing"])
def test_a_list_without_the_image_is_refused(downloads, name):
    with pytest.raises(InvalidParameterValue, match="list of checksums"):
        found(image_checksum=f"{downloads}/{name}")


@pytest.mark.parametrize("given, expected", [(MD5, "md5"), (SHA256, "sha256"), ("d" * 128, "sha512")])
def test_the_length_tells_the_algorithm(given, expected):
    assert found(image_checksum=given) == (expected, given)


def test_a_length_of_no_algorithm_is_refused():
    with pytest.raises(InvalidParameterValue, match="length"):
        found(image_checksum="e" * 40)


def test_md5_is_refused_where_it_is_not_allowed(conf):
    conf(agent__allow_md5_checksum=False)
    with pytest.raises(InvalidParameterValue, match="MD5"):
        found(image_checksum=MD5)
    assert found(image_checksum=MD5, image_os_hash_algo="sha256", image_os_hash_value=SHA256)[0] == "sha256"


def test_proxies_are_told_where_there_are_any():
    info = {"image_source": "http://here/disk.img", "image_checksum": SHA256}
    node = Machine(instance_info=info, driver_info={"image_http_proxy": "http://p", "image_no_proxy": "a,b"})
    images.prepare(node)
    told = images.info_of(node)
    assert (told["proxies"], told["no_proxy"]) == ({"http": "http://p"}, "a,b")


def test_a_link_out_of_the_allowed_directory_leads_nowhere(conf, tmp_path):
    (tmp_path / "ok").mkdir()
    (tmp_path / "ok/a.raw").write_bytes(b"x")
    (tmp_path / "secret").write_bytes(b"x")
    (tmp_path / "ok/link").symlink_to(tmp_path / "secret")
    conf(conductor__file_url_allowed_paths=[str(tmp_path / "ok")], deploy__http_url="http://here")
    published.check(Machine(), f"file://{tmp_path}/ok/a.raw")
    for path in ("ok/link", "secret", "ok/../secret", "ok/%2e%2e/secret", "okay", "ok/missing", "ok"):
        with pytest.raises(InvalidParameterValue):
            published.check(Machine(), f"file://{tmp_path}/{path}")
    with pytest.raises(InvalidParameterValue):
        published.check(Machine(), f"file://elsewhere{tmp_path}/ok/a.raw")
    conf(deploy__http_url=None)
    with pytest.raises(InvalidParameterValue, match="http_url"):
        published.check(Machine(), f"file://{tmp_path}/ok/a.raw")


def test_the_sum_of_a_file_is_taken_here(tmp_path):
    (tmp_path / "a b.raw").write_bytes(b"")
    told = checksums.find(Machine(), f"file://{tmp_path}/a%20b.raw")
    assert told["os_hash_value"] == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


# Config drives


def opened(text: str | None) -> dict[str, bytes]:
    """Return the files of a config drive by path, read through both of its trees."""
    iso = pycdlib.PyCdlib()
    iso.open_fp(io.BytesIO(gzip.decompress(base64.b64decode(text or ""))))
    assert iso.pvd.volume_identifier.decode().strip() == "config-2"
    files: dict[str, bytes] = {}
    for tree in ("joliet_path", "rr_path"):
        for directory, _, names in iso.walk(**{tree: "/"}):
            for name in names:
                path, read = f"{directory.rstrip('/')}/{name}", io.BytesIO()
                iso.get_file_from_iso_fp(read, **{tree: path})
                assert files.setdefault(path, read.getvalue()) == read.getvalue()
    iso.close()
    return files


def test_a_config_drive_is_built_from_its_parts():
    parts = {
        "meta_data": {"hostname": "one"},
        "network_data": {"links": []},
        "vendor_data": {"v": 1},
        "user_data": "#cloud-config\nä: 1\n",
    }
    files = opened(configdrive.of(Machine(instance_info={"configdrive": parts})))
    for version in ("latest", "2015-10-15"):
        place = f"/openstack/{version}"
        assert json.loads(files[f"{place}/meta_data.json"]) == {"uuid": UUID, "hostname": "one"}
        assert json.loads(files[f"{place}/network_data.json"]) == {"links": []}
        assert json.loads(files[f"{place}/vendor_data2.json"]) == {"v": 1}
        assert files[f"{place}/user_data"].decode() == "#cloud-config\nä: 1\n"
    assert len(files) == 8


@pytest.mark.parametrize("given", [{"ignition": {"version": "3.0.0"}}, [1, 2]])
def test_user_data_that_is_no_text_is_written_as_json(given):
    files = opened(configdrive.build(Machine(), {"user_data": given}))
    assert json.loads(files["/openstack/latest/user_data"]) == given


def test_a_finished_config_drive_is_passed_on():
    assert configdrive.of(Machine(instance_info={"configdrive": "http://here/drive"})) == "http://here/drive"
    assert configdrive.of(Machine()) is None
