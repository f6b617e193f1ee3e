"""Words that go round among the agents of a turn, and talks that only look like it."""

from __future__ import annotations

from functools import partial
from itertools import cycle, islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent import build
from harness.checks.evidence.rounds_of_words import talks
from harness.checks.whole_answers import answer_taken
from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, user
from harness.runner import run
from tests.checks.histories import Story, codes, use
from tests.mutants import forgets_its_states, rewrites_for_its_judge, thanks_the_other_agent
from tests.mutants.forgets_its_states import Nodes

ROUND, VERDICT = ["answer_taken.same_round"], ["answer_taken.same_verdict"]

THANKS = ("Thank you for your help, Bo.", "You are welcome, Ann.")
CHAPTERS = (
    "Rivers rise in hills.",
    "Boats need tar.",
    "Bees swarm in May.",
    "Salt melts ice.",
    "Owls hunt mice.",
    "Iron rusts fast.",
    "Wool keeps warm.",
    "Glass is sand.",
)
REVISE = "REVISE: be more exact."


def _found(agent: Any, *said: str) -> list[str]:
    """What is found where the agents of a turn say this."""
    inbox = (InboxItem(text="Begin, please."),)
    turns = tuple(Turn(say=text) for text in said)
    scenario = Scenario(name="talk", policy="open", inbox=inbox, script=turns)
    return codes(answer_taken(run(scenario, agent).history))


_talk = partial(_found, thanks_the_other_agent.agent)
_judged = partial(_found, rewrites_for_its_judge.agent)
_nodes = partial(_found, forgets_its_states.agent)


def _again(times: int) -> list[str]:
    """Nearly one answer, made again so often, with one verdict after each but the last."""
    answers = islice(cycle(["The tower is 330 m high.", "The tower is high: 330 m."]), times)
    return [text for answer in answers for text in (answer, REVISE)][:-1]


def test_two_agents_that_thank_each_other_go_round() -> None:
    assert _talk(*THANKS * 9) == ROUND
    assert _talk(*THANKS * 3, "The report is on your desk.", "GOODBYE, Ann.") == []


def test_a_talk_with_something_new_in_each_round_does_not() -> None:
    news = [word for text in CHAPTERS for word in (text, f"What of this: {text.lower()}")]
    assert _talk(*news, "That is all.", "GOODBYE, Ann.") == []


def test_one_that_only_says_go_on_is_no_judge() -> None:
    assert _talk(*[w for t in CHAPTERS for w in (t, "Good. Go on, please.")]) == []


def test_a_workflow_that_comes_to_its_state_again_goes_round() -> None:
    assert _nodes(*("Add them up.", "It is 41.", "FAILED: it is wrong.") * 6) == ROUND


def test_a_workflow_whose_job_moves_on_does_not() -> None:
    parts = [("Look at it.", f"{n} of 9 parts are done.", "FAILED: not yet.") for n in range(5)]
    said = [text for each in parts for text in each]
    assert _nodes(*said, "Look at it.", "9 of 9 parts are done.", "PASSED.") == []


def test_a_workflow_that_waits_between_its_rounds_does_not() -> None:
    def patient(brief: Brief) -> None:
        class Waiting(Nodes):
            def is_stuck(self) -> bool:
                brief.clock.sleep(10)
                return False

        build(brief, turn=Waiting).run()

    rounds = ("Look at it.", "It is at work.", "FAILED: not yet.") * 5
    assert _found(patient, *rounds, "Look at it.", "It is done.", "PASSED.") == []


def test_a_judge_is_one_who_says_the_same_of_six_answers() -> None:
    assert _judged(*_again(7), "ACCEPTED.") == VERDICT
    assert _judged(*_again(6), "ACCEPTED.") == []


def test_a_judge_who_is_satisfied_at_the_third_answer_is_right() -> None:
    assert _judged(*_again(3), "ACCEPTED.") == []


def test_a_judge_who_asks_for_something_else_each_time_is_right() -> None:
    wants = [f"REVISE: write of {text.split()[0].lower()} too." for text in CHAPTERS]
    answers = [f"The tower is {'very ' * n}high." for n in range(len(wants))]
    said = [text for pair in zip(answers, wants, strict=True) for text in pair]
    assert _judged(*said, "The tower is high.", "ACCEPTED.") == []


def test_one_answer_that_is_judged_and_made_again_goes_round() -> None:
    assert _judged(*("The tower is 330 m high.", REVISE) * 9) == ROUND


def _asked(story: Story, times: int, *said: tuple[str, str]) -> Story:
    for question, answer in islice(cycle(said), times):
        story.reply(answer, messages=[user(question)])
    return story


def test_equal_questions_of_which_no_answer_is_handed_on_are_samples() -> None:
    story = _asked(Story().turn("go"), 12, ("Is it red?", "Yes."), ("Is it blue?", "No."))
    assert codes(answer_taken(story.end())) == []


HANDED_ON = (("Say no.", "No."), ("No.", "Why?"))


def test_a_call_of_a_tool_within_the_rounds_brings_something_new() -> None:
    story = _asked(Story().turn("go"), 4, *HANDED_ON)
    story.reply(use("list", {"path": "a"})).tool("new")
    assert codes(answer_taken(_asked(story, 4, *HANDED_ON).end())) == []
    assert codes(answer_taken(_asked(Story().turn("go"), 8, *HANDED_ON).end())) == ROUND


def test_a_message_within_the_rounds_brings_something_new() -> None:
    story = _asked(Story(settings={"profile": {"inbound": "steer"}}).turn("go"), 4, *HANDED_ON)
    story.take("and red?", "m9", reader=True)
    assert codes(answer_taken(_asked(story, 4, *HANDED_ON).end())) == []


@pytest.mark.parametrize("repeats", [2, 3, 5])
def test_the_number_of_rounds_is_a_setting(repeats: int) -> None:
    for more in (0, 1):
        story = _asked(Story().turn("go"), 2 * repeats + more, *HANDED_ON)
        found = codes(answer_taken(story.end(), repeats=repeats))
        assert found == ROUND * more


@given(st.lists(st.sampled_from(["ab", "cd", "ef"]), min_size=2, max_size=5), st.integers(1, 4))
def test_a_circle_is_found_where_and_only_where_it_is_complete(words: list[str], n: int) -> None:
    story, last = Story().turn("go"), "go"
    for word in (words * n)[: len(words) * n]:
        messages: list[Message] = [user(last)]
        last = word
        story.reply(word, messages=messages)
    (talk,) = talks(story.end().trace)
    for found in talk.rounds(3):
        said = [exchange.reply.text for exchange in found if exchange.reply]
        period = len(said) // 3
        assert said[:-1] == said[:period] * 3
        assert said[-1] == said[0]
