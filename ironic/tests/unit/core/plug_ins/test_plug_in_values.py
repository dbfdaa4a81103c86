"""Values as plug-ins check and change them."""

from types import SimpleNamespace

import pytest

from ironic.common import i18n, utils
from ironic.common.exception import InvalidMAC, InvalidParameterValue

DISKS = [{"name": "/dev/sda", "size": 10 << 30, "rotational": True}, {"name": "/dev/sdb", "size": 20 << 30}]


def test_texts_stay_as_they_are() -> None:
    assert i18n._("The machine %(name)s is off") % {"name": "m1"} == "The machine m1 is off"


@pytest.mark.parametrize(
    ("function", "good", "bad"),
    [
        (utils.is_valid_logical_name, ["n1", "a_b~c"], ["", "a b", "..", "1be26c0b-03f2-4d2e-ae87-c02d7f33c781", None]),
        (utils.is_hostname_safe, ["n1", "a.b"], ["a_b", "-a", "", None]),
        (utils.is_http_url, ["http://a/b", "HTTPS://a:1"], ["ftp://a", "http://", "a", None, "http://a:b"]),
        (utils.is_loopback, ["localhost", "127.0.0.1", "127.9.9.9", "::1"], ["192.0.2.1", "example.org", ""]),
    ],
)
def test_checks(function, good, bad) -> None:
    assert [function(one) for one in good] == [True] * len(good)
    assert [function(one) for one in bad] == [False] * len(bad)


def test_mac_addresses() -> None:
    assert utils.normalize_mac("52:54:00:AA:00:01") == "52:54:00:aa:00:01"
    assert utils.validate_and_normalize_mac("52:54:00:AA:00:01") == "52:54:00:aa:00:01"
    for wrong in ("52-54-00-aa-00-01", "52:54", None, ""):
        with pytest.raises(InvalidMAC, match="is not a MAC address"):
            utils.validate_and_normalize_mac(wrong)


def test_ports() -> None:
    assert [utils.validate_network_port(one) for one in ("1", 65535)] == [1, 65535]
    for wrong in ("0", 65536, "http", "", None, -1, "1.5"):
        with pytest.raises(InvalidParameterValue, match=r"acme_port .* is no port"):
            utils.validate_network_port(wrong, "acme_port")


def test_ends_of_texts() -> None:
    assert utils.safe_rstrip("a  ") == "a"
    assert utils.safe_rstrip("http://a//", "/") == "http://a"
    # Nothing would be left.
    assert utils.safe_rstrip("///", "/") == "///"
    assert utils.safe_rstrip(7) == 7


def test_capabilities() -> None:
    assert utils.get_updated_capabilities("a:1,b:2", {"b": "3", "c": True}) == "a:1,b:3,c:True"
    assert utils.get_updated_capabilities(None, {"a": "1"}) == "a:1"
    with pytest.raises(ValueError, match="name:value"):
        utils.get_updated_capabilities("nonsense", {})


@pytest.mark.parametrize(
    ("given", "expected"),
    [(None, {}), ({}, {}), ({"a": 1}, {"a": 1}), ('{"boot_mode": "uefi"}', {"boot_mode": "uefi"}), ("", {})],
)
def test_capabilities_of_an_instance(given: object, expected: dict[str, object]) -> None:
    node = SimpleNamespace(uuid="n", instance_info={"capabilities": given})
    assert utils.parse_instance_info_capabilities(node) == expected
    assert utils.parse_instance_info_capabilities(SimpleNamespace(uuid="n", instance_info={})) == {}


@pytest.mark.parametrize("given", ["a:1", "[1]", "{", "7", ["a"], "[" * 100_000])
def test_capabilities_of_an_instance_that_are_none(given: object) -> None:
    with pytest.raises(InvalidParameterValue, match="node n are no JSON object"):
        utils.parse_instance_info_capabilities(SimpleNamespace(uuid="n", instance_info={"capabilities": given}))


class Watched:
    """A node that notes what is assigned to it, as a record does."""

    def __init__(self) -> None:
        self.assigned: list[str] = []
        self.extra: dict[str, object] | None = {"a": 1}

    def __setattr__(self, name: str, value: object) -> None:
        self.__dict__.setdefault("assigned", []).append(name)
        self.__dict__[name] = value


def test_nested_fields() -> None:
    node = Watched()
    before = node.extra
    node.assigned.clear()
    utils.set_node_nested_field(node, "extra", "b", 2)
    # A record sees a new value, not a change within the old one.
    assert (node.extra, before, node.assigned) == ({"a": 1, "b": 2}, {"a": 1}, ["extra"])
    assert utils.pop_node_nested_field(node, "extra", "a") == 1
    assert (node.extra, node.assigned) == ({"b": 2}, ["extra", "extra"])
    assert utils.pop_node_nested_field(node, "extra", "gone", "default") == "default"
    assert node.assigned == ["extra", "extra"]
    node.extra = None
    utils.set_node_nested_field(node, "extra", "c", 3)
    assert node.extra == {"c": 3}


def test_root_device_hints() -> None:
    assert utils.parse_root_device_hints(None) is utils.parse_root_device_hints({}) is None
    assert utils.parse_root_device_hints({"rotational": "yes", "size": 10}) == {"rotational": True, "size": 10}
    for wrong in ({"colour": "red"}, {"size": "big"}, {"rotational": "maybe"}):
        with pytest.raises(ValueError, match="root device hint"):
            utils.parse_root_device_hints(wrong)
    assert utils.match_root_device_hints(DISKS, {"size": ">= 15"}) == DISKS[1]
    assert utils.match_root_device_hints(DISKS, {"size": 15}) is None
    assert list(utils.find_devices_by_hints(DISKS, {"size": "<or> 10 <or> 20"})) == DISKS
    with pytest.raises(ValueError, match="colour"):
        utils.match_root_device_hints(DISKS, {"colour": "red"})
