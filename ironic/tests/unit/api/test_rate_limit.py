"""How often one address may call."""

import pytest

from ironic.api import rate_limit
from ironic.api.rate_limit import TokenBuckets, bucket_of


class Time:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Time:
    return Time()


def test_an_address_has_so_many_calls_and_gets_them_back_evenly(clock: Time) -> None:
    limit = TokenBuckets(6, clock)
    assert [limit.admits("192.0.2.1") for _ in range(8)] == [True] * 6 + [False] * 2
    clock.now += 10
    assert [limit.admits("192.0.2.1") for _ in range(2)] == [True, False]
    clock.now += 3600
    assert [limit.admits("192.0.2.1") for _ in range(7)] == [True] * 6 + [False]


def test_addresses_do_not_get_in_each_others_way(clock: Time) -> None:
    limit = TokenBuckets(1, clock)
    assert [limit.admits(source) for source in ("192.0.2.1", "192.0.2.2", "192.0.2.1", None, None)] == [
        True, True, False, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("fe80::1%eth0", "fe80::1%eth1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("", None, True),
        ("nonsense", "nonsense", True),
    ],
)
def test_it_tells_machines_apart(one: str | None, other: str | None, same: bool) -> None:
    assert (bucket_of(one) == bucket_of(other)) is same


def test_it_remembers_so_many_addresses_only(clock: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "_MOST", 3)
    limit = TokenBuckets(1, clock)
    for number in range(10):
        assert limit.admits(f"192.0.2.{number}")
    assert len(limit._left) == 3
    assert not limit.admits("192.0.2.9")
    assert limit.admits("192.0.2.0")
