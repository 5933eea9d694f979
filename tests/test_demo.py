"""`clearway demo`: the first thing anyone runs, and what README shows of it."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import clearway as cw
import pytest
from clearway import Run, documents, execution
from clearway.cli import app
from clearway.demonstration.demonstration import PARTS
from clearway.demonstration.fabric import FABRIC
from clearway.demonstration.incast import INCAST
from clearway.demonstration.long_link import LONG_LINK
from clearway.demonstration.part import Part
from typer.testing import CliRunner

from tests.conftest import Clearway, nothing_but
from tools.front_page.__main__ import with_demo
from tools.front_page.pictures import pictures

ROOT = Path(__file__).parent.parent
NAMES = [name for part in PARTS for name in part.files.values()]


@dataclass(frozen=True)
class Demo:
    out: str
    path: Path
    outcomes: dict[str, Run]
    """What each run came to, by the name of its scenario."""

    def run(self, name: str) -> Run:
        run = cw.load_run(self.path / name)
        assert isinstance(run, Run)
        return run

    def runs(self, part: Part) -> list[Run]:
        return [self.run(name) for name in part.files.values()]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    place = tmp_path_factory.mktemp("demo")
    run, outcomes = execution._run, {}

    def kept(scenario: Any, *more: Any) -> Run:
        outcomes[scenario.name] = run(scenario, *more)
        return outcomes[scenario.name]

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setattr(execution, "_run", kept)
        result = CliRunner().invoke(app, ["demo"])
    assert result.exit_code == 0, result.stderr
    assert len(outcomes) == len(NAMES)
    return Demo(result.stdout, place / "runs" / "demo", outcomes)


def test_asks_shows_and_answers_once_for_each_system(demo: Demo) -> None:
    *parts, last = demo.out.split("\n\n")
    texts = "\n\n".join(parts).split("From ")
    assert len(texts) == 1 + len(PARTS) == 4
    for part, system in zip(PARTS, ("Swift", "Fastpass", "Swing"), strict=True):
        assert part.asks.startswith(f"{system}: ")
        assert part.asks in demo.out.splitlines()
        assert part.note in demo.out.splitlines()
        assert part.conclude(demo.runs(part)) in demo.out.splitlines()
    for word in (
        "goodput",
        "loss *",
        "mean RTT",
        "peak queue *",
        "last completion *",
        "memory for it in a relay",
    ):
        assert re.search(rf"^ {re.escape(word)}  ", demo.out, re.MULTILINE), word
    assert "unfinished" not in demo.out  # as all flows end
    report, scenarios = last.splitlines()
    assert report == "report: runs/demo/report.html"
    assert scenarios.startswith("scenarios: runs/demo/scenarios ")


def test_no_line_is_longer_than_a_page_is_wide(demo: Demo) -> None:
    assert max(len(line.rstrip()) for line in demo.out.splitlines()) <= 105


def test_leaves_runs_scenarios_and_a_page_about_all(demo: Demo) -> None:
    assert nothing_but(demo.path, *NAMES, "report.html", "scenarios")
    assert nothing_but(demo.path / "scenarios", *(f"{name}.toml" for name in NAMES))
    page = (demo.path / "report.html").read_text()
    for part in PARTS:
        assert part.asks in page.replace("&#x27;", "'")
        assert part.conclude(demo.runs(part)) in page.replace("&#x27;", "'")
    for name in NAMES:
        assert demo.run(name).digest in page
    assert "Not recorded" not in page
    data = json.loads(page.split('<script type="application/json" id="data">')[1].split("</script>")[0])
    assert [len(chart["lines"]) for chart in data] == [6, 3, 3, 3, 3, 3]


def test_its_scenarios_can_be_changed_and_run_again(demo: Demo, clearway: Clearway) -> None:
    answer = clearway("run", demo.path / "scenarios" / "long_link_relay.toml", "--json")
    assert answer.json["digest"] == demo.run("long_link_relay").digest


@pytest.mark.parametrize("name", NAMES)
def test_what_a_scenario_says_to_vary_can_be_varied(name: str, demo: Demo, clearway: Clearway) -> None:
    text = (demo.path / "scenarios" / f"{name}.toml").read_text()
    (varied,) = re.findall(r"Vary: (.*?)\nformat", text.replace("\n# ", " "), re.DOTALL)
    brief = ["--set", "duration=1ms", "--set", "warmup=500us"]
    for said in varied.split(", "):
        sets = re.findall(r"--set \S+", said)
        words = [word for pair in sets for word in pair.split()]
        answer = clearway("run", demo.path / "scenarios" / f"{name}.toml", *words, *brief)
        assert (answer.status, answer.err) == (0, ""), said


# WHAT THE RUNS SHOW


def test_swift_loses_nothing_and_is_fair_once_it_has_started(demo: Demo) -> None:
    swift = demo.run("incast_swift")
    assert swift.summary["flows"] == swift.summary["completed"] == 1000
    assert swift.summary["loss_rate_whole"] == swift.summary["timeouts_whole"] == 0
    assert swift.flows["retransmissions"].sum() == 0
    assert swift.summary["jain"] >= 0.9
    assert swift.summary["rtt_p999_us"] <= 3 * swift.summary["rtt_p50_us"]


def test_the_scenarios_are_what_the_questions_say(demo: Demo) -> None:
    assert "1000 flows of 1 MB" in INCAST.asks
    for run in demo.runs(INCAST):
        assert run.summary["flows"] == 1000
        assert set(run.flows["bytes"].tolist()) == {1_000_000}
    assert "127 hosts" in FABRIC.asks
    assert [run.summary["flows"] for run in demo.runs(FABRIC)] == [127] * 3
    assert "200 MB cross 80 km" in LONG_LINK.asks
    for run in demo.runs(LONG_LINK):
        assert run.flows["bytes"].sum() == 200_000_000
        network = run.scenario["network"]
        assert network["long_km"] == 80
        rates = [documents.quantity(network[key]) for key in ("long_rate", "rate")]
        assert [rate.value for rate in rates if rate] == [200, 100]  # half as fast as the link


def test_the_queue_of_fastpass_is_a_few_frames(demo: Demo) -> None:
    fastpass, *others = demo.runs(FABRIC)
    assert fastpass.summary["queue_peak_bytes"] <= 15_000
    assert all(run.summary["queue_peak_bytes"] > 100_000 for run in others)
    assert demo.run("incast_fastpass").summary["queue_mean_bytes"] < 100


def test_pfc_starves_the_link_with_a_round_trip_of_memory_and_the_relay_does_not(demo: Demo) -> None:
    pfc, twice, relay = demo.runs(LONG_LINK)
    # 4096 of 4178 bytes of what the receiver's link carries.
    assert relay.summary["goodput_gbps"] == pytest.approx(98.04, abs=0.2)
    assert twice.summary["goodput_gbps"] == pytest.approx(98.04, abs=0.2)
    assert pfc.summary["goodput_gbps"] < 85


# SENTENCES FOLLOW THE FIGURES


def with_figures(runs: Sequence[Run], *figures: dict[str, Any]) -> list[Run]:
    pairs = zip(runs, [*figures, *({} for _ in runs[len(figures) :])], strict=True)
    return [replace(run, summary={**run.summary, **of}) for run, of in pairs]


def test_a_conclusion_turns_when_the_figures_do(demo: Demo) -> None:
    runs = demo.runs(INCAST)
    better = {"rtt_mean_us": 50.0, "goodput_gbps": 49.0, "jain": 0.999}
    worse = {"rtt_mean_us": 75.0, "goodput_gbps": 24.5, "jain": 0.5}
    assert INCAST.conclude(with_figures(runs, worse, better)) == (
        "Swift's mean RTT is 50 % longer than DCTCP's, at 50 % of its goodput, with less equal shares."
    )
    assert INCAST.conclude(with_figures(runs, better, worse)) == (
        "Swift's mean RTT is 33 % shorter than DCTCP's, at 200 % of its goodput, with more equal shares."
    )
    alike = INCAST.conclude(with_figures(runs, better, better))
    assert "is as long as DCTCP's, at 100 % of its goodput, with shares as equal." in alike

    runs = demo.runs(FABRIC)
    longer = with_figures(runs, {"queue_peak_bytes": 4e5}, {"queue_peak_bytes": 1e5})
    assert "longest queue is 4x longer than that of DCTCP" in FABRIC.conclude(longer)

    runs = demo.runs(LONG_LINK)
    less = with_figures(runs, {"goodput_gbps": 70.0}, {"goodput_gbps": 98.0}, {"goodput_gbps": 49.0})
    assert LONG_LINK.conclude(less) == (
        "Relays with 21 MB carry 30 % less than PFC with 21.01 MB, and 2x less than PFC with 41.01 MB."
    )


# JSON


def test_json_has_an_object_a_part(demo: Demo, clearway: Clearway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "_run", lambda scenario, *_: demo.outcomes[scenario.name])
    answer = clearway("demo", "--json")
    assert answer.err == ""
    found = answer.json
    assert list(found) == ["incast", "fabric", "long_link", "out", "report", "scenarios"]
    for part in PARTS:
        shown = found[part.name]
        assert shown["asks"] == part.asks
        assert [column["label"] for column in shown["columns"]] == list(part.files)
        assert shown["conclusion"] == part.conclude(demo.runs(part))
    starts = {start["label"]: start for start in found["incast"]["start_up"]}
    swift = starts["Swift"]
    # A thousand first packets of 4198 B at 50 Gb/s take 672 us.
    assert swift["until_us"] == 10_000
    assert 672 < swift["rtt_max_us"] < 720
    steady = found["incast"]["columns"][0]["summary"]["rtt_mean_us"]
    assert steady < swift["rtt_mean_us"] < swift["rtt_max_us"]
    pfc, twice, relay = found["long_link"]["link"]
    assert pfc["relay_memory_bytes"] is pfc["relay_peak_bytes"] is None
    assert relay["relay_peak_bytes"] < relay["relay_memory_bytes"] == 21e6
    assert pfc["switch_memory_bytes"] == pytest.approx(twice["switch_memory_bytes"] - 20e6)
    assert relay["switch_peak_bytes"] < relay["switch_memory_bytes"] < 1e6
    assert relay["mean_pause_us"] < pfc["mean_pause_us"] / 100


# README


def test_readme_shows_what_is_printed(demo: Demo) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert page == with_demo(page, demo.out), "make front-page renews it"


def test_pictures_are_drawn_from_these_runs(demo: Demo) -> None:
    for name, text in pictures(demo.path).items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == text, f"make front-page renews {name}"


def choices(schema: object, key: str) -> set[str]:
    """Collect what the schema of a scenario allows for a key, wherever it stands."""
    if isinstance(schema, list):
        return {choice for entry in schema for choice in choices(entry, key)}
    if not isinstance(schema, dict):
        return set()
    properties = schema.get("properties")
    of_key = properties.get(key) if isinstance(properties, dict) else None
    own = set(of_key.get("enum", [])) if isinstance(of_key, dict) else set()
    return own | choices(list(schema.values()), key)


@pytest.mark.parametrize(
    ("table", "key"), [("transport", "protocol"), ("network", "topology"), ("traffic", "pattern")]
)
def test_readme_names_all_that_a_scenario_may_have(table: str, key: str) -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    allowed = choices(cw.schema()["properties"][table], key)
    assert len(allowed) >= 6
    example = next(line for line in lines if line.startswith(f"{key} = "))
    assert set(re.findall(r"\w+", example)) >= allowed
    if key != "pattern":
        start = lines.index(f"| `{key}` | |")
        end = lines.index("", start)
        described = {
            name for line in lines[start + 2 : end] for name in re.findall(r"`(\w+)`", line.split("|")[1])
        }
        assert described == allowed
