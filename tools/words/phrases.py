"""The phrases that no file may have, each with the reason and with what to write in its place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Phrase:
    """A phrase that no file may have."""

    pattern: str
    """A regular expression, with `^` and `$` at the ends of lines."""
    reason: str
    instead: str
    example: str
    """A text that has the phrase once."""
    begins_doc: bool = False
    """Whether it is only wrong as the first words of a doc comment of Rust."""
    suffix: str = ""
    """What the names of the files end in that may not have it; none: all of them."""


_ARGUMENT = "it stands for an argument or a value that has a name"
_NEIGHBOUR = "a doc comment that leans on its neighbour has no subject of its own"
_BOOL = "a function's doc comment says with a verb what is returned"
_NAME = "it is a name of our own, where the field has a word"

PHRASES = (
    # A private grammar.
    Phrase(
        r"\b[Ss]o (many|much)\b(?! that\b)",
        _ARGUMENT,
        "the argument's name (`slots` slots), or: this many, that many",
        "/// The time that so many slots take.",
    ),
    Phrase(
        r"\b[Ff]or so long\b(?! (that|as)\b)",
        _ARGUMENT,
        "the argument's name, or: for this long",
        "/// Pauses the class for so long.",
    ),
    # What a function returns.
    Phrase(
        r"^[ \t]*/// Whether [^\n]*\n(?:[ \t]*///[^\n]*\n)*(?:[ \t]*#\[[^\n]*\n)*"
        r"[ \t]*(?:pub(?:\([^)\n]*\))? )?(?:const |unsafe |async )*fn ",
        _BOOL,
        "Returns whether ...",
        "/// Whether the list is empty.\n#[inline]\npub fn is_empty(&self) -> bool {",
        suffix=".rs",
    ),
    Phrase(
        r"///.*[.;] [Ww]hether (it|one|they|that) "
        r"(did|was|is|were|are|does|was possible|is so|was set|is new)\.",
        _BOOL,
        "Returns whether ...",
        "/// Takes a frame off the account. Whether it did.",
        suffix=".rs",
    ),
    Phrase(
        r"///.*[.;] [Ww]hether there (is|was|are|were) (any|one|room)\b",
        _BOOL,
        "Returns `false`, and does what, if there is none",
        "/// Appends a value. Whether there was room for it.",
        suffix=".rs",
    ),
    Phrase(
        r"///.*[.;] [Hh]ow (many|long|much) (bytes |slots |packets |destinations |places )?"
        r"(it|that|they|there) (takes|is|are)\.",
        _BOOL,
        "Returns how many ...",
        "/// Demands what is missing. How many slots that is.",
        suffix=".rs",
    ),
    # Riddles.
    Phrase(
        r"\b[Nn]one(`)? of (nothing|no message)\b",
        "it says of `None` neither that it is returned nor when",
        "`None` for an empty sample",
        "/// The mean. None of nothing.",
    ),
    Phrase(
        r"/// Seen (before|for the first time)\.",
        "who saw what is not said",
        "A duplicate: this packet had arrived.",
        "    /// Seen before.\n    Duplicate,",
        suffix=".rs",
    ),
    Phrase(
        r"\bTo be given back\b",
        "who gives it back, and how, is not said",
        "Return it with `give_back`.",
        "/// The events of one window. To be given back.",
    ),
    Phrase(
        r"\bthat (is|are) no more\b",
        "it is a riddle",
        "that was dropped, deleted, or has ended",
        "/// A frame that is no more.",
    ),
    Phrase(r"\bparticulars\b", "it is a riddle", "what they are", "/// The particulars of a run."),
    Phrase(
        r"/// (No (samples|values|demand|demands) (yet|between|of)|Nothing to say, with room)\b",
        "what a constructor makes is not said",
        "Returns an empty ...",
        "/// No samples yet, and room for `rows` rows.",
        suffix=".rs",
    ),
    # Fragments.
    Phrase(
        r"The same( (where|with|without|for|of|but|as|to|at|if|in|between|by)\b|[,;.:])",
        _NEIGHBOUR,
        "what it is, or: Does what [`other`] does, where ...",
        "/// The same where the port is busy.\nfn busy() {}",
        begins_doc=True,
    ),
    Phrase(
        r"Those (of|that|after|before|at|which|without|with)\b",
        _NEIGHBOUR,
        "the noun: Packets that ..., Links at which ...",
        "/// Those that arrived.\npub arrived: u64,",
        begins_doc=True,
    ),
    Phrase(
        r"None (where|while|once|if|before|only)\b|None:",
        _NEIGHBOUR,
        "The machine; `None` while ...",
        "/// None while it is dead.\nmachine: Option<Machine>,",
        begins_doc=True,
    ),
    Phrase(
        r"As \[`",
        _NEIGHBOUR,
        "Does what [`other`] does, ...",
        "/// As [`Self::avoid`], where no link is dead.\nfn none() {}",
        begins_doc=True,
    ),
    Phrase(
        r"In ((pico|nano|micro|milli)?seconds|bytes|bits|times|parts)\b",
        _NEIGHBOUR,
        "A time in picoseconds.",
        "/// In picoseconds.\nTime(u64),",
        begins_doc=True,
    ),
    Phrase(
        r"(Of (those|every|each|whom)|By (rack|pod|transport|feature|flow|port)|To whom"
        r"|For (graphs|tables|windows))\b",
        _NEIGHBOUR,
        "the noun, or a verb: For each rack, ...; Returns room for graphs with ...",
        "/// By rack: the switches that it reaches.\nup: Box<[u32]>,",
        begins_doc=True,
    ),
    Phrase(
        r"\"Of (every|each|an?|all) [a-z ]+[.,]",
        "a key's text that leans on the key's name has no subject",
        "The rate of every link.",
        'rate_key("rate", "Of every link.")',
        suffix=".rs",
    ),
    # Names.
    Phrase(r"\bforget_what_is_to_come\b", _NAME, "free_event_memory", "forget_what_is_to_come();"),
    Phrase(r"\btold_in_vain\b", _NAME, "last_signal_lost", "self.told_in_vain = 0;"),
    Phrase(r"\bfn space\(", _NAME, "update_pacing_gap", "fn space(&mut self) {", suffix=".rs"),
    Phrase(r"(\bfn |\.)land\(", _NAME, "receive_data", "self.land(frame);", suffix=".rs"),
    Phrase(r"(\bfn |\.)noted\(", _NAME, "tracked_packets", "protocol.noted()", suffix=".rs"),
    Phrase(r"\bLaying\b", _NAME, "RoutePlanner", "`Laying::agents` draws the routes"),
    Phrase(
        r"\b(enum|struct|trait) (Standing|Ways?|WayFinder|Wiring|Turn)\b",
        _NAME,
        "what it is: LinkState, TermOrder, ShortestPaths, RunMode, PortBuilder, NextToSend",
        "enum Standing {",
        suffix=".rs",
    ),
)
