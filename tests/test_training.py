"""Training jobs end to end: figures, the timeline of a report, the trace for Perfetto, and bad input."""

import json
import re
from pathlib import Path
from typing import Any

import clearway as cw
import numpy as np
import pytest
from clearway import perfetto, report
from clearway.report.timeline import timelines
from clearway.runs import Run
from clearway.seeds import Seeds

from tests.conftest import Clearway, written

LAYER = {
    "count": 3,
    "forward": "50us",
    "tensor": "20kB",
    "exchange": "30kB",
    "gradients": "60kB",
    "expert_gradients": "40kB",
}
JOB = {
    "kind": "training",
    "name": "moe <8>",
    "tensor_parallel": 2,
    "expert_parallel": 2,
    "iterations": 2,
    "bucket": "100kB",
    "layer": [LAYER],
}
SCENARIO: dict[str, Any] = {
    "format": 1,
    "name": "training",
    "duration": "100ms",
    "stop_when_complete": True,
    "network": {"topology": "star", "hosts": 8, "rate": "100Gbps", "delay": "1us"},
    "transport": {"t": {"protocol": "swift"}},
    "job": [JOB],
    "record": {"timeline": True},
}


def with_job(**keys: Any) -> dict[str, Any]:
    return {**SCENARIO, "job": [{**JOB, **keys}]}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return cw.run(written(tmp_path_factory.mktemp("training") / "training.toml", SCENARIO))


def test_compare_shows_how_ranks_spend_their_time(clearway: Clearway, workspace: Path) -> None:
    file = written(workspace / "training.toml", SCENARIO)
    for name, value in (("beside", "true"), ("after", "false")):
        sets = ["--set", f"job[0].overlap={value}", "--set", "record.alone=true", "--out", name]
        assert clearway("run", file, *sets).status == 0
    answer = clearway("compare", "beside", "after")
    assert answer.status == 0
    for label in ("mean communication exposed", "mean communication hidden", "mean slowdown of jobs"):
        assert label in answer.out
    figures = [json.loads(Path(name, "summary.json").read_text()) for name in ("beside", "after")]
    beside, after = figures
    assert beside["compute_mean_us"] == pytest.approx(450, rel=1e-6)
    assert beside["hidden_mean_us"] > after["hidden_mean_us"] == 0
    assert beside["exposed_mean_us"] < after["exposed_mean_us"]
    assert beside["job_slowdown_mean"] == after["job_slowdown_max"] == 1


def test_a_report_draws_what_a_rank_does(run: Run) -> None:
    page = report.page([("one", run)])
    assert "Timeline of jobs" in page
    drawn = timelines([("one", Seeds([run]))])
    assert "moe &lt;8&gt;" in drawn
    assert "moe <8>" not in drawn
    names = re.findall(r"</i>([^<]*)</li>", drawn)
    assert {"forward", "backward", "tensor all-reduce", "expert all-to-all"} <= set(names)
    assert [f"rank {rank}" for rank in range(8)] == re.findall(r">(rank \d+)</text>", drawn)
    without = [("one", Seeds([cw.run(with_job(), sets={"record.timeline": False})]))]
    assert timelines(without) == ""


def test_a_trace_has_every_span_and_no_two_of_a_thread_overlap(
    clearway: Clearway, workspace: Path, run: Run
) -> None:
    file = written(workspace / "training.toml", SCENARIO)
    assert clearway("run", file, "--out", "there").status == 0
    assert clearway("export", "perfetto", "there", "-o", "trace.json").status == 0
    trace = json.loads(Path("trace.json").read_text())
    assert trace == json.loads(perfetto.trace(run))
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    rows = run.tables["timeline"]
    assert len(spans) == len(rows["start_us"])
    assert sum(span["dur"] for span in spans) == pytest.approx(
        float(np.sum(rows["end_us"] - rows["start_us"]))
    )
    threads: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for span in spans:
        threads.setdefault((span["pid"], span["tid"]), []).append((span["ts"], span["ts"] + span["dur"]))
    for of_thread in threads.values():
        of_thread.sort()
        ends = [end for _, end in of_thread[:-1]]
        assert all(start >= end - 1e-6 for (start, _), end in zip(of_thread[1:], ends, strict=True))
    named = {event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "thread_name"}
    assert "rank 7 computes" in named
    assert any(name.startswith("rank 0 messages") for name in named)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"expert_parallel": 3}, ["job[0].expert_parallel", "no whole groups of 3"]),
        (
            {"pipeline_parallel": 4, "expert_parallel": 1},
            ["job[0].pipeline_parallel", "3 layers for 4 stages"],
        ),
        ({"data_parallel": 6}, ["room for 8 ranks, and the job has 12"]),
        ({"tensor_parallel": 16}, ["job[0].tensor_parallel", "room for 8 ranks"]),
        ({"layer": []}, ["job[0].layer", "0 layers"]),
        ({"layer": [{"count": 2}]}, ["job[0].layer[0].forward"]),
        ({"layer": [{"forward": "1us", "tensr": "1B"}]}, ["job[0].layer[0].tensr", "tensor"]),
        ({"layer": [{"forward": "1us"}]}, ["job[0].expert_parallel", "no layer has exchange"]),
        (
            {"gradients": "sharded", "gradient_algorithm": "double_tree"},
            ["gradient_algorithm", "cannot scatter"],
        ),
        ({"model": "gpt4"}, ["job[0].model", "gpt3_175b"]),
        ({"model": "gpt3_175b"}, ["job[0].layer", "applies only with"]),
        ({"micro_batches": 0}, ["job[0].micro_batches"]),
    ],
)
def test_bad_input(keys: dict[str, Any], words: list[str], clearway: Clearway, workspace: Path) -> None:
    answer = clearway("run", written(workspace / "bad.toml", with_job(**keys)))
    assert answer.status == 2
    for word in words:
        assert word in answer.err, answer.err


def test_what_cannot_be_exported_says_how_to_get_it(clearway: Clearway, workspace: Path) -> None:
    file = written(workspace / "training.toml", SCENARIO)
    assert clearway("run", file, "--set", "record.timeline=false", "--out", "there").status == 0
    answer = clearway("export", "perfetto", "there", "-o", "trace.json")
    assert answer.status == 2
    assert "has no timeline" in answer.err
    assert "add timeline = true under [record]" in answer.err
    assert not Path("trace.json").exists()
    assert clearway("export", "perfetto", "nowhere", "-o", "trace.json").status == 2
