"""Mistakes are exceptions with the engine's words; Ctrl-C is KeyboardInterrupt."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars
import pytest

import rampcc as ramp

PATH = {"size": "200 kB", "path": {"rate": "10 Mbit/s", "rtt": "20 ms"}}
ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda: ramp.compare("geo-satelite"), "there is no scenario `geo-satelite`\nhelp: did you mean `geo-satellite`?"),
        (lambda: ramp.run(PATH, settings={"path.bufer": "1 bdp"}), "did you mean `buffer`? (set by `path.bufer=1 bdp`)"),
        (lambda: ramp.run({"path": {"rate": "10 Mbit/s", "rtt": 20}}), "path.rtt: found 20: it has no unit\nhelp: expected"),
        (lambda: ramp.run("size = '1 MB'\n[pth]\n"), "line 2, pth: there is no such"),
        (lambda: ramp.run(PATH, "hystrat"), "there is no algorithm `hystrat`; did you mean `hystart`?\nhelp: expected"),
        (lambda: ramp.run(PATH, "hystart:low=1"), "hystart"),
        (lambda: ramp.compare(PATH, algorithms=["best", ""]), "`algorithms` has an empty row between two commas"),
        (lambda: ramp.compare(PATH, runs=0), "`runs` is 0\nhelp: a number from 1 to 1000000"),
        (lambda: ramp.compare(PATH, jobs=-1), "`jobs` is -1\nhelp: a number from 1 to 1024"),
        (lambda: ramp.compare(PATH, neighbours=-1), "`neighbours` is -1\nhelp: a number from 0"),
        (lambda: ramp.sweep(PATH, {"path.rtt": ["1 ms", "1 ms"]}), "`sweep` names a value twice: path.rtt=1 ms"),
        (lambda: ramp.sweep(PATH, {"path.rtt": "1 ms"}), "`fields` has the text '1 ms' for `path.rtt`"),
        (lambda: ramp.sweep(PATH, {}), "`fields` is empty"),
        (lambda: ramp.compare(PATH, seed=-1), "`seed` has a number that is out of range\nhelp: a whole number from 0"),
        (lambda: ramp.league(fresh=1 << 64), "`fresh` has a number that is out of range"),
        (lambda: ramp.run(PATH, settings={"path.rtt": ENDLESS}), "nested too deeply\nhelp: at most 32 lists and dicts"),
        (lambda: ramp.run({**PATH, "more": ENDLESS}), "nested too deeply"),
    ],
)
def test_mistakes_are_input_errors_and_leave_nothing(asked: Callable[[], object], said: str) -> None:
    with pytest.raises(ramp.InputError) as raised:
        asked()
    assert said in str(raised.value)
    assert isinstance(raised.value, ValueError) and isinstance(raised.value, ramp.RampError)
    assert not Path("ramp-results").exists()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"runs": "three"}, "`runs`: 'str' object cannot be interpreted as an integer"),
        ({"seed": 1.5}, "`seed`: 'float' object"),
        ({"settings": {"path.rtt": object()}}, "is no value of a scenario: a text, a number, a bool, a list or a dict"),
        ({"algorithms": [1]}, "`algorithms`: "),
    ],
)
def test_wrong_types_name_their_field(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError) as raised:
        ramp.compare(PATH, **asked)
    assert said in str(raised.value)


def test_a_file_in_the_way_of_the_results_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ramp.InputError, match="results cannot go to file/below/runs: file is a file"):
        ramp.compare(PATH, algorithms="hystart", runs=1, neighbours=0, out="file/below")


def test_what_the_machine_refuses_is_no_input_error() -> None:
    # Nobody can create a folder there, not even root.
    with pytest.raises(ramp.RampError, match="cannot create /proc/below") as raised:
        ramp.compare(PATH, algorithms="hystart", runs=1, neighbours=0, out="/proc/below")
    assert not isinstance(raised.value, ramp.InputError)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C as in a terminal; in the background a shell has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_keeps_finished_runs_and_the_same_call_goes_on(tmp_path: Path) -> None:
    path = {"size": "5 MB", "path": {"rate": "100 Mbit/s", "rtt": "40 ms", "jitter": "1 ms"}}
    asked = {"algorithms": ["slow_start", "hystart"], "runs": 200, "neighbours": 0, "out": "here", "jobs": 1}
    runs = tmp_path / "here/runs"

    # Another thread of Python runs meanwhile, or the signal never comes. It waits for more runs than are drawn.
    def interrupt() -> None:
        while sum(1 for _ in runs.glob("*.json")) < 40:
            pass
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt) as raised:
        ramp.compare(path, **asked)
    thread.join()
    (note,) = raised.value.__notes__
    assert note.startswith("interrupted: ") and note.endswith("of 400 runs are finished and kept in here")
    kept = {file: file.stat().st_mtime_ns for file in runs.glob("*.json")}
    assert 0 < len(kept) < 400
    found = ramp.compare(path, **asked)
    assert len(polars.DataFrame(found.runs).filter(metric="download_time")) == 400
    # Only those that are drawn are played once more, with their curves.
    again = {file.name.split("-")[1] for file, time in kept.items() if file.stat().st_mtime_ns != time}
    assert again <= {str(drawn["seed"]) for drawn in json.loads(found.json)["drawn"]}
    assert len(again) < len(kept) // 2


def test_errors_and_results_are_the_packages_own() -> None:
    assert {each.__module__ for each in (ramp.RampError, ramp.InputError, ramp.RampWarning)} == {"rampcc"}
    assert ramp.__version__.count(".") == 2
    assert set(ramp.__all__) <= set(dir(ramp))
