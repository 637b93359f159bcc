"""Small paths: each call takes a fraction of a second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def path() -> dict[str, Any]:
    """A path with chance, so that seeds differ."""
    return {
        "name": "short",
        "size": "200 kB",
        "path": {
            "rate": "10 Mbit/s",
            "rtt": "20 ms",
            "buffer": "1 bdp",
            "jitter": {"kind": "uniform", "max": "2 ms"},
        },
    }


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results below `ramp-results` stay out of the repository."""
    monkeypatch.chdir(tmp_path)
