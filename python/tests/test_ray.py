"""`engine="ray"`: the same bytes from another place, whoever dies on the way."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import polars
import pytest

import rampcc as ramp
from rampcc import _ray

ray = pytest.importorskip("ray", reason="no Ray: pip install 'rampcc[ray]'")

ROWS = ["slow_start", "hystart"]


@pytest.fixture(scope="module", autouse=True)
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Two workers."""
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


def files(place: Path) -> dict[str, bytes]:
    """All files below a directory."""
    return {str(file.relative_to(place)): file.read_bytes() for file in place.rglob("*") if file.is_file()}


def test_a_worker_that_dies_half_way_changes_nothing(path: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {"algorithms": ROWS, "runs": 60, "neighbours": 30, "uncertain": {"path.rtt": "10ms..40ms"}}
    alone = ramp.compare(path, **asked, out="alone")
    died = tmp_path / "died"

    def dying(path: str, tasks: list[str]) -> tuple[float, list[str]]:
        # In the worker this is the module as it was.
        from rampcc import _ray

        if len(tasks) > 1 and not died.exists():
            _ray.work(path, tasks[: len(tasks) // 2])
            try:
                died.touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return _ray.work(path, tasks)

    monkeypatch.setattr(_ray, "work", dying)
    theirs = ramp.compare(path, **asked, out="theirs", engine="ray")
    assert died.exists()
    assert theirs.json == alone.json and theirs.text == alone.text
    assert polars.DataFrame(theirs.neighbours).equals(polars.DataFrame(alone.neighbours))
    here, there = files(Path("alone")), files(Path("theirs"))
    assert len(here) > 180 and here == there


def test_what_is_finished_is_kept_and_another_engine_goes_on_from_there(
    path: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {"algorithms": ROWS, "runs": 40, "neighbours": 0, "out": "here"}
    whole = _ray.play

    def interrupted(tasks: Iterable[Any], jobs: int | None) -> Iterator[tuple[int, str]]:
        for count, answer in enumerate(whole(tasks, jobs)):
            if count == 30:
                raise KeyboardInterrupt
            yield answer

    monkeypatch.setattr(_ray, "play", interrupted)
    with pytest.raises(KeyboardInterrupt) as stopped:
        ramp.compare(path, **asked, engine="ray")
    assert "interrupted: 30 of 80 runs are finished" in "".join(stopped.value.__notes__)
    kept = {file: file.stat().st_mtime_ns for file in Path("here/runs").iterdir()}
    assert len(kept) == 30
    found = ramp.compare(path, **asked)
    # Runs that are drawn are played once more, for their curves.
    assert sum(file.stat().st_mtime_ns == time for file, time in kept.items()) >= 20
    monkeypatch.setattr(_ray, "play", whole)
    assert ramp.compare(path, **asked, engine="ray", jobs=1).json == found.json


def test_a_sweep_and_a_league_with_a_candidate(path: dict[str, Any], tmp_path: Path) -> None:
    fields = {"path.buffer": ["0.5 bdp", "2 bdp"]}
    here, there = (ramp.sweep(path, fields, algorithms=ROWS, runs=2, engine=engine) for engine in ("local", "ray"))
    assert here.json == there.json
    paths = tmp_path / "paths.toml"
    line = 'size = "200 kB"\npath.rate = "10 Mbit/s"\npath.rtt = "20 ms"\n'
    paths.write_text(f'[a]\naccess = "x"\n{line}[b]\naccess = "y"\npath.jitter = "1 ms"\n{line}')
    header = Path(__file__).parents[2] / "include/ramp/hystart.h"
    asked: dict[str, Any] = {"paths": paths, "algorithms": ROWS, "sizes": ["100kB", "200kB"], "candidates": f"{header}:low_window=64"}
    league = ramp.league(**asked, out="league-local")
    theirs = ramp.league(**asked, out="league-ray", engine="ray")
    assert theirs.json == league.json
    assert polars.DataFrame(theirs.downloads).equals(polars.DataFrame(league.downloads))


def test_what_is_wrong_there_is_told_here(path: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _ray.play

    def other(tasks: Iterable[Any], jobs: int | None) -> Iterator[tuple[int, str]]:
        changed = ((digest, there, number, task.replace('"version":"', '"version":"0.0.')) for digest, there, number, task in tasks)
        return whole(changed, jobs)

    monkeypatch.setattr(_ray, "play", other)
    with pytest.raises(ramp.InputError, match=r"the worker that is to play \w+, seed \d cannot: its ramp is"):
        ramp.compare(path, algorithms=ROWS, runs=2, neighbours=0, engine="ray")


def test_bad_arguments(path: dict[str, Any]) -> None:
    with pytest.raises(ramp.InputError, match='`engine` is \'dask\'\nhelp: "local" or "ray"'):
        ramp.compare(path, engine="dask")  # type: ignore[arg-type]
    with pytest.raises(ramp.InputError, match="`jobs` is 0\nhelp: a number from 1"):
        ramp.compare(path, engine="ray", jobs=0)


def test_no_cluster(path: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> None:
        raise ConnectionError("nobody at 192.0.2.1:6379")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", refused)
    with pytest.raises(ramp.RampError, match="no Ray cluster answers: nobody at 192.0.2.1:6379\nhelp: RAY_ADDRESS"):
        ramp.compare(path, engine="ray")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ramp.InputError, match=r'Ray is not installed\nhelp: pip install "rampcc\[ray\]"'):
        ramp.compare(path, engine="ray")


def test_tasks_on_a_path_go_together_in_growing_numbers() -> None:
    pace = _ray._Pace()
    tasks = [("a", "A", number, "") for number in range(6)] + [("b", "B", number, "") for number in range(6, 9)]
    batches = _ray._batches(iter(tasks), pace)
    sizes = []
    for digest, content, numbered in batches:
        assert content == digest.upper()
        sizes.append((digest, len(numbered)))
        pace.took(0.001, len(numbered))
    assert sizes == [("a", 1), ("a", 2), ("a", 3), ("b", 3)]
    pace.took(10.0, 8)
    assert pace.size == 1
