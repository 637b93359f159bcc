"""Arguments of any kind give a result or an exception of a documented kind, and nothing is half written.

Each call has at least one argument from `ANYTHING`, the rest are small and right, so that what happens to be right is soon
played.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import rampcc as ramp

PATH = {"size": "20 kB", "path": {"rate": "10 Mbit/s", "rtt": "20 ms"}}
PATHS = '[near]\naccess = "fibre"\nsize = "100 kB"\npath.rate = "20 Mbit/s"\npath.rtt = "10 ms"\n'


def nested(value: Any, kind: type, depth: int) -> Any:
    for _ in range(depth):
        value = {"path": value} if kind is dict else kind([value])
    return value


class Odd:
    """Neither text nor number, whatever is asked of it."""

    def __repr__(self) -> str:
        return "\udcff odd"


# None that is a number of runs or of jobs: a right one would be played.
NUMBERS: list[Any] = [-1, 0, 1, -(2**63), 2**63, 2**64, 10**30, -0.0, 0.5, 1e300, math.nan, math.inf, -math.inf, True, 2 + 3j]
TEXTS: list[Any] = [
    *["", "\0", "a\0b", "\n", "=", ",", ":", "[", "{", '"', "'''", "\ud800", "\U0001f40c", "hystrat", "best:", "best:=", "=best"],
    *["NaN MB", "inf ms", "-1 kB", "1e400 ms", "9" * 400 + " MB", "1 parsec", "1..", "..1", "2ms..1ms", "a" * 100_000],
    *["missing/file.toml", ".", "/dev/null", "~", "league:", "league:geo-99999999999999999999", "size = [", "[path]\n[path]\n"],
]
STRUCTURES: list[Any] = [
    *[b"best", bytearray(3), object(), Odd(), int, len, Ellipsis, range(3), frozenset([1]), Path("missing/file"), Path("\ud800")],
    *[[], {}, (), [None], [[]], [b"x"], {1: 2}, {"": ""}, {None: None}, {"path": None}, {"path": 3}, {"path.rtt": math.nan}],
    *[{"\ud800": "1 ms"}, {"path.rtt": ["1 ms"] * 3}, ["best", 1], {"fibre": math.nan}, {"fibre": -1.0}, {"fibre": "x"}, {"near": 1}],
    *(nested(PATH, kind, depth) for kind in (dict, list, tuple) for depth in (1, 40)),
]
# Deeper than hypothesis could show them.
DEEP: list[Any] = [nested(PATH, kind, 20_000) for kind in (dict, list, tuple)]
ANYTHING = st.one_of(
    *map(st.sampled_from, (NUMBERS, TEXTS, STRUCTURES)),
    st.text(st.characters(exclude_characters="/."), max_size=20),  # results stay where they belong
    st.dictionaries(
        st.sampled_from(["path.rtt", "path.rate", "path.buffer", "size", "path", "algorithm.hystart", "x", ""]),
        st.one_of(*map(st.sampled_from, (NUMBERS, TEXTS, STRUCTURES))),
        max_size=3,
    ),
    st.lists(st.one_of(*map(st.sampled_from, (NUMBERS, TEXTS, STRUCTURES))), max_size=3),
)

# Each function's arguments: what is right, and small.
COMPARE = {"scenario": PATH, "algorithms": "hystart", "settings": {}, "runs": 1, "seed": 1, "uncertain": {}, "neighbours": 0}
KEPT = {"out": "here", "reuse": True, "jobs": 1}
FUNCTIONS: dict[Callable[..., Any], dict[str, Any]] = {
    ramp.run: {"scenario": PATH, "algorithm": "hystart", "settings": {}, "seed": 1},
    ramp.compare: {**COMPARE, **KEPT, "engine": "local"},
    ramp.sweep: {**COMPARE, "fields": {"path.rtt": ["5 ms"]}, **KEPT, "engine": "local"},
    ramp.league: {
        **{"algorithms": "hystart", "candidates": "no such.h", "held_out": False, "fresh": None, "paths": "paths.toml"},
        **{"weights": None, "sizes": "10kB", "seeds": 1, "quick": True, **KEPT, "engine": "local"},
    },
    ramp.reproduce: {"experiments": "no such", "papers": (), "quick": True, **KEPT},
}
# Without these a call would play a whole population. Nor does a league or an experiment begin otherwise: each takes seconds.
NEVER_EMPTY = {"paths", "experiments", "candidates"}
DOCUMENTED = (ramp.RampError, ValueError, TypeError)


def called(function: Callable[..., Any], arguments: dict[str, Any]) -> None:
    """Calls it in a directory of its own and looks at what it leaves there."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore", ramp.RampWarning)
        os.chdir(place)
        try:
            Path("paths.toml").write_text(PATHS)
            try:
                result = function(**arguments)
            except DOCUMENTED as error:
                played = isinstance(error, ramp.RampError) and not isinstance(error, ramp.InputError)
                assert str(error), f"{type(error)} says nothing"
                assert played or os.listdir() == ["paths.toml"], f"{error} came after something was written"
            else:
                assert len(result) >= 0 and repr(result)
            for file in (Path(root) / name for root, _, names in os.walk(".") for name in names):
                assert ".part" not in file.name
                if file.suffix == ".json":
                    json.loads(file.read_text())
        finally:
            os.chdir(before)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_whatever_is_asked_for_is_answered(function: Callable[..., Any]) -> None:
    right = FUNCTIONS[function]
    names = st.sets(st.sampled_from(sorted(right)), min_size=1, max_size=3)

    @seed(1)
    @settings(max_examples=100, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def ask(data: st.DataObject) -> None:
        wrong = {name: data.draw(ANYTHING, label=name) for name in sorted(data.draw(names))}
        kept = {name: value for name, value in wrong.items() if name not in NEVER_EMPTY or value}
        called(function, {**right, **kept})

    ask()


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_every_argument_takes_odd_values(function: Callable[..., Any]) -> None:
    right = FUNCTIONS[function]
    odd = [None, *NUMBERS, *TEXTS, *STRUCTURES, *DEEP]
    for place, name in enumerate(right):
        for value in odd[place % 2 :: 2]:  # one half and the other in turn, for the time they take
            if value or name not in NEVER_EMPTY:
                called(function, {**right, name: value})
