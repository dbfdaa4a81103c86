"""Who is served, decided from data alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ironic.inspection import pxe_filter

A, B, OLD = "52:54:00:00:00:01", "52:54:00:00:00:02", "52:54:00:00:00:99"
ANY = "*:*:*:*:*:*"


@pytest.mark.demand("S105")
@pytest.mark.parametrize(
    ("ports", "present", "unknown", "expected"),
    [
        ({}, [], False, {"unknown_hosts_filter": f"{ANY},ignore\n"}),
        ({}, [], True, {"unknown_hosts_filter": f"{ANY}\n"}),
        (
            {A: True, B: False},
            [A, "unknown_hosts_filter"],
            True,
            {A: f"{A}\n", B: f"{B},ignore\n", "unknown_hosts_filter": f"{ANY}\n"},
        ),
        ({"../../etc/x": True, f"{A},ignore": True}, [], False, {"unknown_hosts_filter": f"{ANY},ignore\n"}),
        ({}, [OLD], False, {OLD: f"{OLD},ignore\n", "unknown_hosts_filter": f"{ANY},ignore\n"}),
        ({}, [OLD], True, {OLD: f"{OLD}\n", "unknown_hosts_filter": f"{ANY}\n"}),
    ],
)
def test_it_decides_what_stands_in_every_file(
    ports: dict[str, bool], present: list[str], unknown: bool, expected: dict[str, str]
) -> None:
    assert pxe_filter.wanted_hosts(ports, present, unknown_served=unknown) == expected


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        (A, True),
        ("unknown_hosts_filter", True),
        ("AA:BB:CC:DD:EE:FF", False),
        (f".{A}", False),
        (f"{A}~", False),
        ("x", False),
    ],
)
def test_it_knows_its_files(name: str, ours: bool) -> None:
    assert pxe_filter.is_ours(name) is ours


MACS = st.integers(0, 20).map(lambda number: f"52:54:00:00:00:{number:02x}")


@given(st.dictionaries(MACS, st.booleans()), st.sets(MACS), st.booleans(), st.booleans())
def test_it_has_nothing_to_change_the_second_time(
    ports: dict[str, bool], present: set[str], unknown: bool, before: bool
) -> None:
    sizes = {mac: len(pxe_filter.host_rule(mac, served=before)) for mac in present}
    contents = pxe_filter.wanted_hosts(ports, sizes, unknown_served=unknown)
    after = sizes | {name: len(text) for name, text in pxe_filter.changed_hosts(contents, sizes).items()}
    assert pxe_filter.changed_hosts(pxe_filter.wanted_hosts(ports, after, unknown_served=unknown), after) == {}
