"""The search: Optuna's sampler (TPE) says what to try next, given what came of what was tried.

Trials are chosen a batch at a time and told in their order when all of the batch are known. So they are the
same on any number of cores or workers, and the first of many are those of few. Nothing is kept of the search
itself: a second one chooses the same trials, and finds their runs in the store.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from inspect import signature
from typing import TYPE_CHECKING, Any

from clearway.errors import ClearwayError
from clearway.tuning.file import TuneFile
from clearway.tuning.measuring import Measured
from clearway.tuning.space import Drawn, Parameter
from clearway.tuning.trials import Trial, trial

if TYPE_CHECKING:
    import optuna

_LEAST_FOR_IMPORTANCES = 16  # trials
_LARGEST_SEED = 2**32
Measure = Callable[[Sequence[Mapping[str, Any]], Sequence[Trial]], list[Measured]]
"""Measures values, each for all seeds; it is told of the trials that are known, too."""


def check_installed() -> None:
    """Raise if Optuna is not installed."""
    if find_spec("optuna") is None:
        raise ClearwayError("tuning needs Optuna", "pip install 'clearway[tune]'")


def version() -> str:
    """Return the version of Optuna: another may choose other trials."""
    import optuna  # noqa: PLC0415 - slow to import

    return str(optuna.__version__)


def search(file: TuneFile, seed: int, measure: Measure) -> list[Trial]:
    """Try values until there are as many trials as the file asks for; the scenario's own come first."""
    own = _own(file)
    with _quiet():
        study = _study(file, seed)
        if own is not None:
            study.enqueue_trial(own)
    trials: list[Trial] = []
    while len(trials) < file.trials:
        count = min(file.batch, file.trials - len(trials))
        trials += _batch(file, study, count, own, trials, measure)
    return trials


def _batch(
    file: TuneFile,
    study: optuna.Study,
    count: int,
    own: dict[str, Drawn] | None,
    known: Sequence[Trial],
    measure: Measure,
) -> list[Trial]:
    """Choose trials, have all of them measured, and tell the sampler in their order."""
    first = not known
    asked: list[optuna.trial.Trial | None] = [None] if first and own is None else []
    space = {each.key: _distribution(each) for each in file.parameters}
    with _quiet():
        asked += [study.ask(space) for _ in range(count - len(asked))]
    drawn = [None if each is None else dict(each.params) for each in asked]
    of = [{} if each is None else _written(file, each) for each in drawn]
    if first:
        of[0] = {}  # as it stands in the file, whatever the range has room for
    measured = measure(of, known)
    judged = [
        trial(len(known) + place, each, file.objective, file.limits, drawn[place])
        for place, each in enumerate(measured)
    ]
    with _quiet():
        for each, told in zip(asked, judged, strict=True):
            if each is not None:
                study.tell(each, told.rank(file.objective))
    return judged


def importances(file: TuneFile, trials: Sequence[Trial]) -> dict[str, float]:
    """Return how much each key has to do with being among the best quarter of trials, the most first.

    The shares of PED-ANOVA (Watanabe et al. 2023), which sum to 1 or are all 0. Nothing for a single key, or
    for too few trials.
    """
    import optuna  # noqa: PLC0415 - slow to import

    there = [each for each in trials if each.drawn is not None]
    if len(file.parameters) < 2 or len(there) < _LEAST_FOR_IMPORTANCES:
        return {}
    with _quiet():
        study = _study(file, 0)
        space = {each.key: _distribution(each) for each in file.parameters}
        study.add_trials(
            [
                optuna.trial.create_trial(
                    params=dict(each.drawn or {}), distributions=space, value=each.rank(file.objective)
                )
                for each in there
            ]
        )
        evaluator = _ped_anova()
        found = optuna.importance.get_param_importances(study, evaluator=evaluator)
    return {key: float(share) for key, share in found.items()}


def _ped_anova() -> Any:
    """Take a quarter as the best: of the tenth that is Optuna's default, few trials leave two or three."""
    import optuna  # noqa: PLC0415 - slow to import

    evaluator: Any = optuna.importance.PedAnovaImportanceEvaluator
    names = signature(evaluator.__init__).parameters
    quantile = "target_quantile" if "target_quantile" in names else "baseline_quantile"  # before Optuna 5
    return evaluator(**{quantile: 0.25})


def _study(file: TuneFile, seed: int) -> optuna.Study:
    import optuna  # noqa: PLC0415 - slow to import

    sampler = optuna.samplers.TPESampler(seed=seed % _LARGEST_SEED, multivariate=True, constant_liar=True)
    return optuna.create_study(direction="minimize", sampler=sampler, study_name=file.parts.name)


def _distribution(parameter: Parameter) -> optuna.distributions.BaseDistribution:
    import optuna  # noqa: PLC0415 - slow to import

    kinds = optuna.distributions
    if parameter.ordered:
        return kinds.IntDistribution(0, len(parameter.values) - 1)
    if parameter.values:
        return kinds.CategoricalDistribution(list(range(len(parameter.values))))
    if parameter.whole:
        return kinds.IntDistribution(int(parameter.low), int(parameter.high), log=parameter.log)
    return kinds.FloatDistribution(parameter.low, parameter.high, log=parameter.log)


def _own(file: TuneFile) -> dict[str, Drawn] | None:
    """Return what the scenario's own values would be drawn as; None if not all of them can be."""
    drawn = {each.key: each.drawn(file.own[each.key]) for each in file.parameters}
    found = {key: value for key, value in drawn.items() if value is not None}
    return found if len(found) == len(drawn) else None


def _written(file: TuneFile, drawn: Mapping[str, Drawn]) -> dict[str, Any]:
    return {each.key: each.written(drawn[each.key]) for each in file.parameters}


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Optuna from logging, and from warning that what we use of it may change."""
    import optuna  # noqa: PLC0415 - slow to import

    loud = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", category=Warning)
            yield
    finally:
        optuna.logging.set_verbosity(loud)
