"""Whether each call of an answer is run or refused, once, with its whole and unchanged input."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import chain, pairwise
from typing import Any, TypeAlias

from harness.checks.evidence.children_told import child_ends
from harness.checks.evidence.declarations import excused_by, needs
from harness.checks.evidence.excuses import (
    COMPACTION_BETWEEN,
    KILL_BETWEEN,
    OVERFLOW_BETWEEN,
    Case,
)
from harness.checks.evidence.kept_calls import (
    alteration,
    bare_name,
    has_another_name,
    is_another,
    named,
    same_values,
)
from harness.checks.evidence.tool_inputs import (
    differences,
    is_empty,
    plain,
    readings,
    same_input,
)
from harness.checks.evidence.turn_outcomes import CUT_STOPS, is_unsaid
from harness.core.history.events import Effected
from harness.core.history.exchanges import Ask, Exchange, Execution, Node
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.values.carried_text import is_asked, lost_parts
from harness.core.values.messages import Json, Text, ToolUse, canonical
from harness.core.values.verdict import Cause, Finding


@needs("model", "tool", place=300)
def args_complete(history: History) -> Iterator[Finding]:
    """The tool that a complete answer calls runs, with the input of that answer.

    `other_tool`: another tool runs for the call, such as the one with the nearest name.
    `incomplete`: the answer never ended. `truncated`: it stopped for another reason than to call a
    tool. `changed`: the input that ran is not the one on the wire. `empty_input`: `{}` ran although
    the schema requires a name. `no_object`: the input that ran, or that of a recorded call, is not
    an object. `optional`: a request offers the tool with a required input that the model may leave
    out.

    Not a finding: a name that no tool has, in other case, with other marks, or without a prefix,
    such as `functions.`; a complete answer with any numbering of its events; an input with `NaN`,
    as a client reads it; a default that was filled in or a value that was converted, as the schema
    of the tool says ("1" for an integer); half of a character that was taken out or replaced; free
    text for a custom tool; a missing input; in a recording, a failed call, which may never have
    run. Source: invariant 22.
    """
    trace = history.trace
    recorded = trace.world == "recording"
    if recorded:
        yield from _no_objects(trace)
    yield from _optional(trace)
    # An answer may hold thousands of calls, so what it gives elsewhere is looked for once.
    strays = cache(_stray_inputs)
    for execution in trace.executions:
        ask = execution.ask
        # A recording does not distinguish a failed call from one that never ran.
        if ask is None or (recorded and (execution.failed or execution.answered is None)):
            continue
        for rule, text in _broken(trace, execution, ask, recorded, strays):
            # The user may have edited the input: `approval` compares the two.
            is_open = ask.questions_before(execution.n) or _begins_twice(ask.exchange)
            if rule == "changed" and is_open:
                continue
            events = (ask.exchange.n, execution.n)
            yield Finding(f"args_complete.{rule}", f"{execution.called.key}: {text}", events)


def _optional(trace: Trace) -> Iterator[Finding]:
    """Yield each tool of the scenario that a request offers without what it requires, once."""
    tools: dict[str, dict[str, Any]] = trace.settings.get("tools", {}) if trace.takes_tools else {}
    asked = {exchange.request.tools: exchange for exchange in reversed(trace.exchanges)}
    found: dict[str, tuple[Exchange, list[str]]] = {}
    for digest, exchange in asked.items():
        for name, offered in trace.schemas.get(digest, {}).items():
            if lost := _let_off(tools.get(name) or {}, offered):
                found[name] = (exchange, lost)
    for name, (exchange, lost) in found.items():
        text = f"{exchange.called.key} offers {name} as if it did not require {', '.join(lost)}: "
        text += "the model may leave it out"
        yield Finding("args_complete.optional", text, (exchange.n,), cause=Cause(tool=name))


def _let_off(known: Mapping[str, Any], offered: Mapping[str, Any]) -> list[str]:
    """The inputs that a tool requires and an offer lists among others that may be left out. With
    parts under other words (`allOf`, `$ref`), or with a default, an offer may differ."""
    listed = offered.get("properties")
    if not isinstance(listed, dict) or {"allOf", "anyOf", "oneOf", "$ref"} & offered.keys():
        return []
    kept = offered.get("required")
    if not isinstance(kept, (list, tuple, type(None))):
        return []  # no schema that a provider reads
    lost = [n for n in known.get("required", ()) if n in listed and n not in (kept or ())]
    return [n for n in lost if not (isinstance(listed[n], dict) and "default" in listed[n])]


_Strays: TypeAlias = Callable[[Exchange], tuple[Json, ...]]


def _broken(
    trace: Trace, execution: Execution, ask: Ask, recorded: bool, strays: _Strays
) -> Iterator[tuple[str, str]]:
    name, exchange = execution.request.name, ask.exchange
    if _is_other_tool(trace, execution, ask):
        yield "other_tool", f"{name} runs for a call of {ask.use.name}, which is another tool"
    if exchange.is_cut:
        yield "incomplete", f"{name} runs although the model's answer was cut"
    elif exchange.stop in CUT_STOPS and not (
        is_unsaid(exchange) or (recorded and exchange.stop is None)
    ):
        yield "truncated", f"{name} runs although the answer stopped with {exchange.stop}"
    ran, schema = execution.request.input, trace.schema(exchange, name)
    is_said = _is_said(ran, ask.use.input, schema)
    if not (is_said or any(_is_said(ran, value, schema) for value in strays(exchange))):
        given = "an empty input in place of the one that" if is_empty(ran) else "another input than"
        names = "" if is_empty(ran) else differences(ran, ask.use.input)
        yield "changed", f"{name} runs with {given} the model gave{names}"
    elif not recorded and schema.get("type") == "object" and _is_other_json(ran):
        yield "no_object", f"{name} runs with an input that is not an object: {canonical(ran)[:80]}"
    if is_empty(ran) and schema.get("required"):
        yield "empty_input", f"{name} runs with an empty input although its schema requires one"


def _stray_inputs(exchange: Exchange) -> tuple[Json, ...]:
    """The inputs that an answer gives to a text, or to a call that began twice. Anthropic's SDK
    counts such a block as two, so what follows goes to another one; other clients read it right."""
    blocks = exchange.reply.blocks if exchange.reply else ()
    uses = [block for block in blocks if isinstance(block, ToolUse)]
    ids = [use.id for use in uses if use.id]
    began_twice = len(set(ids)) < len(ids)
    texts = (block.extra for block in blocks if isinstance(block, Text))
    stray = [extra["input"] for extra in texts if "input" in extra]
    return (*stray, *(use.input for use in uses if began_twice))


def _is_other_tool(trace: Trace, execution: Execution, ask: Ask) -> bool:
    """Whether a call that names no such tool runs one. Agents repair the form of a name alone: its
    case, its marks, and a prefix that the model was trained on. A name that a tool has is right."""
    name, asked, exchange = execution.request.name, ask.use.name, ask.exchange
    if name == asked or not ask.use.id:
        return False
    if asked not in trace.settings.get("tools", {}) and bare_name(asked).endswith(bare_name(name)):
        return False
    if execution.called.session != exchange.called.session:
        return False
    uses = exchange.reply.tool_uses if exchange.reply else ()
    return all(use.id != ask.use.id or use.name == asked for use in uses)


def _no_objects(trace: Trace) -> Iterator[Finding]:
    """Yield each recorded call whose input is not an object, once."""
    for exchange in trace.exchanges:
        for use in exchange.reply.tool_uses if exchange.reply and exchange.called.provider else ():
            if _is_other_json(use.input):
                said = canonical(use.input)[:80]
                text = f"{exchange.called.key}: the input of {use.name} is not an object: {said}"
                events = (exchange.answered.n,) if exchange.answered else ()
                cause = Cause(tool=use.name)
                yield Finding("args_complete.no_object", text, events, cause=cause)


def _is_other_json(value: Json) -> bool:
    """Whether an input is JSON that no tool accepts; a custom tool takes free text."""
    if isinstance(value, str):
        return value.lstrip().startswith("{")
    return value is not None and not isinstance(value, dict)


def _is_said(ran: Json, said: Json, schema: dict[str, Json]) -> bool:
    """Whether a tool ran with the input of an answer, as the schema reads it."""
    if ran is said:  # a recording has one of them
        return True
    if canonical(plain(ran)) in (found := readings(said)):
        return True
    return any(same_input(value, plain(ran), schema) for value in found.values())


@needs("tool", told_by="run", place=310)
def effect_once(history: History) -> Iterator[Finding]:
    """A call of the model runs once, also if the next request fails.

    `again`: a call that was run and did not fail is run again. `effect`: two runs of one call
    change the outside world, without a common idempotency key. So does a child that is begun again
    from its prompt. Two calls of an answer with one id and one input are one call. A tool that
    failed without an effect may be tried again. Source: invariant 23.
    """
    trace = history.trace
    effects: dict[str, list[Effected]] = {}
    for event in trace.events:
        if isinstance(event, Effected):
            effects.setdefault(event.key, []).append(event)
    runs: dict[tuple[object, ...], list[Execution]] = {}
    for execution in trace.executions:
        if execution.ask is not None:
            runs.setdefault(_call(execution.ask), []).append(execution)
    for first, *later in runs.values():
        if later:
            yield from _second_runs(first, later, effects)
    if effects:
        yield from _begun_again(trace, effects)


def _call(ask: Ask) -> tuple[object, ...]:
    """The key that identifies a call of the model; an id that equals the tool's name is not
    used."""
    use = ask.use
    if use.id in ("", use.name):
        return (id(ask),)
    return id(ask.exchange), use.id, use.name, canonical(use.input)


def _second_runs(
    first: Execution, later: list[Execution], effects: dict[str, list[Effected]]
) -> Iterator[Finding]:
    name, happened = first.request.name, list(effects.get(first.called.key, ()))
    for before, again in pairwise([first, *later]):
        if before.answered is not None and not before.failed:
            text = f"{again.called.key}: the call {again.request.id} of {name} is run again"
            yield Finding("effect_once.again", text, (before.n, again.n))
        for effect in effects.get(again.called.key, ()):
            keyed = {e.idempotency_key for e in happened if e.idempotency_key}
            same = [e for e in happened if e.name == effect.name]
            if same and effect.idempotency_key not in keyed:
                text = f"{again.called.key}: {effect.name} happens again for one call of {name}"
                yield Finding("effect_once.effect", text, (same[0].n, effect.n))
            happened.append(effect)


def _begun_again(trace: Trace, effects: dict[str, list[Effected]]) -> Iterator[Finding]:
    """Yield each effect that comes again because the child of one call began again from its prompt,
    in another session or in the same one."""
    asks = {end.child.session: id(end.ask) for end in child_ends(trace) if end.ask}
    first, begun = dict[str, Exchange](), dict[str, list[int]]()
    for exchange in trace.exchanges if asks else ():
        name = exchange.called.session
        if name in asks and first.setdefault(name, exchange).node is exchange.node:
            begun.setdefault(name, []).append(exchange.n)
    known: dict[tuple[object, ...], tuple[tuple[str, int], Effected]] = {}
    for run in trace.executions if asks else ():
        # A child may run the tools of its parent's session.
        name = (run.ask.exchange if run.ask else run).called.session
        for effect in effects.get(run.called.key, ()) if name in first else ():
            life = name, bisect_left(begun[name], run.n)
            kind = asks[name], _texts(first[name]), effect.name, run.identity
            before, old = known.setdefault(kind, (life, effect))
            is_keyed = effect.idempotency_key and effect.idempotency_key == old.idempotency_key
            if before != life and not is_keyed:
                text = f"{run.called.key}: {effect.name} happens again, because the child of one "
                text += "call was begun again from its prompt"
                yield Finding("effect_once.effect", text, (old.n, effect.n))


def _texts(exchange: Exchange) -> tuple[str, ...]:
    return tuple(m.text for m in exchange.node.messages if m.role != "system")


@needs("model", "tool", told_by="run", or_calls=True, place=295)
@excused_by(unrun=(COMPACTION_BETWEEN, KILL_BETWEEN, OVERFLOW_BETWEEN))
def calls_handled(history: History) -> Iterator[Finding | Case]:
    """Each call of a whole answer is run, or refused as the model gave it.

    `dropped`: a call did not run, and the next request of its turn holds other calls of the answer,
    or its words, without this call. So the model cannot know that it did not run. `misread`: a call
    did not run, and the next request holds it with another input than the model gave. `rewritten`:
    the same of a call that ran, or it stands there as another call of the answer. `altered`: a call
    that ran stands there without a part of its input, with another text, or under another name.

    Not a finding: an answer left out as a whole and asked for again, or cut; a call with an
    unreadable input, or of a tool not offered; an equal call that is kept; a call that is told in
    words; an input with a default filled in or a value converted; a long input that is shortened,
    or a secret that is taken out; what a compaction, a kill or a request over the window took out.

    Clients mix the pieces of calls, and loops run the first call alone. To fix it, join the pieces
    of a call by its index. Send each call of an answer back, with its result or an error.
    Source: fault:S18, fault:M13.
    """
    for turn in history.trace.turns.values():
        for exchange, later in pairwise(turn.readable):
            if exchange.reply is None or not exchange.succeeded or exchange.stop in CUT_STOPS:
                continue
            unrun = _unrun(history.trace, turn, exchange, later)
            for ask, rule, how in chain(unrun, _rewritten(history.trace, turn, exchange, later)):
                text = f"{later.called.key}: the call of {ask.use.name} in {exchange.called.key} "
                text += f"{_HANDLED[rule]} {how}".rstrip()
                events, cause = (exchange.n, later.n), Cause(tool=ask.use.name)
                found = Finding(f"calls_handled.{rule}", text, events, cause=cause)
                yield Case("unrun", [found], turn, later.n, exchange.n)


_HANDLED = {
    "dropped": "is neither run nor refused, and is missing",
    "misread": "did not run, and stands there with another input than the model gave",
    "rewritten": "ran, and stands there as another call, or with another input than the model gave",
    "altered": "ran, and stands there",
}


def _unrun(
    trace: Trace, turn: Turn, exchange: Exchange, later: Exchange
) -> Iterator[tuple[Ask, str, str]]:
    """Yield the calls of an answer that did not run, each with the rule that it breaks.

    A request that holds no part of the answer has left it out as a whole.
    """
    asks = [ask for ask in turn.asks if ask.exchange is exchange and ask.execution is None]
    if not asks or exchange.reply is None:
        return
    new = [n.message for n in _beyond(later.node, exchange.node) if n.side == "assistant"]
    held = [use for message in new for use in message.tool_uses]
    inputs = {use.id: use for use in held if use.id}
    calls = set(map(named, held))
    given = [(use.id, use.input) for use in exchange.reply.tool_uses]
    words, said = "\n".join(message.text for message in new), exchange.reply.text
    is_part = bool(calls.intersection(map(named, exchange.reply.tool_uses)))
    is_part = is_part or (is_asked(said) and not lost_parts(said, words))
    for ask in asks:
        use, schema = ask.use, trace.schema(exchange, ask.use.name)
        if not schema or not isinstance(use.input, dict) or named(use) in calls:
            continue
        if found := inputs.get(use.id):
            sent = readings(found.input).values()  # Chat keeps the arguments as text
            said_here = [input for id, input in given if id == use.id]
            is_said = any(_is_said(i, value, schema) for i in sent for value in said_here)
            if found.name == use.name and not (is_said or _begins_twice(exchange)):
                yield ask, "misread", ""
        elif is_part and use.name not in words:
            yield ask, "dropped", ""


def _begins_twice(exchange: Exchange) -> bool:
    """Whether a block of the answer begins a second time. Anthropic's SDK counts two, and gives the
    input to another one (measured, tests/wire_table); no client can know which one is meant."""
    return exchange.answered is not None and "sse.block_start_twice" in exchange.answered.faults


def _rewritten(
    trace: Trace, turn: Turn, exchange: Exchange, later: Exchange
) -> Iterator[tuple[Ask, str, str]]:
    """Yield the calls that ran as the model gave them, and that the next request holds as something
    else. Beside each stand the rule and how the request holds it."""
    asks = [ask for ask in turn.asks if ask.exchange is exchange]
    if all(ask.execution is None for ask in asks) or _begins_twice(exchange):
        return
    new = [n for n in _beyond(later.node, exchange.node) if n.side == "assistant"]
    sent = {use.id: use for node in new for use in node.message.tool_uses if use.id}
    ids = Counter(ask.use.id for ask in asks)
    for ask in asks:
        use, run = ask.use, ask.execution
        found = sent.get(use.id) if ids[use.id] == 1 else None
        if run is None or found is None:
            continue
        others = (other.use for other in asks)
        if is_another(found, use, others):
            yield ask, "rewritten", ""
        elif has_another_name(found, use) and later.called.provider == exchange.called.provider:
            yield ask, "altered", f"as a call of {found.name}"
        schema = trace.schema(exchange, use.name)
        if found.name != use.name or not _is_said(run.request.input, use.input, schema):
            continue  # `args_complete` says so
        forms = [form for form in readings(found.input).values() if isinstance(form, dict)]
        if forms and not any(same_values(form, plain(use.input)) for form in forms):
            yield ask, "rewritten", ""
        elif forms and all(words := [alteration(form, use.input, schema) for form in forms]):
            yield ask, "altered", words[-1]


def _beyond(node: Node, other: Node) -> tuple[Node, ...]:
    """The messages of a list that are not in another one, oldest first."""
    depth = min(node.depth, other.depth)
    one, two = node.first(depth), other.first(depth)
    while one is not two and one.parent is not None and two.parent is not None:
        one, two = one.parent, two.parent
    return node.tail(one)
