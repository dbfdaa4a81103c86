"""SQLite with what SQLAlchemy learns about statements and types kept from one engine of this process to the next.

A service has one engine for its whole life, a test one for itself. Without this, every test compiles every statement
again, which takes longer than all that the test does.
"""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import Engine


class WarmDialect(SQLiteDialect_pysqlite):
    """A dialect that starts with what the first one of this process knows; all are equal, so they share statements."""

    supports_statement_cache = True

    _first: "WarmDialect | None" = None
    _compiled: dict[Any, Any] = {}

    def __init__(self, **options: Any) -> None:
        if WarmDialect._first is None:
            super().__init__(**options)
            WarmDialect._first = self
        else:
            # All but the listeners, which are of one engine.
            vars(self).update({name: value for name, value in vars(self._first).items() if name != "dispatch"})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WarmDialect)

    def __hash__(self) -> int:
        return hash(WarmDialect)

    @classmethod
    def engine_created(cls, engine: Engine) -> None:
        """Have the engine use the statements that others have compiled."""
        engine.update_execution_options(compiled_cache=cls._compiled)


sa.dialects.registry.register("sqlite.warm", __name__, WarmDialect.__name__)
WARM = "sqlite+warm"
