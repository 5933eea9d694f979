"""`clearway import` of SimAI's workloads."""

import re
from pathlib import Path

import pytest

from tests.conftest import Clearway
from tests.imports import ASTRA, SIMAI, imported, refused, runs

MICRO = SIMAI / "microAllReduce.txt"
HEAD = (
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {tp} ep: {ep} pp: {pp} vpp: 1 ga: 1 "
    "all_gpus: {gpus}"
)


def workload(*layers: str, tp: int = 2, ep: int = 2, pp: int = 1, gpus: int = 8, rest: str = "") -> str:
    head = HEAD.format(tp=tp, ep=ep, pp=pp, gpus=gpus)
    return "\n".join([head + rest, str(len(layers)), *layers]) + "\n"


def partners(size: int) -> list[set[int]]:
    """Whom each rank sends messages of a size."""
    blocks = re.findall(r"rank \d+ \{\n(.*?)\}", Path("scenario.goal").read_text(), re.DOTALL)
    return [{int(each) for each in re.findall(rf"send {size}b to (\d+)", block)} for block in blocks]


def test_simais_own_example(clearway: Clearway) -> None:
    said = imported(clearway, MICRO)
    assert said["read"][0]["found"] == "8 ranks, 2 layers"
    assert said["files"] == ["scenario.goal", "scenario.toml"]
    # Two all-reduces of eight ranks by ring, and 556 us of computing in front of each.
    assert said["jobs"] == [{"name": "microAllReduce", "messages": 2 * 8 * 14}]
    assert Path("scenario.goal").read_text().count("calc 556000 cpu 0") == 16
    summary = runs(clearway, "100ms")["summary"]
    wire = 2 * 7 / 8 * 5 * 16_777_216 * 8 / 100e3
    assert wire + 1112 < summary["iteration_mean_us"] < 1.1 * wire + 1112


def test_groups_by_slot_and_suffix(clearway: Clearway, workspace: Path) -> None:
    """Of 8 GPUs, two share a layer, and two pairs the experts: the others hold the same as these."""
    layer = "a -1 0 ALLTOALL 8000 0 ALLTOALL_EP 6000 0 ALLTOALL 16000 0"
    other = "b -1 0 NONE 0 0 NONE 0 0 ALLTOALL_DP_EP 10000 0"
    (workspace / "w.txt").write_text(workload(layer, other))
    imported(clearway, "w.txt")
    tensor = [{rank ^ 1} for rank in range(8)]
    data = [set(range(rank % 2, 8, 2)) - {rank} for rank in range(8)]
    assert partners(4000) == [one | two for one, two in zip(tensor, data, strict=True)]
    assert partners(3000) == [{2}, {3}, {0}, {1}, {6}, {7}, {4}, {5}]
    assert partners(5000) == [{4}, {5}, {6}, {7}, {0}, {1}, {2}, {3}]
    assert runs(clearway, "5ms")["summary"]["iterations"] == 1


def test_back_through_the_layers(clearway: Clearway, workspace: Path) -> None:
    """Forward in order and back in reverse; a rank goes on while gradients of weights are reduced."""
    first = "a -1 10 ALLREDUCE 8000 20 ALLREDUCE 8200 30 ALLREDUCE 800000 40"
    second = "b -1 11 NONE 0 21 NONE 0 31 NONE 0 0"
    (workspace / "w.txt").write_text(workload(first, second, tp=2, ep=1, gpus=4))
    imported(clearway, "w.txt")
    block = re.findall(r"rank 0 \{\n(.*?)\}", Path("scenario.goal").read_text(), re.DOTALL)[0]
    assert [int(each) for each in re.findall(r"calc (\d+)", block) if int(each)] == [
        10,
        11,
        21,
        31,
        20,
        30,
        40,
    ]
    assert "calc 40 cpu 1" in block
    assert runs(clearway, "5ms")["summary"]["iterations"] == 1


def test_small_forward_collectives_are_as_large_as_there(clearway: Clearway, workspace: Path) -> None:
    (workspace / "w.txt").write_text(workload("a -1 0 ALLREDUCE 10 0 ALLREDUCE 10 0 NONE 0 0", gpus=4))
    imported(clearway, "w.txt")
    assert partners(2048)[0] == {1}
    assert partners(5)[0] == {1}


def test_what_settings_of_astra_sim_say_goes_for_it_too(clearway: Clearway) -> None:
    imported(clearway, MICRO, ASTRA / "system" / "Ring_4chunks.json")
    assert set(re.findall(r"send (\d+)b", Path("scenario.goal").read_text())) == {
        str(16_777_216 // 8 // 4),
        str(67_108_864 // 8 // 4),
    }


def test_pipelines_and_checkpoints_are_told(clearway: Clearway, workspace: Path) -> None:
    rest = " checkpoints: 1 0 checkpoint_initiates: 0 pp_comm 50331648"
    (workspace / "w.txt").write_text(workload("a -1 1 NONE 0 1 NONE 0 1 NONE 0 1", pp=2, rest=rest))
    said = imported(clearway, "w.txt")
    lost = said["not_carried_over"]
    assert any(each.startswith("pp 2: all layers are on each rank") for each in lost)
    assert any(each.startswith("checkpoints: ") for each in lost)
    assert not any(each.startswith("checkpoint_initiates") for each in lost)


LAYER = "a -1 556000 ALLREDUCE 16777216 1 NONE 0 1 NONE 0 1"
WRONG: dict[str, tuple[str, str, str]] = {
    "cut short": (
        workload(LAYER).replace("\n1\n", "\n2\n"),
        ":2: layers: announces 2, and the file has 1: it may be cut short",
        "take the whole file",
    ),
    "the head alone": (workload()[:60], ":1: expected the number of layers", "write it: 1"),
    "a line cut short": (workload(LAYER[:-2]), ":3: layer: found 11 words, expected 12", "write it: name -1"),
    "a time": (
        workload(LAYER.replace("556000", "5.5us")),
        ":3: computing of the forward pass: found 5.5us, expected a whole number",
        "correct the line",
    ),
    "a size": (
        workload(LAYER.replace("16777216", "16MB")),
        ":3: bytes of the forward pass: found 16MB, expected a whole number",
        "correct the line",
    ),
    "a collective": (
        workload(LAYER.replace("NONE", "BROADCAST", 1)),
        ":3: collective of the input gradient: found BROADCAST, expected NONE, or ALLREDUCE",
        "correct the line",
    ),
    "a group": (
        workload(LAYER.replace("ALLREDUCE", "ALLREDUCE_TP")),
        ":3: collective of the forward pass: found ALLREDUCE_TP",
        "correct the line",
    ),
    "another parallelism": (
        workload(LAYER).replace("HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_DLRM"),
        ":1: parallelism: found HYBRID_DLRM, expected HYBRID_TRANSFORMER_FWD_IN_BCKWD or",
        "make it by AICB",
    ),
    "no number of GPUs": (
        workload(LAYER).replace("all_gpus:", "gpus:"),
        ":1: all_gpus: is missing",
        "write it in the first line",
    ),
    "groups that do not fit": (
        workload(LAYER, tp=3),
        ":1: all_gpus: found 8, which makes no whole groups of 3",
        "make all_gpus a multiple",
    ),
    "too much of it": (
        workload(*[LAYER] * 100, tp=1024, ep=1, gpus=1024),
        ": makes ",
        "take fewer ranks or chunks",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_with_its_line_and_a_remedy(
    name: str, clearway: Clearway, workspace: Path
) -> None:
    refused(clearway, workspace, *WRONG[name])
