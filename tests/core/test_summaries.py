"""A request for a summary is known by its words, or by what becomes of its answer."""

from __future__ import annotations

from typing import Any

import pytest

from harness import InboxItem, Run, Scenario, Turn, run
from harness.core.values.profile import Profile

SUMMARY = "They greeted each other in the morning, and said nothing else."
RULES = "You summarise conversations."
TALK = Scenario(
    name="talk",
    policy="open",
    inbox=tuple(InboxItem(text=t) for t in ("Good morning.", "How are you today?", "Bye.")),
    script=(
        Turn(say="Good morning to you."),
        Turn(say=SUMMARY),
        Turn(say="I am well, thank you for asking."),
        Turn(say="Good bye."),
    ),
)


def _agent(*, keeps: str = "user", loses: bool = False) -> Any:
    """An agent that asks for a summary before its second turn, and keeps it as said."""

    def agent(brief: Any) -> None:
        client, rows, system = brief.anthropic(), list[dict[str, Any]](), "Be kind."

        def ask(messages: Any, rules: str) -> str:
            made = client.messages.create(
                model="any", max_tokens=99, system=rules, messages=messages
            )
            return str(made.content[0].text)

        for n, message in enumerate(brief.inbox()):
            if n == 1:
                past = "\n".join(f"{row['role']}: {row['content']}" for row in rows)
                said = ask([{"role": "user", "content": past}], RULES)
                rows = [{"role": "user", "content": f"So far: {said}"}] if keeps == "user" else []
                rows += [{"role": "assistant", "content": "I see."}] if keeps == "user" else []
                system = f"Be kind. So far: {said}" if keeps == "system" else system
            text = "Something else." if loses and n == 1 else message.text
            rows.append({"role": "user", "content": text})
            reply = ask(rows, system)
            rows.append({"role": "assistant", "content": reply})
            brief.send(reply, in_reply_to=message.id)

    return agent


def _defects(played: Run) -> set[str]:
    return {f.code for f in played.verdict.findings if f.class_ == "defect"}


@pytest.mark.parametrize("keeps", ["user", "system"])
def test_an_answer_that_goes_on_as_words_of_the_list_is_a_summary(keeps: str) -> None:
    played = run(TALK, _agent(keeps=keeps))
    assert [c.calls[0].called.key for c in played.history.trace.compactions] == ["main/model#2"]
    assert _defects(played) == set()


def test_a_summary_that_nobody_keeps_is_none() -> None:
    played = run(TALK, _agent(keeps="nothing"))
    assert not played.history.trace.compactions
    assert _defects(played) == {"history_faithful.forgotten_reply"}
    assert "inbound_exactly_once.order" in {f.code for f in played.verdict.findings}


def test_a_message_that_is_lost_after_a_summary_is_found() -> None:
    assert "inbound_exactly_once.lost" in _defects(run(TALK, _agent(loses=True)))


def test_a_pattern_of_the_profile_may_be_in_the_system_text() -> None:
    profile = Profile(purposes={"^You summarise": "compact"})
    played = run(TALK, _agent(keeps="nothing"), profile=profile)
    purposes = [exchange.called.purpose for exchange in played.history.trace.exchanges]
    assert purposes == ["main", "compact", "main", "main"]


def test_an_answer_that_the_user_says_again_is_no_summary() -> None:
    echo = (InboxItem(text="Good morning."), InboxItem(text=SUMMARY), InboxItem(text="Bye."))
    scenario = Scenario(
        name="echo", policy="open", inbox=echo,
        script=(Turn(say=SUMMARY), Turn(say="Yes."), Turn(say="Good bye.")),
    )  # fmt: skip

    def forgetful(brief: Any) -> None:
        client = brief.anthropic()
        for message in brief.inbox():
            said = [{"role": "user", "content": message.text}]
            reply = client.messages.create(model="any", max_tokens=99, messages=said)
            brief.send(reply.content[0].text, in_reply_to=message.id)

    played = run(scenario, forgetful)
    assert not played.history.trace.compactions
    assert "history_faithful.forgotten_reply" in _defects(played)


def test_an_agent_that_keeps_its_conversation_as_one_text_makes_no_summaries() -> None:
    def agent(brief: Any) -> None:
        client, past = brief.anthropic(), ""
        for message in brief.inbox():
            past += f"user: {message.text}\n"
            said = [{"role": "user", "content": past}]
            reply = client.messages.create(model="any", max_tokens=99, messages=said)
            past += f"assistant: {reply.content[0].text}\n"
            brief.send(reply.content[0].text, in_reply_to=message.id)

    played = run(TALK, agent)
    assert not played.history.trace.compactions
    assert "truthful_outcome.no_answer" not in _defects(played)


def test_an_answer_that_is_used_beside_the_whole_conversation_is_no_summary() -> None:
    def titled(brief: Any) -> None:
        client, rows, system = brief.anthropic(), list[dict[str, Any]](), "Be kind."
        for n, message in enumerate(brief.inbox()):
            if n == 1:
                past = "\n".join(f"{row['role']}: {row['content']}" for row in rows)
                asked = [{"role": "user", "content": f"A title for: {past}"}]
                made = client.messages.create(model="any", max_tokens=99, messages=asked)
                system = f"Be kind. The talk is called: {made.content[0].text}"
            rows.append({"role": "user", "content": message.text})
            reply = client.messages.create(model="any", max_tokens=99, system=system, messages=rows)
            rows.append({"role": "assistant", "content": reply.content[0].text})
            brief.send(reply.content[0].text, in_reply_to=message.id)

    played = run(TALK, titled)
    assert [e.purpose for e in played.history.trace.exchanges] == ["main", "aux", "main", "main"]
    assert not played.history.trace.compactions
    assert "inbound_exactly_once.lost" not in _defects(played)


@pytest.mark.parametrize(("behind", "wanted"), [(True, "main"), (False, "compact")])
def test_a_message_behind_a_summary_that_keeps_its_prompt_asks_for_none(
    behind: bool, wanted: str
) -> None:
    """The agent merges the two, as APIs wish whose roles alternate."""

    def agent(brief: Any) -> None:
        client, told = brief.anthropic(), ""

        def ask(*texts: str) -> str:
            content: Any = [{"type": "text", "text": text} for text in texts]
            said: Any = [{"role": "user", "content": content}]
            made = client.messages.create(model="any", max_tokens=99, messages=said)
            return str(made.content[0].text)

        for n, message in enumerate(brief.inbox()):
            if n == 1:
                told = f"Summarise: {ask('Summarise: Good morning.')}"
            parts = [part for part in (told, message.text) if part]
            brief.send(ask(*(parts if behind else parts[::-1])), in_reply_to=message.id)

    played = run(TALK, agent, profile=Profile(purposes={"Summarise": "compact"}))
    assert [e.called.purpose for e in played.history.trace.exchanges][2] == wanted
