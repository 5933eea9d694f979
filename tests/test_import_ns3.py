"""`clearway import` of files of HPCC's and ConWeave's ns-3: counts, rates, delays and settings come out."""

from pathlib import Path

import pytest

from tests.conftest import Clearway
from tests.imports import CONWEAVE, HPCC, imported, runs, scenario, topology, trace

TOPOLOGY, FLOWS, CONFIG = (HPCC / "mix" / f"{name}.txt" for name in ("topology", "flow", "config"))
FAT_TREE = CONWEAVE / "config" / "fat_k4_100G_OS2.txt"


def test_the_config_brings_the_files_that_it_names(clearway: Clearway) -> None:
    said = imported(clearway, CONFIG)
    assert [each["format"] for each in said["read"]] == ["ns3-config", "ns3-topology", "ns3-flows"]
    written = scenario()
    network = {"topology": "star", "hosts": 65, "rate": "100Gbps", "delay": "1us", "mtu": "1kB"}
    assert written["network"] == network
    # Nodes 2 and 3 of the file are the hosts 1 and 2, as node 0 is a switch.
    assert trace() == [("0us", 1, 0, "200000000B"), ("0us", 2, 0, "200000000B")]
    assert written["duration"] == "2s"
    assert written["transport"]["rdma"]["protocol"] == "hpcc"
    assert written["transport"]["rdma"]["eta"] == 0.95
    assert written["transport"]["rdma"]["max_stage"] == 0
    # Two links of 1 us there and back, and a packet of 1000 bytes on both; 50 Mb/s of that are 26 bytes.
    assert written["transport"]["rdma"]["base_rtt"] == "4160ns"
    assert written["transport"]["rdma"]["wai"] == "26B"
    assert written["switch"]["default"] == {
        "buffer": "32MiB",
        "sharing": "shared",
        "ecn": "red",
        "ecn_min": "400kB",
        "ecn_max": "1600kB",
        "ecn_pmax": 0.2,
        "pfc": "dynamic",
        "pfc_alpha": 0.125,
    }
    assert any("node 1 of the file is host 0" in each for each in said["assumed"])
    assert any("time 0 is 2s of the files" in each for each in said["assumed"])
    assert any("lines after the 2 flows" in each for each in said["not_carried_over"])
    runs(clearway)


def test_comments_in_braces_are_none_of_the_values(clearway: Clearway, workspace: Path) -> None:
    documented = HPCC / "mix" / "config_doc.txt"
    imported(clearway, documented, "-o", "documented.toml")
    imported(clearway, CONFIG, "-o", "plain.toml")
    first, second = (scenario(workspace / f"{name}.toml") for name in ("documented", "plain"))
    assert {**first, "name": "", "traffic": []} == {**second, "name": "", "traffic": []}


def test_a_topology_has_the_links_of_the_file(clearway: Clearway) -> None:
    said = imported(clearway, FAT_TREE, CONWEAVE / "config" / "flow.txt")
    lines = [line.split() for line in FAT_TREE.read_text().splitlines()]
    (nodes, switches, links), (*of_switches,) = map(int, lines[0]), map(int, lines[1])
    assert (said["hosts"], said["switches"], said["links"]) == (nodes - switches, switches, links)
    listed = topology()
    assert len(listed["node"]) == nodes
    assert sum(node["role"] != "host" for node in listed["node"]) == len(of_switches) == switches
    names = [f"{'switch' if i in of_switches else 'host'}{i}" for i in range(nodes)]
    assert [node["name"] for node in listed["node"]] == names
    wanted = [([names[int(row[0])], names[int(row[1])]], row[2], row[3]) for row in lines[2:]]
    usual = scenario()["network"]
    found = [
        (link["ends"], link.get("rate", usual["rate"]), link.get("delay", usual["delay"]))
        for link in listed["link"]
    ]
    assert found == [(ends, rate, delay.replace("1000ns", "1us")) for ends, rate, delay in wanted]
    roles = [node["role"] for node in listed["node"]]
    assert [roles.count(role) for role in ("tor", "aggregation", "spine")] == [8, 8, 4]


TWO_HOMES = """7 4 9
3 4 5 6
0 3 25Gbps 1us 0
0 4 25Gbps 1us 0
1 3 25Gbps 1us 0
1 4 25Gbps 1us 0.001
2 5 25Gbps 1us 0
3 6 25Gbps 1us 0
4 6 25Gbps 1us 0
5 6 25Gbps 1us 0
5 6 25Gbps 1us 0
"""
"""Two hosts with links to both of two leaves; the last two links are beside each other."""


def test_hosts_with_links_to_several_switches(clearway: Clearway, workspace: Path) -> None:
    (workspace / "two.txt").write_text(TWO_HOMES)
    (workspace / "flow.txt").write_text("2\n0 2 3 100 200000 2\n1 0 3 100 200000 2\n")
    said = imported(clearway, "two.txt", "flow.txt")
    assert (said["hosts"], said["switches"], said["links"]) == (3, 4, 8)
    ends = [link["ends"] for link in topology()["link"]]
    assert [each for each in ends if "host1" in each] == [["host1", "switch3"], ["host1", "switch4"]]
    assert any("2 hosts with links to several switches" in each for each in said["not_carried_over"])
    assert [(fault["kind"], fault["link"]) for fault in scenario()["fault"]] == [("loss", "host1-switch4")]
    assert runs(clearway, "1ms")["summary"]["completed"] == 2


def test_one_of_several_links_of_a_host_fails(clearway: Clearway, workspace: Path) -> None:
    """Under flow control and marks as well, whose thresholds the config gives by the rate of a port."""
    (workspace / "two.txt").write_text(TWO_HOMES)
    (workspace / "flow.txt").write_text("2\n0 2 3 100 200000 2\n1 0 3 100 200000 2\n")
    config = CONFIG.read_text().splitlines()
    named = {
        "TOPOLOGY_FILE": "two.txt",
        "FLOW_FILE": "flow.txt",
        "LINK_DOWN": "10 1 4",
        "KMAX_MAP": "2 25000000000 400 50000000000 800",
        "KMIN_MAP": "2 25000000000 100 50000000000 200",
        "PMAX_MAP": "2 25000000000 0.2 50000000000 0.2",
    }
    left = [line for line in config if (line.split() or [""])[0] not in named]
    (workspace / "config.txt").write_text(
        "\n".join([*left, *(f"{key} {value}" for key, value in named.items())])
    )
    imported(clearway, "config.txt")
    downs = [fault for fault in scenario()["fault"] if fault["kind"] == "down"]
    assert [fault["link"] for fault in downs] == ["host1-switch4"]
    assert runs(clearway, "1ms")["summary"]["completed"] >= 1


def test_flows_of_five_fields(clearway: Clearway) -> None:
    imported(clearway, FAT_TREE, CONWEAVE / "config" / "flow.txt")
    assert trace()[:2] == [("731ns", 0, 17, "64000B"), ("1904ns", 21, 4, "1200B")]
    assert runs(clearway, "200us")["summary"]["completed"] >= 4


def test_a_config_of_conweave(clearway: Clearway) -> None:
    said = imported(clearway, CONWEAVE / "mix" / "output" / "104" / "config.txt")
    written = scenario()
    assert written["transport"]["rdma"] == {
        "protocol": "irn",
        "congestion": "dcqcn",
        "dcqcn": "mellanox",
        "gain": 0.00390625,
        "alpha_timer": "1us",
        "decrease_interval": "4us",
        "increase_timer": "300us",
        "fast_recovery": 1,
        "ai_rate": "40Mbps",
        "hai_rate": "100Mbps",
        "min_rate": "100Mbps",
    }
    assert written["switch"]["default"]["buffer"] == "9MiB"
    assert "pfc" not in written["switch"]["default"]
    assert any("ConWeave is not here" in each for each in said["not_carried_over"])
    assert any("CONWEAVE_TX_EXPIRY_TIME" in each for each in said["not_carried_over"])
    assert any("VOQ_MON_FILE" in each for each in said["not_carried_over"])
    runs(clearway)


@pytest.mark.parametrize(
    ("mode", "protocol", "lost"),
    [(1, "roce", ""), (7, "timely", "RATE_HAI"), (8, "dctcp", "DCTCP"), (10, "hpcc", "PINT")],
)
def test_congestion_controls(
    mode: int, protocol: str, lost: str, clearway: Clearway, workspace: Path
) -> None:
    config(workspace, {"CC_MODE 3": f"CC_MODE {mode}"})
    said = imported(clearway, "config.txt", TOPOLOGY, FLOWS)
    assert scenario()["transport"]["rdma"]["protocol"] == protocol
    assert not lost or any(lost in each for each in said["not_carried_over"])
    runs(clearway)


def test_irn_under_hpcc_is_selective_repeat(clearway: Clearway, workspace: Path) -> None:
    config(workspace, {"CC_MODE 3": "CC_MODE 3\nENABLE_IRN 1\nENABLE_PFC 0"})
    said = imported(clearway, "config.txt", TOPOLOGY, FLOWS)
    assert scenario()["transport"]["rdma"]["recovery"] == "selective_repeat"
    assert "pfc" not in scenario()["switch"]["default"]
    assert any(each.startswith("ENABLE_IRN") for each in said["not_carried_over"])
    runs(clearway)


def config(folder: Path, changes: dict[str, str]) -> None:
    """Write HPCC's config with lines changed."""
    text = CONFIG.read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "config.txt").write_text(text)


def test_losses_and_a_link_that_goes_down(clearway: Clearway, workspace: Path) -> None:
    config(workspace, {"LINK_DOWN 0 0 0": "LINK_DOWN 12 3 0", "LINK 0.0000": "LINK 0.0010"})
    lossy = TOPOLOGY.read_text().replace("0 1 100Gbps 0.001ms 0\n", "0 1 100Gbps 0.001ms 0.25\n")
    (workspace / "lossy.txt").write_text(lossy)
    said = imported(clearway, "config.txt", "lossy.txt", FLOWS)
    faults = scenario()["fault"]
    assert faults[0] == {"kind": "loss", "link": "switch0-host1", "probability": 0.25}
    assert {fault["probability"] for fault in faults[1:-1]} == {0.001}
    assert len(faults) == 65 + 1
    assert faults[-1] == {"kind": "down", "link": "switch0-host3", "at": "12us"}
    assert scenario()["network"]["topology"] == "file"
    assert any("LINK_DOWN" in each for each in said["not_carried_over"])
    runs(clearway)


def test_switches_with_ports_of_different_rates(clearway: Clearway, workspace: Path) -> None:
    """Marks and thresholds go by the rate of a port there, by the role of a switch here."""
    (workspace / "topology.txt").write_text(
        "7 3 6\n4 5 6\n0 4 100Gbps 1us 0\n1 4 100Gb/s 1us 0\n2 5 100Gbps 1us 0\n3 5 100Gbps 1us 0\n"
        "4 6 400Gbps 1us 0\n5 6 400Gbps 1us 0\n"
    )
    (workspace / "flow.txt").write_text("1\n0 3 3 100 1000 2.5\n")
    config(workspace, {"KMAX_MAP 3 25000000000 400": "KMAX_MAP 3 400000000000 6400"})
    refused = clearway("import", "config.txt", "topology.txt", "flow.txt")
    assert refused.status == 2
    assert "KMIN_MAP: has no value for links of 400Gbps" in refused.err
    config(
        workspace,
        {
            "KMAX_MAP 3 25000000000 400": "KMAX_MAP 3 400000000000 6400",
            "KMIN_MAP 3 25000000000 100": "KMIN_MAP 3 400000000000 1600",
            "PMAX_MAP 3 25000000000 0.2": "PMAX_MAP 3 400000000000 0.2",
        },
    )
    said = imported(clearway, "config.txt", "topology.txt", "flow.txt")
    switch = scenario()["switch"]
    assert switch["tor"]["ecn_max"] == "1600kB"
    assert switch["tor"]["pfc_alpha"] == 0.125
    assert switch["spine"]["ecn_max"] == "6400kB"
    assert switch["spine"]["pfc_alpha"] == 0.5
    assert any("tor switches: as at their slowest ports" in each for each in said["not_carried_over"])
    assert trace() == [("500ms", 0, 3, "1000B")]


def test_parallel_links_are_one(clearway: Clearway, workspace: Path) -> None:
    (workspace / "topology.txt").write_text(
        "4 2 4\n2 3\n0 2 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 2us 0\n3 2 100Gbps 3us 0\n"
    )
    said = imported(clearway, "topology.txt")
    assert topology()["link"][2] == {"ends": ["switch2", "switch3"], "rate": "200Gbps", "delay": "3us"}
    assert any("1 link beside another" in each for each in said["not_carried_over"])
