"""The simulator, as the binding shows it."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

from numpy.typing import NDArray

VERSION: str

class ScenarioError(ValueError):
    """A scenario that cannot be run, and why."""

class Interrupted(RuntimeError):  # noqa: N818 - an order, not an error
    """The progress function told the run to stop."""

class LosslessDrop(RuntimeError):  # noqa: N818 - what happened in the network
    """A frame of a lossless class was dropped, and why."""

class Standstill(RuntimeError):  # noqa: N818 - what happened in the run
    """A job can never end, and which operations wait for each other."""

class Scenario:
    """One experiment: read, checked, resolved."""

    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def duration_us(self) -> float: ...
    @property
    def resolved(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def leaves_nothing_to_chance(self) -> bool: ...
    @property
    def estimated_bytes(self) -> int: ...
    @property
    def replay_page_bytes(self) -> int | None: ...
    @property
    def worthwhile_threads(self) -> int: ...
    def swift_target_us(self, transport: str, cwnd: float, hops: int) -> float | None: ...
    def host_flows(
        self, most: int
    ) -> list[tuple[int, int, bool, int, int, int, int | None, int | None, bool]]: ...
    def network(self, frame: int) -> str: ...
    def preview(self, between: tuple[int, int] | None = None) -> str: ...
    def run(
        self,
        progress: Callable[[float, float, int], bool | None] | None = None,
        threads: int | None = None,
        keep_partial: bool = False,
    ) -> Result: ...
    def explain(
        self,
        flow: int,
        progress: Callable[[float, float, int], bool | None] | None = None,
        threads: int | None = None,
    ) -> str: ...

class Result:
    """What a run left."""

    @property
    def digest(self) -> str: ...
    @property
    def packet_hops(self) -> int: ...
    @property
    def wall_s(self) -> float: ...
    @property
    def threads(self) -> int: ...
    @property
    def interrupted(self) -> bool: ...
    @property
    def summary(self) -> str: ...
    @property
    def tables(self) -> dict[str, dict[str, NDArray[Any]]]: ...

def load(
    path: str | PathLike[str], sets: Sequence[tuple[str, str | None]] = ..., seed: int | None = None
) -> Scenario: ...
def load_text(
    text: str,
    name: str = "scenario",
    base_dir: str | PathLike[str] = ".",
    sets: Sequence[tuple[str, str | None]] = ...,
    seed: int | None = None,
) -> Scenario: ...
def rehearse(
    seed: int,
    *,
    hosts: int,
    batch: int,
    ahead: int,
    load: float,
    message: int,
    interval: float,
    acks_a_slot: int,
    way: float,
    slots: int,
) -> dict[str, Any]: ...
def time_grants(hosts: int, batch: int) -> float: ...
def plan_dci_buffer(asked: dict[str, Any], with_distance: bool, buffer: int | None) -> str: ...
def long_link(
    rate_bps: int, delay_ps: int, buffer: int, drain: float, threshold: int | None = None
) -> dict[str, float]: ...
def memory_limit() -> int:
    """Return the bytes that runs may use."""

def schema() -> str: ...
def tables() -> str: ...
def try_rate(
    rate: float,
    seed: int,
    *,
    racks: int,
    hosts: int,
    paths: int,
    gbps: float,
    batch: int,
    work: str,
    step_ms: float,
    backlog: int,
    done: float = 0.0,
    progress: Callable[[float, float, int], bool | None] | None = None,
) -> tuple[float, float, int, float, float]: ...
def time_paths(
    seed: int,
    *,
    racks: int,
    hosts: int,
    paths: int,
    utilisation: float,
    repeats: int,
    progress: Callable[[float, float, int], bool | None] | None = None,
) -> list[float]: ...
