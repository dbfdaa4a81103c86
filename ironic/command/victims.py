"""Which client ends when there are too many: one rule for connections, handshakes and viewers of pages.

It is one of the address that has the most, so an address can't keep others out. With as many addresses as places all
have one: then one that does nothing ends, and never the newcomer, or idle clients would keep all new ones out.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import SupportsRichComparison

T = TypeVar("T")


def victim(
    newcomer: T,
    others: Iterable[T],
    address: Callable[[T], str],
    order: "Callable[[T], SupportsRichComparison]" = lambda each: 0,
) -> T:
    """Return who ends for a newcomer: of the addresses that have the most, the first one in this order.

    The newcomer is among these only if its own address alone has the most. ``others`` come with the earliest first,
    which decides between equal ones.
    """
    everyone = [*others, newcomer]
    addresses = [address(each) for each in everyone]
    of_address = Counter(addresses)
    most = max(of_address.values())
    greedy = [each for each, its in zip(everyone, addresses, strict=True) if of_address[its] == most]
    if len(greedy) > most and greedy[-1] is newcomer:
        greedy.pop()
    return min(greedy, key=order)
