"""Swift in this kernel's TCP, with programs that know nothing of it: curl and iperf3 between namespaces.

Needs root, a kernel that takes it, curl, iperf3, ip, tc and ss: where one is missing, the tests are skipped
and say which.
"""

import json
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import child, finished
from tools.hosts import swift
from tools.hosts.load import load
from tools.hosts.machine import UnavailableError, demand, run
from tools.hosts.network import SERVER_ADDRESS, Bottleneck, Network, network
from tools.hosts.samples import transfer

_PATIENCE_S = 10.0
NOBODY = "65534"
NOT_PERMITTED = "Operation not permitted"


def what_is_missing() -> str | None:
    """Say why Swift cannot be installed here. A kernel that should take it and does not is no reason.

    One that does not permit it to root is: the verifier has other errors for a program that is wrong.
    """
    numbers = [int(number) for number in re.findall(r"\d+", platform.release())[:2]]
    if sys.platform != "linux" or numbers < [6, 4]:
        return f"Linux 6.4 or newer is needed, this is {platform.system()} {platform.release()}"
    try:
        demand("ip", "tc", "ss", "iperf3", "curl")
        if not Path("/sys/kernel/btf/vmlinux").exists():
            return "this kernel has no BTF"
        if " /sys/fs/bpf bpf " not in Path("/proc/self/mounts").read_text():
            return "no BPF file system is mounted"
        with network():
            pass
        if not swift.is_installed():
            refused = refusal()
            return refused if refused and NOT_PERMITTED in refused else None
    except UnavailableError as reason:
        return str(reason)
    return None


def refusal() -> str | None:
    """Return why Swift cannot be installed, after trying."""
    try:
        with swift.installed():
            return None
    except UnavailableError as reason:
        return str(reason)


@pytest.fixture(scope="module", autouse=True)
def _possible() -> None:
    if reason := what_is_missing():
        pytest.skip(reason)
    end = time.monotonic() + _PATIENCE_S
    while status()["installed"]:  # another one's, which is not ours to remove
        if time.monotonic() > end:
            pytest.skip("Swift is installed on this machine already")
        time.sleep(0.2)


@pytest.fixture
def installed() -> Iterator[None]:
    with swift.installed():
        yield


@pytest.fixture
def through() -> Iterator[Network]:
    with network(Bottleneck(mbps=1000, queue_ms=10)) as made:
        yield made


def status() -> dict[str, object]:
    told: dict[str, object] = json.loads(swift.tcp("status", "--json"))
    return told


def clearwayd(*arguments: str, before: tuple[str, ...] = (), program: Path = swift.DAEMON) -> tuple[int, str]:
    """Run `clearwayd tcp`, and return its status and what it says on standard error."""
    done = subprocess.run(
        [*before, str(program), "tcp", *arguments], capture_output=True, text=True, timeout=20, check=False
    )
    return done.returncode, done.stderr


@contextmanager
def beside(*command: str) -> Iterator["subprocess.Popen[str]"]:
    """Run a program beside the body."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=_PATIENCE_S)


def inside(namespace: str, *command: str) -> list[str]:
    return ["ip", "netns", "exec", namespace, *command]


def listens(namespace: str) -> None:
    """Return when something listens there."""
    end = time.monotonic() + _PATIENCE_S
    while not run(["ss", "-N", namespace, "-tlnH"]):
        assert time.monotonic() < end
        time.sleep(0.02)


def control_by_iperf3(through: Network) -> str:
    """Run iperf3 as anyone does, and return what congestion control its sender had."""
    with beside(*inside(through.server, "iperf3", "-s")):
        listens(through.server)
        told = run(inside(through.client, "iperf3", "-c", SERVER_ADDRESS, "-n", "10M", "-J"))
    assert sum(transfer(told).flow_mbps) > 10
    return str(json.loads(told)["end"]["sender_tcp_congestion"])


# PROGRAMS


@pytest.mark.usefixtures("installed")
def test_curl_over_a_route_that_has_swift(through: Network, workspace: Path) -> None:
    """The server sends, so its route is the one that says so."""
    # More than fits into the two buffers, half a second at the bottleneck's rate: the connection can be seen.
    content = bytes(range(256)) * (1 << 18)
    (workspace / "original").write_bytes(content)
    run(f"ip -n {through.server} route change default via 10.99.2.2 quickack 1 congctl swift".split())
    server = inside(through.server, sys.executable, "-m", "http.server", "--directory", str(workspace))
    page = f"http://{SERVER_ADDRESS}:8000/original"
    with beside(*server):
        listens(through.server)
        curl = inside(through.client, "curl", "-sS", "-o", str(workspace / "copy"), page)
        with beside(*curl) as loading:
            assert "swift" in seen(through.server)
            assert loading.wait(timeout=_PATIENCE_S) == 0
    assert (workspace / "copy").read_bytes() == content


def seen(namespace: str, words: str = "rtt:", times: int = 1) -> str:
    """Return what `ss -tin` shows there once it shows this: by default, a round trip that was measured."""
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        shown = run(["ss", "-N", namespace, "-tinOH", "state", "established"])
        if shown.count(words) >= times:
            return shown
        time.sleep(0.02)
    pytest.fail("there was no connection")


@pytest.mark.usefixtures("installed")
def test_iperf3_over_a_route_and_by_the_namespace(through: Network) -> None:
    assert control_by_iperf3(through) == "reno"
    run(f"ip -n {through.client} route change default via 10.99.1.2 congctl swift".split())
    assert control_by_iperf3(through) == "swift"
    run(f"ip -n {through.client} route change default via 10.99.1.2".split())
    assert control_by_iperf3(through) == "reno"
    run(inside(through.client, "sysctl", "-qw", "net.ipv4.tcp_congestion_control=swift"))
    assert control_by_iperf3(through) == "swift"


@pytest.mark.usefixtures("installed")
def test_flows_share_a_bottleneck_that_drops_nothing(through: Network) -> None:
    """Three kinds of figures: of iperf3, of `ss`, of the bottleneck. Speed is the bench's."""
    outcome = load(through, "swift", 4, 1)
    assert len(outcome.flow_mbps) == 4
    assert outcome.jain > 0.5
    assert outcome.drops == 0
    assert outcome.samples
    assert outcome.srtt_ms < 10


@contextmanager
def control_groups() -> Iterator[None]:
    """Have control groups of version 2 somewhere, by which sockets are reached."""
    if " cgroup2 " in Path("/proc/self/mounts").read_text():
        yield
        return
    with tempfile.TemporaryDirectory() as place:
        run(["mount", "-t", "cgroup2", "none", place])
        try:
            yield
        finally:
            run(["umount", place])


def test_the_ends_tell_how_long_acknowledgements_waited(through: Network) -> None:
    """Where acknowledgements are delayed, the delay that the receiver tells is no congestion."""
    client = inside(through.client, "iperf3", "-c", SERVER_ADDRESS, "-C", "swift", "-t", "2", "-P", "2")
    run(f"ip -n {through.server} route change default via 10.99.2.2".split())
    with control_groups(), swift.installed("--echo"):
        assert status()["echo"]
        with beside(*inside(through.server, "iperf3", "-s")):
            listens(through.server)
            with beside(*client):
                assert "rtt:" in seen(through.client)
                time.sleep(1)
                sockets = status()["sockets"]
    assert isinstance(sockets, list)
    sending = [socket for socket in sockets if socket["acks"] > 100]
    assert len(sending) == 2
    assert all(socket["remote_wait_us"] > 0 for socket in sending)
    assert not status()["installed"]


# THE LIFE OF AN INSTALLATION


@pytest.mark.usefixtures("installed")
def test_it_is_installed_once() -> None:
    code, said = clearwayd("install")
    assert code == 2
    assert "it is installed already" in said
    assert "clearwayd tcp remove" in said
    assert status()["installed"]


def test_sockets_keep_what_is_removed(through: Network) -> None:
    """They go on to their end, and the next ones cannot choose it."""
    client = inside(through.client, "iperf3", "-c", SERVER_ADDRESS, "-C", "swift", "-t", "1", "-P", "2", "-J")
    with beside(*inside(through.server, "iperf3", "-s")):
        listens(through.server)
        with swift.installed(), beside(*client) as sending:
            # Both flows have it: the first connection of all is one that iperf3 has for itself.
            assert seen(through.client, " swift ", times=2)
            swift.tcp("remove")
            assert not status()["installed"]
            told, _ = sending.communicate(timeout=_PATIENCE_S)
        assert min(transfer(told).flow_mbps) > 10
        assert json.loads(told)["end"]["sender_tcp_congestion"] == "swift"
        with beside(*client) as refused:
            told, _ = refused.communicate(timeout=_PATIENCE_S)
        assert "error" in json.loads(told)
    with swift.installed():
        assert status()["installed"]


def test_after_a_loader_that_was_killed() -> None:
    """At moments all over its work: what it leaves is whole, or stands in nobody's way."""
    begin = time.monotonic()
    with swift.installed():
        whole_s = time.monotonic() - begin
    for part in range(8):
        loader = subprocess.Popen([swift.DAEMON, "tcp", "install"], stdout=subprocess.DEVNULL)
        time.sleep(whole_s * part / 7)
        loader.kill()
        loader.wait(timeout=_PATIENCE_S)
        if status()["installed"]:
            swift.tcp("remove")
        with swift.installed():
            assert status()["sockets"] == []
    assert not status()["installed"]


# WRONG WORDS, AND WRONG PEOPLE


@pytest.mark.usefixtures("installed")
def test_a_wrong_value_changes_nothing() -> None:
    before = status()["parameters"]
    wrong = {
        ("--base-target", "5parsec"): "--base-target",
        ("--max-mdf", "1.5"): "--max-mdf",
        ("--max-cwnd", "0"): "--max-cwnd",
        ("--min-rto", "5ms"): "--min-rto",
    }
    for arguments, named in wrong.items():
        code, said = clearwayd("set", *arguments)
        assert code == 2
        assert named in said
        assert status()["parameters"] == before
    assert clearwayd("set")[0] == 2
    assert clearwayd("set", "--base-target", "100us") == (0, "")
    after = status()["parameters"]
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    assert after == before | {"base_target": "100us"}


def test_nobody_is_told_to_be_root() -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)  # nobody cannot come to where this tree may lie
        program = Path(shutil.copy(swift.DAEMON, place))
        nobody = ("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups")
        code, said = clearwayd("install", before=nobody, program=program)
    assert code == 2
    assert "run it as root" in said
    code, said = clearwayd("install", before=("setpriv", "--bounding-set", "-all", "--inh-caps", "-all"))
    assert code == 2
    assert "CAP_BPF" in said
    assert not status()["installed"]


# WHAT IS LEFT BEHIND


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_bench_that_is_stopped_leaves_nothing(number: signal.Signals) -> None:
    root = Path(__file__).parent.parent
    bench = child("bench", "--quick", program=("-m", "tools.hosts"), cwd=root)
    end = time.monotonic() + _PATIENCE_S
    while f"cw{bench.pid}" not in run(["ip", "netns", "list"]) or not status()["installed"]:
        assert time.monotonic() < end
        time.sleep(0.02)
    time.sleep(0.3)  # somewhere in its work
    bench.send_signal(number)
    assert finished(bench).status == 128 + number
    assert f"cw{bench.pid}" not in run(["ip", "netns", "list"])
    assert not status()["installed"]
