"""`clearway import` of ASTRA-sim's networks and systems."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.chakra import COLLECTIVE, COMPUTE, node, one_collective, write
from tests.conftest import Clearway
from tests.imports import ASTRA, imported, refused, runs, scenario, topology

GB = 8 * 2**30
RING = (ASTRA / "network" / "Ring_4npus.yml").read_text()
SYSTEM = (ASTRA / "system" / "Ring_4chunks.json").read_text()


def links() -> dict[tuple[str, str], tuple[int, float]]:
    """Rate in bits per second and delay in ns of each link of the topology that was written."""
    usual = scenario()["network"]
    found = {}
    for link in topology()["link"]:
        both = {**usual, **link}
        scales = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1, "ps": 1e-3}
        number, unit = re.fullmatch(r"(\d+)(\w+)", both["delay"]).groups()  # type: ignore[union-attr]
        rate, prefix = re.fullmatch(r"(\d+)(\w*)bps", both["rate"]).groups()  # type: ignore[union-attr]
        powers = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
        found[link["ends"][0], link["ends"][1]] = (int(rate) * powers[prefix], int(number) * scales[unit])
    return found


def test_a_switch_is_a_star(clearway: Clearway) -> None:
    said = imported(clearway, ASTRA / "network" / "HGX-H100-validated.yml")
    written = scenario()["network"]
    assert (written["topology"], written["hosts"]) == ("star", 8)
    # 400 GB/s of 2^30 bytes, and the latency of each of a path's two links.
    assert written["rate"] == f"{400 * GB}bps"
    assert written["delay"] == "936250ps"
    assert any("2^30" in each for each in said["assumed"])
    runs(clearway)


def test_a_ring_has_the_latency_between_neighbours(clearway: Clearway) -> None:
    said = imported(clearway, ASTRA / "network" / "Ring_8npus.yml")
    assert (said["hosts"], said["switches"], said["links"]) == (8, 8, 16)
    found = links()
    assert found["h3", "npu3"] == (2 * 50 * GB, 1)
    assert found["npu0", "npu7"] == (50 * GB, 498)
    assert sum(end == "npu2" for ends in found for end in ends) == 3
    runs(clearway)


def test_a_full_mesh_and_lists_of_lines(clearway: Clearway, workspace: Path) -> None:
    text = (
        "topology:\n  - FullyConnected\nnpus_count:\n- 4 # NPUs\nbandwidth: [\n 25.5\n]\nlatency: ['500']\n"
    )
    (workspace / "mesh.yml").write_text(text)
    said = imported(clearway, "mesh.yml")
    assert (said["hosts"], said["switches"], said["links"]) == (4, 4, 10)
    rate = round(25.5 * GB)
    assert links()["npu1", "npu3"] == (rate, 498)
    assert links()["h0", "npu0"] == (3 * rate, 1)
    runs(clearway)


def test_dimensions_make_one_network(clearway: Clearway, workspace: Path) -> None:
    text = "topology: [Ring, FullyConnected, Switch]\nnpus_count: [2, 3, 4]\n"
    (workspace / "net.yml").write_text(
        f"{text}bandwidth: [200.0, 100.0, 50.0]\nlatency: [50.0, 500.0, 2000.0]\n"
    )
    said = imported(clearway, "net.yml")
    # Of 24 NPUs: 12 pairs, 8 triangles, 6 switches with 4 links, and a link of each host.
    assert (said["hosts"], said["switches"], said["links"]) == (24, 24 + 6, 24 + 12 + 24 + 24)
    found = links()
    assert found["npu0", "npu1"] == (200 * GB, 48)
    assert found["npu0", "npu4"] == (100 * GB, 498)
    assert found["npu17", "switch2_5"] == (50 * GB, 1999)
    assert ("npu1", "npu2") not in found
    assert found["h0", "npu0"] == ((200 + 2 * 100 + 50) * GB, 1)
    runs(clearway)


def test_rates_that_no_host_has_are_told(clearway: Clearway, workspace: Path) -> None:
    text = RING.replace("Ring", "FullyConnected").replace("[ 4 ]", "[ 32 ]").replace("50.0", "100.0")
    (workspace / "net.yml").write_text(text)
    said = imported(clearway, "net.yml")
    assert links()["h0", "npu0"][0] == 10**13
    assert any("its host has 10 Tb/s" in each for each in said["not_carried_over"])


def system(workspace: Path, **keys: Any) -> str:
    text = SYSTEM
    for key, value in keys.items():
        name = key.replace("_", "-")
        text = re.sub(rf'"{name}": (\[[^\]]*\]|[^,\n]*)', f'"{name}": {value}', text)
    (workspace / "system.json").write_text(text)
    return "system.json"


def test_traces_network_and_system_together(clearway: Clearway) -> None:
    said = imported(
        clearway,
        ASTRA / "workload" / "all_reduce",
        ASTRA / "network" / "Ring_4npus.yml",
        ASTRA / "system" / "Ring_4chunks.json",
    )
    assert [each["format"] for each in said["read"]] == ["chakra", "astra-sim-network", "astra-sim-system"]
    assert (scenario()["job"][0]["algorithm"], scenario()["job"][0]["chunks"]) == ("ring", 4)
    lost = " ".join(said["not_carried_over"])
    for word in ("endpoint-delay", "active-chunks-per-dimension", "collective-optimization"):
        assert word in lost
    assert "boost-mode" not in lost
    summary = runs(clearway, "10ms")["summary"]
    # Six steps of 256 KiB over 50 GB/s; chunks follow each other, so that few of the 500 ns are seen.
    wire = 6 * 262_144 / (50 * GB / 8) * 1e6
    assert wire < summary["iteration_mean_us"] < wire + 6 * 0.5


def test_the_line_of_the_documentation(clearway: Clearway, workspace: Path) -> None:
    """Its files are in ASTRA-sim's repository: here they lie where that has them."""
    for theirs, ours in {
        "workload/microbenchmarks/all_reduce/4npus_1MB": "workload",
        "network/analytical": "network",
        "system/native_collectives": "system",
    }.items():
        place = workspace / "astra-sim" / "examples" / theirs
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(ASTRA / ours)
    page = (Path(__file__).parent.parent / "docs" / "COMING_FROM.md").read_text()
    (line,) = re.findall(r"^clearway import (astra-sim/.*)$", page, re.MULTILINE)
    assert clearway("import", *line.split()).status == 0
    assert runs(clearway, "10ms", "astra.toml")["summary"]["iterations"] == 1


@pytest.mark.parametrize(
    ("kind", "key", "named", "keys"),
    [
        (0, "all_reduce", "oneRing", {"algorithm": "ring"}),
        (0, "all_reduce", "halvingDoubling", {"algorithm": "halving_doubling"}),
        (0, "all_reduce", "oneHalvingDoubling", {"algorithm": "halving_doubling"}),
        (0, "all_reduce", "doubleBinaryTree", {"algorithm": "double_tree"}),
        (2, "all_gather", "halvingDoubling", {"algorithm": "halving_doubling"}),
        (7, "reduce_scatter", "doubleBinaryTree", {"algorithm": "ring"}),
        (6, "all_to_all", "direct", {"algorithm": "direct", "window": 3}),
        (6, "all_to_all", "direct2", {"algorithm": "direct", "window": 2}),
        (6, "all_to_all", "ring", {"algorithm": "direct", "window": 3}),
    ],
)
def test_algorithms(
    kind: int, key: str, named: str, keys: dict[str, Any], clearway: Clearway, workspace: Path
) -> None:
    write(workspace, one_collective(kind))
    imported(clearway, "trace", system(workspace, **{f"{key}_implementation": f'["{named}"]'}))
    (job,) = scenario()["job"]
    assert {name: job[name] for name in keys} == keys
    assert job["collective"] == key
    assert ("chunks" in job) == (kind != 6)
    assert runs(clearway, "10ms")["summary"]["iterations"] == 1


@pytest.mark.parametrize(("kind", "key"), [(0, "all_reduce"), (2, "all_gather"), (7, "reduce_scatter")])
@pytest.mark.parametrize("window", ["", "1"])
def test_direct_collectives_are_operations(
    kind: int, key: str, window: str, clearway: Clearway, workspace: Path
) -> None:
    """Each rank sends its part to each other one, or each its own, and both in an all-reduce."""
    write(workspace, one_collective(kind, 80_000))
    named = {f"{key}_implementation": f'["direct{window}"]', "preferred_dataset_splits": "1"}
    said = imported(clearway, "trace", system(workspace, **named))
    assert said["jobs"][0]["messages"] == (24 if kind == 0 else 12)
    sizes = re.findall(r"send (\d+)b", Path("scenario.goal").read_text())
    assert set(sizes) == {"80000" if kind == 2 else "20000"}
    summary = runs(clearway, "10ms")["summary"]
    # What three messages of a rank take at 100 Gb/s, once or twice.
    wire = 3 * int(sizes[0]) * 8 / 100e3 * (2 if kind == 0 else 1)
    assert wire < summary["iteration_mean_us"] < 2 * wire + 30


def test_what_direct_collectives_wait_for(clearway: Clearway, workspace: Path) -> None:
    """Of small messages, what one waits for is what takes time: the other phase, or those before it."""
    times = {}
    for kind, named in ((7, "direct"), (7, "direct1"), (7, "direct2"), (0, "direct")):
        key = "all_reduce" if kind == 0 else "reduce_scatter"
        write(workspace, one_collective(kind, 400))
        settings = system(
            workspace, **{f"{key}_implementation": f'["{named}"]', "preferred_dataset_splits": "1"}
        )
        imported(clearway, "trace", settings, "--force")
        times[kind, named] = runs(clearway, "1ms")["summary"]["iteration_mean_us"]
        Path("run-of-1ms").rename(f"run-of-{kind}-{named}")
    once = times[7, "direct"]
    assert 2.9 * once < times[7, "direct1"] < 3.1 * once
    assert 1.9 * once < times[7, "direct2"] < 2.1 * once
    # The second phase begins when the first has come, not when it is acknowledged.
    assert 1.4 * once < times[0, "direct"] < 1.6 * once


def test_chunks_and_algorithms_within_operations(clearway: Clearway, workspace: Path) -> None:
    """The double tree in three chunks, as operations and by [[job]], takes the same time."""
    named = system(workspace, all_reduce_implementation='["doubleBinaryTree"]', preferred_dataset_splits="3")
    for ranks in (6, 7):
        write(workspace, one_collective(0, 90_001, ranks), f"alone{ranks}")
        both = [[node(0, COMPUTE), node(1, COLLECTIVE, data=[0], comm_type=0, comm_size=90_001)]] * ranks
        write(workspace, both, f"behind{ranks}")
        times = []
        for name in (f"alone{ranks}", f"behind{ranks}"):
            imported(clearway, name, named, "-o", f"{name}.toml")
            times.append(runs(clearway, "9ms", f"{name}.toml")["summary"]["iteration_mean_us"])
            Path("run-of-9ms").rename(f"run-of-{name}")
        assert times[0] == times[1]


def test_halving_among_six_is_a_ring(clearway: Clearway, workspace: Path) -> None:
    write(workspace, one_collective(0, ranks=6))
    said = imported(clearway, "trace", system(workspace, all_reduce_implementation='["halvingDoubling"]'))
    assert scenario()["job"][0]["algorithm"] == "ring"
    assert any(each.startswith("6 times halvingDoubling among 6 ranks") for each in said["not_carried_over"])


def test_the_roofline_computes(clearway: Clearway, workspace: Path) -> None:
    """At 900 TFLOP/s, or at 1600 GB/s where operations are few beside bytes."""
    nodes = [
        node(0, COMPUTE, num_ops=9 * 10**9, tensor_size=1000, micros=77),
        node(1, COMPUTE, num_ops=10**6, tensor_size=16 * 10**6, data=[0]),
        node(2, COMPUTE, num_ops=10**6, micros=3, is_cpu_op=True, data=[1]),
    ]
    write(workspace, [nodes, []])
    said = imported(clearway, "trace", system(workspace, roofline_enabled="1"))
    assert any("roofline" in each for each in said["assumed"])
    assert re.findall(r"calc (\d+)", Path("scenario.goal").read_text()) == ["10000", "10000", "3000"]


def test_several_dimensions_of_a_system_are_told(clearway: Clearway, workspace: Path) -> None:
    named = system(workspace, all_reduce_implementation='["ring", "direct"]')
    write(workspace, one_collective(0))
    said = imported(clearway, "trace", named)
    assert any("are of 2 dimensions; here ring goes over all" in each for each in said["not_carried_over"])


WRONG: dict[str, tuple[str, str, str]] = {
    "a shape": (RING.replace("Ring", "Torus"), ":1: topology: found Torus, expected Ring, Switch", "correct"),
    "a key": (RING.replace("latency", "delay"), ":4: delay: is unknown", "the keys are topology, npus_count"),
    "a key twice": (RING + RING, ":5: topology: is there twice", "remove one"),
    "a key less": (RING[: RING.index("latency")], ":3: latency: is missing", "write it: latency: [ ... ]"),
    "a key without entries": (
        RING.replace("[ 500.0 ]", ""),
        ":4: latency: has no entries",
        "write it: latency: [ ... ]",
    ),
    "lists of unlike lengths": (
        RING.replace("[ 4 ]", "[ 4, 2 ]"),
        ":1: lists of unlike lengths: topology 1, npus_count 2",
        "give each key an entry a dimension",
    ),
    "a count": (RING.replace("[ 4 ]", "[ four ]"), ":2: npus_count: found four, expected a whole", "correct"),
    "a unit": (RING.replace("50.0", "50GB"), ":3: bandwidth: found 50GB, expected a number", "correct"),
    "no bandwidth": (RING.replace("50.0", "0"), ":3: bandwidth: found 0", "write it in GB/s"),
    "a list without its end": (
        RING[: RING.rindex("]")] + "\n",
        ":4: latency: its list has no end",
        "close it by ]",
    ),
    "too many NPUs": (RING.replace("[ 4 ]", "[ 999999999 ]"), ":2: npus_count: found 999999999", "correct"),
    "one NPU": (RING.replace("[ 4 ]", "[ 1 ]"), ":1: the network has 1 hosts, expected at least 2", "add"),
    "no JSON": (SYSTEM[:60], ":", "take the whole file"),
    "an algorithm": (
        SYSTEM.replace('"ring"', '"rings"', 1),
        ":6: all-reduce-implementation: rings is unknown",
        "ASTRA-sim knows ring, oneRing",
    ),
    "no list": (
        re.sub(r"\[[^\]]*\]", '"ring"', SYSTEM, count=1),
        ':6: all-reduce-implementation: found "ring", expected a list',
        "correct the line",
    ),
    "chunks": (
        SYSTEM.replace('splits": 4', 'splits": 0'),
        ":5: preferred-dataset-splits: found 0, expected 1 to 65536",
        "correct",
    ),
    "a roofline without its peak": (
        SYSTEM.replace('"roofline-enabled": 0', '"roofline-enabled": 1').replace("900", '"fast"'),
        ':22: peak-perf: found "fast", expected more than 0 TFLOP/s',
        "correct the line",
    ),
    "a system alone": (SYSTEM, ": no file has the network", "give the file of the topology too"),
    "no communicators": ('{"1": []}', ":1: 1: found [], expected a list of ranks", "correct the line"),
    "a rank twice": ('{"1": [0, 0]}', ":1: 1: found [0, 0], expected each rank once", "correct the line"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_with_its_line_and_a_remedy(
    name: str, clearway: Clearway, workspace: Path
) -> None:
    refused(clearway, workspace, *WRONG[name])
