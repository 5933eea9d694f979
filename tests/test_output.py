"""Every scenario that ships runs, twice alike; what a run leaves is defined, and is as its definition says.

A scenario file that takes more than a fraction of a second has an entry in `BRIEF`, which makes it take less.
"""

import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import clearway as cw
import numpy as np
import pytest
from clearway import _clearway, meanings
from clearway.figures import FIGURES, TIMESLOTS
from clearway.runs import Run

from tests.conftest import BRIEF, Clearway
from tools.output import page

ROOT = Path(__file__).parent.parent
SCENARIOS = sorted([*ROOT.glob("scenarios/*.toml"), *ROOT.glob("python/clearway/scenarios/*.toml")])
MORE: dict[str, dict[str, Any]] = {
    "classes": {
        "record.classes": "1ms",
        "record.flows.every": "1ms",
        "record.flows.first": 4,
        "record.packets.limit": 100,
        "record.replay": "1ms",
    },
    "fastpass_rack": {"record.packets.limit": 100},
    "fastpass_takeover": {"record.replay": "1ms"},
    "operations": {"record.operations": True, "record.rtt": "100us", "measure_until": "8ms"},
}
"""What makes a scenario leave more."""

RING = ROOT / "crates" / "sim" / "tests" / "networks" / "five_around.toml"
DEADLOCK = f"""
format = 1
name = "ring"
duration = "3ms"
network = {{ topology = "file", file = "{RING}", rate = "100Gbps", delay = "1us" }}
switch.default = {{ pfc = "static", pfc_xoff = "20kB" }}
transport.flood = {{ protocol = "none", rto = "1s", ack = "1B" }}
""" + "".join(f'[[traffic]]\npattern = "incast"\nfrom = {at}\nto = {(at + 2) % 5}\n' for at in range(5))
"""Flows around a ring, which stop each other."""

MANIFESTS = ("one/manifest.json", "several/manifest.json")


def brief(file: Path) -> dict[str, Any]:
    """Return what is set in a scenario."""
    return BRIEF.get(file.stem, {}) | MORE.get(file.stem, {})


def columns(run: Run) -> set[tuple[str, str]]:
    return {(table, column) for table, found in run.tables.items() for column in found}


def keys(run: Run) -> set[str]:
    return {*run.summary, *itertools.chain.from_iterable(run.summary["transports"].values())}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Every scenario that ships, in brief, and a deadlock."""
    deadlock = tmp_path_factory.mktemp("deadlock") / "deadlock.toml"
    deadlock.write_text(DEADLOCK)
    files = [*SCENARIOS, deadlock]
    return {file.stem: cw.run(file, sets=brief(file)) for file in files}


@pytest.mark.parametrize("file", SCENARIOS, ids=[file.stem for file in SCENARIOS])
def test_a_scenario_runs_and_repeats(file: Path, runs: dict[str, Run], clearway: Clearway) -> None:
    sets = [word for key, value in brief(file).items() for word in ("--set", f"{key}={json.dumps(value)}")]
    answer = clearway("run", file, *sets, "--json")
    assert answer.status == 0, answer.err
    assert answer.json["packet_hops"] > 0
    assert answer.json["digest"] == runs[file.stem].digest


def test_what_is_set_is_of_files_that_are_there() -> None:
    assert BRIEF.keys() | MORE.keys() <= {file.stem for file in SCENARIOS}


# DEFINITIONS


def test_the_page_is_that_of_the_code() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.page(), "make it anew: python -m tools.output"


def test_every_figure_is_defined() -> None:
    assert list(meanings.FIGURES.keys() - {figure.key for figure in FIGURES}) == []
    assert list({figure.key for figure in FIGURES} - meanings.FIGURES.keys()) == []


def test_whatever_a_run_has_is_defined_and_whatever_is_defined_a_run_has(runs: dict[str, Run]) -> None:
    found = set().union(*map(columns, runs.values()))
    tables = json.loads(_clearway.tables())
    assert found == {(table["name"], column["name"]) for table in tables for column in table["columns"]}
    assert set().union(*map(keys, runs.values())) == meanings.FIGURES.keys() | meanings.SUMMARY.keys()


def test_columns_stand_in_the_order_of_the_page(runs: dict[str, Run]) -> None:
    defined = {
        table["name"]: [column["name"] for column in table["columns"]]
        for table in json.loads(_clearway.tables())
    }
    for run in runs.values():
        for name, table in run.tables.items():
            assert list(table) == [column for column in defined[name] if column in table]


def test_every_definition_is_a_sentence() -> None:
    texts = [
        *itertools.chain.from_iterable(
            [table["rows"], *(column["meaning"] for column in table["columns"])]
            for table in json.loads(_clearway.tables())
        ),
        *itertools.chain.from_iterable(
            of.values()
            for of in (
                meanings.FIGURES,
                meanings.SUMMARY,
                meanings.MANIFEST,
                meanings.SEEDS,
                meanings.INTERVAL,
                meanings.JSON,
            )
        ),
    ]
    for text in texts:
        assert text[0].isupper() or text[0].isdigit(), text
        assert text.endswith("."), text
        assert "  " not in text, text


def test_the_keys_of_manifests_and_of_json_are_defined(clearway: Clearway, small: Path) -> None:
    one = clearway("run", small, "--json", "--out", "one")
    several = clearway("run", small, "--json", "--out", "several", "--seeds", "2")
    assert one.json.keys() == meanings.JSON.keys()
    changed = {"seed", "seeds", "digest", "digests", "interrupted_at_us", "missing_seeds"}
    assert several.json.keys() ^ meanings.JSON.keys() == changed
    written = {path: json.loads(Path(path).read_text()) for path in (*MANIFESTS, "several/summary.json")}
    assert [written[path].keys() for path in MANIFESTS] == [meanings.MANIFEST.keys(), meanings.SEEDS.keys()]
    assert written["several/summary.json"]["flows"].keys() == meanings.INTERVAL.keys()


# FASTPASS


def test_times_in_timeslots_say_what_they_include(clearway: Clearway) -> None:
    rack = ROOT / "scenarios" / "fastpass_rack.toml"
    shown = clearway("run", rack, "--out", "rack").out
    assert TIMESLOTS in " ".join(shown.split())
    assert clearway("report", "rack", "-o", "rack.html").status == 0
    assert TIMESLOTS.replace("'", "&#x27;") in Path("rack.html").read_text()
    swift = clearway("run", ROOT / "scenarios" / "swift_incast_100.toml", "--set", "duration=1ms").out
    assert "timeslot" not in swift


# FIGURES FROM THE TABLES


@pytest.fixture(params=[file.stem for file in SCENARIOS])
def run(request: pytest.FixtureRequest, runs: dict[str, Run]) -> Run:
    return runs[request.param]


def close(run: Run, figure: str, value: float, within: float = 1e-9) -> None:
    """Check a figure of the summary; None where there is nothing to take it of."""
    found = run.summary[figure]
    if math.isnan(value):
        assert found is None, figure
    else:
        assert found == pytest.approx(value, rel=within, abs=1e-12), figure


def quantile(values: Any, share: float) -> float:
    """Take the smallest value that a share of all do not exceed."""
    ordered = np.sort(values)
    return float(ordered[max(math.ceil(len(ordered) * share), 1) - 1]) if len(ordered) else math.nan


def mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else math.nan


def seconds(run: Run) -> float:
    return float((run.summary["measured_until_us"] - run.summary["measured_from_us"]) / 1e6)


def test_goodput_and_counts_of_flows(run: Run) -> None:
    flows = run.flows
    close(run, "flows", len(flows["flow"]))
    close(run, "completed", np.isfinite(flows["fct_us"]).sum())
    close(run, "unfinished_flows", np.isfinite(flows["age_us"]).sum())
    close(run, "goodput_gbps", flows["goodput_gbps"].sum())
    assert run.summary["retransmissions"] <= flows["retransmissions"].sum()


def test_completion_times_and_slowdowns(run: Run) -> None:
    flows = run.flows
    times = np.where(np.isfinite(flows["fct_us"]), flows["fct_us"], flows["age_us"])
    counted = np.isfinite(times)
    slowdowns = np.maximum(times / flows["ideal_us"], 1.0)[counted]
    assert (flows["slowdown"][np.isfinite(flows["fct_us"])] >= 1.0).all()
    for name, values in (("fct_{}_us", times[counted]), ("slowdown_{}", slowdowns)):
        close(run, name.format("mean"), mean(values))
        close(run, name.format("p50"), quantile(values, 0.5))
        close(run, name.format("p99"), quantile(values, 0.99))
    close(run, "fct_max_us", quantile(times[counted], 1.0))


def histogram_quantile(times: Any, counts: Any, share: float) -> float:
    total = counts.sum()
    order = np.argsort(times)
    at = np.searchsorted(np.cumsum(counts[order]), max(math.ceil(total * share), 1))
    return float(times[order][at]) if total else math.nan


def test_round_trip_times(run: Run) -> None:
    rtt = run.rtt
    total = rtt["count"].sum()
    middle = (rtt["rtt_us"] * rtt["count"]).sum() / total if total else math.nan
    close(run, "rtt_mean_us", middle, 1 / 256)
    for name, share in (("p50", 0.5), ("p99", 0.99), ("p999", 0.999)):
        close(run, f"rtt_{name}_us", histogram_quantile(rtt["rtt_us"], rtt["count"], share), 1 / 256)


def test_parts_of_round_trip_times(runs: dict[str, Run]) -> None:
    run = runs["mixed_hosts"]
    delays = run.table("delays")
    for part, key in (("fabric", "fabric_rtt"), ("endpoint", "endpoint_delay"), ("nic", "nic_delay")):
        of = delays["part"] == part
        times, counts = delays["delay_us"][of], delays["count"][of]
        close(run, f"{key}_mean_us", (times * counts).sum() / counts.sum(), 1 / 256)
        close(run, f"{key}_p99_us", histogram_quantile(times, counts, 0.99), 1 / 256)
    parts = run.summary["fabric_rtt_mean_us"] + run.summary["endpoint_delay_mean_us"]
    close(run, "rtt_mean_us", parts)
    hosts = run.table("hosts")
    close(run, "host_utilisation_max", hosts["utilisation"].max())
    close(run, "host_drops", hosts["drops"].sum())


def test_figures_of_links(run: Run) -> None:
    links = run.links
    for figure, column in (
        ("utilisation_max", "utilisation"),
        ("queue_mean_bytes", "queue_mean_bytes"),
        ("queue_peak_bytes", "queue_peak_bytes"),
    ):
        close(run, figure, links[column].max())
    for figure in ("drops", "marks", "fault_losses"):
        close(run, figure, links[figure].sum())
    carried = links["wire_bytes"] * 8 / seconds(run) / 1e9 / links["rate_gbps"]
    # A frame may be in transmission when the interval begins, and when it ends.
    frame = 10_000 * 8 / seconds(run) / 1e9 / links["rate_gbps"]
    assert (np.abs(carried - links["utilisation"]) <= frame).all()


def test_figures_of_operations(runs: dict[str, Run]) -> None:
    run = runs["operations"]
    all_of = run.operations
    begin, end = run.summary["measured_from_us"], run.summary["measured_until_us"]
    issued = (all_of["issued_us"] >= begin) & (all_of["issued_us"] < end)
    done = np.isfinite(all_of["completed_us"])
    late = all_of["failed"] == 1
    close(run, "operations", (issued & done).sum())
    close(run, "unfinished_operations", (issued & ~done).sum())
    in_time = done & ~late & (all_of["completed_us"] >= begin) & (all_of["completed_us"] < end)
    close(run, "operations_per_second", in_time.sum() / seconds(run))
    decided = issued & (done | late)
    close(run, "failed_operations", (decided & late).sum() / decided.sum())
    latency = np.where(done, all_of["latency_us"], all_of["age_us"])[issued]
    close(run, "latency_mean_us", latency.mean())
    for name, share in (("p50", 0.5), ("p99", 0.99), ("p999", 0.999)):
        close(run, f"latency_{name}_us", quantile(latency, share), 1 / 256)


def test_the_longest_wait_of_a_flow() -> None:
    run = cw.run(ROOT / "scenarios" / "operations.toml", {"record.operations": True, "duration": "5ms"})
    close(run, "operation_wait_max_us", max(waits(run, run.summary["measured_from_us"])))


def waits(run: Run, begin: float) -> Iterator[float]:
    """Yield how long flows waited for each completion from `begin` on, and at the end."""
    all_of, end = run.operations, run.summary["simulated_us"]
    for flow in np.unique(all_of["flow"]):
        rows = all_of["flow"] == flow
        order = np.argsort(all_of["operation"][rows])
        last = 0.0
        for issued, completed in zip(
            all_of["issued_us"][rows][order], all_of["completed_us"][rows][order], strict=True
        ):
            until = end if math.isnan(completed) else float(completed)
            if until >= begin:
                yield until - max(float(issued), last)
            if math.isnan(completed):
                break
            last = until


def test_figures_of_flow_control(runs: dict[str, Run]) -> None:
    for run in (runs["lossless_incast"], runs["deadlock"]):
        pauses = run.table("pauses")
        close(run, "pause_share", mean(pauses["paused_us"]) / run.summary["simulated_us"])
        links = [str(link) for link in run.links["link"]]
        switches = ("tor", "spine", "s", "leaf")
        hosts = [link for link in links if not link.startswith(switches)]
        of_hosts = np.isin(pauses["link"], hosts)
        close(run, "host_pause_us", pauses["paused_us"][of_hosts].sum() / len(hosts))
    assert (
        runs["deadlock"].summary["deadlocked_links"] == len(runs["deadlock"].table("deadlock")["link"]) == 5
    )


def test_figures_of_fastpass(runs: dict[str, Run]) -> None:
    for name in ("fastpass_rack", "fastpass_takeover", "fastpass_order"):
        run = runs[name]
        endpoints = run.table("endpoints")
        for figure in ("slots_granted", "slots_unused", "fallbacks"):
            close(run, figure, endpoints[figure].sum())
        close(run, "slots_refused", (endpoints["refused_late"] + endpoints["refused_early"]).sum())
    replayed = runs["fastpass_takeover"].table("replay_timeslots")
    for column in ("slots_used", "slots_unused", "refused_late"):
        assert replayed[column].sum() == runs["fastpass_takeover"].table("endpoints")[column].sum(), column
