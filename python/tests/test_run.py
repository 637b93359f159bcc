"""`run`: every sample and event, and the ways to name a path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars
import pytest

import rampcc as ramp


def test_a_run_has_its_samples_events_and_metrics(path: dict[str, Any]) -> None:
    run = ramp.run(path, "mine=hystart:low_window=4", seed=3)
    assert (run.algorithm, run.seed) == ("mine", 3)
    samples, events = polars.DataFrame(run.samples), polars.DataFrame(run.events)
    assert samples["time_ns"].is_sorted() and samples["delivered_bytes"].max() > 100_000
    assert samples["ssthresh_bytes"][0] is None and samples["rtt_ns"].drop_nulls().min() >= 20_000_000
    assert set(samples["phase"]) == {"startup", "done"}
    assert events["event"][0] == "opened" and events["event"][-1] == "completed" and events["bytes"][-1] == 200_000
    exits = events.filter(event="startup_exit")
    assert exits.height == 1 and exits["reason"][0] == "ack-train" and "ACK train" in run.explanation
    value = dict(polars.DataFrame(run.metrics).select("metric", "value").iter_rows())
    assert value["download_time"] == pytest.approx(events["time_ns"][-1] / 1e9)
    assert len(run.links) > 100


def test_the_same_seed_gives_the_same_bytes_and_another_one_does_not(path: dict[str, Any]) -> None:
    first, again, other = (polars.DataFrame(ramp.run(path, seed=seed)) for seed in (1, 1, 2))
    assert first.equals(again) and not first.equals(other)


def test_a_path_has_many_forms(path: dict[str, Any], tmp_path: Path) -> None:
    text = """
name = "short"
size = "200 kB"
[path]
rate = "10 Mbit/s"
rtt = "20 ms"
buffer = "1 bdp"
jitter = { kind = "uniform", max = "2 ms" }
"""
    file = tmp_path / "short.toml"
    file.write_text(text)
    flat = {"size": "200 kB", "path": {"rate": "10 Mbit/s", "rtt": "1 s", "jitter": {"kind": "uniform", "max": "2 ms"}}}
    on_top = {"path.rtt": "20 ms", "path.buffer": "1 bdp"}
    runs = [ramp.run(path), ramp.run(text), ramp.run(file), ramp.run(str(file)), ramp.run(flat, settings=on_top)]
    frames = [polars.DataFrame(run) for run in runs]
    assert all(frame.equals(frames[0]) for frame in frames)


def test_none_removes_a_field(path: dict[str, Any]) -> None:
    still = ramp.run(path, settings={"path.jitter": None}, seed=1)
    assert polars.DataFrame(still).equals(polars.DataFrame(ramp.run(path, settings={"path.jitter": None}, seed=2)))


def test_built_in_paths_and_those_of_the_league_have_names() -> None:
    assert len(ramp.run("league:cable-01", "slow_start", settings={"duration": "2 s"})) > 10
    assert len(ramp.run("cable", "slow_start", settings={"duration": "1 s"})) > 10
