"""Whether the model reads what its tools said: the content of each result, and not its form alone.

`tool_pairing` asks whether each call has a result, `error_visible` whether a failure reads as one.
Here the texts are compared, by the relation of `core/values/carried_text.py`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from harness.checks.evidence.cut_results import (
    cleared_unread,
    is_announced,
    is_inside_a_character,
    is_needless,
    is_part_kept,
    lack_of,
    miscounted,
    read_otherwise,
    stands_for,
)
from harness.checks.evidence.declarations import excused_by, needs
from harness.checks.evidence.excuses import CANCEL, KILL, KILL_BETWEEN, LIMIT, REFUSED_WRITE, Case
from harness.checks.evidence.misplaced_results import (
    failed_beside,
    is_had_before_a_stop,
    with_error_of,
)
from harness.checks.evidence.told_results import (
    ERROR,
    ERROR_BEFORE,
    NOTHING,
    OTHERS,
    Pretended,
    answered_runs,
    call_of,
    entity_in,
    is_beside,
    is_code,
    is_condensed,
    is_denied,
    is_double,
    is_empty,
    is_encoded_twice,
    is_nameless,
    is_other_script,
    is_reflowed,
    is_slow,
    may_be_given_up,
    picture_lost,
    pretended,
    reads_as_failure,
    reads_as_success,
    said_texts,
    says_success,
    voice_of,
)
from harness.core.history.events import Effected
from harness.core.history.exchanges import Ask, Execution
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.values.carried_text import Spelt, is_asked, lost_parts
from harness.core.values.messages import Opaque, ToolResult, canonical
from harness.core.values.patterns import patterns_of, without_all
from harness.core.values.verdict import Cause, Finding
from harness.core.values.visible_text import SHOWN, abridged

_LEAST, _LEAST_OF_BLOCKS, _ACKNOWLEDGED = 1, 2, "ok"
"""A text of one character is asked too: `0` is a value, and an agent may take it for none. Blocks
may be joined to one word. The word that says only that the tool ran may be said in other words."""


class _Told(NamedTuple):
    """A rule that a result breaks, and how, in words."""

    rule: str
    words: str


class _Result(NamedTuple):
    """A successful run of a call: what the tool said, and what the model reads."""

    trace: Trace
    ask: Ask
    run: Execution
    texts: list[str]
    sent: ToolResult
    history: History

    @property
    def said(self) -> str:
        """The texts of the tool, a line each."""
        return "\n".join(self.texts)


@needs("model", "tool", told_by="run", place=315)
@excused_by(
    unread=(CANCEL, KILL_BETWEEN, REFUSED_WRITE),
    stopped=(KILL_BETWEEN, REFUSED_WRITE),
    unrun=(CANCEL, KILL, LIMIT),
)
def result_carried(
    history: History,
    *,
    redacted: tuple[str, ...] = (),
    bound: int = 0,
    code: tuple[str, ...] = (),
) -> Iterator[Finding | Case]:
    """The model reads what the tool said: the result of a call that succeeded holds its text.

    All of its words are there, in their order and as often as the tool said them. Signs as in
    `-40`, `a.b` and `C++` belong to a word. `lost`: the result is empty, or what a language writes
    for nothing. `replaced`: it is another text. `other`: it is the result of another call, turn,
    session or user. `part`: a block, a line, a picture or an end is missing, changed or moved
    silently, or a character is cut; a notice counts too few. `clipped`: a short text is cut with a
    notice that names no way to the rest, or a text is cleared before it was ever read: it was not
    sent, or its request was refused for its size, and the next one had room for it. `failed`: it
    is told as an error. `discarded`: it is told as not run or by another's error, beside a call
    that failed, or although it had acted before it failed. `stopped`: a stop of the turn took it,
    and it had come before a later call of the turn ran. `invented`: no such call ran, and the
    answer reads like a result. `encoded_twice`: it is JSON in JSON. `escaped`: its signs are
    written as HTML writes them, as `&lt;`. `names`: of an object the model reads the bare values.
    `voiced`: a message of the user or of the system repeats it, so that it reads as an instruction.
    `white_space`, `code`: a line has lost its indentation or its end. A text is code if its tool's
    name, a mark in it or the setting `code` says so.

    Not a finding: words before or after; the same value as JSON, YAML or a table; other line ends;
    texts without colours, or without characters that no API takes; blocks that are joined; a cut
    that says so, or a preview with the place of the rest; an equal result, or the text itself,
    elsewhere in the request; what a model made of the text on request; an older result that was
    sent before and is cleared now. A picture, and a text in another script, count only with
    `results: verbatim` in the profile. The settings `redacted` (patterns) and `bound` (characters)
    say what the agent takes out on purpose.

    A tool ran, and the model was given something else than its output (mastra-ai/mastra#20402).
    To fix it, send the text of each result under the id of its call. Source: design, Carried.
    """
    trace = history.trace
    masks = patterns_of(redacted, "result_carried: redacted") if redacted else ()
    acted = {event.key for event in trace.events if isinstance(event, Effected)}
    for ask, run in _results(trace):
        called = ask.exchange.called
        turn = trace.turns.get((called.session, called.turn))
        if ask.sent is None or turn is None or run.failed or run.given_up:
            if ask.sent is not None and turn is not None:
                told = _denied(ask.sent, run) if run.called.key in acted else None
                found = _finding(told or _as_its_sibling(trace, ask, run), ask, run)
                yield Case("unread", found, turn, ask.sent_n)
            continue
        texts = [(without_all(masks, t) if masks else t)[: bound or None] for t in said_texts(run)]
        result = _Result(trace, ask, run, texts, ask.sent, history)
        assert run.answered is not None
        told = _told(result, code) or _cleared(result)
        found = _finding(told, ask, run)
        # A cancel explains no untruth about what had acted before it.
        had_acted = run.called.key in acted and run.answered.n < turn.cancelled_n
        if reads_as_success(ask.sent) or (had_acted and _denied(ask.sent, run)):
            yield from found
        elif thrown := _thrown_away(result, told, turn):
            yield Case("stopped", _finding(thrown, ask, run), turn, ask.sent_n, run.answered.n)
        else:
            yield Case("unread", found, turn, ask.sent_n, run.answered.n)
    for turn in trace.turns.values():
        for ask in turn.asks:
            made_up = pretended(trace, ask)
            found = _finding(made_up and _unrun(made_up), ask, None)
            if made_up and says_success(made_up.text):  # a stop explains no call that is "Done."
                yield from found
            else:
                yield Case("unrun", found, turn, ask.sent_n)


def _results(trace: Trace) -> Iterator[tuple[Ask, Execution]]:
    """Yield each call with its last run before a result was sent.

    An agent that sends results as text names no id. So a call is known to have its result only if
    the text begins with it, and what stands there instead is looked for here.
    """
    for ran in answered_runs(trace):
        if ran[-1].ask is not None and not is_double(ran[-1].ask):
            yield ran[-1].ask, ran[-1]
    for turn in trace.turns.values() if trace.profile.results == "text" else ():
        main = turn.readable
        for ask in turn.asks:
            run = ask.execution
            if run is None or run.answered is None or ask.sent is not None:
                continue
            at = bisect_left(main, run.answered.n, key=lambda exchange: exchange.n)
            text = "\n".join(m.text for e in main[at : at + 1] for m in e.node.newest())
            if text.strip():
                sent = ToolResult(ask.use.id, text)
                n, ms = main[at].n, main[at].called.at_ms
                yield replace(ask, sent=sent, sent_n=n, sent_ms=ms), run


def _finding(told: _Told | None, ask: Ask, run: Execution | None) -> Iterator[Finding]:
    if told is None:
        return
    name, key = ask.use.name, run.called.key if run else ask.exchange.called.key
    text = f"{key}: the result of {name} {told.words}"
    events = (run.n if run else ask.exchange.n, ask.sent_n)
    yield Finding(f"result_carried.{told.rule}", text, events, cause=Cause(tool=name))


def _told(result: _Result, code: tuple[str, ...]) -> _Told | None:
    """The rule that the result of a successful call breaks; None for none."""
    spelt, sent = Spelt(result.sent.text), result.sent.text
    least = _LEAST if len(result.texts) == 1 else _LEAST_OF_BLOCKS
    lost = [
        part
        for text in result.texts
        if text.strip().lower() != _ACKNOWLEDGED
        for part in lost_parts(text, spelt, least=least)
    ]
    is_failure = result.sent.is_error or reads_as_failure(sent)
    if is_failure and may_be_given_up(result.run, result.trace.world):
        return None
    if not lost and (unseen := picture_lost(result.trace, result.ask, result.run)):
        return _Told("part", unseen)
    if not lost:
        return _as_error(result, is_read=True) or _rewritten(result, code) or _voiced(result)
    if other := _of_another(result, spelt):
        return other
    if _may_be_elsewhere(result):
        return None
    if told := _discarded(result) or _as_error(result, is_read=False):
        return told
    is_kept = is_part_kept(result.texts, sent, lost)
    if is_kept and is_inside_a_character(result.said, sent):
        return _Told("part", "is cut inside a character")
    if (is_kept or stands_for(result.said, sent)) and is_announced(result.said, sent):
        return _clipped(result, is_kept)
    if is_kept:
        return _Told("part", f"{lack_of(result.said, sent, lost)}, and does not say so")
    both = f"the tool said {_short(result.said)}, and the model reads {_short(sent)}"
    rule = "lost" if spelt.plain.lower() in NOTHING else "replaced"
    return _Told(rule, f"is {rule}: {both}")


def _clipped(result: _Result, is_kept: bool) -> _Told | None:
    said, sent, how = result.said, result.sent.text, "is cut to" if is_kept else "is cleared to"
    if count := miscounted(said, sent):
        return _Told("part", count)
    words = f"of {len(said)} characters {how} {len(sent)}, and no way to the rest is told"
    told = _Told("clipped", words)
    return told if is_needless(result.trace, result.ask, said, sent, is_kept) else None


def _cleared(result: _Result) -> _Told | None:
    if (otherwise := read_otherwise(result.trace, result.ask, result.said)) and (
        told := _as_error(result._replace(sent=otherwise), is_read=False)
    ):
        return told
    read, note = cleared_unread(result.trace, result.ask, result.said) or (None, result.sent)
    lost = [*lost_parts(result.said, Spelt(note.text))]
    if read is None or is_part_kept(result.texts, note.text, lost):
        return None
    return _Told("clipped", f"is cleared in {read.called.key}, which had room, before it was read")


def _short(text: str) -> str:
    return canonical(abridged(text, SHOWN))


def _as_error(result: _Result, *, is_read: bool) -> _Told | None:
    """A success that is told as an error: by its flag, or by other words in its place.

    The text of a success may tell of a failure itself.
    """
    said, sent = result.said, result.sent
    text = "" if result.trace.profile.results == "text" else sent.text  # it may hold others
    begins = (ERROR_BEFORE if is_read and said.strip() else ERROR).match(text)
    is_told = sent.is_error or (begins and not Spelt(said).plain.startswith(Spelt(begins[0]).plain))
    if not is_told or reads_as_failure(said) or not (said.strip() or is_empty(result.run)):
        return None
    return _Told("failed", f"is told as an error, {_short(sent.text)}, and the tool succeeded")


def _discarded(result: _Result) -> _Told | None:
    """A success that is told as not run, beside a call that failed, or by the error of that."""
    if other := with_error_of(result.trace, result.ask, result.said):
        return _by_its_error(other, result.sent)
    is_unrun = result.sent.is_error or _UNRUN.search(result.sent.text)
    if not (is_unrun and failed_beside(result.trace, result.ask)):
        return None
    words = f"is thrown away because another call failed: {_short(result.sent.text)}"
    return _Told("discarded", words)


def _as_its_sibling(trace: Trace, ask: Ask, run: Execution) -> _Told | None:
    """A call that was still running when another one failed, and is told by the error of that."""
    if run.failed or is_slow(run) or ask.sent is None:
        return None
    other = with_error_of(trace, ask, "")
    return _by_its_error(other, ask.sent) if other else None


def _by_its_error(other: Execution, sent: ToolResult) -> _Told:
    words = f"is told as the error of another call, {call_of(other)}: {_short(sent.text)}"
    return _Told("discarded", words)


def _denied(sent: ToolResult, run: Execution) -> _Told | None:
    """A call that acted and then failed, as by a time-out, and is told as not run."""
    if not is_denied(sent.text, run.text):
        return None
    return _Told("discarded", f"is told as not run, and the tool had acted: {_short(sent.text)}")


def _thrown_away(result: _Result, told: _Told | None, turn: Turn) -> _Told | None:
    """A result that the agent had, and that a stop of the turn took."""
    if told is None or told.rule not in ("lost", "replaced", "failed", "discarded"):
        return None
    if not is_had_before_a_stop(turn, result.run):
        return None
    both = f"the tool said {_short(result.said)}, and the model reads {_short(result.sent.text)}"
    return _Told("stopped", f"had come before the user stopped the turn: {both}")


_UNRUN = re.compile(r"\b(?:not|never|skip|cancel|abort|discard|fail|error)|n't", re.IGNORECASE)


def _of_another(result: _Result, spelt: Spelt) -> _Told | None:
    """The call whose result is sent in place of this one: of another turn, session or user."""
    runs, own = result.trace.executions, Spelt(result.said)
    last = bisect_left(runs, result.ask.sent_n, key=lambda run: run.n)
    for other in reversed(runs[max(last - OTHERS, 0) : last]):
        texts = [t for t in said_texts(other) if is_asked(t) and lost_parts(t, own)]
        if other.ask is result.ask or not texts or other.failed:
            continue
        if not any(lost_parts(text, spelt) for text in texts):
            return _Told("other", f"is that of another call, {call_of(other)}: {_short(texts[0])}")
    return None


def _may_be_elsewhere(result: _Result) -> bool:
    """Whether the request holds the text in another form or place.

    An equal result, or the text beside the results; a picture or another script, unless the profile
    says `results: verbatim`; what a model was asked to make of the text.
    """
    trace, sent, ask = result.trace, result.sent, result.ask
    exchanges = trace.exchanges
    at = bisect_left(exchanges, ask.sent_n, key=lambda exchange: exchange.n)
    asked = [text for text in result.texts if text.strip()]
    if all(is_beside(exchanges[at], text, sent) for text in asked):
        return True
    if trace.profile.results == "verbatim":
        return False
    pictures = not isinstance(sent.content, str) and any(
        isinstance(b, Opaque) for b in sent.content
    )
    if pictures or (result.said.isascii() and is_other_script(sent.text)):
        return True
    assert result.run.answered is not None
    first = bisect_left(exchanges, result.run.answered.n, key=lambda exchange: exchange.n)
    return any(is_condensed(e, asked, sent) for e in exchanges[first:at])


def _voiced(result: _Result) -> _Told | None:
    """A text that the request also holds as words of the user or of the system."""
    whose = voice_of(result.history, result.ask, result.run)
    words = f"stands there again as words of the {whose}, who never said them"
    return _Told("voiced", words) if whose else None


def _rewritten(result: _Result, code: tuple[str, ...]) -> _Told | None:
    """A text that is encoded twice or for a page, or whose white space is changed."""
    sent, name = result.sent.text, result.run.request.name
    is_text = result.trace.profile.results == "text"  # it may hold other results
    for said in result.texts:
        if said in sent and '\\"' not in sent:  # a second encoding puts these before each quote
            continue
        if not is_text and is_encoded_twice(said, sent):
            return _Told("encoded_twice", f"is encoded twice: {_short(sent)}")
        both = f"{_short(said)} is read as {_short(sent)}"
        if not is_text and is_nameless(said, sent):
            return _Told("names", f"has values without their names: {both}")
        if not is_text and (sign := entity_in(said, sent)):
            return _Told("escaped", f"has {sign!r} for a sign, as HTML has: {both}")
        if is_reflowed(said, sent):
            rule = "code" if name in code or is_code(name, said) else "white_space"
            return _Told(rule, f"has other white space: {both}")
    return None


def _unrun(told: Pretended) -> _Told:
    """The rule that the answer to a call breaks that never ran."""
    if told.run is not None:
        words = f"is that of an earlier call, {call_of(told.run)}, and the call never ran"
        return _Told("other", words)
    words = f"is invented: the tool never ran, and the model reads {_short(told.text)}"
    return _Told("invented", words)
