"""What the functions return: Arrow tables, and what belongs to them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ._engine import Table


class _Main:
    """A result that is itself a table: its first one."""

    def _main(self) -> Table:
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._main().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._main().__arrow_c_schema__()

    def __len__(self) -> int:
        return len(self._main())


@dataclass(frozen=True, repr=False)
class Run(_Main):
    """One run, all of it. As a table, it is `samples`."""

    samples: Table
    """The sender after each ACK of the flows under test: window, in flight, round-trip times, rates, phase, state."""
    links: Table
    """The bottleneck's queue at each packet that reached it."""
    events: Table
    """What happened to the flows: opened, startup_exit, dropped, recovery_start, received, completed and others."""
    metrics: Table
    """The run's value of each metric: metric, name, unit, value."""
    algorithm: str
    """The row, as tables call it."""
    seed: int
    """Of everything random."""
    explanation: str
    """Why it left start-up, in words."""

    def _main(self) -> Table:
        return self.samples

    def __repr__(self) -> str:
        return f"<rampcc.Run {self.algorithm}, seed {self.seed}: {self.explanation}>"


@dataclass(frozen=True, repr=False)
class _Compared(_Main):
    """What comparisons have, on one path or on many. As a table, it is `summary`."""

    summary: Table
    """One line per algorithm and metric: mean, median, 95 % interval, and the difference from the leader with its test."""
    runs: Table
    """One line per algorithm, seed and metric. `at_least`: the end of the run cut the value off, which is a lower bound."""
    pairs: Table
    """Algorithms against one another, seed by seed: difference, ratio, intervals, tests, finding."""
    neighbours: Table
    """One line per algorithm and neighbouring path: the uncertain fields, the deciding metric, how far behind the leader there."""
    report: Path
    """The HTML report, in the results directory."""
    json: str
    """All of it, as `ramp compare --json` prints it."""
    text: str
    """The table and the verdict, as `ramp compare` prints them."""

    def _main(self) -> Table:
        return self.summary

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False)
class Comparison(_Compared):
    """Algorithms compared on one path. As a table, it is `summary`."""

    leader: str | None
    """The contender that leads by its mean of the deciding metric."""
    verdict: str
    """The answer in words."""

    def __repr__(self) -> str:
        return f"<rampcc.Comparison led by {self.leader}: {self.report}>"


@dataclass(frozen=True, repr=False)
class Sweep(_Compared):
    """A comparison for each value of the swept fields. As a table, it is `summary`.

    Each table has a column for each swept field of the scenario, with the value as it was given, and then those of a
    `Comparison`'s; neighbouring paths are there if `neighbours` asked for some. The report and the texts are those of all
    comparisons. A swept parameter of an algorithm makes rows instead, whose names tell its values.
    """

    fields: tuple[str, ...]
    """The swept fields of the scenario."""

    def __repr__(self) -> str:
        return f"<rampcc.Sweep over {', '.join(self.fields) or 'parameters'}: {self.report}>"


@dataclass(frozen=True, repr=False)
class League(_Main):
    """Algorithms on a population of paths. As a table, it is `standings`."""

    standings: Table
    """One line per algorithm, the fastest first, those that know the path last. docs/guide/league.md explains the measures."""
    downloads: Table
    """One line per path, size and algorithm: seconds, over the yardstick, over the causal bound, extra round trips."""
    population: str
    """Which paths: `public`, `held-out`, `fresh-SEED` or a file."""
    report: Path
    """The HTML page, in the results directory."""
    json: str
    """All of the table, as `ramp league --json` prints it."""

    def _main(self) -> Table:
        return self.standings

    def __repr__(self) -> str:
        return f"<rampcc.League on {self.population}: {self.report}>"


@dataclass(frozen=True, repr=False)
class Reproduction(_Main):
    """Published experiments with their claims checked. As a table, it is `claims`."""

    claims: Table
    """One line per claim: what the paper says and where, what was measured, `holds` (null: not checked), the reason if not."""
    points: Table
    """One line per point of each plot: experiment, plot, title, series, x, y."""
    held: int
    """Claims that hold, of those that runs decide."""
    checked: int
    """Claims that runs decide."""
    contradicted: int
    """Claims that do not hold and that their own paper contradicts: in neither of the other numbers."""
    report: Path
    """The index of the HTML pages."""
    json: str
    """The claims, as `ramp reproduce --json` prints them."""

    def _main(self) -> Table:
        return self.claims

    def __repr__(self) -> str:
        return f"<rampcc.Reproduction, {self.held} of {self.checked} claims hold: {self.report}>"
