"""`clearway demo`: the first thing anyone runs."""

import json
from pathlib import Path

import clearway as cw

from tests.conftest import Clearway, nothing_but


def test_compares_swift_with_dctcp_and_gcn_and_writes_a_report(clearway: Clearway, workspace: Path) -> None:
    answer = clearway("demo")
    assert answer.status == 0
    for word in ("Swift", "DCTCP", "GCN", "goodput", "loss", "p99.9 RTT", "fairness", "last completion"):
        assert word in answer.out
    start, steady = answer.out.split("From 10 ms on")
    assert "The first 10 ms" in start
    assert "longest RTT" in start
    assert "longest RTT" not in steady
    for word in ("measured from", "slowdown", "--seeds"):
        assert word not in answer.out
    *_, conclusion, report = answer.out.splitlines()
    assert conclusion.startswith("Swift keeps the mean RTT ")
    # One run of each is all there is to know, or nobody could say so.
    assert conclusion.endswith("any seed gives the same.")
    assert report == "report: runs/demo/report.html"
    assert nothing_but(workspace / "runs" / "demo", "swift", "dctcp", "gcn", "report.html")
    page = Path("runs/demo/report.html").read_text()
    assert "Not recorded" not in page.split("Round-trip time over time")[0]
    swift = cw.load_run("runs/demo/swift")
    assert isinstance(swift, cw.Run)
    assert swift.summary["flows"] == swift.summary["completed"] == 1000
    # Nothing is lost or sent again for nothing; once it has started Swift is fair, and its tail short.
    assert swift.summary["loss_rate_whole"] == swift.summary["timeouts_whole"] == 0
    assert swift.flows["retransmissions"].sum() == 0
    assert swift.summary["jain"] >= 0.9
    assert swift.summary["rtt_p999_us"] <= 3 * swift.summary["rtt_p50_us"]


def test_the_start_is_apart_in_json_too(clearway: Clearway) -> None:
    found = json.loads(clearway("demo", "--json").out)
    starts = {start["label"]: start for start in found["start_up"]}
    assert list(starts) == [column["label"] for column in found["columns"]] == ["Swift", "DCTCP", "GCN"]
    swift = starts["Swift"]
    # A thousand first packets of 4198 B at 50 Gb/s take 672 us.
    assert swift["until_us"] == 10_000
    assert 672 < swift["rtt_max_us"] < 720
    assert found["columns"][0]["summary"]["rtt_mean_us"] < swift["rtt_mean_us"] < swift["rtt_max_us"]
