"""What a relay makes of its link: a virtual queue, ports of two rates. Needs what test_hosts_relay needs."""

from pathlib import Path

import pytest

from tests.relays import CONFIG, METRICS, done, lane, listening, metrics, numbers, until
from tools.hosts.frames import LONGEST, PRIORITY, TRAFFIC_CLASS
from tools.hosts.wire import Wire, relay, started


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
        assert numbers(receiver) == list(range(count))
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
