"""The files of `clearway plot`, and what is wrong with what it is asked: fonts, bytes, messages."""

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import clearway as cw
import pytest
from clearway import drawing
from clearway.errors import ClearwayError
from clearway.paper import papers
from clearway.plotting.kinds import KINDS, SHOWN

from tests.conftest import SMALL, Clearway, child, finished, written
from tests.test_paper import FIG1, PARAMETERS
from tests.test_plot import LOSSLESS, SEVERAL, WATCHED
from tests.test_sweep import swept
from tests.test_training import SCENARIO as TRAINING

pytestmark = pytest.mark.slow

mpl = pytest.importorskip("matplotlib")
making = drawing.making()
plotting_papers = drawing.writing_papers()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run directories that have all that any kind needs, and one that has recorded nothing."""
    folder = tmp_path_factory.mktemp("runs")
    scenarios = {
        "several": SEVERAL,
        "watched": WATCHED,
        "lossless": LOSSLESS,
        "bare": {**SMALL, "record": {}},
    }
    for name, scenario in scenarios.items():
        cw.run(scenario).save(folder / name)
    cw.run(written(folder / "training.toml", TRAINING)).save(folder / "training")
    return folder


def directory_for(kind: str, runs: Path) -> Path:
    others = {"pause": "lossless", "job-timeline": "training", "flows": "watched", "classes": "watched"}
    return runs / others.get(kind, "several")


@pytest.mark.parametrize("kind", KINDS)
def test_fonts_are_in_the_file_as_true_type(kind: str, runs: Path, clearway: Clearway) -> None:
    answer = clearway("plot", directory_for(kind, runs), "--kind", kind, "-o", "plot.pdf")
    assert answer.status == 0, answer.err
    assert answer.out.startswith("plot: plot.pdf\n")
    assert len(answer.out.splitlines()) > 1, "what a caption has to say"
    pdf = Path("plot.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-")
    assert b"/FontFile2" in pdf
    assert re.search(rb"/Subtype\s*/(CIDFontType2|TrueType)", pdf)
    assert b"/Type3" not in pdf
    assert re.search(rb"/BaseFont\s*/[A-Z]{6}\+DejaVuSans", pdf), "a part of a font that is embedded"
    assert b"CreationDate" not in pdf


@pytest.mark.parametrize("columns", [1, 2])
def test_a_figure_is_as_wide_as_columns_of_a_paper(columns: int, runs: Path, clearway: Clearway) -> None:
    assert (
        clearway("plot", runs / "several", "--kind", "queue", "-o", "p.pdf", "--columns", columns).status == 0
    )
    box = re.search(rb"/MediaBox\s*\[\s*0\s+0\s+([\d.]+)", Path("p.pdf").read_bytes())
    assert box is not None
    assert float(box[1]) == pytest.approx(72 * {1: 3.33, 2: 7.0}[columns], abs=0.01)


def test_svg_has_its_text_as_outlines_and_png_its_resolution(runs: Path, clearway: Clearway) -> None:
    for name in ("p.svg", "P.PNG"):
        assert clearway("plot", runs / "several", "--kind", "rtt-cdf", "-o", name).status == 0
    svg = Path("p.svg").read_text()
    assert svg.count("<use") > 10
    assert "<text" not in svg
    assert "<dc:date>" not in svg
    assert "digest" in svg, "the metadata say of what it is"
    png = Path("P.PNG").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20], "big") == round(3.33 * 300)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_runs_give_the_same_bytes(kind: str, runs: Path, clearway: Clearway) -> None:
    for ending in ("pdf", "svg"):
        line = ("plot", directory_for(kind, runs), "--kind", kind, "-o")
        assert clearway(*line, f"here.{ending}").status == 0
        own = {
            "pdf.fonttype": 3,
            "font.size": 20,
            "svg.hashsalt": None,
            "axes.edgecolor": "red",
            "xtick.direction": "in",
        }
        with mpl.rc_context(own):
            assert clearway(*line, f"again.{ending}").status == 0
        assert Path(f"here.{ending}").read_bytes() == Path(f"again.{ending}").read_bytes()


def test_another_process_at_another_time_gives_the_same_bytes(runs: Path, clearway: Clearway) -> None:
    for ending in ("pdf", "svg", "png"):
        line = ("plot", runs / "several", "--kind", "fct-slowdown", "-o")
        assert clearway(*line, f"here.{ending}").status == 0
        variables = {"PYTHONHASHSEED": "17", "SOURCE_DATE_EPOCH": "0", "TZ": "Asia/Tokyo"}
        assert finished(child(*line, f"there.{ending}", variables=variables)).status == 0
        assert Path(f"here.{ending}").read_bytes() == Path(f"there.{ending}").read_bytes()


def test_python_writes_what_the_command_writes(runs: Path, clearway: Clearway) -> None:
    assert clearway("plot", runs / "several", "--kind", "queue", "-o", "command.pdf").status == 0
    run = cw.load_run(runs / "several")
    figure = run.plot("queue", "python.pdf")
    assert Path("command.pdf").read_bytes() == Path("python.pdf").read_bytes()
    assert run.plot("queue", columns=2).get_figwidth() == 7.0
    assert figure.get_figwidth() == 3.33
    for wrong in (0, 3, True, "1", None):
        with pytest.raises(ClearwayError, match="columns: found"):
            run.plot("queue", columns=wrong)  # type: ignore[arg-type]
    with pytest.raises(ClearwayError, match="no kind queues"):
        run.plot("queues")


def test_labels(runs: Path, clearway: Clearway) -> None:
    shutil.copytree(runs / "several", "again")
    names = ["--label", "_a $x_1$", "--label", "b\\alpha <&>"]
    line = ("plot", runs / "several", "again", "--kind", "throughput", "-o", "p.svg")
    assert clearway(*line, *names).status == 0
    svg = Path("p.svg").read_text()
    assert "<!--  _a $x_1$, bulk -->" in svg, "a space keeps older versions of matplotlib from leaving it out"
    assert "<!-- b\\alpha &lt;&amp;&gt;, rival -->" in svg
    drawn = svg.split("<!--  _a $x_1$, bulk -->")[1].split("<!--")[0]
    assert drawn.count("<use") == len(" _a $x_1$, bulk"), "a dollar is drawn, and begins no formula"
    assert clearway(*line).status == 0
    assert "<!-- several, bulk -->" in Path("p.svg").read_text()
    assert "<!-- again, bulk -->" in Path("p.svg").read_text()
    answer = clearway(*line, "--label", "one")
    assert answer.status == 2
    assert "found 1 --label and 2 directories" in answer.err


def test_kinds_are_listed(clearway: Clearway) -> None:
    for line in (("plot",), ("plot", "--kind", "list")):
        answer = clearway(*line)
        assert answer.status == 0
        assert [row.split(":")[0] for row in answer.out.splitlines() if ": " in row][: len(SHOWN)] == list(
            SHOWN
        )


def test_the_page_has_every_kind() -> None:
    page = (Path(__file__).parent.parent / "docs" / "PLOTS.md").read_text(encoding="utf-8")
    rows = [
        row.replace("`", "").strip("| ").split(" | ")
        for row in page.splitlines()
        if row.startswith("| `") and "--kind" not in row
    ]
    assert {kind: (shows, needs) for kind, shows, needs in rows} == SHOWN


@pytest.mark.parametrize(
    ("kind", "said"),
    {
        "queue": ("recorded no table queues", 'add queues = "10us" under [record]'),
        "throughput": ("recorded no table throughput", 'add throughput = "10us" under [record]'),
        "fairness": ("recorded no table windows", 'add windows = "10us" under [record]'),
        "link-heatmap": ("recorded no table links_series", 'add links = "1ms" under [record]'),
        "pause": ("recorded no table pauses", "switch.default.pfc=static"),
        "job-timeline": ("recorded no table timeline", "timeline = true under [record]"),
        "sweep": ("not the directory of a sweep", "clearway sweep FILE --out DIR"),
    }.items(),
)
def test_what_was_not_recorded(kind: str, said: tuple[str, str], runs: Path, clearway: Clearway) -> None:
    shutil.copytree(runs / "bare", "bare")
    line = ["plot", *([] if kind in ("sweep", "pause", "job-timeline") else [runs / "several"]), "bare"]
    answer = clearway(*line, "--kind", kind, "-o", "p.pdf")
    assert answer.status == 2
    assert answer.err.startswith("error: bare: ")
    words = " ".join(answer.err.split())
    assert all(part in words for part in said)
    assert not Path("p.pdf").exists()


def test_what_there_is_nothing_to_draw_of(clearway: Clearway, workspace: Path) -> None:
    endless = {**SMALL["traffic"][0]}
    del endless["bytes"]
    quiet = {**LOSSLESS, "switch": {"default": {"pfc": "static", "pfc_xoff": "500kB"}}, "traffic": [endless]}
    cw.run({**quiet, "transport": {"bulk": {"protocol": "swift"}}}).save(workspace / "quiet")
    for kind, said in (
        ("pause", "no link was ever paused"),
        ("fct-cdf", "give [[traffic]] a size"),
        ("fct-slowdown", "give [[traffic]] a size"),
    ):
        answer = clearway("plot", "quiet", "--kind", kind, "-o", "p.pdf")
        assert answer.status == 2
        assert f"lossless: nothing to draw as {kind}" in answer.err
        assert said in " ".join(answer.err.split())


def test_what_is_wrong_with_a_command_line(runs: Path, clearway: Clearway, workspace: Path) -> None:
    there = runs / "several"
    for line, said in {
        ("--kind", "queue", "-o", "p.pdf"): "no directory to draw",
        (there, "--kind", "queue"): "no file to write",
        (there, "--kind", "queue", "-o", "p.jpg"): "p.jpg: expected a name that ends in .pdf, .svg, .png",
        (there, "--kind", "queue", "-o", "p"): "p: expected a name that ends in",
        (there, "--kind", "queue", "-o", "nowhere/p.pdf"): "nowhere/p.pdf: cannot be written",
        (there, "--kind", "queues", "-o", "p.pdf"): "no kind queues",
        (there, "--kind", "queue", "-o", "p.pdf", "--columns", 3): "--columns",
        (there, "--kind", "queue", "-o", "p.pdf", "--figure", "jain"): "--figure goes with --kind sweep",
        ("gone", "--kind", "queue", "-o", "p.pdf"): "gone: no such run directory",
        (runs, "--kind", "queue", "-o", "p.pdf"): "not a run directory",
    }.items():
        answer = clearway("plot", *line)
        assert answer.status == 2, line
        assert said in " ".join(answer.err.split()), line
    assert not [path for path in workspace.iterdir() if path.suffix in (".pdf", ".jpg")]


def test_without_matplotlib(runs: Path, clearway: Clearway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for line in (
        ("plot", runs / "several", "--kind", "queue", "-o", "p.pdf"),
        ("paper", "swift", "fig18", "--pdf"),
    ):
        answer = clearway(*line)
        assert answer.status == 2
        assert "plots need matplotlib" in answer.err
        assert "pip install 'clearway[plot]'" in answer.err
    with pytest.raises(ClearwayError, match="plots need matplotlib"):
        cw.load_run(runs / "several").plot("queue")
    assert clearway("plot", "--kind", "list").status == 0


def test_sweeps_that_are_damaged_or_do_not_fit(clearway: Clearway, workspace: Path) -> None:
    axes = '\n[sweep]\n"transport.bulk.base_target" = ["15us", "25us"]\n'
    assert clearway("sweep", swept(workspace, axes), "--out", "good").status == 0
    line = ("--kind", "sweep", "-o", "p.pdf")
    assert clearway("plot", "good", *line, "--figure", "rtt_p99_us").status == 0
    answer = clearway("plot", "good", *line, "--figure", "rtt")
    assert answer.status == 2
    assert "no point has a figure rtt there is" in " ".join(answer.err.replace("hint:", "").split())
    manifest: dict[str, Any] = json.loads(Path("good/sweep.json").read_text())
    Path("bad").mkdir()
    first = manifest["points"][0]
    for points, said in (
        ([], "points: expected at least one"),
        (7, "points: found 7, expected a list of objects"),
        ([{**first, "summary": {"flows": "many"}}], "points[0].summary.flows"),
        ([{**first, "overrides": []}], "points[0].overrides: found [], expected an object"),
        ([first, {**first, "overrides": {"x": 1}}], "all of them to have the same axes"),
    ):
        Path("bad/sweep.json").write_text(json.dumps({**manifest, "points": points}))
        answer = clearway("plot", "bad", *line)
        assert answer.status == 2
        assert said in " ".join(answer.err.split())
    other = '\n[sweep]\n"transport.bulk.ai" = [0.5, 1]\n'
    assert clearway("sweep", swept(workspace, other), "--out", "other").status == 0
    answer = clearway("plot", "good", "other", *line, "--figure", "rtt_p99_us")
    assert answer.status == 2
    assert "sweeps over different axes" in answer.err


def test_sweeps_without_numbers_are_bars(clearway: Clearway, workspace: Path) -> None:
    axes = '\n[sweep]\n"transport.bulk.protocol" = ["swift", "cubic"]\nseed = [1, 2]\n'
    assert clearway("sweep", swept(workspace, axes), "--out", "good").status == 0
    (panel,) = making.swept.panels(making.swept.read([Path("good")], ["good"]), ["fct_mean_us"])
    (plot_axes,) = making.of_panels([panel], 1, "").figure.axes
    points = json.loads(Path("good/sweep.json").read_text())["points"]
    for bar, name, protocol in zip(
        plot_axes.patches, plot_axes.get_yticklabels(), ("swift", "cubic"), strict=True
    ):
        own = [each for each in points if each["overrides"]["transport.bulk.protocol"] == protocol]
        assert bar.get_width() == pytest.approx(sum(each["summary"]["fct_mean_us"] for each in own) / 2)
        assert name.get_text() == f"protocol {protocol}"


def test_figures_of_a_paper(clearway: Clearway, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = workspace / "papers" / "toy"
    folder.mkdir(parents=True)
    (folder / "parameters.toml").write_text(PARAMETERS)
    (folder / "fig1.toml").write_text(FIG1)
    monkeypatch.setattr(papers, "folder_of_papers", lambda: workspace / "papers")
    drawn: list[Any] = []

    def watched(*arguments: Any) -> Any:
        drawn.append(making.of_panels(*arguments))
        return drawn[-1]

    monkeypatch.setattr(plotting_papers, "of_panels", watched)
    assert clearway("paper", "toy", "--out", "without", "--jobs", 2).status == 0
    assert not list(Path("without").glob("*.pdf"))
    assert not drawn
    answer = clearway("paper", "toy", "--out", "out", "--pdf")
    assert answer.status == 0, answer.err
    assert "a PDF of each figure" in " ".join(answer.out.split())
    assert [path.name for path in Path("out").glob("*.pdf")] == ["fig1.pdf"]
    assert Path("out/report.html").read_bytes() == Path("without/report.html").read_bytes()
    (figure,) = [plot.figure for plot in drawn]
    goodput, round_trips, bars = figure.axes
    (ours, papers_own) = goodput.get_lines()
    assert ours.get_xdata() == pytest.approx([number / 10 for number in range(1, 11)]), "in ms"
    assert ours.get_ydata()[2:] == pytest.approx(9.4, abs=0.3)
    assert (papers_own.get_label(), papers_own.get_color()) == ("the paper", "#000000")
    assert papers_own.get_xydata().tolist() == [[0.0, 9.5], [1.0, 9.5]]
    assert [line.get_label() for line in round_trips.get_lines()] == ["base_target 15us", "base_target 25us"]
    claims = json.loads(Path("out/claims.json").read_text())["claims"]
    assert [bar.get_width() for bar in bars.patches] == pytest.approx([claims[0]["ours"], 9.5])
    assert [axes.get_xlabel().split("\n")[-1] for axes in figure.axes] == [
        "(a) Goodput",
        "(b) RTT",
        "(c) Bars",
    ]
