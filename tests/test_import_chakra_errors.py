"""`clearway import` of wrong traces of Chakra: status 2, file, node and remedy, and nothing is written."""

import random
import re
import shutil
from pathlib import Path

import pytest

from tests import chakra
from tests.chakra import COLLECTIVE, COMPUTE, RECEIVE, SEND, node, one_collective, write
from tests.conftest import Clearway, nothing_but
from tests.imports import ASTRA, imported


def reduces(*sizes: int) -> list[bytes]:
    return [
        node(number, COLLECTIVE, comm_type=0, comm_size=size, data=[number - 1] if number else [])
        for number, size in enumerate(sizes)
    ]


PAIR = [
    [node(0, SEND, comm_size=4096, comm_dst=1, comm_tag=3)],
    [node(0, RECEIVE, comm_size=4096, comm_src=0, comm_tag=3)],
]
WRONG: dict[str, tuple[list[list[bytes]], str, str]] = {
    "a circle": (
        [[node(0, COMPUTE, data=[2]), node(1, COMPUTE, data=[0]), node(2, COMPUTE, data=[1])], []],
        "trace.0.et: node 0 (n0): waits for itself: node 0, which waits for node 2, which waits for node 1, "
        "which waits for node 0",
        "take one of these dependencies out",
    ),
    "a node for itself": (
        [[node(4, COMPUTE, data=[4])], []],
        "trace.0.et: node 4 (n4): waits for itself: node 4, which waits for node 4",
        "take one of these dependencies out",
    ),
    "a node that is not there": (
        [[node(0, COMPUTE, control=[99])], []],
        "trace.0.et: node 0 (n0): waits for node 99, which is not in the file",
        "cut short",
    ),
    "an id twice": (
        [[node(3, COMPUTE), node(3, COMPUTE)], []],
        "trace.0.et: node 3 (n3): its id is that of another node",
        "make the trace anew",
    ),
    "no size": (
        one_collective(0, None),
        "trace.0.et: node 0 (n0): comm_size: found nothing, expected bytes",
        "correct the trace",
    ),
    "a size below zero": (
        one_collective(0, -1),
        "trace.0.et: node 0 (n0): comm_size: found -1, expected bytes",
        "correct the trace",
    ),
    "a collective": (
        one_collective(10),
        "trace.0.et: node 0 (n0): comm_type: found 10, expected 0 to 9",
        "correct the trace",
    ),
    "another type": (
        [[node(0, 8)], []],
        "trace.0.et: node 0 (n0): type: found 8, expected 0 to 7",
        "correct",
    ),
    "another size": (
        [reduces(100, 200), reduces(100, 300)],
        "trace.1.et: node 1 (n1): is all_reduce of 300 bytes, and collective 1 of ranks 0, 1 is all_reduce "
        "of 200 bytes in the trace of another rank",
        "take the traces of one run",
    ),
    "one collective less": (
        [reduces(100, 200), reduces(100)],
        "trace.1.et: has 1 collectives of ranks 0, 1, and the trace of another of them has 2",
        "cut short",
    ),
    "a communicator": (
        one_collective(0, pg_name="5"),
        "trace.0.et: node 0 (n0): is of communicator 5, which is not there",
        'give a file of communicators, too: {"1": [0, 1, 2, 3]}',
    ),
    "nobody receives": (
        [PAIR[0], []],
        "trace.0.et: node 0 (n0): the message of 4096 bytes from rank 0 to rank 1 with tag 3 is received by "
        "nobody",
        "take the traces of one run",
    ),
    "nobody sends": (
        [[], PAIR[1]],
        "trace.1.et: node 0 (n0): the message of 4096 bytes from rank 0 to rank 1 with tag 3 is sent by "
        "nobody",
        "take the traces of one run",
    ),
    "a rank that is not there": (
        [[node(0, SEND, comm_size=1, comm_dst=4)], []],
        "trace.0.et: node 0 (n0): comm_dst: found 4, expected another rank from 0 to 1",
        "take the traces of all ranks",
    ),
    "to itself": (
        [[node(0, SEND, comm_size=1, comm_dst=0)], []],
        "trace.0.et: node 0 (n0): comm_dst: found 0, expected another rank from 0 to 1",
        "take the traces of all ranks",
    ),
    "of another rank": (
        [[node(0, SEND, comm_size=1, comm_dst=1, comm_src=1)], []],
        "trace.0.et: node 0 (n0): comm_src: found 1, and this is rank 0",
        "take the trace of its rank",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_with_its_node_and_a_remedy(
    name: str, clearway: Clearway, workspace: Path
) -> None:
    ranks, message, remedy = WRONG[name]
    write(workspace, ranks)
    answer = clearway("import", "trace", "-o", "made/for/it.toml")
    assert answer.status == 2
    assert answer.err.startswith(f"error: {message}")
    assert remedy in answer.err.split("\n  ", 1)[1]
    assert nothing_but(workspace, *(f"trace.{rank}.et" for rank in range(len(ranks))))


def test_a_rank_whose_file_is_missing(clearway: Clearway, workspace: Path) -> None:
    write(workspace, reduces_of(4))
    (workspace / "trace.1.et").unlink()
    answer = clearway("import", "trace.3.et")
    assert answer.status == 2
    assert "trace.1.et: is missing, and there are 3 files of other ranks" in answer.err
    assert "take the files of all ranks, from 0 on" in answer.err
    (workspace / "trace.0.et").unlink()
    prefix = clearway("import", "trace")
    assert prefix.status == 2
    assert "trace: cannot be read" in prefix.err


def reduces_of(ranks: int) -> list[list[bytes]]:
    return [reduces(100) for _ in range(ranks)]


def test_a_rank_has_one_file(clearway: Clearway, workspace: Path) -> None:
    write(workspace, reduces_of(2))
    (workspace / "trace.1.et.gz").write_bytes(b"")
    answer = clearway("import", "trace.0.et")
    assert answer.status == 2
    assert "is a second file of its rank" in answer.err


@pytest.mark.parametrize("packed", [False, True])
def test_a_trace_that_is_cut_anywhere_is_told(packed: bool, clearway: Clearway, workspace: Path) -> None:
    """Cut behind whole nodes it lacks collectives; cut in the middle of a message it is damaged."""
    write(workspace, [reduces(300, 40_000, 5)] * 2, packed=packed)
    whole = (workspace / "trace.1.et").read_bytes()
    said = set()
    for length in range(len(whole)):
        (workspace / "trace.1.et").write_bytes(whole[:length])
        answer = clearway("import", "trace.0.et")
        assert answer.status == 2, (length, answer)
        assert "trace.1.et: " in answer.err
        assert "\n  " in answer.err
        words = ("compression ends in the middle", "cut short or damaged", "is empty", "collectives of ranks")
        (word,) = [word for word in words if word in answer.err]
        said.add(word)
    assert said == {"is empty", "cut short or damaged", *(words[:1] if packed else words[3:])}
    (workspace / "trace.1.et").write_bytes(whole)
    imported(clearway, "trace.0.et")


def test_bytes_that_are_no_trace(clearway: Clearway, workspace: Path) -> None:
    write(workspace, reduces_of(2))
    for rest in (b"\x03\x0f\x01\x01", b"\x02\x08" + b"\xff" * 11, b"\x7f", b"\x00\x05abc"):
        (workspace / "trace.1.et").write_bytes(chakra.METADATA + rest)
        answer = clearway("import", "trace.0.et")
        assert answer.status == 2
        assert re.search(r"trace\.1\.et: node \d of the file, at byte \d+: ", answer.err), answer.err
    (workspace / "trace.0.et").rename(workspace / "trace")
    nameless = clearway("import", "trace")
    assert nameless.status == 2
    assert "name the files of the ranks prefix.0.et" in nameless.err


@pytest.mark.parametrize(
    "path", [ASTRA / "workload" / "all_reduce.0.et", ASTRA / "custom" / "custom_allreduce.0.et"]
)
def test_damaged_bytes_never_end_in_a_traceback(path: Path, clearway: Clearway, workspace: Path) -> None:
    """Bytes of one trace are replaced: it is imported after all, or refused with a remedy."""
    draw = random.Random(path.name)  # noqa: S311 - no secret
    prefix = path.name.split(".")[0]
    for other in path.parent.glob(f"{prefix}.*.et"):
        shutil.copy(other, workspace)
    whole = path.read_bytes()
    statuses = []
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(draw.randrange(1, 4)):
            # The metadata of the second file is a long text: most of its bytes change nothing.
            data[-draw.randrange(1, min(len(data), 3000))] = draw.randrange(256)
        (workspace / path.name).write_bytes(data)
        answer = clearway("import", prefix, "--force")
        assert answer.status in (0, 2), answer
        assert answer.status == 0 or "\n  " in answer.err, answer.err
        statuses.append(answer.status)
    assert set(statuses) == {0, 2}
