"""`compare` and `sweep`: the engine's results, as tables."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import polars
import pytest

import rampcc as ramp

ROWS = ["slow_start", "hystart"]


def table_of(file: Path) -> list[dict[str, str]]:
    lines = [line for line in file.read_text().splitlines(keepends=True) if not line.startswith("#")]
    return list(csv.DictReader(lines))


def same(cell: str, value: object) -> bool:
    """Whether a cell of the engine's CSV is this value."""
    if value is None:
        return cell == ""
    if isinstance(value, bool):
        return cell == str(value).lower()
    return float(cell) == value if isinstance(value, (int, float)) else cell == value


def test_tables_are_the_engines_files(path: dict[str, Any], tmp_path: Path) -> None:
    found = ramp.compare(path, algorithms=ROWS, runs=3, neighbours=4, uncertain={"path.rtt": "10ms..40ms"}, out="here")
    assert found.report == Path("here/report.html") and found.report.is_file()
    for name, table in (("comparison.csv", found.summary), ("runs.csv", found.runs)):
        expected = table_of(tmp_path / "here" / name)
        frame = polars.DataFrame(table)
        if name == "runs.csv":
            frame = frame.filter(~polars.col("at_least")).drop("at_least")
        assert frame.height == len(expected) > 10
        assert frame.columns == list(expected[0])
        for line, row in zip(expected, frame.iter_rows(named=True), strict=True):
            assert all(same(line[column], row[column]) for column in line), (line, row)
    document = json.loads(found.json)
    assert document == json.loads((tmp_path / "here/comparison.json").read_text())
    assert found.leader == document["leader"] and found.verdict == document["verdict"]
    assert len(found.pairs) == len(document["pairs"]) > 0
    assert "hystart" in str(found) and found.verdict.split(",")[0].split()[0] in str(found)


def test_the_command_in_the_files_makes_them_again(path: dict[str, Any]) -> None:
    first = ramp.compare(path, algorithms="hystart", runs=2, seed=0, neighbours=0, out="first")
    command = json.loads(first.json)["provenance"]["command"]
    assert "neighbours=0" in command and "seed=0" in command and "out" not in command
    again = eval(command, {"rampcc": ramp})
    assert again.json == first.json
    assert again.report != first.report


def test_finished_runs_are_found_again(path: dict[str, Any], tmp_path: Path) -> None:
    asked = {"algorithms": ROWS, "runs": 2, "neighbours": 0, "out": "here"}
    first = ramp.compare(path, **asked)
    written = {file: file.stat().st_mtime_ns for file in (tmp_path / "here/runs").glob("*.json")}
    assert len([file for file in written if "-later" not in file.name]) == 4
    assert ramp.compare(path, **asked).json == first.json
    assert {file: file.stat().st_mtime_ns for file in written} == written
    assert ramp.compare(path, **asked, reuse=False, jobs=1).json == first.json
    assert any(file.stat().st_mtime_ns != time for file, time in written.items())


def test_another_comparisons_directory_is_left_and_the_caller_warned(path: dict[str, Any]) -> None:
    ramp.compare(path, algorithms="hystart", runs=1, neighbours=0, out="here")
    with pytest.warns(ramp.RampWarning, match="here holds another comparison") as warned:
        other = ramp.compare(path, algorithms="slow_start", runs=1, neighbours=0, out="here")
    assert warned[0].filename == __file__
    assert other.report.parent.parent == Path("here")


def test_what_did_not_finish_is_a_lower_bound(path: dict[str, Any]) -> None:
    found = ramp.compare(path, settings={"duration": "220 ms"}, algorithms="hystart", runs=4, neighbours=0)
    times = polars.DataFrame(found.runs).filter(metric="download_time")
    assert times["at_least"].to_list() == [True, False, False, True]
    assert times.filter("at_least")["value"].to_list() == [0.22, 0.22]
    assert times.filter(~polars.col("at_least"))["value"].max() < 0.22


def test_neighbours_have_their_fields(path: dict[str, Any]) -> None:
    found = ramp.compare(path, algorithms=ROWS, runs=1, neighbours=4, uncertain={"path.rtt": "10ms..40ms"})
    frame = polars.DataFrame(found.neighbours)
    assert frame.height == 8 and frame["path"].unique().sort().to_list() == [0, 1, 2, 3]
    assert frame["path.rtt"].str.ends_with(" ms").all() and frame["path.rtt"].n_unique() == 4
    assert (frame.group_by("path").agg(polars.col("regret").min())["regret"] == 0.0).all()
    assert len(ramp.compare(path, algorithms=ROWS, runs=1, neighbours=0).neighbours) == 0


def test_a_sweep_has_a_comparison_for_each_value(path: dict[str, Any]) -> None:
    fields = {"path.buffer": ["0.5 bdp", "2 bdp"], "sender.prr": [True, False]}
    swept = ramp.sweep(path, fields, algorithms=ROWS, runs=2)
    assert swept.fields == tuple(fields)
    frame = polars.DataFrame(swept)
    points = frame.select(swept.fields).unique(maintain_order=True).rows()
    assert points == [("0.5 bdp", "true"), ("0.5 bdp", "false"), ("2 bdp", "true"), ("2 bdp", "false")]
    for buffer, prr in points:
        alone = ramp.compare(
            path, algorithms=ROWS, runs=2, settings={"path.buffer": buffer, "sender.prr": prr == "true"}, neighbours=0
        )
        mean = polars.col("algorithm", "metric", "mean")
        here = frame.filter(polars.col("path.buffer") == buffer, polars.col("sender.prr") == prr)
        assert here.select(mean).equals(polars.DataFrame(alone).select(mean))
    assert swept.report.name == "index.html" and swept.report.is_file()
    assert len(json.loads(swept.json)["comparisons"]) == 4


def test_a_swept_parameter_makes_rows(path: dict[str, Any]) -> None:
    swept = ramp.sweep(path, {"algorithm.hystart.low_window": [16, 32]}, runs=1, neighbours=0)
    assert swept.fields == ()
    rows = polars.DataFrame(swept.summary)["algorithm"].unique(maintain_order=True)
    assert rows.to_list() == ["hystart low_window=16", "hystart low_window=32", "ideal"]
