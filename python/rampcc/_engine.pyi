"""The engine. Its functions take and give what `rampcc/__init__.py` makes of a caller's arguments; use those."""

from collections.abc import Iterator
from typing import Any, Final, final

__all__ = ["VERSION", "Table", "Tasks", "compare", "league", "play", "play_candidate", "reproduce", "run"]

VERSION: Final[str]

@final
class Table:
    """An Arrow table. pyarrow, pandas, polars and all else that speaks Arrow's PyCapsule protocol take it without copying."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...
    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
    @property
    def num_rows(self) -> int:
        """Number of rows."""
    @property
    def num_columns(self) -> int:
        """Number of columns."""

_Sent = tuple[str, str, int, str]
"""Digest and content of a path, the number of a task, and its content."""

@final
class Tasks:
    """Runs for other processes to play, made as they are taken. Those on the same path follow each other."""

    def __iter__(self) -> Iterator[_Sent]: ...
    def __next__(self) -> _Sent: ...

def run(asked: dict[str, Any]) -> dict[str, Any]: ...
def compare(asked: dict[str, Any]) -> dict[str, Any]: ...
def league(asked: dict[str, Any]) -> dict[str, Any]: ...
def reproduce(asked: dict[str, Any]) -> dict[str, Any]: ...
def play(path: str, tasks: list[str], compiler: str) -> list[str]: ...
def play_candidate() -> None: ...
