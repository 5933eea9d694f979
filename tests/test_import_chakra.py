"""`clearway import` of Chakra's execution traces: ASTRA-sim's own, and what goes wrong with others."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests import chakra
from tests.chakra import COLLECTIVE, COMPUTE, INTEGER_FIELDS, MIB, RECEIVE, SEND, node, one_collective, write
from tests.conftest import Clearway
from tests.imports import ASTRA, SIMAI, imported, runs, scenario


def job() -> dict[str, Any]:
    """The job of the scenario that was written."""
    (found,) = scenario()["job"]
    assert isinstance(found, dict)
    return found


def operations(path: str = "scenario.goal") -> list[list[str]]:
    """The lines of each rank's block."""
    blocks = re.findall(r"rank \d+ \{\n(.*?)\}", Path(path).read_text(), re.DOTALL)
    return [block.splitlines() for block in blocks]


@pytest.mark.parametrize(
    ("name", "size", "algorithm", "factor"),
    [
        ("all_reduce", "1MiB", "ring", 1.5),
        # What comm_size says of an all-gather is the part of one rank.
        ("all_gather", "4MiB", "ring", 0.75),
        ("reduce_scatter", "1MiB", "ring", 0.75),
        ("all_to_all", "1MiB", "direct", 0.75),
    ],
)
def test_astra_sims_microbenchmarks_are_collectives(
    name: str, size: str, algorithm: str, factor: float, clearway: Clearway
) -> None:
    said = imported(clearway, ASTRA / "workload" / f"{name}.2.et")
    assert said["files"] == ["scenario.toml"]
    assert said["read"][0]["found"] == "4 ranks, 4 nodes"
    found = job()
    assert (found["kind"], found["collective"], found["bytes"]) == ("collective", name, size)
    assert (found["algorithm"], found["ranks"]) == (algorithm, 4)
    summary = runs(clearway, "10ms")["summary"]
    total = 4 * MIB if name == "all_gather" else MIB
    assert summary["busbw_gb_per_s"] == pytest.approx(
        total * factor / summary["iteration_mean_us"] / 1000, rel=1e-6
    )
    # Payload of 100 Gb/s links, less latencies.
    assert 7 < summary["busbw_gb_per_s"] < 12.3


def test_one_file_and_all_and_the_prefix_are_the_same(clearway: Clearway) -> None:
    folder = ASTRA / "workload"
    imported(clearway, folder / "all_reduce.3.et")
    first = scenario()
    imported(clearway, folder / "all_reduce", "--force")
    assert scenario()["job"] == first["job"]
    said = imported(clearway, *sorted(folder.glob("all_reduce.*.et")), "--force")
    assert scenario()["job"] == first["job"]
    assert len(said["read"]) == 1


def test_several_prefixes_are_several_jobs(clearway: Clearway) -> None:
    said = imported(clearway, ASTRA / "workload" / "all_reduce", ASTRA / "custom" / "custom_allreduce")
    assert said["hosts"] == 12
    assert said["files"] == ["scenario.goal", "scenario.toml"]
    assert [each["hosts"] for each in scenario()["job"]] == ["0..4", "4..12"]
    assert runs(clearway, "10ms")["summary"]["iterations"] == 2


def test_a_run_of_it_is_the_same_on_any_number_of_threads(clearway: Clearway) -> None:
    imported(clearway, ASTRA / "custom" / "custom_allreduce", ASTRA / "workload" / "all_to_all")
    digests = set()
    for threads in (1, 2, 3):
        answer = clearway("run", "scenario.toml", "--threads", threads, "--out", f"on-{threads}", "--json")
        assert answer.status == 0, answer.err
        digests.add(answer.json["digest"])
    assert len(digests) == 1


def test_operations_of_several_jobs_have_a_file_each(clearway: Clearway) -> None:
    said = imported(clearway, ASTRA / "custom" / "custom_allreduce", SIMAI / "microAllReduce.txt")
    assert said["files"] == ["scenario.0.goal", "scenario.1.goal", "scenario.toml"]
    assert [each["file"] for each in scenario()["job"]] == ["scenario.0.goal", "scenario.1.goal"]
    assert [len(operations(f"scenario.{number}.goal")) for number in range(2)] == [8, 8]
    again = clearway("import", ASTRA / "custom" / "custom_allreduce", SIMAI / "microAllReduce.txt")
    assert again.status == 2
    assert "is there already" in again.err


def test_astra_sims_ring_by_sends_and_receives(clearway: Clearway) -> None:
    said = imported(clearway, ASTRA / "custom" / "custom_allreduce")
    assert said["files"] == ["scenario.goal", "scenario.toml"]
    assert said["jobs"] == [{"name": "custom_allreduce", "messages": 8 * 14}]
    lines = operations()
    assert len(lines) == 8
    assert lines[3][:3] == ["l0: send 131072b to 4 tag 0", "l1: recv 131072b from 2 tag 0", "l1 requires l0"]
    summary = runs(clearway, "10ms")["summary"]
    # 14 steps of 128 KiB at 100 Gb/s, and 7 times 7 us of computing.
    wire = 14 * 131_072 * 8 / 100e3
    assert wire + 49 < summary["iteration_mean_us"] < 1.6 * (wire + 49)


def test_compressed_traces_are_the_same(clearway: Clearway, workspace: Path) -> None:
    ranks = [[node(0, COMPUTE, micros=5), node(1, COLLECTIVE, data=[0], comm_type=0, comm_size=9000)]] * 2
    write(workspace, ranks)
    imported(clearway, "trace.0.et")
    plain = Path("scenario.goal").read_text()
    write(workspace, ranks, packed=True)
    imported(clearway, "trace.0.et", "--force")
    assert Path("scenario.goal").read_text() == plain
    for rank in range(2):
        (workspace / f"trace.{rank}.et").rename(workspace / f"trace.{rank}.et.gz")
    imported(clearway, "trace", "--force")
    assert Path("scenario.goal").read_text() == plain


def test_durations_are_in_us(clearway: Clearway, workspace: Path) -> None:
    write(workspace, [[node(0, COMPUTE, micros=30)], [node(0, COMPUTE, micros=50, is_cpu_op=True)]])
    imported(clearway, "trace.0.et")
    assert operations() == [["l0: calc 30000 cpu 0"], ["l0: calc 50000 cpu 1"]]
    assert runs_alone(clearway, "scenario.toml") == pytest.approx(50)


@pytest.mark.parametrize("kind", INTEGER_FIELDS)
def test_attributes_may_be_any_integer(kind: str, clearway: Clearway, workspace: Path) -> None:
    size = 1 if kind == "bool" else 4096
    there = node(0, SEND, type_of=kind, comm_size=size, comm_dst=1, comm_tag=0)
    write(workspace, [[there], [node(0, RECEIVE, type_of=kind, comm_size=size, comm_src=0, comm_tag=0)]])
    imported(clearway, "trace.0.et")
    assert operations()[0] == [f"l0: send {size}b to 1 tag 0"]


@pytest.mark.parametrize("kind", ["int32", "int64", "sint32", "sint64", "sfixed32", "sfixed64"])
def test_numbers_below_zero_are_read_as_such(kind: str, clearway: Clearway, workspace: Path) -> None:
    write(workspace, [[node(0, SEND, type_of=kind, comm_size=4, comm_dst=1, comm_tag=-5)], []])
    answer = clearway("import", "trace.0.et")
    assert answer.status == 2
    assert "comm_tag: found -5, expected 0 to" in answer.err


def test_dependencies_of_data_and_of_control_are_waited_for(clearway: Clearway, workspace: Path) -> None:
    nodes = [
        node(7, COMPUTE, micros=1, data=[9], control=[8]),  # before those that it waits for
        node(8, COMPUTE, micros=2),
        node(9, COMPUTE, micros=3, control=[8], data=[8]),
    ]
    write(workspace, [nodes, []])
    imported(clearway, "trace.0.et")
    assert operations()[0] == [
        "l0: calc 2000 cpu 0",
        "l1: calc 3000 cpu 0",
        "l1 requires l0",
        "l2: calc 1000 cpu 0",
        "l2 requires l0",
        "l2 requires l1",
    ]


def test_memory_and_metadata_take_no_time(clearway: Clearway, workspace: Path) -> None:
    nodes = [
        node(0, COMPUTE, micros=2),
        node(1, COMPUTE, micros=3),
        node(2, 2, data=[0, 1], tensor_size=4096),
        node(3, 1, data=[2]),
        node(4, COMPUTE, micros=4, data=[3]),
        node(5, COMPUTE, data=[4]),
    ]
    write(workspace, [nodes, []])
    said = imported(clearway, "trace.0.et")
    assert any(each.startswith("memory: 1 nodes") for each in said["not_carried_over"])
    assert any(each.startswith("computing: 1 nodes say no duration") for each in said["not_carried_over"])
    assert operations()[0][:2] == ["l0: calc 2000 cpu 0", "l1: calc 3000 cpu 0"]
    # One after the other on one processor, and what waits for both behind them.
    assert runs_alone(clearway, "scenario.toml") == pytest.approx(9)


@pytest.mark.parametrize(
    ("kind", "messages"),
    [
        (chakra.REDUCE, 3),
        (chakra.GATHER, 3),
        (chakra.SCATTER, 3),
        (chakra.BROADCAST, 3),
        (chakra.BLOCK, 12),
        (chakra.BARRIER, 8),
    ],
)
def test_collectives_that_astra_sim_refuses_or_replays(
    kind: int, messages: int, clearway: Clearway, workspace: Path
) -> None:
    ranks = [
        [node(0, COMPUTE, micros=1), node(1, COLLECTIVE, data=[0], comm_type=kind, comm_size=8000)]
        for _ in range(4)
    ]
    write(workspace, ranks)
    said = imported(clearway, "trace")
    assert said["jobs"][0]["messages"] == messages
    rooted = any("the root of" in each for each in said["assumed"])
    assert rooted == (kind not in (chakra.BLOCK, chakra.BARRIER))
    assert runs(clearway, "1ms")["summary"]["iterations"] == 1


@pytest.mark.parametrize("kind", [0, 1, 2, 5, 6, 7])
@pytest.mark.parametrize("ranks", [2, 5, 8])
def test_operations_take_as_long_as_the_simulators_own_collective(
    kind: int, ranks: int, clearway: Clearway, workspace: Path
) -> None:
    """The same collective, by [[job]] and as operations: nothing in front of it makes the difference."""
    size = 100_003
    write(workspace, one_collective(kind, size, ranks), "alone")
    imported(clearway, "alone", "-o", "alone.toml")
    assert "collective" in scenario(Path("alone.toml"))["job"][0]
    write(
        workspace,
        [
            [node(0, COMPUTE), node(1, COLLECTIVE, data=[0], comm_type=kind, comm_size=size)]
            for _ in range(ranks)
        ],
        "expanded",
    )
    imported(clearway, "expanded", "-o", "expanded.toml")
    assert Path("expanded.goal").is_file()
    times = [runs_alone(clearway, path) for path in ("alone.toml", "expanded.toml")]
    assert times[0] == times[1]


def runs_alone(clearway: Clearway, path: str) -> float:
    answer = clearway("run", path, "--out", f"of-{path}", "--json")
    assert answer.status == 0, answer.err
    return float(answer.json["summary"]["iteration_mean_us"])


def test_communicators_of_a_file(clearway: Clearway, workspace: Path) -> None:
    """Two groups reduce side by side, and all ranks together behind it."""
    (workspace / "groups.json").write_text('{\n "1": [0, 2],\n "2": [3, 1]\n}\n')
    ranks = [
        [
            node(0, COLLECTIVE, comm_type=0, comm_size=1000, pg_name=str(1 + rank % 2)),
            node(1, COLLECTIVE, data=[0], comm_type=0, comm_size=4000, pg_name="0"),
        ]
        for rank in range(4)
    ]
    write(workspace, ranks)
    said = imported(clearway, "trace", "groups.json")
    assert [each["format"] for each in said["read"]] == ["chakra", "chakra-groups"]
    partners = [set(re.findall(r"send 500b to (\d)", "\n".join(lines))) for lines in operations()]
    assert partners == [{"2"}, {"3"}, {"0"}, {"1"}]
    assert runs(clearway, "1ms")["summary"]["iterations"] == 1


def test_process_groups_of_pytorchs_metadata(clearway: Clearway, workspace: Path) -> None:
    groups = '["[{\\"pg_name\\": \\"7\\", \\"ranks\\": [1, 0]}]"]'.replace("\\", "")
    ranks = [
        [node(0, 1, inputs=groups), node(1, COLLECTIVE, comm_type=0, comm_size=1000, pg_name="7")]
        if rank < 2
        else []
        for rank in range(4)
    ]
    write(workspace, ranks)
    imported(clearway, "trace")
    assert [bool(lines) for lines in operations()] == [True, True, False, False]


def test_dimensions_that_are_involved(clearway: Clearway, workspace: Path) -> None:
    (workspace / "net.yml").write_text(
        "topology: [ Ring, Switch ]\nnpus_count: [ 2, 3 ]\nbandwidth: [ 50, 25 ]\nlatency: [ 100, 500 ]\n"
    )
    ranks = one_collective(chakra.ALL_REDUCE, 3000, 6, involved_dim=[False, True])
    write(workspace, ranks)
    alone = clearway("import", "trace")
    assert alone.status == 2
    assert "trace.0.et: node 0 (n0): involves 1 of 2 dimensions, and no file has them" in alone.err
    assert "give ASTRA-sim's network file" in alone.err
    imported(clearway, "trace", "net.yml")
    partners = [set(re.findall(r"send \d+b to (\d)", "\n".join(lines))) for lines in operations()]
    assert partners == [{"2"}, {"3"}, {"4"}, {"5"}, {"0"}, {"1"}]
    write(workspace, one_collective(chakra.ALL_REDUCE, 3000, 6, involved_dim=[True, True, True, True]))
    imported(clearway, "trace", "net.yml", "--force")
    assert job()["ranks"] == 6


def test_messages_of_collectives_and_of_nodes_are_kept_apart(clearway: Clearway, workspace: Path) -> None:
    """Two all-reduces at once beside messages with the same tags: each finds its own."""
    ranks = []
    for rank in range(2):
        message: dict[str, Any] = {"comm_size": 70_000, "comm_tag": 0}
        peers: dict[str, Any] = {"comm_dst": 1} if rank == 0 else {"comm_src": 0}
        ranks.append(
            [
                node(0, COLLECTIVE, comm_type=0, comm_size=1000),
                node(1, SEND if rank == 0 else RECEIVE, **message, **peers),
                node(2, COLLECTIVE, comm_type=0, comm_size=5000),
            ]
        )
    write(workspace, ranks)
    imported(clearway, "trace")
    tags = [re.findall(r"send (\d+)b to 1 tag (\d+)", "\n".join(lines)) for lines in operations()]
    assert len({tag for size, tag in tags[0]}) == 3
    assert runs(clearway, "1ms")["summary"]["iterations"] == 1


def test_collectives_are_matched_in_the_order_of_the_files(clearway: Clearway, workspace: Path) -> None:
    """Whatever their ids, of which each rank has its own."""
    sizes = (1000, 5000, 3000)
    ids = ((5, 2, 9), (1, 30, 4))
    write(
        workspace,
        [
            [
                node(number, COLLECTIVE, comm_type=0, comm_size=size)
                for number, size in zip(own, sizes, strict=True)
            ]
            for own in ids
        ],
    )
    imported(clearway, "trace")
    assert re.findall(r"send (\d+)b", operations()[0][0])[0] == "500"
    assert runs(clearway, "1ms")["summary"]["iterations"] == 1


def test_empty_collectives_are_told(clearway: Clearway, workspace: Path) -> None:
    write(workspace, one_collective(chakra.ALL_REDUCE, 0))
    said = imported(clearway, "trace")
    assert any(each.startswith("comm_size is 0 4 times") for each in said["not_carried_over"])
    assert runs(clearway, "1ms")["summary"]["iterations"] == 1
