"""Fidelity: what a recording lacked when it became a scenario, and how that was filled.

The report heads the file: readers of a verdict must tell recorded results from placeholders.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec


class Gap(msgspec.Struct, frozen=True):
    """One way in which a scenario is not its recording, in a sentence about one such place.

    `filled`: something that was never recorded stands there.
    """

    says: str
    filled: bool = False


ACTIONS = Gap("a command that is not an object is called with one that holds it as `action`")
ADJACENT = Gap("an assistant message that follows another one is one with it")
ASKED_TWICE = Gap("a user message without an answer is one with the message after it")
BESIDE_RESULTS = Gap("a text beside tool results is left out: an inbox has none in mid-turn")
EARLIER = Gap("a message from before stands in the session to begin with")
FAILURES = Gap("a failure of the model is a fault; who stops early never meets it")
IMAGES = Gap("an image or another attachment is named by a line of text", filled=True)
INFERRED_SCHEMAS = Gap("a tool is not declared: its schema is inferred from its calls")
BAD_REQUESTS = Gap(
    "a refusal of what the recorded agent sent is left out: the fake model refuses it by itself"
)
INTERRUPTED = Gap("an answer that was interrupted is one sentence", filled=True)
NO_LAST_WORD = Gap("a turn ends without an answer: one sentence stands for it", filled=True)
NO_QUESTION = Gap("there is no message of the user: one sentence stands for it", filled=True)
NOT_TEXT = Gap("a block that only its own provider knows is left out")
NOTES = Gap("what the agent wrote after a tool's result is left out")
NOT_RUN = Gap("a result that the agent wrote by itself is left out: the tool did not run")
ORPHANS = Gap("a result that answers no open call is left out: --at keeps it in the session")
OTHERS = Gap("another transcript of the file is not part of it: see --transcript")
ROWS = Gap("a message that the agent wrote in the user's place is left out")
SUMMARIES = Gap("a summary of what was before is left out: the agent under test writes its own")
SUMMARY = Gap("what makes the conversation shorter gets a sentence as its summary", filled=True)
SYSTEM = Gap("the system's texts are left out: the agent under test has its own")
TERMS = Gap("a result in which the tool says that it failed is scripted as an error")
THOUGHTS = Gap("a redacted or empty thought is left out")
WIRE = Gap("the fake model does not speak the provider's API: played as anthropic")


class Fidelity(msgspec.Struct, frozen=True):
    """How near a scenario is to its recording; `results` are the tool results that it needs."""

    results: int = 0
    missing: int = 0
    gaps: tuple[tuple[Gap, int], ...] = ()

    @property
    def replayable(self) -> str:
        """`yes`, or `yes, with placeholders`."""
        filled = self.missing or any(gap.filled for gap, _ in self.gaps)
        return "yes, with placeholders" if filled else "yes"

    def lines(self) -> Iterator[str]:
        """The report: the results that are missing and the conclusion, then each gap."""
        missing = f"{self.missing} of {self.results} tool results missing"
        yield f"{missing}; replayable: {self.replayable}"
        for gap, n in self.gaps:
            yield f"{gap.says} x{n}" if n > 1 else gap.says


class GapLog:
    """The gaps as they are met."""

    def __init__(self) -> None:
        self._gaps: Counter[Gap] = Counter()
        self.results = self.missing = 0

    def note(self, gap: Gap, n: int = 1) -> None:
        """A gap was met, `n` times."""
        self._gaps[gap] += n

    def closed(self) -> Fidelity:
        """The report over all that was noted."""
        gaps = tuple((gap, n) for gap, n in self._gaps.items() if n)
        return Fidelity(self.results, self.missing, gaps)
