"""A plan's runs on a Ray cluster.

The plan, what is kept and what is judged stay in the process that asks. This module only carries tasks out and answers back; both are
the engine's, and opaque here.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from . import _engine
from ._errors import InputError, RampError

_BATCH_S = 1.0
"""How long a task of Ray's takes: long beside what handing it out costs (milliseconds), short beside what is lost with a worker."""
_BATCH_MAX = 1000
"""Runs in a task of Ray's."""
_PATHS_HELD = 8
"""Paths that stay in the object store. Tasks on the same path follow each other."""
_WAIT_S = 1.0
"""How long Ctrl-C may go unnoticed."""
_RETRIES = 10
"""Times that a task goes to another worker where one dies with it."""


def connect() -> Any:
    """Ray, connected: to what the caller has, to the cluster in RAY_ADDRESS, or to one that is started here."""
    try:
        import ray
    except ImportError:
        raise InputError('`engine` is "ray", and Ray is not installed\nhelp: pip install "rampcc[ray]"') from None
    if not ray.is_initialized():
        try:
            ray.init()
        except ConnectionError as error:
            raise RampError(f"no Ray cluster answers: {error}\nhelp: RAY_ADDRESS names it; without it, one is started here") from error
    return ray


def play(tasks: Iterable[_engine._Sent], jobs: int | None) -> Iterator[tuple[int, str]]:
    """Numbers and answers of all tasks, as they come. At most `jobs` tasks of Ray's are out; None: twice as many as it has processors."""
    cluster = connect()
    remote = cluster.remote(num_cpus=1, max_retries=_RETRIES, name="rampcc")(work)
    paths: OrderedDict[str, Any] = OrderedDict()
    out: dict[Any, list[int]] = {}
    pace = _Pace()
    batches = _batches(tasks, pace)
    more = True
    # Who stops here leaves a second's work to the workers: Ray 2.60 may abort where a task that is cancelled ends at the same time.
    while more or out:
        # More than there are processors for: none waits for this loop, and a cluster that grows sees what it could grow for.
        room = jobs or 2 * max(1, int(cluster.cluster_resources().get("CPU", 1)))
        while more and len(out) < room:
            batch = next(batches, None)
            if batch is None:
                more = False
                break
            digest, path, numbered = batch
            if digest not in paths:
                paths[digest] = cluster.put(path)
                if len(paths) > _PATHS_HELD:
                    paths.popitem(last=False)
            reference = remote.remote(paths[digest], [task for _, task in numbered])
            out[reference] = [number for number, _ in numbered]
        ready, _ = cluster.wait(list(out), num_returns=1, timeout=_WAIT_S) if out else ([], [])
        for reference in ready:
            numbers = out.pop(reference)
            seconds, answers = _answer(cluster, reference)
            pace.took(seconds, len(answers))
            yield from zip(numbers, answers, strict=True)


def work(path: str, tasks: list[str]) -> tuple[float, list[str]]:
    """What a worker does: plays these tasks on this path; and the seconds that it took."""
    began = time.monotonic()
    answers = _engine.play(path, tasks, compiler())
    return time.monotonic() - began, answers


def compiler() -> str:
    """What compiles candidates here."""
    return os.environ.get("CC", "").strip() or "cc"


class _Pace:
    """How many runs make a task of Ray's of the right length."""

    def __init__(self) -> None:
        self.size = 1

    def took(self, seconds: float, runs: int) -> None:
        """A task of so many runs took so long. Runs differ: no step is longer than doubling."""
        fits = int(runs * _BATCH_S / max(seconds, 1e-6))
        self.size = max(1, min(fits, 2 * self.size, _BATCH_MAX))


def _batches(tasks: Iterable[_engine._Sent], pace: _Pace) -> Iterator[tuple[str, str, list[tuple[int, str]]]]:
    """Tasks on the same path, so many together."""
    batch: tuple[str, str, list[tuple[int, str]]] | None = None
    for digest, path, number, task in tasks:
        if batch is not None and (batch[0] != digest or len(batch[2]) >= pace.size):
            yield batch
            batch = None
        if batch is None:
            batch = (digest, path, [])
        batch[2].append((number, task))
    if batch is not None:
        yield batch


def _answer(cluster: Any, reference: Any) -> tuple[float, list[str]]:
    try:
        answer: tuple[float, list[str]] = cluster.get(reference)
        return answer
    except cluster.exceptions.RayTaskError as error:
        # What the engine says there, as it would have said it here.
        if isinstance(error.cause, RampError):
            raise error.cause from None
        raise
    except cluster.exceptions.RayError as error:
        raise RampError(f"Ray lost a task: {error}") from error
