"""Measures of links that fail, on made-up tables."""

import math
from typing import Any

import numpy as np
import pytest
from clearway.errors import ClearwayError

from tests.test_paper import made_up, measures


def ended(named: str, *faults: dict[str, Any], role: str = "primary") -> Any:
    """A run with these faults, whose first of two arbiters takes these links for failed at the end."""
    arbiters = {"role": np.array([role, "standby"]), "failed_links": np.array([named, "tor7>spine7"])}
    return made_up(tables={"arbiters": arbiters}, scenario={"fault": list(faults)})


UP = {"kind": "loss", "link": "tor0>spine1"}
CABLE = {"kind": "down", "link": "tor1-spine0"}
CRASH = {"kind": "crash", "arbiter": 1}


def test_the_links_that_are_named_are_those_with_a_fault() -> None:
    assert measures.named_faults(ended("tor0>spine1", UP, CRASH)) == 1
    assert measures.named_faults(ended("spine0>tor1 tor1>spine0", CABLE)) == 1
    assert measures.named_faults(ended("from h3 to h4", {"link": "h3>tor0"}, {"link": "tor0>h4"})) == 1


def test_a_link_that_is_not_named_counts_as_one_that_is_named_wrongly() -> None:
    assert measures.named_faults(ended("", UP)) == 0
    assert measures.named_faults(ended("spine1>tor0", UP)) == 0
    assert measures.named_faults(ended("tor0>spine1 spine1>tor2", UP)) == 0.5
    assert measures.named_faults(ended("tor1>spine0", CABLE)) == 0.5
    assert measures.named_faults(ended("tor0>spine1 from h0", UP, CABLE)) == 0.25
    assert measures.named_faults(ended("tor0>spine1", CRASH)) == 0


def test_where_no_link_has_a_fault_and_none_is_named_there_is_no_share() -> None:
    assert math.isnan(measures.named_faults(ended("", CRASH)))
    with pytest.raises(ClearwayError, match="the first arbiter is dead"):
        measures.named_faults(ended("", UP, role="dead"))
