"""A relay and frames of several kinds: two lossless priorities, VLAN tags, IPv6.

Needs what test_hosts_relay needs.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.relays import CONFIG, METRICS, done, listening, metrics, until
from tools.hosts.frames import LONGEST
from tools.hosts.wire import Wire, relay, started

pytestmark = pytest.mark.slow

_COUNT = 10


def lane(name: str, priority: int) -> str:
    return f'{name}{{from="local",priority="{priority}"}}'


def seen(kind: str, priority: int) -> list[str]:
    return [f"{kind}:{priority}:{number}" for number in range(_COUNT)]


def lay(through: Wire, kind: str, priority: int) -> None:
    done(started(through.switch, "lay", kind, str(priority), str(_COUNT)))


@contextmanager
def paused(through: Wire, priority: int) -> Iterator[None]:
    """Have the far end pause a priority beside the body, and let it go then."""
    saying = started(through.far, "say", *(f"{priority}:{LONGEST}", "@100") * 100)
    until(through, lane("closed", priority), 1)
    try:
        yield
    finally:
        saying.kill()
        saying.wait()
        done(started(through.far, "say", f"{priority}:0"))


def test_two_lossless_priorities_wait_and_leave_each_for_itself(through: Wire, workspace: Path) -> None:
    """Frames of IPv6, whose priority is in the traffic class."""
    config = workspace / "relay.toml"
    config.write_text(CONFIG.replace("[3]", "[3, 4]"))
    with relay(through, config, "--metrics", METRICS):
        receiver = listening(started(through.far, "see", "2"))
        with paused(through, 3):
            lay(through, "ip6", 3)
            lay(through, "ip6", 4)
            until(through, lane("waiting_frames", 3), _COUNT)
            assert metrics(through)[lane("frames_passed_total", 4)] == _COUNT
            with paused(through, 4):
                lay(through, "ip6", 4)
                lay(through, "ip6", 2)
                until(through, lane("waiting_frames", 4), _COUNT)
            until(through, lane("waiting_frames", 4), 0)
            assert metrics(through)[lane("waiting_frames", 3)] == _COUNT
        assert done(receiver).split() == [each for of in (4, 2, 4, 3) for each in seen("ip6", of)]


def test_a_vlan_tag_tells_the_priority_and_stays_on_the_frame(through: Wire, workspace: Path) -> None:
    config = workspace / "relay.toml"
    config.write_text(CONFIG + 'trust = "pcp"\n')
    with relay(through, config, "--metrics", METRICS):
        receiver = listening(started(through.far, "see", "2"))
        with paused(through, 3):
            for kind, priority in (("tag", 3), ("tag", 5), ("ip6", 3)):
                lay(through, kind, priority)
            until(through, lane("waiting_frames", 3), _COUNT)
        expected = [*seen("tag", 5), *seen("ip6", 3), *seen("tag", 3)]
        assert done(receiver).split() == expected
