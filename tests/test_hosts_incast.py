"""The page of `make demo-hosts`: drawn from short runs, and skipped where it cannot be made."""

import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import clearway as cw
import pytest
from clearway.runs import Run

from tools.hosts import incast, swift
from tools.hosts.incast_page import Pair, Shown, cells, html, off_by, sentences, table
from tools.hosts.machine import UnavailableError

BRIEF = {"duration": "300ms", "warmup": "100ms"}


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    """Simulate each scheme; what stands for the measured run of Swift has an RTT twice as long."""
    made = []
    for scheme in incast.SCHEMES:
        run = cw.run(incast.SCENARIO, {**BRIEF, **(scheme.sets or {})})
        times: dict[str, Any] = {"rtt_mean_us": 2 * run.summary["rtt_mean_us"]}
        measured = replace(run, summary=run.summary | (times if scheme.carrier == "udp:swift" else {}))
        made.append(Pair(scheme, measured, None if scheme.sets is None else run, load=0.5, processors=2))
    return made


def test_schemes_are_simulated_as_they_are(pairs: list[Pair]) -> None:
    protocols = [pair.simulated.scenario["transport"]["flows"] for pair in pairs if pair.simulated]
    assert [found["protocol"] for found in protocols] == ["cubic", "swift", "swift"]
    assert [found.get("endpoint_window") for found in protocols] == [None, False, True]
    assert all(len(pair.measured.flows["flow"]) == 64 for pair in pairs)


def test_what_is_off_is_told_with_the_reason(pairs: list[Pair]) -> None:
    assert [off_by(pair, "rtt_mean_us") for pair in pairs] == [0.0, None, 0.0, -0.5]
    in_tcp, in_udp, why = sentences(pairs)
    assert "mean RTT is as measured, the goodput as measured; the bar is 25 %." in in_tcp
    assert "mean RTT is 50 % below the measured one" in in_udp
    assert "share 2 processors (0.5 of them busy)" in why
    busy = sentences([replace(pairs[-1], load=1.9)])
    assert "1.9 of this machine's 2 processors were busy" in busy[1]
    assert cells(pairs[1])[2] == "-"


def test_the_page_has_every_scheme_and_chart(pairs: list[Pair]) -> None:
    page = html(Shown(pairs, ["Without <this>: a reason"]))
    assert len(re.findall("<section>", page)) == 1 + 2 + 3
    for words in (
        "Cubic",
        "BBR",
        "Swift in TCP",
        "Without &lt;this&gt;: a reason",
        "RTT of Swift, measured and",
    ):
        assert words in page
    assert "http" not in page
    assert len(table(pairs).splitlines()) == 13


def test_it_is_skipped_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def demand(*_: str) -> None:
        raise UnavailableError("it needs root")

    monkeypatch.setattr(incast, "demand", demand)
    assert incast.demo(Path("page.html"), 2) == 0
    assert "skipped: it needs root" in capsys.readouterr().out
    assert not Path("page.html").exists()


def test_what_one_scheme_cannot_do_is_a_remark(
    monkeypatch: pytest.MonkeyPatch, pairs: list[Pair], capsys: pytest.CaptureFixture[str]
) -> None:
    def pair(scheme: Any, _seconds: int) -> Pair:
        if scheme.carrier == "tcp:bbr":
            raise UnavailableError("its kernel does not have bbr")
        return next(pair for pair in pairs if pair.scheme == scheme)

    monkeypatch.setattr(incast, "demand", lambda *_: None)
    monkeypatch.setattr(incast, "_pair", pair)
    monkeypatch.setattr(swift, "installed", lambda *_: nullcontext())
    assert incast.demo(Path("page.html"), 2) == 0
    assert "Without BBR: its kernel does not have bbr" in capsys.readouterr().out
    assert "its kernel does not have bbr" in Path("page.html").read_text()
    assert isinstance(pairs[0].measured, Run)
