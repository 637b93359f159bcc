"""TCP and QUIC start-up algorithms: simulated, compared with statistics, ranked.

    import rampcc as ramp

    comparison = ramp.compare("geo-satellite", algorithms=["hystart", "best", "slow_start"])
    print(comparison)
    polars.DataFrame(comparison.runs)

The engine is that of the `ramp` command: the same scenario, algorithms and seeds give the same bytes, and both find each
other's finished runs in `ramp-results`. Results are Arrow tables, which pyarrow, pandas and polars take without copying.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from . import _engine, _ray
from ._engine import Table
from ._errors import InputError, RampError, RampWarning
from ._results import Comparison, League, Reproduction, Run, Sweep

__all__ = [
    "Comparison",
    "Engine",
    "InputError",
    "League",
    "RampError",
    "RampWarning",
    "Reproduction",
    "Run",
    "Scenario",
    "Sweep",
    "Table",
    "Value",
    "__version__",
    "compare",
    "league",
    "reproduce",
    "run",
    "sweep",
]

__version__: str = _engine.VERSION

Value = str | int | float | bool | Sequence[Any] | Mapping[str, Any] | None
"""A value of a scenario's field, with its unit as in a scenario file (`"100 Mbit/s"`); None removes the field."""

Scenario = str | os.PathLike[str] | Mapping[str, Any]
"""A built-in scenario, a path of the league, a file, the text of one, or its content."""

Engine = Literal["local", "ray"]
"""Who plays: this machine's cores, or those of a Ray cluster."""

_DEFAULT = "geo-satellite"


def run(
    scenario: Scenario = _DEFAULT,
    algorithm: str = "hystart",
    *,
    settings: Mapping[str, Value] | None = None,
    seed: int | None = None,
) -> Run:
    """Play one run and keep every sample and event of it.

    `scenario`: the name of a built-in scenario, a path of the league (`league:geo-07`), a scenario file, the text of one,
    or a dict with its content. `settings`: fields on top, by their dotted names: `{"path.buffer": "1 bdp"}`.
    `algorithm`: `[LABEL=]ALGORITHM[:PARAMETER=VALUE,...]`. `seed`: of everything random; None: the scenario's first.

    Raises InputError where the request is wrong, and KeyboardInterrupt on Ctrl-C.
    """
    told = {"algorithm": algorithm, "settings": settings, "seed": seed}
    asked: dict[str, Any] = {
        "path": _path(scenario, settings),
        "algorithm": algorithm,
        "seed": seed,
        "command": _command("run", scenario, told),
    }
    return Run(**_result(_engine.run, asked))


def compare(
    scenario: Scenario = _DEFAULT,
    *,
    algorithms: str | Iterable[str] = (),
    settings: Mapping[str, Value] | None = None,
    runs: int | None = None,
    seed: int | None = None,
    uncertain: Mapping[str, str] | None = None,
    neighbours: int | None = None,
    out: str | os.PathLike[str] | None = None,
    reuse: bool = True,
    jobs: int | None = None,
    engine: Engine = "local",
) -> Comparison:
    """Compare start-up algorithms on a path, as `ramp compare` does.

    `scenario`, `settings`: as for `run`. `algorithms`: rows and groups (`"deployed"`); none: the default ones. `runs`: of
    each algorithm, from `seed` on; None: what the scenario says. `uncertain`: fields that are not known, with their ranges
    (`{"path.reverse.rate": "1mbit..50mbit"}`), on top of the scenario's. `neighbours`: paths to draw from these; None: 64;
    0: take the path as described. `out`: results directory; None: below `ramp-results`. `reuse`: take finished runs from
    there. `engine`: "local" plays on this machine's cores, "ray" on those of a Ray cluster; the results are the same bytes.
    `jobs`: runs at the same time, or tasks of Ray's; None: as many as there are cores for.

    Finished runs are kept: after Ctrl-C, the same call plays only the missing ones.
    """
    asked: dict[str, Any] = {
        "algorithms": _texts("algorithms", algorithms),
        "sweep": [],
        "runs": runs,
        "seed": seed,
        "uncertain": _entries("uncertain", uncertain),
        "neighbours": neighbours,
    }
    told = {**asked, "settings": settings, "uncertain": uncertain}
    asked |= {
        "path": _path(scenario, settings),
        "out": _place(out),
        "reuse": reuse,
        **_hands(engine, jobs),
        "command": _command("compare", scenario, told),
    }
    compared = _result(_engine.compare, asked)
    del compared["fields"]
    return Comparison(**compared)


def sweep(
    scenario: Scenario = _DEFAULT,
    fields: Mapping[str, Iterable[Value]] | None = None,
    *,
    algorithms: str | Iterable[str] = (),
    settings: Mapping[str, Value] | None = None,
    runs: int | None = None,
    seed: int | None = None,
    uncertain: Mapping[str, str] | None = None,
    neighbours: int | None = None,
    out: str | os.PathLike[str] | None = None,
    reuse: bool = True,
    jobs: int | None = None,
    engine: Engine = "local",
) -> Sweep:
    """Compare at every combination of values, as `ramp compare --sweep` does.

    `fields`: values by field. A scenario's field (`{"path.buffer": ["0.25 bdp", "1 bdp"]}`) makes a comparison for each
    value; an algorithm's parameter (`{"algorithm.hystart.low_window": [16, 32]}`) makes a row for each. The rest is as for
    `compare`, but that neighbouring paths of a swept field are played only if `neighbours` asks for them.
    """
    named = _entries("fields", fields)
    if not named:
        raise InputError("`fields` is empty\nhelp: a field with its values, as in {'path.buffer': ['0.25 bdp', '1 bdp']}")
    swept = {field: _values(field, values) for field, values in named}
    asked: dict[str, Any] = {
        "algorithms": _texts("algorithms", algorithms),
        "runs": runs,
        "seed": seed,
        "uncertain": _entries("uncertain", uncertain),
        "neighbours": neighbours,
    }
    told = {"fields": swept, **asked, "settings": settings, "uncertain": uncertain}
    asked |= {
        "path": _path(scenario, settings),
        "sweep": list(swept.items()),
        "out": _place(out),
        "reuse": reuse,
        **_hands(engine, jobs),
        "command": _command("sweep", scenario, told),
    }
    compared = _result(_engine.compare, asked)
    del compared["leader"], compared["verdict"]
    return Sweep(**{**compared, "fields": tuple(compared["fields"])})


def league(
    *,
    algorithms: str | Iterable[str] = (),
    candidates: str | Iterable[str] = (),
    held_out: bool = False,
    fresh: int | None = None,
    paths: str | os.PathLike[str] | None = None,
    weights: Mapping[str, float] | None = None,
    sizes: str | Iterable[str] = (),
    seeds: int | None = None,
    quick: bool = False,
    out: str | os.PathLike[str] = "ramp-results/league",
    reuse: bool = True,
    jobs: int | None = None,
    engine: Engine = "local",
) -> League:
    """Rank algorithms over a population of paths, as `ramp league` does.

    `algorithms`: rows and groups; none: all. `candidates`: C headers that define one more algorithm each, `FILE.h` or
    `FILE.h:NAME=VALUE,...`; they are compiled with $CC, or cc, and played in processes of their own, also by
    Ray's workers. `held_out`, `fresh`, `paths`: the
    half for a last look, paths drawn by this seed, or a file of yours, instead of the public paths. `weights`: of access
    types; those not named count nothing; None: all alike. `sizes`: of downloads (`"1MB"`). `seeds`: runs of each algorithm
    on each path that has anything random; None: 3, or 1 if `quick`, which plays four paths of each access type and
    downloads of 10 MB at most. `out`, `reuse`, `jobs`, `engine`: as for `compare`.
    """
    told = {
        "algorithms": _texts("algorithms", algorithms),
        "candidates": _texts("candidates", candidates),
        "held_out": held_out,
        "fresh": fresh,
        "paths": _place(paths),
        "weights": None if weights is None else dict(_entries("weights", weights)),
        "sizes": _texts("sizes", sizes),
        "seeds": seeds,
        "quick": quick,
    }
    asked: dict[str, Any] = {
        **told,
        "compiler": _ray.compiler(),
        "out": _place(out),
        "reuse": reuse,
        **_hands(engine, jobs),
        "command": _command("league", None, told),
    }
    return League(**_result(_engine.league, asked))


def reproduce(
    experiments: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    *,
    papers: str | Iterable[str] = (),
    quick: bool = False,
    out: str | os.PathLike[str] = "ramp-results/reproduce",
    reuse: bool = True,
    jobs: int | None = None,
) -> Reproduction:
    """Play published experiments and check the papers' claims, as `ramp reproduce` does.

    `experiments`: identifiers (`"hystart-fig18b"`) and files of your own. `papers`: all of "hystart", "past", "best" or
    "enhanced". Neither: everything, which takes some minutes. `quick`: fewer runs and points; what they cannot show is not
    checked. `out`, `reuse`, `jobs`: as for `compare`. A claim that does not hold is no error: see `claims`.
    """
    named = [experiments] if isinstance(experiments, str | os.PathLike) else experiments
    told = {
        "experiments": [os.fspath(name) for name in named],
        "papers": _texts("papers", papers),
        "quick": quick,
    }
    asked: dict[str, Any] = {
        **told,
        "out": _place(out),
        "reuse": reuse,
        "jobs": jobs,
        "command": _command("reproduce", None, told),
    }
    return Reproduction(**_result(_engine.reproduce, asked))


def _result(work: Callable[[dict[str, Any]], dict[str, Any]], asked: dict[str, Any]) -> dict[str, Any]:
    """What the engine makes of it. Called by what users call: warnings are theirs."""
    result = work(asked)
    return {**result, "report": Path(result["report"])} if "report" in result else result


def _hands(engine: Engine, jobs: int | None) -> dict[str, Any]:
    """Who plays, as the engine takes it."""
    if engine == "local":
        return {"jobs": jobs, "distribute": None}
    if not isinstance(engine, str):
        raise TypeError(f"`engine`: a text is expected, not {type(engine).__name__}")
    if engine != "ray":
        raise InputError(f'`engine` is {engine!r}\nhelp: "local" or "ray"')
    if jobs is not None and not 1 <= jobs <= 1_000_000:
        raise InputError(f"`jobs` is {jobs}\nhelp: a number from 1 to 1000000")
    _ray.connect()
    return {"jobs": None, "distribute": partial(_ray.play, jobs=jobs)}


def _place(place: str | os.PathLike[str] | None) -> str | None:
    """A file or directory as text."""
    return None if place is None else os.fspath(place)


def _path(scenario: Scenario, settings: Mapping[str, Value] | None) -> dict[str, Any]:
    """A path as the engine takes it."""
    place = dict(scenario) if isinstance(scenario, Mapping) else os.fspath(scenario)
    return {"scenario": place, "settings": _entries("settings", settings)}


def _entries(name: str, given: Mapping[str, Any] | None) -> list[tuple[str, Any]]:
    """The entries of an argument that is a dict."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise TypeError(f"`{name}`: a dict is expected, not {type(given).__name__}")
    return list(given.items())


def _texts(name: str, texts: str | Iterable[str]) -> list[str]:
    """One text, or several."""
    if isinstance(texts, str):
        return [texts]
    if not isinstance(texts, Iterable):
        raise TypeError(f"`{name}`: a text or several are expected, not {type(texts).__name__}")
    return list(texts)


def _values(field: str, values: Iterable[Value]) -> list[Value]:
    """The values of a swept field; a text is not a list of letters."""
    if isinstance(values, str):
        raise InputError(f"`fields` has the text {values!r} for `{field}`\nhelp: a list of values")
    if not isinstance(values, Iterable):
        raise TypeError(f"`fields`: a list of values is expected for `{field}`, not {type(values).__name__}")
    return list(values)


def _command(function: str, scenario: Scenario | None, told: Mapping[str, Any]) -> str:
    """The call that makes a result again; it stands in the files."""
    try:
        place = [] if scenario is None else [repr(scenario if isinstance(scenario, Mapping) else os.fspath(scenario))]
        named = [f"{name}={value!r}" for name, value in told.items() if _said(value)]
    except RecursionError:
        raise InputError("an argument is nested too deeply") from None
    return f"rampcc.{function}({', '.join(place + named)})"


def _said(value: object) -> bool:
    """Whether an argument says more than its default; 0 does."""
    return value is not None and value is not False and value not in ([], {})
