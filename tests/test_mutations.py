"""Results that are damaged in every way: a message or an answer, no traceback, nothing half written."""

import json
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import clearway as cw
import pytest
from clearway import columns as on_disk
from clearway import documents
from clearway.errors import ClearwayError
from clearway.seeds import Seeds

from tests.conftest import SMALL, Answer, Clearway, nothing_but, written
from tests.mutations import damage

pytestmark = pytest.mark.slow

FULL: dict[str, Any] = {
    **SMALL,
    "traffic": [
        *SMALL["traffic"],
        {
            "pattern": "closed_loop",
            "transport": "bulk",
            "from": "0..2",
            "to": 4,
            "bytes": "1kB",
            "flows_per_pair": 1,
            "outstanding": 2,
        },
    ],
    "record": {**SMALL["record"], "operations": True, "links": "100us"},
}
"""A run with nearly every table."""

KINDS = ("one", "several", "csv")
SEEDS = 10
"""How many damages a test makes, one after the other."""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a run, one with several seeds, and a run whose tables are CSV."""
    folder = tmp_path_factory.mktemp("saved")
    run = cw.run(documents.text_of(FULL))
    run.save(folder / "one")
    (folder / "several").mkdir()
    Seeds([cw.run(documents.text_of(SMALL), seed=seed) for seed in (1, 2)]).write_into(folder / "several")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_disk, "parquet_available", lambda: False)
        run.save(folder / "csv")
    return folder


def answered(answer: Answer, damaged: str) -> None:
    """Check that a command said what is wrong with a directory, or found nothing wrong with it."""
    assert answer.status in (0, 2), answer
    if answer.status == 2:
        assert re.match(rf"error: {damaged}[/:]", answer.err), answer.err
        assert answer.out == ""


def check_page(page: Path) -> None:
    """Check that a page is whole, and that its data is JSON to a browser too."""
    text = page.read_text(encoding="utf-8")
    assert text.endswith("</html>\n")
    found = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert found is not None
    json.loads(found[1], parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


@pytest.mark.parametrize("block", range(20))
def test_run_directories(block: int, clearway: Clearway, saved: Path, workspace: Path) -> None:
    """200 of them, each compared, reported on and read from Python."""
    for seed in range(block * SEEDS, (block + 1) * SEEDS):
        kind = KINDS[seed % len(KINDS)]
        shutil.copytree(saved / kind, "bad")
        done = damage(Path("bad"), seed)
        try:
            answered(clearway("compare", "bad", saved / kind, *(["--json"] if seed % 2 else [])), "bad")
            answer = clearway("report", "bad", saved / kind, "-o", "r.html")
            answered(answer, "bad")
            assert Path("r.html").exists() == (answer.status == 0)
            if answer.status == 0:
                check_page(Path("r.html"))
            read(Path("bad"))
            assert nothing_but(workspace, "bad", *(["r.html"] if answer.status == 0 else []))
        except BaseException as error:
            error.add_note(f"seed {seed}: {done}") if hasattr(error, "add_note") else print(seed, done)
            raise
        Path("r.html").unlink(missing_ok=True)
        shutil.rmtree("bad")


def read(path: Path) -> None:
    """Read a directory and all its tables, as Python code does."""
    with suppress(ClearwayError):
        loaded = cw.load_run(path)
        runs: Sequence[cw.Run] = loaded.runs if isinstance(loaded, Seeds) else [loaded]
        for run in runs:
            for name in run.tables:
                assert len(run.table(name)) > 0


def test_a_store_makes_good_what_is_damaged(clearway: Clearway, workspace: Path) -> None:
    """Each damage costs the points that it hits, and no more."""
    file = written(workspace / "swept.toml", {**SMALL, "record": {}})
    with file.open("a") as text:
        text.write("[sweep]\nseed = [1, 2]\n")
    whole = clearway("sweep", file, "--json", "--out", "out").json
    for seed in range(20):
        shutil.rmtree("out")
        done = damage(workspace / ".clearway" / "runs", seed)
        answer = clearway("sweep", file, "--json", "--out", "out")
        assert answer.status == 0, (seed, done, answer.err)
        again = answer.json
        assert [point["digest"] for point in again["points"]] == [
            point["digest"] for point in whole["points"]
        ], (seed, done)
        assert again["run"] + again["found"] == 2
        check_page(Path("out") / "report.html")


@pytest.mark.parametrize(
    ("file", "key", "value", "words"),
    [
        ("manifest.json", "name", 7, "name: found 7, expected text"),
        ("manifest.json", "seed", "7", 'seed: found "7", expected a whole number from 0 on'),
        ("manifest.json", "seed", True, "seed: found true, expected a whole number"),
        ("manifest.json", "threads", 0, "threads: found 0, expected a whole number from 1 on"),
        ("manifest.json", "wall_s", "long", 'wall_s: found "long", expected a number'),
        ("manifest.json", "packet_hops", 10**30, "packet_hops: found 1" + "0" * 30 + ", expected a whole"),
        ("manifest.json", "warnings", [1], "warnings: found [1], expected a list of texts"),
        ("manifest.json", "scenario", [], "scenario: found [], expected an object"),
        ("manifest.json", "scenario", {"x": 10**400}, "scenario: has a number that is too large"),
        ("manifest.json", "scenario.record", [], "scenario.record: found [], expected an object"),
        ("manifest.json", "tables", 1, "tables: found 1, expected an object"),
        ("manifest.json", "tables.flows.file", "../flows.csv", "expected the name of a file beside this one"),
        ("manifest.json", "tables.flows.rows", -1, "tables.flows.rows: found -1, expected a whole number"),
        ("manifest.json", "tables.flows.columns.fct_us", "text", "tables.flows.columns.fct_us: "),
        ("manifest.json", "tables.flows.columns.fct_us", "date", "expected one of integer, float, text"),
        ("manifest.json", "format", "1", 'format: found "1", expected a whole number'),
        ("summary.json", "rtt_mean_us", "fast", 'rtt_mean_us: found "fast", expected a number'),
        ("summary.json", "transports.bulk.jain", [], "transports.bulk.jain: found [], expected a number"),
        ("summary.json", "lower_bounds", "jain", 'lower_bounds: found "jain", expected a list of texts'),
    ],
)
def test_a_wrong_type_is_named_with_its_file_and_key(
    file: str, key: str, value: object, words: str, clearway: Clearway, saved: Path
) -> None:
    shutil.copytree(saved / "one", "bad")
    document = json.loads((Path("bad") / file).read_text())
    holder, *parts = document, *key.split(".")
    for part in parts[:-1]:
        holder = holder[part]
    assert parts[-1] in holder
    holder[parts[-1]] = value
    (Path("bad") / file).write_text(json.dumps(document))
    answer = clearway("compare", "bad")
    assert answer.status == 2
    assert answer.err.startswith(f"error: bad/{file}: {key}: ")
    assert words in answer.err
    assert answer.err.endswith("\n  run the scenario again\n")


def test_a_column_that_is_not_there_is_named_with_its_file(clearway: Clearway, saved: Path) -> None:
    """Gone from the table and from what the manifest says of it."""
    shutil.copytree(saved / "csv", "bad")
    manifest = json.loads((Path("bad") / "manifest.json").read_text())
    table = manifest["tables"]["flows"]
    place = list(table["columns"]).index("fct_us")
    del table["columns"]["fct_us"]
    (Path("bad") / "manifest.json").write_text(json.dumps(manifest))
    rows = (Path("bad") / "flows.csv").read_text().splitlines()
    cut = [",".join(cell for index, cell in enumerate(row.split(",")) if index != place) for row in rows]
    (Path("bad") / "flows.csv").write_text("\n".join(cut) + "\n")
    answer = clearway("report", "bad", "-o", "r.html")
    assert (answer.status, Path("r.html").exists()) == (2, False)
    assert "error: bad/flows.csv: has no column fct_us" in answer.err
    run = cw.load_run("bad")
    assert isinstance(run, cw.Run)
    with pytest.raises(KeyError, match=r"flows\.csv: has no column fct_us"):
        run.flows["fct_us"]
