"""Recorded packets as other tools read them: captures by a reader of its own and by tshark, and traces."""

import json
import re
import shlex
import shutil
import struct
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from clearway.packets import frames
from clearway.packets.record import CONTROL
from clearway.runs import Run

from tests.conftest import SMALL, Clearway, written

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent

INCAST: dict[str, Any] = {
    **SMALL,
    "transport": {"bulk": {"protocol": "dctcp"}},
    "switch": {"default": {"buffer": "20kB", "ecn": "step", "ecn_threshold": "5kB"}},
    "stop_when_complete": True,
    "record": {"packets": {}},
}
"""Marks and drops packets."""
PAUSED: dict[str, Any] = {
    **SMALL,
    "class": {"acks": {}, "gold": {"lossless": True}},
    "switch": {"default": {"sharing": "shared", "buffer": "1MB", "pfc": "static", "pfc_xoff": "10kB"}},
    "transport": {"bulk": {"protocol": "swift", "class": "gold", "ack_class": "acks"}},
    "record": {"packets": {}},
}
"""Pauses links for a class."""
TRIMMED: dict[str, Any] = {
    **SMALL,
    "switch": {"default": {"buffer": "20kB", "overflow": "trim"}},
    "transport": {"bulk": {"protocol": "nscc_rccc"}},
    "probe": [{"from": 0, "to": 4, "interval": "100us"}],
    "record": {"packets": {}},
}
"""Cuts packets, grants credit, and has probes."""
TIMESLOTS: dict[str, Any] = {
    **SMALL,
    "network": {"topology": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 4},
    "transport": {"bulk": {"protocol": "fastpass"}},
    "traffic": [{"pattern": "incast", "transport": "bulk", "from": "0..4", "to": 5, "bytes": "100kB"}],
    "arbiter": {"at": "h7"},
    "record": {"packets": {}},
}
"""Has an arbiter."""
WIDE: dict[str, Any] = {
    **TIMESLOTS,
    "network": {"topology": "leaf_spine", "leaves": 2, "spines": 20, "hosts_per_leaf": 20},
    "traffic": [{"pattern": "all_to_all", "transport": "bulk", "hosts": "14..26", "bytes": "12kB"}],
    "arbiter": {"at": "h39"},
    "fault": [{"kind": "loss", "link": "h14-tor0", "probability": 0.2}],
}
"""Has an arbiter, paths that take a byte each, and a link that loses control packets."""
ALL = {"incast": INCAST, "paused": PAUSED, "trimmed": TRIMMED, "timeslots": TIMESLOTS, "wide": WIDE}


@pytest.fixture(params=ALL)
def run(request: pytest.FixtureRequest, clearway: Clearway, workspace: Path) -> Run:
    """A run that has recorded its packets, and its capture."""
    file = written(workspace / "packets.toml", ALL[request.param])
    assert clearway("run", file, "--out", "there").status == 0
    answer = clearway("export", "pcapng", "there", "-o", "there.pcapng")
    assert (answer.status, answer.out.strip()) == (0, "capture: there.pcapng")
    return Run.load(Path("there"))


class Packet(NamedTuple):
    """A packet as a capture has it."""

    link: str
    rate: int
    time: int
    length: int
    data: bytes
    comment: str


class Capture(NamedTuple):
    """A capture, as far as it says anything."""

    comment: str
    names: dict[bytes, str]
    packets: list[Packet]


def options(body: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(body):
        code, length = struct.unpack_from("<HH", body, at)
        yield code, body[at + 4 : at + 4 + length]
        at += 4 + length + -length % 4


def read(path: Path) -> Capture:
    """Read a capture as the draft of pcapng says, and nothing that the writer has."""
    raw, at = path.read_bytes(), 0
    comment = ""
    names: dict[bytes, str] = {}
    packets: list[Packet] = []
    interfaces: list[tuple[str, int]] = []
    while at < len(raw):
        kind, total = struct.unpack_from("<II", raw, at)
        assert total % 4 == 0
        assert struct.unpack_from("<I", raw, at + total - 4) == (total,)
        body = raw[at + 8 : at + total - 4]
        if kind == 0x0A0D0D0A:
            assert struct.unpack_from("<IHHq", body) == (0x1A2B3C4D, 1, 0, -1)
            comment = dict(options(body[16:]))[1].decode()
        elif kind == 1:
            assert struct.unpack_from("<HHI", body) == (1, 0, 0)
            said = dict(options(body[8:]))
            assert said[9] == b"\x0c"
            interfaces.append((said[2].decode(), struct.unpack("<Q", said[8])[0]))
        elif kind == 4:
            names = {value[:4]: value[4:-1].decode() for code, value in options(body) if code == 1}
        else:
            assert kind == 6
            place, high, low, captured, length = struct.unpack_from("<IIIII", body)
            end = 20 + captured + -captured % 4
            assert len(body) >= end
            said_of_it = dict(options(body[end:])).get(1, b"").decode()
            link, rate = interfaces[place]
            packets.append(Packet(link, rate, high << 32 | low, length, body[20 : 20 + captured], said_of_it))
        at += total
    assert at == len(raw)
    return Capture(comment, names, packets)


def checksum(data: bytes) -> int:
    """The sum that RFC 1071 wants to be all ones."""
    even = data + b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f">{len(even) // 2}H", even))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def test_a_capture_says_what_the_table_says(run: Run) -> None:
    capture, rows, links = read(Path("there.pcapng")), run.table("packets"), run.links
    rates = dict(zip(links["link"].tolist(), links["rate_gbps"].tolist(), strict=True))
    assert run.digest in capture.comment
    assert len(capture.packets) == len(rows["link"]) == run.summary["packets"] > 100
    for at, packet in enumerate(capture.packets):
        row = {name: values[at] for name, values in rows.items()}
        assert (packet.link, packet.time) == (row["link"], row["time_ps"])
        assert packet.rate == round(rates[packet.link] * 1e9)
        assert row["kind"] in CONTROL or packet.comment == ""
        if row["kind"] in ("pause", "resume"):
            check_pause(run, packet, row)
        elif row["kind"] in CONTROL:
            check_control(packet, row, capture.names)
        else:
            check_datagram(packet, row, capture.names)


def check_datagram(packet: Packet, row: dict[str, Any], names: dict[bytes, str]) -> None:
    assert len(packet.data) == 78
    # 38 bytes of framing are Ethernet's 14, and 24 that no capture has.
    assert packet.length == max(int(row["wire_bytes"]) - 24, 78)
    assert packet.data[12:14] == b"\x08\x00"
    ip, udp, said = packet.data[14:34], packet.data[34:42], packet.data[42:]
    assert (ip[0], ip[9], checksum(ip)) == (0x45, 17, 0xFFFF)
    assert struct.unpack(">H", ip[2:4])[0] == packet.length - 14
    assert struct.unpack(">H", udp[4:6])[0] == packet.length - 34
    assert ip[1] & 3 == row["ecn"]
    assert ip[8] == 64 + (row["lost"] == "") - row["hops"]
    assert (names[ip[12:16]], names[ip[16:20]]) == (row["from"], row["to"])
    ports = struct.unpack(">HH", udp[:4])
    back = row["kind"] in ("ack", "nack", "cnp", "credit", "echo")
    assert ports[0 if back else 1] == frames.PORT
    kind, flags, switches, lost, flow, seq, more, sent, sack, remote = struct.unpack(">BBBBIIIQQI", said)
    assert kind == 0x10 | frames.KINDS[row["kind"]]
    assert flags == row["last"] | row["echo"] << np.uint64(1)
    assert lost == frames.REASONS.get(row["lost"], 0)
    assert flow == (0xFFFFFFFF if np.isnan(row["flow"]) else row["flow"])
    if flow != 0xFFFFFFFF:
        assert ports[1 if back else 0] == 49152 + flow
    assert seq == row["seq"]
    assert more == row["payload_bytes"] + row["cumulative"]
    assert (sent, sack, remote) == (row["sent_ps"], row["sack"], row["remote_queuing_us"])
    assert switches == row["echoed_hops"]


def check_control(packet: Packet, row: dict[str, Any], names: dict[bytes, str]) -> None:
    ip, said = packet.data[14:34], packet.data[34:]
    assert packet.length == row["wire_bytes"] - 24
    assert packet.comment == (f"LOST ({row['lost']})" if row["lost"] else "")
    assert (packet.data[12:14], ip[0], ip[9], checksum(ip)) == (b"\x08\x00", 0x45, 222, 0xFFFF)
    # What is missing pads the frame to Ethernet's shortest, 60 bytes without its check sequence.
    assert struct.unpack(">H", ip[2:4])[0] == 20 + len(said)
    assert packet.length == max(34 + len(said), 60)
    assert (names[ip[12:16]], names[ip[16:20]]) == (row["from"], row["to"])
    assert said[0] == 0x11 + CONTROL.index(row["kind"])
    assert checksum(said) == 0xFFFF


def check_pause(run: Run, packet: Packet, row: dict[str, Any]) -> None:
    assert packet.data[:6] == b"\x01\x80\xc2\x00\x00\x01"
    opcode, classes, *quanta = struct.unpack(">HH8H", packet.data[14:34])
    number = list(run.scenario["class"]).index(row["class"])
    assert (packet.length, len(packet.data), packet.data[12:14]) == (60, 60, b"\x88\x08")
    assert (opcode, classes) == (0x0101, 1 << number)
    # A quantum is 512 bits. The last one may last longer than what is left.
    held, one = int(row["sent_ps"]), 512 * 10**12 // packet.rate
    assert quanta[number] * one >= held > (quanta[number] - 1) * one
    assert (held == 0) == (row["kind"] == "resume")
    assert sum(quanta) == quanta[number]


def test_each_scenario_has_what_it_is_for(run: Run) -> None:
    kinds = set(run.table("packets")["kind"].tolist())
    lost, ecn = run.table("packets")["lost"], set(run.table("packets")["ecn"].tolist())
    if "gold" in run.scenario.get("class", {}):
        assert kinds == {"data", "ack", "pause", "resume"}
    elif run.scenario.get("arbiter"):
        assert kinds >= {"data", "ack", "request", "allocation"}
        control = np.isin(run.table("packets")["kind"], CONTROL)
        assert bool((lost[control] == "on the link").any()) == ("fault" in run.scenario)
    elif run.scenario.get("probe"):
        assert kinds >= {"data", "ack", "header", "nack", "credit", "probe", "echo"}
    else:
        assert kinds == {"data", "ack"}
        assert ecn == {0, 2, 3}
        assert int((lost != "").sum()) == run.summary["drops"] > 0


SAID = "_ws.expert.severity > 0x00100000"
"""What an expert of Wireshark's says, but for the comments in a file, of which one says that there is one."""


def tshark(*arguments: object) -> str:
    """Return what tshark prints; it must not have said anything else."""
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("tshark is not installed: apt-get install tshark")
    asked = [program, *map(str, arguments)]
    told = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=120)
    # It says so of its own accord, whatever it reads.
    said = [line for line in told.stderr.splitlines() if not line.startswith("Running as user")]
    assert said == []
    return told.stdout


def test_tshark_reads_the_same_with_the_dissector(run: Run, clearway: Clearway) -> None:
    assert clearway("export", "dissector", "-o", "clearway.lua").status == 0
    script = ("-X", "lua_script:clearway.lua", "-r", "there.pcapng")
    checked = ("-o", "ip.check_checksum:TRUE")
    # No expert of Wireshark's has anything to say: nothing is malformed, no checksum is wrong.
    assert tshark(*script, *checked, "-Y", f"{SAID} || ip.checksum.status == Bad") == ""
    rows = run.table("packets")
    names = ("clearway.flow", "clearway.seq", "clearway.kind", "clearway.sent", "frame.interface_name")
    fields = [word for name in names for word in ("-e", name)]
    lines = tshark(*script, "-T", "fields", *fields).splitlines()
    assert len(lines) == len(rows["link"])
    for at, line in enumerate(lines):
        flow, seq, kind, sent, link = line.split("\t")
        assert link == rows["link"][at]
        if rows["kind"][at] in ("pause", "resume", *CONTROL):
            assert (flow, seq, kind, sent) == ("", "", "", "")
            continue
        of_flow = rows["flow"][at]
        assert flow == ("" if np.isnan(of_flow) else str(int(of_flow)))
        assert (int(seq), int(sent)) == (rows["seq"][at], rows["sent_ps"][at])
        assert int(kind, 0) == frames.KINDS[rows["kind"][at]]
    of_flow = tshark(*script, "-Y", "clearway.flow == 3").splitlines()
    assert len(of_flow) == int((rows["flow"] == 3).sum()) > 10
    lost = tshark(*script, "-Y", "clearway.lost || frame.comment").splitlines()
    assert len(lost) == int((rows["lost"] != "").sum())
    pauses = tshark(*script, "-Y", "macc.cbfc.enbv").splitlines()
    assert len(pauses) == int(np.isin(rows["kind"], ("pause", "resume")).sum())


@pytest.mark.parametrize("run", ["timeslots", "wide"], indirect=True)
def test_grants_that_tshark_reads_are_the_timeslots_in_which_packets_left(
    run: Run, clearway: Clearway
) -> None:
    assert clearway("export", "dissector", "-o", "clearway.lua").status == 0
    names = ("endpoint", "grant.slot", "grant.destination", "grant.path")
    fields = [word for name in names for word in ("-e", f"fastpass.{name}")]
    leaves = re.compile(r"tor\d+>(h\d+)")
    told = tshark(
        *("-X", "lua_script:clearway.lua", "-r", "there.pcapng", "-Y", "fastpass.grant && !frame.comment"),
        *("-T", "fields", "-e", "frame.interface_name", *fields),
    )
    grants = []
    for line in told.splitlines():
        link, endpoint, *lists = line.split("\t")
        arrived = leaves.fullmatch(link)
        if arrived and arrived[1] == f"h{endpoint}":
            grants += [
                (int(endpoint), *map(int, one))
                for one in zip(*(said.split(",") for said in lists), strict=True)
            ]
    endpoints = run.table("endpoints")
    assert len(set(grants)) == len(grants) == endpoints["slots_granted"].sum() > 50
    # In a timeslot each host sends to one other, and one sends to it.
    assert len({(slot, source) for source, slot, *_ in grants}) == len(grants)
    assert len({(slot, to) for _, slot, to, _ in grants}) == len(grants)
    # Data crossed the spine that a grant for its destination names, and no more often than that was granted.
    rows = run.table("packets")
    spine = np.char.startswith(rows["link"], "tor") & (np.char.find(rows["link"], ">spine") > 0)
    used = Counter(
        (rows["from"][at], rows["to"][at], rows["link"][at].split(">spine")[1])
        for at in np.flatnonzero(spine & (rows["kind"] == "data"))
    )
    granted = Counter((f"h{source}", f"h{to}", str(path)) for source, _, to, path in grants)
    beyond = [way for way in used if used[way] > granted[way]]
    assert sum(used.values()) > 50
    assert beyond == []


def test_tshark_finds_nothing_wrong_without_the_dissector(run: Run) -> None:
    rows = run.table("packets")
    assert tshark("-r", "there.pcapng", "-Y", SAID) == ""
    told = tshark(
        "-r", "there.pcapng", "-T", "fields", "-e", "frame.time_epoch", "-e", "frame.len"
    ).splitlines()
    assert len(told) == len(rows["link"])
    for at, line in enumerate(told):
        seconds, _ = line.split("\t")
        # Wireshark knows nanoseconds.
        whole, _, part = seconds.partition(".")
        assert int(whole) * 10**9 + int(part) == int(rows["time_ps"][at]) // 1000


def test_a_trace_has_a_slice_for_each_packet_as_long_as_it_is_put_on_the_link(
    run: Run, clearway: Clearway
) -> None:
    assert clearway("export", "perfetto", "there", "-o", "there.json").status == 0
    events = json.loads(Path("there.json").read_text())["traceEvents"]
    rows = run.table("packets")
    tracks = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    slices = [event for event in events if event["ph"] != "M"]
    assert len(slices) == len(rows["link"])
    rates = dict(zip(run.links["link"].tolist(), run.links["rate_gbps"].tolist(), strict=True))
    ends: dict[str, int] = {}
    for at, event in enumerate(slices):
        link, begun = tracks[event["tid"]], round(event["ts"] * 1e6)
        assert (link, begun) == (rows["link"][at], rows["begun_ps"][at])
        if rows["lost"][at]:
            assert event["ph"] == "i"
            continue
        lasted = round(event["dur"] * 1e6)
        assert lasted == -(-int(rows["wire_bytes"][at]) * 8000 // int(rates[link]))
        # No two frames are put on a link at a time. A PAUSE is written down when it acts.
        if rows["kind"][at] not in ("pause", "resume"):
            assert ends.get(link, 0) <= begun
            ends[link] = begun + lasted


def test_a_record_that_is_cut_short_says_so(clearway: Clearway, workspace: Path) -> None:
    file = written(workspace / "cut.toml", INCAST)
    answer = clearway("run", file, "--set", "record.packets.limit=200", "--out", "cut")
    assert answer.status == 0
    run = Run.load(Path("cut"))
    last = run.table("packets")["time_ps"][-1] / 1e6
    assert (run.summary["packets"], run.summary["packets_until_us"]) == (200, last)
    assert "The record of packets ends at" in answer.out
    assert "200 packets, its limit (record.packets.limit)" in answer.out
    assert clearway("export", "pcapng", "cut", "-o", "cut.pcapng").status == 0
    capture = read(Path("cut.pcapng"))
    assert len(capture.packets) == 200
    assert f"the record ends at {last} us" in capture.comment


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("flows", "[99]", ["record.packets.flows", "names flow 99", "numbered from 0 to 3"]),
        ("links", '"h0-h1"', ["record.packets.links", "h0 is linked to tor0"]),
        ("limit", "0", ["record.packets.limit", "1 to"]),
        ("limit", "10000000000", ["record.packets.limit"]),
        ("until", '"0us"', ["record.packets.until", "is not after from"]),
    ],
)
def test_bad_input(key: str, value: str, words: list[str], clearway: Clearway, workspace: Path) -> None:
    answer = clearway(
        "run", written(workspace / "bad.toml", INCAST), "--set", f"record.packets.{key}={value}"
    )
    assert answer.status == 2
    for word in words:
        assert word in answer.err, answer.err


def test_a_run_without_packets_says_how_to_record_them(
    clearway: Clearway, small: Path, workspace: Path
) -> None:
    assert clearway("run", small, "--out", "there").status == 0
    answer = clearway("export", "pcapng", "there", "-o", "there.pcapng")
    assert answer.status == 2
    assert "recorded no table packets" in answer.err
    assert "add packets = {} under [record]" in answer.err
    assert not (workspace / "there.pcapng").exists()


def test_a_record_of_nothing_is_a_capture_of_nothing(clearway: Clearway, workspace: Path) -> None:
    file = written(
        workspace / "none.toml", {**INCAST, "record": {"packets": {"from": "1ms", "until": "1001us"}}}
    )
    assert clearway("run", file, "--out", "none").status == 0
    assert len(Run.load(Path("none")).table("packets")["link"]) == 0
    assert clearway("export", "pcapng", "none", "-o", "none.pcapng").status == 0
    assert read(Path("none.pcapng")).packets == []
    assert clearway("export", "perfetto", "none", "-o", "none.json").status == 0


def test_what_the_page_says_of_tshark_is_what_it_prints(clearway: Clearway, workspace: Path) -> None:
    """Its commands of Clearway run in another test; here those of a program that may not be there."""
    page = (ROOT / "docs" / "WHY.md").read_text(encoding="utf-8")
    scenario = re.search(r"```toml\n(.*?)```", page, re.DOTALL)
    asked = re.search(r"```sh\n(tshark .*?)```\n\n```text\n(.*?)```", page, re.DOTALL)
    assert scenario is not None
    assert asked is not None
    (workspace / "answers.toml").write_text(scenario[1], encoding="utf-8")
    for line in re.findall(
        r"^clearway (?:run answers.toml --set 'record|export [pd]).*$", page, re.MULTILINE
    ):
        if "perfetto" not in line:
            assert clearway(*shlex.split(line)[1:]).status == 0
    told = tshark(*shlex.split(asked[1].replace("\\\n", ""))[1:])
    assert [line.split() for line in told.splitlines()] == [line.split() for line in asked[2].splitlines()]
