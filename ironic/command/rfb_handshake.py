"""The beginning of VNC (RFB 3.8) on both sides of the proxy, up to the result of the login.

The server is asked for a login that the options allow; the viewer, whose token was checked, needs none.
"""

import asyncio
from collections.abc import AsyncIterator, Collection
from typing import Final, Protocol

VERSION: Final = b"RFB 003.008\n"
# Numbers of the protocol for the names of [vnc]novnc_auth_schemes.
LOGINS: Final = {"none": 1}
_NONE: Final = 1
_LONGEST_REASON: Final = 1000


class RfbError(Exception):
    """The other side does not speak the protocol, or refuses; the text is for the log."""


class Viewer(Protocol):
    """The viewer's side of a WebSocket."""

    async def send(self, message: bytes) -> None: ...
    async def recv(self) -> bytes | str: ...


class ViewerBytes:
    """What a viewer sends, as a stream: the messages of a WebSocket end anywhere."""

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._rest = b""

    async def exactly(self, count: int) -> bytes:
        """Return so many bytes."""
        while len(self._rest) < count:
            self._rest += await self._message()
        taken, self._rest = self._rest[:count], self._rest[count:]
        return taken

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield all that comes from now on; the connection ends it with an error."""
        while True:
            yield self._rest or await self._message()
            self._rest = b""

    async def _message(self) -> bytes:
        message = await self._viewer.recv()
        if isinstance(message, str):
            raise RfbError("the viewer sends text")
        return message


async def with_server(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, schemes: Collection[str]) -> None:
    """Choose a login of the server; its result is the next that it sends. Raise RfbError, OSError or EOFError."""
    version = await reader.readexactly(len(VERSION))
    if version != VERSION:
        raise RfbError(f"the VNC server speaks {version!r}, not RFB 3.8")
    writer.write(VERSION)
    (count,) = await reader.readexactly(1)
    if not count:
        length = int.from_bytes(await reader.readexactly(4))
        reason = (await reader.readexactly(min(length, _LONGEST_REASON))).decode(errors="replace")
        raise RfbError(f"the VNC server refuses: {reason!r}")
    offered = await reader.readexactly(count)
    chosen = next((LOGINS[scheme] for scheme in schemes if LOGINS[scheme] in offered), None)
    if chosen is None:
        raise RfbError(f"the VNC server wants a login of the types {sorted(offered)}, which [vnc] does not allow")
    writer.write(bytes([chosen]))
    await writer.drain()


async def with_viewer(viewer: Viewer, received: ViewerBytes) -> None:
    """Offer the viewer a session without a login; raise RfbError for one that wants another."""
    await viewer.send(VERSION)
    version = await received.exactly(len(VERSION))
    if version != VERSION:
        raise RfbError(f"the viewer speaks {version!r}, not RFB 3.8")
    await viewer.send(bytes([1, _NONE]))
    if (chosen := await received.exactly(1)) != bytes([_NONE]):
        raise RfbError(f"the viewer chooses the login {chosen[0]}, which was not offered")
