import hashlib
import uuid
from collections import Counter

import pytest

from ironic.rpc.hash_ring import HashRing

KEYS = [str(uuid.UUID(int=n * 7919)) for n in range(4000)]
HOSTS = [f"conductor-{n}" for n in range(8)]


def ring(hosts, points=32, algorithm="md5"):
    return HashRing(hosts, points_per_host=points, algorithm=algorithm)


def shares(of):
    return Counter(of.owner(key) for key in KEYS)


def test_every_key_has_one_owner_among_the_hosts():
    assert set(shares(ring(HOSTS))) == set(HOSTS)


def test_an_empty_ring_owns_nothing():
    assert ring([]).owner("anything") is None


def test_order_and_repetition_of_hosts_do_not_matter():
    one, other = ring(HOSTS), ring([*reversed(HOSTS), HOSTS[0]])
    assert [one.owner(key) for key in KEYS] == [other.owner(key) for key in KEYS]


@pytest.mark.parametrize("points, most", [(32, 1.6), (256, 1.25)])
def test_keys_are_spread_evenly(points, most):
    found = shares(ring(HOSTS, points)).values()
    fair = len(KEYS) / len(HOSTS)
    assert fair / most < min(found) <= max(found) < most * fair


def test_a_host_that_joins_only_takes_keys():
    before, after = ring(HOSTS), ring([*HOSTS, "newcomer"])
    moved = [key for key in KEYS if before.owner(key) != after.owner(key)]
    assert {after.owner(key) for key in moved} == {"newcomer"}
    assert 0 < len(moved) < 2 * len(KEYS) / (len(HOSTS) + 1)


def test_a_host_that_leaves_only_gives_keys():
    before, after = ring(HOSTS), ring(HOSTS[1:])
    moved = {key for key in KEYS if before.owner(key) != after.owner(key)}
    assert moved == {key for key in KEYS if before.owner(key) == HOSTS[0]}


@pytest.mark.parametrize("algorithm", sorted(hashlib.algorithms_guaranteed))
def test_every_algorithm_that_may_be_configured_works(algorithm):
    assert set(shares(ring(HOSTS, algorithm=algorithm))) == set(HOSTS)


def test_answers_do_not_change_between_releases():
    """All processes of a deployment must agree, those of another release too."""
    small = ring(["a", "b", "c"])
    assert "".join(small.owner(str(n)) for n in range(16)) == "abbaababcccbbbcc"
