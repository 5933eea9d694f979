"""Config files of the ns-3 simulators of HPCC and ConWeave: a key a line, and its values.

`ns3_rules` says what becomes of the values. Text in braces, as HPCC's config_doc.txt has it, is a comment.
"""

from __future__ import annotations

import re

from clearway.importing.ns3_rules import KNOWN, WITHOUT_EFFECT, Ns3Rules
from clearway.importing.ns3_values import Config
from clearway.importing.parts import Choices, Format, Settings, counted
from clearway.importing.source import Source, brief

_KEY = re.compile(r"[A-Z][A-Z0-9_]*")
_SIGNS = {"CC_MODE", "TOPOLOGY_FILE", "FLOW_FILE", "PACKET_PAYLOAD_SIZE", "ENABLE_QCN", "BUFFER_SIZE"}
_MAPS = ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP")


def _recognises(source: Source) -> bool:
    return bool(_SIGNS & {line.words[0] for line in source.lines()})


def _read(source: Source, _: Choices) -> Settings:
    config = Config(source)
    for line in source.lines("#"):
        key, *words = line.words
        values = _before_comment(words)
        if not _KEY.fullmatch(key) or not values:
            what = "has no value" if _KEY.fullmatch(key) else "is no key of a config file"
            raise source.error(line.number, f"{brief(key)}: {what}", "write a key and its value: CC_MODE 3")
        if key in config.values:
            raise source.error(line.number, f"{key}: is there twice", "remove one")
        config.values[key], config.lines[key] = values, line.number
        if key in KNOWN and key not in (*_MAPS, "LINK_DOWN") and len(values) != 1:
            raise source.error(line.number, f"{key}: found {len(values)} values, expected one", "correct it")
    rules = Ns3Rules(config)
    named = {
        kind: config.values[key][0]
        for kind, key in (("network", "TOPOLOGY_FILE"), ("flows", "FLOW_FILE"))
        if key in config.values
    }
    part = Settings(source, counted(settings=len(config.values)), named=named, rules=rules)
    part.assumed += rules.assumed
    part.lost += rules.lost + _left_out(config)
    return part


def _before_comment(words: list[str]) -> list[str]:
    """Return the words before one that begins with a brace."""
    comment = next((place for place, word in enumerate(words) if word.startswith("{")), len(words))
    return words[:comment]


def _left_out(config: Config) -> list[str]:
    """Say which keys have no place in a scenario."""
    quiet = [key for key in config.values if key in WITHOUT_EFFECT or key.endswith(("_FILE", "_OUTPUT"))]
    rest = [key for key in config.values if key not in KNOWN and key not in quiet]
    output = [key for key in quiet if key not in ("TOPOLOGY_FILE", "FLOW_FILE")]
    remarks = []
    if output:
        remarks.append(
            f"what is recorded ([record] says it here), and how flows were made: {', '.join(output)}"
        )
    if rest:
        remarks.append(f"without a counterpart here: {', '.join(rest)}")
    return remarks


FORMAT = Format("ns3-config", "config of HPCC's and ConWeave's ns-3", _recognises, _read)
