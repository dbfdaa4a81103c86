"""Which addresses may be contacted, in every spelling that leads there."""

from ipaddress import ip_address, ip_network

import pytest

from ironic.core.addresses.allowed_addresses import AddressPolicy, Server, fault_of, is_among, plain_form, server_of

OPEN = AddressPolicy(allows_loopback=True)
NEVER = {
    "link-local": ["169.254.169.254", "169.254.0.1", "fe80::1", "fe80::1%lo"],
    "multicast": ["224.0.0.1", "239.255.255.250", "ff02::1", "ff05::2"],
    "this host": ["0.0.0.0", "0.1.2.3", "::"],
    "metadata": ["100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"],
    "reserved": ["240.0.0.1", "255.255.255.255"],
}
# What leads to 169.254.169.254 over a gateway, a tunnel or a translator, or simply is it.
EMBEDDED = [
    "::ffff:169.254.169.254",
    "::ffff:0:169.254.169.254",
    "::169.254.169.254",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::169.254.169.254",
    "64:ff9b:1:a9fe:a9:fe00::",
    "64:ff9b:1:a9:fe:a9fe::",
    "64:ff9b:1:0:a9:fea9:fe00:0",
    "2002:a9fe:a9fe::1",
    "2001:0:a9fe:a9fe::1",
    "2001:0:c000:201::5601:5601",
    "fd00::5efe:169.254.169.254",
    "2001:db8::200:5efe:169.254.169.254",
]
LOOPBACK = ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1"]
USUAL = ["192.0.2.7", "10.1.2.3", "172.16.0.1", "100.64.0.1", "8.8.8.8", "fd12:3456::1", "2001:db8::1", "2a00::1"]


@pytest.mark.parametrize("kind, address", [(kind, address) for kind, found in NEVER.items() for address in found])
def test_some_addresses_are_never_contacted(kind: str, address: str) -> None:
    assert kind in (fault_of(ip_address(address), OPEN) or "")
    everywhere = AddressPolicy(True, (ip_network("0.0.0.0/0"), ip_network("::/0")))
    assert fault_of(ip_address(address), everywhere)


@pytest.mark.parametrize("address", EMBEDDED)
def test_an_address_inside_of_another_is_seen(address: str) -> None:
    assert fault_of(ip_address(address), OPEN) == "a link-local address"


@pytest.mark.parametrize("address", LOOPBACK)
def test_the_loopback_is_contacted_where_it_may_be(address: str) -> None:
    assert "allow_loopback" in (fault_of(ip_address(address), AddressPolicy()) or "")
    assert fault_of(ip_address(address), OPEN) is None


@pytest.mark.parametrize(
    "address", [*USUAL, "::ffff:192.0.2.7", "64:ff9b::808:808", "64:ff9b:1::808:808", "64:ff9b:1:808:8:800::"]
)
def test_all_others_are_contacted(address: str) -> None:
    assert fault_of(ip_address(address), AddressPolicy()) is None


@pytest.mark.parametrize(
    "address, is_in", [("192.0.2.7", True), ("::ffff:192.0.2.7", True), ("198.51.100.1", False), ("2001:db8::1", False)]
)
def test_an_operators_list_is_the_whole_list(address: str, is_in: bool) -> None:
    narrow = AddressPolicy(networks=(ip_network("192.0.2.0/24"),))
    assert (fault_of(ip_address(address), narrow) is None) is is_in


def test_a_mapped_address_is_the_same_address() -> None:
    assert plain_form(ip_address("::ffff:192.0.2.7")) == ip_address("192.0.2.7")
    assert plain_form(ip_address("2001:db8::1")) == ip_address("2001:db8::1")


@pytest.mark.parametrize(
    "url, server",
    [
        ("http://A.example/x", ("http", "a.example", 80)),
        ("https://a.example:8443", ("https", "a.example", 8443)),
        ("http://me:pw@[2001:db8::1]:81/", ("http", "2001:db8::1", 81)),
        ("HTTP://a.example", ("http", "a.example", 80)),
        ("http://bücher.example/", ("http", "xn--bcher-kva.example", 80)),
        ("http://①②⑦.0.0.1/", ("http", "127.0.0.1", 80)),
        ("http://a.example./", ("http", "a.example.", 80)),
        ("http://good.example@evil.example/", ("http", "evil.example", 80)),
    ],
)
def test_a_url_names_a_server(url: str, server: tuple[str, str, int]) -> None:
    assert server_of(url) == server


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://a/",
        "http:///x",
        "http://a:99999/",
        "http://a:0/",
        "http://[::1/",
        "//a/",
        "http://a b/",
        "http://a..b/",
        f"http://{'a' * 64}/",
    ],
)
def test_what_names_no_server_is_seen(url: str) -> None:
    assert server_of(url) is None


@pytest.mark.parametrize(
    "entry, is_it",
    [
        ("images.example", True),
        ("IMAGES.example.", True),
        ("images.example:8443", True),
        ("https://images.example:8443", True),
        ("https://images.example:8443/", True),
        ("images.example:443", False),
        ("http://images.example:8443", False),
        ("https://images.example", False),
        ("example", False),
        ("evil-images.example", False),
        ("images.example.evil.example", False),
        ("", False),
        ("https://", False),
        ("images.example:x", False),
    ],
)
def test_a_list_names_servers_by_host_port_and_scheme(entry: str, is_it: bool) -> None:
    assert is_among(Server("https", "images.example", 8443), [entry]) is is_it


@pytest.mark.parametrize("entry", ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:80", "http://[2001:db8::1]"])
def test_a_list_may_name_an_address(entry: str) -> None:
    assert is_among(Server("http", "2001:db8::1", 80), ["other", entry])
