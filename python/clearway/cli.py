"""The commands. Exit status: 0 done, 1 a claim of a paper did not hold, 2 bad input, 130 interrupted."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from clearway import (
    _clearway,
    api,
    comparison,
    demonstration,
    directory,
    plan_check,
    planning,
    report,
    runs,
    screen,
    stops,
)
from clearway.errors import ClearwayError, reason
from clearway.execution import MOST_THREADS
from clearway.paper import papers, reading, reproduce, result
from clearway.runs import Run, Seeds
from clearway.sweep import sweep
from clearway.sweep.making import PointsInterrupted
from clearway.sweep.store import STORE, Store

_CLAIM_FAILED = 1
_BAD_INPUT = 2
_MOST_SEEDS = 10_000
_LARGEST_SEED = 2**53  # as a scenario's: what a JSON number holds exactly


class _Commands(TyperGroup):
    """Turns what a person can act on into a message and an exit status, in one place."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ClearwayError as error:
            screen.show_error(error.message, error.remedy)
        except (_clearway.ScenarioError, _clearway.LosslessDrop) as error:
            screen.show_error(str(error))
        except MemoryError:
            screen.show_error(
                "out of memory", "use fewer hosts or flows, or sample less often under [record]"
            )
        except BrokenPipeError:
            # The reader has seen enough: no error of anyone's.
            sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the process ends
            raise typer.Exit from None
        except OSError as error:
            screen.show_error(f"{error.filename or 'standard output'}: {reason(error)}")
        except PointsInterrupted as error:
            screen.show_error(str(error))
            raise typer.Exit(stops.status()) from None
        except (KeyboardInterrupt, _clearway.Interrupted):
            screen.show_error("interrupted, nothing written")
            raise typer.Exit(stops.status()) from None
        raise typer.Exit(_BAD_INPUT)


app = typer.Typer(
    name="clearway",
    cls=_Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Datacenter transports in a deterministic, very fast packet simulator.",
)

SetsOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a key of the scenario: --set network.hosts=10"),
]
SeedOption = Annotated[
    int | None, typer.Option("--seed", min=0, max=_LARGEST_SEED, help="Root of all randomness.")
]
SeedsOption = Annotated[
    int | None,
    typer.Option("--seeds", min=1, max=_MOST_SEEDS, help="Run N seeds: mean and 95 % interval."),
]
OutOption = Annotated[
    Path | None, typer.Option("--out", help="Directory to write, new or empty; by default one under runs/.")
]
JobsOption = Annotated[
    int | None, typer.Option("--jobs", min=1, max=1024, help="Runs at once; by default one a core.")
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        max=MOST_THREADS,
        help="Threads of each run; by default one, and all cores for a large run by itself.",
    ),
]
StoreOption = Annotated[
    Path, typer.Option("--store", metavar="DIR", help="Where finished runs are kept and found again.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


@app.command()
def demo(out: OutOption = None, threads: ThreadsOption = None, json: JsonOption = False) -> None:
    """Run a 1000-to-1 incast under Swift, DCTCP and GCN, side by side, and write a report."""
    target = out or Path("runs") / "demo"
    directory.check_writable(target, exact=out is not None)
    compared = demonstration.compare_incast(threads=threads, quiet=json)
    with directory.Staging(target, exact=out is not None) as staging:
        for label, group in zip(compared.labels, compared.groups, strict=True):
            (staging.path / directory.slug(label)).mkdir()
            group.runs[0].write_into(staging.path / directory.slug(label))
        page = report.page(
            [(label, group.runs[0]) for label, group in zip(compared.labels, compared.groups, strict=True)]
        )
        (staging.path / "report.html").write_text(page, encoding="utf-8")
        written = staging.commit()
    if json:
        screen.show_json(
            {**demonstration.as_json(compared), "out": str(written), "report": str(written / "report.html")}
        )
        return
    demonstration.show(compared)
    screen.say(f"report: {written / 'report.html'}")


@app.command()
def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Scenario (TOML); - for standard input.")],
    sets: SetsOption = None,
    seed: SeedOption = None,
    seeds: SeedsOption = None,
    threads: ThreadsOption = None,
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Run a scenario and write a run directory."""
    if seed is not None and seeds is not None:
        raise ClearwayError(
            "--seed and --seeds exclude each other", "set the first of several with --set seed=N"
        )
    scenario = _from_standard_input() if str(file) == "-" else file
    scenarios = api.with_seeds(scenario, _parsed(sets), seed, seeds or 1)
    target = out or Path("runs") / _default_name(scenarios, several=seeds is not None)
    directory.check_writable(target, exact=out is not None)
    started = time.monotonic()
    group = Seeds(screen.execute_shown(scenarios, threads=threads, quiet=json))
    wall_s = time.monotonic() - started if seeds else group.runs[0].wall_s
    written = _written(group if seeds else group.runs[0], target, exact=out is not None)
    if json:
        screen.show_json(group.as_json(written, wall_s) if seeds else group.runs[0].as_json(written))
        return
    screen.show_run(group)
    screen.show_effort(group.runs, wall_s)
    screen.say(f"written to {written}")


@app.command()
def compare(
    items: Annotated[
        list[str], typer.Argument(metavar="DIR|FILE...", help="Run directories and scenarios, in any mix.")
    ],
    sets: SetsOption = None,
    seeds: SeedsOption = None,
    threads: ThreadsOption = None,
    json: JsonOption = False,
) -> None:
    """Show runs side by side, with the differences called out; scenario files are run first."""
    gathered = api.gather(
        items,
        seeds or 1,
        _parsed(sets),
        lambda scenarios: screen.execute_shown(scenarios, threads=threads, quiet=json),
    )
    compared = comparison.compare(gathered)
    if json:
        screen.show_json(compared.as_json())
    else:
        screen.show_comparison(compared)


@app.command("sweep")
def run_sweep(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Scenario (TOML) with a \\[sweep] table.")],
    jobs: JobsOption = None,
    out: OutOption = None,
    store: StoreOption = STORE,
    json: JsonOption = False,
) -> None:
    r"""Run a scenario at every point of its \[sweep] table; write a table and a page. Can be interrupted."""
    planned = sweep.plan(file)
    target = out or Path("runs") / f"{directory.slug(planned.name)}-sweep"
    directory.check_writable(target, exact=out is not None)
    screen.show_warnings([point.scenario for point in planned.points])
    with screen.progress(f"{len(planned.points)} points", quiet=json) as watch:
        done = sweep.run(planned, Store(store), jobs, watch)
    with directory.Staging(target, exact=out is not None) as staging:
        sweep.write_into(staging.path, done)
        written = staging.commit()
    if json:
        screen.show_json(sweep.as_json(done, written))
        return
    screen.show_sweep(done)
    screen.say(f"written to {written}, with a page: {written / sweep.PAGE}")


@app.command("paper")
def run_paper(
    name: Annotated[str, typer.Argument(metavar="PAPER", help="The paper: swift or fastpass.")],
    figures: Annotated[
        list[str] | None, typer.Argument(metavar="[FIGURE...]", help="Such as fig20 table3; by default all.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="At the paper's scale.")] = False,
    jobs: JobsOption = None,
    out: OutOption = None,
    store: StoreOption = STORE,
    show: Annotated[
        bool, typer.Option("--list", help="List the figures there are, and run nothing.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Run a paper's figures anew: a verdict for each claim, and a page. Can be interrupted."""
    found = papers.paper_named(name)
    chosen = reading.experiments(found, figures or [], full=full)
    if show:
        screen.show_experiments(chosen, as_json=json)
        return
    target = out or Path("runs") / f"paper-{found.name}"
    directory.check_writable(target, exact=out is not None)
    done = []
    for each in reproduce.reproduce(
        reproduce.prepare(chosen), Store(store), jobs, lambda label: screen.progress(label, quiet=json)
    ):
        done.append(each)
        if not json:
            screen.show_reproduced(each)
    with directory.Staging(target, exact=out is not None) as staging:
        reproduce.write_into(staging.path, found, done, full=full)
        written = staging.commit()
    if json:
        screen.show_json(result.as_json(done))
    else:
        screen.show_claims(done)
        screen.say(f"written to {written}, with a page: {written / reproduce.PAGE}")
    if result.failed(done):
        raise typer.Exit(_CLAIM_FAILED)


plan_app = typer.Typer(name="plan", no_args_is_help=True, help="Answer by arithmetic what a network needs.")
app.add_typer(plan_app)


def _option(flag: str, metavar: str, text: str) -> Any:
    return typer.Option(flag, metavar=metavar, help=text)


@plan_app.command("dci-buffer")
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
        checked = plan_check.check(answer, planning.plan(plain, _as_flag), quiet=json)
        answer["check"] = plan_check.as_json(checked)
    if json:
        screen.show_json(answer)
    else:
        _show_plan(answer)
        if check:
            plan_check.show(checked)
    if not plan_check.has_passed(checked):
        raise typer.Exit(_CLAIM_FAILED)


def _as_flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _show_plan(answer: dict[str, Any]) -> None:
    screen.say(planning.title(answer))
    screen.show_table("", planning.COLUMNS, planning.scheme_rows(answer))
    if "headroom" in answer:
        screen.show_table("Headroom of a priority", ("time", "bytes"), planning.headroom_rows(answer))
    for remark in planning.remarks(answer):
        screen.say(remark)


@app.command("report")
def write_report(
    directories: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Run directories.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The page to write.")],
) -> None:
    """Write one self-contained HTML page about one run or several."""
    directory.check_file_writable(output)
    loaded: list[tuple[str, Run]] = []
    for path in directories:
        found = runs.load(path)
        loaded.extend((path.name, run) for run in (found.runs if isinstance(found, Seeds) else [found]))
    directory.write_text(output, report.page(report.labelled(loaded)))
    screen.say(f"report: {output}")


@app.command()
def schema() -> None:
    """Print the JSON Schema of a scenario, for editors."""
    screen.show_json(api.schema())


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Datacenter transports in a deterministic, very fast packet simulator."""
    if version:
        screen.say(f"clearway {_clearway.VERSION}")
        raise typer.Exit


def main() -> None:
    """Run the command line and end the process."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for all that follows
    if sys.stdout is None:
        screen.show_error("standard output: closed")
        os._exit(_BAD_INPUT)
    stops.listen()
    try:
        app()
    except KeyboardInterrupt:
        status = stops.status()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0
    # Not `sys.exit`: a run that was setting up when it was told to stop may still be at it, and what standard
    # output could not take now it could not take later.
    os._exit(_flushed(status))


def _flushed(status: int) -> int:
    """Write out what is left; return the status that the process ends with."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        pass
    except OSError as error:
        if status == 0:
            screen.show_error(f"standard output: {reason(error)}")
            status = _BAD_INPUT
    sys.stderr.flush()
    return status


def _from_standard_input() -> str:
    """Read a scenario's text; files that it names are sought here."""
    try:
        return (sys.stdin.read() if sys.stdin else "") + "\n"
    except UnicodeDecodeError as error:
        raise ClearwayError(f"standard input: not UTF-8 at byte {error.start}", "save it as UTF-8") from error


def _parsed(sets: list[str] | None) -> list[tuple[str, str]]:
    """Split each KEY=VALUE."""
    parsed = []
    for text in sets or []:
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise ClearwayError(
                f"--set {text}: expected KEY=VALUE",
                "for example --set network.hosts=10 or --set duration=5ms",
            )
        parsed.append((key.strip(), value.strip()))
    return parsed


def _default_name(scenarios: list[_clearway.Scenario], *, several: bool) -> str:
    first, last = scenarios[0], scenarios[-1]
    name = f"{directory.slug(first.name)}-{first.seed}"
    return f"{name}-to-{last.seed}" if several else name


def _written(result: Run | Seeds, target: Path, *, exact: bool) -> Path:
    with directory.Staging(target, exact=exact) as staging:
        result.write_into(staging.path)
        return staging.commit()
