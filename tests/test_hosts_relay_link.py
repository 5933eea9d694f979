"""What a relay makes of its link, and who takes its place. Needs what test_hosts_relay needs."""

import json
import time
from contextlib import ExitStack
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
    status,
    until,
)
from tools.hosts.frames import DEVICE, LONGEST, PRIORITY, TRAFFIC_CLASS
from tools.hosts.machine import run
from tools.hosts.wire import Wire, relay, started

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("queue", [None, "5kB"])
def test_a_virtual_queue_holds_the_far_relay(through: Wire, config: Path, queue: str | None) -> None:
    if queue is not None:
        config.write_text(CONFIG + f'virtual_queue = "{queue}"\n')
    with relay(through, config, "--metrics", METRICS):
        receiver = listening(started(through.switch, "receive", "1"))
        done(started(through.switch, "say", str(LONGEST)))
        # 10.7 kB wait if nobody holds the far end, and nothing has left in the last round trip.
        sender = started(through.far, "send", "10", "100", str(TRAFFIC_CLASS), "1000")
        if queue is None:
            done(sender)
            assert metrics(through)[lane("waiting_frames", "remote")] == 10
            assert metrics(through)[lane("held", "remote")] == 0
        else:
            until(through, lane("held", "remote"), 1)
        done(started(through.switch, "say", "0"))
        done(sender)
        assert numbers(receiver) == list(range(10))
        until(through, lane("held", "remote"), 0)


def test_what_passes_is_counted_as_the_link_counts_it(through: Wire, config: Path) -> None:
    with relay(through, config, "--metrics", METRICS):
        receiver = listening(started(through.far, "receive", "0.5"))
        done(started(through.switch, "send", "5", "100", str(TRAFFIC_CLASS), "1000"))
        assert numbers(receiver) == list(range(5))
        assert metrics(through)[lane("bytes_passed_total")] == 5 * (1000 + 28 + 14 + 24)


LINK = CONFIG.replace('delay = "400us"', 'delay = "{delay}"\nresponse = "{response}"\nprobe_every = "20ms"')


def looped(through: Wire) -> None:
    """Have the far end send back whatever comes, as a plug does that joins both fibres."""
    run(f"tc -n {through.far} qdisc replace dev {DEVICE} clsact".split())
    every = f"tc -n {through.far} filter add dev {DEVICE} ingress protocol 0x88b5 prio 1 bpf bytecode"
    run([*every.split(), "1,6 0 0 4294967295,", *f"action mirred egress redirect dev {DEVICE}".split()])


@pytest.mark.parametrize(
    ("delay", "response", "said", "status"),
    [("400us", "2ms", "us planned", 0), ("0us", "0us", "longer than planned: write its delay", 1)],
)
def test_a_looped_link_is_measured(
    through: Wire, config: Path, delay: str, response: str, said: str, status: int
) -> None:
    config.write_text(LINK.format(delay=delay, response=response))
    looped(through)
    with relay(through, config, "--metrics", METRICS):
        told = clearwayd(through, "--measure")
        assert (told.returncode, said in told.stdout) == (status, True), told
        seen = json.loads(clearwayd(through, "--measure", "--json").stdout)
        # There and back through two namespaces, without a process in between.
        assert 100 < seen["delay_ns"] < 300_000, seen
        assert seen["answers"] >= 3
        counted = metrics(through)
        assert 1e-7 < counted["delay_seconds"] < 3e-4
        assert counted["probe_answers_total"] >= seen["answers"]
        assert counted[lane("drift_bytes", "remote")] == 0
        assert "long link: " in clearwayd(through, "--status").stdout


def test_a_link_at_whose_end_nobody_answers_is_told(through: Wire, config: Path) -> None:
    config.write_text(LINK.format(delay="400us", response="2ms"))
    with relay(through, config, "--metrics", METRICS) as process:
        until(through, 'link_found{finding="silent"}', 1)
        told = clearwayd(through, "--measure")
        assert (told.returncode, "nothing answers" in told.stdout) == (1, True), told
        assert "delay_seconds" not in metrics(through)
        # As soon as somebody does, it is measured.
        looped(through)
        assert clearwayd(through, "--measure").returncode == 0
        process.terminate()
        log = process.communicate(timeout=20)[1]
    assert "nothing answers at the other end of the long link" in log
    assert "long link is no longer than planned" in log


def test_a_relay_without_probes_says_so(through: Wire, config: Path) -> None:
    config.write_text(CONFIG + 'probe_every = "0s"\n')
    with relay(through, config, "--metrics", METRICS):
        told = clearwayd(through, "--measure")
        assert (told.returncode, "sends no probes" in told.stderr) == (2, True), told
        assert "no probes are sent" in clearwayd(through, "--status").stdout
        assert metrics(through)["probes_total"] == 0
    assert "there is no relay between" in clearwayd(through, "--measure").stderr


def two_rates(local: str, remote: str) -> str:
    """Return a file of these rates, with a watchdog that waits for longer than the longest PAUSE of both."""
    rates = f'local_rate = "{local}"\nremote_rate = "{remote}"\nstorm_after = "3s"'
    return CONFIG.replace('rate = "100Mbps"', rates)


def test_a_slower_long_link_has_all_frames_stored_and_pauses_the_switch(through: Wire, config: Path) -> None:
    """85 Mb/s come, and 20 leave: the switch is told to pause, and what it says goes on as time."""
    config.write_text(two_rates("100Mbps", "20Mbps"))
    count = 400
    with relay(through, config, "--metrics", METRICS):
        assert metrics(through)[lane("closed")] == 1
        assert metrics(through)[lane("closed", "remote")] == 0
        receiver = listening(started(through.far, "receive", "0.5"))
        done(started(through.switch, "send", str(count), "100", str(TRAFFIC_CLASS), "1000"))
        all_in_order(numbers(receiver), count)
        counted = metrics(through)
        assert counted[lane("frames_to_process_total")] == count
        assert counted[lane("frames_passed_total")] == 0
        assert counted[lane("closed")] == 1
        assert counted['pauses_sent_total{port="local"}'] > 0
        heard = started(through.far, "hear", "1")
        until(through, lane("waiting_frames"), 0)
        done(started(through.switch, "say", "@400", "2000", "@50"))
        assert done(heard).split() == [f"{PRIORITY}:400"]


def test_a_faster_long_link_is_slowed_down_to_the_switchs(through: Wire, config: Path) -> None:
    """20 Mb/s leave to the switch, and a PAUSE of it goes on as one that lasts as long."""
    config.write_text(two_rates("20Mbps", "100Mbps"))
    with relay(through, config, "--metrics", METRICS):
        receiver = listening(started(through.switch, "receive", "0.5"))
        done(started(through.far, "send", "400", "100", str(TRAFFIC_CLASS), "1000"))
        assert numbers(receiver) == list(range(400))
        counted = metrics(through)
        assert counted[lane("frames_to_process_total", "remote")] == 400
        assert counted['pauses_sent_total{port="remote"}'] > 0
        assert counted['frames_dropped_total{port="remote"}'] == 0
        until(through, lane("held", "remote"), 0)
        heard = started(through.far, "hear", "2.3")
        done(started(through.switch, "say", "@400", "20000", "@1000"))
        told = done(heard).split()
        # 512 ms, of which one PAUSE of the long link lasts 335.5.
        assert told[0] == f"{PRIORITY}:{LONGEST}"
        assert len(told) >= 3


def test_another_process_takes_the_place_with_what_waits(through: Wire, config: Path) -> None:
    """Frames wait, another process comes, and another: all leave in order, and none passes by."""
    config.write_text(CONFIG + 'storm_after = "10s"\n')
    with relay(through, config, "--metrics", METRICS) as first:
        receiver = listening(started(through.far, "receive", "6"))
        # Paused for four seconds, each PAUSE a third of one, and let go.
        held = started(through.far, "say", *[str(LONGEST), "@150"] * 27, "0")
        until(through, lane("paused"), 1)
        done(started(through.switch, "send", "20", "1000", str(TRAFFIC_CLASS), "1000"))
        assert metrics(through)[lane("waiting_frames")] == 20
        with relay(through, config, "--metrics", METRICS, "--replace") as second:
            assert first.wait(timeout=10) == 0
            assert metrics(through)[lane("waiting_frames")] == 20
            assert metrics(through)[lane("paused")] == 1
            with relay(through, config, "--metrics", METRICS, "--replace"):
                assert second.wait(timeout=10) == 0
                assert metrics(through)[lane("waiting_frames")] == 20
                done(held)
                assert numbers(receiver) == list(range(20))
                until(through, lane("closed"), 0)
    assert "there is no relay between" in clearwayd(through, "--status").stderr


def test_no_frame_is_lost_or_overtaken_while_processes_take_turns(through: Wire, config: Path) -> None:
    config.write_text(PATIENT)
    count = 4000
    with ExitStack() as relays:
        turn = relays.enter_context(relay(through, config))
        receiver = listening(started(through.far, "receive", "2"))
        sender = started(through.switch, "send", str(count), "1000", str(TRAFFIC_CLASS), "100")
        for _ in range(4):
            time.sleep(0.5)
            before, turn = turn, relays.enter_context(relay(through, config, "--replace"))
            assert before.wait(timeout=10) == 0
        done(sender)
        all_in_order(numbers(receiver), count)


def test_a_process_that_replaces_nothing_starts_as_any(through: Wire, config: Path) -> None:
    with relay(through, config, "--replace"):
        second = clearwayd(through, "--config", str(config))
        assert (second.returncode, "take its place with --replace" in second.stderr) == (2, True)
        # What cannot work does not touch the one at work.
        config.write_text(CONFIG + "nonsense = 1\n")
        assert clearwayd(through, "--config", str(config), "--replace").returncode == 2
        assert status(through)["link"]["finding"] in (None, "silent")
