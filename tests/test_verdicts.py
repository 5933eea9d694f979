"""What the page of deviations says of claims is what their files and the last run say."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from clearway.paper import claims, papers, reading, verdicts
from clearway.paper.claim_rules import is_extension

from tools.verdicts import parts, record

TEXT = parts.PAGE.read_text(encoding="utf-8")


def test_the_page_is_what_would_be_made() -> None:
    assert parts.parts_in(TEXT) == ["claims of fastpass", "kinds of claims", "claims of swing"]
    assert parts.with_parts(TEXT) == TEXT, "make it anew: python -m tools.verdicts"


def test_a_word_that_was_edited_does_not_stay() -> None:
    row = next(line for line in TEXT.splitlines() if line.startswith("| Takeover:"))
    edited = TEXT.replace(row, row.replace(verdicts.EXTENSION, verdicts.REPRODUCED))
    assert edited != TEXT
    assert parts.with_parts(edited) == TEXT


@pytest.mark.parametrize(("paper", "sections"), [("Fastpass", 6), ("Swing", 1)])
def test_a_paper_has_no_verdict_that_is_not_made(paper: str, sections: int) -> None:
    """In its sections only what is made, and the sentences that define it, has these words."""
    parts_of_page = re.split(r"^(?=## )", TEXT, flags=re.MULTILINE)
    found = [part for part in parts_of_page if part.startswith(f"## {paper}")]
    assert len(found) >= sections
    for section in found:
        by_hand = re.sub(r"<!-- made by .*?<!-- end of what is made -->", "", section, flags=re.DOTALL)
        cells = [
            cell.strip() for line in by_hand.splitlines() if line.startswith("|") for cell in line.split("|")
        ]
        words = (*verdicts.VERDICTS, *verdicts.EXTENSIONS)
        assert not [cell for cell in cells if re.match(rf"({'|'.join(words)})\b", cell)]


def test_an_entry_is_void_when_its_claim_or_its_runs_change() -> None:
    experiment = reading.read(papers.paper_named("fastpass"), "figA", full=False)
    claim = next(each for each in experiment.claims if "control" in each)
    before = record.fingerprint(experiment, claim)
    assert record.fingerprint(experiment, {**claim, "holds": {"within": 0.5}}) != before
    for name in ("cubic", "unframed"):  # what it measures, and its control
        runs = [
            replace(run, overrides={**run.overrides, "duration": "1s"}) if run.name == name else run
            for run in experiment.runs
        ]
        assert record.fingerprint(replace(experiment, runs=runs), claim) != before
    others = [run for run in experiment.runs if run.name not in {"late", "stalls"}]
    assert record.fingerprint(replace(experiment, runs=others), claim) == before


def test_a_claim_without_an_entry_says_what_it_can_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(record, "FOLDER", tmp_path)
    made = parts.with_parts(TEXT)
    assert "not run since it was changed; reproduced at best" in made
    assert "The last whole run" not in made


@pytest.mark.parametrize("paper", ["fastpass", "swing"])
def test_the_record_is_whole_and_says_no_more_than_its_claims_can(paper: str) -> None:
    kept = record.read(paper)
    assert kept is not None
    for experiment in reading.experiments(papers.paper_named(paper), [], full=False):
        for claim in experiment.claims:
            entry = kept.of(experiment, claim)
            assert entry is not None, f"{claim['text']}: python -m tools.verdicts --run {paper}"
            word = entry.verdict.partition(",")[0]
            assert (word in verdicts.EXTENSIONS) == is_extension(claim)
            good = {*verdicts.VERDICTS, *verdicts.EXTENSIONS} - {verdicts.SHAPE, *verdicts.FAILED}
            assert word not in good or word == claims.best(claim)
            if paper == "fastpass":
                assert "holds of the control" not in entry.reason, claim["text"]
            assert "control could not be measured" not in entry.reason, claim["text"]
            assert bool(entry.control) == ("control" in claim)
