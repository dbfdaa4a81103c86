"""The URL at which an agent wants to be called names a server, and nothing else."""

import pytest

from ironic.core.addresses.agent_callbacks import CallbackUrl, address_of, are_two_machines


@pytest.mark.parametrize(
    ("url", "parsed"),
    [
        ("https://192.0.2.7:9999", ("https", "192.0.2.7", 9999)),
        ("https://192.0.2.7:9999/", ("https", "192.0.2.7", 9999)),
        ("http://ramdisk.example.org", ("http", "ramdisk.example.org", 80)),
        ("https://[2001:db8::7]:9999", ("https", "2001:db8::7", 9999)),
    ],
)
def test_it_takes_a_server(url: str, parsed: tuple[str, str, int]) -> None:
    assert CallbackUrl.parse(url) == parsed


@pytest.mark.parametrize(
    "url",
    [
        *("", "gopher://h:1", "file:///dev/ptmx", "https://", "https:///x", "https://h:0", "https://h:99999", "//h:1"),
        *("https://user@h:1", "https://user:pass@h:1", "https://@h:1", "https://h:1@192.0.2.9"),
        *("https://h:1/v1", "https://h:1//", "https://h:1/?", "https://h:1?x=1", "https://h:1#", "https://h:1/#x"),
        *(
            "https://h\\@x:1",
            "https://h :1",
            "https://h:1\n",
            "https://h\u2024x:1",
            "https://[fe80::1",
            "https://[h]:1",
        ),
    ],
)
def test_it_refuses_what_is_more_or_less(url: str) -> None:
    with pytest.raises(ValueError, match="has to|must not"):
        CallbackUrl.parse(url)


def test_an_address_with_a_zone_is_none() -> None:
    with pytest.raises(ValueError, match="zone"):
        _ = CallbackUrl.parse("https://[fe80::1%25eth0]:9999").address


def test_it_knows_one_address_in_two_spellings() -> None:
    assert address_of("::ffff:192.0.2.7") == address_of("192.0.2.7")
    assert not are_two_machines("::ffff:192.0.2.7", "192.0.2.7")
    assert are_two_machines("192.0.2.7", "192.0.2.8")
    # A machine may have one of each family; what is no address can't be compared.
    assert not are_two_machines("192.0.2.7", "2001:db8::7")
    assert not are_two_machines("192.0.2.7", None)
    assert not are_two_machines("a name", "192.0.2.7")
