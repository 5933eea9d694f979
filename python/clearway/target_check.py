"""The simulation behind `clearway plan target-delay --check`, which shows that flows do as planned.

Hosts send to one, over paths as long as the longest that is planned: twelve at most, or as many as there are
flows. Each number of flows is a run, and all flows without flow scaling are one more. Windows begin at their
fair shares, as what is planned is a mean of flows that have been there for a while.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from clearway import _clearway, execution, screen, tables
from clearway.errors import ClearwayError
from clearway.runs import Run
from clearway.target_planning import flows, settings

RTT_TOLERANCE = 0.2
"""By what part a round trip may differ from the planned one."""
UNSCALED_TOLERANCE = 0.5
"""The same without flow scaling: windows far below a packet then jump by many times what they are."""
GOODPUT_TOLERANCE = 0.05
"""The same of goodput."""
UNSCALED = "without flow scaling"

_SENDERS = 12
_FRAMING = 38
_MOST_FRAMES = 5_000_000
_ROUND_TRIPS = 150
_TURNS = 45
"""Times that each flow sends in a run: one of a window below one packet does so every few round trips."""
_LEAST_US = 4_500.0


@dataclass(frozen=True)
class Checked:
    """What flows get, as planned and as simulated."""

    flows: int
    case: str
    rtt_planned_us: float
    rtt_simulated_us: float
    rtt_tolerance: float
    goodput_planned_gbps: float
    goodput_simulated_gbps: float
    goodput_tolerance: float

    @property
    def rtt_difference(self) -> float:
        """By what part the simulated round trip is longer."""
        return self.rtt_simulated_us / self.rtt_planned_us - 1

    @property
    def goodput_difference(self) -> float:
        """By what part the simulated goodput is larger."""
        return self.goodput_simulated_gbps / self.goodput_planned_gbps - 1

    @property
    def passed(self) -> bool:
        """Whether both differ by no more than they may."""
        return (
            abs(self.rtt_difference) <= self.rtt_tolerance
            and abs(self.goodput_difference) <= self.goodput_tolerance
        )


@dataclass(frozen=True)
class _Case:
    flows: int
    case: str
    planned: Mapping[str, float]
    tolerance: float


def check(answer: Mapping[str, Any], *, as_json: bool) -> list[Checked]:
    """Simulate what was planned. Raises `ClearwayError` where that takes too long."""
    all_flows = answer["network"]["flows"]
    cases = [_Case(one["flows"], "", one["far"], RTT_TOLERANCE) for one in answer["flows"]]
    if answer["parameters"]["flow_scaling"]:
        cases.append(_Case(all_flows, UNSCALED, answer["without_flow_scaling"], UNSCALED_TOLERANCE))
    frames = sum(_duration_us(answer, case.flows) for case in cases) / _frame_us(answer)
    if frames > _MOST_FRAMES:
        raise ClearwayError(
            f"--check: {all_flows:,} flows need {frames:,.0f} frames, and the most is {_MOST_FRAMES:,}",
            "check a plan for fewer flows",
        )
    texts = [_scenario(answer, case.flows, scaled=not case.case) for case in cases]
    scenarios = [_clearway.load_text(text, "check of a target delay") for text in texts]
    done: dict[int, Checked] = {}

    def keep(index: int, outcome: Run | BaseException) -> None:
        if isinstance(outcome, BaseException):
            raise outcome
        done[index] = _judged(cases[index], outcome)

    with screen.progress("checking", as_json=as_json) as watch:
        execution.execute_each(scenarios, keep, watch)
    return [done[index] for index in range(len(cases))]


def as_json(checked: Sequence[Checked]) -> dict[str, Any]:
    """Return what `--json` has under `check`."""
    each = [
        {
            **asdict(one),
            "rtt_difference": one.rtt_difference,
            "goodput_difference": one.goodput_difference,
            "passed": one.passed,
        }
        for one in checked
    ]
    return {"passed": has_passed(checked), "runs": each}


def has_passed(checked: Sequence[Checked]) -> bool:
    """Tell whether all flows did what is planned."""
    return all(one.passed for one in checked)


def show(checked: Sequence[Checked]) -> None:
    """Print planned and simulated figures beside each other."""
    rows = [(one.case or flows(one.flows), _cells(one)) for one in checked]
    columns = ("RTT, us", "seen", "", "Gb/s", "seen", "", "")
    tables.show_table("Planned, and seen in a simulation", columns, rows)


def _cells(one: Checked) -> Sequence[str]:
    return [
        f"{one.rtt_planned_us:.4g}",
        f"{one.rtt_simulated_us:.4g}",
        f"{one.rtt_difference:+.1%}",
        f"{one.goodput_planned_gbps:.4g}",
        f"{one.goodput_simulated_gbps:.4g}",
        f"{one.goodput_difference:+.1%}",
        "as planned" if one.passed else "NOT AS PLANNED",
    ]


def _judged(case: _Case, run: Run) -> Checked:
    return Checked(
        flows=case.flows,
        case=case.case,
        rtt_planned_us=case.planned["rtt_us"],
        rtt_simulated_us=run.summary["rtt_mean_us"] or 0.0,
        rtt_tolerance=case.tolerance,
        goodput_planned_gbps=case.planned["goodput_gbps"],
        goodput_simulated_gbps=run.summary["goodput_gbps"] or 0.0,
        goodput_tolerance=GOODPUT_TOLERANCE,
    )


def _frame_us(answer: Mapping[str, Any]) -> float:
    network = answer["network"]
    return float(network["frame_bytes"] * 8e6 / network["rate_bps"])


def _duration_us(answer: Mapping[str, Any], number: int) -> float:
    far = float(answer["flows"][-1]["far"]["rtt_us"])
    return max(_LEAST_US, _ROUND_TRIPS * far, _TURNS * number * _frame_us(answer))


def _scenario(answer: Mapping[str, Any], number: int, *, scaled: bool) -> str:
    """Return the scenario of `number` flows."""
    network = answer["network"]
    senders = min(number, network["hosts"] - 1, _SENDERS)
    shape, receiver = _shape(network["topology"], senders)
    window = next(one for one in answer["flows"] if one["flows"] == number)["far"]["cwnd"]
    keys = {**_keys(answer, scaled=scaled), "initial_cwnd": repr(window)}
    duration, start = _duration_us(answer, number), 2 * answer["flows"][-1]["far"]["rtt_us"]
    each, more = divmod(number, senders)
    text = (
        "format = 1\nname = 'check'\n"
        f"duration = '{_ps(duration)}'\nwarmup = '{_ps(duration / 2)}'\n"
        f"[network]\n{shape}\nrate = '{network['rate_bps']}bps'\ndelay = '{_ps(network['delay_us'])}'\n"
        f"mtu = '{network['payload_bytes']}B'\nframing = '{_FRAMING}B'\n"
        f"[switch.default]\nbuffer = '{number * network['frame_bytes'] + 100_000_000}B'\n"
        "[transport.data]\nprotocol = 'swift'\n"
        + f"header = '{network['frame_bytes'] - network['payload_bytes'] - _FRAMING}B'\n"
        + "".join(f"{key} = {value}\n" for key, value in keys.items())
    )
    for first, last, count in ((0, more, each + 1), (more, senders, each)):
        if first < last:
            text += (
                f"[[traffic]]\npattern = 'incast'\nfrom = '{first}..{last}'\nto = {receiver}\n"
                f"flows_per_pair = {count}\nstart = '0us..{_ps(start)}'\n"
            )
    return text


def _keys(answer: Mapping[str, Any], *, scaled: bool) -> dict[str, str]:
    """Return the keys of the transport as TOML; times are text."""
    keys = settings(answer)
    if not scaled:
        keys = {key: keys[key] for key in ("base_target", "hop_scaling")} | {"flow_scaling": "false"}
    return {key: f"'{text}'" if text.endswith("s") else text for key, text in keys.items()}


def _shape(topology: str, senders: int) -> tuple[str, int]:
    """Return a small network with the longest path of this shape, and the host to which all send."""
    if topology == "star":
        return f"topology = 'star'\nhosts = {senders + 1}", senders
    if topology == "fat_tree":
        # The hosts of three pods send to one of the fourth.
        return "topology = 'fat_tree'\nk = 4", 15
    each = max(senders, 4)
    # Links up are as fast as hosts'.
    over = f"oversubscription = {each / 4!r}"
    return f"topology = 'leaf_spine'\nleaves = 2\nspines = 4\nhosts_per_leaf = {each}\n{over}", each


def _ps(us: float) -> str:
    return f"{round(us * 1e6)}ps"
