"""`rampcc` and `python -m rampcc` become the program that a wheel brings."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from rampcc import __main__ as command


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(command, "_places", lambda: [tmp_path / "nowhere", tmp_path])
    monkeypatch.setattr(sys, "argv", ["rampcc", "compare", "cable"])
    return tmp_path


def test_it_becomes_the_program_with_the_same_arguments(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    became: list[object] = []

    def become(program: Path, arguments: list[str]) -> None:
        became.append((program, arguments))
        raise SystemExit(0)

    (places / "ramp").touch()
    monkeypatch.setattr(os, "execv", become)
    with pytest.raises(SystemExit):
        command.main()
    assert became == [(places / "ramp", [str(places / "ramp"), "compare", "cable"])]


def test_without_the_program_it_says_how_to_get_it(places: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main() == 1
    assert "cargo install" in capsys.readouterr().err
