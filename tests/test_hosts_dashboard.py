"""The dashboard that comes with Clearway: its file, and its queries against a real Prometheus."""

import json

import pytest

from tools.hosts.dashboard import DASHBOARD, PACKAGING, lines, missing, queries

pytestmark = pytest.mark.slow


def test_each_query_has_a_result_in_a_real_prometheus() -> None:
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    told = list(lines())
    assert len([line for line in told if line.startswith("dashboard ")]) == len(queries())
    assert [line for line in told if "EMPTY" in line] == []
    rules = [line for line in told if line.startswith("rule ")]
    assert len(rules) == 8
    assert all(line.endswith(": ok") for line in rules), rules


def test_panels_do_not_overlap_and_have_queries_of_their_own() -> None:
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    places = [
        (panel["gridPos"]["x"] + x, panel["gridPos"]["y"] + y)
        for panel in panels
        for x in range(panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["h"])
    ]
    assert len(places) == len(set(places))
    assert max(x for x, _ in places) < 24
    assert all(panel["targets"] and panel["title"] for panel in panels)
    expressions = [query.expression for query in queries()]
    assert len(expressions) == len(set(expressions))
    assert not [query for query in queries() if "$" in query.filled]


def test_the_unit_of_a_relay_names_files_of_its_instance() -> None:
    unit = (PACKAGING / "clearwayd-relay@.service").read_text(encoding="utf-8")
    assert "EnvironmentFile=/etc/clearway/relay-%i.env\n" in unit
    words = "--local ${LOCAL} --remote ${REMOTE} --config /etc/clearway/relay-%i.toml\n"
    assert f"ExecStart=/usr/bin/clearwayd relay {words}" in unit


def test_the_unit_and_the_settings_name_the_same_file() -> None:
    unit = (PACKAGING / "clearwayd-agent.service").read_text(encoding="utf-8")
    assert "ExecStart=/usr/bin/clearwayd agent --config /etc/clearway/agent.toml\n" in unit
    assert (PACKAGING / "agent.toml").exists()
