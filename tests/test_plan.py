"""The planner on the command line and from Python."""

from typing import Any

import clearway as cw
import pytest
from clearway import plan_check
from clearway.planning import OPTIONS

from tests.conftest import Answer, Clearway

LINK = ("plan", "dci-buffer", "--distance", "80km", "--rate", "100Gbps")


def planned(clearway: Clearway, *more: str) -> Any:
    answer = clearway(*LINK, *more, "--json")
    assert answer.status == 0, answer
    return answer.json


def test_the_papers_numbers(clearway: Clearway) -> None:
    # Section 5.1: 10 MB for 400 us at 100 Gb/s, three such links on a switch of 32 MB.
    plan = planned(clearway, "--buffer", "32MB")
    assert plan["link"]["delay_us"] == 400
    assert plan["bdp_bytes"] == 10_000_000
    schemes, held = plan["schemes"], plan["with_buffer"]["schemes"]
    assert 10_000_000 < schemes["pfc_without_drop"]["link_buffer_bytes"] < 10_020_000
    assert 20_000_000 < schemes["pfc_without_loss"]["link_buffer_bytes"] < 20_030_000
    assert held["pfc_without_drop"]["links"] == 3
    assert held["pfc_without_loss"]["links"] == 1
    # Section 5.3: twice the length, less the 2.5 % that a relay has to spare.
    twice = held["relay"]["reaches_m"] / held["pfc_without_loss"]["reaches_m"]
    assert 1.94 < twice < 2.0


def test_a_reach_is_what_the_buffer_holds(clearway: Clearway) -> None:
    far = ("plan", "dci-buffer", "--rate", "100Gbps", "--transponder", "10us", "--json")
    answer = clearway(*far, "--buffer", "32MB")
    assert answer.status == 0
    assert "schemes" not in answer.json
    for name, held in answer.json["with_buffer"]["schemes"].items():
        assert held["links"] is None
        metres = held["reaches_m"]
        needs = [
            clearway(*far, "--distance", f"{metres + more}m").json["schemes"][name]["link_buffer_bytes"]
            for more in (0, 1)
        ]
        assert needs[0] <= 32_000_000 < needs[1]
    tiny = clearway(*far, "--buffer", "1kB").json["with_buffer"]["schemes"]
    assert all(held["reaches_m"] is None for held in tiny.values())


def test_each_option_counts(clearway: Clearway) -> None:
    plain = planned(clearway)["schemes"]["pfc_without_loss"]
    for more, key in [
        (("--drain", "0.5"), "link_buffer_bytes"),
        (("--drain-most", "0.8"), "link_buffer_bytes"),
        (("--mtu", "9000B"), "link_buffer_bytes"),
        (("--reverse-mtu", "9000B"), "link_buffer_bytes"),
        (("--priorities", "2"), "link_buffer_bytes"),
        (("--transponder", "5us"), "link_buffer_bytes"),
        (("--response", "1us"), "link_buffer_bytes"),
        (("--hysteresis", "100kB"), "link_buffer_bytes"),
    ]:
        assert planned(clearway, *more)["schemes"]["pfc_without_loss"][key] != plain[key], more
    near, far = planned(clearway), planned(clearway, "--local-delay", "2us")
    assert near["local_port"] != far["local_port"]
    assert near["schemes"]["relay"]["link_buffer_bytes"] == far["schemes"]["relay"]["link_buffer_bytes"]
    # The relay inside the switch: each frame, way and priority counts, and nothing of the link to a box.
    inside = near["relay_inside"]
    assert inside == far["relay_inside"]
    for more in (
        ("--mtu", "9000B"),
        ("--reverse-mtu", "9000B"),
        ("--response", "1us"),
        ("--transponder", "5us"),
    ):
        assert planned(clearway, *more)["relay_inside"]["buffer_bytes"] > inside["buffer_bytes"], more
    two = planned(clearway, "--priorities", "2")["relay_inside"]
    assert two["link_buffer_bytes"] == 2 * two["buffer_bytes"] > 2 * inside["link_buffer_bytes"]


def test_the_table_has_what_a_switch_wants(clearway: Clearway) -> None:
    more = ("--mtu", "9000B", "--priorities", "2", "--drain", "0.5", "--buffer", "32MB")
    plan, answer = planned(clearway, *more), clearway(*LINK, *more)
    assert answer.status == 0
    text = " ".join(answer.out.split())
    thresholds = plan["schemes"]["pfc_without_loss"]["thresholds"]
    for key in ("xoff_bytes", "xon_bytes", "headroom_bytes", "buffer_bytes"):
        assert f"{thresholds[key]:,} B" in text
    for words in ("100 Gb/s over 80.0 km, 400 us one way", "2 lossless priorities", "9038 B on the wire"):
        assert words in text
    for words in (
        "there and back 800 us 10,000,000 B",
        "frame that crosses XOFF 9,038 B",
        "what drains meanwhile",
    ):
        assert words in text
    assert "65535 quanta last 335.5 us" in text
    of_priority, of_link = (plan["relay_inside"][key] for key in ("buffer_bytes", "link_buffer_bytes"))
    assert f"a buffer of {of_priority:,} B for each priority, {of_link:,} B of the link" in text
    assert "20 %" not in text, "less than what surely drains"


def test_the_terms_of_the_headroom_add_up(clearway: Clearway) -> None:
    for more in ((), ("--priorities", "3", "--response", "2us", "--mtu", "4096B")):
        plan = planned(clearway, *more)
        headroom, frame = plan["headroom"], plan["link"]["frame_bytes"]
        terms = ("round_trip_us", "own_frame_us", "pfc_ahead_us", "pause_frame_us", "response_us")
        window = sum(headroom[term] for term in terms)
        assert window == pytest.approx(headroom["window_us"])
        assert headroom["any_sizes_bytes"] == pytest.approx(window * 100e3 / 8 + 2 * frame, abs=1)
        assert headroom["one_size_bytes"] == headroom["frames"] * frame


def test_python_plans_the_same(clearway: Clearway) -> None:
    assert cw.dci_buffer(distance="80km", rate="100Gbps", priorities=2, drain=0.5) == planned(
        clearway, "--priorities", "2", "--drain", "0.5"
    )
    with pytest.raises(cw.ClearwayError, match="distanz: no such option"):
        cw.dci_buffer(distanz="80km", rate="100Gbps")
    with pytest.raises(cw.ClearwayError, match=r"^rate: is missing"):
        cw.dci_buffer(distance="80km")


def test_help_names_every_option(clearway: Clearway) -> None:
    text = clearway("plan", "dci-buffer", "--help").out
    assert all(f"--{name.replace('_', '-')}" in text for name in OPTIONS)
    assert "dci-buffer" in clearway("plan", "--help").out


def refused(answer: Answer, *words: str) -> None:
    assert answer.status == 2, answer
    assert answer.out == ""
    for word in words:
        assert word in answer.err, answer.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--distance", "80"], ["--distance", '"80"', "such as 80km (units: m, km)"]),
        (["--distance", "80miles"], ["--distance", "units: m, km"]),
        (["--distance", "0m"], ["--distance", "from 1m to 20000km"]),
        (["--distance", "80.0001km"], ["--distance", "a whole number of m"]),
        (["--rate", "400"], ["--rate", "such as 400Gbps"]),
        (["--rate", "0Gbps"], ["--rate"]),
        (["--mtu", "64B"], ["--mtu", "a size from 256B"]),
        (["--reverse-mtu", "1MB"], ["--reverse-mtu", "a size from 256B to 65535B"]),
        (["--drain", "50"], ["--drain", '"50"', "from 0 to 1"]),
        (["--drain", "nan"], ["--drain", "from 0 to 1"]),
        (["--drain", "0.8", "--drain-most", "0.5"], ["--drain: 0.8 is above the most that drains, 0.5"]),
        (["--priorities", "9"], ["--priorities", "from 1 to 8"]),
        (["--response", "2s"], ["--response", "a time from 0us to 100ms"]),
        (["--transponder", "3"], ["--transponder", "units: ps, ns, us"]),
        (["--buffer", "32"], ["--buffer", "units: B, kB"]),
        # All that is wrong, at once.
        (["--distance", "80", "--mtu", "1", "--priorities", "x"], ["--distance", "--mtu", "--priorities"]),
    ],
)
def test_wrong_options(arguments: list[str], words: list[str], clearway: Clearway) -> None:
    refused(clearway(*LINK, *arguments), *words)


def test_what_is_missing_is_named(clearway: Clearway) -> None:
    refused(clearway("plan", "dci-buffer", "--distance", "80km"), "--rate")
    refused(clearway("plan", "dci-buffer", "--rate", "100Gbps"), "--distance: is missing", "such as 80km")


def test_what_is_planned_is_what_a_simulation_shows(clearway: Clearway) -> None:
    link = ("plan", "dci-buffer", "--distance", "2km", "--rate", "100Gbps", "--check")
    answer = clearway(*link, "--json")
    assert answer.status == 0, answer
    check = answer.json["check"]
    assert check["passed"]
    runs = {(run["scheme"], run["case"]): run for run in check["runs"]}
    assert len(runs) == 3 * 5 + 1
    worst = runs["pfc_without_drop", "the drain stops"]
    # The planner's headroom is for frames of any size, these are all of one: by that much it is too large.
    headroom = answer.json["headroom"]
    spare = headroom["any_sizes_bytes"] - headroom["one_size_bytes"]
    assert (worst["dropped"], worst["buffer_bytes"] - worst["peak_bytes"]) == (0, spare)
    less = runs["pfc_without_drop", "the drain stops, a frame less"]
    assert less["dropped"] > 0
    assert less["buffer_bytes"] == worst["peak_bytes"] - answer.json["link"]["frame_bytes"]
    for scheme in ("pfc_without_loss", "relay"):
        half = runs[scheme, "50 % drain"]
        assert half["carried"] == pytest.approx(0.5, rel=0.01)
        assert half["dropped"] == 0
    # One BDP bounds what the relay holds, and a drain that stops reaches it.
    stopped = runs["relay", "the drain stops"]["peak_bytes"]
    assert answer.json["bdp_bytes"] < stopped <= answer.json["schemes"]["relay"]["buffer_bytes"]
    text = clearway(*link).out
    assert "Simulated: PFC, no drop" in text
    assert "NOT AS PLANNED" not in text


def test_a_worst_case_is_met_whatever_frames_go_the_other_way() -> None:
    for more in ({"reverse_mtu": "9000B"}, {"mtu": "4kB", "reverse_mtu": "512B", "response": "1us"}):
        plan = cw.dci_buffer(distance="3km", rate="200Gbps", **more)
        checked = plan_check.check(plan, plan, as_json=True)
        assert [one for one in checked if not one.passed] == []


def test_a_plan_that_does_not_hold_is_said_to(clearway: Clearway, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = cw.dci_buffer(distance="2km", rate="100Gbps")
    plan["schemes"]["pfc_without_loss"]["thresholds"]["headroom_bytes"] -= 5_000
    plan["schemes"]["relay"]["carries_at_drain"]["0.5"] = 0.51
    wrong = [one for one in plan_check.check(plan, plan, as_json=True) if not one.passed]
    assert [(one.scheme, one.case) for one in wrong] == [
        ("pfc_without_loss", "the drain stops"),
        ("relay", "50 % drain"),
    ]
    monkeypatch.setattr(plan_check, "LEAST_SHARE", 2)
    answer = clearway("plan", "dci-buffer", "--distance", "2km", "--rate", "100Gbps", "--check")
    assert answer.status == 1
    assert "NOT AS PLANNED" in answer.out


def test_what_cannot_be_simulated_is_refused(clearway: Clearway) -> None:
    for link, says in [
        (("--buffer", "32MB"), "give --distance"),
        (("--distance", "9000km"), "frames are under way"),
        (("--distance", "10m"), "holds less than a frame"),
    ]:
        answer = clearway("plan", "dci-buffer", "--rate", "100Gbps", *link, "--check")
        assert answer.status == 2, answer
        assert says in answer.err
