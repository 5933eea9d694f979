"""A relay and its ports: other filters, ports that fail, names. Needs what test_hosts_relay needs."""

import json
import resource
import subprocess
import time
from pathlib import Path

import pytest

from tests.relays import METRICS, clearwayd, metrics, status, until
from tools.hosts.machine import run
from tools.hosts.swift import DAEMON
from tools.hosts.wire import LOCAL, REMOTE, Wire, inside, relay, round_trips_us

pytestmark = pytest.mark.slow


def filters(through: Wire, port: str) -> list[str]:
    """Return the filters at the ingress of a port: preference and name."""
    told = json.loads(
        run(inside(through.relay, "tc", "-j", "filter", "show", "dev", port, "ingress")) or "[]"
    )
    return [f"{each['pref']} {each['options'].get('bpf_name')}" for each in told if "options" in each]


def is_promiscuous(through: Wire, port: str) -> bool:
    told = json.loads(run(["ip", "-n", through.relay, "-d", "-j", "link", "show", port]))
    return bool(told[0]["promiscuity"])


def theirs(through: Wire, port: str, preference: int) -> None:
    """Add a filter that sends everything somewhere else."""
    run(f"tc -n {through.relay} qdisc replace dev {port} clsact".split())
    every = f"tc -n {through.relay} filter add dev {port} ingress protocol all prio {preference} bpf bytecode"
    run([*every.split(), "1,6 0 0 4294967295,", *f"action mirred egress redirect dev {LOCAL}".split()])


def test_a_filter_of_somebody_else_is_neither_replaced_nor_removed(through: Wire, config: Path) -> None:
    theirs(through, REMOTE, 1)
    refused = clearwayd(through, "--config", str(config))
    assert refused.returncode == 2
    assert f"{REMOTE} has a filter of somebody else, bpf with preference 1" in refused.stderr
    assert f"tc filter delete dev {REMOTE} ingress pref 1" in refused.stderr
    assert filters(through, LOCAL) == []
    assert not is_promiscuous(through, LOCAL)
    run(f"tc -n {through.relay} filter delete dev {REMOTE} ingress pref 1".split())
    with relay(through, config):
        assert [each.split(":")[0] for each in filters(through, LOCAL)] == ["20759 clearway_local"]
        assert [each.split(":")[0] for each in filters(through, REMOTE)] == ["20759 clearway_remote"]
    # Somebody comes later: what is ours goes, what is theirs stays.
    theirs(through, LOCAL, 30_000)
    assert clearwayd(through, "--remove").returncode == 0
    assert (filters(through, LOCAL), filters(through, REMOTE)) == (["30000 None"], [])
    assert not is_promiscuous(through, REMOTE)
    again = clearwayd(through, "--remove")
    assert (again.returncode, again.stdout) == (2, "")
    assert f"neither {LOCAL} nor {REMOTE} has a filter of a relay" in again.stderr


def test_a_start_that_fails_after_one_program_is_attached_leaves_nothing(through: Wire, config: Path) -> None:
    """A port whose filters are shared with others takes none of its own."""
    run(f"tc -n {through.relay} qdisc add dev {REMOTE} ingress_block 7 clsact".split())
    refused = clearwayd(through, "--config", str(config))
    assert refused.returncode == 2
    assert f"{REMOTE}: the relay's program cannot be attached" in refused.stderr
    assert filters(through, LOCAL) == []
    assert not is_promiscuous(through, LOCAL)
    assert not is_promiscuous(through, REMOTE)
    assert "relay" not in run(["ip", "-n", through.relay, "-br", "link"])


def test_a_port_that_fails_is_told_and_the_relay_goes_on_when_it_is_back(through: Wire, config: Path) -> None:
    far_end = ["ip", "-n", through.far, "link", "set", "e0"]
    own_end = ["ip", "-n", through.relay, "link", "set", LOCAL]
    up = 'port_up{port="%s"}'
    with relay(through, config, "--metrics", METRICS):
        assert metrics(through)[up % "remote"] == 1
        start = time.monotonic()
        run([*far_end, "down"])
        until(through, up % "remote", 0)
        assert time.monotonic() - start < 5
        assert status(through)["ports"]["remote"]["state"] == "no_carrier"
        assert "remote (port is no carrier): 0 PAUSE" in clearwayd(through, "--status").stdout
        run([*own_end, "down"])
        until(through, up % "local", 0)
        assert status(through)["ports"]["local"]["state"] == "down"
        run([*own_end, "up"])
        run([*far_end, "up"])
        until(through, up % "remote", 1)
        until(through, up % "local", 1)
        assert len(round_trips_us(through, 3)) == 3


def test_a_relay_whose_port_is_gone_says_so_and_ends(through: Wire, config: Path) -> None:
    ends = ("--local", LOCAL, "--remote", REMOTE)
    command = inside(through.relay, str(DAEMON), "relay", *ends, "--config", str(config))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("relaying")
        run(["ip", "-n", through.relay, "link", "delete", REMOTE])
        _, told = process.communicate(timeout=20)
    assert process.returncode == 2
    assert f"error: the relay cannot go on: {REMOTE}, the remote port, is gone" in told
    # What it left at the other one can be taken away all the same.
    cleared = clearwayd(through, "--remove")
    assert f"{REMOTE}: there is no such interface" in cleared.stderr
    assert filters(through, LOCAL) == []


def test_interfaces_the_other_way_round_are_told(through: Wire, config: Path) -> None:
    def swapped(*options: str) -> str:
        command = inside(through.relay, str(DAEMON), "relay", "--local", REMOTE, "--remote", LOCAL, *options)
        ended = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        assert ended.returncode == 2
        return ended.stderr

    with relay(through, config):
        for options in (("--status",), ("--remove",), ("--config", str(config))):
            told = swapped(*options)
            assert f"has {LOCAL} as its local and {REMOTE} as its remote port" in told
            assert f"write --local {LOCAL} --remote {REMOTE}" in told


def test_status_answers_again_after_a_connection_that_could_not_be_accepted(
    through: Wire, config: Path
) -> None:
    with relay(through, config) as process:
        assert status(through)["ports"]
        open_ones = {int(each.name) for each in Path(f"/proc/{process.pid}/fd").iterdir()}
        limits = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        free = min(set(range(len(open_ones) + 1)) - open_ones)
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (free, limits[1]))
        # The one that is waited for has its descriptor already.
        assert clearwayd(through, "--status").returncode == 0
        assert clearwayd(through, "--status").returncode == 2
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, limits)
        time.sleep(0.3)
        assert status(through)["ports"]
