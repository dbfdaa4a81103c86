"""Stand-ins: one for each value, in its form."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ironic.drivers.modules.redfish.records.stand_ins import Kind, StandIns


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (
            Kind.HARDWARE,
            ["AA:BB:CC:DD:EE:FF", "aa-bb-cc-dd-ee-ff", "aabbccddeeff", "aabb.ccdd.eeff", "AA%3ABB%3ACC%3ADD%3AEE%3AFF"],
        ),
        (Kind.HARDWARE, ["6695eb01-f6a4-8304-79aa-97f2502e193f", "6695EB01F6A4830479AA97F2502E193F"]),
        (Kind.HARDWARE, ["0x5000c500a0000009", "50:00:c5:00:a0:00:00:09"]),
        (Kind.NUMBER, ["CZ-12x4", "cz-12X4", " CZ-12x4 "]),
    ],
)
def test_a_value_is_the_same_in_each_spelling(kind: Kind, values: list[str]) -> None:
    stand_ins = StandIns()
    made = [stand_ins.of(kind, value) for value in values]
    plain = {
        "".join(each for each in one.lower().replace("%3a", "").removeprefix("0x") if each.isalnum()) for one in made
    }
    assert len(plain) == 1 and [len(one) for one in made] == [len(value.strip()) for value in values]
    assert made[0] == stand_ins.of(kind, values[0]) != values[0]
    assert stand_ins.counts == {kind: 1}


def test_addresses_of_cards_are_those_that_a_site_gives() -> None:
    stand_ins = StandIns()
    assert stand_ins.of(Kind.HARDWARE, "AA:BB:CC:DD:EE:FF") == "02:00:00:00:00:01"
    assert stand_ins.of(Kind.HARDWARE, "aa:bb:cc:dd:ee:fe") == "02:00:00:00:00:02"


def test_many_addresses_are_different_and_of_no_network_of_a_site() -> None:
    stand_ins = StandIns()
    made = [stand_ins.of(Kind.ADDRESS, f"10.1.{number // 250}.{number % 250}") for number in range(1000)]
    networks = [ipaddress.ip_network(one) for one in ("203.0.113.0/24", "198.18.0.0/15")]
    assert len(set(made)) == 1000
    assert all(any(ipaddress.ip_address(one) in network for network in networks) for one in made)
    assert ipaddress.ip_address(stand_ins.of(Kind.ADDRESS, "fe80::1")) in ipaddress.ip_network("2001:db8::/32")


@given(
    st.lists(
        st.from_regex(r"[A-Za-z0-9]{4}[-A-Za-z0-9. \"\\é]{0,10}[A-Z]", fullmatch=True), unique_by=str.lower, max_size=30
    )
)
def test_numbers_have_their_form_and_stay_different(values: list[str]) -> None:
    stand_ins = StandIns()
    for value in values:
        stand_ins.know(Kind.NUMBER, value)
    made = [stand_ins.of(Kind.NUMBER, value) for value in values]
    assert len({one.lower() for one in made}) == len(values)
    assert not {one.lower() for one in made} & {value.lower() for value in values}
    for value, one in zip(values, made, strict=True):
        assert len(one) == len(value) and not set(one) & set('"\\')
        assert [each.isdigit() for each in one] == [each.isdigit() for each in value]
        assert [each.isupper() for each in one] == [each.isupper() for each in value]


def test_a_short_number_may_share_its_stand_in() -> None:
    stand_ins = StandIns()
    assert len({stand_ins.of(Kind.NUMBER, str(number)) for number in range(10)}) <= 10
