"""`clearway demo`: the first thing anyone runs."""

from pathlib import Path

import clearway as cw

from tests.conftest import Clearway, nothing_but


def test_compares_swift_with_dctcp_and_gcn_and_writes_a_report(clearway: Clearway, workspace: Path) -> None:
    answer = clearway("demo")
    assert answer.status == 0
    for word in ("Swift", "DCTCP", "GCN", "goodput", "loss", "p99.9 RTT", "fairness", "last completion"):
        assert word in answer.out
    for word in ("measured from", "slowdown", "--seeds"):
        assert word not in answer.out
    *_, conclusion, report = answer.out.splitlines()
    assert conclusion.startswith("Swift keeps the mean RTT ")
    assert report == "report: runs/demo/report.html"
    assert nothing_but(workspace / "runs" / "demo", "swift", "dctcp", "gcn", "report.html")
    page = Path("runs/demo/report.html").read_text()
    assert "Not recorded" not in page.split("Round-trip time over time")[0]
    swift = cw.load_run("runs/demo/swift")
    assert isinstance(swift, cw.Run)
    assert swift.summary["flows"] == swift.summary["completed"] == 1000
