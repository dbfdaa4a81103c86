"""Counting refused logins at BMCs."""

from concurrent.futures import ThreadPoolExecutor

from ironic.db import Store
from ironic.db.bmc_logins import Turn

ADDRESS = "https://192.0.2.1"
LIMIT = 3


def attempt(store: Store, login: str = "a") -> Turn:
    return store.bmc_logins.reserve(login, ADDRESS, LIMIT)


class BmcLoginSuite:
    def test_after_so_many_refused_logins_none_is_tried(self, store: Store) -> None:
        for number in range(LIMIT):
            assert attempt(store) is Turn.GRANTED
            store.bmc_logins.refuse("a")
            assert store.bmc_logins.refused("a") == number + 1
        assert attempt(store) is Turn.REFUSED
        assert attempt(store, "b") is Turn.GRANTED, "another password is another login"

    def test_an_accepted_login_begins_anew(self, store: Store) -> None:
        for _ in range(LIMIT - 1):
            attempt(store)
            store.bmc_logins.refuse("a")
        attempt(store)
        store.bmc_logins.accept("a")
        assert store.bmc_logins.refused("a") == 0
        assert attempt(store) is Turn.GRANTED

    def test_an_attempt_without_an_answer_does_not_count(self, store: Store) -> None:
        for _ in range(LIMIT + 1):
            assert attempt(store) is Turn.GRANTED
            store.bmc_logins.give_back("a")
        assert store.bmc_logins.refused("a") == 0

    def test_attempts_under_way_count_until_their_end_is_known(self, store: Store) -> None:
        assert [attempt(store) for _ in range(LIMIT)] == [Turn.GRANTED] * LIMIT
        assert attempt(store) is Turn.LATER
        store.bmc_logins.give_back("a")
        assert attempt(store) is Turn.GRANTED

    def test_many_at_once_get_no_more_than_the_limit(self, store: Store) -> None:
        with ThreadPoolExecutor(8) as pool:
            turns = list(pool.map(lambda _: attempt(store), range(24)))
        assert turns.count(Turn.GRANTED) <= LIMIT
        assert Turn.REFUSED not in turns
