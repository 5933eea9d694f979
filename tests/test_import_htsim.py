"""`clearway import` of htsim's own files: the same flows and the same network come out."""

import re
from pathlib import Path

import pytest

from tests.conftest import Clearway
from tests.imports import CSG, UET, imported, runs, scenario, topology, trace


def flows_in(path: Path) -> list[tuple[str, int, int, str]]:
    """The flows of a matrix that have a start of 0, as a trace has them."""
    found = re.findall(r"^(\d+)->(\d+) .*?start 0 size (\d+)", path.read_text(), re.MULTILINE)
    return [("0us", int(source), int(target), f"{size}B") for source, target, size in found]


@pytest.mark.parametrize(
    ("path", "flows", "network"),
    [
        (CSG / "perm_16n_16c_2MB.cm", 16, {"topology": "fat_tree", "k": 4}),
        (CSG / "perm_32n_32c_2MB.cm", 32, {"topology": "leaf_spine", "leaves": 8, "spines": 4}),
        (UET / "perm_128n_128c_2MB.cm", 128, {"topology": "fat_tree", "k": 8}),
        (UET / "one.cm", 1, {"topology": "fat_tree", "k": 4}),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_a_matrix_alone_is_in_the_network_that_htsim_makes(
    path: Path, flows: int, network: dict[str, object], clearway: Clearway
) -> None:
    said = imported(clearway, path)
    assert said["files"] == ["scenario.trace.csv", "scenario.toml"]
    assert trace() == flows_in(path)
    assert said["flows"] == len(trace()) == flows
    written = scenario()["network"]
    assert {key: written[key] for key in network} == network
    assert (written["rate"], written["delay"]) == ("100Gbps", "1us")
    assert any("no file has the network" in each for each in said["assumed"])


def test_the_scenario_runs_and_completes_its_flows(clearway: Clearway) -> None:
    imported(clearway, CSG / "perm_16n_16c_2MB.cm")
    assert runs(clearway, "3ms")["summary"]["completed"] == 16


def test_a_matrix_and_its_topology(clearway: Clearway) -> None:
    said = imported(clearway, CSG / "perm_32n_32c_2MB.cm", CSG / "leaf_spine_tiny.topo")
    assert (said["hosts"], said["switches"], said["links"]) == (32, 6, 40)
    written = scenario()["network"]
    assert written["topology"] == "leaf_spine"
    assert (written["leaves"], written["spines"], written["hosts_per_leaf"]) == (4, 2, 8)
    assert written["oversubscription"] == 4
    runs(clearway)


def test_a_tree_that_no_shape_has_becomes_a_file(clearway: Clearway) -> None:
    said = imported(clearway, UET / "perm_128n_128c_2MB.cm", UET / "fat_tree_128_4os.topo")
    # 32 switches of hosts with 4 links up to 32 others, of which each has one link to 4 core switches.
    assert (said["hosts"], said["switches"], said["links"]) == (128, 68, 128 + 128 + 32)
    listed = topology()
    assert len(listed["node"]) == 128 + 68
    roles = [node["role"] for node in listed["node"]]
    assert [roles.count(role) for role in ("host", "tor", "aggregation", "spine")] == [128, 32, 32, 4]
    ends = {tuple(link["ends"]) for link in listed["link"]}
    assert len(ends) == said["links"]
    assert {("h127", "tor31"), ("tor5", "agg4"), ("tor5", "agg7"), ("agg6", "spine2")} <= ends
    assert ("tor5", "agg8") not in ends
    runs(clearway)


@pytest.mark.parametrize(
    "path", [UET / "fat_tree_128_1os.topo", CSG / "fat_tree_1024.topo"], ids=lambda p: p.name
)
def test_a_topology_alone_has_traffic_to_start_with(path: Path, clearway: Clearway) -> None:
    said = imported(clearway, path)
    hosts = int(re.findall(r"Nodes (\d+)", path.read_text())[0])
    written = scenario()
    assert written["network"]["topology"] == "fat_tree"
    assert written["network"]["k"] ** 3 // 4 == said["hosts"] == hosts
    assert said["links"] == 3 * hosts
    assert written["traffic"] == [{"pattern": "permutation", "bytes": "1MB"}]
    assert any("no file has flows" in each for each in said["assumed"])
    if hosts == 128:
        runs(clearway)


def test_bundles_and_slower_tiers(clearway: Clearway) -> None:
    said = imported(clearway, CSG / "test.topo")
    listed = topology()
    rates = {tuple(link["ends"]): link.get("rate", "200Gbps") for link in listed["link"]}
    # Two links of 100 Gb/s from each aggregation switch to a core switch are one of 200.
    assert rates["agg0", "spine0"] == "200Gbps"
    assert (said["hosts"], said["switches"], said["links"]) == (8, 4 + 4 + 4, 8 + 8 + 8)
    assert any("Bundle" in each for each in said["not_carried_over"])
    runs(clearway)


def test_a_link_of_a_bundle_fails_alone(clearway: Clearway, workspace: Path) -> None:
    flows = "Nodes 8\nConnections 1\nFailures 1\n0->7 start 0 size 9000\n"
    (workspace / "failed.cm").write_text(flows + "failure switch_type AGG switch_id 1 link_id 1\n")
    said = imported(clearway, "failed.cm", CSG / "test.topo")
    assert said["links"] == 24
    rates = {tuple(link["ends"]): link.get("rate", "200Gbps") for link in topology()["link"]}
    # By htsim's count the core switch 1 x 2 + 1, which is the second of those that this one is linked to.
    assert rates["agg1", "spine3"] == "100Gbps"
    assert list(rates.values()).count("200Gbps") == 23


def test_flows_without_end(clearway: Clearway) -> None:
    said = imported(clearway, CSG / "incast.cm")
    assert said["files"] == ["scenario.toml"]
    written = scenario()
    assert "stop_when_complete" not in written
    assert written["network"]["k"] == 12
    senders = sum(
        int(each.split("..")[1]) - int(each.split("..")[0]) if isinstance(each, str) else 1
        for table in written["traffic"]
        for each in table["from"]
    )
    assert senders == len(re.findall("->", (CSG / "incast.cm").read_text())) == said["flows"]
    runs(clearway)


def test_flows_that_wait_for_triggers_are_left_out_and_counted(clearway: Clearway) -> None:
    said = imported(clearway, UET / "foo2.cm")
    assert trace() == flows_in(UET / "foo2.cm")
    assert len(trace()) == 4
    assert any(each.startswith("trigger: 8 of 12 flows") for each in said["not_carried_over"])
    assert "#   start" not in Path("scenario.toml").read_text()


def test_messages_start_in_microseconds(clearway: Clearway, workspace: Path) -> None:
    text = (UET / "test_cr_1f10m10p.cm").read_text().replace("start 0", "start 7")
    (workspace / "messages.cm").write_text(text)
    said = imported(clearway, "messages.cm")
    assert trace() == [("7us", 0, 1, "40860B")] * 10
    assert any("start is in us" in each for each in said["assumed"])
    assert any(each.startswith("msg:") for each in said["not_carried_over"])
    imported(clearway, "messages.cm", "--start-unit", "ps", "--force")
    assert trace() == [("7ps", 0, 1, "40860B")] * 10


def test_starts_are_in_picoseconds(clearway: Clearway, workspace: Path) -> None:
    (workspace / "late.cm").write_text("Nodes 16\nConnections 1\n3->4 id 1 start 1500000.4 size 4096\n")
    said = imported(clearway, "late.cm")
    assert trace() == [("1500ns", 3, 4, "4096B")]
    assert any("start is in ps" in each and "--start-unit" in each for each in said["assumed"])


def test_starts_that_are_hardly_meant_in_picoseconds_are_told(clearway: Clearway) -> None:
    """The files of uet-htsim's own experiments: 16us is in their names, and htsim takes their 9 for 9 ps."""
    path = UET / "gen_random_incast_8192n_2c_16us_1Ms.cm"
    said = imported(clearway, path)
    assert trace() == [("0us", 2178, 0, "1048576B"), ("9ps", 3216, 0, "1048576B")]
    assert any("within 1 ns so: --start-unit us" in each for each in said["assumed"])
    said = imported(clearway, path, "--start-unit", "us", "--force")
    assert [flow[0] for flow in trace()] == ["0us", "9us"]
    assert not any("within 1 ns" in each for each in said["assumed"])


def test_a_switch_s_latency_is_shared_by_its_links(clearway: Clearway, workspace: Path) -> None:
    text = (CSG / "leaf_spine_tiny.topo").read_text().replace("Switch_Latency_ns 0", "Switch_Latency_ns 500")
    (workspace / "slow.topo").write_text(text)
    imported(clearway, "slow.topo")
    delays = {tuple(link["ends"]): link.get("delay", "1250ns") for link in topology()["link"]}
    assert scenario()["network"]["delay"] == delays["h0", "tor0"] == "1250ns"
    # Four links and three switches: as in htsim, 4 us and 1.5 us.
    assert delays["tor0", "spine0"] == "1500ns"


def test_queues_are_buffers_of_roles(clearway: Clearway, workspace: Path) -> None:
    text = (CSG / "leaf_spine_tiny.topo").read_text()
    text = text.replace("Radix_Up 2", "Radix_Up 2\nQueue_Up 200000\nQueue_Down 300000")
    text = text.replace("Radix_Down 4", "Radix_Down 4\nqueue_down 400000")
    (workspace / "queues.topo").write_text(text)
    said = imported(clearway, "queues.topo")
    assert scenario()["switch"] == {"tor": {"buffer": "300kB"}, "spine": {"buffer": "400kB"}}
    assert any("tor switch" in each for each in said["not_carried_over"])


def test_a_failed_link_is_not_there(clearway: Clearway, workspace: Path) -> None:
    text = (CSG / "perm_16n_16c_2MB.cm").read_text().replace("Connections 16", "Connections 16\nFailures 1")
    (workspace / "failed.cm").write_text(f"{text}\nfailure switch_type AGG switch_id 3 link_id 1\n")
    said = imported(clearway, "failed.cm")
    assert (said["links"], said["hosts"]) == (47, 16)
    ends = {tuple(link["ends"]) for link in topology()["link"]}
    # The second of its pod has links to the core switches 1 and 3; by htsim's count this is 1 + 2.
    assert ("agg3", "spine3") not in ends
    assert {("agg3", "spine1"), ("agg1", "spine3")} <= ends
    runs(clearway)
