"""Whether a made scenario still shows what was found in its recording.

A naive agent plays the scenario. Each recorded finding is looked for in that run, by its check and
the turn of the user in which it stands. One that is not found is lost, and the report says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import msgspec

from harness.core.history.events import Called
from harness.core.history.history import History
from harness.core.history.repetition import REPEATS, equal_runs
from harness.core.values.errors import InputError
from harness.core.values.messages import canonical, side
from harness.core.values.verdict import Finding
from harness.recordings.importing.dialogue import (
    Dialogue,
    DialogueStep,
    ModelTurn,
    UserTurn,
    cut_at,
)
from harness.recordings.transcripts import Transcript

_REQUEST_CHECKS = (
    "append_only_prefix", "nonblank_content", "role_alternation", "tool_pairing",
    "unique_tool_ids", "valid_request", "wellformed_text",
)  # fmt: skip
"""Checks that look at what the agent sends."""

_DAMAGE = ("tool_pairing", "valid_request")
"""Checks whose findings make every later request one that is refused."""

_REFUSED = "valid_request"
_ENDINGS = (_REFUSED, "script.exhausted", "limit.", "target.", "run.")


class FindingPlace(msgspec.Struct, frozen=True):
    """A finding and the turn of the user in which it stands, from 1; 0 before the first."""

    code: str
    turn: int

    @property
    def check(self) -> str:
        """The check that found it."""
        return self.code.rpartition(".")[0]

    @property
    def is_of_requests(self) -> bool:
        """Whether it is about what the agent sends, and not about what it stores."""
        return self.check in _REQUEST_CHECKS and not self.code.endswith(".store")


class FindingFate(msgspec.Struct, frozen=True):
    """What became of a recorded finding.

    `shown` is the code under which a naive agent shows it, else `lost` says why it does not. A
    scenario from turn `at` on shows it sooner, or has it in its session; 0: no turn does.
    """

    place: FindingPlace
    shown: str = ""
    lost: str = ""
    at: int = 0


def places_in_transcript(
    findings: Sequence[Finding], history: History, transcript: Transcript, story: Dialogue
) -> tuple[FindingPlace, ...]:
    """Where findings over `history` stand, which is the history of the transcript."""
    asked = [e.n for e in history.events if isinstance(e, Called) and e.seam == "model"]
    said = transcript.said
    answers = [at for at, message in enumerate(said) if side(message) == "assistant"]
    ends = (*answers, *([len(said)] * len(asked)))
    turns = [step.at for step in story.steps if isinstance(step, UserTurn)]

    def turn_of(event_n: int) -> int:
        number = max(0, sum(n <= event_n for n in asked) - 1)
        return sum(at <= ends[number] for at in turns) if asked else 0

    return _places(findings, turn_of)


def places_in_history(findings: Sequence[Finding], history: History) -> tuple[FindingPlace, ...]:
    """Where the findings over a run stand."""
    heard = [d.n for d in history.trace.deliveries if d.inbound.kind == "message"]
    return _places(findings, lambda event_n: sum(n <= event_n for n in heard))


def _places(findings: Sequence[Finding], turn_of: Callable[[int], int]) -> tuple[FindingPlace, ...]:
    found = (FindingPlace(f.code, turn_of(min(f.events)) if f.events else 0) for f in findings)
    return tuple(dict.fromkeys(found))


def turns_of(story: Dialogue) -> int:
    """How many turns of the user a recording has."""
    return sum(isinstance(step, UserTurn) for step in story.steps)


def fates(
    recorded: Sequence[FindingPlace],
    played: Sequence[FindingPlace],
    story: Dialogue,
    at: int | None,
) -> tuple[FindingFate, ...]:
    """What became of each recorded finding in the play of a naive agent.

    `played` are the findings of that run; the scenario begins with turn `at` of the recording.
    """
    first = (at or 1) - 1
    moved = [FindingPlace(one.code, one.turn + first) for one in played]
    damaged = min((one.turn for one in recorded if one.check in _DAMAGE), default=turns_of(story))
    codes = _codes(moved)
    found = (_fate(one, moved, codes, story, at or 1) for one in recorded)
    return tuple(
        one if one.place.is_of_requests or one.at <= damaged else _here(one) for one in found
    )


_ANY = 0
"""The place of a finding that may be shown again in every turn."""

_Codes = dict[tuple[str, int], dict[str, None]]


def _codes(played: Sequence[FindingPlace]) -> _Codes:
    """The codes of the findings of a run, by their check and turn. A log may show a thousand."""
    codes: _Codes = {}
    for one in played:
        for turn in (one.turn, _ANY):
            codes.setdefault((one.check, turn), {})[one.code] = None
    return codes


def _here(fate: FindingFate) -> FindingFate:
    """The fate without a turn to begin with: the session there is one that providers refuse."""
    return msgspec.structs.replace(fate, at=0)


def _fate(
    one: FindingPlace, played: Sequence[FindingPlace], codes: _Codes, story: Dialogue, at: int
) -> FindingFate:
    """A request shows again what stands in the session; other findings need their turn."""
    of_requests = one.is_of_requests
    if one.turn < at and not of_requests:
        return FindingFate(one, lost=f"it stands before turn {at}", at=one.turn)
    checks = (one.check, _REFUSED) if of_requests else (one.check,)
    turn = one.turn if one.turn >= at else _ANY
    alike = [code for check in checks for code in codes.get((check, turn), ())]
    if alike:
        shown = one.code if one.code in alike else alike[0]
        return FindingFate(one, shown=shown, at=one.turn if one.turn > at else 0)
    if of_requests:
        begins = one.turn + 1 if _is_answered_from(story, one.turn + 1) else 0
        return FindingFate(one, lost=_SENT, at=begins if begins > at else 0)
    return FindingFate(one, lost=_reason(one, played, story), at=one.turn if one.turn > at else 0)


_SENT = "it is in what the recorded agent sent, and a naive agent sends its own"


def _reason(one: FindingPlace, played: Sequence[FindingPlace], story: Dialogue) -> str:
    if one.check == "expect":
        return "a run does not keep what its scenario expected: add it to `expect`"
    if one.check == "no_progress_stop" and (why := _loop_reason(one, story)):
        return why
    ended = next((p.code for p in played if p.code.startswith(_ENDINGS)), "")
    if ended:
        return f"the play does not come to it: {ended}"
    return "a naive agent does not do it: play the agent that did"


def _is_answered_from(story: Dialogue, turn: int) -> bool:
    """Whether a scenario can begin with a turn."""
    try:
        return bool(cut_at(story, turn))
    except InputError:
        return False


def _loop_reason(one: FindingPlace, story: Dialogue) -> str:
    """Why a loop of a recording does not count in a run; "" if nothing in the recording says so."""
    made = list(_calls_of(story.steps, one.turn))
    by_call = one.code.endswith("_call")
    keys = [m.call if by_call else m.failure for m in made]
    longest = max(equal_runs(keys), key=itemgetter(1), default=None)
    if longest is None:
        return "its calls stand in several turns of the user, or in one message"
    start, length = longest
    run = made[start : start + length]
    if length <= REPEATS:
        return f"a run shows it at the {REPEATS + 1}th time, and it stands there {length} times"
    if by_call and all(n <= REPEATS for _, n in equal_runs([m.result for m in run])):
        return "its results differ, which in a run is progress"
    changed = len({m.call for m in run[:-1]}) == 1 and run[-1].call != run[0].call
    if not by_call and length == REPEATS + 1 and changed:
        return f"after {REPEATS} equal failures one changed call is not a repetition in a run"
    return ""


class _Made(NamedTuple):
    """A call, what it gave, and how it failed, if it did."""

    call: tuple[str, str]
    result: tuple[str, bool]

    @property
    def failure(self) -> tuple[str, str] | None:
        text, failed = self.result
        return (self.call[0], text) if failed else None


def _calls_of(steps: Sequence[DialogueStep], turn: int) -> Iterator[_Made]:
    """The calls in a turn of the user; equal ones of one message are one."""
    number = 0
    for step in steps:
        number += isinstance(step, UserTurn)
        if isinstance(step, ModelTurn) and number == turn:
            made = (
                _Made((use.name, canonical(use.input)), (r.text, r.is_error) if r else ("", False))
                for use, r in step.calls
            )
            yield from (one for one, _ in groupby(made))
