"""Results of calls that never ran, and the word that was changed in one that did."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.false_stops import no_false_stop
from harness.checks.result_content import result_carried
from harness.core.values.messages import Message, Opaque, Text, ToolResult, user
from tests.checks.histories import Story, codes, use

LONG = "\n".join(f"row-{n} of the table" for n in range(200))


@pytest.mark.parametrize(
    ("told", "rules"),
    [
        ("the bowl is full", ["invented"]),
        ("done", ["invented"]),
        ("Not run: the user has denied it.", []),
        ("You have called this already.", []),
        ("A job was started in the background.", []),
        ("拒否されました", []),
    ],
)
def test_a_result_without_a_run_is_invented(told: str, rules: list[str]) -> None:
    story = Story().turn("go").reply(use("poll")).tool("50 %").reply(use("list"))
    story.refuse(told, error=False)
    found = codes(result_carried(story.reply("done").final().end()))
    assert found == [f"result_carried.{rule}" for rule in rules]


@pytest.mark.parametrize(
    ("told", "rules"), [('{"status": "ok"}', ["invented"]), ("No such tool: lst", [])]
)
def test_a_tool_that_no_one_has_cannot_succeed(told: str, rules: list[str]) -> None:
    story = Story().turn("go").reply(use("list")).tool("fed").reply(use("lst"))
    story.refuse(told, error=False)
    found = codes(result_carried(story.reply("done").final().end()))
    assert found == [f"result_carried.{rule}" for rule in rules]


def test_a_cached_result_of_an_earlier_turn_is_that_of_another_call() -> None:
    story = Story().turn("go").reply(use("list")).tool("fed").reply("one").final()
    story.turn("again").reply(use("list")).refuse("fed", error=False)
    assert codes(result_carried(story.reply("two").final().end())) == ["result_carried.other"]


@pytest.mark.parametrize(("said", "told"), [("fed", "fed"), ("", "(no output)")])
@pytest.mark.parametrize("other", [True, False])
def test_equal_calls_of_one_answer_may_have_one_run(said: str, told: str, other: bool) -> None:
    """A run of another call, which is nearer and says the same, does not make it that one's."""
    calls = [use("list", id="t1"), *[use("read", id="t2")] * other, use("list", id="t3")]
    story = Story().turn("go").reply(*calls)
    for _ in calls[1:]:
        story.tool(said)
    sent = [ToolResult(call.id, told) for call in calls]
    past = [user("go"), Message("assistant", tuple(calls))]
    history = story.reply("done", messages=[*past, Message("user", tuple(sent))]).final().end()
    assert codes(result_carried(history)) == []
    assert codes(no_false_stop(history)) == []


@pytest.mark.parametrize("keeps", [False, True])
def test_an_id_that_comes_again_takes_no_result_with_it(keeps: bool) -> None:
    """The next words join the message of the old result; only an agent that keeps the second call
    gives it that result."""
    first, second = use("get", {"url": "a"}, "get"), use("get", {"url": "b"}, "get")
    fed = ToolResult("get", "fed")
    story = Story().turn("go").reply(first).tool("fed").reply(second).final("Sorry.", kind="error")
    past = [user("go"), Message("assistant", (first,))]
    past += [Message("user", (fed,)), Message("assistant", (second,))] if keeps else []
    story.turn("again").reply("two", messages=[*past, Message("user", (fed, Text("again")))])
    found = codes(result_carried(story.final().end()))
    assert found == (["result_carried.other"] if keeps else [])


def test_a_result_may_be_repeated_within_a_turn() -> None:
    story = Story().turn("go").reply(use("list")).tool("fed").reply(use("list"))
    story.refuse("fed", error=False)
    assert codes(result_carried(story.reply("two").final().end())) == []
    (finding,) = no_false_stop(story.history)
    assert finding.code == "no_false_stop.refused"
    assert (
        "the call of list in main/model#2 gets an earlier result and never runs" in finding.message
    )


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (LONG.replace("row-77 ", "row-q5 "), "has 'row-q5' where its tool said 'row-77'"),
        (LONG[:400], 'lacks its last 3690 of 4089 characters, " the table row-21 of'),
        (LONG[400:], 'lacks its first 400 of 4089 characters, "row-0 of the'),
        (LONG[:400] + LONG[500:], 'lacks its inner 100 of 4089 characters, "1 of the'),
        (f"Rows:\n{LONG[:400]}", "lacks its middle and its end"),
    ],
)
def test_a_word_that_was_changed_is_named(told: str, words: str) -> None:
    (finding,) = result_carried(
        Story().turn("go").reply(use("list")).tool(LONG).told(told).reply("done").final().end()
    )
    assert finding.code == "result_carried.part"
    assert words in finding.message


@pytest.mark.parametrize(
    ("told", "expected"),
    [("Done.", ["result_carried.invented"]), ("the bowl is full", [])],
)
def test_a_cancel_explains_no_result_of_a_call_that_never_ran(
    told: str, expected: list[str]
) -> None:
    story = Story().turn("go").reply(use("list")).cancel().refuse(told, error=False)
    assert codes(result_carried(story.reply("done").final().end())) == expected


@pytest.mark.parametrize(("ran_on", "rules"), [(True, ["result_carried.stopped"]), (False, [])])
def test_a_stop_takes_no_result_that_had_come_before_the_next_call(
    ran_on: bool, rules: list[str]
) -> None:
    story = Story().turn("go").reply(use("list"), use("poll")).tool("three files")
    story.told("Interrupted: the outcome is unknown.", error=True)
    if ran_on:
        story.tool("50 %").told("Interrupted: the outcome is unknown.", error=True).cancel()
    else:
        story.cancel().refuse("Not run: the user stopped it.")
    told = story.final("Stopped.").turn("on").reply("x").final().end()
    assert codes(result_carried(told)) == rules


@pytest.mark.parametrize(
    ("kind", "data", "rules"),
    [
        ("image/jpeg", "iVBORw0KGgoAAAANSUhEUg", ["result_carried.part"]),
        ("image/png", "iVBORw0KGgoAAAANSUhEUg", []),
        ("image/jpeg", "/9j/4AAQSkZJRgABAQ", []),
    ],
)
def test_a_picture_keeps_its_type_unless_its_file_is_of_another(
    kind: str, data: str, rules: list[str]
) -> None:
    def picture(type: str) -> dict[str, Any]:
        return {"type": "image", "source": {"type": "base64", "media_type": type, "data": data}}

    story = Story().turn("go").reply(use("shot")).tool([picture("image/png")])
    story.told((Opaque("image", picture(kind)),))
    assert codes(result_carried(story.reply("done").final().end())) == rules
