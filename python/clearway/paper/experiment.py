"""Reading the experiments of a paper: what is run, claimed and drawn, all checked before a run.

A file gives a scenario, named runs of it with overrides and axes, claims, and plots. The parameters that all
experiments of the paper share come from `parameters.toml` beside it: one set, each value with its source.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from clearway import axes, documents
from clearway.errors import ClearwayError
from clearway.frontier import Frontier
from clearway.paper import measures, verdicts

PARAMETERS = "parameters.toml"
EXPECTED = ("swift", "fastpass", "swing")
"""The papers that there will be."""

_EXPERIMENT = {
    "figure": str,
    "title": str,
    "setup": str,
    "model": str,
    "scenario": dict,
    "scenarios": dict,
    "quick": dict,
    "full": dict,
    "runs": dict,
    "claim": list,
    "plot": list,
    "frontier": dict,
}
_RUN = {"label": str, "keep": list, "scenario": str, "set": dict, "sweep": dict, "quick": dict, "full": dict}
_SCALED = {"set": dict, "sweep": dict}
_CLAIM = {
    "text": str,
    "paper": object,
    "kind": str,
    "ours": object,
    "names": list,
    "holds": dict,
    "shape": dict,
    "shape_of": object,
    "fitted": bool,
    "stand_in": bool,
    "control": object,
    "reason": str,
}
_PLOT = {
    "title": str,
    "note": str,
    "kind": str,
    "x": str,
    "y": str,
    "x_scale": (int, float),
    "log_x": bool,
    "log_y": bool,
    "points": bool,
    "line": list,
    "bar": list,
}
_LINE = {"label": str, "of": object, "paper": bool, "each": str, "scatter": bool, "colour": int}
_BAR = {"label": str, "of": object, "paper": object}
_PARAMETER = {"key": str, "value": object, "source": str, "why": str, "fitted_on": list}
_FRONTIER = {"runs": list, "objective": list, "limits": dict, "decide": str, "reference": dict}
_OBJECTIVE = {"name": str, "run": str, "of": object, "better": str}
_DISCRIMINATED = {"transport": "protocol", "host": "model"}
"""Tables of named entries whose parameters depend on what they are: keys are `transport.PROTOCOL.KEY`."""
_SOURCES = ("paper", "public code", "calibrated", "ours")
_KINDS = ("time", "bytes", "rate", "share", "count", "plain")
SELECTORS = frozenset({"measure", "run", "where", "over", "pool"})
"""Keys of an expression that are no arguments of its measure."""

Table = Mapping[str, Any]


@dataclass(frozen=True)
class Parameter:
    """One value of the set that all experiments share."""

    key: str
    value: Any
    source: str
    """paper, public code, calibrated, or ours."""
    why: str
    fitted_on: Sequence[str]
    """Experiments it was chosen on: their claims are at best calibrated."""


@dataclass(frozen=True)
class Planned:
    """A named run of an experiment: a document, and the overrides of each of its points."""

    name: str
    label: str
    document: Table
    overrides: Table
    variants: Sequence[Table]
    """Values of the axes, by point; one without any if there are no axes."""
    keep: tuple[str, ...] | None
    """The tables to keep of each point; None for all."""


@dataclass(frozen=True)
class Experiment:
    """One figure or table."""

    id: str
    path: Path
    figure: str
    title: str
    setup: str
    model: str
    runs: Sequence[Planned]
    claims: Sequence[Table]
    plots: Sequence[Table]
    frontier: Table | None


@dataclass(frozen=True)
class Paper:
    """A paper's folder."""

    name: str
    folder: Path
    parameters: Sequence[Parameter] = field(default_factory=list)

    @property
    def ids(self) -> list[str]:
        """The experiments there are: figures by number, then tables, then others."""
        names = [path.stem for path in self.folder.glob("*.toml") if path.name != PARAMETERS]
        return sorted(names, key=_order)


def folder_of_papers() -> Path:
    """Where the papers are: package data, which in a checkout is `papers` too."""
    return Path(str(resources.files("clearway"))) / "papers"


def paper_named(name: str) -> Paper:
    """Find a paper, with its parameters."""
    folder = folder_of_papers() / name
    if (folder / PARAMETERS).is_file():
        return Paper(name, folder, list(_parameters(folder / PARAMETERS)))
    ready = sorted(path.parent.name for path in folder_of_papers().glob(f"*/{PARAMETERS}"))
    if name in EXPECTED:
        raise ClearwayError(f"{name}: its experiments are not there yet", f"there is {', '.join(ready)}")
    raise ClearwayError(
        f"{name}: no such paper", _nearest(name, {**dict.fromkeys(ready), **dict.fromkeys(EXPECTED)})
    )


def experiments(paper: Paper, ids: Sequence[str], *, full: bool) -> list[Experiment]:
    """Read these experiments, or all, with the scale to run them at."""
    known = paper.ids
    for name in ids:
        if name not in known:
            raise ClearwayError(
                f"{name}: no such experiment of the paper {paper.name}", _nearest(name, known)
            )
    return [read(paper, name, full=full) for name in known if not ids or name in ids]


def read(paper: Paper, name: str, *, full: bool) -> Experiment:
    """Read one experiment."""
    path = paper.folder / f"{name}.toml"
    text = documents.read_text(path)
    table = documents.parse(text, str(path))
    check = Checker(path, text)
    check.keys(table, _EXPERIMENT, "", required=("figure", "title"))
    scale = table.get("full" if full else "quick", {})
    runs = [
        _planned(paper, table, key, run, scale, check, "full" if full else "quick")
        for key, run in check.tables(table.get("runs", {}), "runs")
    ]
    names = {run.name: run for run in runs}
    claims = list(table.get("claim", []))
    for index, claim in enumerate(claims):
        _check_claim(claim, f"claim[{index}]", names, check)
    plots = list(table.get("plot", []))
    for index, plot in enumerate(plots):
        _check_plot(plot, f"plot[{index}]", names, check)
    frontier = table.get("frontier")
    if frontier is not None:
        _check_frontier(frontier, names, check)
    return Experiment(
        name,
        path,
        table["figure"],
        table["title"],
        table.get("setup", ""),
        table.get("model", ""),
        runs,
        claims,
        plots,
        frontier,
    )


class Checker:
    """Says where in a file something is wrong."""

    def __init__(self, path: Path, text: str) -> None:
        """Of this file with this text."""
        self._path = path
        self._text = text

    def keys(self, table: Any, known: Mapping[str, Any], where: str, required: Collection[str] = ()) -> None:
        """Raise if a table is none, has a key that is not known, lacks one, or has one of another type."""
        if not isinstance(table, Mapping):
            raise self.error(where, "expected a table")
        for key, value in table.items():
            if key not in known:
                raise self.error(f"{where}.{key}".lstrip("."), "unknown key", _nearest(key, known))
            if not isinstance(value, known[key]):
                raise self.error(
                    f"{where}.{key}".lstrip("."), f"found {value!r}, expected {_NAMES[known[key]]}"
                )
        for key in required:
            if key not in table:
                raise self.error(f"{where}.{key}".lstrip("."), "missing")

    def tables(self, tables: Any, where: str) -> Iterator[tuple[str, Table]]:
        """Yield named tables."""
        for key, table in tables.items():
            if not isinstance(table, Mapping):
                raise self.error(f"{where}.{key}", "expected a table")
            yield key, table

    def one_of(self, value: Any, known: Collection[str], where: str) -> None:
        """Raise if a value is not one of these."""
        if value not in known:
            raise self.error(where, f"found {value!r}", _nearest(str(value), known))

    def error(self, key: str, message: str, remedy: str | None = None) -> ClearwayError:
        """Make the error; its line is that of the last part of the key."""
        return ClearwayError(f"{self._path}:{self._line(key)}: {key}: {message}", remedy)

    def _line(self, key: str) -> int:
        """Follow the parts of a key through the lines; entry n of a list begins at its n-th header."""
        lines, at = self._text.splitlines(), 0
        for part in key.split("."):
            name, _, index = part.partition("[")
            wanted = int(index.rstrip("]")) if index.rstrip("]").isdigit() else 0
            headers = [
                number
                for number, line in enumerate(lines[at:], at)
                if line.strip().startswith("[[") and line.strip().strip("[] ").rsplit(".", 1)[-1] == name
            ]
            if index and len(headers) > wanted:
                at = headers[wanted]
                continue
            at = next(
                (
                    number
                    for number, line in enumerate(lines[at:], at)
                    if line.strip().lstrip("[").replace('"', "").startswith((name, f"{name}."))
                    or (name and f" {name} =" in line)
                    or (name and line.strip().strip("[]").endswith(f".{name}"))
                ),
                at,
            )
        return at + 1


_NAMES = {
    str: "a text",
    dict: "a table",
    list: "a list",
    bool: "true or false",
    int: "a whole number",
    object: "a value",
    (int, float): "a number",
}


def _parameters(path: Path) -> Iterator[Parameter]:
    text = documents.read_text(path)
    table = documents.parse(text, str(path))
    check = Checker(path, text)
    check.keys(table, {"parameter": list}, "", required=("parameter",))
    for index, entry in enumerate(table["parameter"]):
        where = f"parameter[{index}]"
        check.keys(entry, _PARAMETER, where, required=("key", "value", "source", "why"))
        check.one_of(entry["source"], _SOURCES, f"{where}.source")
        if (entry["source"] == "calibrated") != bool(entry.get("fitted_on")):
            raise check.error(f"{where}.source", "a calibrated value, and no other, has fitted_on")
        yield Parameter(
            entry["key"], entry["value"], entry["source"], entry["why"], entry.get("fitted_on", [])
        )


def _planned(
    paper: Paper, table: Table, name: str, run: Table, scale: Table, check: Checker, at: str
) -> Planned:
    """Put a run together: its document with the shared parameters, and the overrides of each point."""
    where = f"runs.{name}"
    check.keys(run, _RUN, where)
    scaled = run.get(at, {})
    check.keys(scaled, _SCALED, f"{where}.{at}")
    if "scenario" in run:
        check.one_of(run["scenario"], table.get("scenarios", {}), f"{where}.scenario")
        document = table["scenarios"][run["scenario"]]
    else:
        document = table.get("scenario")
        if document is None:
            raise check.error("scenario", "missing: the document that is run")
    overrides = {**_flat(scale), **_flat(run.get("set", {})), **_flat(scaled.get("set", {}))}
    sweep = scaled.get("sweep", run.get("sweep", {}))
    variants: Sequence[Table] = [{}]
    if sweep:
        variants = list(axes.variants(axes.axes_of(sweep, lambda key: f"{check._path}: {where}.sweep {key}")))
    label = run.get("label", name)
    return Planned(
        name,
        label,
        with_parameters(document, paper.parameters, label),
        overrides,
        variants,
        tuple(run["keep"]) if "keep" in run else None,
    )


def with_parameters(document: Table, parameters: Sequence[Parameter], label: str) -> dict[str, Any]:
    """Fill in the shared parameters where a document does not say otherwise."""
    filled: dict[str, Any] = _copied({"format": 1, "name": label, **document})
    for parameter in parameters:
        section, *rest = parameter.key.split(".")
        if section in _DISCRIMINATED and len(rest) == 2:
            for entry in filled.get(section, {}).values():
                if entry.get(_DISCRIMINATED[section]) == rest[0]:
                    entry.setdefault(rest[1], parameter.value)
            continue
        place: dict[str, Any] = filled.setdefault(section, {})
        for part in rest[:-1]:
            place = place.setdefault(part, {})
        place.setdefault(rest[-1], parameter.value)
    return filled


def _check_claim(claim: Any, where: str, runs: Mapping[str, Planned], check: Checker) -> None:
    check.keys(claim, _CLAIM, where, required=("text", "paper", "ours", "holds"))
    check.one_of(claim.get("kind", "plain"), _KINDS, f"{where}.kind")
    for key in ("ours", "shape_of", "paper"):
        if key in claim:
            _check_expression(claim[key], f"{where}.{key}", runs, check)
    for key in ("holds", "shape"):
        if key in claim:
            if not claim[key]:
                raise check.error(f"{where}.{key}", "is empty", f"one of {', '.join(verdicts.PREDICATES)}")
            for predicate in claim[key]:
                check.one_of(predicate, verdicts.PREDICATES, f"{where}.{key}.{predicate}")
                _check_asked(predicate, claim[key][predicate], f"{where}.{key}.{predicate}", check)
    if claim.get("stand_in") and "control" not in claim:
        raise check.error(f"{where}.control", "missing: a stand-in needs a negative control")
    if "control" in claim:
        swaps = claim["control"]
        pairs = swaps.items() if isinstance(swaps, Mapping) else [("", swaps)]
        for original, other in pairs:
            for name in (original, other):
                if name:
                    check.one_of(name, runs, f"{where}.control")


def _check_asked(predicate: str, wanted: Any, where: str, check: Checker) -> None:
    """Raise unless a predicate is given what it compares with."""
    if predicate == "order":
        check.one_of(wanted, ("rising", "falling"), where)
        return
    numbers = wanted if predicate == "between" else [wanted]
    count = 2 if predicate == "between" else 1
    if (
        not isinstance(numbers, list)
        or len(numbers) != count
        or not all(isinstance(number, (int, float)) and not isinstance(number, bool) for number in numbers)
    ):
        what = "two numbers" if predicate == "between" else "a number"
        raise check.error(where, f"found {wanted!r}, expected {what}")


def _check_plot(plot: Any, where: str, runs: Mapping[str, Planned], check: Checker) -> None:
    check.keys(plot, _PLOT, where, required=("title",))
    check.one_of(plot.get("kind", "line"), ("line", "bars"), f"{where}.kind")
    for key, known in (("line", _LINE), ("bar", _BAR)):
        for index, entry in enumerate(plot.get(key, [])):
            check.keys(entry, known, f"{where}.{key}[{index}]", required=("label", "of"))
            _check_expression(entry["of"], f"{where}.{key}[{index}].of", runs, check)
            if not isinstance(entry.get("paper", False), bool):
                _check_expression(entry["paper"], f"{where}.{key}[{index}].paper", runs, check)
            if "each" in entry:
                _check_each(entry, f"{where}.{key}[{index}]", runs, check)


def _check_each(line: Table, where: str, runs: Mapping[str, Planned], check: Checker) -> None:
    """Raise unless a line for each value of an axis is of a measure of a run that has this axis."""
    of = line["of"]
    if not isinstance(of, Mapping) or "run" not in of:
        raise check.error(f"{where}.each", "goes with a measure of a run", "give a line to each value")
    check.one_of(line["each"], runs[of["run"]].variants[0], f"{where}.each")


def _check_frontier(frontier: Any, runs: Mapping[str, Planned], check: Checker) -> None:
    check.keys(frontier, _FRONTIER, "frontier", required=("runs", "objective", "decide"))
    for name in frontier["runs"]:
        check.one_of(name, runs, "frontier.runs")
    for index, objective in enumerate(frontier["objective"]):
        where = f"frontier.objective[{index}]"
        check.keys(objective, _OBJECTIVE, where, required=("name", "run", "of", "better"))
        check.one_of(objective["run"], frontier["runs"], f"{where}.run")
        _check_expression({**objective["of"], "run": objective["run"]}, f"{where}.of", runs, check)
    frontier_of(frontier, "frontier")


def frontier_of(frontier: Table, where: str) -> Frontier:
    """Read what is asked of the points."""
    return Frontier.of(
        {
            "objectives": {entry["name"]: entry["better"] for entry in frontier["objective"]},
            "limits": frontier.get("limits", {}),
            "decide": frontier["decide"],
        },
        where,
    )


def _check_expression(value: Any, where: str, runs: Mapping[str, Planned], check: Checker) -> None:
    """Raise unless a value is a number, a text, a list of expressions, or a measure with its arguments."""
    if isinstance(value, list):
        for index, entry in enumerate(value):
            _check_expression(entry, f"{where}[{index}]", runs, check)
    if not isinstance(value, Mapping):
        return
    known: dict[str, Callable[..., measures.Value]] = {**measures.OF_RUN, **measures.OF_VALUES}
    name = value.get("measure")
    if name is None:
        raise check.error(where, "expected a measure", f"one of {', '.join(known)}")
    check.one_of(name, known, f"{where}.measure")
    arguments = inspect.signature(known[name]).parameters
    takes = [argument for argument in arguments if argument != "run"]
    for key in value:
        if key not in takes and (key not in SELECTORS or (key != "measure" and name in measures.OF_VALUES)):
            raise check.error(f"{where}.{key}", f"no argument of {name}", _nearest(key, [*takes, *SELECTORS]))
    needed = [key for key in takes if arguments[key].default is inspect.Parameter.empty]
    if missing := [key for key in needed if key not in value]:
        raise check.error(where, f"{name} needs {', '.join(missing)}")
    if name in measures.OF_RUN:
        if "run" not in value:
            raise check.error(where, f"{name} needs run", f"one of {', '.join(runs)}")
        check.one_of(value["run"], runs, f"{where}.run")
    for key, argument in value.items():
        if key in takes and key != "match" and not _plain(argument):
            _check_expression(argument, f"{where}.{key}", runs, check)


def _plain(argument: Any) -> bool:
    """Whether an argument has no measure in it: tables that are an argument as they stand."""
    if isinstance(argument, Mapping):
        return "measure" not in argument
    return isinstance(argument, list) and all(_plain(entry) for entry in argument)


def _flat(table: Table, prefix: str = "") -> dict[str, Any]:
    """Dotted keys: an unquoted one is read as nested tables."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        path = f"{prefix}.{key}" if prefix else key
        flat.update(_flat(value, path) if isinstance(value, Mapping) else {path: value})
    return flat


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(entry) for key, entry in value.items()}
    return [_copied(entry) for entry in value] if isinstance(value, list) else value


def _order(name: str) -> tuple[int, int, str]:
    kind = name.rstrip("0123456789")
    number = name[len(kind) :]
    rank = {"fig": 0, "table": 1, "section": 2}.get(kind, 3)
    return rank, int(number) if number else 0, name


def _nearest(name: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    if near:
        return f"did you mean {near[0]}?"
    return f"one of {', '.join(known)}" if known else "there is none"
