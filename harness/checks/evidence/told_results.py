"""What a tool said, and what the model reads of it.

A result is taken as the tool gave it, after the faults of the run. Several blocks are several
texts, because an agent may join them in its own way. What is told may be a cut, a reference or a
refusal; only words tell those from an invented result, and words are read in the agent's favour.
"""

from __future__ import annotations

import html
import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice, pairwise
from operator import attrgetter
from typing import NamedTuple

from harness.checks.evidence.cut_results import mislabelled, pictures_in
from harness.checks.evidence.stored_messages import squeeze
from harness.checks.evidence.turn_outcomes import calls_tools
from harness.core.history.exchanges import Ask, Exchange, Execution
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.values.carried_text import WHOLE_CHARACTERS, Spelt, lost_parts, own_words
from harness.core.values.messages import Json, Opaque, Text, ToolResult, canonical
from harness.core.values.plans import waited_ms


def answered_runs(trace: Trace) -> Iterator[list[Execution]]:
    """Yield the answered runs of each call before its result was sent."""
    runs: dict[int, list[Execution]] = {}
    for run in trace.executions:
        if run.ask and run.answered and run.answered.n < run.ask.sent_n:
            runs.setdefault(id(run.ask), []).append(run)
    yield from runs.values()


def call_of(run: Execution) -> str:
    """The call of a run as a finding names it, with its session."""
    return f"{run.called.key} of {run.called.session}" if run.called.session else run.called.key


_DEADLINE_MS = 1_000
"""A tool that waits longer may have met a deadline of the agent's own."""


def is_slow(run: Execution) -> bool:
    """Whether an agent with a deadline may never have seen the answer of a tool. A batch that runs
    in series is sent long after its first call was given up, so no event tells."""
    return run.answered is not None and waited_ms(run.answered.steps) >= _DEADLINE_MS


_NO_TEXT = frozenset({"tools.endless", "tools.not_utf8"})
"""Faults after which a tool returns a value that an agent may refuse to read."""


def may_be_given_up(run: Execution, world: str) -> bool:
    """Whether an agent may have given the tool up, at its own deadline or for what a fault made of
    the result. Half a character comes to a program in JSON that clients in Rust refuse (Codex)."""
    unread = _NO_TEXT | {"tools.lone_surrogate"} if world == "supervise" else _NO_TEXT
    return is_slow(run) or bool(run.answered and not unread.isdisjoint(run.answered.faults))


def said_texts(run: Execution) -> list[str]:
    """The texts of a tool's answer, a block each; a value of another kind as JSON."""
    value = run.answered.value if run.answered else None
    content: Json = value.get("content") if isinstance(value, dict) else None
    if isinstance(content, list | tuple):
        if all(isinstance(block, dict) and "type" in block for block in content):
            return [str(block["text"]) for block in content if "text" in block]
        return [canonical(content)]
    if content is None:
        return []
    return [content if isinstance(content, str) else canonical(content)]


def is_empty(run: Execution) -> bool:
    """Whether a tool succeeded without a text or a value, as `mkdir` does."""
    value = run.answered.value if run.answered else None
    return not run.failed and isinstance(value, dict) and value.get("content") in (None, "", [], ())


def picture_lost(trace: Trace, ask: Ask, run: Execution) -> str:
    """What the result of a tool that gave a picture is without it, or under another type; "" where
    the model can see it, in a message of the user too, or reads a note."""
    pictures = pictures_in(run.answered.value if run.answered else None)
    if not pictures or not ask.sent:
        return ""
    turn = trace.turns[ask.exchange.called.session, ask.exchange.called.turn]
    sent = next((e.node.newest() for e in turn.main if e.n == ask.sent_n), ())
    parts = [b for m in sent for b in (*m.blocks, *(p for r in m.tool_results for p in r.content))]
    seen = [canonical(part.value) for part in parts if isinstance(part, Opaque)]
    if not sent or seen:
        return mislabelled(pictures, seen)
    files = [str(dict(picture.get("source") or {}).get("data") or "") for picture in pictures]
    if any(len(file) > WHOLE_CHARACTERS and file in ask.sent.text for file in files):
        return "is the file of its picture in letters"
    own = own_words(Spelt(ask.sent.text), Spelt("\n".join(said_texts(run))))
    return "lacks its picture, and does not say so" if says_success(" ".join(own)) else ""


_NEWEST = 500
"""How many messages of a request are looked through for the text of a result."""


def is_double(ask: Ask) -> bool:
    """Whether its answer has an equal call of one id: nothing tells which of them ran."""
    use, reply = ask.use, ask.exchange.reply
    same = [u for u in reply.tool_uses if u.id == use.id and u.input == use.input] if reply else []
    return len(same) > 1


def is_beside(exchange: Exchange, text: str, apart: ToolResult) -> bool:
    """Whether a request holds a text beside one result. A short text must be all of another."""
    if len(text) > WHOLE_CHARACTERS:
        return any(text in other for other in _texts(exchange, apart))
    return any(text.strip() == other.strip() for other in _texts(exchange, apart))


def is_condensed(exchange: Exchange, texts: list[str], sent: ToolResult) -> bool:
    """Whether a model was given these texts, and its answer is the result that was sent."""
    reply = exchange.reply.text if exchange.reply and exchange.succeeded else ""
    if not reply.strip() or lost_parts(reply, sent.text):
        return False
    given = "\n".join(_texts(exchange, sent))
    return all(text in given for text in texts)


def _texts(exchange: Exchange, apart: ToolResult) -> Iterator[str]:
    """The texts and results of the newest messages of a request, without one result."""
    for node in islice(exchange.node.back(), _NEWEST):
        for block in node.message.blocks:
            if isinstance(block, Text | ToolResult) and block is not apart:
                yield block.text


_QUOTED, _VOICED = 60, 200
"""A hint quotes fewer characters of a result than the first; more than the second are not looked
for in words of others."""


def voice_of(history: History, ask: Ask, run: Execution) -> str:
    """Whose words repeat a result in the request that first holds it: "user", "system" or ""."""
    trace, values = history.trace, history.values
    said = [t for text in said_texts(run) if len(t := text.strip()[:_VOICED]) >= _QUOTED]
    between = (*trace.kills, *(c.n for c in trace.compactions))
    if not said or trace.profile.results == "text" or any(run.n < n < ask.sent_n for n in between):
        return ""
    sent = trace.exchanges[bisect_left(trace.exchanges, ask.sent_n, key=lambda e: e.n)]
    new = (n.message.text for n in sent.node.tail(ask.exchange.node) if n.side != "assistant")
    before, now = (str(values.get(e.request.system, "")) for e in (ask.exchange, sent))
    known = before, *(delivery.inbound.text for delivery in trace.deliveries)
    for whose, words in (("user", "\n".join(new)), ("system", now if now != before else "")):
        told = [text for text in said if words and squeeze(text) in squeeze(words)]
        if told and not any(told[0] in text for text in known):
            # An agent may send what was said before in another order than in the request before.
            said_before = (n.message for n in ask.exchange.node.tail() if n.side != "assistant")
            if not any(told[0] in message.text for message in said_before):
                return whose
    return ""


def is_other_script(text: str) -> bool:
    """Whether most letters of a text are of a script other than Latin."""
    letters = [letter for letter in text if letter.isalpha()]
    return sum(letter > "\u036f" for letter in letters) * 2 > len(letters)


NOTHING = frozenset({"", "null", "undefined", "nan", "objectobject", "promisepending", "nil"})
"""What languages write for a value that is not there, or that is not serialised."""

_FAILURE = re.compile(
    r"error|fail|exception|traceback|denied|refus|reject|invalid|not |no such|unable|cannot|can't"
    r"|could ?n.t|timed? ?out|unavailable|forbidden|missing|stop|abort|cancel|interrupt|warn|limit"
    r"|status|code|exit",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:no|0|zero|without) (?:errors?|fail(?:ed|ures?)|warnings?)\b|\bexit (?:code|status):? 0\b"
    r"|\b(?:errors?|fail(?:ed|ures?)|warnings?)\"?[:=] ?(?:0\b|none\b|null\b|\[\])",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:no|not|never|none|unknown|already|again|same|duplicate|repeat|skip|wait|pending|later"
    r"|background|start|running|progress|queue|instead|block|only|must|need|require|deliver|sent"
    r"|policy|approv|declin|expir|withdr|hold|permission|allow|ignor|unsupported|exceed|budget|tool|call|previous|restart"
    r"|lost|old|clear|omit|truncat|too)|n't|\?",
    re.IGNORECASE,
)


def reads_as_failure(text: str) -> bool:
    """Whether a text may tell of a failure, and not of none; another script is not read."""
    return not text.isascii() or _FAILURE.search(_DENIED.sub("", text)) is not None


def is_valid_call(trace: Trace, ask: Ask) -> bool:
    """Whether an agent has no reason to refuse the call: known tool, whole answer, full input, and
    an id that no other call of the answer has."""
    exchange = ask.exchange
    if not exchange.succeeded or exchange.too_large or not calls_tools(exchange):
        return False
    if ask.use.name not in trace.settings.get("tools", {}):
        return False
    if not trace.takes_tools or trace.is_own_tool(ask):
        return False
    uses = exchange.reply.tool_uses if exchange.reply else ()
    if sum(use.id == ask.use.id for use in uses) > 1:
        return False
    required = trace.schema(exchange, ask.use.name).get("required") or ()
    given = {} if ask.use.input == "" else ask.use.input  # gateways write an empty object so
    return isinstance(given, dict) and set(required) <= set(given)


_SUCCESS = re.compile(
    r"\W*(?:(?:ok|okay|done|success|successful|succeeded|completed|finished|true|status|results?"
    r"|output|data|message|content|no|none|null|undefined|nothing|empty|0|found|matches|matching"
    r"|rows|records|items|entries)\b\W*){0,6}",
    re.IGNORECASE,
)


def says_success(text: str) -> bool:
    """Whether a text says that all is well, or that the tool found nothing, and no more.

    `except Exception: return []` is how a search that never ran becomes "no results".
    """
    return _SUCCESS.fullmatch(text) is not None


def reads_as_success(sent: ToolResult) -> bool:
    """Whether a result has words, no flag, and nothing that may tell of a failure or refusal."""
    if sent.is_error or not sent.text.strip():
        return False
    is_refusal = reads_as_failure(sent.text) or _REFUSAL.search(sent.text)
    return says_success(sent.text) or not is_refusal


_NOT_RUN = re.compile(
    r"(?:\bnot|\bnever|n't) (?:been )?(?:run|ran|executed|called|started|carried out|performed)\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(r"\b(?:may|might|could|unknown|unclear|whether|perhaps|probably)\b", re.I)


def is_denied(sent: str, said: str) -> bool:
    """Whether a result says for certain that the tool did not run, and the tool does not say so."""
    is_said = _NOT_RUN.search(sent) is not None and _UNSURE.search(sent) is None
    return is_said and _NOT_RUN.search(said) is None


class Pretended(NamedTuple):
    """The answer to a call that never ran, and the run that gave this text; None if no run did."""

    text: str
    run: Execution | None = None


def pretended(trace: Trace, ask: Ask) -> Pretended | None:
    """The answer to a call that never ran, if it reads like the result of one that did.

    A result may be given again in the same turn for the same call: an agent may say so to end a
    repetition.
    """
    if not ask.refused or ask.sent is None or ask.sent.is_error:
        return None
    if not (is_valid_call(trace, ask) or _is_unknown(trace, ask)):
        return None
    text = ask.sent.text.strip()
    if not text or ask.use.name in trace.profile.turn_ending_tools:
        return None
    call, called = (ask.use.name, canonical(ask.use.input)), ask.exchange.called
    before = bisect_left(trace.executions, ask.sent_n, key=attrgetter("n"))
    here = called.session, called.turn
    runs = [run for run in trace.executions[max(before - OTHERS, 0) : before] if not run.failed]
    own = (r for r in runs if r.identity == call and (r.called.session, r.called.turn) == here)
    if any(text in (run.text.strip(), _sent_for(run)) for run in own):
        return None
    other = next((run for run in reversed(runs) if run.text.strip() == text), None)
    return Pretended(text, other) if other or reads_as_success(ask.sent) else None


def _sent_for(run: Execution) -> str:
    """What the model was sent for a run: an agent has words of its own for an empty result."""
    return run.ask.sent.text.strip() if run.ask and run.ask.sent else ""


def _is_unknown(trace: Trace, ask: Ask) -> bool:
    """Whether a whole answer calls a tool that no one has, whose result can only be an error."""
    offered = trace.schemas.get(ask.exchange.request.tools, {})
    is_known = ask.use.name in offered or ask.use.name in trace.settings.get("tools", {})
    return bool(offered) and not is_known and calls_tools(ask.exchange)


OTHERS = 50
"""How many results before one are looked through for the call that it belongs to."""

ERROR_BEFORE = re.compile(r"(?i)\A\W{0,20}(?:tool )?(?:error|failed|failure|exception)\b")
ERROR = re.compile(
    r"\A\W{0,20}(?:(?!no\b|not\b|without\b)\w{1,20}\W{1,9}){0,4}"
    r"(?:error|fail|exception|timed out|crash|unsuccessful|unable|not succeed|not work)",
    re.IGNORECASE,
)
"""An agent may say of a tool without a text that it ran without an error."""

_QUOTE = re.compile(r'(?<!\\)(\\*)"')


def _escapes_of_quotes(text: str) -> int:
    """The most backslashes before a quote, which JSON makes two times as many and one; -1 without
    a quote."""
    return max(map(len, _QUOTE.findall(text)), default=-1)


_OF_CODE = re.compile(r"code|source|diff|patch|snippet", re.IGNORECASE)
_BEGINNING = 100


def is_encoded_twice(said: str, sent: str) -> bool:
    """Whether a text stands in another one as JSON in JSON."""
    if (runs := _escapes_of_quotes(said)) >= 0 and _escapes_of_quotes(sent) >= 4 * runs + 3:
        return True
    for is_ascii in (True, False):
        spelt = json.dumps(said[:_BEGINNING], ensure_ascii=is_ascii)
        for _ in range(3):  # each layer that serialises it adds one
            spelt = json.dumps(spelt, ensure_ascii=is_ascii)
            if (again := spelt[1:].rstrip('"\\')) in sent and again not in said:
                return True
    return False


_NAMED_VALUES = 3
"""Of an object with two values, `21 C` may be all that an agent writes."""

_WORD = re.compile(r"\w+")


def is_nameless(said: str, sent: str) -> bool:
    """Whether a text has the values of an object of JSON, and no word that could name one."""
    try:
        value = json.loads(said)
    except (ValueError, RecursionError):
        return False
    if not isinstance(value, dict):
        return False
    values = list(value.values())
    spelt = json.dumps(values, ensure_ascii=False).casefold()
    words = set(_WORD.findall(spelt)) | set(_WORD.findall(json.dumps(values).casefold()))
    full = [each for each in values if each not in ("", None, [], {})]
    return len(full) >= _NAMED_VALUES and words.issuperset(_WORD.findall(sent.casefold()))


_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|#0*39|#x0*27|#0*34|#x0*22);", re.IGNORECASE)
_OWN_TAG = re.compile(r"</?[a-zA-Z][\w-]{0,40}[^<>]{0,200}>")


def entity_in(said: str, sent: str) -> str:
    """The first sign that a result writes as HTML does, and its tool did not; "" for none.

    An agent that puts a result between tags of its own writes XML, where such signs belong.
    """
    entity = _ENTITY.search(sent)
    if entity is None or squeeze(said) in squeeze(sent) or _OWN_TAG.search(sent):
        return ""
    is_new = _ENTITY.search(said) is None or squeeze(said) in squeeze(html.unescape(sent))
    return entity[0] if is_new else ""


def is_reflowed(said: str, sent: str) -> bool:
    """Whether a line has lost its indentation or its end; a value of JSON may have other lines."""
    if said.lstrip().startswith(("{", "[")):
        return False
    read = sent.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
    lines = [line.rstrip() for line in _LINE_END.split(said) if line.strip()]
    bare = [" ".join(line.split()) for line in lines]
    inner = zip(lines[1:], bare[1:], strict=True)
    if any(
        line != short and line not in read and short in read
        for line, short in islice(inner, _LINES)
    ):
        return True
    pairs = [*islice(pairwise(bare), _LINES)]
    joined = [f"{before} {after}" for before, after in pairs]
    joined += [both for pair in pairs if len(both := "".join(pair)) >= _LOOSE]
    return any(both in read and both not in said for both in joined)


_LINE_END = re.compile(r"\r\n?|\n")

_LOOSE = 20
"""Shorter lines that are joined without a blank stand there by chance."""

_LINES = 50
"""How many lines of a text are looked for one by one."""


def is_code(tool: str, said: str) -> bool:
    """Whether the name of a tool, or a mark in its text, says that the text is code."""
    return _OF_CODE.search(tool) is not None or "```" in said
