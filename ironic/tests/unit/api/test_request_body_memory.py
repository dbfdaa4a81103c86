import threading

import pytest

from ironic.api import request_body
from ironic.api.error_responses import Refused
from ironic.api.request_body import BodyMemory, most_of, taken_by


def test_what_is_taken_is_missing_until_it_is_given_back() -> None:
    memory = BodyMemory(100, timeout=0)
    assert memory.take(60) == 60
    with pytest.raises(Refused) as refusal:
        memory.take(41)
    assert refusal.value.status == 503
    assert dict(refusal.value.headers)["Retry-After"]
    assert memory.take(40) == 40
    memory.give_back(60)
    assert memory.take(50) == 50


def test_what_is_larger_than_all_there_is_gets_all_of_it() -> None:
    memory = BodyMemory(100, timeout=0)
    assert memory.take(1000) == 100
    with pytest.raises(Refused):
        memory.take(1)


@pytest.mark.parametrize(("size", "left"), [(20, 20), (60, 60), (90, 60)])
def test_a_share_shrinks_and_never_grows(size: int, left: int) -> None:
    memory = BodyMemory(100, timeout=0)
    share = memory.shrink(memory.take(60), size)
    assert share == left
    assert memory.take(100 - left) == 100 - left
    with pytest.raises(Refused):
        memory.take(1)


def test_a_waiting_one_gets_what_another_gives_back() -> None:
    memory = BodyMemory(100, timeout=60)
    memory.take(100)
    taken: list[int] = []
    waiter = threading.Thread(target=lambda: taken.append(memory.take(30)))
    waiter.start()
    memory.give_back(50)
    waiter.join(60)
    assert taken == [30]


def test_few_wait_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_body, "_MOST_WAITING", 0)
    memory = BodyMemory(100, timeout=3600)
    memory.take(100)
    with pytest.raises(Refused):
        memory.take(1)


@pytest.mark.parametrize("raw", [b"", b"[1,2,3]", '["😀"]'.encode(), b'["\\u2603"]', b"[" * 1000])
def test_a_share_set_aside_by_the_length_is_enough_for_the_text(raw: bytes) -> None:
    letters = sum(map(raw.count, (b",", b":", b"[", b"{")))
    assert taken_by(raw, letters) <= 2 * most_of(len(raw), len(raw))
