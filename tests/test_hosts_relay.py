"""Swing's relay between two interfaces of a namespace, with PFC frames from both ends.

Needs root, a kernel with BTF and TAP devices, ip, tc, curl and iperf3: where one is missing, the tests are
skipped and say which.
"""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.relays import (
    CONFIG,
    METRICS,
    PATIENT,
    all_in_order,
    clearwayd,
    done,
    lane,
    listening,
    metrics,
    numbers,
    until,
)
from tools.hosts.frames import ADDRESSES, LONGEST, PRIORITY, TRAFFIC_CLASS
from tools.hosts.machine import UnavailableError, run
from tools.hosts.swift import DAEMON
from tools.hosts.wire import LOCAL, REMOTE, Wire, inside, relay, round_trips_us, started

pytestmark = pytest.mark.slow


def test_what_is_not_paused_passes_in_the_kernel(through: Wire, config: Path) -> None:
    with relay(through, config, "--metrics", METRICS):
        assert len(round_trips_us(through, 3)) == 3
        server = inside(through.far, "iperf3", "-s", "-1")
        with subprocess.Popen(server, stdout=subprocess.DEVNULL):
            time.sleep(0.3)
            marked = ("-S", str(TRAFFIC_CLASS), "-t", "1", "-J")
            told = json.loads(run(inside(through.switch, "iperf3", "-c", ADDRESSES[1], *marked)))
        assert told["end"]["sum_received"]["bytes"] > 10e6
        counted = metrics(through)
        # Frames of TCP are up to 64 kB long here, as the kernel hands them on.
        assert counted[lane("bytes_passed_total")] > 10e6
        assert counted[lane("frames_passed_total", "remote")] > 0
        assert counted[lane("frames_to_process_total")] == 0


def test_a_paused_priority_waits_and_leaves_in_order(through: Wire, config: Path) -> None:
    """The far end pauses: what the switch sends in that priority waits, and nothing else does."""
    config.write_text(CONFIG + 'storm_after = "10s"\n')
    with relay(through, config, "--metrics", METRICS):
        receiver = listening(started(through.far, "receive", "3"))
        # Until it is told to go on; three packets of another class in the meantime.
        pausing = started(through.far, "say", *(str(LONGEST), "@100") * 30)
        until(through, lane("closed"), 1)
        sender = started(through.switch, "send", "20", "100", str(TRAFFIC_CLASS), "1000")
        done(sender)
        assert metrics(through)[lane("waiting_frames")] == 20
        done(started(through.switch, "send", "3", "100", "0", "1000"))
        pausing.kill()
        pausing.communicate()
        done(started(through.far, "say", "0"))
        found = numbers(receiver)
        assert found == [0, 1, 2, *range(20)]
        until(through, lane("closed"), 0)
        counted = metrics(through)
        assert counted[lane("frames_to_process_total")] == 20
        assert counted[lane("waiting_peak_bytes")] == 20 * (1000 + 28 + 14 + 24)
        assert counted['frames_dropped_total{port="local"}'] == 0
        # Open again: the kernel passes.
        receiver = listening(started(through.far, "receive", "0.5"))
        done(started(through.switch, "send", "5", "100", str(TRAFFIC_CLASS), "1000"))
        assert numbers(receiver) == list(range(5))
        assert metrics(through)[lane("frames_to_process_total")] == 20


def test_long_frames_of_tcp_are_stored_and_the_lane_is_opened_again(through: Wire, config: Path) -> None:
    """What TCP hands on as one is up to 64 kB long; the process gets it as frames."""
    with relay(through, config, "--metrics", METRICS):
        server = inside(through.far, "iperf3", "-s", "-1")
        with subprocess.Popen(server, stdout=subprocess.DEVNULL):
            time.sleep(0.3)
            storm = started(through.far, "say", *("2000", "@5", "0", "@5") * 100)
            marked = ("-S", str(TRAFFIC_CLASS), "-t", "1", "-J")
            told = json.loads(run(inside(through.switch, "iperf3", "-c", ADDRESSES[1], *marked)))
            done(storm)
        assert told["end"]["sum_received"]["bytes"] > 1e6
        counted = metrics(through)
        came = sum(counted[f'frames_{what}_total{{port="local"}}'] for what in ("stored", "dropped"))
        assert came > counted[lane("frames_to_process_total")] > 10
        until(through, lane("closed"), 0)
        until(through, lane("closed", "remote"), 0)


def test_the_switchs_pause_is_obeyed_and_goes_on_to_the_far_relay(through: Wire, config: Path) -> None:
    with relay(through, config, "--metrics", METRICS):
        heard = started(through.far, "hear", "1")
        time.sleep(0.4)
        done(started(through.switch, "say", "2000", "@5", "0", "6:9"))
        assert done(heard).split() == [f"{PRIORITY}:2000", f"{PRIORITY}:0"]
        receiver = listening(started(through.switch, "receive", "0.5"))
        done(started(through.switch, "say", str(LONGEST)))
        done(started(through.far, "send", "10", "100", str(TRAFFIC_CLASS), "1000"))
        assert metrics(through)[lane("waiting_frames", "remote")] == 10
        assert numbers(receiver) == list(range(10))
        counted = metrics(through)
        assert counted['pfc_ignored_total{port="local"}'] == 1
        assert counted['pauses_sent_total{port="remote"}'] == 2


def test_nothing_is_lost_or_overtaken_in_a_storm_of_pauses_and_restarts(through: Wire, config: Path) -> None:
    """PAUSEs at random from the far end, and a relay that is ended and started in the middle of it.

    The sender obeys PAUSE as a network card does.
    """
    config.write_text(PATIENT)
    count = 20_000
    receiver = listening(started(through.far, "receive", "1.5"))
    with relay(through, config):
        storm = started(through.far, "storm", "5", "1")
        sender = started(through.switch, "send", str(count), "250", str(TRAFFIC_CLASS), "1000")
        time.sleep(1.2)
    for _ in range(2):
        with relay(through, config, "--metrics", METRICS):
            time.sleep(1.2)
            assert metrics(through)[lane("frames_to_process_total")] > 0
    with relay(through, config):
        done(sender)
        done(storm)
        found = numbers(receiver)
    all_in_order(found, count)


def test_a_relay_that_is_killed_is_a_wire_and_one_that_comes_back_takes_over(
    through: Wire, config: Path
) -> None:
    """What waits in it is lost, and so is what comes for it in the next 100 ms; nothing after that."""
    with relay(through, config) as process:
        done(started(through.far, "say", str(LONGEST)))
        process.kill()
        process.wait()
        time.sleep(0.2)
        receiver = listening(started(through.far, "receive", "0.5"))
        done(started(through.switch, "send", "50", "100", str(TRAFFIC_CLASS), "1000"))
        assert numbers(receiver) == list(range(50))
        # The far end hears the switch itself.
        heard = started(through.far, "hear", "1")
        time.sleep(0.4)
        done(started(through.switch, "say", "2000"))
        assert done(heard).split() == [f"{PRIORITY}:2000"]
    with relay(through, config, "--metrics", METRICS):
        done(started(through.far, "say", str(LONGEST)))
        until(through, lane("closed"), 1)
        until(through, lane("closed"), 0)


def test_a_relay_that_stands_still_is_a_wire_until_it_goes_on(through: Wire, config: Path) -> None:
    with relay(through, config, "--metrics", METRICS) as process:
        done(started(through.far, "say", str(LONGEST)))
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.2)
        receiver = listening(started(through.far, "receive", "0.5"))
        done(started(through.switch, "send", "50", "100", str(TRAFFIC_CLASS), "1000"))
        assert numbers(receiver) == list(range(50))
        process.send_signal(signal.SIGCONT)
        until(through, lane("closed"), 0)
        assert metrics(through)[lane("frames_passed_dead_total")] == 50


def test_status_tells_what_a_relay_is_doing(through: Wire, config: Path) -> None:
    none = clearwayd(through, "--status")
    assert (none.returncode, none.stdout) == (2, "")
    assert none.stderr.startswith(f"error: there is no relay between {LOCAL} and {REMOTE}\n")
    with relay(through, config):
        done(started(through.far, "say", str(LONGEST)))
        told = json.loads(clearwayd(through, "--status", "--json").stdout)
        assert told["ports"]["remote"]["pauses_received"] == 1
        assert [each["from"] for each in told["lanes"]] == ["local", "remote"]
        shown = clearwayd(through, "--status").stdout
        assert "remote: 1 PAUSE and 0 RESUME came" in shown
        assert f"priority {PRIORITY} from remote: passed on by the kernel" in shown
        for options in (("--config", str(config)), ("--remove",)):
            second = clearwayd(through, *options)
            assert second.returncode == 2
            assert f"there is a relay between {LOCAL} and {REMOTE} already" in second.stderr


def test_a_port_that_is_paused_without_an_end_is_given_up(through: Wire, config: Path) -> None:
    config.write_text(CONFIG + 'storm_after = "500ms"\n')
    with relay(through, config, "--metrics", METRICS):
        storm = started(through.far, "say", *(str(LONGEST), "@100") * 10)
        time.sleep(0.8)
        receiver = listening(started(through.far, "receive", "1.5"))
        flood = started(through.switch, "send", "20", "100", str(TRAFFIC_CLASS), "1000")
        done(storm)
        done(flood)
        counted = metrics(through)
        assert counted['frames_given_up_total{port="local"}'] == 20
        until(through, lane("given_up"), 0)
        done(started(through.switch, "send", "5", "100", str(TRAFFIC_CLASS), "1000"))
        assert numbers(receiver) == list(range(5))


def test_remove_cuts_the_link(through: Wire, config: Path) -> None:
    with relay(through, config):
        round_trips_us(through, 1)
    round_trips_us(through, 1)
    told = clearwayd(through, "--remove").stdout
    assert told == f"nothing passes between {LOCAL} and {REMOTE} now\n"
    with pytest.raises(UnavailableError):
        round_trips_us(through, 1)


def test_bad_input_is_told_and_nothing_is_left_behind(through: Wire, config: Path) -> None:
    def told(*options: str) -> str:
        command = inside(through.relay, str(DAEMON), "relay", *options)
        ended = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        assert ended.returncode == 2, ended
        return ended.stderr

    def between(local: str, remote: str) -> str:
        return told("--local", local, "--remote", remote, "--config", str(config))

    assert "l0 is both the local and the remote port" in between(LOCAL, LOCAL)
    assert "nosuch: there is no such interface" in between("nosuch", REMOTE)
    assert "lo: it is no Ethernet interface" in between("lo", REMOTE)
    run(f"ip -n {through.relay} link set dev {LOCAL} mtu 9000".split())
    assert f"the MTU of {LOCAL} is 9000, that of {REMOTE} is 1500" in between(LOCAL, REMOTE)
    run(f"ip -n {through.relay} link set dev {REMOTE} mtu 9000".split())
    assert "relay.mtu is 1500" in between(LOCAL, REMOTE)
    run(f"ip -n {through.relay} link set dev {LOCAL} mtu 1500 down".split())
    run(f"ip -n {through.relay} link set dev {REMOTE} mtu 1500".split())
    assert f"{LOCAL} is down" in between(LOCAL, REMOTE)
    assert "nosuch.toml" in told("--local", LOCAL, "--remote", REMOTE, "--config", "nosuch.toml")
    config.write_text(CONFIG.replace("400us", "10s").replace("100Mbps", "400Gbps"))
    assert "of memory are wanted" in between(LOCAL, REMOTE)
    config.write_text(CONFIG.replace("delay", "dealy"))
    assert "did you mean delay?" in between(LOCAL, REMOTE)
    assert "relay" not in run(["ip", "-n", through.relay, "-br", "link"])
