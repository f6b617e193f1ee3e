"""A child of a brief: its requests name its session and its parent, in both worlds."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Brief, FaultSpec, InboxItem, Scenario, Turn, run
from harness.core.history.trace import children


def _agent(brief: Brief) -> None:
    for message in brief.inbox():
        child = brief.child("helper/1", parent=message.session)
        said = _ask(brief, child, message.text)
        brief.send(said)


def _ask(brief: Brief, child: Any, text: str) -> str:
    asked: Any = [{"role": "user", "content": text}]
    if brief.wire == "anthropic":
        parent = brief.anthropic(max_retries=0)
        parent.messages.create(model="m", max_tokens=9, messages=asked)
        own = child.anthropic(max_retries=0)
        return str(own.messages.create(model="m", max_tokens=9, messages=asked).content[0].text)
    brief.openai(max_retries=0).chat.completions.create(model="m", messages=asked)
    own = child.openai(max_retries=0, default_headers={"x-mine": "1"})
    return str(own.chat.completions.create(model="m", messages=asked).choices[0].message.content)


def _scenario(wire: str, **more: Any) -> Scenario:
    script = (Turn(say="I ask."), Turn(say="Here I am."))
    return Scenario(name="family", wire=wire, inbox=(InboxItem(text="Go."),), script=script, **more)


@pytest.mark.parametrize("wire", ["anthropic", "openai-chat"])
@pytest.mark.parametrize("world", ["simulate", "supervise"])
def test_a_child_has_its_session_and_its_parent(wire: str, world: Any) -> None:
    played = run(_scenario(wire), _agent, world=world)
    assert played.verdict.findings == ()
    (child,) = children(played.history.trace).values()
    assert (child.session, child.parent, child.root) == ("helper/1", "main", ("main", 1))


def test_a_child_needs_a_name_of_its_own() -> None:
    def agent(brief: Brief) -> None:
        for name in ("", "main"):
            with pytest.raises(ValueError, match="another session than its parent"):
                brief.child(name)
        _agent(brief)

    assert run(_scenario("anthropic"), agent).verdict.verdict == "pass"


def test_a_fault_on_a_child_strikes_at_no_other_request() -> None:
    struck: list[str] = []

    def agent(brief: Brief) -> None:
        for message in brief.inbox():
            try:
                _ask(brief, brief.child("helper"), message.text)
            except Exception as error:
                struck.append(type(error).__name__)
            brief.send("The helper has failed.", kind="error")

    refused = FaultSpec(kind="http.invalid_request", on="child")
    played = run(_scenario("anthropic", policy="open", faults=(refused,)), agent)
    answers = [e.answered.faults for e in played.history.trace.exchanges if e.answered]
    assert (struck, answers) == (["BadRequestError"], [(), ("http.invalid_request",)])
