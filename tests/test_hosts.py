"""What is measured of real hosts, without one: what programs print, figures, lines and the page."""

import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.hosts import __main__ as command
from tools.hosts import bench, chart, demo, page
from tools.hosts.bars import Bar, Pairs, measured, skipped
from tools.hosts.load import Outcome, Sample, _shares, goodput_mbps
from tools.hosts.machine import UnavailableError, demand, run
from tools.hosts.network import Bottleneck
from tools.hosts.samples import jain, sockets, transfer

# WHAT PROGRAMS PRINT

SOCKETS = (
    "0      0      10.99.1.1:44992 10.99.2.1:5201 reno wscale:10,10 rto:204 rtt:0.119/0.08 ato:40 mss:1448"
    " pmtu:1500 cwnd:10 bytes_sent:185 bytes_acked:186 bytes_received:4 segs_out:7 minrtt:0.037\n"
    "0      260640 10.99.1.1:44996 10.99.2.1:5201 swift wscale:10,10 rto:204 rtt:0.495/0.103 mss:1448"
    " cwnd:1 bytes_sent:2883005 bytes_acked:2881558 segs_out:1994 send 23402020bps minrtt:0.024   \n"
    "0      209960 10.99.1.1:45004 10.99.2.1:5201 swift wscale:10,10 rto:204 rtt:0.47/0.063 mss:1448"
    " cwnd:2 bytes_sent:2935133 bytes_acked:2932238 segs_out:2030 send 49293617bps minrtt:0.021   \n"
    "0      0      10.99.1.1:45006 10.99.2.1:5201 swift wscale:10,10 rto:1000 mss:524 cwnd:10 segs_out:1\n"
)
"""As `ss -tinOH` printed it (shortened), and a socket that has sent nothing yet."""

TRANSFER = """{
    "start": {"version": "iperf 3.12", "tcp_mss_default": 1448},
    "intervals": [],
    "end": {
        "streams": [
            {"sender": {"bytes": 6269840, "bits_per_second": 50121579.9, "retransmits": 0},
             "receiver": {"start": 0, "end": 1.00132, "seconds": 1.000741, "bytes": 5975896,
                          "bits_per_second": 47744145.7}},
            {"sender": {"bytes": 6269840, "bits_per_second": 50121579.9, "retransmits": 3},
             "receiver": {"start": 0, "end": 1.00132, "seconds": 1.000741, "bytes": 6004856,
                          "bits_per_second": 47975520.3}}
        ],
        "sum_sent": {"bytes": 12539680, "retransmits": 3},
        "sum_received": {"bytes": 11980752, "seconds": 1.00132, "bits_per_second": 95719666.0}
    }
}"""
"""As `iperf3 -J` printed it, shortened, with retransmissions."""


def test_sockets_are_those_of_the_congestion_control_that_have_sent() -> None:
    found = sockets(SOCKETS, ["swift"])
    assert [(socket.srtt_ms, socket.acked_bytes) for socket in found] == [(0.495, 2881558), (0.47, 2932238)]
    assert [socket.control for socket in sockets(SOCKETS, ["swift", "reno"])] == ["reno", "swift", "swift"]
    assert sockets("", ["swift"]) == []


def test_flows_have_what_arrived_over_the_time_in_which_it_did() -> None:
    found = transfer(TRANSFER)
    assert found.retransmissions == 3
    assert sum(found.flow_mbps) == pytest.approx(95.719666)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"start": {}, "error": "unable to connect to server: Connection refused"}', "unable to connect"),
        ("Segmentation fault", "Segmentation fault"),
        ("", "no JSON"),
    ],
)
def test_what_iperf3_could_not_do_is_told(text: str, said: str) -> None:
    with pytest.raises(UnavailableError, match=said):
        transfer(text)


# FIGURES


def test_jain() -> None:
    assert jain([3.0, 3.0, 3.0]) == pytest.approx(1)
    assert jain([5.0, 0.0, 0.0, 0.0]) == pytest.approx(1 / 4)
    assert jain([1.0, 2.0, 3.0]) == pytest.approx(36 / 42)
    assert jain([0.0, 0.0]) == 0


def outcome(control: str = "swift", goodput: float = 900.0, srtt: float = 0.5, **more: object) -> Outcome:
    samples = (Sample(0.1, srtt, 0), Sample(1.1, srtt, round(goodput * 125e3)))
    usual: dict[str, object] = {"flow_mbps": (goodput / 2, goodput / 2), "retransmissions": 0, "drops": 0}
    return Outcome(control, goodput, samples=samples, **(usual | more))  # type: ignore[arg-type]


def test_goodput_is_of_the_time_in_which_flows_sent() -> None:
    samples = [Sample(0.2, 1.0, 1_000), Sample(1.2, 1.0, 1_001_000), Sample(2.4, 1.0, 9_001_000)]
    assert goodput_mbps(samples, 2) == pytest.approx(8)
    assert math.isnan(goodput_mbps(samples[:1], 2))


def test_the_flow_that_got_the_least() -> None:
    assert outcome(flow_mbps=(10.0, 30.0)).least_share == pytest.approx(0.5)
    assert outcome(flow_mbps=(0.0, 0.0)).least_share == 0


def test_more_flows_than_one_iperf3_has() -> None:
    assert _shares(1) == [1]
    assert _shares(128) == [128]
    assert _shares(200) == [100, 100]
    assert _shares(257) == [86, 86, 85]


def test_a_queue_is_time_at_its_rate() -> None:
    assert Bottleneck(mbps=100, queue_ms=10).queue_bytes == 125_000


# LINES


@pytest.mark.parametrize(
    ("bar", "line"),
    [
        (Bar("a_goodput_of_cubic", 0.95, "least", 0.95), "swift a_goodput_of_cubic 0.95 >=0.95 ok"),
        (Bar("a_goodput_of_cubic", 0.9499, "least", 0.95), "swift a_goodput_of_cubic 0.9499 >=0.95 short"),
        (Bar("a_srtt_of_cubic", 0.031, "most", 0.2), "swift a_srtt_of_cubic 0.031 <=0.2 ok"),
        (Bar("a_drops", 1, "most", 0), "swift a_drops 1 <=0 short"),
        (Bar("a_jain", math.nan, "least", 0.9), "swift a_jain nan >=0.9 short"),
    ],
)
def test_a_bar_says_whether_it_was_reached(bar: Bar, line: str) -> None:
    assert bar.line() == line


def test_what_cannot_be_measured_is_one_line() -> None:
    assert skipped("a", UnavailableError("no\n  such thing")) == "swift a skipped no such thing"


def test_ratios_are_of_runs_in_turn() -> None:
    """The machine became slow between two runs: medians of each side would compare fast with slow."""
    swift = [outcome(goodput=figure) for figure in (900, 95, 100)]
    cubic = [outcome("cubic", goodput=figure) for figure in (900, 950, 100)]
    assert Pairs(swift, cubic).ratio(lambda each: each.goodput_mbps) == 1
    assert Pairs(swift, cubic).ratio(lambda each: each.retransmissions) == 0
    lossy = [outcome(retransmissions=1)] * 3
    assert Pairs(lossy, cubic).ratio(lambda each: each.retransmissions) == math.inf


def test_medians_are_shown() -> None:
    runs = [outcome("cubic", goodput=figure, retransmissions=7) for figure in (900, 950, 10)]
    assert measured("a", runs) == (
        "measured a cubic 900 Mb/s, srtt 0.5 ms, Jain 1.000, 7 retransmissions, 0 drops"
    )


# THE COMMAND


def test_a_machine_that_cannot_says_so_for_each_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr("tools.hosts.testbed.lines", lambda *_: iter(()))  # which need no root
    # Nor do these: cargo builds what they measure.
    for part in ("slots", "arbiter", "takeover", "paths"):
        monkeypatch.setattr(f"tools.hosts.fastpass._{part}", lambda *_: iter(()))
    printed = list(bench.lines(bench.QUICK))
    assert len(printed) == 14
    assert all(line.endswith(" skipped it needs root") for line in printed)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    with pytest.raises(UnavailableError, match="missing: nosuchprogram"):
        demand("sh", "nosuchprogram")
    with pytest.raises(UnavailableError, match="sh -c exit 3: exit status 3"):
        run(["/bin/sh", "-c", "exit 3"])
    with pytest.raises(UnavailableError, match="a; b"):
        run(["/bin/sh", "-c", "echo 'error: a' >&2; echo '  b' >&2; exit 2"])
    with pytest.raises(UnavailableError, match=r"was not done after 0\.1 s"):
        run(["/bin/sleep", "5"], patience_s=0.1)


def test_a_run_is_no_longer_than_its_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bench.Effort] = []

    def lines(effort: bench.Effort) -> Iterator[str]:
        asked.append(effort)
        yield "swift a skipped here"

    monkeypatch.setattr(command, "lines", lines)
    for words in ([], ["--quick"], ["--quick", "--runs", "100"]):
        monkeypatch.setattr(sys, "argv", ["hosts", "bench", *words])
        assert command.main() == 0
    assert [(effort.repeats, effort.seconds(4), effort.starving_runs) for effort in asked] == [
        (5, 4, 100),
        (1, 2, 1),
        (1, 2, 100),
    ]


# THE PAGE


def three() -> list[Outcome]:
    made = []
    for control, srtt, mbps in (("cubic", 9.0, 940.0), ("bbr", 5.0, 930.0), ("swift", 0.4, 920.0)):
        samples = tuple(
            Sample(each / 10, srtt + each % 3 / 10, round(mbps * 125e3 * each / 10)) for each in range(1, 60)
        )
        made.append(Outcome(control, mbps, (mbps / 2, mbps / 2), 7, 3, samples))
    return made


def test_the_page_has_everything_in_it() -> None:
    text = page.html(three(), Bottleneck(mbps=1000, queue_ms=10), ["Without <this>: it is not there"])
    assert re.search(r"Swift&#x27;s mean round trip is 18\.\d times as short as Cubic&#x27;s, at 98 %", text)
    assert text.count('class="line look-3" d="M') == 4  # a curve and its sample in the key, of two charts
    assert "Without &lt;this&gt;: it is not there" in text
    assert "prefers-color-scheme: dark" in text
    assert "http" not in text
    assert "src=" not in text
    for places in re.findall(r'd="M([\d. L-]+)"', text):
        for x, y in (place.split() for place in places.split("L")):
            assert 0 <= float(x) <= 100
            assert 0 <= float(y) <= 100


def test_goodput_over_time_is_what_was_acknowledged() -> None:
    found = page.goodput_over_time(three()[0].samples)
    assert [goodput for _, goodput in found] == pytest.approx([940] * 56)
    assert page.goodput_over_time(three()[0].samples[:3]) == []


def test_the_table_of_a_terminal_has_columns() -> None:
    first, *rows = demo.table(three()).splitlines()
    assert [row.split()[0] for row in rows] == ["Cubic", "BBR", "Swift"]
    assert {len(line) for line in (first, *rows)} == {len(first)}


@pytest.mark.parametrize(
    ("most", "ticks"),
    [(8.0, [0, 2, 4, 6, 8]), (952.0, [0, 200, 400, 600, 800, 1000]), (0.4, [0, 0.1, 0.2, 0.3, 0.4])],
)
def test_axes_have_round_numbers(most: float, ticks: list[float]) -> None:
    assert chart.linear_ticks(most) == pytest.approx(ticks)


def test_logarithmic_axes_enclose_what_they_show() -> None:
    assert chart.logarithmic_ticks([0.42, 9.8]) == pytest.approx([0.2, 0.5, 1, 2, 5, 10])
    assert chart.logarithmic_ticks([1.0]) == pytest.approx([1, 2])


def test_a_page_is_there_whole_or_not_at_all(workspace: Path) -> None:
    path = workspace / "new" / "page.html"
    demo.write_whole(path, "first")
    with pytest.raises(UnicodeEncodeError):
        demo.write_whole(path, "\ud800")
    assert path.read_text() == "first"
    assert [each.name for each in path.parent.iterdir()] == ["page.html"]


def test_a_demo_that_cannot_run_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], workspace: Path
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert demo.demo(workspace / "page.html", 2) == 0
    assert capsys.readouterr().out == "skipped: it needs root\n"
    assert list(workspace.iterdir()) == []
