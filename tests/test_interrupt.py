"""Ctrl-C: at once, and nothing is left."""

import signal
import time
from pathlib import Path

import clearway as cw
import pytest

from tests.conftest import ENDLESS, finished, nothing_but, under_way, written


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "endless.toml"),
        ("run", "endless.toml", "--out", "there/deep"),
        ("run", "endless.toml", "--seeds", "5"),
        ("compare", "endless.toml", "endless.toml"),
        ("compare", "endless.toml", "--seeds", "2"),
    ],
)
def test_stops_within_a_second_and_writes_nothing(
    arguments: tuple[str, ...], endless: Path, workspace: Path
) -> None:
    process = under_way(*arguments)
    process.send_signal(signal.SIGINT)
    told = time.monotonic()
    answer = finished(process)
    assert time.monotonic() - told < 1
    assert answer.status == 130
    assert "interrupted, nothing written" in answer.err
    assert "Traceback" not in answer.err
    assert answer.out == ""
    assert nothing_but(workspace, endless.name)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_stop_it_as_well(number: signal.Signals, endless: Path, workspace: Path) -> None:
    process = under_way("run", "endless.toml")
    process.send_signal(number)
    answer = finished(process)
    assert answer.status == 128 + number
    assert "interrupted, nothing written" in answer.err
    assert nothing_but(workspace, endless.name)


def test_who_ignores_hangups_goes_on(endless: Path) -> None:
    """Had it heard the first signal, that would be the one it ends with."""
    process = under_way("run", endless.name, prepare=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)
    assert finished(process).status == 128 + signal.SIGTERM


def test_progress_goes_forward_and_a_no_stops_the_run(endless: Path) -> None:
    seen: list[tuple[float, float, int]] = []

    def progress(simulated_us: float, end_us: float, packet_hops: int) -> bool:
        seen.append((simulated_us, end_us, packet_hops))
        return len(seen) < 3

    with pytest.raises(cw.Interrupted):
        cw.run(endless, progress=progress)
    assert len(seen) == 3
    assert seen == sorted(seen)
    assert seen[0] < seen[2]
    assert all(0 <= simulated_us <= end_us == 1e9 for simulated_us, end_us, _ in seen)


def test_progress_that_says_nothing_lets_it_go_on(endless: Path) -> None:
    """Asked of a run that is stopped later: one with an end may come to it before it is asked."""
    calls = iter([None, None, False])
    with pytest.raises(cw.Interrupted):
        cw.run(endless, progress=lambda *_: next(calls))
    assert list(calls) == []


def test_sampling_does_not_keep_a_run_from_being_stopped(workspace: Path) -> None:
    """Few things happen between two samples: fewer than between two looks at the clock."""
    record = {"record": {"queues": "10us"}}
    file = written(workspace / "sampled.toml", {**ENDLESS, **record, "duration": "100s"})
    with pytest.raises(cw.Interrupted):
        cw.run(file, progress=lambda *_: False)


def test_progress_that_raises_stops_it_with_that(endless: Path) -> None:
    def progress(*_: object) -> bool:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        cw.run(endless, progress=progress)
