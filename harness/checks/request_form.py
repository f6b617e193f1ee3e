"""The form of requests: the dialect's rules, the roles, the text and the last message.

The reader of a request applies the dialect's rules, and `valid_request` reports the results. The
other checks hold for every dialect, because one provider refuses a form that another merges. Each
message is checked once, where it first appears, so cost is linear in the session.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache, partial
from itertools import pairwise, takewhile

from harness import providers
from harness.checks.evidence.declarations import (
    advice_in_recordings,
    asks_results,
    excused_by,
    needs,
)
from harness.checks.evidence.excuses import ANOTHER_WRITER, FAILED_STORE, REWRITTEN_STORE, Case
from harness.checks.evidence.message_authors import (
    group_chats,
    is_by_program,
    is_one_message,
    unsent_answers,
)
from harness.checks.evidence.stored_messages import (
    finished_turns,
    first_seen,
    is_user_text,
    own_rows,
)
from harness.checks.evidence.turn_outcomes import WINDOW_RULES, ending_calls
from harness.core.history.events import Called
from harness.core.history.exchanges import Exchange, Node
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.values.messages import Text, ToolResult, ToolUse, side
from harness.core.values.verdict import Cause, Finding

SPIRAL = 5
"""The number of user messages in a row, each of which had a reply, in the incident."""
_NEWEST = 8
"""How many of the last summaries are looked for before a question; sessions have their own."""
ANSWER_MOST = 200
"""The number of characters of a provider's answer that a finding quotes."""
_LEARNT = frozenset({"thread_not_found", "thread_already_continued", "thread_unsupported_request"})
"""Rules about state that only the provider knows."""
_ALTERNATING = frozenset({"user", "assistant"})


@needs("model", told_by="rules", place=60)
def valid_request(history: History) -> Iterator[Finding]:
    """The dialect accepts every request; the code of a finding ends with the id of the broken rule.

    A rule is reported once a turn. A prompt over the window (V23, V24) is not reported here. A
    client learns from a refusal that the provider does not keep a thread, and then sends the whole
    conversation. So an unknown thread is reported only if the session's next request asks for it
    again. Source: invariants 1 to 6.
    """
    seen: set[tuple[str, int, str]] = set()
    told: dict[str, tuple[str, ...]] = {}
    for exchange in history.trace.exchanges:
        called = exchange.called
        before = told.get(called.session, ())
        told[called.session] = called.refused
        for rule in called.refused:
            case = (called.session, called.turn, rule)
            is_news = rule in _LEARNT and rule not in before
            if rule not in WINDOW_RULES and case not in seen and not is_news:
                seen.add(case)
                text = f"{called.key} breaks {_rule_words(history.trace, called, rule)}"
                yield Finding(f"valid_request.{rule}", text, (called.n,))


def _rule_words(trace: Trace, called: Called, rule: str) -> str:
    """The text of a rule and the provider's answer; the id alone for a rule without a table row."""
    wire = called.provider or str(trace.settings.get("wire") or "")
    row = providers.rules(wire).get(rule) if wire in providers.names() else None
    if row is None:
        return f"the dialect's rule {rule}"
    answer = row.words if len(row.words) <= ANSWER_MOST else f"{row.words[:ANSWER_MOST]}…"
    return f"{rule}: {row.asks} Answer {row.status}: {answer}"


@needs("model", place=80)
@asks_results()
@advice_in_recordings("spiral")
@excused_by(stored_rows=(FAILED_STORE, ANOTHER_WRITER, REWRITTEN_STORE))
def role_alternation(history: History, *, wire: bool = True) -> Iterator[Finding | Case]:
    """Neighbouring messages are never of one side, in requests and in the stored rows of a turn.

    Tool results count as the user's. OpenAI `tool` rows are a separate side, and several of them
    may follow each other. A group chat, in which messages of one side carry different names, is not
    judged. In a log, rows that the program wrote in the user's name, and words after results, are
    one message with their neighbour. `wire: false` leaves out the requests. The stored rows of a
    finished turn begin with its inbound message, alternate, and end with a reply; an answer that
    the provider paused may continue in the next row. `spiral`: five messages of the user in a row
    have no answer in the request. So replies never reach the history, and the next answer answers
    all five again. What was stored before the run, or stands before a summary, does not count. In a
    recording it is advice: people write several messages in a row, and programs log their own rows
    in the user's name.
    """
    trace = history.trace
    if wire:
        yield from _on_the_wire(trace)
    if {"store", "inbox", "outbox"} <= trace.seams:
        for turn in finished_turns(trace):
            yield Case("stored_rows", _in_the_store(trace, turn), turn)


def _on_the_wire(trace: Trace) -> Iterator[Finding]:
    seen, groups = set[int](), cache(partial(group_chats, trace))
    logged = any(start.inferred for start in trace.starts)
    unsent = unsent_answers(trace) if logged else frozenset()
    known: dict[int, int] = {}
    begun = set[tuple[str, str]]()
    summaries = deque[str](maxlen=_NEWEST)
    for exchange in trace.exchanges:
        if exchange.purpose == "aux":
            continue
        if exchange.purpose == "compact" and exchange.reply and exchange.reply.text.strip():
            summaries.append(exchange.reply.text.strip())
        # Stored before the run, or said to another provider, whose API has another form.
        place = exchange.called.session, exchange.called.provider
        if place not in begun and not logged:
            begun.add(place)
            known |= {id(node): 0 for node in [*exchange.node.back()][1:]}
        for node in exchange.added:
            is_repeated = id(node) not in seen and _same_side(node)
            is_repeated = is_repeated and not (logged and is_one_message(node, unsent))
            if is_repeated and exchange.called.session not in groups():
                text = f"{exchange.called.key}: two {node.side} messages in a row"
                text += f" (message {node.depth - 1})"
                cause = Cause(subject=node.side)
                yield Finding("role_alternation.wire", text, (exchange.n,), cause=cause)
                if _unanswered(node, logged, known, summaries) == SPIRAL:
                    text = f"{exchange.called.key}: {SPIRAL} messages of the user in a row, none "
                    text += "of them answered: replies are lost, and old questions asked again"
                    yield Finding("role_alternation.spiral", text, (exchange.n,))
            seen.add(id(node))


def _unanswered(last: Node, logged: bool, known: dict[int, int], summaries: Iterable[str]) -> int:
    """The number of the user's own messages at the end of a list, without an answer between them.
    `known` holds those of lists, so that a log of one side costs its length once. A summary stands
    for the answers to what is kept before it: Codex keeps each message of the user."""
    new, count = list[Node](), 0
    for node in takewhile(lambda node: node.side in ("user", "system"), last.back()):
        if id(node) in known:
            count = known[id(node)]
            break
        new.append(node)
    for one in reversed(new):
        count += is_user_text(one.message) and not (logged and is_by_program(one.message))
        count *= not any(summary in one.message.text for summary in summaries)
        known[id(one)] = count
    return count


def _same_side(node: Node) -> bool:
    """Whether the message before it, without the system's, is of the same side."""
    before = node.parent
    while before is not None and before.depth and before.side == "system":
        before = before.parent
    is_same = before is not None and before.depth > 0 and before.side == node.side
    return is_same and node.side in _ALTERNATING


def _in_the_store(trace: Trace, turn: Turn) -> Iterator[Finding]:
    """Yield the findings for the stored rows of a turn."""
    rows = own_rows(trace, turn) if trace.own_store else list(trace.rows_added(turn))
    if trace.own_store and not rows:
        return  # `reload_equivalence` reports missing rows
    ended = {use.id for e in turn.main[-1:] for use in ending_calls(trace, turn, e)}
    messages = [message for _, _, message in rows if side(message) != "system"]
    if messages and {result.id for result in messages[-1].tool_results} & ended:
        messages.pop()  # the result of the call that ended the turn
    sides = [side(message) for message in messages]
    events = (turn.opened_n, *(event.n for event, _, _ in rows), turn.settled_n)
    goes_on = any(exchange.stop == "pause_turn" for exchange in turn.exchanges)
    for a in (a for a, b in pairwise(sides) if a == b and a in _ALTERNATING):
        # Where messages wait, rows between two turns may be of either. The end of a child in the
        # background is a row of the user's too.
        is_beside = bool(turn.joined if a == "user" else turn.came or goes_on)
        is_told = a == "user" and any(e.called.parent for e in trace.exchanges)
        if not (is_beside or is_told):
            text = f"{turn.words} stores two {a} messages in a row"
            yield Finding("role_alternation.store", text, events, cause=Cause(subject=a))
            return
    if sides[:1] != ["user"] or sides[-1:] != ["assistant"]:
        text = f"{turn.words} must store its inbound message first and its reply last, stores: "
        yield Finding("role_alternation.store", text + (", ".join(sides) or "nothing"), events)


@needs("model", told_by="requests", place=110)
def nonblank_content(history: History, *, results: bool = False) -> Iterator[Finding]:
    """No message of a request is empty, and no text block of one is blank.

    `empty`: a message without content, except an assistant message at the end. `blank`: a text of
    white space only. Asked of requests that the dialect accepts.

    Not a finding: a tool result without text, unless `results` is set, because the API accepts it
    and only some gateways do not; a text of no characters beside a call, which the dialect's rules
    judge; a log, which keeps the model's words and not the sent request.

    Models do answer with a blank text, and a stored blank makes every later request fail. To fix
    it, leave blank texts out of requests, also if they are stored. Source: invariant 3;
    NousResearch/hermes-agent#70475.
    """
    for exchange, nodes in first_seen(history.trace):
        for node in nodes:
            before = node.parent
            if before is not None and _is_empty_reply(before):
                yield _not_blank(exchange, before, "empty")
            if not node.message.blocks and not _is_empty_reply(node):
                yield _not_blank(exchange, node, "empty")
            elif _is_blank(node, results):
                yield _not_blank(exchange, node, "blank")


def _not_blank(exchange: Exchange, node: Node, rule: str) -> Finding:
    text = f"{exchange.called.key}: message {node.depth - 1} ({node.side}) is {rule}"
    cause = Cause(subject=node.side)
    return Finding(f"nonblank_content.{rule}", text, (exchange.n,), cause=cause)


def _is_empty_reply(node: Node) -> bool:
    """Whether a message is an assistant message without content, which is allowed only at the
    end."""
    return not node.message.blocks and node.side == "assistant"


def _is_blank(node: Node, results: bool) -> bool:
    blocks = node.message.blocks
    texts = [block.text for block in blocks if isinstance(block, Text)]
    if any(isinstance(block, ToolUse) for block in blocks):
        texts = list(filter(None, texts))
    if results:
        texts += [b.text for b in blocks if isinstance(b, ToolResult) and _is_text(b)]
    return any(not text.strip() for text in texts)


def _is_text(result: ToolResult) -> bool:
    """Whether a result is text or empty; a result of pictures only is not blank."""
    return isinstance(result.content, str) or all(isinstance(b, Text) for b in result.content)


@needs("model", place=120)
def wellformed_text(history: History) -> Iterator[Finding]:
    """Sent and stored text is Unicode text, without half of a surrogate pair.

    `request`: a message, the system text or a tool of a request holds one; `row`: a stored row.
    Half an emoji cannot be encoded in a file or a request. Once stored, it breaks every later turn.

    Not a finding: a whole emoji, its two halves in two deltas put together again, and a text that
    spells the escape out.

    To fix it, replace characters that cannot be encoded before a text of any author is stored or
    sent. Source: invariant 4; anthropics/claude-code#86560.
    """
    trace, told = history.trace, set[str]()
    for exchange in trace.exchanges:
        request = exchange.request
        if exchange.called.malformed:
            text = f"{exchange.called.key} holds half a character, and cannot be read"
            yield Finding("wellformed_text.request", text, (exchange.n,))
        parts = (("system", request.system), ("tools", request.tools))
        for part, name in (*parts, *(("messages", name) for name in request.messages)):
            if name in trace.malformed and name not in told:
                told.add(name)
                text, cause = f"{exchange.called.key} holds half a character", Cause(subject=part)
                yield Finding("wellformed_text.request", text, (exchange.n,), cause=cause)
    for event in trace.stored if trace.malformed else ():
        for row in (*event.added, *event.changed):
            if row.digest in trace.malformed:
                text = f"the row {row.id} holds half a character"
                yield Finding("wellformed_text.row", text, (event.n,))


@needs("model", told_by="run", place=130)
def ends_with_user(history: History) -> Iterator[Finding]:
    """A main request ends with the user or a tool, never with the assistant's own words.

    `assistant`: the last message is the assistant's, although the last answer was not paused. The
    check applies to requests that the dialect accepts; newer models take no prefill.

    Not a finding: a request that sends a paused answer back, or repeats such a request; a
    recording, because its model may accept a prefill.

    The cause is a reply that was stored before a retry, or a turn that began without its message.
    To fix it, call the model only after a new message from another side. Source: invariant 5;
    XiaomiMiMo/MiMo-Code#1703.
    """
    paused: dict[str, bool] = {}
    sent_back: dict[str, Node] = {}
    for exchange in history.trace.exchanges:
        session = exchange.called.session
        if _has_last_word(exchange) and sent_back.get(session) is not exchange.node:
            if paused.get(session):
                sent_back[session] = exchange.node
            else:
                text = f"{exchange.called.key} ends with the assistant's own message"
                yield Finding("ends_with_user.assistant", text, (exchange.n,))
        if exchange.purpose == "main" and exchange.succeeded and not exchange.too_large:
            paused[session] = exchange.stop in ("pause_turn", "compaction")


def _has_last_word(exchange: Exchange) -> bool:
    sides = (node.side for node in exchange.node.back() if node.side != "system")
    main = exchange.purpose == "main" and not exchange.called.refused
    return main and next(sides, "") == "assistant"
