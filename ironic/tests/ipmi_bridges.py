"""Messages that controllers pass on (IPMI 2.0, 6.13 and 22.7): Send Message with a message in it, at any depth.

A BMC unwraps what it gets (`unwrap`) and has the last controller of the way answer. The client gets the answers to all
messages one after another (`answers`), as with tracked requests.
"""

from collections.abc import Sequence
from dataclasses import dataclass

APP, SEND_MESSAGE = 0x06, 0x34
# Track Request: the BMC keeps in mind who waits for the answer.
_TRACKED = 0x40
# The address of software beyond the network.
_CLIENT = 0x81


class Malformed(Exception):
    """The bytes are no message that can be passed on."""


@dataclass(frozen=True)
class Hop:
    """A message on its way to one controller; ``channel`` is that of the way there."""

    channel: int
    to: int
    netfn: int
    sequence: int
    command: int
    data: bytes

    @property
    def place(self) -> str:
        """The channel and the address of the controller."""
        return f"{self.channel},{self.to:#04x}"


def checksum(content: bytes) -> int:
    return -sum(content) & 0xFF


def unwrap(netfn: int, command: int, data: bytes) -> list[Hop]:
    """Return the way of a request that the BMC got: a hop for each Send Message around what the last one gets."""
    hops: list[Hop] = []
    while (netfn, command) == (APP, SEND_MESSAGE):
        if (
            len(data) < 8
            or not data[0] & _TRACKED
            or checksum(data[1:3]) != data[3]
            or checksum(data[4:-1]) != data[-1]
        ):
            raise Malformed(data.hex())
        hop = Hop(
            channel=data[0] & 0x0F,
            to=data[1],
            netfn=data[2] >> 2,
            sequence=data[5] >> 2,
            command=data[6],
            data=data[7:-1],
        )
        hops.append(hop)
        netfn, command, data = hop.netfn, hop.command, hop.data
    return hops


def answers(hops: Sequence[Hop], data: bytes) -> list[bytes]:
    """Return what a client gets after the BMC's own answer: each controller's that passed it on, then the last one's.

    The data of the last answer follow its completion code, which is that of success.
    """
    last = hops[-1]
    passed_on = [_answer(hop.to, hop, b"") for hop in hops[:-1]]
    return [*passed_on, _answer(last.to, last, data)]


def _answer(sender: int, hop: Hop, data: bytes) -> bytes:
    head = bytes([_CLIENT, (hop.netfn | 1) << 2])
    rest = bytes([sender, hop.sequence << 2, hop.command, 0]) + data
    return head + bytes([checksum(head)]) + rest + bytes([checksum(rest)])
