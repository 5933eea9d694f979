"""What `clearway demo` runs and shows: each system beside what it is held against, in seconds.

A part is one question, the scenarios that answer it, the figures to look at, and a sentence made from them.
"""

from clearway.demonstration.demonstration import PAGE, SCENARIOS, Demonstration

__all__ = ["PAGE", "SCENARIOS", "Demonstration"]
