"""`python -m tools.htsim`: the reading of htsim's output, its figures, and its errors, without htsim."""

from dataclasses import replace
from pathlib import Path

import clearway
import pytest

from tools.htsim.__main__ import main
from tools.htsim.cases import CASES, Bar
from tools.htsim.checkout import TESTED, CannotRunError, build, remark
from tools.htsim.figures import links, of_clearway, of_htsim
from tools.htsim.output import Flow, NotUnderstoodError, Settled, read
from tools.htsim.running import Simulated, Took, parameters
from tools.htsim.table import Verdict, lines, summary, verdicts

OUTPUT = (Path(__file__).parent / "data" / "htsim" / "bidir.txt").read_text(encoding="utf-8")


def test_the_output_of_htsim_is_read() -> None:
    ended = read(OUTPUT)
    assert ended.settled == Settled(packet=4150, queue=178450, ecn=(37350, 145250), base_rtt_us=14.0227)
    assert ended.flows == (Flow(13, 0, 176.804), Flow(0, 13, 176.804))
    assert (ended.started, ended.new, ended.again, ended.acks, ended.nacks) == (2, 980, 0, 248, 0)


@pytest.mark.parametrize("missing", ["Tier ", "Setting ECN", "network_max", "Packet size", "New: "])
def test_output_that_lacks_something_is_refused(missing: str) -> None:
    kept = [line for line in OUTPUT.splitlines() if not line.startswith(missing)]
    with pytest.raises(NotUnderstoodError):
        read("\n".join(kept))


def test_queues_of_two_sizes_are_refused() -> None:
    with pytest.raises(NotUnderstoodError, match="more than one size"):
        read(OUTPUT.replace("Tier 2 QueueSize Down 178450", "Tier 2 QueueSize Down 180000"))


def test_figures_are_those_of_the_flows() -> None:
    ended = read(OUTPUT)
    flows = tuple(Flow(0, 1, float(time)) for time in range(200, 0, -1))
    figures = of_htsim(replace(ended, flows=flows))
    assert (figures["last"], figures["p99"], figures["median"], figures["first"]) == (200, 198, 100, 1)
    assert (figures["mean"], figures["packets"], figures["acknowledgements"]) == (100.5, 980, 248)


def test_the_way_back_is_as_long_as_the_network_makes_it() -> None:
    tree, leaves = {"topology": "fat_tree", "k": 4}, {"topology": "leaf_spine", "hosts_per_leaf": 64}
    assert [links(tree, 0, other) for other in (1, 2, 3, 4, 15)] == [2, 4, 4, 6, 6]
    assert [links(leaves, 64, other) for other in (0, 127, 128)] == [4, 2, 4]


def test_clearway_has_the_figures_of_one_flow_as_htsim_has_them(tmp_path: Path) -> None:
    case = CASES[0]
    scenario = tmp_path / "one.toml"
    scenario.write_text(
        'format = 1\nname = "one"\nduration = "1ms"\nstop_when_complete = true\n'
        '[network]\ntopology = "fat_tree"\nk = 4\nrate = "100Gbps"\ndelay = "1us"\n'
        '[transport.bulk]\nprotocol = "swift"\n'
        '[[traffic]]\npattern = "incast"\nfrom = [0]\nto = 13\nbytes = "2MB"\n',
        encoding="utf-8",
    )
    run = clearway.run(scenario, parameters(case, read(OUTPUT).settled))
    figures = of_clearway(case, Simulated(run, 5880))
    # htsim_uec -tm connection_matrices/one.cm: finished at 176.2, New: 490, ACKs: 124.
    assert figures["last"] == pytest.approx(176.2, abs=0.001)
    assert (figures["packets"], figures["sent again"], figures["acknowledgements"]) == (490, 0, 124)


def test_a_verdict_is_a_share_of_htsims_figure() -> None:
    case = replace(CASES[0], bars=(Bar("last", 0.05), Bar("packets", 0.0)))
    given = verdicts(case, {"last": 100.0, "packets": 490}, {"last": 94.9, "packets": 490})
    assert [verdict.holds for verdict in given] == [False, True]
    assert Verdict(Bar("last", 0.05), 1.05).holds
    assert summary(given) == "1 of 2 bars hold"


def test_a_case_is_shown_with_the_figures_of_both() -> None:
    figures = of_htsim(read(OUTPUT))
    shown = lines(CASES[0], (figures, Took(2.0, 1.0)), (figures | {"last": 180.0}, Took(1.0, 0.5), 1_000_000))
    assert shown[1].split() == ["last", "us", "176.80", "180.00", "1.0181", "within", "1%:", "FAILS"]
    assert shown[-1].split()[-3:] == ["1.000", "0.500", "0.5000"]


def test_a_folder_that_is_no_checkout_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    assert "is no checkout of uet-htsim: git clone" in capsys.readouterr().err


def test_a_missing_compiler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "htsim" / "sim").mkdir(parents=True)
    (tmp_path / "htsim" / "sim" / "CMakeLists.txt").write_text("", encoding="utf-8")
    monkeypatch.setattr("shutil.which", lambda name: None if "+" in name else f"/usr/bin/{name}")
    with pytest.raises(CannotRunError, match=r"cannot be built here: missing a C\+\+ compiler"):
        build(tmp_path)


def test_another_commit_is_warned_of(tmp_path: Path) -> None:
    said = remark(tmp_path)
    assert said is not None
    assert "is not known" in said
    assert TESTED[:7] in said
