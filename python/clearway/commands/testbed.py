"""The commands `clearway testbed ...`: a scenario on real hosts, or on namespaces of this machine.

Exit status: 0 complete, 1 the run failed or ended early (what was measured is written), 2 bad input, 128 and
the number of the signal that ended it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from clearway import _clearway, api, arguments, console, directory, screen
from clearway.commands.options import JsonOption, SeedOption, SetsOption, UnsetsOption, parsed
from clearway.commands.output import Output
from clearway.errors import ClearwayError
from clearway.runs import Run
from clearway.seeds import Seeds
from clearway.testbed import local as local_testbed
from clearway.testbed import lossless, owner, running
from clearway.testbed.controller import Ended, FailedRunError
from clearway.testbed.fastpass import deployed
from clearway.testbed.given import given_keys
from clearway.testbed.hosts import hosts_in, names_of
from clearway.testbed.network import check_machine
from clearway.testbed.plan import CARRIERS, Plan, check_carrier, plan_of, usual_carrier

FAILED = 1
"""The exit status where a run failed or ended early."""

app = typer.Typer(add_completion=False, no_args_is_help=True)

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="Scenario (TOML).")]
CarrierOption = Annotated[
    str | None,
    typer.Option(
        "--carrier",
        metavar="CARRIER",
        help=f"{CARRIERS}. By default fastpass:rates where all traffic is of fastpass, else udp:swift.",
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Directory to write, new or empty; by default one under runs/."),
]


@app.callback()
def testbed() -> None:
    """Run a scenario on real hosts, and leave what a simulated run leaves."""


@app.command()
def run(
    file: FileArgument,
    hosts: Annotated[
        Path, typer.Option("--hosts", metavar="FILE", help="The hosts (TOML): a table `host` for each.")
    ],
    keys: Annotated[Path, typer.Option("--keys", metavar="DIR", help="Certificates, by `clearwayd keys`.")],
    carrier: CarrierOption = None,
    name: Annotated[
        str | None,
        typer.Option("--name", help="Whose certificate of --keys this is; by default this host's."),
    ] = None,
    out: OutOption = None,
    sets: SetsOption = None,
    unsets: UnsetsOption = None,
    seed: SeedOption = None,
    json: JsonOption = False,
) -> None:
    """Run a scenario on the agents of hosts.toml."""
    overrides = parsed(sets, unsets)
    scenario, carrier = _load(file, overrides, seed, carrier)
    machines, given = hosts_in(hosts), given_keys(file, overrides)
    plan = plan_of(scenario, carrier, names_of(machines), given)
    plan = deployed(plan, machines, given, has_one_switch=False)
    output = Output(out, _default(scenario, carrier))
    try:
        with owner.folder() as folder:
            measured, ended = running.execute(plan, running.Place(hosts, keys, name), folder)
    except FailedRunError as error:
        _fail(error)
    _finish(output, plan, measured, ended, as_json=json)


@app.command()
def local(
    file: FileArgument,
    hosts: Annotated[
        int | None,
        typer.Option(
            "--hosts", min=2, max=local_testbed.MOST_HOSTS, help="Hosts; by default the scenario's."
        ),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option("--rate", metavar="RATE", help="Rate of each link; by default the scenario's."),
    ] = None,
    buffer: Annotated[
        str | None,
        typer.Option(
            "--buffer", metavar="SIZE", help="Buffer of each port of the switch; by default the scenario's."
        ),
    ] = None,
    is_lossless: Annotated[
        bool,
        typer.Option(
            "--lossless",
            help="The scenario's own network in software, with PFC and relays, in place of one switch.",
        ),
    ] = False,
    carrier: CarrierOption = None,
    out: OutOption = None,
    sets: SetsOption = None,
    unsets: UnsetsOption = None,
    seed: SeedOption = None,
    json: JsonOption = False,
) -> None:
    """Run a scenario on namespaces of this machine around a shaped switch. Needs root, ip and tc."""
    overrides = [*parsed(sets, unsets), *local_testbed.overrides(rate, buffer)]
    scenario, carrier = _load(file, overrides, seed, carrier)
    given = given_keys(file, overrides)
    if is_lossless:
        made_of = lossless.of(scenario, carrier, hosts)
        between, warnings = partial(lossless.between, made_of), made_of.warnings
    else:
        between, warnings = partial(local_testbed.star, local_testbed.links_of(scenario)), []
    check_machine()
    plan = local_testbed.plan_of(scenario, carrier, hosts, given, is_star=not is_lossless)
    plan = replace(plan, warnings=[*plan.warnings, *warnings])
    output = Output(out, _default(scenario, carrier))
    try:
        measured, ended = local_testbed.execute(plan, hosts, between)
    except FailedRunError as error:
        _fail(error)
    _finish(output, plan, measured, ended, as_json=json)


def _load(
    file: Path, overrides: Sequence[api.Override], seed: int | None, carrier: str | None
) -> tuple[_clearway.Scenario, str]:
    """Return the scenario, and the carrier for it."""
    if carrier is not None:
        check_carrier(carrier)
    if str(file) == "-":
        raise ClearwayError(
            "-: a testbed reads no scenario from standard input", "save it, and name the file"
        )
    scenario = api.load_scenario(file, overrides, arguments.seed(seed))
    return scenario, usual_carrier(scenario) if carrier is None else carrier


def _default(scenario: _clearway.Scenario, carrier: str) -> Path:
    return Path("runs") / f"{directory.slug(scenario.name)}-{directory.slug(carrier)}-{scenario.seed}"


def _fail(error: FailedRunError) -> None:
    """Say why nothing was measured; the status is not that of bad input."""
    console.show_error(error.message, error.remedy)
    raise typer.Exit(FAILED) from None


def _finish(output: Output, plan: Plan, measured: Run, ended: Ended, *, as_json: bool) -> None:
    """Write what was measured, say what it is, and end with the status that says whether it is all."""
    written = output.write(running.writer(plan, measured))
    for warning in measured.warnings:
        console.show_warning(warning)
    if as_json:
        console.show_json(measured.as_json(written))
    else:
        screen.show_run(Seeds([measured]))
        console.say(f"measured on {len(plan.hosts)} hosts over {plan.carrier}; written to {written}")
    if ended.interrupted:
        raise KeyboardInterrupt(f"interrupted; what was measured is written to {written}")
    if not ended.measured.is_complete:
        console.show_error(
            f"the run is not complete: {ended.measured.reason}; {written} has what was measured"
        )
        raise typer.Exit(FAILED)
