"""`reproduce`: published experiments and their claims."""

from __future__ import annotations

import json
from pathlib import Path

import polars
import pytest

import rampcc as ramp

FILE = """
id = "mine"
paper = "past"
figure = "Figure 1"
title = "Loss over buffer"
kind = "run"
inline = '''
size = "300 kB"
[path]
rate = "10 Mbit/s"
rtt = "40 ms"
'''
runs = 2
quick = { runs = 1, at = ["5 packets"] }

[[arm]]
label = "SS"
algorithm = "slow_start"

[[sweep]]
name = "buffer"
field = "path.buffer"
values = ["5 packets", "100 packets"]

[metric.lost]
of = "flow_lost"

[[plot]]
form = "lines"
metric = "lost"

[[claim]]
text = "A small buffer loses packets."
where = "§1"
check = "lost[SS] > 0"
at = ["5 packets"]

[[claim]]
text = "A large one loses more."
where = "§1"
check = "lost[SS@100 packets] > lost[SS@5 packets]"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "mine.toml"
    file.write_text(FILE)
    return file


def test_claims_and_points_are_tables(file: Path) -> None:
    found = ramp.reproduce(file, out="here")
    claims = polars.DataFrame(found)
    assert claims["holds"].to_list() == [True, False]
    assert (found.held, found.checked, found.contradicted) == (1, 2, 0)
    told = json.loads(found.json)["mine"]
    assert claims["measured"].to_list() == [claim["measured"] for claim in told]
    points = polars.DataFrame(found.points)
    small, large = points["y"].to_list()
    assert small > 0 and large == 0
    assert found.report == Path("here/index.html") and Path("here/mine.html").is_file()


def test_quick_leaves_the_pages_of_all_runs(file: Path) -> None:
    ramp.reproduce(file, out="here")
    whole = Path("here/mine.html").read_bytes()
    quick = ramp.reproduce(file, quick=True, out="here")
    assert polars.DataFrame(quick)["holds"].to_list() == [True, None]
    assert quick.report == Path("here/quick/index.html")
    assert Path("here/mine.html").read_bytes() == whole


def test_formulae_need_no_runs() -> None:
    found = ramp.reproduce(["hystart-fn3", "past-tab2"], out="here")
    assert (found.held, found.checked) == (0, 0)
    assert polars.DataFrame(found)["holds"].all()


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(ramp.InputError, match="hystart-fig18b"):
        ramp.reproduce("hystart-fig18")
    with pytest.raises(ramp.InputError, match="expected some of hystart, past, best, enhanced"):
        ramp.reproduce(papers="reno")
