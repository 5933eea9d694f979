"""What happened in a run, in sentences: each figure in them is one that the run recorded."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import clearway as cw
import numpy as np
import pytest
from clearway import report
from clearway.figures import readable, times
from clearway.happened import what_happened
from clearway.runs import Run

from tests.conftest import SMALL, Clearway, written

ROOT = Path(__file__).parent.parent


def flows(**columns: list[float]) -> dict[str, Any]:
    """Three flows of a kilobyte: one complete, one under way at 100 us, one that has not started."""
    made: dict[str, Any] = {
        "flow": [0, 1, 2],
        "from": [4, 5, 6],
        "to": [9, 9, 9],
        "start_us": [1.0, 10.0, 500.0],
        "bytes": [1000, 1000, 1000],
        "retransmissions": [0, 0, 0],
        "delivered_bytes": [1000, 400, 0],
        "fct_us": [20.0, np.nan, np.nan],
        "ideal_us": [10.0, 10.0, 10.0],
        "age_us": [np.nan, 90.0, np.nan],
        **columns,
    }
    return {name: np.array(values) for name, values in made.items()}


def told(summary: dict[str, Any] | None = None, **tables: Any) -> list[str]:
    return what_happened({"simulated_us": 100.0, **(summary or {})}, tables, ())


def test_flows_that_completed_were_under_way_or_had_not_started() -> None:
    first, second = told(flows=flows())
    assert first == (
        "1 of 3 flows completed, the last at 21 us; 1 under way at the end, the oldest for 90 us; "
        "1 not started by then; the run ended at 100 us."
    )
    assert second == (
        "Slowest flow for its size: flow 1 (host 5 to host 9, 1 kB) was unfinished after 90 us, "
        "at least 9x its ideal of 10 us."
    )
    slow = told(flows=flows(fct_us=[200.0, np.nan, np.nan]))[1]
    assert "flow 0 (host 4 to host 9, 1 kB) took 200 us, 20x its ideal of 10 us." in slow


def test_flows_without_a_size_deliver() -> None:
    endless = flows(
        bytes=[0, 0, 0],
        fct_us=[np.nan] * 3,
        age_us=[np.nan] * 3,
        ideal_us=[np.nan] * 3,
        delivered_bytes=[1e6, 5e5, 0],
    )
    assert told(flows=endless) == ["3 flows without a size delivered 1.5 MB; the run ended at 100 us."]


def test_drops_trims_and_losses_say_which_time_they_cover() -> None:
    cover = {"measured_from_us": 10.0, "measured_until_us": 100.0}
    assert told({**cover, "drops": 3, "trims": 1, "host_drops": 2, "loss_rate_whole": 0.25}) == [
        "Ports dropped 3 frames as they had no room, hosts dropped 2 frames as their receive queues were "
        "full, ports cut 1 packet down to their headers between 10 us and 100 us.",
        "25 % of all data packets that were sent were lost.",
    ]
    assert told({"drops": 0, "loss_rate_whole": 0.0, **cover}) == [
        "No data packet was lost, and no port dropped a frame between 10 us and 100 us."
    ]
    whole = {"measured_from_us": 0.0, "measured_until_us": 100.0}
    assert told({"drops": 0, "loss_rate_whole": 0.0, **whole}) == [
        "No data packet was lost, and no port dropped a frame."
    ]
    # What was dropped may be acknowledgements, and what was not recorded is not spoken of.
    assert told({"drops": 1, "loss_rate_whole": 0.0})[1] == "No data packet was lost."
    assert told({"loss_rate_whole": None}) == []


def test_packets_sent_again_and_timeouts() -> None:
    again = flows(retransmissions=[3, 0, 4])
    assert told({"timeouts_whole": 2}, flows=again)[2] == (
        "7 packets of 2 flows were sent again; retransmission timeouts ran out 2 times."
    )
    assert told({"timeouts_whole": 0}, flows=again)[2].endswith("; no retransmission timeout ran out.")
    assert not any("again" in line for line in told({"timeouts_whole": 0}, flows=flows()))


def test_pauses_and_a_deadlock() -> None:
    pauses = {
        "link": np.array(["a>b", "c>d"]),
        "class": np.array(["", "rdma"]),
        "paused_us": np.array([5.0, 25.0]),
        "pauses": np.array([1, 3]),
    }
    assert told({"deadlocked_links": 2}, pauses=pauses) == [
        "Flow control paused links 4 times (PAUSE), c>d (class rdma) for longest: 25 us in all, "
        "25 % of the run.",
        "2 links waited for each other in a circle at the end: a deadlock.",
    ]
    none = {**pauses, "pauses": np.array([0, 0]), "paused_us": np.zeros(2)}
    assert told(pauses=none) == ["Flow control never paused a link."]


def test_the_busiest_port_and_the_longest_queue() -> None:
    links = {
        "link": np.array(["a>b", "c>d"]),
        "rate_gbps": np.array([10.0, 100.0]),
        "utilisation": np.array([0.9, 0.1]),
        "queue_mean_bytes": np.array([100.0, 5.0]),
        "queue_peak_bytes": np.array([2000, 9000]),
    }
    assert told(links=links) == [
        "Busiest port: a>b, 90 % of its 10 Gb/s used; its queue held at most 2 kB, and 100 B on average; "
        "the longest queue was 9 kB at c>d."
    ]
    assert told(links={**links, "queue_peak_bytes": np.array([9000, 2000])})[0].endswith("100 B on average.")
    assert told(links={**links, "utilisation": np.zeros(2)}) == []
    assert told(links={"link": links["link"], "utilisation": links["utilisation"]}) == []
    assert told(links={**links, "utilisation": np.full(2, np.nan)}) == []


def test_each_fault_and_what_went_on_meanwhile() -> None:
    count = 5
    faults = {
        "fault": np.arange(count),
        "kind": np.array(["down"] * count),
        "place": np.array(["tor0-spine0"] * count),
        "at_us": np.full(count, 10.0),
        "until_us": np.array([20.0, np.nan, 20.0, 20.0, 20.0]),
        "lost_frames": np.array([42, 1, 0, 0, 0]),
        "lost_bytes": np.array([1000, 64, 0, 0, 0]),
        "goodput_before_gbps": np.array([100.0, 100.0, np.nan, 1.0, 1.0]),
        "goodput_least_gbps": np.array([50.0, 0.0, np.nan, 1.0, 1.0]),
        "recovery_us": np.array([5.0, np.nan, np.nan, 0.0, 0.0]),
        "iteration_slowdown": np.array([1.5, np.nan, np.nan, np.nan, np.nan]),
    }
    first, second, third, more = told(faults=faults)
    assert first == (
        "Fault 0 (down, tor0-spine0) from 10 us to 20 us: 42 frames (1 kB) lost; goodput of the whole "
        "network was 100 Gb/s before and 50 Gb/s at its lowest, back at 90 % after 5 us; the iteration of a "
        "job took 1.5x the one before."
    )
    assert "from 10 us to the end: 1 frame (64 B) lost" in second
    assert second.endswith("and was not back at 90 % when the run ended.")
    assert third == "Fault 2 (down, tor0-spine0) from 10 us to 20 us: 0 frames (0 B) lost."
    assert more == "2 more faults."


def test_jobs_that_ended_and_those_that_did_not() -> None:
    jobs = {
        "name": np.array(["ring", "tree"]),
        "iterations": np.array([5, 3]),
        "asked": np.array([5, 10]),
        "end_us": np.array([80.0, np.nan]),
        "iteration_mean_us": np.array([16.0, 30.0]),
        "alone_us": np.array([8.0, np.nan]),
        "slowdown": np.array([2.0, np.nan]),
    }
    assert told(jobs=jobs) == [
        "1 of 2 jobs ended all iterations, the last (ring) at 80 us.",
        "Job tree had ended 3 of 10 iterations when the run ended.",
        "Slowest job: ring, 16 us an iteration, 2x as long as alone (8 us).",
    ]


def test_operations_fallbacks_warnings_and_an_interruption() -> None:
    lines = what_happened(
        {"operations": 8, "unfinished_operations": 2, "failed_operations": 0.5, "fallbacks": 1},
        {},
        ("one", "two", "three"),
        "interrupted at 1 ms of 2 ms",
    )
    assert lines == [
        "Interrupted at 1 ms of 2 ms.",
        "8 of 10 operations issued completed; 50 % of those that were due failed.",
        "Endpoints began to send without timeslots once, as no arbiter answered.",
        "Warning: one",
        "Warning: two",
        "1 more warning.",
    ]


def test_the_figures_are_those_of_the_run() -> None:
    run = cw.run(ROOT / "scenarios/cable_dies.toml")
    lines = "\n".join(run.what_happened())
    links, faults = run.links, run.table("faults")
    busiest = int(np.argmax(links["utilisation"]))
    assert f"Busiest port: {links['link'][busiest]}, " in lines
    assert readable("share", links["utilisation"][busiest]) in lines
    assert f"back at 90 % after {readable('time', faults['recovery_us'][0])}" in lines
    assert f"{readable('share', run.summary['loss_rate_whole'])} of all data packets" in lines
    assert f"{run.flows['retransmissions'].sum()} packets of " in lines
    assert f"timeouts ran out {run.summary['timeouts_whole']:.0f} times" in lines
    assert len(run.what_happened()) <= 10


def test_the_terminal_the_report_and_a_saved_run_say_the_same(clearway: Clearway, small: Path) -> None:
    run = cw.run(small)
    lines = run.what_happened()
    slowest = int(np.argmax(run.flows["slowdown"]))
    assert times(run.flows["slowdown"][slowest]) in lines[1]
    answer = clearway("run", small, "--out", "there")
    assert "What happened:\n" + "".join(f"- {line}\n" for line in lines) in answer.out
    assert cw.load_run("there").what_happened() == lines
    page = report.page([("one", run)])
    place = page.index("<h2>What happened</h2>")
    assert place < page.index("simulated time")
    assert place < page.index('<div class="charts">')
    for line in lines:
        assert f"<li>{line.replace('>', '&gt;')}</li>" in page


def test_of_several_seeds_the_first_is_told(clearway: Clearway, small: Path) -> None:
    answer = clearway("run", small, "--seeds", "2", "--out", "there")
    assert "What happened with seed 7, the first of 2:" in answer.out
    assert f"- {cw.run(small).what_happened()[0]}" in answer.out


@pytest.mark.parametrize(("count", "folded"), [(2, 0), (3, 0), (4, 4)])
def test_several_runs_are_told_side_by_side_and_many_folded_away(
    count: int, folded: int, workspace: Path
) -> None:
    run = cw.run(written(workspace / "one.toml", {**SMALL, "record": {}}))
    evil = "<script>&"
    page = report.page([(f"{evil}{number}", run) for number in range(count)])
    told = page[page.index('<section class="happened">') : page.index('<section class="overview">')]
    assert told.count("<li>4 of 4 flows completed") == count
    assert told.count("<details>") == folded
    assert "<script>" not in told


def test_a_run_that_left_no_tables_has_no_sentences() -> None:
    bare = Run("bare", 1, "1", "v1:1", 1, 1.0, {}, {}, {})
    assert bare.what_happened() == []
    assert "What happened" not in report.page([("bare", bare)])
    warned = replace(bare, warnings=("unlikely",))
    assert warned.what_happened() == ["Warning: unlikely"]
