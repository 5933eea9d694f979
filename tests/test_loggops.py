"""GOAL files on an idle star against LogGOPS: the same times to the picosecond where the model is the same.

A frame of P bytes of payload takes F on a link, and a link D of delay. A message of k full frames is there
after 2D + F + kF, as the switch passes on a frame when it has it. That is L + (s-1)G with G = F/P and
L = 2D + F + G; a NIC that sends the next message behind the last frame has g = G. So far both are one model.
Where they are not, the tests below say in which way and by how much.
"""

import random
from fractions import Fraction
from pathlib import Path

import pytest

from tests.conftest import Clearway
from tests.loggops import Graph, Key, Model, Operation, Run, goal

pytestmark = pytest.mark.usefixtures("workspace")

PAYLOAD = 4096
OVERHEAD = 28 + 38  # IPv4 and UDP; Ethernet with preamble and gap
PS_PER_BYTE = 80  # 100 Gb/s
DELAY = 1_000_000
FRAME = (PAYLOAD + OVERHEAD) * PS_PER_BYTE
ACK = OVERHEAD * PS_PER_BYTE
ACKNOWLEDGED = 2 * DELAY + 2 * ACK
"""From a message's arrival to that of the acknowledgement of its last frame."""
GAP = Fraction(FRAME, PAYLOAD)
MODEL = Model(2 * DELAY + FRAME + GAP, GAP, GAP)
LATER = 100_000_000_000
"""Of a calc that is behind all else, so that the end of the job is the end of what it waits for, and this."""


def simulated(clearway: Clearway, graph: Graph, key: Key) -> int:
    """When an operation ends, in picoseconds."""
    rank, number = key
    watch = f"watch: calc {LATER // 1000} cpu 9\nwatch requires l{number}"
    Path("graph.goal").write_text(goal(graph, {key: watch}))
    imported = clearway("import", "graph.goal", "-o", "graph.toml", "--force")
    assert imported.status == 0, imported.err
    sets = {
        "transport.bulk.protocol": "none",
        "transport.bulk.header": "28B",
        "network.rate": "100Gbps",
        "network.delay": "1us",
        "network.mtu": f"{PAYLOAD}B",
        "duration": "1s",
    }
    options = [word for name, value in sets.items() for word in ("--set", f"{name}={value}")]
    answer = clearway(
        "run", "graph.toml", *options, "--out", f"run-{rank}-{number}-{len(list(Path().iterdir()))}", "--json"
    )
    assert answer.status == 0, answer.err
    summary = answer.json["summary"]
    assert summary["iterations"] == 1
    return round(float(summary["iteration_mean_us"]) * 1e6) - LATER


def send(frames: int, to: int, *after: int, tag: int = 0) -> Operation:
    return Operation("send", frames * PAYLOAD, to, tag, after)


def recv(frames: int, source: int, *after: int, tag: int = 0) -> Operation:
    return Operation("recv", frames * PAYLOAD, source, tag, after)


def calc(ns: int, *after: int) -> Operation:
    return Operation("calc", ns * 1000, after=after)


# WHERE THE MODEL IS THE SAME


@pytest.mark.parametrize("frames", [1, 2, 3, 17, 100])
def test_one_message(frames: int, clearway: Clearway) -> None:
    graph = [[send(frames, 1)], [recv(frames, 0)]]
    expected = MODEL.run(graph).end[1, 0]
    size = frames * PAYLOAD
    assert expected == MODEL.latency + (size - 1) * MODEL.gap_per_byte == 2 * DELAY + FRAME + frames * FRAME
    assert simulated(clearway, graph, (1, 0)) == expected


def drawn(draw: random.Random) -> Graph:
    """Ranks that compute, send bursts to each other and wait for each other, and do not meet otherwise."""
    ranks = [[calc(draw.randrange(1000, 300_000))] for _ in range(draw.randrange(2, 7))]
    bursts = 0
    while bursts < 6:
        longer = [list(operations) for operations in ranks]
        _add_burst(longer, draw, 2 * bursts)
        if not is_shared(longer, MODEL.run(longer)):
            ranks, bursts = longer, bursts + 1
    return ranks


def _add_burst(ranks: list[list[Operation]], draw: random.Random, tag: int) -> None:
    """Add messages from one rank to another, with tags of their own, and computing behind or beside them."""

    def before(rank: int) -> tuple[int, ...]:
        """Draw what is waited for: no sends, whose end is another thing in either model."""
        marks = [number for number, each in enumerate(ranks[rank]) if each.kind != "send"]
        return tuple(draw.sample(marks, min(len(marks), draw.randrange(1, 3))))

    source, target = draw.sample(range(len(ranks)), 2)
    behind = before(source)
    posted = before(target) if draw.random() < 0.5 else ()
    for _ in range(draw.choice([1, 1, 2, 3])):
        frames, own = draw.randrange(1, 20), tag + draw.randrange(2)
        ranks[source].append(send(frames, target, *behind, tag=own))
        ranks[target].append(recv(frames, source, *posted, tag=own))
    rank = draw.choice([source, target])
    beside = before(rank)[:1] if draw.random() < 0.2 else ()
    ps = 1000 * draw.randrange(1000, 200_000)
    ranks[rank].append(Operation("calc", ps, after=before(rank), beside=beside))


def is_shared(graph: Graph, run: Run) -> bool:
    """Whether anything but a burst to one rank meets at a host: where the two models are not the same."""
    spans = [(source, target, begin, end + ACKNOWLEDGED) for source, target, begin, end in run.transfers]
    for place, (source, target, begin, end) in enumerate(spans):
        for other in spans[:place]:
            meets = {source, target} & set(other[:2]) and other[:2] != (source, target)
            if meets and begin <= other[3] and other[2] <= end:
                return True
    computing = [
        (rank, run.ready[rank, number], run.end[rank, number])
        for rank, operations in enumerate(graph)
        for number, each in enumerate(operations)
        if each.kind == "calc"
    ]
    received = any(
        rank == other and begin < last and first < end
        for rank, first, last in run.receptions
        for other, begin, end in computing
    )
    waits = any(
        graph[rank][number].kind == "send"
        and any(rank == other and begin <= ready < end for other, begin, end in computing)
        for (rank, number), ready in run.ready.items()
    )
    return received or waits


@pytest.mark.parametrize("seed", range(24))
def test_random_graphs(seed: int, clearway: Clearway) -> None:
    draw = random.Random(seed)  # noqa: S311 - no secret
    graph = drawn(draw)
    run = MODEL.run(graph)
    ends = [key for key, _ in run.end.items() if graph[key[0]][key[1]].kind != "send"]
    last = max(ends, key=lambda key: run.end[key])
    for key in {last, *draw.sample(ends, 2)}:
        assert simulated(clearway, graph, key) == run.end[key], (goal(graph, {}), key)


# WHERE IT IS NOT


def test_a_last_frame_that_is_not_full(clearway: Clearway) -> None:
    """Each frame has headers whatever its payload, so that G is no constant."""
    graph = [[Operation("send", PAYLOAD + 100, 1)], [Operation("recv", PAYLOAD + 100, 0)]]
    short = (100 + OVERHEAD) * PS_PER_BYTE
    # The short frame leaves the host behind the full one, and the switch behind that one, too.
    assert simulated(clearway, graph, (1, 0)) == 2 * DELAY + 2 * FRAME + short
    assert MODEL.run(graph).end[1, 0] == 2 * DELAY + FRAME + FRAME + 100 * GAP


def test_an_empty_message(clearway: Clearway) -> None:
    """It is a frame with one byte."""
    graph = [[Operation("send", 0, 1)], [Operation("recv", 0, 0)]]
    assert simulated(clearway, graph, (1, 0)) == 2 * DELAY + 2 * (1 + OVERHEAD) * PS_PER_BYTE


def test_a_send_ends_when_it_is_acknowledged(clearway: Clearway) -> None:
    """In the model an eager send ends when it begins, as o is 0."""
    graph = [[send(5, 1), calc(1000, 0)], [recv(5, 0)]]
    assert MODEL.run(graph).end[0, 1] == 1_000_000
    there = 2 * DELAY + 6 * FRAME
    assert simulated(clearway, graph, (0, 1)) == there + ACKNOWLEDGED + 1_000_000


def test_two_receivers_share_the_nic_of_their_sender(clearway: Clearway) -> None:
    """Frames of two connections take turns; in the model the second message waits for the first."""
    graph = [[send(5, 1), send(5, 2)], [recv(5, 0)], [recv(5, 0)]]
    run = MODEL.run(graph)
    alone = 2 * DELAY + FRAME
    assert [run.end[rank, 0] for rank in (1, 2)] == [alone + 5 * FRAME, alone + 10 * FRAME]
    # The first connection has two frames before the second has its first: its last is the eighth of all.
    found = [simulated(clearway, graph, (rank, 0)) for rank in (1, 2)]
    assert found == [alone + 8 * FRAME, alone + 10 * FRAME]


def test_two_senders_share_the_link_of_their_receiver(clearway: Clearway) -> None:
    """Frames take turns in the switch; in the model the second message waits until the first is received."""
    graph = [[send(5, 2)], [send(5, 2)], [recv(5, 0), recv(5, 1)]]
    run = MODEL.run(graph)
    alone = 2 * DELAY + FRAME
    assert {run.end[2, 0], run.end[2, 1]} == {alone + 5 * FRAME, alone + 10 * FRAME}
    found = {simulated(clearway, graph, (2, number)) for number in (0, 1)}
    assert found == {alone + 9 * FRAME, alone + 10 * FRAME}


def test_acknowledgements_take_of_the_way_back(clearway: Clearway) -> None:
    """Two ranks send to each other at once, and acknowledge between their frames of data."""
    graph = [[send(50, 1), recv(50, 1)], [send(50, 0), recv(50, 0)]]
    there = 2 * DELAY + 51 * FRAME
    assert MODEL.run(graph).end[0, 1] == there
    late = simulated(clearway, graph, (0, 1)) - there
    assert 0 < late <= 50 * ACK
    assert late % ACK == 0


def test_receiving_takes_no_processor(clearway: Clearway) -> None:
    """In the model a rank computes nothing while a message comes in, and takes none in while it computes."""
    graph = [[send(20, 1)], [recv(20, 0), calc(3000)]]
    run = MODEL.run(graph)
    there = 2 * DELAY + 21 * FRAME
    assert run.end[1, 0] == there + (3_000_000 - (MODEL.latency))
    assert simulated(clearway, graph, (1, 0)) == there
    assert simulated(clearway, graph, (1, 1)) == 3_000_000


def test_a_send_waits_for_no_processor(clearway: Clearway) -> None:
    """In the model it needs one, if for o = 0, and waits for what is being computed."""
    graph = [[calc(3000), send(2, 1)], [recv(2, 0)]]
    there = 2 * DELAY + 3 * FRAME
    assert MODEL.run(graph).end[1, 0] == 3_000_000 + there
    assert simulated(clearway, graph, (1, 0)) == there
