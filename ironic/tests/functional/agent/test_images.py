"""The image data that the agent gets: checksums given and by list, proxies, credentials."""

from collections.abc import Iterator
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.drivers.modules.agent import deployment_image
from ironic.tests.unit.drivers.machine import Machine
from ironic.tests.web_server import web_server

MD5, SHA256, OTHER = "a" * 32, "b" * 64, "c" * 64


@pytest.fixture
def downloads(tmp_path) -> Iterator[str]:
    """Return the URL of a page with lists of checksums."""
    (tmp_path / "GNU").write_text(f"# sums\n{OTHER}  other.img\n{SHA256} *disk.img\n")
    (tmp_path / "BSD").write_text(f"SHA256 (other.img) = {OTHER}\nSHA256 (disk.img) = {SHA256.upper()}\n")
    (tmp_path / "only").write_text(f"{SHA256}\n")
    (tmp_path / "of-another").write_text(f"{OTHER}  other.img\n")
    (tmp_path / "strong-last").write_text(f"{MD5}  disk.img\n{SHA256}  disk.img\n{'d' * 128}  disk.img\n")
    (tmp_path / "weak").write_text(f"{MD5}  disk.img\n")
    (tmp_path / "page").write_text("<html>no sums here</html>")
    with web_server(tmp_path) as running:
        yield running.url


def found(**info) -> tuple[str, str]:
    """Return algorithm and value that the agent gets."""
    node = Machine(instance_info={"image_source": "http://here/disk.img", **info})
    deployment_image.check_image(node)
    deployment_image.prepare_image(node)
    told: Any = deployment_image.image_info_of(node)
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


@pytest.mark.parametrize("allows", [True, False])
def test_of_several_sums_of_a_list_the_strongest_is_told(downloads, conf, allows):
    conf(agent__allow_md5_checksum=allows)
    assert found(image_checksum=f"{downloads}/strong-last") == ("sha512", "d" * 128)
    assert found(image_checksum=f"{downloads}/strong-last".replace("http", "HTTP")) == ("sha512", "d" * 128)
    asked = {"image_os_hash_algo": "sha256", "image_os_hash_value": f"{downloads}/strong-last"}
    assert found(**asked) == ("sha256", SHA256)


def test_a_list_with_md5_alone_is_refused_for_that_where_md5_is_not_allowed(downloads, conf):
    assert found(image_checksum=f"{downloads}/weak") == ("md5", MD5)
    conf(agent__allow_md5_checksum=False)
    with pytest.raises(InvalidParameterValue, match="only md5.*allow_md5_checksum forbids"):
        found(image_checksum=f"{downloads}/weak")
    asked = {"image_os_hash_algo": "md5", "image_os_hash_value": f"{downloads}/weak"}
    with pytest.raises(InvalidParameterValue, match="allow_md5_checksum forbids"):
        found(**asked)
    strong = {"image_os_hash_algo": "sha256", "image_os_hash_value": SHA256}
    assert found(image_checksum=f"{downloads}/weak", **strong) == ("sha256", SHA256)


def test_proxies_are_told_where_there_are_any():
    info = {"image_source": "http://here/disk.img", "image_checksum": SHA256}
    node = Machine(instance_info=info, driver_info={"image_http_proxy": "http://p", "image_no_proxy": "a,b"})
    deployment_image.prepare_image(node)
    told: Any = deployment_image.image_info_of(node)
    assert (told["proxies"], told["no_proxy"]) == ({"http": "http://p"}, "a,b")


def test_lists_of_checksums_can_be_switched_off(downloads, conf):
    conf(conductor__disable_support_for_checksum_files=True)
    with pytest.raises(InvalidParameterValue, match="disable_support_for_checksum_files"):
        found(image_checksum=f"{downloads}/GNU")


def test_an_instances_credentials_are_for_the_agent_and_not_kept():
    info = {"image_source": "http://here/disk.img", "image_checksum": SHA256}
    secret = {"image_server_auth_strategy": "http_basic", "image_server_user": "u", "image_server_password": "canary"}
    node = Machine(instance_info=info | secret)
    deployment_image.check_image(node)
    deployment_image.prepare_image(node)
    assert "canary" not in str(node.driver_internal_info)
    assert secret.items() <= deployment_image.image_info_of(node).items()


def test_who_hands_the_image_over_must_be_known():
    node = Machine(instance_info={"image_source": "http://here/a"}, driver_info={"image_download_source": "pigeon"})
    with pytest.raises(InvalidParameterValue, match="pigeon"):
        deployment_image.is_published_here(node)
