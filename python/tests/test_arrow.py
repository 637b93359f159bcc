"""Tables cross over without copying."""

from __future__ import annotations

from typing import Any

import pandas
import polars
import pyarrow
import pytest

import rampcc as ramp


def addresses(table: pyarrow.Table) -> list[int]:
    return [
        buffer.address
        for column in table.columns
        for buffer in column.chunk(0).buffers()
        if buffer is not None and buffer.size > 0
    ]


def test_pyarrow_takes_the_engines_own_memory(path: dict[str, Any]) -> None:
    table = ramp.run(path).samples
    first, second = pyarrow.table(table), pyarrow.table(table)
    assert first.num_rows == table.num_rows == len(table) > 100
    assert first.column_names == table.column_names and first.num_columns == table.num_columns
    assert addresses(first) == addresses(second) and len(addresses(first)) > table.num_columns - 2
    first.validate(full=True)


def test_what_was_taken_outlives_its_source(path: dict[str, Any]) -> None:
    taken = pyarrow.table(ramp.run(path))
    kept = taken.to_pylist()
    for seed in range(3):
        ramp.run(path, seed=seed)
    assert taken.to_pylist() == kept
    taken.validate(full=True)


def test_pandas_and_polars_see_the_same(path: dict[str, Any]) -> None:
    events = ramp.run(path).events
    theirs = pandas.DataFrame.from_arrow(events)
    ours = polars.DataFrame(events)
    assert list(theirs.columns) == ours.columns and len(theirs) == ours.height > 100
    assert theirs["event"].tolist() == ours["event"].to_list()
    assert theirs["bytes"].sum() == ours["bytes"].sum() > 0
    assert theirs["under_test"].isna().sum() == ours["under_test"].null_count() > 0


def test_results_are_their_first_tables(path: dict[str, Any]) -> None:
    run = ramp.run(path)
    assert pyarrow.table(run).equals(pyarrow.table(run.samples)) and len(run) == len(run.samples)
    assert pyarrow.schema(run) == pyarrow.schema(run.samples)
    found = ramp.compare(path, algorithms="hystart", runs=1, neighbours=0)
    assert pyarrow.table(found).equals(pyarrow.table(found.summary))


def test_a_stream_that_nobody_reads_is_freed_and_read_once_only(path: dict[str, Any]) -> None:
    table = ramp.run(path).links
    for _ in range(100):
        table.__arrow_c_stream__()
    stream = table.__arrow_c_stream__()
    reader = pyarrow.RecordBatchReader._import_from_c_capsule(stream)
    assert reader.read_all().num_rows == len(table)
    with pytest.raises((ValueError, pyarrow.ArrowInvalid)):
        pyarrow.RecordBatchReader._import_from_c_capsule(stream)


def test_types_are_those_of_the_values(path: dict[str, Any]) -> None:
    schema = pyarrow.schema(ramp.run(path).events)
    assert schema.field("time_ns") == pyarrow.field("time_ns", pyarrow.uint64(), nullable=False)
    assert schema.field("reason") == pyarrow.field("reason", pyarrow.string(), nullable=True)
    assert "time_ns: UInt64" in repr(ramp.run(path).events)
