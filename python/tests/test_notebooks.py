"""The notebooks run from top to bottom, and are kept without outputs."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


def test_all_are_there() -> None:
    assert [notebook.stem for notebook in NOTEBOOKS] == ["compare", "league", "sweep"]


@pytest.mark.parametrize("place", NOTEBOOKS, ids=lambda place: place.stem)
def test_a_notebook_runs(place: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(place, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code), "jupyter nbconvert --clear-output --inplace"
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = {kind for cell in code for output in cell.outputs for kind in output.get("data", {})}
    assert {"image/png", "text/html"} <= shown, "a chart and a table"
    assert not any(output.get("name") == "stderr" for cell in code for output in cell.outputs)
