"""`league`: a population of paths."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars
import pytest

import rampcc as ramp

PATHS = """
[near]
access = "fibre"
size = "1 MB"
path.rate = "20 Mbit/s"
path.rtt = "10 ms"

[far]
access = "geo"
size = "1 MB"
path.rate = "20 Mbit/s"
path.rtt = "300 ms"
"""


@pytest.fixture
def paths(tmp_path: Path) -> Path:
    file = tmp_path / "mine.toml"
    file.write_text(PATHS)
    return file


def test_a_league_ranks_and_keeps_every_download(paths: Path) -> None:
    league = ramp.league(paths=paths, algorithms="best", sizes=["100kB", "1 MB"], seeds=1, out="here")
    standings = polars.DataFrame(league)
    assert set(standings["algorithm"]) == {"best", "slow_start", "hystart", "ideal"}
    assert standings["yardstick"].to_list() == [False, False, False, True]
    assert standings["over_ideal"][:3].is_sorted() and standings["over_ideal"][3] == 1.0
    assert {"over_ideal_100000_bytes", "over_ideal_1000000_bytes"} < set(standings.columns)
    for line, told in zip(standings.iter_rows(named=True), json.loads(league.json)["standings"], strict=True):
        assert (line["algorithm"], line["over_ideal"]) == (told["label"], told["ideal"]["mean"])
    downloads = polars.DataFrame(league.downloads)
    assert downloads.height == 2 * 2 * 4
    with Path("here/league-mine.csv").open() as file:
        for told, line in zip(csv.DictReader(file), downloads.iter_rows(named=True), strict=True):
            assert told["path"] == line["path"] and told["algorithm"] == line["algorithm"]
            assert float(told["seconds"]) == pytest.approx(line["seconds"], abs=1e-6)
    assert league.report == Path("here/league-mine.html") and league.report.is_file()


def test_weights_decide_what_counts(paths: Path) -> None:
    def over_ideal(weights: dict[str, float]) -> float:
        league = ramp.league(paths=paths, algorithms="slow_start", sizes="100kB", seeds=1, weights=weights)
        return polars.DataFrame(league).filter(algorithm="slow_start")["over_ideal"][0]

    near, far, both = over_ideal({"fibre": 1}), over_ideal({"geo": 2}), over_ideal({"fibre": 1, "geo": 1})
    assert near != far and min(near, far) < both < max(near, far)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"weights": {"fibr": 1.0}}, "weights: the population has no access type `fibr`\nhelp: did you mean `fibre`?"),
        ({"weights": {"fibre": -1.0}}, "weights: `fibre` is -1"),
        ({"sizes": ["3MB"]}, "`sizes` has `3MB`\nhelp: expected some of 10kB, "),
        ({"seeds": 0}, "`seeds` is 0\nhelp: a number from 1 to 1000"),
        ({"held_out": True}, "`held_out`, `fresh` and `paths` each name the population"),
        ({"algorithms": "hystrat"}, "did you mean `hystart`?"),
        ({"candidates": "none.h"}, "none.h"),
    ],
)
def test_mistakes_are_told_before_anything_is_played(paths: Path, asked: dict[str, object], said: str) -> None:
    with pytest.raises(ramp.RampError) as raised:
        ramp.league(paths=paths, **asked)
    assert said in str(raised.value)
    assert not Path("ramp-results").exists()
