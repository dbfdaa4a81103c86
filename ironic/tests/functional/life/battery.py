"""The account of what was tried in a battery and how it ended; printed at its end."""

from collections.abc import Iterator

_ROWS: list[tuple[str, ...]] = []

_HEAD = ("where", "caught in", "how", "ended in", "seconds")


def survived(where: str, caught: str, how: str, ended: str, seconds: float) -> None:
    """Note one thing that was tried and survived."""
    _ROWS.append((where, caught, how, ended, f"{seconds:.1f}"))


def table() -> Iterator[str]:
    """Return the lines of the account, or nothing."""
    if not _ROWS:
        return
    rows = [_HEAD, *_ROWS]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
