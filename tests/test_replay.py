"""The page that plays a run: its data against the tables, what it refuses, and what a browser shows of it."""

import base64
import itertools
import json
import re
import shutil
import subprocess
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clearway.preview.description import show
from clearway.replay.contents import check
from clearway.replay.places import MOST_IN_ROWS, placed
from clearway.runs import Run
from numpy.typing import NDArray

from tests.conftest import SMALL, Clearway, written

REPLAYED: dict[str, Any] = {
    **SMALL,
    "switch": {"default": {"buffer": "30kB", "ecn": "step", "ecn_threshold": "15kB"}},
    "transport": {"bulk": {"protocol": "dctcp"}},
    "fault": [{"kind": "down", "link": "h1-tor0", "at": "60us", "until": "200us"}],
    "record": {"replay": "10us"},
}
"""Drops, marks, losses by a fault, and queues."""
SLOTTED: dict[str, Any] = {
    **SMALL,
    "duration": "5ms",
    "network": {"topology": "star", "hosts": 6, "rate": "10Gbps", "delay": "1us", "mtu": "1448B"},
    "transport": {"bulk": {"protocol": "fastpass", "header": "52B"}},
    "host": {
        "default": {
            "model": "interrupts",
            "wake_interval": "0us",
            "softirq": "0us",
            "softirq_mean": "0us",
            "stall_interval": "2ms",
            "stall": "100us",
        }
    },
    "arbiter": {"at": "h5"},
    "traffic": [{"pattern": "permutation", "transport": "bulk", "hosts": "0..5"}],
    "fault": [{"kind": "crash", "arbiter": 0, "at": "500us", "until": "2ms"}],
    "record": {"replay": "70us"},
}
"""Timeslots that are used, unused, and refused as late."""
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def unpacked(page: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a page's block of data, from the description of its format alone."""
    found = re.search(r'<script type="text/plain" id="data">([A-Za-z0-9+/=]*)</script>', page)
    assert found is not None
    block = zlib.decompress(base64.b64decode(found[1]))
    length = int.from_bytes(block[:4], "little")
    head = json.loads(block[4 : 4 + length])
    at, columns = 4 + length, {}
    for column in head["columns"]:
        rows, width = column["rows"], 8 if column.get("floats") else column["planes"]
        part = block[at : at + rows * width]
        at += rows * width
        if column.get("floats"):
            columns[column["name"]] = np.frombuffer(part, "<f8")
        else:
            planes = [part[plane * rows : (plane + 1) * rows] for plane in range(width)]
            numbers = [sum(plane[row] << 8 * at for at, plane in enumerate(planes)) for row in range(rows)]
            columns[column["name"]] = np.array(numbers, dtype=np.uint64)
    assert at == len(block)
    return head, columns


@pytest.fixture
def there(workspace: Path, clearway: Clearway) -> Path:
    """A run directory, and its page beside it."""
    written(workspace / "replayed.toml", REPLAYED)
    answer = clearway("run", "replayed.toml", "--out", "there")
    assert answer.status == 0
    assert re.search(r"replay: its page becomes [\d.]+ kB large at most", answer.err)
    answer = clearway("replay", "there", "-o", "page.html")
    assert answer.status == 0, answer.err
    said = re.fullmatch(r"replay: page\.html, ([\d.]+) kB\n", answer.out)
    assert said is not None
    assert float(said[1]) == pytest.approx(Path("page.html").stat().st_size / 1000, rel=1e-3)
    return Path("there")


def test_the_data_in_the_page_are_those_of_the_tables(there: Path) -> None:
    run = Run.load(there)
    head, columns = unpacked(Path("page.html").read_text())
    table = run.table("replay")
    at = np.repeat(np.arange(len(columns["instant_us"])), columns["rows"].astype(int))
    first = np.flatnonzero(np.diff(at, prepend=-1))
    links = np.concatenate(
        [np.cumsum(steps.astype(int)) for steps in np.split(columns["link_steps"], first[1:])]
    )
    assert np.array_equal(columns["instant_us"][at], table["time_us"])
    assert np.array_equal(links, table["link_number"])
    for name in ("sent_bytes", "queue_bytes", "dropped_frames", "lost_frames", "marked_frames"):
        assert np.array_equal(columns[name], table[name]), name
        assert table[name].sum() > 0, f"the run has no {name}"
    assert np.array_equal(columns["instant_us"], np.arange(1, 201) * 10.0)
    names = [f"{head['nodes'][a]}>{head['nodes'][b]}" for a, b in zip(head["from"], head["to"], strict=True)]
    assert names == run.links["link"].tolist()
    assert np.array_equal(columns["flow_start_us"], run.flows["start_us"])
    assert np.array_equal(columns["flow_fct_us"], run.flows["fct_us"], equal_nan=True)
    assert np.array_equal(columns["flow_to"], run.flows["to"])
    assert head["faults"] == [{"kind": "down", "place": "h1-tor0", "at_us": 60.0, "until_us": 200.0}]


def test_pauses_are_there_to_a_nanosecond_and_jobs_with_their_hosts(
    workspace: Path, clearway: Clearway
) -> None:
    job = {"kind": "collective", "collective": "all_to_all", "algorithm": "direct", "bytes": "100kB"}
    scenario = {
        **{key: value for key, value in REPLAYED.items() if key != "fault"},
        "switch": {"default": {"buffer": "2MB", "pfc": "static", "pfc_xoff": "10kB"}},
        "transport": {"bulk": {"protocol": "none"}},
        "job": [{**job, "name": "exchange", "transport": "bulk", "hosts": "1..5"}],
    }
    written(workspace / "paused.toml", scenario)
    assert clearway("run", "paused.toml", "--out", "there").status == 0
    assert clearway("replay", "there", "-o", "page.html").status == 0
    head, columns = unpacked(Path("page.html").read_text())
    paused = Run.load(Path("there")).table("replay")["paused_us"]
    assert paused.max() > 1
    assert np.abs(columns["paused_ns"] / 1000 - paused).max() <= 0.0005
    assert [(each["name"], each["hosts"]) for each in head["jobs"]] == [("exchange", [1, 2, 3, 4])]
    assert len(head["jobs"][0]["iterations_us"]) == 1


@pytest.fixture
def slotted(workspace: Path, clearway: Clearway) -> Path:
    """A run directory whose hosts send in timeslots, and its page beside it."""
    written(workspace / "slotted.toml", SLOTTED)
    answer = clearway("run", "slotted.toml", "--out", "there")
    assert answer.status == 0, answer.err
    # 72 instants, at each 12 directions of links and 6 hosts.
    assert "replay: its page becomes 10.37 kB large at most" in answer.err
    assert clearway("replay", "there", "-o", "page.html").status == 0
    return Path("there")


def test_timeslots_in_the_page_are_those_of_the_table(slotted: Path) -> None:
    head, columns = unpacked(Path("page.html").read_text())
    run = Run.load(slotted)
    table = run.table("replay_timeslots")
    at = np.repeat(np.arange(len(columns["instant_us"])), columns["slot_rows"].astype(int))
    first = np.flatnonzero(np.diff(at, prepend=-1))
    steps = np.split(columns["slot_host_steps"].astype(int), first[1:])
    assert np.array_equal(np.concatenate([np.cumsum(each) for each in steps]), table["host"])
    assert np.array_equal(columns["instant_us"][at], table["time_us"])
    for name in ("slots_used", "slots_unused", "refused_late", "slots_waiting"):
        assert np.array_equal(columns[name], table[name]), name
        assert table[name].sum() > 0, f"the run has no {name}"
    assert head["timeslot_us"] == pytest.approx(1.242828)


def test_a_run_from_before_timeslots_were_sampled_plays(slotted: Path, clearway: Clearway) -> None:
    manifest = json.loads((slotted / "manifest.json").read_text())
    del manifest["tables"]["replay_timeslots"]
    (slotted / "manifest.json").write_text(json.dumps(manifest))
    answer = clearway("replay", slotted, "-o", "page.html")
    assert answer.status == 0, answer.err
    head, columns = unpacked(Path("page.html").read_text())
    assert head["arbiters"]
    assert columns["rows"].sum() > 0
    assert not [name for name in columns if name.startswith("slot")]


def test_a_window_begins_where_it_says(workspace: Path, clearway: Clearway) -> None:
    record = {"replay": "30us", "replay_from": "100us", "replay_until": "200us"}
    written(workspace / "part.toml", {**REPLAYED, "record": record})
    assert clearway("run", "part.toml", "--out", "there").status == 0
    assert clearway("replay", "there", "-o", "page.html").status == 0
    head, columns = unpacked(Path("page.html").read_text())
    assert head["begin_us"] == 100
    assert columns["instant_us"].tolist() == [130, 160, 190, 200]
    assert columns["rows"].sum() == len(Run.load(Path("there")).table("replay")["time_us"])


def test_the_page_needs_no_network(there: Path) -> None:
    assert there
    page = re.sub(r'id="data">[^<]*', "", Path("page.html").read_text())
    assert not re.search(r"https?:|//[a-z]+\.|@import|<link(?! rel=\"icon\" href=\"data:)| src=", page)
    assert "default-src 'none'" in page
    assert "connect-src" not in page


@pytest.mark.parametrize(
    "network",
    [
        {"topology": "star", "hosts": 9},
        {"topology": "star", "hosts": 300},
        {"topology": "dumbbell", "left": 3, "right": 5},
        {"topology": "leaf_spine", "leaves": 4, "spines": 2, "hosts_per_leaf": 30},
        {"topology": "fat_tree", "k": 8},
        {"topology": "datacenters", "k": 4, "long_km": 80.0},
    ],
)
def test_nodes_stand_apart_and_within_the_drawing(network: dict[str, Any], workspace: Path) -> None:
    scenario = {**SMALL, "network": network, "traffic": [{"pattern": "incast", "transport": "bulk", "to": 0}]}
    places = placed(show(written(workspace / "net.toml", scenario)))
    assert len(set(zip(places.x, places.y, strict=True))) == len(places.x)
    assert all(0 < x < places.width for x in places.x)
    assert all(0 < y < places.height for y in places.y)
    hosts = show(workspace / "net.toml")["network"]["hosts"]
    assert (places.cell is None) == (hosts <= MOST_IN_ROWS)
    if places.cell:
        points = sorted(zip(places.y[:hosts], places.x[:hosts], strict=True))
        pairs = itertools.pairwise(points)
        assert all(low[0] != high[0] or high[1] - low[1] >= places.cell[0] for low, high in pairs)


def test_what_cannot_be_played_is_refused_with_a_remedy(
    small: Path, clearway: Clearway, tmp_path: Path
) -> None:
    assert clearway("run", small, "--out", "without").status == 0
    answer = clearway("replay", "without", "-o", "page.html")
    assert answer.status == 2
    assert "without: recorded no replay" in answer.err
    assert 'add replay = "10us" under [record]' in answer.err
    answer = clearway("replay", "nowhere", "-o", "page.html")
    assert answer.status == 2
    assert "no such run directory" in answer.err
    assert clearway("run", small, "--seeds", 2, "--out", "seeds").status == 0
    answer = clearway("replay", "seeds", "-o", "page.html")
    assert answer.status == 2
    assert "runs of several seeds" in answer.err
    assert not Path("page.html").exists()
    assert tmp_path.exists()
    early = {**REPLAYED, "stop_when_complete": True, "transport": SMALL["transport"], "fault": []}
    written(Path("early.toml"), {**early, "record": {"replay": "10us", "replay_from": "1900us"}})
    assert clearway("run", "early.toml", "--out", "early").status == 0
    answer = clearway("replay", "early", "-o", "page.html")
    assert answer.status == 2
    assert "early: ended before its replay began, at 1.9 ms" in answer.err
    run = Run.load(Path("without"))
    with pytest.raises(Exception, match="is of real hosts, expected a simulated run"):
        check(Run(**{**vars(run), "testbed": {"carrier": "udp"}}))


def test_a_listed_network_is_found_where_files_says(workspace: Path, clearway: Clearway) -> None:
    (workspace / "nets").mkdir()
    nodes = [{"name": name, "role": "host"} for name in "ab"] + [{"name": "s", "role": "tor"}]
    written(
        workspace / "nets" / "net.toml", {"node": nodes, "link": [{"ends": ["a", "s"]}, {"ends": ["b", "s"]}]}
    )
    network = {"topology": "file", "file": "net.toml", "rate": "10Gbps"}
    traffic = [{"pattern": "incast", "transport": "bulk", "from": 0, "to": 1, "bytes": "10kB"}]
    written(workspace / "nets" / "s.toml", {**REPLAYED, "network": network, "traffic": traffic, "fault": []})
    assert clearway("run", "nets/s.toml", "--out", "there").status == 0
    assert clearway("replay", "there", "-o", "page.html").status == 2
    assert clearway("replay", "there", "-o", "page.html", "--files", "nets").status == 0


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
class TestInABrowser:
    """What Chromium shows, after two seconds of its own time."""

    def dom(self, address: str, *options: str) -> str:
        assert CHROMIUM is not None
        page = Path("page.html").resolve().as_uri()
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000"]
        command += [f"--user-data-dir={Path('browser').resolve()}", *options, "--dump-dom", page + address]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout

    def test_it_shows_the_moment_and_the_selection_of_its_address(self, there: Path) -> None:
        run = Run.load(there)
        table = run.table("replay")
        port = run.links["link"].tolist().index("tor0>h4")
        queues = np.where(table["link_number"] == port, table["queue_bytes"], 0)
        busiest = int(np.argmax(queues))
        at = table["time_us"][busiest]
        dom = self.dom(f"#t={at}us&select=tor0%3Eh4")
        assert re.search(rf'<output id="time">{at:g} us of 2 ms</output>', dom)
        assert ">Link tor0&gt;h4<" in dom
        waiting = f"{float(f'{queues[busiest] / 1000:.4g}'):g} kB"
        assert f"Waiting: <b>{waiting}</b>" in dom
        assert 'id="failed" role="alert" hidden' in dom
        assert "data-first-frame-ms" in dom

    def test_a_flow_is_shown_with_its_path_and_how_to_ask_why(self, there: Path) -> None:
        flow = int(np.nanargmax(Run.load(there).flows["fct_us"]))
        dom = self.dom(f"#select=flow:{flow}")
        assert f">Flow {flow}: h{flow} to h4<" in dom
        assert '<p id="about" class="note">bulk; its path is pointed out.</p>' in dom
        assert f"clearway why {there} --flow {flow}" in dom

    def test_it_begins_at_the_start_where_the_address_says_nothing_that_is_there(self, there: Path) -> None:
        assert there
        dom = self.dom("#t=x&select=nobody")
        assert '<output id="time">10 us of 2 ms</output>' in dom
        assert ">The whole network<" in dom
        assert 'id="tab-faults"' in dom

    def test_a_host_that_sends_in_timeslots_is_shown_with_them(self, slotted: Path) -> None:
        table = Run.load(slotted).table("replay_timeslots")
        late = int(np.argmax(table["refused_late"]))
        host, at = table["host"][late], table["time_us"][late]
        dom = self.dom(f"#t={at:g}us&select=h{host}")
        assert f">Host h{host}<" in dom
        assert f"Timeslots refused as late: <b>{table['refused_late'][late]}</b>" in dom
        share = table["slots_used"][late] / (70 / 1.242828)
        assert f"<dt>timeslots</dt><dd>{table['slots_used'][late]} used ({100 * share:.3g} %)</dd>" in dom
        assert re.search(r'<li data-if="slotted"><i class="slots"></i>a host', dom)

    def test_a_page_without_timeslots_says_nothing_of_them(self, there: Path) -> None:
        assert there
        dom = self.dom("#select=h1")
        assert '<li data-if="slotted" hidden=""><i class="slots"></i>a host' in dom
        assert "Timeslots" not in re.sub(r"<script>.*?</script>", "", dom, flags=re.DOTALL)
