"""Who speaks: the places of a history, the acts of an agent, the findings of a plug-in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, get_args

import msgspec

from harness import InboxItem, Scenario, ToolScript, ToolTurn, Turn, run
from harness.checks.judge import judge
from harness.core.history.events import StoredRow
from harness.core.history.history import History
from harness.core.values.calls import InboxRequest, ModelRequest, OutboxRequest, ToolRequest
from harness.core.values.messages import (
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    builtin,
)
from harness.core.values.verdict import (
    CrashPlace,
    Finding,
    FindingClass,
    NotApplicable,
    Verdict,
)
from harness.runner import Run
from tests.fuzz.writers.hostile_values import Case, OddText, texts_of

Spoken = tuple[History, Verdict]


def history_of(case: Case, draws: Random) -> Spoken:
    """A finished run in which the case is said wherever an agent, a model or a tool speaks.

    Raises TypeError or RecursionError for a value that no transport takes: it reaches the agent.
    """
    says, spoken = texts_of(case, draws), builtin(case.value)
    made = History()
    made.started(run=next(says), scenario=next(says), wire="anthropic", target=next(says), seed=7,
                 world="simulate", versions={next(says): next(says)})  # fmt: skip
    value = spoken if isinstance(spoken, dict) else {"a": spoken}
    asked = Message("user", (Text(next(says)), Opaque(next(says), {next(says): spoken})))
    made.answered(key="main/inbox#1", seam="inbox", session=next(says), turn=1,
                  value={"id": next(says), "text": next(says)})  # fmt: skip
    said = Message(
        "assistant",
        (Thinking(next(says)), Text(next(says)), ToolUse(next(says), next(says), value)),
    )
    request = ModelRequest(next(says), (made.note(asked),), tools_offered=True)
    made.called(key="main/model#1", seam="model", request=request, session="main", turn=1)
    made.answered(key="main/model#1", seam="model", blocks=made.note(said), session="main", turn=1,
                  error=next(says), stop=next(says), faults=(next(says),),
                  usage={next(says): spoken})  # fmt: skip
    tool = ToolRequest(next(says), next(says), value)
    made.called(key="main/tool#1", seam="tool", request=tool, session="main", turn=1)
    made.answered(key="main/tool#1", seam="tool", outcome="error", session="main", turn=1,
                  value={"content": spoken, "is_error": True})  # fmt: skip
    failed = made.note(Message("user", (ToolResult(next(says), next(says), is_error=True),)))
    made.value({next(says): spoken})
    row = StoredRow(next(says), failed, next(says), next(says))
    made.stored(store=next(says), added=(row,), changed=(row,), gone=(next(says),))
    made.effect(key=next(says), name=next(says), idempotency_key=next(says))
    made.refused(status=400, text=next(says), request=next(says))
    made.called(key="main/inbox#2", seam="inbox", request=InboxRequest(), session="main", turn=1)
    out = OutboxRequest("final", next(says), status=next(says))
    made.called(key="main/outbox#1", seam="outbox", request=out, session=next(says), turn=1)
    made.answered(key="main/outbox#1", seam="outbox", session="main", turn=1)
    place = CrashPlace(next(says), 3, next(says), next(says))
    made.ended(how=draws.choice(("crashed", "returned", next(says))), exit_code=1, text=next(says),
               frames=(next(says),), place=place, traceback=next(says), unplayed=(next(says),),
               silent_faults=(next(says),), undelivered=(next(says),),
               live_sockets=(next(says),))  # fmt: skip
    return made, verdict_of(made, says, draws)


def verdict_of(history: History, says: Iterator[str], draws: Random) -> Verdict:
    """The verdict of the judge, with findings as a plug-in makes them."""
    found = judge(history)
    classes = (*get_args(FindingClass), "")
    more = [
        Finding(draws.choice(("run.crashed", f"mine.{next(says)}", next(says))), next(says),
                tuple(sorted(draws.sample(range(1, len(history.events) + 1), 3))),
                class_=draws.choice(classes), follows=next(says),
                place=CrashPlace(next(says), 1, next(says), next(says)))
        for _ in range(draws.choice((0, 1, 3)))
    ]  # fmt: skip
    lacks = (NotApplicable(next(says), next(says), next(says), "unused"),)
    return msgspec.structs.replace(
        found, verdict="fail" if more or found.findings else draws.choice(("unknown", "pass")),
        findings=(*found.findings, *more), known=tuple(more[:1]),
        doubts=(*found.doubts, next(says)), not_applicable=(*found.not_applicable, *lacks),
    )  # fmt: skip


END = Turn(say="end", optional=True, times="forever")
TOOLS = {"look": ToolScript(script=(ToolTurn(ok="seen", times="forever"),))}


def scenario_of(case: Case, draws: Random) -> Scenario:
    """A scenario that says the case in its texts."""
    text = case.text
    use = Turn(use="look", input={text: text} if draws.randrange(2) else {}, optional=True)
    answered = ToolTurn(ok=text, times="forever") if draws.randrange(2) else TOOLS["look"].script[0]
    return Scenario(
        name="spoken", title=text, story=text,
        inbox=(InboxItem(id=text[:50] or "m", text=text or "hi"), InboxItem(id="m2", text="hi")),
        tools={"look": ToolScript(description=text, script=(answered,))},
        script=(use, Turn(say=text or "x", optional=True), END),
    )  # fmt: skip


def run_of(case: Case, draws: Random, **options: Any) -> Run:
    """A run of an agent that says the case by an act which is drawn."""
    act = draws.choice(ACTS)
    return run(scenario_of(case, draws), lambda brief: act(brief, case, draws), **options)


def _error(case: Case, draws: Random) -> BaseException:
    raised = draws.choice(
        (ValueError, KeyboardInterrupt, SystemExit, GeneratorExit, RecursionError)
    )

    class Odd(draws.choice((Exception, ValueError, OSError))):  # type: ignore[misc]
        def __str__(self) -> str:
            match draws.randrange(3):
                case 0:
                    raise raised("no text")
                case 1:
                    return OddText(case.text)
            return case.text

        __repr__ = __str__

    name = "".join(c for c in case.text[:60] if c.isprintable() and not 0xD800 <= ord(c) < 0xE000)
    Odd.__name__ = Odd.__qualname__ = name or "Odd"
    group = ExceptionGroup(case.text or "x", [Odd(), ValueError(case.text)])
    made = (
        RuntimeError(case.text), RuntimeError(case.value), Odd(), KeyError(case.text),
        SystemExit(case.text), group,
    )  # fmt: skip
    return draws.choice(made)


def raises(brief: Any, case: Case, draws: Random) -> None:
    """An error whose text, notes, name and cause say it."""
    error = _error(case, draws)
    if draws.randrange(2):
        error.add_note(case.text)
    if draws.randrange(3) == 0:
        error.__notes__ = draws.choice(([case.value], case.value))
    if draws.randrange(2):
        raise error from _error(case, draws)
    raise error


def sends(brief: Any, case: Case, draws: Random) -> None:
    """A reply, its session, its status, and the message that it answers."""
    for message in brief.inbox():
        _ask(brief, case.text or "hi")
        said: Any = case.value if draws.randrange(4) == 0 else case.text
        match draws.randrange(4):
            case 0:
                brief.send(said)
            case 1:
                brief.send("x", session=said)
            case 2:
                brief.send("x", in_reply_to=said)
            case _:
                brief.send("x", in_reply_to=message.id, status=said)


def calls(brief: Any, case: Case, draws: Random) -> None:
    """A tool, its input, and the id of the call."""
    for message in brief.inbox():
        _ask(brief, message.text)
        [look] = brief.tools
        match draws.randrange(3):
            case 0:
                look.call(case.value if isinstance(case.value, dict) else {"a": case.value})
            case 1:
                look.call({case.text: case.text}, id=case.text)
            case _:
                look.call({}, id=case.value)
        brief.send("done")


def stores(brief: Any, case: Case, draws: Random) -> None:
    """A row of the session store."""
    for inbound in brief.inbox():
        brief.store.accept(inbound, Message("user", (Text(case.text),)))
        _ask(brief, inbound.text)
        use = ToolUse(case.text, case.text, case.value)
        brief.store.append(draws.choice(("main", case.text)), Message("assistant", (use,)))
        brief.store.reply(inbound, Message("assistant", (Text(case.text),)), "completed", "final")
        brief.send("done")


def asks(brief: Any, case: Case, draws: Random) -> None:
    """A request to the model, byte for byte."""
    import json

    import httpx2

    said: Any = draws.choice((case.text, case.value))
    body = {"model": case.text, "max_tokens": 9, "system": case.text, "messages": [
        {"role": "user", "content": [{"type": "text", "text": said}]}]}  # fmt: skip
    for _ in brief.inbox():
        with httpx2.Client(transport=brief.transport) as client:
            url = "https://api.anthropic.com/v1/messages"
            client.post(url, content=json.dumps(body), headers={"x-api-key": "k"})
        brief.send("done")


def prints(brief: Any, case: Case, draws: Random) -> None:
    """Files in the session folder, and a cancel in an unknown session."""
    for _ in brief.inbox():
        _ask(brief, "hi")
        brief.cancelled(case.text)
        (brief.session_dir / "said.txt").write_bytes(case.text.encode("utf-8", "surrogatepass"))
        brief.send("done")


def _ask(brief: Any, text: str) -> None:
    request = [{"role": "user", "content": text}]
    brief.anthropic().messages.create(model="m", max_tokens=64, messages=request)


ACTS: tuple[Callable[[Any, Case, Random], None], ...] = (
    raises, raises, sends, calls, stores, asks, prints,
)  # fmt: skip
"""What an agent may do to be heard."""
