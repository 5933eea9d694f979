"""The commands `clearway plan ...`. What `--check` needs to simulate is imported for it alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import typer

from clearway import arbiter_planning, console, planning, tables, target_planning
from clearway.commands.options import JsonOption
from clearway.errors import CLAIM_FAILED

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def plan() -> None:
    """Answer by arithmetic what a network needs."""


def _option(flag: str, metavar: str, text: str) -> Any:
    return typer.Option(flag, metavar=metavar, help=text)


@app.command("dci-buffer")
def plan_dci_buffer(
    rate: Annotated[str, _option("--rate", "RATE", "Rate of the link, such as 400Gbps.")],
    distance: Annotated[
        str | None, _option("--distance", "LENGTH", "Length of the fibre, such as 80km: 5 us a km.")
    ] = None,
    buffer: Annotated[
        str | None, _option("--buffer", "SIZE", "How far does this reach, and for how many such links?")
    ] = None,
    drain: Annotated[
        str | None, _option("--drain", "SHARE", "Least share of the rate that always drains; by default 0.")
    ] = None,
    drain_most: Annotated[
        str | None,
        _option(
            "--drain-most", "SHARE", "Largest share that may drain without loss of throughput; by default 1."
        ),
    ] = None,
    mtu: Annotated[
        str | None, _option("--mtu", "SIZE", "Longest frame of a lossless priority; by default 1500B.")
    ] = None,
    reverse_mtu: Annotated[
        str | None,
        _option(
            "--reverse-mtu",
            "SIZE",
            "Longest frame of the other direction, of any priority; by default as --mtu.",
        ),
    ] = None,
    priorities: Annotated[
        str | None, _option("--priorities", "N", "How many priorities are lossless; by default 1.")
    ] = None,
    transponder: Annotated[
        str | None,
        _option("--transponder", "TIME", "Delay that each of the two transponders adds; by default none."),
    ] = None,
    response: Annotated[
        str | None, _option("--response", "TIME", "How long a peer takes to obey PAUSE; by default 0us.")
    ] = None,
    local_delay: Annotated[
        str | None, _option("--local-delay", "TIME", "One way between switch and relay; by default 1us.")
    ] = None,
    hysteresis: Annotated[
        str | None, _option("--hysteresis", "SIZE", "XOFF less XON; by default two frames.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Simulate the link as planned; status 1 if it does otherwise.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Plan buffers and thresholds of a lossless link between datacenters, with PFC and with a relay."""
    given = {name: value for name, value in locals().items() if name not in ("check", "json")}
    answer = planning.plan(given, _as_flag)
    passed: bool = True
    show: Callable[[], None] = _nothing
    if check:
        from clearway import plan_check  # noqa: PLC0415

        plain = dict(given, priorities=None, drain=None, hysteresis=None)
        checked = plan_check.check(answer, planning.plan(plain, _as_flag), as_json=json)
        answer["check"] = plan_check.as_json(checked)
        passed, show = plan_check.has_passed(checked), partial(plan_check.show, checked)
    if json:
        console.show_json(answer)
    else:
        _show_plan(answer)
        show()
    if not passed:
        raise typer.Exit(CLAIM_FAILED)


@app.command("arbiter")
def plan_arbiter(
    hosts: Annotated[str, _option("--hosts", "N", "Hosts that send in timeslots, from 2 to 8192.")],
    rate: Annotated[str, _option("--rate", "RATE", "Rate of a host's link, such as 10Gbps.")],
    load: Annotated[
        str | None,
        _option("--load", "SHARE", "Share of its slots in which a host sends data; by default 0.6."),
    ] = None,
    message: Annotated[
        str | None, _option("--message", "N", "Packets of a message, from 1 to 1000; by default 10.")
    ] = None,
    slot: Annotated[
        str | None, _option("--slot", "TIME", "Length of a slot; by default a frame's time over 0.99.")
    ] = None,
    mtu: Annotated[
        str | None, _option("--mtu", "SIZE", "Longest frame of the hosts' links; by default 1500B.")
    ] = None,
    racks: Annotated[
        str | None, _option("--racks", "N", "Racks of as many hosts each; by default 1.")
    ] = None,
    paths: Annotated[
        str | None, _option("--paths", "N", "Paths between two racks, such as spine switches; by default 4.")
    ] = None,
    batch: Annotated[
        str | None, _option("--batch", "N", "Slots that are allocated together, 1 to 64; by default 16.")
    ] = None,
    ahead: Annotated[
        str | None, _option("--ahead", "N", "Slots from a batch's allocation to its first; by default 40.")
    ] = None,
    request_interval: Annotated[
        str | None,
        _option("--request-interval", "TIME", "Least time between two requests of a host; by default 34us."),
    ] = None,
    delay: Annotated[str | None, _option("--delay", "TIME", "Delay of a link; by default 1us.")] = None,
    arbiter_latency: Annotated[
        str | None,
        _option(
            "--arbiter-latency", "TIME", "Delay of the arbiter beside what its work takes; by default 0us."
        ),
    ] = None,
    arbiters: Annotated[
        str | None, _option("--arbiters", "N", "Arbiters that hear every request; by default 1.")
    ] = None,
    arbiter_rate: Annotated[
        str | None, _option("--arbiter-rate", "RATE", "Rate of the arbiter's link; by default as --rate.")
    ] = None,
    grant_ns: Annotated[
        str | None,
        _option("--grant-ns", "NS", "Nanoseconds of one core for a grant; by default as measured before."),
    ] = None,
    path_ns: Annotated[
        str | None,
        _option("--path-ns", "NS", "Nanoseconds of one core for a path; by default as measured before."),
    ] = None,
    packet_ns: Annotated[
        str | None,
        _option(
            "--packet-ns", "NS", "Nanoseconds of one core for a control packet; by default 660, the paper's."
        ),
    ] = None,
    measure: Annotated[
        bool, typer.Option("--measure", help="Measure here what a grant and its path cost.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Simulate up to 32 such hosts; status 1 if they do otherwise.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Plan an arbiter of Fastpass: cores, control packets, slots ahead, and how long messages wait."""
    given = {name: value for name, value in locals().items() if name not in ("check", "json", "measure")}
    _show_arbiter(given, measure=measure, check=check, as_json=json)


def _show_arbiter(given: dict[str, str | None], *, measure: bool, check: bool, as_json: bool) -> None:
    answer = arbiter_planning.plan(given, _as_flag, measure=measure)
    passed: bool = True
    show: Callable[[], None] = _nothing
    if check:
        from clearway import arbiter_check  # noqa: PLC0415

        checked = arbiter_check.check(
            answer,
            lambda changed: arbiter_planning.plan({**given, **changed}, _as_flag, measure=False),
            as_json=as_json,
        )
        answer["check"] = arbiter_check.as_json(checked)
        passed, show = checked.passed, partial(arbiter_check.show, checked)
    if as_json:
        console.show_json(answer)
    else:
        console.say(arbiter_planning.title(answer))
        tables.show_table("", ("",), arbiter_planning.rows(answer))
        for line in (*arbiter_planning.limits(answer), *arbiter_planning.remarks(answer)):
            console.say(line)
        show()
    if not passed:
        raise typer.Exit(CLAIM_FAILED)


@app.command("target-delay")
def plan_target_delay(
    rate: Annotated[str, _option("--rate", "RATE", "Rate of every link, such as 100Gbps.")],
    topology: Annotated[
        str | None,
        _option("--topology", "SHAPE", "star, leaf_spine or fat_tree; by default star, a rack."),
    ] = None,
    hosts: Annotated[
        str | None, _option("--hosts", "N", "Hosts of the network, from 3; by default 16.")
    ] = None,
    flows: Annotated[
        str | None, _option("--flows", "N", "The most flows that share a link; by default 100.")
    ] = None,
    few_flows: Annotated[
        str | None,
        _option("--few-flows", "N", "Flows for whose queue the base target has room; by default 4."),
    ] = None,
    delay: Annotated[str | None, _option("--delay", "TIME", "Delay of a link; by default 1us.")] = None,
    jitter: Annotated[
        str | None,
        _option("--jitter", "TIME", "What hosts and timestamps add to a round trip; by default 0us."),
    ] = None,
    mtu: Annotated[
        str | None, _option("--mtu", "SIZE", "Largest frame; by default 4160B, 4096 of them payload.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Simulate such flows; status 1 if they do otherwise.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Plan Swift's target delay: base, hop scaling and flow scaling, with their cost in RTT and goodput."""
    given = {name: value for name, value in locals().items() if name not in ("check", "json")}
    answer = target_planning.plan(given, _as_flag)
    passed: bool = True
    show: Callable[[], None] = _nothing
    if check:
        from clearway import target_check  # noqa: PLC0415

        checked = target_check.check(answer, as_json=json)
        answer["check"] = target_check.as_json(checked)
        passed, show = target_check.has_passed(checked), partial(target_check.show, checked)
    if json:
        console.show_json(answer)
    else:
        _show_target(answer)
        show()
    if not passed:
        raise typer.Exit(CLAIM_FAILED)


def _show_target(answer: dict[str, Any]) -> None:
    console.say(target_planning.title(answer))
    tables.show_table("Set [transport.NAME]", ("",), target_planning.parameter_rows(answer))
    far = target_planning.flows(answer["network"]["flows"])
    tables.show_table(f"What {far} pay for", target_planning.PART_COLUMNS, target_planning.part_rows(answer))
    tables.show_table("What flows get", target_planning.FLOW_COLUMNS, target_planning.flow_rows(answer))


def _nothing() -> None:
    """Show nothing of a check that was not asked for."""


def _as_flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _show_plan(answer: dict[str, Any]) -> None:
    console.say(planning.title(answer))
    tables.show_table("", planning.COLUMNS, planning.scheme_rows(answer))
    if "headroom" in answer:
        tables.show_table("Headroom of a priority", ("time", "bytes"), planning.headroom_rows(answer))
    for remark in planning.remarks(answer):
        console.say(remark)
