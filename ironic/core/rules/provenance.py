"""What in a document was written by rules from their own text, and not from what a machine reported.

Everything is taken as reported unless something says otherwise: fields that no report can get into (``own``), and what
a rule has written literally since the rules began.
"""

from collections.abc import Collection
from typing import Any, Final

from ironic.core.rules.paths import Path

# Marks a branch of which everything was written literally.
_LITERAL: Final[dict[str, Any]] = {}


class Provenance:
    """Where the parts of one document come from."""

    __slots__ = ("_own", "_written")

    def __init__(self, own: Collection[Path] = ()) -> None:
        self._own = own
        self._written: dict[str, Any] = {}

    def is_reported(self, path: Path) -> bool:
        """Tell whether what stands at a path may be what a machine reported."""
        return not (path[:1] in self._own or path[:2] in self._own or self._is_literal(path))

    def note(self, path: Path, *, reported: bool) -> None:
        """Note that a path was written; what lay below it is gone."""
        branch = self._written
        for key in path[:-1]:
            inner = branch.get(key)
            if inner is _LITERAL:
                if not reported:
                    return
                # No longer literal as a whole.
                inner = None
            if inner is None:
                if reported:
                    branch.pop(key, None)
                    return
                inner = branch[key] = {}
            branch = inner
        if reported:
            branch.pop(path[-1], None)
        else:
            branch[path[-1]] = _LITERAL

    def _is_literal(self, path: Path) -> bool:
        branch: Any = self._written
        for key in path:
            branch = branch.get(key)
            if branch is None or branch is _LITERAL:
                return branch is _LITERAL
        return False
