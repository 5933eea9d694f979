"""What runs inside a host of `tools.hosts.wire`: packets, and PFC frames. Of the standard library alone."""

from __future__ import annotations

import random
import select
import socket
import struct
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

DEVICE = "e0"
ADDRESSES = ("10.99.3.1", "10.99.3.2")
PRIORITY = 3
"""The lossless priority of this network."""
TRAFFIC_CLASS = PRIORITY << 5
"""The type-of-service byte of its packets."""
LONGEST = 65_535  # quanta
RATE = 100_000_000
"""Of its links, in bits a second: how long a PAUSE lasts."""
_PORT = 7777
_VLAN, _IPV6, _PROBE, _EXPERIMENT, _ALL = 0x8100, 0x86DD, 0x88B5, 0x88B6, 3
_SOL_PACKET, _PACKET_AUXDATA = 263, 8  # include/uapi/linux/if_packet.h
_MAC_CONTROL = 0x8808
_SO_RCVBUFFORCE = 33  # include/uapi/asm-generic/socket.h: beyond what the system allows to others


def pfc(priority: int, quanta: int, source: bytes) -> bytes:
    """Return a PFC frame."""
    times = [quanta if each == priority else 0 for each in range(8)]
    head = bytes.fromhex("0180c2000001") + source + struct.pack("!HHH", _MAC_CONTROL, 0x0101, 1 << priority)
    return (head + struct.pack("!8H", *times)).ljust(60, b"\0")


def _raw() -> socket.socket:
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_MAC_CONTROL))
    opened.bind((DEVICE, _MAC_CONTROL))
    return opened


def say(words: Sequence[str]) -> None:
    """Send PFC frames: each word is `QUANTA` or `PRIORITY:QUANTA`, or `@MS` to wait."""
    with _raw() as out:
        source = out.getsockname()[4]
        for word in words:
            if word.startswith("@"):
                time.sleep(float(word[1:]) / 1e3)
                continue
            priority, _, quanta = word.rpartition(":")
            out.send(pfc(int(priority or PRIORITY), int(quanta), source))


def storm(seconds: float, seed: int) -> None:
    """Pause and let go at random for a time, and let go at its end."""
    drawn, end = random.Random(seed), time.monotonic() + seconds  # noqa: S311 - not for secrets
    with _raw() as out:
        source = out.getsockname()[4]
        while time.monotonic() < end:
            out.send(pfc(PRIORITY, drawn.choice((0, 200, 20_000, LONGEST)), source))
            time.sleep(drawn.uniform(0.0001, 0.01))
        out.send(pfc(PRIORITY, 0, source))


def hear(seconds: float) -> None:
    """Print each PFC frame that comes within a time: its priorities and their quanta."""
    end = time.monotonic() + seconds
    with _raw() as heard:
        while (left := end - time.monotonic()) > 0:
            heard.settimeout(left)
            try:
                frame = heard.recv(2048)
            except TimeoutError:
                return
            enabled = struct.unpack_from("!H", frame, 16)[0]
            quanta = struct.unpack_from("!8H", frame, 18)
            print(*(f"{each}:{quanta[each]}" for each in range(8) if enabled >> each & 1), flush=True)


def lay(kind: str, priority: int, count: int) -> None:
    """Send numbered frames: `ip6`, with the priority in the traffic class, or `tag`, in a VLAN tag."""
    if kind == "tag":
        head = struct.pack("!HHH", _VLAN, priority << 13 | 5, _EXPERIMENT)
    else:
        # Version 6, no payload behind the number, from and to nobody.
        head = struct.pack("!HIHBB32x", _IPV6, 6 << 28 | priority << 25, 4, 59, 1)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as out:
        out.bind((DEVICE, 0))
        ends = b"\xff" * 6 + out.getsockname()[4]
        for number in range(count):
            out.send((ends + head + struct.pack("!I", number)).ljust(100, b"\0"))


def see(seconds: float) -> None:
    """Print each frame of `lay` that comes, as KIND:PRIORITY:NUMBER, until none has come for this long."""
    seen = []
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL)) as heard:
        heard.bind((DEVICE, _ALL))
        heard.setsockopt(_SOL_PACKET, _PACKET_AUXDATA, 1)
        print("ready", flush=True)
        end = time.monotonic() + seconds
        with suppress(TimeoutError):
            while (left := end - time.monotonic()) > 0:
                heard.settimeout(left)
                frame, told, _, _ = heard.recvmsg(2048, 64)
                type_ = struct.unpack_from("!H", frame, 12)[0]
                if type_ == _IPV6:
                    seen.append(f"ip6:{frame[14] >> 1 & 7}:{struct.unpack_from('!I', frame, 54)[0]}")
                elif type_ == _EXPERIMENT:
                    # The kernel has taken the tag out: struct tpacket_auxdata.
                    tag = struct.unpack_from("=H", told[0][2], 16)[0]
                    seen.append(f"tag:{tag >> 13}:{struct.unpack_from('!I', frame, 14)[0]}")
                if type_ != _PROBE:  # of which a relay sends one every second
                    end = time.monotonic() + seconds
    print(*seen)


class _Obedience:
    """What a network card does that is told to pause a priority."""

    def __init__(self) -> None:
        self._heard = _raw()
        self._heard.setblocking(False)
        self._until = 0.0

    def wait(self) -> None:
        """Return when the priority may be sent."""
        while True:
            with suppress(BlockingIOError):
                while True:
                    self._obey(self._heard.recv(2048))
            left = self._until - time.monotonic()
            if left <= 0:
                return
            select.select([self._heard], [], [], left)

    def _obey(self, frame: bytes) -> None:
        if struct.unpack_from("!H", frame, 16)[0] >> PRIORITY & 1:
            quanta = struct.unpack_from("!8H", frame, 18)[PRIORITY]
            self._until = time.monotonic() + quanta * 512 / RATE


def send(count: int, gap_us: float, traffic_class: int, length: int) -> None:
    """Send numbered packets to the other host, evenly, and none while their priority is paused."""
    card = _Obedience()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, traffic_class)
        out.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
        out.connect((_other_address(), _PORT))
        at, filling = time.monotonic(), bytes(length - 4)
        for number in range(count):
            if (left := at - time.monotonic()) > 0:
                time.sleep(left)
            if traffic_class == TRAFFIC_CLASS:
                card.wait()
            out.send(struct.pack("!I", number) + filling)
            at = max(at + gap_us / 1e6, time.monotonic())


def receive(seconds: float) -> None:
    """Print the number of each packet that comes, until none has come for this long."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as heard:
        heard.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 1 << 27)
        heard.bind(("0.0.0.0", _PORT))  # noqa: S104 - in a namespace
        print("ready", flush=True)
        heard.settimeout(seconds)
        numbers = []
        with suppress(TimeoutError):
            while True:
                numbers.append(struct.unpack_from("!I", heard.recv(9000))[0])
        print(*numbers)


def answer(seconds: float) -> None:
    """Send back what comes, until nothing has come for this long."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as heard:
        heard.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, TRAFFIC_CLASS)
        heard.bind(("0.0.0.0", _PORT))  # noqa: S104 - in a namespace
        print("ready", flush=True)
        heard.settimeout(seconds)
        with suppress(TimeoutError):
            while True:
                heard.sendto(*heard.recvfrom(9000))


def ask(count: int) -> None:
    """Print how long each answer took, in microseconds; fails if one does not come within a second."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, TRAFFIC_CLASS)
        out.settimeout(1)
        out.connect((_other_address(), _PORT))
        for _ in range(count):
            start = time.monotonic()
            out.send(b"?" * 100)
            out.recv(9000)
            print(round((time.monotonic() - start) * 1e6, 1))
            time.sleep(0.001)


def _other_address() -> str:
    return ADDRESSES[1] if _own_address() == ADDRESSES[0] else ADDRESSES[0]


def _own_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.connect((ADDRESSES[0], 1))  # sends nothing
        own: str = out.getsockname()[0]
        if own != ADDRESSES[0]:
            return own
        out.connect((ADDRESSES[1], 1))
        return str(out.getsockname()[0])


def main(arguments: Sequence[str]) -> int:
    """Do what is asked inside a host."""
    match arguments:
        case ["say", *words]:
            say(words)
        case ["storm", seconds, seed]:
            storm(float(seconds), int(seed))
        case ["hear", seconds]:
            hear(float(seconds))
        case ["lay", kind, priority, count]:
            lay(kind, int(priority), int(count))
        case ["see", seconds]:
            see(float(seconds))
        case ["send", count, gap_us, traffic_class, length]:
            send(int(count), float(gap_us), int(traffic_class), int(length))
        case ["receive", seconds]:
            receive(float(seconds))
        case ["answer", seconds]:
            answer(float(seconds))
        case ["ask", count]:
            ask(int(count))
        case _:
            print(
                "usage: frames.py send|receive|ask|answer|say|storm|hear|lay|see ...",
                file=sys.stderr,
            )
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
