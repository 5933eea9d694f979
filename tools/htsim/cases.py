"""What is run: connection matrices of htsim with its options, and how alike the figures have to be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """A figure that both simulators have, and by what share of htsim's they may differ."""

    figure: str
    within: float


@dataclass(frozen=True)
class Case:
    """One run of both simulators. Files are named from htsim's folder."""

    name: str
    matrix: str
    topology: str | None
    options: tuple[str, ...]
    rate_gbps: int
    paths: int
    bars: tuple[Bar, ...]
    large: bool = False

    def arguments(self) -> list[str]:
        """Return the command line of htsim_uec."""
        topology = ["-topo", self.topology] if self.topology else []
        return ["-tm", self.matrix, *topology, "-paths", str(self.paths), *self.options]


_TIMES = (Bar("last", 0.05), Bar("p99", 0.05), Bar("median", 0.05), Bar("mean", 0.05))


def _permutation_of_8192(paths: int) -> Case:
    """Return the run of htsim's results/800g_nscc.txt with this many paths, with the options given there."""
    options = "-end 1000 -linkspeed 800000 -q 200 -ecn 50 150 -cwnd 300 -sender_cc_only"
    return Case(
        name=f"8192 hosts, 1 MB, {paths} paths",
        matrix="connection_matrices/perm_8192n_8192c_1MB.cm",
        topology="topologies/leaf_spine_8192_800g.topo",
        options=tuple(options.split()),
        rate_gbps=800,
        paths=paths,
        bars=(*_TIMES, Bar("packets", 0.0)),
        large=True,
    )


CASES = (
    Case(
        name="one.cm, 2 MB",
        matrix="connection_matrices/one.cm",
        topology=None,
        options=(),
        rate_gbps=100,
        paths=64,
        bars=(Bar("last", 0.01), Bar("packets", 0.0)),
    ),
    Case(
        name="128 hosts, 2 MB, 64 paths",
        matrix="connection_matrices/perm_128n_128c_2MB.cm",
        topology="topologies/fat_tree_128_1os.topo",
        options=("-end", "10000", "-sender_cc_only"),
        rate_gbps=100,
        paths=64,
        bars=_TIMES,
    ),
    _permutation_of_8192(32),
    _permutation_of_8192(64),
)
