"""A look at the hub's file from another program, while the hub may be running: reads only, changes nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from bridge.store.errors import store_error


class Glance:
    """A read-only connection; raises StoreError when there is no readable database."""

    def __init__(self, path: Path) -> None:
        try:
            self._connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=5.0)
        except sqlite3.Error as error:
            raise store_error(error, path) from error
        self._path = path
        self._connection.row_factory = sqlite3.Row

    def __enter__(self) -> Glance:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def rows(self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> list[sqlite3.Row]:
        """All rows of a query."""
        try:
            return self._connection.execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            raise store_error(error, self._path) from error
