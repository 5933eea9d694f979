"""The commands `clearway plan ...`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from clearway import console, plan_check, planning, screen
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
        _option("--drain-most", "SHARE", "No throughput is lost up to this share; by default 1."),
    ] = None,
    mtu: Annotated[
        str | None, _option("--mtu", "SIZE", "Of the lossless priorities; by default 1500B.")
    ] = None,
    reverse_mtu: Annotated[
        str | None, _option("--reverse-mtu", "SIZE", "Of any priority, the other way; by default as --mtu.")
    ] = None,
    priorities: Annotated[
        str | None, _option("--priorities", "N", "How many priorities are lossless; by default 1.")
    ] = None,
    transponder: Annotated[
        str | None, _option("--transponder", "TIME", "Delay of one of the two on the way; by default none.")
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
    checked: Sequence[plan_check.Checked] = []
    if check:
        plain = dict(given, priorities=None, drain=None, hysteresis=None)
        checked = plan_check.check(answer, planning.plan(plain, _as_flag), as_json=json)
        answer["check"] = plan_check.as_json(checked)
    if json:
        console.show_json(answer)
    else:
        _show_plan(answer)
        if check:
            plan_check.show(checked)
    if not plan_check.has_passed(checked):
        raise typer.Exit(CLAIM_FAILED)


def _as_flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _show_plan(answer: dict[str, Any]) -> None:
    console.say(planning.title(answer))
    screen.show_table("", planning.COLUMNS, planning.scheme_rows(answer))
    if "headroom" in answer:
        screen.show_table("Headroom of a priority", ("time", "bytes"), planning.headroom_rows(answer))
    for remark in planning.remarks(answer):
        console.say(remark)
