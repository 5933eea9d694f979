"""The notebooks in docs: each runs from its first cell to its last, and is kept without outputs."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_LONGEST_S = 120  # of a cell: one that takes as long hangs


def by_name(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=[path.name for path in paths])


def left_of_a_session(notebook: dict[str, Any]) -> list[str]:
    """List what running and saving a notebook has left in it."""
    found = []
    for cell in notebook["cells"]:
        if cell.get("outputs"):
            found.append(f"{cell['id']}: outputs")
        if cell.get("execution_count") is not None:
            found.append(f"{cell['id']}: execution_count")
        if cell["metadata"]:
            found.append(f"{cell['id']}: metadata")
    extra = {**notebook["metadata"], "kernelspec": None, "language_info": None}
    found += [f"metadata: {key}" for key, value in extra.items() if value is not None]
    if notebook["metadata"].get("kernelspec") != _KERNEL:
        found.append("metadata: a kernel of one machine")
    if notebook["metadata"].get("language_info") != {"name": "python"}:
        found.append("metadata: a version of Python")
    return found


def executed(path: Path, workspace: Path) -> dict[str, Any]:
    """Run all cells in a directory of their own; return the notebook with what they displayed."""
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    client = nbclient.NotebookClient(
        notebook,
        timeout=_LONGEST_S,
        kernel_name="python3",
        resources={"metadata": {"path": str(workspace)}},
    )
    client.execute()
    return dict(notebook)


def displayed(cell: Any) -> dict[str, str]:
    """Return what the last line of a cell displays, by kind; nothing if it displays nothing."""
    results = [each["data"] for each in cell["outputs"] if each["output_type"] == "execute_result"]
    return dict(results[0]) if results else {}


def test_there_is_a_notebook() -> None:
    assert [path.name for path in NOTEBOOKS] == ["first-run.ipynb"]


@by_name(NOTEBOOKS)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    assert left_of_a_session(json.loads(path.read_text(encoding="utf-8"))) == []


def test_what_a_session_leaves_is_found() -> None:
    cell = {"id": "a", "cell_type": "code", "metadata": {"tags": [1]}, "outputs": [1], "execution_count": 3}
    notebook = {"cells": [cell], "metadata": {"kernelspec": {"name": "mine"}, "widgets": {}}}
    assert left_of_a_session(notebook) == [
        "a: outputs",
        "a: execution_count",
        "a: metadata",
        "metadata: widgets",
        "metadata: a kernel of one machine",
        "metadata: a version of Python",
    ]


@by_name(NOTEBOOKS)
def test_links_lead_somewhere(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    text = "".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    links = re.findall(r"\]\((.*?)\)", text)
    assert links
    for link in links:
        assert (path.parent / link).exists(), link


def test_the_first_run_goes_from_a_dict_to_a_sweep(workspace: Path) -> None:
    (path,) = NOTEBOOKS
    cells = [cell for cell in executed(path, workspace)["cells"] if cell["cell_type"] == "code"]
    assert not any(each["output_type"] in ("error", "stream") for cell in cells for each in cell["outputs"])
    shown = {"".join(cell["source"]).strip().splitlines()[-1]: displayed(cell) for cell in cells}
    run = shown["run"]["text/html"]
    assert "<caption>eight to one (seed 1)</caption>" in run
    assert "<li>8 of 8 flows completed" in run
    assert "'fct_us': 'us'" in shown[next(line for line in shown if "units" in line)]["text/plain"]
    flows = shown[next(line for line in shown if line.startswith("flows[["))]["text/html"]
    assert flows.count("<tr") == 9, "a head, and a row a flow"
    compared = shown["compared"]["text/html"]
    assert "<caption>side by side</caption>" in compared
    assert "p99 completion" in compared
    assert "goodput" not in compared
    assert " ± " in compared
    sweep = shown["sweep"]["text/html"]
    assert "9 points" in sweep
    means = shown[next(line for line in shown if line.startswith("points.groupby"))]["text/plain"]
    assert [line.split()[0] for line in means.splitlines()[-3:]] == ["10.0", "20.0", "40.0"]
