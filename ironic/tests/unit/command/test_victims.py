"""Who ends when there are too many, of any mixture of addresses."""

from dataclasses import dataclass

import pytest

from ironic.command.victims import victim


@dataclass(frozen=True)
class Client:
    """One client: its address, and its place in the order."""

    address: str
    rank: float = 0


def chosen(newcomer: Client, *others: Client) -> Client:
    return victim(newcomer, others, lambda each: each.address, lambda each: each.rank)


def test_it_is_one_of_the_address_that_has_the_most() -> None:
    greedy = [Client("a", rank) for rank in (7, 5, 6)]
    assert chosen(Client("c"), Client("b", 1), *greedy, Client("b", 2)) is greedy[1]


def test_with_one_of_each_it_is_the_first_in_order_and_never_the_newcomer() -> None:
    others = [Client(str(number), number) for number in (3, 2, 9)]
    assert chosen(Client("new", 0), *others) is others[1]


@pytest.mark.parametrize("rank", [0, 9])
def test_a_newcomer_whose_address_has_as_many_as_another_stays(rank: float) -> None:
    others = [Client("a", 5), Client("b", 1), Client("b", 2)]
    assert chosen(Client("a", rank), *others) is others[1]


@pytest.mark.parametrize("rank", [0, 9])
def test_a_newcomer_whose_address_alone_has_the_most_takes_its_place_in_the_order(rank: float) -> None:
    others = [Client("a", 5), Client("b", 1), Client("a", 4)]
    newcomer = Client("a", rank)
    assert chosen(newcomer, *others) is (newcomer if rank == 0 else others[2])


def test_of_equal_ones_the_earliest_ends() -> None:
    others = [Client("a"), Client("b"), Client("c")]
    assert chosen(Client("d"), *others) is others[0]
    alone = Client("d")
    assert chosen(alone) is alone
