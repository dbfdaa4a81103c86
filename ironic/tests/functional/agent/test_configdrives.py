"""Config drives: built here from their parts, or finished ones that are looked at and passed on."""

import base64
import gzip
import io
import json
import tracemalloc
from collections.abc import Iterator

import pycdlib
import pytest
import requests

from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.call_errors import ObjectStoreError
from ironic.drivers.modules.agent import config_drive
from ironic.integrations import object_store
from ironic.tests.swift_store import ACCOUNT, SwiftStore, swift_store
from ironic.tests.unit.drivers.machine import UUID, Machine


def text(content: bytes) -> str:
    return base64.b64encode(content).decode()


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
        "user_data": "#cloud-config\nä: http://here\n",
    }
    files = opened(config_drive.config_drive_of(Machine(instance_info={"configdrive": parts})))
    for version in ("latest", "2015-10-15"):
        place = f"/openstack/{version}"
        assert json.loads(files[f"{place}/meta_data.json"]) == {"uuid": UUID, "hostname": "one"}
        assert json.loads(files[f"{place}/network_data.json"]) == {"links": []}
        assert json.loads(files[f"{place}/vendor_data2.json"]) == {"v": 1}
        assert files[f"{place}/user_data"].decode() == "#cloud-config\nä: http://here\n"
    assert len(files) == 8


@pytest.mark.parametrize("given", [{"ignition": {"version": "3.0.0"}}, [1, 2]])
def test_user_data_that_is_no_text_is_written_as_json(given):
    files = opened(config_drive.build_config_drive(Machine(), {"user_data": given}))
    assert json.loads(files["/openstack/latest/user_data"]) == given


def test_a_finished_config_drive_is_passed_on():
    assert (
        config_drive.config_drive_of(Machine(instance_info={"configdrive": "http://here/drive"})) == "http://here/drive"
    )
    assert config_drive.config_drive_of(Machine()) is None


def finished() -> bytes:
    """Return the image of a config drive."""
    return gzip.decompress(
        base64.b64decode(config_drive.build_config_drive(Machine(), {"meta_data": {"hostname": "one"}}))
    )


FAT = b"\0" * 54 + b"FAT16   " + b"\0" * 448 + b"\x55\xaa"


@pytest.mark.parametrize("image", [finished(), FAT])
@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_a_finished_one_reaches_the_agent_compressed(image, pack):
    node = Machine(instance_info={"configdrive": text(pack(image))})
    config_drive.check_config_drive(node)
    told = config_drive.config_drive_of(node)
    assert told is not None
    assert gzip.decompress(base64.b64decode(told)) == image


@pytest.mark.parametrize("disable", [False, True])
def test_a_config_drive_of_very_many_parts_is_refused(conf, disable):
    conf(conductor__disable_configdrive_check=disable)
    # Made once: it has the second in which it was made.
    image = finished()
    empty, whole = gzip.compress(b""), gzip.compress(image)
    node = Machine(instance_info={"configdrive": text(whole + empty * 2000)})
    with pytest.raises(InvalidParameterValue, match="more than 1000 parts of gzip"):
        config_drive.config_drive_image(node)
    node.instance_info = {"configdrive": text(whole + empty * 900)}
    assert config_drive.config_drive_image(node) == image


def test_a_check_reads_no_very_many_parts(conf):
    node = Machine(instance_info={"configdrive": text(gzip.compress(b"") * 2000)})
    with pytest.raises(InvalidParameterValue, match="more than 1000 parts of gzip"):
        config_drive.check_config_drive(node)


@pytest.mark.parametrize("given, fault", [
    (text(b"no image at all"), "neither an ISO"),
    (text(gzip.compress(b"x" * 100)), "neither an ISO"),
    (text(gzip.compress(finished())[:-100]), "broken"),
    (text(b"\x1f\x8bnonsense"), "broken"),
    (text(gzip.compress(b"\0" * ((64 << 20) + 1))), "too large"),
    (text(gzip.compress(b"") * 5000), "broken"),
    (text(gzip.compress(finished()) + b"more"), "broken"),
    ("a", "base64"),
    ({"network_data": [1]}, "must be an object"),
], ids=["text", "zipped text", "cut", "not zipped", "huge", "empty", "more", "no base64", "wrong form"])  # fmt: skip
def test_what_is_none_is_refused(given, fault, conf):
    node = Machine(instance_info={"configdrive": given})
    with pytest.raises(InvalidParameterValue, match=fault) as caught:
        config_drive.check_config_drive(node)
    assert str(given)[:20] not in str(caught.value) or given == "a"
    conf(conductor__disable_configdrive_check=True)
    if "ISO" in fault:
        config_drive.check_config_drive(node)


def test_one_of_several_members_with_zeros_behind_is_looked_into():
    image = finished()
    node = Machine(
        instance_info={"configdrive": text(gzip.compress(image[:5000]) + gzip.compress(image[5000:]) + b"\0" * 512)}
    )
    config_drive.check_config_drive(node)


def test_looking_into_one_takes_little_memory():
    bomb = Machine(instance_info={"configdrive": text(gzip.compress(b"\0" * (1 << 30), 9))})
    tracemalloc.start()
    try:
        with pytest.raises(InvalidParameterValue, match="too large"):
            config_drive.check_config_drive(bomb)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


# In the object store


@pytest.fixture
def swift(conf) -> Iterator[SwiftStore]:
    """Return an object store that config drives go to."""
    with swift_store() as running:
        conf(deploy__configdrive_use_object_store=True, conductor__configdrive_swift_container="config drives")
        conf(swift__auth_type="none", swift__endpoint_override=running.url)
        yield running
    object_store.swift_container.cache_clear()


@pytest.mark.parametrize("options, seconds", [
    ({"configdrive_swift_temp_url_duration": 120}, "120"),
    ({"deploy_callback_timeout": 500}, "500"),
    ({"deploy_callback_timeout": 0}, "86400"),
])  # fmt: skip
def test_it_is_handed_over_by_a_url_that_ends(swift, conf, options, seconds):
    conf(**{f"conductor__{name}": value for name, value in options.items()})
    given = text(gzip.compress(finished()))
    for _ in range(2):
        url = str(config_drive.config_drive_of(Machine(instance_info={"configdrive": given})))
        assert requests.get(url, timeout=30).text == given
    ((path, _),) = swift.objects.items()
    assert path == f"{ACCOUNT}/config%20drives/configdrive-{UUID}"
    assert swift.expiry[path] == seconds
    assert requests.get(url.replace("temp_url_sig=", "temp_url_sig=0"), timeout=30).status_code == 401
    assert (
        config_drive.config_drive_of(Machine(instance_info={"configdrive": "http://here/drive"})) == "http://here/drive"
    )


@pytest.mark.parametrize("trouble, keeps, fault", [(503, True, "status 503"), (None, False, "keeps no key")])
def test_an_object_store_in_trouble_is_told(swift, trouble, keeps, fault):
    swift.trouble, swift.keeps_keys = trouble, keeps
    with pytest.raises(ObjectStoreError, match=fault):
        config_drive.config_drive_of(Machine(instance_info={"configdrive": {"user_data": "x"}}))
