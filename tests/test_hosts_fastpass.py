"""Unmodified programs under Fastpass: iperf3 and curl between namespaces, by two endpoints and an arbiter.

Needs root, ip, tc, iperf3, curl and what each mode takes of the kernel: where one is missing, the tests are
skipped and say which.
"""

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from clearway import daemon
from clearway.testbed import controller
from clearway.testbed.network import Links, Network, network

from tests.testbeds import what_is_missing

_PATIENCE_S = 30.0
_PORT = 7600
_NAMES = ("h0", "h1", "a0")
_CONTENT = b"".join(number.to_bytes(4, "big") for number in range(750_000))

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_possible")]


@pytest.fixture(scope="module")
def _possible() -> None:
    if reason := what_is_missing():
        pytest.skip(reason)
    if missing := [program for program in ("iperf3", "curl") if shutil.which(program) is None]:
        pytest.skip(f"missing: {', '.join(missing)}")


class Bed:
    """Two endpoints and an arbiter, each in a namespace of its own, around a switch."""

    def __init__(self, mode: str, made: Network, folder: Path) -> None:
        self.made = made
        self.folder = folder
        self.inner = [Network.data(n) if mode == "rates" else f"10.197.0.{n + 1}" for n in range(2)]
        self.members: dict[str, subprocess.Popen[str]] = {}
        hosts = [
            f'[[host]]\nname = "h{n}"\ncontrol = "{Network.control(n)}:{_PORT}"\n'
            f'prefixes = ["{self.inner[n]}/32"]\ndata = "{Network.data(n)}"\n'
            for n in range(2)
        ]
        text = (
            '[network]\ntopology = "star"\nhosts = 2\nrate = "100Mbps"\nmtu = "1448B"\n'
            f'[arbiter]\nat = ["a0"]\nslot = "500us"\n[endpoint]\nmode = "{mode}"\n{"".join(hosts)}'
            f'[[host]]\nname = "a0"\ncontrol = "{Network.control(2)}:{_PORT}"\n'
        )
        (folder / "fastpass.toml").write_text(text)
        clearwayd = [daemon.program(), "keys", "--days", "2", str(folder / "keys"), *_NAMES, "asks"]
        subprocess.run(clearwayd, check=True, capture_output=True)

    def inside(self, host: int, *words: str) -> list[str]:
        """Return a command that runs in a host's namespace, and ends with this process."""
        return Network.inside(self.made.hosts[host], controller.dies_with_us(words))

    def start(self, name: str) -> None:
        """Have an arbiter or an endpoint, which listens; skip where this kernel cannot have one."""
        what = "arbiter" if name == "a0" else "endpoint"
        keys, state = str(self.folder / "keys"), str(self.folder)
        words = [daemon.program(), what, str(self.folder / "fastpass.toml")]
        words += ["--keys", keys, "--name", name, "--state", state]
        with (self.folder / f"{name}.log").open("w") as said:
            member = subprocess.Popen(
                self.inside(_NAMES.index(name), *words),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
                start_new_session=True,
            )
        self.members[name] = member
        assert member.stdout is not None
        if not member.stdout.readline().startswith("listening at "):
            pytest.skip((self.folder / f"{name}.log").read_text())

    def kill(self, name: str) -> None:
        """Have one die at once."""
        self.members[name].kill()
        self.members.pop(name).communicate()

    def end(self) -> None:
        """Have all end in order, and then in any case."""
        for member in self.members.values():
            member.send_signal(signal.SIGTERM)
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until and any(member.poll() is None for member in self.members.values()):
            time.sleep(0.02)
        for member in self.members.values():
            member.kill()
            member.communicate()

    def status(self, name: str) -> dict[str, Any]:
        """Return what one says of itself."""
        at = f"{Network.control(_NAMES.index(name))}:{_PORT}"
        words = [daemon.program(), "status", "--agent", at, "--json"]
        words += ["--keys", str(self.folder / "keys"), "--name", "asks"]
        command = Network.inside(self.made.switch, words)
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=True)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def wait_for_the_arbiter(self) -> None:
        """Return when both endpoints have a session with it, and send in timeslots."""
        until = time.monotonic() + _PATIENCE_S
        while True:
            found = [self.status(name) for name in ("h0", "h1")]
            if all(status["sessions"] and status["state"] == "scheduled" for status in found):
                return
            assert time.monotonic() < until, found

    def used(self) -> int:
        """Return the timeslots that both endpoints have used."""
        counts = [self.status(name)["counts"] for name in ("h0", "h1")]
        assert all(count["slots_used"] <= count["slots_granted"] for count in counts), counts
        return sum(int(count["slots_used"]) for count in counts)

    def iperf3(self) -> int:
        """Send from h0 to h1 for a second, and return the bytes that arrived."""
        server = subprocess.Popen(
            self.inside(1, "iperf3", "--server", "--one-off", "--bind", self.inner[1]),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            until = time.monotonic() + _PATIENCE_S
            words = ["iperf3", "--client", self.inner[1], "--time", "1", "--json"]
            while True:
                done = subprocess.run(
                    self.inside(0, *words), capture_output=True, text=True, timeout=_PATIENCE_S, check=False
                )
                told = json.loads(done.stdout)
                if "error" not in told:
                    return int(told["end"]["sum_received"]["bytes"])
                # It may not listen yet.
                assert "refused" in told["error"], told
                assert time.monotonic() < until, told
        finally:
            server.kill()
            server.communicate()

    @contextmanager
    def files(self) -> Iterator[Callable[[], bytes]]:
        """Have a server of a file at h1 for the body, which gets what fetches it to h0 by curl."""
        served = self.folder / "served"
        served.mkdir()
        (served / "content").write_bytes(_CONTENT)
        words = [
            sys.executable,
            "-m",
            "http.server",
            "8000",
            "--bind",
            self.inner[1],
            "--directory",
            str(served),
        ]
        server = subprocess.Popen(
            self.inside(1, *words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

        def fetch() -> bytes:
            url = f"http://{self.inner[1]}:8000/content"
            words = ["curl", "--silent", "--show-error", "--fail", "--noproxy", "*", "--max-time", "20"]
            words += ["--retry", "20", "--retry-connrefused", "--retry-delay", "1", url]
            command = self.inside(0, *words)
            done = subprocess.run(command, capture_output=True, timeout=2 * _PATIENCE_S, check=False)
            assert done.returncode == 0, done.stderr
            return done.stdout

        try:
            yield fetch
        finally:
            server.kill()
            server.communicate()


@pytest.fixture(params=["rates", "slots"])
def bed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bed]:
    """Have the endpoints in timeslots."""
    with ExitStack() as stack:
        made = stack.enter_context(network(3, Links(0.1, 100_000, 1448)))
        found = Bed(request.param, made, tmp_path)
        stack.callback(found.end)
        for name in ("a0", "h0", "h1"):
            found.start(name)
        found.wait_for_the_arbiter()
        yield found


def test_iperf3_and_curl_run_unmodified_in_timeslots(bed: Bed) -> None:
    before = bed.used()
    assert bed.iperf3() > 100_000
    between = bed.used()
    assert between > before
    with bed.files() as fetch:
        assert fetch() == _CONTENT
    assert bed.used() > between
    counts = bed.status("a0")["counts"]
    assert counts["slots_granted"] >= bed.used()


def test_traffic_goes_on_without_the_arbiter_and_comes_back_to_timeslots(bed: Bed) -> None:
    with bed.files() as fetch:
        assert fetch() == _CONTENT
        bed.kill("a0")
        # Who has nothing to send asks nobody, and so does not miss the arbiter: h1 does.
        assert fetch() == _CONTENT
        assert bed.status("h1")["state"] == "unscheduled"
        without = bed.used()
        assert fetch() == _CONTENT
        assert bed.used() == without
        bed.start("a0")
        bed.wait_for_the_arbiter()
        assert fetch() == _CONTENT
        assert bed.used() > without
    counts = bed.status("h1")["counts"]
    assert counts["fallbacks"] > 0
    assert counts["returns"] > 0
