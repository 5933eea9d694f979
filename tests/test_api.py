"""`import clearway as cw`."""

import sys
from pathlib import Path

import clearway as cw
import numpy as np
import pytest
from clearway import documents
from clearway.errors import ClearwayError

from tests.conftest import SMALL


def test_a_run_has_figures_and_numpy_columns(small: Path) -> None:
    run = cw.run(small)
    assert run.summary["completed"] == 4
    assert run.flows["fct_us"].shape == (4,)
    assert run.flows["fct_us"].dtype == np.float64
    assert run.flows["bytes"].tolist() == [100_000] * 4
    assert set(run.flows["transport"]) == {"bulk"}
    assert run.digest.startswith("v")
    assert run.packet_hops > 0
    for table in (run.links, run.rtt, run.queues, run.windows, run.rtt_series, run.throughput):
        assert len({len(column) for column in table.values()}) == 1


def test_text_is_as_good_as_a_file(small: Path) -> None:
    assert cw.run(documents.text_of(SMALL)).digest == cw.run(small).digest == cw.run(str(small)).digest


def test_sets_take_python_values(small: Path) -> None:
    run = cw.run(small, {"network.hosts": 7, "duration": "1ms", "transport.bulk.protocol": "dctcp"}, seed=4)
    assert run.seed == 4
    assert run.scenario["network"]["hosts"] == 7
    assert run.scenario["transport"]["bulk"]["protocol"] == "dctcp"


def test_sets_take_numpy_values_and_refuse_others(small: Path) -> None:
    plain = cw.run(small, {"seed": 3})
    assert cw.run(small, {"seed": np.int64(3)}).digest == plain.digest
    assert cw.run(small, {"seed": np.array([3])[0]}).digest == plain.digest
    with pytest.raises(ClearwayError, match="no value of a scenario"):
        cw.run(small, {"seed": object()})


def test_errors_are_value_errors_with_the_key(small: Path) -> None:
    with pytest.raises(cw.ScenarioError, match=r"network\.hots"):
        cw.run(small, {"network.hots": 7})
    with pytest.raises(ValueError, match="duration"):
        cw.run(small, {"duration": 7})
    with pytest.raises(cw.ClearwayError, match="no such file"):
        cw.run("nowhere.toml")


def test_a_table_that_is_not_there_says_how_to_record_it(small: Path) -> None:
    run = cw.run(small)
    with pytest.raises(cw.ClearwayError, match="operations = true"):
        _ = run.operations
    with pytest.raises(cw.ClearwayError, match="there is"):
        run.table("nonsense")


def test_saved_and_loaded(small: Path) -> None:
    run = cw.run(small)
    path = run.save("saved")
    back = cw.load_run(path)
    assert isinstance(back, cw.Run)
    assert (back.digest, back.summary, back.scenario) == (run.digest, run.summary, run.scenario)
    with pytest.raises(cw.ClearwayError, match="not empty"):
        run.save("saved")


def test_pandas(small: Path) -> None:
    pytest.importorskip("pandas")
    frame = cw.run(small).to_pandas("flows")
    assert frame["bytes"].sum() == 400_000


def test_polars(small: Path) -> None:
    pytest.importorskip("polars")
    frame = cw.run(small).to_polars("flows")
    assert frame["bytes"].sum() == 400_000


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_without_the_library_the_error_names_it(
    library: str, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    run = cw.run(small)
    with pytest.raises(cw.ClearwayError, match=f"pip install {library}"):
        getattr(run, f"to_{library}")("flows")


def test_schema_is_one() -> None:
    schema = cw.schema()
    assert schema["$schema"].startswith("https://json-schema.org/")


def test_progress_goes_forward_to_the_end_of_the_scenario() -> None:
    seen: list[float] = []

    def progress(simulated_us: float, end_us: float, _hops: int) -> bool:
        assert 0 <= simulated_us <= end_us == 50_000
        seen.append(simulated_us)
        return True

    endless = {"traffic": [{"pattern": "incast", "transport": "bulk", "from": "0..4", "to": 4}]}
    cw.run(documents.text_of({**SMALL, **endless, "duration": "50ms", "record": {}}), progress=progress)
    assert seen == sorted(seen)
