"""`clearway show`: a network before a run, on the command line, as JSON, from Python, and drawn."""

import os
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import clearway as cw
import pytest
from clearway.preview import contents, page
from clearway.preview.drawing import drawing, span
from clearway.preview.grouping import MOST_DRAWN, grouped
from clearway.preview.layout import HEIGHT, laid_out

from tests.conftest import SMALL, Clearway, child, finished, written

ROOT = Path(__file__).parent.parent
STAR: dict[str, Any] = {"topology": "star", "hosts": 4}
FAT_TREE: dict[str, Any] = {"topology": "fat_tree", "k": 4}
LEAF_SPINE: dict[str, Any] = {"topology": "leaf_spine", "leaves": 3, "spines": 2, "hosts_per_leaf": 6}
DUMBBELL: dict[str, Any] = {
    "topology": "dumbbell",
    "left": 2,
    "right": 3,
    "bottleneck": "10Gbps",
    "bottleneck_delay": "5us",
}
DATACENTERS: dict[str, Any] = {
    "topology": "datacenters",
    "k": 4,
    "datacenters": 2,
    "long_rate": "400Gbps",
    "long_km": 80.0,
}
THOUSAND: list[dict[str, Any]] = [
    {"topology": "star", "hosts": 1024},
    {"topology": "fat_tree", "k": 16},
    {"topology": "leaf_spine", "leaves": 64, "spines": 16, "hosts_per_leaf": 16},
    {"topology": "leaf_spine", "leaves": 32, "spines": 32, "hosts_per_leaf": 32},
]
SHAPES = [STAR, FAT_TREE, LEAF_SPINE, DUMBBELL, DATACENTERS, *THOUSAND]


def scenario(network: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Frames of 4096 + 28 + 38 bytes at 80 ps a byte, over links of 1 us."""
    return {
        "format": 1,
        "name": "shown",
        "duration": "1ms",
        "network": {"rate": "100Gbps", "delay": "1us", "mtu": "4096B", **network},
        "transport": {"t": {"protocol": "none", "header": "28B"}},
        "traffic": [{"pattern": "permutation", "bytes": "1MB"}],
        **more,
    }


def shape_name(network: dict[str, Any]) -> str:
    return "-".join(str(value) for value in network.values())


def test_an_incast_to_the_byte() -> None:
    traffic = [{"pattern": "incast", "from": "0..3", "to": 3, "bytes": "1MB"}]
    found = cw.show(scenario(STAR, traffic=traffic), between=("h0", 3))
    assert [node["name"] for node in found["nodes"]] == ["h0", "h1", "h2", "h3", "tor0"]
    links = {link["name"]: link for link in found["links"]}
    assert (links["h0>tor0"]["rate_bps"], links["h0>tor0"]["delay_us"]) == (100_000_000_000, 1.0)
    # A megabyte is 245 frames with 66 bytes beside their payload; three of them at 12.5 bytes a nanosecond.
    assert links["h0>tor0"]["expected_bytes"] == 1_016_170
    assert links["tor0>h3"]["expected_us"] == pytest.approx(3 * 1_016_170 / 12_500)
    assert links["tor0>h3"]["load"] == pytest.approx(3 * 1_016_170 / 12_500 / 1000)
    assert links["tor0>h0"]["load"] == 0
    assert links["h0>tor0"]["port"] is None, "a host's NIC has no buffer of a switch"
    busiest = next(table for table in contents.tables(found) if table.title.startswith("Expected load"))
    assert [row[0] for row in busiest.rows] == ["tor0>h3", "h0>tor0", "h1>tor0", "h2>tor0"]
    between = found["between"]
    assert between["paths"] == 1
    assert between["listed_paths"] == [
        {"links": ["h0>tor0", "tor0>h3"], "rate_bps": 100_000_000_000, "delay_us": 2.0}
    ]
    assert between["transports"]["t"]["least"]["base_rtt_us"] == pytest.approx(4.67648)


def test_defaults_are_filled_in_and_what_is_unset_says_what_it_follows() -> None:
    transports = {"a": {"protocol": "hpcc"}, "b": {"protocol": "swift", "base_target": "33us"}}
    traffic = [{"pattern": "permutation", "bytes": "1MB", "transport": "a"}]
    found = cw.show(scenario(STAR, transport=transports, traffic=traffic))["transports"]
    assert found["a"]["parameters"]["eta"] == 0.95
    assert found["a"]["unset"] == {"base_rtt": "that of each flow's path"}
    assert found["b"]["parameters"]["base_target"] == "33us"
    assert {"initial_cwnd", "initial_rto"} <= set(found["b"]["unset"])


def test_ports_say_what_is_configured() -> None:
    switch = {
        "buffer": "2MB",
        "sharing": "shared",
        "alpha": 0.5,
        "ecn": "red",
        "ecn_min": "40kB",
        "ecn_max": "160kB",
        "ecn_pmax": 0.2,
        "pfc": "static",
        "pfc_xoff": "50kB",
        "pfc_headroom": "20kB",
    }
    port = cw.show(scenario(STAR, switch={"default": switch}))["links"][1]["port"]
    assert (port["buffer_bytes"], port["sharing"], port["alpha"]) == (2_000_000, "shared", 0.5)
    assert port["ecn"] == {
        "kind": "red",
        "min_bytes": 40_000,
        "max_bytes": 160_000,
        "pmax": 0.2,
        "mark_at": "dequeue",
    }
    assert (port["pfc"]["xoff_bytes"], port["pfc"]["headroom_bytes"]) == (50_000, 20_000)
    trim = {"buffer": "90kB", "overflow": "trim", "trim_size": "80B", "trim_room": "70kB"}
    port = cw.show(scenario(STAR, switch={"default": trim}))["links"][1]["port"]
    assert (port["buffer_bytes"], port["ecn"], port["pfc"]) == (90_000, None, None)
    assert port["trimming"] == {"size_bytes": 80, "header_room_bytes": 70_000, "tail": 0.5}


def test_a_relays_port_to_the_fibre_has_a_buffer_and_no_threshold() -> None:
    found = cw.show(ROOT / "scenarios/relayed_datacenters.toml")
    ports = {link["name"]: link["port"] for link in found["links"] if link["port"]}
    assert ports["relay0>relay1"]["relay"] == {"buffer_bytes": 41_000_000}
    assert ports["relay0>relay1"]["pfc"] is None
    assert ports["relay0>dci0"]["relay"] is None
    assert ports["relay0>dci0"]["pfc"]["xoff_bytes"] == 198_000
    assert found["network"]["relays"] == 2


def test_arbiters_are_marked() -> None:
    found = cw.show(ROOT / "scenarios/fastpass_takeover.toml")
    assert found["network"]["arbiters"] == ["h3", "h7"]
    assert [node["name"] for node in found["nodes"] if node["arbiter"]] == ["h3", "h7"]
    assert drawing(found)[0].count(">arbiter<") == 2


def test_what_is_not_counted_is_said() -> None:
    traffic: list[dict[str, Any]] = [
        {"pattern": "incast", "from": "0..3", "to": 3, "stagger": "600us"},
        {"pattern": "closed_loop", "from": 0, "to": 1, "bytes": "1kB"},
    ]
    found = cw.show(scenario(STAR, traffic=traffic))
    assert found["traffic"] == {"counted_flows": 0, "payload_bytes": 0, "greedy_flows": 3, "late_flows": 1}
    said = " ".join(found["not_counted"])
    for words in (
        "acknowledgements",
        "3 flows without a size",
        "1 flow that would start when the run is over",
    ):
        assert words in said
    sprayed = {"t": {"protocol": "none", "spray": "packet"}}
    assert "evenly" in " ".join(cw.show(scenario(FAT_TREE, transport=sprayed))["not_counted"])


def test_the_command_prints_what_python_gets(clearway: Clearway, workspace: Path) -> None:
    file = written(workspace / "shown.toml", scenario(FAT_TREE))
    answer = clearway("show", file, "--between", "h0", "4", "--json")
    assert answer.status == 0, answer
    assert answer.json == cw.show(file, between=("h0", "h4"))
    other = clearway("show", file, "--seed", "9", "--set", "network.rate=10Gbps", "--json").json
    assert other == cw.show(file, {"network.rate": "10Gbps"}, seed=9)
    assert other["links"][0]["rate_bps"] == 10_000_000_000


def test_the_terminal_has_every_table(clearway: Clearway, workspace: Path) -> None:
    classes = {"fast": {"priority": 0}, "slow": {"priority": 1}}
    transport = {"t": {"protocol": "none", "header": "28B", "class": "slow", "ack_class": "fast"}}
    file = written(workspace / "shown.toml", scenario(FAT_TREE, **{"class": classes, "transport": transport}))
    answer = clearway("show", file, "--between", "h0", "h4")
    assert answer.status == 0, answer
    out = answer.out
    for words in (
        "fat_tree: 16 hosts, 8 tor switches, 8 aggregation switches, 4 spine switches; 48 links",
        "tor - aggregation",
        "4 shortest paths from h0 to h4",
        "h0 > tor0 > agg0 > spine0 > agg2 > tor2 > h4",
        "Ports of switches",
        "Traffic classes",
        "Expected load",
        "Parameters of transports",
        "14.03 us",
    ):
        assert words in out, words
    # 2 * 6 links of 1 us, and six times a frame and its acknowledgement: 6 * 0.33824 us.
    assert "175,368 B" in out, "the bandwidth-delay product of 14.02944 us at 100 Gb/s"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["small.toml", "--between", "h0", "h9"], ["--between: there is no host h9", "h0 to h4, or 0 to 4"]),
        (["small.toml", "--between", "h0", "5"], ["there is no host 5", "numbered from 0 to 4"]),
        (["small.toml", "--between", "h1", "1"], ["h1 is one host, expected two"]),
        (["small.toml", "--between", "h1", "tor0"], ["there is no host tor0"]),
        (["small.toml", "--between", "h1"], ["--between"]),
        (["smal.toml"], ["smal.toml: no such file", "did you mean small.toml?"]),
        (["small.toml", "--set", "network.hots=3"], ["network.hots", "hosts"]),
        (
            ["small.toml", "-o", "a/b.html"],
            ["a/b.html: cannot be written", "make the directory a first", "-o/--output"],
        ),
        (["small.toml", "-o", "."], ["is a directory"]),
        (["small.toml", "-o", "-"], ["-: is a stream", "name the file to write"]),
        (["small.toml", "-o", "/dev/stdout"], ["/dev/stdout: is a stream"]),
        (["small.toml", "-o", "/dev/fd/1"], ["/dev/fd/1: is a stream"]),
    ],
)
def test_bad_input(arguments: list[str], words: list[str], clearway: Clearway, small: Path) -> None:
    assert small.exists()
    answer = clearway("show", *arguments)
    assert answer.status == 2
    assert answer.out == ""
    for word in words:
        assert word in answer.err


def test_a_reader_of_the_first_lines_leaves_a_whole_page(small: Path, workspace: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = child("show", small.name, "-o", "page.html", stdout=writer)
    os.close(writer)
    finished(process)
    assert (workspace / "page.html").read_text().rstrip().endswith("</html>")


@pytest.mark.parametrize("between", ["h0", ("h0",), ("h0", "h1", "h2"), (True, 1), 3, ("h0", 1.5)])
def test_bad_arguments(between: Any, small: Path) -> None:
    with pytest.raises(cw.ClearwayError, match="expected two hosts"):
        cw.show(small, between=between)


def test_what_cannot_fit_into_memory_is_refused(
    clearway: Clearway, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    traffic = '[{pattern = "incast", from = "0..4", to = 4, bytes = "1kB", flows_per_pair = 100000}]'
    monkeypatch.setenv("CLEARWAY_MEMORY_LIMIT", "30MB")
    answer = clearway("show", small, "--set", f"traffic={traffic}")
    assert answer.status == 2
    assert "of memory" in answer.err


class Page(HTMLParser):
    """What stands in a page: tags, and texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.texts: list[str] = []
        self.linked: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.linked += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_is_complete_in_itself(clearway: Clearway, workspace: Path) -> None:
    name = "</script><b>&"
    file = written(workspace / "shown.toml", {**SMALL, "name": name})
    answer = clearway("show", file, "-o", "page.html")
    assert answer.status == 0, answer
    assert "page: page.html" in answer.out
    text = (workspace / "page.html").read_text()
    seen = Page(text)
    assert seen.linked == ["data:,"], "it asks nobody for anything"
    assert seen.tags["script"] == 0
    assert seen.tags["b"] == 0, "a name is text"
    assert seen.tags["svg"] == 1
    assert name in seen.texts
    assert "prefers-color-scheme: dark" in text
    titles = {table.title for table in contents.tables(cw.show(file))}
    assert titles <= set(seen.texts)
    silent = clearway("show", file, "-o", "page.html", "--json")
    assert silent.json["name"] == name
    assert "page.html" in silent.err


@pytest.mark.parametrize("network", SHAPES, ids=shape_name)
def test_every_shape_is_drawn_without_overlap(network: dict[str, Any]) -> None:
    found = cw.show(scenario(network), between=(0, 1))
    net = grouped(found)
    places = laid_out(net)
    nodes = sorted(node for box in net.boxes for node in box.nodes)
    assert nodes == list(range(len(found["nodes"]))), "each node is in one box"
    boxes = sorted(zip(places.places, places.widths, strict=True), key=lambda box: (box[0][1], box[0][0]))
    for ((x, y), width), ((next_x, next_y), next_width) in pairwise(boxes):
        assert next_y >= y + HEIGHT + 20 or (next_y == y and next_x - next_width / 2 >= x + width / 2 + 4)
    for (x, y), width in boxes:
        assert width / 2 <= x <= places.width - width / 2
        assert HEIGHT / 2 <= y <= places.height - HEIGHT / 2
    assert len(net.boxes) <= 80, "it can be read"
    links = sorted(link for edge in net.edges for link in edge.links)
    inside = [edge for edge in net.edges if edge.ends[0] == edge.ends[1]]
    assert not inside
    assert links == list(range(len(found["links"]) // 2)), "each link is on one line"
    assert drawing(found)[0].startswith("<svg")


def test_a_box_of_hosts_says_how_many() -> None:
    svg, caption = drawing(cw.show(scenario(LEAF_SPINE), between=("h0", "h6")))
    assert svg.count(">5 hosts<") == 2, "beside each host that was asked for"
    assert svg.count(">6 hosts<") == 1
    assert ">h1-5<" in svg
    assert ">h12-17<" in svg
    assert "many that are alike are one" in caption
    large = drawing(cw.show(scenario(THOUSAND[1])))[0]
    assert large.count(">64 hosts<") == 16
    assert large.count(">8 tor<") == large.count(">8 agg<") == 16
    assert large.count(">8 spine<") == 8


def test_the_paths_asked_for_stand_out() -> None:
    found = cw.show(scenario(FAT_TREE), between=("h0", "h4"))
    svg, caption = drawing(found)
    on_paths = {link for path in found["between"]["listed_paths"] for link in path["links"]}
    assert svg.count('class="between"') == len(on_paths) == 14
    assert "the paths from h0 to h4" in caption
    assert 'class="between"' not in drawing(cw.show(scenario(FAT_TREE)))[0]


def test_lines_have_the_colour_of_their_load() -> None:
    traffic = [{"pattern": "incast", "from": "0..3", "to": 3, "bytes": "7MB"}]
    svg, _ = drawing(cw.show(scenario(STAR, traffic=traffic)))
    # 12.5 MB are a millisecond: senders' links are to carry 57 %, and the receiver's 171 %.
    assert Counter(re.findall(r'path class="(\w+)"', svg)) == {"half": 3, "full": 1}


def test_a_network_too_large_to_draw_says_so(clearway: Clearway, workspace: Path) -> None:
    # A chain of switches with a different number of hosts each: nothing is alike.
    count = MOST_DRAWN + 1
    names = [f"s{number}" for number in range(count)]
    hosts = [
        (f"h{number}-{index}", name) for number, name in enumerate(names) for index in range(1 + number % 3)
    ]
    text = "".join(f'[[node]]\nname = "{name}"\nrole = "tor"\n' for name in names)
    text += "".join(f'[[node]]\nname = "{host}"\nrole = "host"\n' for host, _ in hosts)
    ring = [*pairwise(names), (names[-1], names[0])]
    text += "".join(
        f'[[link]]\nends = ["{a}", "{b}"]\nrate = "1Gbps"\ndelay = "1us"\n' for a, b in (*hosts, *ring)
    )
    (workspace / "chain.toml").write_text(text)
    network = {"topology": "file", "file": "chain.toml"}
    file = written(workspace / "large.toml", {**scenario({}), "network": network})
    answer = clearway("show", file, "-o", "page.html")
    assert answer.status == 0
    assert "Too large to draw" in answer.err
    made = (workspace / "page.html").read_text()
    assert "Too large to draw" in made
    assert "<svg" not in made
    assert "Expected load" in made


def test_names_that_count_on_are_a_range() -> None:
    assert span(["h0", "h1", "h2"]) == "h0-2"
    assert span(["h0", "h2"]) == "h0, ..."
    assert span(["a", "b"]) == "a, ..."


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda file: file.stem)
def test_every_scenario_that_ships_can_be_shown(file: Path) -> None:
    found = cw.show(file)
    text, warning = page.page(found)
    assert not warning
    assert found["transports"]
    assert "nan" not in text.lower().replace("lightning", "").replace("nano", "")
    for transport in found["transports"].values():
        assert transport["least"]["base_rtt_us"] <= transport["greatest"]["base_rtt_us"]
