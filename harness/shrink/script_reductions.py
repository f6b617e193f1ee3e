"""Reductions of the model's script: turns go with what belongs to them, and become simpler.

A tool answers in script order, so a turn goes with the outcomes of its calls. Equal neighbours
become one turn with `times`, so a dozen runs reduce 500 turns. Cutting alone keeps a call that does
not matter, so one plain word is tried where any answer would do. A tool that no turn calls goes
with the call. At last turns get the short form: `say`, `think` and `use` in place of blocks.

In the stored session a call is removed with its results, a result with its call. A valid session is
only cut to another valid one: an invalid session would cause other findings. A damaged session may
be cut anywhere, because its damage causes the finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from msgspec.structs import replace

from harness.core.scenario.scenario import Scenario, SeedMessage, Times, ToolScript, ToolTurn, Turn
from harness.core.scenario.script import FOREVER, called, count
from harness.core.values.messages import Json
from harness.shrink.delta_debugging import Candidates, fewer, in_turn, lowered, mapped
from harness.shrink.scenario_size import turns_of, with_turn

Block = dict[str, Json]


def messages(scenario: Scenario) -> Candidates[Scenario]:
    """Remove messages. If one half of a call and its result is removed, so is the other half."""
    stored = scenario.session.messages
    return fewer(stored, lambda left: with_messages(scenario, _mended(stored, left)))


def calls(scenario: Scenario) -> Candidates[Scenario]:
    """Remove calls and their results, in any messages."""
    stored = scenario.session.messages
    ids = sorted(_ids(stored, "tool_use") | _ids(stored, "tool_result"))

    def only(left: list[str]) -> Scenario:
        gone = {*ids} - {*left}
        return with_messages(scenario, _filtered(stored, lambda b: str(b.get("id")) not in gone))

    return fewer(ids, only)


def is_whole(stored: Sequence[SeedMessage]) -> bool:
    """Whether a session alternates from the user to the assistant, with a result to each call."""
    asked: list[Json] = []
    for n, message in enumerate(stored):
        answers = [b.get("id") for b in blocks_of(message) if b.get("type") == "tool_result"]
        if message.role != ("user", "assistant")[n % 2] or sorted(map(str, answers)) != asked:
            return False
        asked = sorted(str(b.get("id")) for b in blocks_of(message) if b.get("type") == "tool_use")
    return len(stored) % 2 == 0 and not asked


def with_messages(scenario: Scenario, stored: Sequence[SeedMessage]) -> Scenario:
    """The scenario with another stored session."""
    session = replace(scenario.session, messages=tuple(stored))
    return replace(scenario, session=session)


def _mended(before: Sequence[SeedMessage], left: Sequence[SeedMessage]) -> list[SeedMessage]:
    """What is left, without the halves of pairs whose other half is gone."""
    pairs = _ids(before, "tool_use") & _ids(before, "tool_result")
    torn = pairs - (_ids(left, "tool_use") & _ids(left, "tool_result"))
    return _filtered(left, lambda b: str(b.get("id")) not in torn) if torn else list(left)


def _filtered(stored: Sequence[SeedMessage], stays: Callable[[Block], bool]) -> list[SeedMessage]:
    """The messages with the blocks that stay; one that loses all of its blocks goes."""
    left = []
    for message in stored:
        blocks = tuple(block for block in blocks_of(message) if stays(block))
        if len(blocks) == len(blocks_of(message)):
            left.append(message)
        elif blocks:
            left.append(replace(message, content=blocks))
    return left


def blocks_of(message: SeedMessage) -> Sequence[Block]:
    """The blocks of a stored message; none of one that is a text."""
    return () if isinstance(message.content, str) else message.content


def _ids(stored: Sequence[SeedMessage], kind: str) -> set[str]:
    blocks = (block for message in stored for block in blocks_of(message))
    return {str(b.get("id")) for b in blocks if b.get("type") == kind and b.get("id")}


Span = tuple[int, int]


def windows(scenario: Scenario) -> Candidates[Scenario]:
    """Only a few consecutive turns of a long script stay, anywhere in it.

    What a run costs grows faster than its turns, so all the short windows of a long script cost
    less than the script played once; and what repeats is in one of them.
    """
    every = range(len(turns_of(scenario)))
    for width in WINDOWS if len(every) >= LONG else ():
        for start in range(0, len(every), width // 2):
            kept = every[start : start + width]
            if (yield _without(scenario, {*every} - {*kept})):
                return


LONG = 64
"""A script of a given number of turns is long."""

WINDOWS = (8, 32)
"""How many consecutive turns are tried alone."""


def rounds(scenario: Scenario) -> Candidates[Scenario]:
    """Whole rounds go: messages of the user with the turns that answer them."""
    found = _rounds(turns_of(scenario))
    messages = [n for n, item in enumerate(scenario.inbox) if item.kind == "message"]
    every, last = range(len(found)), len(found) - 1

    def only(left: list[int]) -> Scenario:
        gone = {*every} - {*left}
        turns = {place for n in gone for place in found[n]}
        unheard = {m for n, m in enumerate(messages) if min(n, last) in gone}
        inbox = tuple(item for n, item in enumerate(scenario.inbox) if n not in unheard)
        return replace(_without(scenario, turns), inbox=inbox)

    if min(len(found), len(messages)) > 1:
        yield from fewer(every, only)


def turns_with_outcomes(scenario: Scenario) -> Candidates[Scenario]:
    """Turns go, with the outcomes of the tools that they call."""
    every = range(len(turns_of(scenario)))
    return fewer(every, lambda left: _without(scenario, {*every} - {*left}))


def _rounds(script: Sequence[Turn]) -> list[list[int]]:
    """The places of the main turns, round by round; a turn without a call ends a round."""
    found: list[list[int]] = [[]]
    ended = False
    for place, turn in enumerate(script):
        if turn.purpose != "main":
            continue
        if ended and turn.when is None:
            found.append([])
            ended = False
        found[-1].append(place)
        ended = ended or (turn.when is None and not called(turn))
    return [places for places in found if places]


def _without(scenario: Scenario, gone: Collection[int]) -> Scenario:
    """The scenario without these turns and the outcomes of their calls."""
    script, spans = turns_of(scenario), _spans(turns_of(scenario), gone)
    kept = tuple(turn for n, turn in enumerate(script) if n not in gone)
    tools = {name: _cut(tool, spans.get(name, [])) for name, tool in scenario.tools.items()}
    return replace(scenario, script=kept, tools=tools)


def _spans(script: Sequence[Turn], gone: Collection[int]) -> dict[str, list[Span]]:
    """Which calls of each tool the turns make that are gone: from, to (exclusive)."""
    spans: dict[str, list[Span]] = {}
    made: Counter[str] = Counter()
    for place, turn in enumerate(script):
        for name, calls in Counter(called(turn)).items():
            start = made[name]
            made[name] += calls * count(turn.times)
            if place in gone:
                _add(spans.setdefault(name, []), (start, made[name]))
    return spans


def _add(spans: list[Span], span: Span) -> None:
    """Add a span after the others; one that goes on where the last ends is one with it."""
    if spans and spans[-1][1] == span[0]:
        span = spans.pop()[0], span[1]
    spans.append(span)


def _cut(tool: ToolScript, spans: Sequence[Span]) -> ToolScript:
    """The tool without the outcomes of these calls; a turn that repeats forever stays."""
    left: list[ToolTurn] = []
    start = 0
    for outcome in tool.script:
        if outcome.times == "forever":
            left.append(outcome)
            continue
        end = start + outcome.times
        times = outcome.times - sum(max(0, min(end, b) - max(start, a)) for a, b in spans)
        start = end
        left += [replace(outcome, times=times)] if times else []
    return replace(tool, script=tuple(left))


_T = TypeVar("_T", Turn, ToolTurn)


def folded_turns(scenario: Scenario) -> Candidates[Scenario]:
    """Equal neighbours of the script become one: all at once, then stretch by stretch."""
    script = turns_of(scenario)
    for turns in (_folded(script), *_each_folded(script)):
        if (yield replace(scenario, script=turns)):
            return


def folded_outcomes(scenario: Scenario) -> Candidates[Scenario]:
    """Equal neighbours of each tool's script become one; the last one repeats forever."""
    yield from in_turn(scenario, [partial(_tool_folded, name) for name in scenario.tools])


def fewer_times(scenario: Scenario) -> Candidates[Scenario]:
    """Every turn of the script repeats as few times as it can."""
    yield from in_turn(scenario, [partial(_fewer_times, n) for n in range(len(turns_of(scenario)))])


def _fewer_times(place: int, scenario: Scenario) -> Candidates[Scenario]:
    turn = turns_of(scenario)[place]
    times = lowered(min(count(turn.times), _OFTEN))
    return mapped(times, lambda n: with_turn(scenario, place, replace(turn, times=n)))


_OFTEN = 4096
"""A turn that repeats forever is tried up to this many times."""


def _tool_folded(name: str, scenario: Scenario) -> Candidates[Scenario]:
    tool = scenario.tools[name]
    folded = _folded(tool.script)
    endless = [replace(turn, times="forever") for turn in folded[-1:]]
    for script in ((*folded[:-1], *endless), folded):
        changed = replace(tool, script=script)
        if (yield replace(scenario, tools={**scenario.tools, name: changed})):
            return


def _folded(script: Sequence[_T]) -> tuple[_T, ...]:
    folded: list[_T] = []
    for turn in script:
        if folded and _is_same(folded[-1], turn):
            times = count(folded[-1].times) + count(turn.times)
            both: Times = "forever" if times >= FOREVER else times
            folded[-1] = replace(turn, times=both)
        else:
            folded.append(turn)
    return tuple(folded)


def _each_folded(script: tuple[Turn, ...]) -> Iterator[tuple[Turn, ...]]:
    """The script with one stretch of equal neighbours folded, for each stretch."""
    start = 0
    for end in range(1, len(script) + 1):
        if end == len(script) or not _is_same(script[start], script[end]):
            if end - start > 1:
                yield (*script[:start], *_folded(script[start:end]), *script[end:])
            start = end


def _is_same(one: _T, other: _T) -> bool:
    return one == replace(other, times=one.times)


PLAIN = Turn(say="Yes.")


def plain_answers(scenario: Scenario) -> Candidates[Scenario]:
    """One plain answer in place of the script, else in place of each turn that is more."""
    if (yield _with(scenario, (PLAIN,))):
        return
    yield from in_turn(scenario, [partial(_plain, n) for n in range(len(turns_of(scenario)))])


def _plain(place: int, scenario: Scenario) -> Candidates[Scenario]:
    script = turns_of(scenario)
    answer = replace(PLAIN, purpose=script[place].purpose)
    if script[place] != answer:
        yield _with(scenario, (*script[:place], answer, *script[place + 1 :]))


def _with(scenario: Scenario, script: tuple[Turn, ...]) -> Scenario:
    """The scenario with another script, and the tools that it calls or a fault is on."""
    used = {name for turn in script for name in called(turn)}
    used |= {fault.on.removeprefix("tool:") for fault in scenario.faults}
    tools = {name: tool for name, tool in scenario.tools.items() if name in used}
    return replace(scenario, script=script, tools=tools)


_SHORT = {"thinking": ("text", "think"), "text": ("text", "say"), "tool_use": ("name", "use")}
"""Block types in the order in which the short form says them: the field, and the key for it."""


def short_forms(scenario: Scenario) -> Candidates[Scenario]:
    """Turns and messages that the short form can write are written in it."""
    turns = [partial(_short_turn, place) for place in range(len(turns_of(scenario)))]
    stored = [partial(_short_message, place) for place in range(len(scenario.session.messages))]
    yield from in_turn(scenario, [*turns, *stored])


def _short_turn(place: int, scenario: Scenario) -> Candidates[Scenario]:
    turn = _short(turns_of(scenario)[place])
    if turn is not None:
        yield with_turn(scenario, place, turn)


def _short(turn: Turn) -> Turn | None:
    """The turn without blocks; None if the short form cannot say it."""
    if not turn.blocks or any(p is not None for p in (turn.say, turn.think, turn.use)):
        return None
    types = [block.get("type") for block in turn.blocks]
    if types != [kind for kind in _SHORT if kind in types]:
        return None
    said: dict[str, Any] = {}
    for block in turn.blocks:
        field, key = _SHORT[str(block["type"])]
        said[key] = block.get(field, "")
        if key == "use" and block.get("input"):
            said["input"] = block["input"]
    return replace(turn, blocks=(), **said)


def _short_message(place: int, scenario: Scenario) -> Candidates[Scenario]:
    stored = scenario.session.messages
    text = _only_text(stored[place].content)
    if text is not None:
        message = SeedMessage(role=stored[place].role, content=text)
        yield with_messages(scenario, (*stored[:place], message, *stored[place + 1 :]))


def _only_text(content: str | Sequence[dict[str, Json]]) -> str | None:
    if isinstance(content, str) or len(content) != 1 or content[0].get("type") != "text":
        return None
    return str(content[0].get("text", ""))
