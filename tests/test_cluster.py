"""`clearway sweep FILE --on tcp://SCHEDULER`: real workers as processes, one of which dies."""

import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import clearway as cw
import numpy as np
import pytest
from clearway import _clearway, documents
from clearway.cluster import client, worker
from clearway.cluster.client import connected
from clearway.cluster.work import pack
from clearway.errors import ClearwayError
from clearway.execution import Position
from clearway.paper import papers
from clearway.runs import Run
from clearway.sweeps import file
from clearway.sweeps.points import Point

from tests.conftest import SMALL, Clearway, child, finished, nothing_but
from tests.test_measurements import TIMED
from tests.test_paper import FIG1, PARAMETERS
from tests.test_sweep import stored, swept

pytestmark = pytest.mark.slow

distributed = pytest.importorskip("distributed")

PROGRAMS = {
    "plain": "",
    "without clearway": "sys.modules['clearway'] = None",
    "older": "from clearway.sweeps import points; points.build = lambda: '0.0.9 0123'",
    "rebuilt": "from clearway.sweeps import points; own = points.build(); points.build = lambda: own + '0'",
    "deadly": "from clearway.cluster import worker; import os; worker._scenario = lambda *_: os._exit(1)",
}
"""What a worker's process does before it is one."""


class Machines:
    """A scheduler and workers, each a process of its own on loopback."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self._started("dask_scheduler", "--port", "0", "--scheduler-file", str(self._file), "--no-dashboard")
        until(lambda: self._told() is not None, patience_s=60)
        self.address: str = self._told()["address"]

    @property
    def _file(self) -> Path:
        return self._folder / "scheduler.json"

    def _told(self) -> Any:
        """What the scheduler has written of itself; none while it has not, or not all of it."""
        try:
            return json.loads(self._file.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return None

    def start(self, program: str = "plain") -> "subprocess.Popen[bytes]":
        """Start a worker with one thread."""
        return self._started(
            "dask_worker",
            "--scheduler-file",
            str(self._file),
            *("--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0"),
            *("--local-directory", str(self._folder)),
            program=program,
        )

    def wait_for(self, workers: int) -> None:
        with distributed.Client(self.address, set_as_default=False) as known:
            known.wait_for_workers(workers, timeout=60)

    def _started(self, module: str, *arguments: str, program: str = "plain") -> "subprocess.Popen[bytes]":
        code = f"import sys; {PROGRAMS[program]}\nfrom distributed.cli.{module} import main; main()"
        process = subprocess.Popen(
            [sys.executable, "-c", code, "--host", "127.0.0.1", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=(self._folder / f"{module}-{len(self.processes)}.log").open("wb"),
        )
        self.processes.append(process)
        return process

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """Two workers that all tests share which harm none."""
    machines = Machines(tmp_path_factory.mktemp("dask"))
    try:
        machines.start()
        machines.start()
        machines.wait_for(2)
        yield machines
    finally:
        machines.stop()


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    """A scheduler without workers, for a test that harms it."""
    machines = Machines(tmp_path)
    try:
        yield machines
    finally:
        machines.stop()


def known_tasks(machines: Machines) -> int:
    """Count the points that the scheduler knows."""
    with distributed.Client(machines.address, set_as_default=False) as known:
        count: int = known.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
        return count


def known_workers(machines: Machines) -> int:
    """Count the workers that the scheduler has."""
    with distributed.Client(machines.address, set_as_default=False) as known:
        return len(known.scheduler_info()["workers"])


def busy_workers(machines: Machines) -> int:
    """Count the workers that run something, whether anyone waits for it or not."""
    with distributed.Client(machines.address, set_as_default=False) as known:
        return sum(known.run(lambda dask_worker: len(dask_worker.active_threads)).values())


def until(happened: Callable[[], bool], patience_s: float = 30) -> None:
    deadline = time.monotonic() + patience_s
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def kept(workspace: Path) -> int:
    return sum(not name.startswith(".") for name in stored(workspace))


LONG = {"traffic": [{"pattern": "incast", "to": 4}]}
"""Goes on to its end."""
ENDLESS = '\n[sweep]\nduration = ["2ms", "3ms", "998s", "999s", "1000s"]\n'
SECONDS = '\n[sweep]\nduration = ["2s"]\nseed = { from = 1, to = 6, step = 1 }\n'
"""Points that take a while."""


def test_points_are_what_they_are_here(two: Machines, clearway: Clearway, workspace: Path) -> None:
    here = clearway("sweep", swept(workspace), "--json", "--store", "here")
    there = clearway("sweep", "sweep.toml", "--json", "--on", two.address)
    assert there.status == 0, there.err
    assert (there.json["run"], there.json["found"]) == (12, 0)
    assert len(stored(workspace)) == 12
    for ours, theirs in zip(here.json["points"], there.json["points"], strict=True):
        assert (ours["digest"], ours["summary"]) == (theirs["digest"], theirs["summary"])
        one, other = Run.load(Path(ours["path"])), Run.load(Path(theirs["path"]))
        assert (one.scenario, one.name, one.threads) == (other.scenario, other.name, other.threads)
        assert list(one.tables) == list(other.tables)
        for name, table in one.tables.items():
            for column, values in table.items():
                np.testing.assert_array_equal(values, other.tables[name][column])
                assert values.dtype == other.tables[name][column].dtype
    again = clearway("sweep", "sweep.toml", "--json")
    assert (again.json["run"], again.json["found"]) == (0, 12)
    assert known_tasks(two) == 0


def test_files_travel_without_a_shared_disk(two: Machines, clearway: Clearway, workspace: Path) -> None:
    scenarios = Path(__file__).parent.parent / "scenarios"
    beside, elsewhere = workspace / "here" / "deep", workspace / "elsewhere"
    beside.mkdir(parents=True)
    elsewhere.mkdir()
    (beside / "star").write_text("A file whose name is a word of the scenario.")
    (beside / "sizes.txt").write_text("1000 50\n2000 100\n")
    (elsewhere / "trace.csv").write_text("start,from,to,bytes\n0us,0,1,64kB\n10us,2,3,64kB\n")
    name = "ring.toml"
    shutil.copy(scenarios / "topologies" / name, elsewhere / name)
    topology = f'topology = "file"\nfile = "{elsewhere / name}"\n'
    (beside / "sweep.toml").write_text(
        f'format = 1\nname = "x"\nduration = "1ms"\n[network]\n{topology}'
        '[transport.bulk]\nprotocol = "swift"\n'
        '[[traffic]]\npattern = "trace"\ntransport = "bulk"\nfile = "../../elsewhere/trace.csv"\n'
        '[[traffic]]\npattern = "poisson"\ntransport = "bulk"\nload = 0.1\nsizes = "sizes.txt"\n'
        "[sweep]\nseed = [1, 2]\n"
    )
    here = clearway("sweep", "here/deep/sweep.toml", "--json", "--store", "here")
    assert here.status == 0, here.err
    there = clearway("sweep", "here/deep/sweep.toml", "--json", "--on", two.address)
    assert there.status == 0, there.err
    assert [each["digest"] for each in there.json["points"]] == [
        each["digest"] for each in here.json["points"]
    ]
    one, other = (Run.load(Path(answer.json["points"][0]["path"])) for answer in (here, there))
    assert one.scenario == other.scenario


@pytest.mark.parametrize(
    ("folder", "base"),
    [("scenarios", "scenarios"), ("crates/sim/tests/digests", "crates/sim/tests/networks")],
)
def test_what_is_sent_is_the_scenario(folder: str, base: str) -> None:
    """A scenario as resolved is one, and the same: of every file of a kind that there is."""
    root = Path(__file__).parent.parent
    for path in (root / folder).glob("*.toml"):
        scenario = _clearway.load_text(path.read_text(), path.name, root / base)
        sent = pack(Point(scenario, {}, root / base), "topic", 0)
        document = json.loads(sent.text)["scenario"]
        unpacked = worker._scenario(document, {name: file.read_bytes() for name, file in sent.files.items()})
        assert unpacked.resolved == scenario.resolved, path
        assert unpacked.warnings == scenario.warnings, path
        assert unpacked.estimated_bytes == scenario.estimated_bytes, path


def test_a_tuning_is_the_same_on_a_cluster(two: Machines, clearway: Clearway, workspace: Path) -> None:
    """Also what fails: a lossless class that drops a frame is a trial's fault, wherever it is run."""
    pytest.importorskip("optuna")
    lossless = {
        "class": {"bulk": {"lossless": True}},
        "switch": {"default": {"buffer": "1MB", "pfc": "static", "pfc_xoff": "20kB"}},
        "transport": {"bulk": {"protocol": "none", "class": "bulk"}},
    }
    headroom = ["1kB", "2kB", "50kB"]
    table = {"objective": {"fct_mean_us": "lower"}, "trials": 4, "seeds": 2, "confirm": 2}
    tune = {**table, "range": {"switch.default.pfc_headroom": headroom}}
    scenario = {**SMALL, **lossless, "record": {}, "tune": tune}
    (workspace / "tune.toml").write_text(documents.tables_of(scenario))
    here = clearway("tune", "tune.toml", "--json", "--store", "here")
    assert here.status == 0, here.err
    there = clearway("tune", "tune.toml", "--json", "--on", two.address)
    assert there.status == 0, there.err
    assert any(
        "of a lossless class" in each["complaint"] for each in here.json["trials"] if each["complaint"]
    )
    for answer in (here, there):
        assert answer.json["found"] == 0
    assert [(each["overrides"], each["digests"], each["complaint"]) for each in there.json["trials"]] == [
        (each["overrides"], each["digests"], each["complaint"]) for each in here.json["trials"]
    ]
    assert there.json["sentences"] == here.json["sentences"]


def test_a_worker_that_dies_costs_its_points_only(
    machines: Machines, clearway: Clearway, workspace: Path
) -> None:
    lost, _ = machines.start(), machines.start()
    machines.wait_for(2)
    swept(workspace, SECONDS, **LONG)
    process = child("sweep", "sweep.toml", "--json", "--on", machines.address)
    until(lambda: kept(workspace) >= 2 or process.poll() is not None)
    lost.kill()
    assert kept(workspace) < 6, "the sweep was over before the worker died"
    there = finished(process, 120)
    assert there.status == 0, there.err
    assert (there.json["run"], len(there.json["points"])) == (6, 6)
    here = clearway("sweep", "sweep.toml", "--json", "--store", "here")
    assert [each["digest"] for each in there.json["points"]] == [
        each["digest"] for each in here.json["points"]
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_who_stops_waiting_stops_the_workers(number: int, two: Machines, workspace: Path) -> None:
    swept(workspace, ENDLESS, **LONG)
    process = child("sweep", "sweep.toml", "--on", two.address)
    until(lambda: kept(workspace) == 2 and busy_workers(two) == 2)
    process.send_signal(number)
    answer = finished(process)
    until(lambda: busy_workers(two) == 0)
    assert known_tasks(two) == 0
    if number == signal.SIGINT:
        assert answer.status == 130
        assert "2 of 5 runs are finished and kept in .clearway/runs" in answer.err
        assert "Traceback" not in answer.err
        assert nothing_but(workspace, "sweep.toml", ".clearway")


def test_a_scheduler_that_dies_is_named(machines: Machines, workspace: Path) -> None:
    machines.start()
    machines.wait_for(1)
    swept(workspace, ENDLESS, **LONG)
    process = child("sweep", "sweep.toml", "--on", machines.address)
    until(lambda: kept(workspace) == 2)
    machines.stop()
    answer = finished(process, 120)
    assert answer.status == 2
    assert f"error: {machines.address}: the scheduler is gone" in answer.err
    assert "Traceback" not in answer.err
    assert kept(workspace) == 2


def test_workers_that_would_not_do_the_same_are_refused(
    machines: Machines, clearway: Clearway, workspace: Path
) -> None:
    for program in ("without clearway", "older", "rebuilt", "plain"):
        machines.start(program)
    machines.wait_for(4)
    answer = clearway("sweep", swept(workspace), "--on", machines.address)
    assert answer.status == 2
    for words in (
        "of 4 workers, ",
        "1 has no clearway, or an older one",
        "1 has clearway 0.0.9",
        f"1 has another build of clearway {_clearway.VERSION}",
        f"here is clearway {_clearway.VERSION}",
        "install the wheel",
    ):
        assert words in answer.err
    assert stored(workspace) == []


def test_workers_that_come_later_are_looked_at_too(machines: Machines, workspace: Path) -> None:
    swept(workspace)
    for program, words in [("without clearway", "no clearway, or an older one"), ("older", "clearway 0.0.9")]:
        process = child("sweep", "sweep.toml", "--on", machines.address)
        assert process.stderr is not None
        assert "has no workers yet: waiting for the first" in process.stderr.readline()
        late = machines.start(program)
        answer = finished(process)
        assert answer.status == 2
        assert f"a worker has {words}" in answer.err
        assert stored(workspace) == []
        late.kill()
        until(lambda: known_workers(machines) == 0)


def test_a_point_that_fails_stops_no_other(two: Machines, clearway: Clearway, workspace: Path) -> None:
    lossless = {
        "class": {"bulk": {"lossless": True}},
        "switch": {"default": {"buffer": "1MB", "pfc": "static", "pfc_xoff": "20kB"}},
        "transport": {"bulk": {"protocol": "none", "class": "bulk"}},
    }
    answer = clearway(
        "sweep",
        swept(workspace, '\n[sweep]\n"switch.default.pfc_headroom" = ["1kB", "50kB"]\n', **lossless),
        "--on",
        two.address,
    )
    assert answer.status == 2
    assert "switch.default.pfc_headroom = 1kB: failed: " in answer.err
    assert "the other runs are finished and kept" in answer.err
    assert kept(workspace) == 1


def test_a_point_that_kills_its_workers_is_named(
    machines: Machines, clearway: Clearway, workspace: Path
) -> None:
    for _ in range(4):
        machines.start("deadly")
    machines.wait_for(4)
    answer = clearway("sweep", swept(workspace, "\n[sweep]\nseed = [1]\n"), "--on", machines.address)
    assert answer.status == 2
    assert "seed = 1: failed: 4 workers died while they ran it: it may need more memory" in answer.err


class SeenError(Exception):
    """Ends a run that would go on for hours."""


def test_how_far_all_are_is_seen(two: Machines, workspace: Path) -> None:
    points = file.read(swept(workspace, "\n[sweep]\nseed = [1, 2]\n", duration="1000s", **LONG)).points()
    deadline = time.monotonic() + 60
    seen: list[tuple[float, ...]] = []

    def watch(positions: Sequence[Position]) -> None:
        seen.append(tuple(position.simulated_us for position in positions))
        assert all(position.end_us == 1e9 for position in positions)
        assert time.monotonic() < deadline
        if all(0 < position.simulated_us < 1e9 and position.packet_hops > 0 for position in positions):
            raise SeenError

    with connected(two.address) as cluster, pytest.raises(SeenError):
        cluster.execute_each(points, lambda *_: None, watch)
    assert seen[0] == (0, 0)
    until(lambda: busy_workers(two) == 0)


def test_a_paper_s_points_run_there_and_its_measurements_here(
    two: Machines, clearway: Clearway, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = workspace / "papers" / "toy"
    folder.mkdir(parents=True)
    (folder / "parameters.toml").write_text(PARAMETERS)
    (folder / "fig1.toml").write_text(FIG1)
    (folder / "timed.toml").write_text(TIMED)
    monkeypatch.setattr(papers, "folder_of_papers", lambda: workspace / "papers")
    sent: list[int] = []
    execute = client.Cluster.execute_each

    def counting(cluster: client.Cluster, points: Sequence[Point], *rest: Any) -> None:
        sent.append(len(points))
        execute(cluster, points, *rest)

    monkeypatch.setattr(client.Cluster, "execute_each", counting)
    there = clearway("paper", "toy", "--json", "--on", two.address)
    assert there.status != 2, there.err
    assert sent == [20]
    here = clearway("paper", "toy", "fig1", "--json", "--store", "here")
    assert here.json["claims"] == there.json["claims"][: len(here.json["claims"])]


def test_addresses_without_a_scheduler(
    two: Machines, clearway: Clearway, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_PATIENCE_S", 1)
    swept(workspace)
    with distributed.Client(two.address, set_as_default=False) as known:
        workers = known.scheduler_info()["workers"]
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        for address, words in [
            ("tcp://127.0.0.1:1", "no scheduler answers there"),
            (f"tcp://127.0.0.1:{silent.getsockname()[1]}", "no scheduler answers there"),
            ("tcp://no.such.host.invalid:8786", "no scheduler answers there"),
            ("post://127.0.0.1:8786", "no scheduler answers there"),
            ("tcp://127.0.0.1:port", "no scheduler answers there"),
            ("tcp://127.0.0.1:99999", "no scheduler answers there"),
            (next(iter(workers)), "is a worker, expected a scheduler"),
            ("127.0.0.1:8786", "is no address of a scheduler"),
            ("", "is no address of a scheduler"),
        ]:
            answer = clearway("sweep", "sweep.toml", "--on", address)
            assert answer.status == 2
            assert words in answer.err, address
    assert nothing_but(workspace, "sweep.toml")


def test_ctrl_c_does_not_wait_for_a_scheduler(workspace: Path) -> None:
    swept(workspace)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        silent.settimeout(30)
        process = child("sweep", "sweep.toml", "--on", f"tcp://127.0.0.1:{silent.getsockname()[1]}")
        silent.accept()
        process.send_signal(signal.SIGINT)
        told = time.monotonic()
        answer = finished(process)
    assert time.monotonic() - told < client._PATIENCE_S / 2
    assert answer.status == 130
    assert "interrupted, nothing written" in answer.err
    assert nothing_but(workspace, "sweep.toml")


def test_a_sweep_from_python_runs_there_too(two: Machines, workspace: Path) -> None:
    path = swept(workspace, "\n[sweep]\nseed = [1, 2]\n")
    there, here = cw.sweep(path, on=two.address, store="there"), cw.sweep(path, store="here")
    assert (there.made.run, here.made.run) == (2, 2)
    assert there.table["digest"].tolist() == here.table["digest"].tolist()

    def progress(*_: object) -> bool:
        return False

    endless = swept(workspace, ENDLESS, **LONG)
    with pytest.raises(cw.Interrupted, match="of 5 runs are finished and kept"):
        cw.sweep(endless, on=two.address, progress=progress)
    until(lambda: busy_workers(two) == 0)


def test_without_dask_the_error_says_how_to_get_it(
    clearway: Clearway, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    answer = clearway("sweep", swept(workspace), "--on", "tcp://127.0.0.1:8786")
    assert answer.status == 2
    assert "pip install 'clearway[dask]'" in answer.err


def test_jobs_are_those_of_the_workers(clearway: Clearway, workspace: Path) -> None:
    answer = clearway("sweep", swept(workspace), "--on", "tcp://127.0.0.1:8786", "--jobs", 2)
    assert answer.status == 2
    assert "--on and --jobs exclude each other" in answer.err


def test_dask_is_imported_for_a_cluster_only(workspace: Path) -> None:
    swept(workspace, "\n[sweep]\nseed = [1]\n")
    program = (
        "import sys; from clearway.cli import app\n"
        "app(['sweep', 'sweep.toml'], standalone_mode=False)\n"
        "sys.exit(any(name.partition('.')[0] in ('dask', 'distributed') for name in sys.modules))"
    )
    answer = finished(child(program, program=("-c",)))
    assert answer.status == 0, answer.err


def test_points_share_the_memory_of_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_available", lambda: 100)
    room = worker._Room()
    with (
        pytest.raises(ClearwayError, match="needs about 101 B of memory, 100 B are available"),
        room.taken(101, lambda: True),
    ):
        pass
    looks: list[int] = []

    def thrice() -> bool:
        looks.append(1)
        return len(looks) < 3

    with room.taken(60, lambda: True):
        with room.taken(40, lambda: True):
            pass
        assert not looks
        with room.taken(41, thrice):  # waits, and is told that no one waits for it
            assert len(looks) == 3
    with room.taken(100, lambda: True):
        pass
