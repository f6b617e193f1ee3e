"""What a turn claims, and what it was.

Failures of tools that are told, and failures that are hidden.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.agent import agent as reference
from harness.checks.evidence.turn_outcomes import outcome
from harness.checks.judge import judge
from harness.checks.truthfulness import error_visible, truthful_outcome
from harness.core.history.events import Killed
from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, Turn
from harness.core.values.plans import Wait
from harness.runner import run
from tests.checks.failing_worlds import FailingWorld
from tests.checks.histories import Story, codes, use
from tests.scenarios.all_runs import named


@pytest.mark.parametrize("status", ["", "ok", "success"])
@pytest.mark.parametrize(
    ("stop", "rule"),
    [
        ("refusal", "refused"),
        ("max_tokens", "truncated"),
        (None, "truncated"),
        ("pause_turn", "unfinished"),
    ],
)
def test_a_bad_end_is_no_success(status: str, stop: str | None, rule: str) -> None:
    story = Story().turn("go").reply("lo", stop=stop, request={"stream": True})
    asked = story.called
    (finding,) = truthful_outcome(story.final(status=status).end())
    assert finding.code == f"truthful_outcome.{rule}"
    assert finding.events == (asked, story.called)


@pytest.mark.parametrize(
    ("stop", "found"), [("tool_use", ["truthful_outcome.lost_call"]), (None, [])]
)
def test_a_stop_that_an_api_never_gives_is_doubtful_at_most(
    stop: str | None, found: list[str]
) -> None:
    story = Story().turn("go").reply("I will look.", stop=stop)
    assert codes(truthful_outcome(story.final().end())) == found


@pytest.mark.parametrize(("text", "found"), [(" ", 0), ("/help", 0), ("go", 1)])
def test_a_blank_message_needs_no_model_also_where_a_kill_took_the_reply(
    text: str, found: int
) -> None:
    story = Story().turn(text).say("Your message is empty.", taken=False).killed()
    assert len(list(truthful_outcome(story.history))) == found


def test_a_failed_request_is_no_success() -> None:
    story = Story().turn("go").fail(500).final("all done")
    (finding,) = truthful_outcome(story.end())
    assert finding.code == "truthful_outcome.failed"
    assert finding.message.startswith("turn 1 of main ends as a success, but the last answer")
    assert finding.message.endswith('is failed; the user reads "all done"')


def test_a_cut_answer_is_no_success() -> None:
    story = Story().turn("go").reply("al", complete=False, outcome="error").final("al")
    assert codes(truthful_outcome(story.end())) == ["truthful_outcome.incomplete"]


def test_a_turn_that_still_asks_for_a_tool_is_unfinished() -> None:
    story = Story().turn("go").reply(use("list")).tool().final("stopped")
    assert codes(truthful_outcome(story.end())) == ["truthful_outcome.unfinished"]


def test_a_turn_without_an_answer_is_no_success() -> None:
    assert codes(truthful_outcome(Story().turn("go").final("hi").end())) == [
        "truthful_outcome.no_answer"
    ]


def test_an_empty_reply_is_no_success() -> None:
    assert codes(truthful_outcome(Story().turn("go").reply(" ").final().end())) == [
        "truthful_outcome.empty"
    ]


@pytest.mark.parametrize("said", ["Done.", "OK", "Completed.", "No results found."])
def test_a_success_needs_more_than_an_empty_answer(said: str) -> None:
    assert codes(truthful_outcome(Story().turn("go").reply("").final(said).end())) == [
        "truthful_outcome.unfounded"
    ]
    ran = Story().turn("go").reply(use("write")).tool("written").reply("").final(said)
    spoken = Story().turn("go").reply(said).final(said)
    told = Story().turn("go").reply("").final("The model answered with nothing.")
    failed = Story().turn("go").reply("").final(said, status="failed")
    for story in (ran, spoken, told, failed):
        assert "truthful_outcome.unfounded" not in codes(truthful_outcome(story.end()))


def test_what_an_agent_says_of_our_own_limit_is_no_evidence() -> None:
    """No provider answers like this: the finding is `limit.*`, and the judge looks no further."""
    story = Story().turn("go").fail(400, "limit.model_calls").final("done")
    verdict = judge(story.end())
    assert verdict.verdict == "fail"
    assert {finding.check for finding in verdict.findings} == {"limit"}


@pytest.mark.parametrize("status", ["failed", "refused", "truncated", "limit"])
def test_saying_that_it_failed_is_the_truth(status: str) -> None:
    story = Story().turn("go").reply("no", stop="refusal").final(status=status)
    assert not list(truthful_outcome(story.end()))


def test_an_error_that_was_overcome_is_a_success() -> None:
    history = Story().turn("go").fail(529).reply("done").final().end()
    assert not list(truthful_outcome(history))
    assert outcome(history) == "completed"


def test_exit_status_0_without_a_word_after_a_failure_is_a_lie() -> None:
    story = Story().turn("go").fail(500)
    asked = story.called
    (finding,) = truthful_outcome(story.end(exit_code=0))
    assert finding.code == "truthful_outcome.exit_code"
    assert finding.events == (asked, story.last)


@pytest.mark.parametrize("code", [1, None])
def test_another_exit_status_is_the_truth(code: int | None) -> None:
    assert not list(truthful_outcome(Story().turn("go").fail(500).end(exit_code=code)))


@pytest.mark.parametrize(
    ("story", "word"),
    [
        (Story(), "none"),
        (Story().turn("go").reply("x"), "none"),
        (Story().turn("go").reply("x").final(status=""), "completed"),
        (Story().turn("go").reply("x").final(status="failed"), "failed_truthfully"),
        (Story().turn("go").fail(500).final("no", "", "error"), "failed_truthfully"),
        (Story().turn("go").cancel(), "cancelled"),
        (Story().turn("go").cancel().final("x", "cancelled"), "cancelled"),
        (Story().turn("go").fail(400, "limit.model_calls").final("x"), "limit"),
    ],
)
def test_the_outcome_of_a_turn(story: Story, word: str) -> None:
    assert outcome(story.history) == word


def test_the_worst_turn_is_the_outcome_of_the_run() -> None:
    story = Story().turn("a").reply("x").final(status="failed").turn("b").reply("x").final()
    assert outcome(story.end()) == "failed_truthfully"


def test_a_turn_that_was_killed_counts_as_the_one_in_which_its_message_came_again() -> None:
    scenario = Scenario(
        name="killed",
        inbox=(InboxItem(id="m1", text="hello"),),
        script=(Turn(say="Hello to you."),),
        faults=(FaultSpec(kind="persistence.killed_at_write"),),
    )
    done = run(scenario, reference)
    assert sum(isinstance(event, Killed) for event in done.history.events) == 1
    assert done.verdict.outcome == "completed"


FORBIDDEN = {"expect": {"must_not": {"say": ["is PAID"]}}}
PAY = use("write", {"path": "17"})


def _failed(**settings: Any) -> FailingWorld:
    world = FailingWorld(settings=settings)
    world.turn("Pay order 17.").reply(PAY).tool("card 4711 was not accepted", error=True)
    return world


def test_a_hidden_failure_is_told_with_the_run_and_the_request() -> None:
    world = _failed().result("", flagged=False)
    ran = world.called
    world.reply("Good.")
    (finding,) = error_visible(world.final().end())
    assert finding.code == "error_visible.hidden"
    assert finding.events == (ran, world.history.trace.exchanges[1].n)


@pytest.mark.parametrize("text", ["done", "wrote 17 bytes", '{"status": "ok"}'])
def test_a_failure_that_reads_like_a_success_of_the_tool_is_hidden(text: str) -> None:
    world = FailingWorld()
    world.turn("Pay order 17.").reply(PAY).tool(text).reply(PAY).tool("no card", error=True)
    world.result(text, flagged=False).reply("Good.")
    assert codes(error_visible(world.final().end())) == ["error_visible.hidden"]


@pytest.mark.parametrize("text", ["OK", "null", "[]", '{"ok": true}', "No results found."])
def test_a_failure_that_is_told_as_done_or_as_nothing_is_hidden(text: str) -> None:
    world = _failed().result(text, flagged=False).reply("Good.")
    assert codes(error_visible(world.final().end())) == ["error_visible.hidden"]


def test_a_tool_that_fails_with_no_results_is_told_in_its_words() -> None:
    world = FailingWorld().turn("Look.").reply(PAY)
    assert isinstance(world, FailingWorld)
    world.tool("no results", error=True)
    world.result("No results", flagged=False).reply("There are none.")
    assert not codes(error_visible(world.final().end()))


@pytest.mark.parametrize("text", ["No card was accepted.", "Keine Karte: 4711", "not ok: 4711"])
def test_other_short_words_may_tell_of_a_failure(text: str) -> None:
    world = _failed().result(text, flagged=False).reply("I could not pay.")
    assert not codes(error_visible(world.final().end()))


def test_a_failure_that_is_told_as_each_success_is_hidden() -> None:
    world = FailingWorld().turn("Pay order 17.").reply(PAY).tool("wrote 17 bytes")
    assert isinstance(world, FailingWorld)
    world.result("(nothing)", flagged=False).reply(PAY).tool("no card", error=True)
    world.result("(nothing)", flagged=False).reply("Good.")
    assert codes(error_visible(world.final().end())) == ["error_visible.hidden"]


@pytest.mark.parametrize(("waited", "found"), [(900_000, []), (10, ["error_visible.hidden"])])
def test_each_call_that_is_waited_for_in_vain_is_told_alike(waited: int, found: list[str]) -> None:
    world = FailingWorld().turn("Pay.").reply(use("list"))
    assert isinstance(world, FailingWorld)
    world.tool("7 files", steps=(Wait(waited),)).wait(120_000)
    world.result("No answer.", flagged=False).reply(PAY)
    world.tool("no card", error=True, steps=(Wait(waited),)).wait(120_000)
    world.result("No answer.", flagged=False).reply("I do not know.")
    assert codes(error_visible(world.final().end())) == found


def test_a_batch_in_series_may_give_up_a_tool_long_before_it_sends_its_results() -> None:
    """The first call answers after the agent's deadline, and before the second one ends."""
    for waited, expected in ((1_200_000, []), (10, ["error_visible.reworded"])):
        world = FailingWorld().turn("Pay order 17.").reply(PAY, PAY)
        world.tool("no card", error=True, steps=(Wait(waited),)).told_as_error("It timed out.")
        world.wait(900_000).tool("paid").wait(900_000).reply("I do not know.")
        assert codes(error_visible(world.final().end())) == expected


def test_what_a_request_showed_stays_true_when_a_later_success_reads_the_same() -> None:
    world = FailingWorld().turn("Pay order 17.").reply(PAY).tool("no card", error=True)
    assert isinstance(world, FailingWorld)
    world.result("See below.", flagged=False).reply(PAY)
    before = codes(error_visible(world.history))
    world.tool("wrote 17 bytes").result("See below.", flagged=False).reply("Good.")
    assert before == ["error_visible.reworded"]
    found = codes(error_visible(world.final().end()))
    assert found == ["error_visible.hidden", "error_visible.reworded"]


def test_the_result_of_another_call_hides_a_failure() -> None:
    world = FailingWorld().turn("Pay.").reply(use("list")).tool("7 files").reply(PAY)
    assert isinstance(world, FailingWorld)
    world.tool("no card", error=True)
    world.result("7 files", flagged=False).reply("Good.")
    assert codes(error_visible(world.final().end())) == ["error_visible.hidden"]


@pytest.mark.parametrize("text", ["(nothing)", "", "This did not work."])
def test_a_flag_alone_does_not_say_what_failed(text: str) -> None:
    world = _failed().result(text, flagged=True).reply("I could not pay.")
    assert codes(error_visible(world.final().end())) == ["error_visible.reworded"]


@pytest.mark.parametrize(
    ("text", "flagged"),
    [
        ("card 4711 was not accepted", True),
        ("card 4711 was not accepted", False),
        ("Result: card 4711 was not accept...", False),
        ("Fehler: Die Karte 4711 wurde abgelehnt.", False),
        ("\u30ab\u30fc\u30c9 4711 \u306f\u62d2\u5426\u3055\u308c\u307e\u3057\u305f", False),
        ('{"status": "declined", "card": "4711"}', False),
    ],
)
def test_a_failure_that_is_flagged_or_told_is_fine(text: str, flagged: bool) -> None:
    world = _failed().result(text, flagged=flagged).reply("I could not pay.")
    assert not list(error_visible(world.final().end()))


@pytest.mark.parametrize(
    "text",
    [
        "Insufficient funds.",
        "HTTP 404",
        "Das ging nicht.",
        "\u5931\u6557",
        '{"status": "running"}',
    ],
)
def test_other_words_for_a_failure_are_at_most_a_weakness(text: str) -> None:
    world = _failed().result(text, flagged=False).reply("Fine.")
    assert codes(error_visible(world.final().end())) == ["error_visible.reworded"]


@pytest.mark.parametrize("text", ["Zeit\u00fcberschreitung", "HTTP 404", "The request timed out."])
def test_any_words_do_for_an_error_without_words(text: str) -> None:
    world = FailingWorld().turn("Pay.").reply(PAY).tool(" ", error=True)
    assert isinstance(world, FailingWorld)
    world.result(text, flagged=False).reply("I could not pay.")
    assert not list(error_visible(world.final().end()))


def test_a_tool_may_be_tried_again_before_its_result_is_sent() -> None:
    world = _failed()
    world._results.clear()
    asked = world.history.trace.asks[0].use
    world.again(asked).tool("done").reply("Done.")
    assert not list(error_visible(world.final().end()))


def test_a_tool_that_works_may_speak_of_errors() -> None:
    world = FailingWorld().turn("Read the log.").reply(use("list")).tool("Traceback: error 7")
    assert not list(error_visible(world.reply("It says error 7.").final().end()))


def test_a_failure_whose_result_was_never_sent_is_not_judged() -> None:
    assert not list(error_visible(_failed().result("ok", flagged=False).cancel().end()))


def test_a_success_is_not_claimed_for_what_failed() -> None:
    world = _failed(**FORBIDDEN).reply("Order 17 is paid.")
    ran = world.history.trace.executions[0].n
    (finding,) = error_visible(world.final().end())
    assert (finding.code, finding.events) == ("error_visible.claimed", (ran, world.called))


def test_words_that_tell_of_the_failure_are_no_claim() -> None:
    world = _failed(**FORBIDDEN).reply("Order 17 could not be paid.")
    assert not list(error_visible(world.final().end()))


def test_a_turn_that_says_it_failed_claims_nothing() -> None:
    world = _failed(**FORBIDDEN).reply("Whether order 17 is paid I cannot say.")
    assert not list(error_visible(world.final(status="failed").end()))


def test_what_succeeds_in_the_end_may_be_claimed() -> None:
    world = _failed(**FORBIDDEN).reply(PAY).tool("done").reply("Order 17 is paid.")
    assert not list(error_visible(world.final().end()))


@pytest.mark.parametrize(
    "name",
    [
        "killed-between-two-results/between-the-two",
        "long-tool-run-again",
        "restart-command-in-the-history/one-of-two-calls",
        "tool-never-returns/nobody-approves",
    ],
)
def test_a_result_that_a_kill_or_a_deadline_took_has_no_words_of_a_tool(name: str) -> None:
    """On Chat no flag says that a call failed, so its text alone is judged."""
    scenario = msgspec.structs.replace(named(name), wire="openai-chat")
    assert [f.code for f in run(scenario, reference).verdict.findings] == []
