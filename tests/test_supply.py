"""What Clearway is built from: the locks agree with pyproject.toml, and a check that was not made says so."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tools.supply.audit import advisories, packages
from tools.supply.outcome import Answer, Outcome, State, report

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKS = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "locks").glob("*.txt")}
_ENTRY = re.compile(r"^(?P<what>[\w.-]+==.*?) \\\n(?P<hashes>(?:    --hash=.*\n)+)", re.MULTILINE)
_PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")


def pins(lock: str, python: str) -> dict[str, Version]:
    """Return what a lock installs on Linux with this Python."""
    system = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": "linux"}
    found = [Requirement(entry["what"]) for entry in _ENTRY.finditer(LOCKS[lock])]
    return {
        canonicalize_name(each.name): Version(next(iter(each.specifier)).version)
        for each in found
        if each.marker is None or each.marker.evaluate(system)
    }


def group(name: str) -> list[Requirement]:
    """Return what a group of pyproject.toml asks for, with the groups in it."""
    wanted = []
    for each in PROJECT["dependency-groups"][name]:
        wanted += group(each["include-group"]) if isinstance(each, dict) else [Requirement(each)]
    return wanted


def for_users() -> list[Requirement]:
    project = PROJECT["project"]
    extras = [each for extra in project["optional-dependencies"].values() for each in extra]
    return [Requirement(each) for each in [*project["dependencies"], *extras]]


def meant(requirement: Requirement, python: str) -> bool:
    system = {"python_version": python, "python_full_version": f"{python}.0"}
    return requirement.marker is None or requirement.marker.evaluate(system)


@pytest.mark.parametrize("python", _PYTHONS)
@pytest.mark.parametrize("name", ["audit", "build", "site", "tools"])
def test_a_lock_has_what_its_group_asks_for(name: str, python: str) -> None:
    """After a change of pyproject.toml: make lock."""
    pinned = pins(name, python)
    runtime = [Requirement(each) for each in PROJECT["project"]["dependencies"]]
    for each in [*runtime, *group(name)]:
        if meant(each, python):
            assert pinned[canonicalize_name(each.name)] in each.specifier, each


def test_the_locks_agree_with_each_other() -> None:
    for python in _PYTHONS:
        tools = pins("tools", python)
        for name in ("audit", "build", "site"):
            both = pins(name, python).items() & tools.items()
            assert len(both) == len(pins(name, python).keys() & tools.keys()), name


def test_the_oldest_versions_are_those_that_are_promised() -> None:
    pinned = pins("oldest", "3.10")
    for each in for_users():
        (bound,) = each.specifier
        assert bound.operator == ">=", each
        assert pinned[canonicalize_name(each.name)] == Version(bound.version), each


@pytest.mark.parametrize("name", sorted(LOCKS))
def test_a_lock_has_versions_and_hashes_and_names_no_host(name: str) -> None:
    text = LOCKS[name]
    entries = [line for line in text.splitlines() if line[0] not in " #"]
    assert [entry["what"] for entry in _ENTRY.finditer(text)] == [
        line.removesuffix(" \\") for line in entries
    ]
    assert entries
    assert "://" not in text
    assert not re.search(r"^\s*-(?!-hash=sha256:[0-9a-f]{64}\b)", text, re.MULTILINE)


# WHAT A CHECK SAYS


def cargo_deny(kind: str, **fields: Any) -> Answer:
    line = json.dumps({"type": kind, "fields": fields})
    return Answer(succeeded=False, out="", err=f"{line}\n")


def test_advisories_without_a_database_are_not_checked() -> None:
    outcome = advisories(cargo_deny("log", level="ERROR", message="failed to fetch: no host\nmore"))
    assert outcome.state is State.NOT_CHECKED
    assert "none was fetched: failed to fetch: no host" in outcome.reason
    assert advisories(Answer(succeeded=False, out="", err="")).state is State.NOT_CHECKED


def test_an_advisory_is_named_with_its_crate() -> None:
    outcome = advisories(cargo_deny("diagnostic", message="overflow", labels=[{"span": "old 0.1.0"}]))
    assert outcome == Outcome("advisories of crates", State.FAILED, "overflow: old 0.1.0")
    assert advisories(Answer(succeeded=True, out="", err="")).state is State.PASSED


def pip_audit(*dependencies: dict[str, Any]) -> Outcome:
    return packages(Answer(succeeded=True, out=json.dumps({"dependencies": dependencies}), err=""))


def test_a_package_that_nothing_is_known_of_is_not_checked() -> None:
    """pip-audit itself ends with status 0 then, and says that no vulnerabilities were found."""
    clean = {"name": "a", "version": "1", "vulns": []}
    assert pip_audit(clean).state is State.PASSED
    outcome = pip_audit(clean, {"name": "b", "skip_reason": "not found"})
    assert outcome.state is State.NOT_CHECKED
    assert outcome.reason == "no answer about 1 of 2 packages; the first: not found"
    assert pip_audit().state is State.NOT_CHECKED
    assert packages(Answer(succeeded=False, out="", err="no network")).reason == "no network"


def test_a_vulnerability_is_named_although_other_packages_were_not_checked() -> None:
    known = {"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1"}, {"id": "PYSEC-2"}]}
    outcome = pip_audit({"name": "b", "skip_reason": "not found"}, known)
    assert outcome.state is State.FAILED
    assert outcome.reason == "a 1: PYSEC-1, PYSEC-2"


def test_what_was_not_checked_fails_where_all_must_be(capsys: pytest.CaptureFixture[str]) -> None:
    left_out = [Outcome("one", State.PASSED), Outcome("two", State.NOT_CHECKED, "no\nnetwork")]
    assert report(left_out, strict=False) == 0
    assert capsys.readouterr().out == "passed: one\nNOT CHECKED: two\n    no\n    network\n"
    assert report(left_out, strict=True) == 1
    assert report([Outcome("three", State.FAILED, "bad")], strict=False) == 1
