"""`clearway import` of what is wrong: status 2, file, line, name and remedy, and nothing is written."""

import os
import random
from pathlib import Path

import pytest

from tests.conftest import Clearway, nothing_but
from tests.imports import CONWEAVE, CSG, DATA, HPCC, UET, imported

MATRIX = "Nodes 16\nConnections 1\n0->1 id 1 start 0 size 2000\n"
TOPO = (CSG / "leaf_spine_tiny.topo").read_text()
LINKS = "3 1 2\n2\n0 2 100Gbps 1000ns 0\n1 2 100Gbps 1000ns 0\n"
FLOW = "1\n0 1 3 100 200000 2.0\n"
CONFIG = "CC_MODE 3\nPACKET_PAYLOAD_SIZE 1000\n"

WRONG: dict[str, tuple[str, str, str]] = {
    "a matrix cut short": (
        "Nodes 16\nConnections 2\n0->1 start 0 size 2000\n",
        ":2: Connections: announces 2, and the file has 1: it may be cut short",
        "take the whole file",
    ),
    "a line cut short": (MATRIX.replace(" 2000", ""), ":3: size: has no value", "cut short"),
    "a word of a flow": (
        MATRIX.replace("size", "bytes"),
        ":3: bytes: is unknown",
        "a flow has start, id, size",
    ),
    "a line of a matrix": (
        MATRIX + "flow 0 1\n",
        ":4: flow: is unknown",
        "a line begins with a flow such as",
    ),
    "a unit in a matrix": (MATRIX.replace("2000", "2kB"), ":3: size: found 2kB, expected a whole number", ""),
    "a start that is none": (
        MATRIX.replace("start 0", "start 1us"),
        ":3: start: found 1us",
        "correct the line",
    ),
    "start and trigger": (
        MATRIX.replace("start 0", "start 0 trigger 1"),
        ":3: 0->1: has both start and trigger",
        "give one of the two",
    ),
    "no start": (MATRIX.replace("start 0 ", ""), ":3: 0->1: has neither start nor trigger", "give one"),
    "a host too many": (
        MATRIX.replace("0->1", "0->16"),
        ":3: host: found 16, expected a whole number from 0 to 15",
        "",
    ),
    "to itself": (MATRIX.replace("0->1", "1->1"), ":3: 1->1: is a flow from a host to itself", "remove"),
    "only triggers": (
        MATRIX.replace("start 0", "trigger 1"),
        ":3: no flow has a start",
        "give one flow a start",
    ),
    "a failed link that is not there": (
        MATRIX.replace("1\n0", "1\nFailures 1\n0") + "failure switch_type AGG switch_id 0 link_id 1\n",
        ":5: failure: AGG 0 has no link 1",
        "htsim ends here too",
    ),
    "a failed switch": (
        MATRIX.replace("1\n0", "1\nFailures 1\n0") + "failure switch_type TOR switch_id 0 link_id 1\n",
        ":5: switch_type: found TOR, expected AGG",
        "htsim knows TOR, AGG, CORE",
    ),
    "a topology cut short": (
        TOPO[: TOPO.index("Tier 1")],
        ":11: Tier 1: is missing, and Tiers says 2",
        "write a line Tier 1",
    ),
    "no hosts": (TOPO.replace("Nodes 32\n", ""), ": Nodes: is missing", "write it at the top"),
    "a unit in a topology": (
        TOPO.replace("Gbps 100", "Gbps 100Gbps"),
        ":6: Downlink_speed_Gbps: found 100Gbps, expected a whole number",
        "correct the line",
    ),
    "a unit of its own": (
        TOPO.replace("1000", "1 us"),
        ":9: Downlink_Latency_ns: found 2 values",
        "units are in",
    ),
    "an attribute": (
        TOPO.replace("Downlink_Latency_ns", "Downlink_Latency_us"),
        ":9: Downlink_Latency_us: is an unknown attribute",
        "htsim knows tier, nodes",
    ),
    "a radix": (
        TOPO.replace("Radix_Down 4", "Radix_Down 5"),
        ":15: radix_down: found 5, but 4 links come",
        "correct",
    ),
    "an oversubscription": (
        TOPO.replace("bed 4", "bed 3"),
        ":11: oversubscribed: found 3, but",
        "correct it",
    ),
    "a pod": (
        TOPO.replace("Podsize 32", "Podsize 24"),
        ":7: radix_down: 32 hosts in pods of 24",
        "make Nodes",
    ),
    "an attribute twice": (
        TOPO.replace("Radix_Up 2", "Radix_Up 2\nRadix_Up 2"),
        ":9: Radix_Up: is there twice",
        "remove",
    ),
    "links cut short": (
        LINKS[: LINKS.index("1 2 100")],
        ":1: links: announces 2, and the file has 1: it may be cut short",
        "take the whole file",
    ),
    "a link cut short": (LINKS[:-4], ":4: link: found 4 fields", "write it: 0 32 100Gbps 1000ns 0"),
    "a rate": (LINKS.replace("100Gbps", "100Gbit", 1), ":3: rate: found 100Gbit", "write it: 100Gbps"),
    "a delay": (LINKS.replace("1000ns", "1000nm", 1), ":3: delay: found 1000nm", "write it: 1000ns"),
    "a node too many": (LINKS.replace("1 2 100", "1 3 100"), ":4: node: found 3, expected", "correct"),
    "a host without a link": (
        "4 2 2\n2 3\n0 2 1Gbps 1us 0\n2 3 1Gbps 1us 0\n",
        ":1: host 1: has no link",
        "give it one",
    ),
    "hosts that are joined": (
        "3 1 1\n2\n0 1 1Gbps 1us 0\n",
        ":3: link: joins the hosts 0 and 1",
        "put a switch",
    ),
    "a network in two parts": (
        "4 2 2\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n",
        "no path leads from host host0 to host host1",
        "correct the files",
    ),
    "a topology of SimAI": ("8 4 0 1 8 H100\n4\n", ":1: found 6 numbers", "files of SimAI"),
    "no flows": (FLOW, ": no file has the network", "give the file of the topology too"),
    "flows cut short": (FLOW.replace("1\n", "2\n", 1), ":1: flows: announces 2, and the file has 1", "take"),
    "a flow cut short": (FLOW + "0 1 3\n", "", ""),
    "a start in another unit": (
        FLOW.replace("2.0", "2us"),
        ":2: start: found 2us, expected a number",
        "correct",
    ),
    "a mode": (CONFIG.replace("3", "5", 1), ":1: CC_MODE: found 5, expected one of 1 (DCQCN)", "correct it"),
    "a key without value": (
        CONFIG + "ENABLE_QCN\n",
        ":3: ENABLE_QCN: has no value",
        "write a key and its value",
    ),
    "no key": (
        CONFIG + "hello world\n",
        ":3: hello: is no key of a config file",
        "write a key and its value",
    ),
    "a key twice": (CONFIG + "CC_MODE 1\n", ":3: CC_MODE: is there twice", "remove one"),
    "a file that is not there": (
        CONFIG + "TOPOLOGY_FILE mix/none.txt\n",
        ": names mix/none.txt, which is not there",
        "give the file of the network too",
    ),
    "settings alone": (CONFIG, ": no file has the network", "give the file of the topology too"),
    "nothing": ("", ":1: is of no format that is known", "say which it is with --format"),
    "another language": (
        "begin 2\nrank 0 {\n}\n",
        ":1: is of no format that is known",
        "ns3-flows: flows of",
    ),
}


@pytest.mark.parametrize("name", [name for name, (_, message, _) in WRONG.items() if message])
def test_what_is_wrong_is_said_with_its_line_and_a_remedy(
    name: str, clearway: Clearway, workspace: Path
) -> None:
    text, message, remedy = WRONG[name]
    (workspace / "wrong.txt").write_text(text)
    answer = clearway("import", "wrong.txt", "-o", "made/for/it.toml")
    assert answer.status == 2
    assert answer.err.startswith("error: wrong.txt:")
    assert message in answer.err
    assert "\n  " in answer.err
    assert remedy in answer.err
    assert nothing_but(workspace, "wrong.txt")


def test_lines_after_the_last_flow_are_not_read(clearway: Clearway, workspace: Path) -> None:
    (workspace / "flow.txt").write_text(WRONG["a flow cut short"][0])
    (workspace / "topology.txt").write_text(LINKS)
    said = imported(clearway, "flow.txt", "topology.txt")
    assert any(each.startswith("1 lines after the 1 flows") for each in said["not_carried_over"])


def test_files_that_do_not_go_together(clearway: Clearway, workspace: Path) -> None:
    two = clearway("import", CSG / "leaf_spine_tiny.topo", CSG / "test.topo")
    assert two.status == 2
    assert f"{CSG}/test.topo: is a second file of network, beside {CSG}/leaf_spine_tiny.topo" in two.err
    assert "import one of them, then the other" in two.err
    sizes = clearway("import", CSG / "perm_16n_16c_2MB.cm", CSG / "leaf_spine_tiny.topo")
    assert sizes.status == 2
    assert "perm_16n_16c_2MB.cm: is for 16 hosts, and" in sizes.err
    assert "has 32" in sizes.err
    (workspace / "links.txt").write_text(LINKS)
    switch = clearway("import", "links.txt", HPCC / "mix" / "flow.txt")
    assert switch.status == 2
    assert "flow.txt:2: node 2: is no host of links.txt" in switch.err
    assert nothing_but(workspace, "links.txt")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.cm"], ["none.cm: cannot be read: no such file", "check the path"]),
        ([], ["FILE"]),
        (["."], ["is a directory, expected a file"]),
        (
            [CSG / "test.topo", "--format", "htsim"],
            ["--format htsim: is unknown", "htsim-matrix, htsim-topology"],
        ),
        (
            [CSG / "test.topo", "--format", "ns3-config", "--format", "ns3-flows"],
            ["given 2 times for 1 files"],
        ),
        ([CSG / "test.topo", "--format", "ns3-topology"], ["test.topo:1: found 2 numbers"]),
        ([CSG / "test.topo", "--start-unit", "ns"], ["--start-unit ns: is unknown", "ps and us"]),
        ([CSG / "test.topo", "-o", "out"], ["out: is no name of a scenario", "end it in .toml"]),
        ([CSG / "test.topo", "-o", os.fsdecode(b"odd\xff.toml")], ["odd\\xff.toml: not UTF-8"]),
        ([CSG / "test.topo", "-o", "/proc/out.toml"], ["is in /proc, which is the system's own"]),
    ],
)
def test_command_lines_that_are_wrong(
    arguments: list[object], words: list[str], clearway: Clearway, workspace: Path
) -> None:
    answer = clearway("import", *arguments)
    assert answer.status == 2
    for word in words:
        assert word in " ".join(answer.err.split())
    assert nothing_but(workspace)


def test_what_a_file_is_can_be_said(clearway: Clearway, workspace: Path) -> None:
    (workspace / "odd.cm").write_text(
        "# connections\nTriggers 0\nNodes 16\nConnections 1\n0->1 start 0 size 9\n"
    )
    said = imported(clearway, "odd.cm", "--format", "htsim-matrix")
    assert said["flows"] == 1
    said = imported(
        clearway,
        HPCC / "mix" / "topology.txt",
        HPCC / "mix" / "flow.txt",
        *("--format", "ns3-topology", "--format", "ns3-flows", "-o", "two.toml"),
    )
    assert said["hosts"] == 65


def test_what_is_there_stays_unless_forced(clearway: Clearway, workspace: Path) -> None:
    for name in ("scenario.toml", "scenario.topology.toml", "scenario.trace.csv"):
        (workspace / name).write_text("mine")
        answer = clearway("import", CSG / "test.topo")
        assert answer.status == 2
        assert f"{name}: is there already" in answer.err
        assert "--force" in answer.err
        assert (workspace / name).read_text() == "mine"
        (workspace / name).unlink()
    (workspace / "scenario.toml").write_text("mine")
    refused = clearway("import", "none.cm", "--force")
    assert refused.status == 2
    assert (workspace / "scenario.toml").read_text() == "mine"
    imported(clearway, CSG / "test.topo", "--force")
    assert "mine" not in (workspace / "scenario.toml").read_text()
    assert nothing_but(workspace, "scenario.toml", "scenario.topology.toml")


def test_a_failed_move_leaves_what_was_there(
    clearway: Clearway, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fails while the second of three files is put in place."""
    for name in ("scenario.toml", "scenario.topology.toml"):
        (workspace / name).write_text("mine")
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if target.name == "scenario.trace.csv":
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    answer = clearway("import", UET / "perm_128n_128c_2MB.cm", UET / "fat_tree_128_4os.topo", "--force")
    assert answer.status == 2
    assert "scenario.toml: cannot be written: no space left on device" in answer.err
    assert nothing_but(workspace, "scenario.toml", "scenario.topology.toml")
    assert {path.read_text() for path in workspace.iterdir()} == {"mine"}


TEXTS = (".cm", ".topo", ".txt", ".goal", ".yml", ".json")
FILES = sorted(path for path in DATA.rglob("*") if path.suffix in TEXTS)
SCRAPS = (
    "",
    "-1",
    "0",
    "1e999",
    "99999999999999999999",
    "nan",
    "->",
    "{",
    "\x00",
    "\u00b5s",
    "Tier",
    "trigger",
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_damaged_files_never_end_in_a_traceback(path: Path, clearway: Clearway, workspace: Path) -> None:
    """Words are replaced, lines doubled and files cut: each is imported after all, or refused."""
    draw = random.Random(path.name)  # noqa: S311 - no secret
    names = {"config.txt": "config.txt", "config_doc.txt": "config.txt"}
    beside: dict[str, tuple[Path, ...]] = {"flow.txt": (HPCC / "mix" / "topology.txt",)}
    if CONWEAVE in path.parents:
        beside = {"flow.txt": (CONWEAVE / "config" / "fat_k4_100G_OS2.txt",)}
    for _ in range(25):
        lines = path.read_text().split("\n")[:40]
        words = lines[draw.randrange(len(lines))].split(" ")
        words[draw.randrange(len(words))] = draw.choice(SCRAPS)
        place = draw.randrange(len(lines))
        lines[place] = " ".join(words) if draw.random() < 0.8 else lines[place] * 2
        text = "\n".join(lines)
        text = text[: draw.randrange(len(text) + 1)] if draw.random() < 0.2 else text
        (workspace / names.get(path.name, "damaged")).write_text(text)
        others = beside.get(path.name, ())
        if path.name in names:
            others = (HPCC / "mix" / "topology.txt", HPCC / "mix" / "flow.txt")
        answer = clearway("import", names.get(path.name, "damaged"), *others, "--force")
        assert answer.status in (0, 2), answer
        assert answer.status == 0 or "\n  " in answer.err, answer.err
