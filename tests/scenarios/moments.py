"""The moments that a defect needs, how each is recognised in a trace, and how often it comes.

A wrong agent passes where its moment never comes: one that cuts replies at 1,000 characters, where
no reply is that long. A moment is the event of that name that puts a question (`EVENTS`), or the
function of that name here. `moments.tsv` has the moments, and the wires on which each can come (all
of `WIRES` where it names none). It also has the number of runs of the catalogue that hold each, as
our own agent plays them:

    python -m tests.scenarios.moments

plays all runs and writes the numbers again.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from harness.agent import agent
from harness.checks.judge.questions import EVENTS
from harness.core.history.exchanges import Execution
from harness.core.history.trace import Trace
from harness.core.values.messages import Json, Text, ToolUse
from harness.runner import run
from tests.scenarios.all_runs import all_runs

TABLE = Path(__file__).with_name("moments.tsv")
WIRES = ("anthropic", "openai-chat", "openai-responses", "gemini")

COLUMNS = ("moment", "wires", "words", *WIRES)

LONG = 1_000
LONG_ERROR = 400
LONG_WORDS = 200
MINUTE_MS = 60_000
FOUR_HOURS_MS = 4 * 60 * 60 * 1_000
EXACT = 2**53
"""From here on a double no longer tells each whole number from the next one."""


class Moment(NamedTuple):
    """A row of the table."""

    name: str
    wires: tuple[str, ...]
    words: str
    runs: dict[str, int]
    """The number of runs in which it comes, by wire."""

    def is_in(self, trace: Trace) -> bool:
        """Whether the moment comes in a run."""
        holds: Callable[[Trace], bool] = {**globals(), **EVENTS}[self.name]
        return holds(trace)


@cache
def moments() -> tuple[Moment, ...]:
    """The rows of the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return tuple(
        Moment(
            row["moment"],
            tuple(row["wires"].split()) or WIRES,
            row["words"],
            {wire: int(row[wire]) for wire in WIRES},
        )
        for row in rows
    )


def counted() -> dict[str, dict[str, int]]:
    """Each moment and the number of runs in which it comes, by wire, when the catalogue is
    played."""
    found = {moment.name: dict.fromkeys(WIRES, 0) for moment in moments()}
    for scenario in all_runs():
        trace = run(scenario, agent).history.trace
        for moment in moments():
            found[moment.name][scenario.wire] += moment.is_in(trace)
    return found


def write() -> None:
    """Write the numbers again."""
    lines = ["\t".join(COLUMNS)]
    runs = counted()
    for name, wires, words, _ in moments():
        named = "" if wires == WIRES else " ".join(wires)
        numbers = (str(runs[name][wire]) for wire in WIRES)
        lines.append("\t".join((name, named, words, *numbers)))
    TABLE.write_text("\n".join(lines) + "\n", "utf-8")


def _messages(trace: Trace) -> Iterator[str]:
    return (delivery.inbound.text for delivery in trace.deliveries)


def _replies(trace: Trace) -> Iterator[str]:
    """What the model said to the end; an answer of which the agent got a part does not count."""
    return (e.reply.text for e in trace.exchanges if e.reply and e.succeeded)


def _results(trace: Trace) -> Iterator[str]:
    return (tool.text for tool in trace.executions if not tool.failed)


def _contents(trace: Trace) -> Iterator[Json]:
    for tool in trace.executions:
        value = tool.answered.value if tool.answered else None
        if isinstance(value, dict) and not tool.failed:
            yield value.get("content")


def _texts(trace: Trace) -> Iterator[str]:
    yield from _messages(trace)
    yield from _replies(trace)
    yield from _results(trace)


def _at_ms(trace: Trace, n: int) -> int:
    return trace.events[n - 1].at_ms


def kill_after_result(trace: Trace) -> bool:
    return any(_awaits(tool, kill) for kill in trace.kills for tool in trace.executions)


def _awaits(execution: Execution, kill_n: int) -> bool:
    answered, ask = execution.answered, execution.ask
    sent_n = ask.sent_n if ask else 0
    return answered is not None and answered.n < kill_n and (not sent_n or sent_n > kill_n)


def cancel_beside_session(trace: Trace) -> bool:
    sessions = {turn.session for turn in trace.turns.values()}
    return len(sessions) > 1 and any(
        event.value.get("kind") in ("cancel", "disconnect")
        for event in trace.answers
        if event.seam == "inbox" and isinstance(event.value, dict)
    )


def late_result(trace: Trace) -> bool:
    stopped = [turn for turn in trace.turns.values() if turn.cancelled_n]
    return any(tool.comes_after(turn.cancel_met_ms) for turn in stopped for tool in turn.executions)


def message_after_hours(trace: Trace) -> bool:
    times = [_at_ms(trace, delivery.n) for delivery in trace.deliveries]
    return any(later - earlier >= FOUR_HOURS_MS for earlier, later in pairwise(times))


def shared_id(trace: Trace) -> bool:
    return any(len(by_session) > 1 for by_session in trace.received.values())


def names_alike(trace: Trace) -> bool:
    names = {turn.session for turn in trace.turns.values()}
    return len({_cleaned(name) for name in names}) < len(names)


def _cleaned(name: str) -> str:
    return re.sub(r"[^\w]", "_", unicodedata.normalize("NFC", name).casefold())


def many_failures(trace: Trace) -> bool:
    failed = Counter(tool.called.session for tool in trace.executions if tool.failed)
    failed.update(e.called.session for e in trace.exchanges if not e.succeeded)
    return any(times > 10 for times in failed.values())


def long_message(trace: Trace) -> bool:
    return any(len(text) > LONG for text in _messages(trace))


def marked_message(trace: Trace) -> bool:
    return any(set("<>&'\"") <= set(text) for text in _messages(trace))


def lines_message(trace: Trace) -> bool:
    return any("\n" in text.strip() for text in _messages(trace))


def falsy_input(trace: Trace) -> bool:
    return any(
        all(any(_is_same(value, part) for part in _input(tool)) for value in (0, False, "", None))
        for tool in trace.executions
    )


def _is_same(one: Json, other: Json) -> bool:
    return type(one) is type(other) and one == other


def _input(tool: Execution) -> list[Json]:
    value = tool.ask.use.input if tool.ask else None
    return list(value.values()) if isinstance(value, dict) else []


def edge_blanks_input(trace: Trace) -> bool:
    inputs = (part for tool in trace.executions for part in _input(tool))
    return any(isinstance(part, str) and part != part.strip() for part in inputs)


def reply_over_a_restart(trace: Trace) -> bool:
    said = [s.n for s in trace.sendings if len(s.request.text) > _PREVIEW]
    return any(n < kill for n in said for kill in trace.kills)


_PREVIEW = 40
"""The length of a preview that some stores keep of a reply."""


def repeated_message(trace: Trace) -> bool:
    said = Counter((d.inbound.session, d.inbound.text.strip()) for d in trace.deliveries)
    first = {(d.inbound.session, d.inbound.id) for d in trace.deliveries}
    return len(first) == len(trace.deliveries) and any(n > 1 for (_, t), n in said.items() if t)


def long_reply(trace: Trace) -> bool:
    return any(len(text) > LONG for text in _replies(trace))


def done_beside_call(trace: Trace) -> bool:
    said = (e.reply for e in trace.exchanges if e.reply and e.reply.tool_uses)
    return any(re.search(r"\bdone\b", reply.text, re.IGNORECASE) for reply in said)


def repeated_reply(trace: Trace) -> bool:
    said = defaultdict[tuple[str, str], set[int]](set)
    for e in trace.exchanges:
        if e.succeeded and e.reply and e.reply.text.strip() and not e.reply.tool_uses:
            said[e.called.session, e.reply.text].add(e.called.turn)
    return any(len(turns) > 1 for turns in said.values())


def five_turns_of_steps(trace: Trace) -> bool:
    steps = Counter(t.session for t in trace.turns.values() if len(t.main) > 3)
    return any(number >= 5 for number in steps.values())


def text_after_call(trace: Trace) -> bool:
    said = (e.reply.blocks for e in trace.exchanges if e.reply and e.succeeded)
    pairs = (pair for blocks in said for pair in pairwise(blocks))
    return any(isinstance(a, ToolUse) and isinstance(b, Text) for a, b in pairs)


def long_text_beside_call(trace: Trace) -> bool:
    """The words beside a call are long, and the answer of the turn is shorter than they are."""
    for turn in trace.turns.values():
        said = [e.reply for e in turn.main if e.reply and e.succeeded]
        beside = [len(reply.text) for reply in said if reply.tool_uses]
        if beside and not said[-1].tool_uses and max(beside) > max(LONG_WORDS, len(said[-1].text)):
            return True
    return False


def slow_first_turn(trace: Trace) -> bool:
    sessions = Counter(turn.session for turn in trace.turns.values())
    return any(
        turn.number == 1
        and sessions[turn.session] > 1
        and turn.settled_n
        and _at_ms(trace, turn.settled_n) - _at_ms(trace, turn.opened_n) > MINUTE_MS
        for turn in trace.turns.values()
    )


_SPLITTING = {"sse.character_split", "transport.tiny_segments"}


def split_character(trace: Trace) -> bool:
    return any(
        bool(_SPLITTING & {*e.answered.faults}) and not e.reply.text.isascii()
        for e in trace.exchanges
        if e.answered and e.reply
    )


_BY_TURNS = {"sse.calls_by_turns", "sse.interleaved_blocks"}


def interleaved_calls(trace: Trace) -> bool:
    return any(_BY_TURNS & {*event.faults} for event in trace.answers)


def right_to_left(trace: Trace) -> bool:
    return any(unicodedata.bidirectional(c) in ("R", "AL") for t in _texts(trace) for c in t)


def combining(trace: Trace) -> bool:
    return any(unicodedata.combining(c) for text in _texts(trace) for c in text)


def emoji(trace: Trace) -> bool:
    return any("\u200d" in text or "\ufe0f" in text for text in _texts(trace))


def markup_result(trace: Trace) -> bool:
    return any(re.search(r"<\w+>.*</\w+>", text, re.DOTALL) for text in _results(trace))


def code_result(trace: Trace) -> bool:
    return any(re.search(r"\n[ \t]{2,}\S|\S {3,}\S", text) for text in _results(trace))


def json_result(trace: Trace) -> bool:
    return any(isinstance(content, dict) for content in _contents(trace))


def result_blocks(trace: Trace) -> bool:
    return any(isinstance(c, (list, tuple)) and len(c) > 1 for c in _contents(trace))


def long_result(trace: Trace) -> bool:
    return any(len(text) > LONG for text in _results(trace))


def large_number(trace: Trace) -> bool:
    values = (*_contents(trace), *(tool.request.input for tool in trace.executions))
    return any(_is_large(value) for value in values)


def _is_large(value: Json) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return any(map(_is_large, value))
    return isinstance(value, int) and abs(value) > EXACT


def terminating_result(trace: Trace) -> bool:
    return any("TERMINATE" in text for text in _results(trace))


def failing_words(trace: Trace) -> bool:
    return any(re.search(r"\b(error|failed)\b", t, re.IGNORECASE) for t in _results(trace))


def long_tool_error(trace: Trace) -> bool:
    return any(tool.failed and len(tool.text) > LONG_ERROR for tool in trace.executions)


def batch_failure(trace: Trace) -> bool:
    batches = defaultdict[int, set[bool]](set)
    for tool in trace.executions:
        if tool.ask is not None:
            batches[tool.ask.exchange.n].add(tool.failed)
    return any(len(ends) > 1 for ends in batches.values())


def changed_result(trace: Trace) -> bool:
    results = defaultdict[tuple[str, str], set[str]](set)
    for tool in trace.executions:
        results[tool.identity].add(tool.text)
    return any(len(texts) > 1 for texts in results.values())


if __name__ == "__main__":
    write()
