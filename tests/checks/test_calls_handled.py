"""What becomes of the calls of an answer that do not run, and of a message that comes once."""

from __future__ import annotations

import pytest

from harness.checks.message_delivery import inbound_exactly_once
from harness.checks.tool_execution import calls_handled
from harness.core.history.history import History
from harness.core.values.messages import (
    Message,
    Text,
    ToolResult,
    ToolUse,
    assistant,
    canonical,
    results,
    user,
)
from tests.checks.chronicle import ALL_SEAMS
from tests.checks.histories import Story, codes, use

DROPPED, MISREAD = ["calls_handled.dropped"], ["calls_handled.misread"]
DOUBLED = ["inbound_exactly_once.doubled"]
ONE, TWO = use("write", {"path": "a"}, id="t1"), use("write", {"path": "b"}, id="t2")


def _next_request(*sent: Message, stop: str = "tool_use", said: str = "") -> list[str]:
    """What is found where the first of two calls ran, and the next request holds these messages."""
    words = (Text(said),) if said else ()
    story = Story().turn("go").reply(*words, ONE, TWO, stop=stop).tool("written")
    story.reply("done", messages=[user("go"), *sent])
    return codes(calls_handled(story.final().end()))


def _kept(*calls: ToolUse, text: str = "") -> tuple[Message, ...]:
    answers = (ToolResult(c.id, "written" if c is ONE else "not run") for c in calls)
    words = (Text(text),) if text else ()
    return assistant(*words, *calls), results(*answers)


@pytest.mark.parametrize("stop", ["tool_use", "end_turn", "stop"])
def test_the_second_of_two_calls_is_not_dropped(stop: str) -> None:
    assert _next_request(*_kept(ONE), stop=stop) == DROPPED
    assert _next_request(*_kept(ONE, TWO), stop=stop) == []


def test_an_answer_that_was_cut_may_lose_calls() -> None:
    assert _next_request(*_kept(ONE), stop="max_tokens") == []


def test_a_call_that_is_kept_under_another_id_or_in_words_is_not_dropped() -> None:
    assert _next_request(*_kept(ONE, use("write", {"path": "b"}, id="n2"))) == []
    assert _next_request(*_kept(ONE, text="(I did not write b: one call at a time.)")) == []


def test_a_call_is_dropped_where_its_words_are_kept() -> None:
    said = "I will put both files into place."
    alone = Story().turn("go").reply(Text(said), ONE)
    alone.reply("done", messages=[user("go"), assistant(said), user("and?")])
    assert codes(calls_handled(alone.final().end())) == DROPPED
    anew = Story().turn("go").reply(Text(said), ONE)
    anew.reply("done", messages=[user("go")])
    assert codes(calls_handled(anew.final().end())) == []


def test_a_call_that_did_not_run_stands_there_as_the_model_gave_it() -> None:
    def refused(value: object) -> list[str]:
        return _next_request(*_kept(ONE, use("write", value, id="t2")))

    assert refused('{"path": "') == MISREAD
    assert refused({"path": "ab"}) == MISREAD
    assert refused({}) == MISREAD
    assert refused({"path": "b"}) == []
    assert refused('{"path":"b"}') == []


@pytest.mark.parametrize(
    ("held", "found"),
    [
        ({"n": 2**53, "path": "b"}, ["calls_handled.rewritten"]),
        ({"n": None, "path": "b"}, ["calls_handled.rewritten"]),
        ({"n": 2**53 + 1, "path": "b"}, []),
        ({"path": "b", "n": 2**53 + 1}, []),
        ({"n": 2**53 + 1, "path": "[shortened]"}, []),
        ({"n": "[cleared]", "path": "b"}, []),
        ({}, ["calls_handled.altered"]),
        (f'{{"n": {2**53 + 1}, "path": "b"}}', []),
        (f'{{"n": {2**53}, "path": "b"}}', ["calls_handled.rewritten"]),
    ],
)
def test_a_call_that_ran_stands_there_with_its_numbers(held: object, found: list[str]) -> None:
    call = use("write", {"path": "b", "n": 2**53 + 1}, id="t1")
    story = Story().turn("go").reply(call).tool("written", input=call.input)
    sent = assistant(use("write", held, id="t1")), results(ToolResult("t1", "written"))
    story.reply("done", messages=[user("go"), *sent])
    assert codes(calls_handled(story.final().end())) == found


@pytest.mark.parametrize(
    ("held", "found"),
    [
        (use("read", {"path": "b"}, id="t1"), ["calls_handled.rewritten"]),
        (use("write", {"path": "a"}, id="t1"), []),
        (use("write", {"path": "[shortened]"}, id="t1"), []),
        (use("read", {"path": "a"}, id="t1"), ["calls_handled.altered"]),
    ],
)
def test_a_call_that_ran_does_not_stand_there_as_another_one(
    held: ToolUse, found: list[str]
) -> None:
    other = use("read", {"path": "b"}, id="t2")
    story = Story().turn("go").reply(ONE, other).tool("written", input=ONE.input)
    sent = assistant(held, other), results(ToolResult("t1", "written"), ToolResult("t2", "not run"))
    story.reply("done", messages=[user("go"), *sent])
    assert codes(calls_handled(story.final().end())) == found


_SAID = {
    "path": "/srv/main.py", "count": 7, "id": "00042", "api_key": "k1", "flag": False,
    "deep": {"tags": ["red", "green"], "note": "a <b>"}, "body": "x = 1\n" * 300,
}  # fmt: skip


@pytest.mark.parametrize(
    ("held", "how"),
    [
        ({}, "with an empty input"),
        ({"input": canonical(_SAID)}, 'without its "path" and "count" and "id" and "deep"'),
        (_SAID | {"path": "main.py"}, 'with "path" as "main.py" where the model gave "/srv/main'),
        (_SAID | {"id": 42}, 'with "id" as 42 where the model gave "00042"'),
        (_SAID | {"deep": {"tags": ["red"], "note": "a <b>"}}, 'with "deep" as {"note":"a <b>"'),
        (_SAID | {"deep": {"tags": ["red", "green"]}}, 'with "deep" as {"tags":'),
    ],
)
def test_a_call_that_ran_stands_there_with_its_whole_input(held: object, how: str) -> None:
    (finding,) = calls_handled(_kept_with(held))
    assert finding.code == "calls_handled.altered"
    assert f"in main/model#1 ran, and stands there {how}" in finding.message


@pytest.mark.parametrize(
    "held",
    [
        dict(reversed(_SAID.items())),
        canonical(_SAID),
        _SAID | {"reason": "the user asked for it"},
        {name: value for name, value in _SAID.items() if name not in ("api_key", "flag", "body")},
        _SAID | {"api_key": "k2", "path": "[REDACTED]", "body": ""},
        _SAID | {"path": "/srv/… (shortened)", "deep": {"note": "a <b>", "tags": "[cleared]"}},
        _SAID | {"path": " /srv/main.py\u0000", "count": 7.0},
    ],
)
def test_a_call_may_be_written_otherwise_and_lack_what_is_long_or_secret(held: object) -> None:
    assert codes(calls_handled(_kept_with(held))) == []


def test_a_call_may_stand_there_under_a_repaired_name() -> None:
    for name in ("mcp__files__write", "Write"):
        assert codes(calls_handled(_kept_with(_SAID, name))) == []
    (finding,) = calls_handled(_kept_with(_SAID, "tool"))
    assert finding.message.endswith("ran, and stands there as a call of tool")


def _kept_with(held: object, name: str = "write") -> History:
    call = use("write", _SAID, id="t1")
    story = Story().turn("go").reply(call).tool("written", input=call.input)
    sent = assistant(use(name, held, id="t1")), results(ToolResult("t1", "written"))
    return story.reply("done", messages=[user("go"), *sent]).final().end()


def test_a_tool_that_was_not_offered_may_be_dropped() -> None:
    story = Story().turn("go").reply(ONE, use("unheard_of", id="t2")).tool("written")
    story.reply("done", messages=[user("go"), *_kept(ONE)])
    assert codes(calls_handled(story.final().end())) == []


def _doubled(*sent: Message) -> list[str]:
    story = Story().turn("how many apples?").fail(529).reply("Seven.", messages=list(sent))
    found = codes(inbound_exactly_once(story.final().end()))
    return [code for code in found if code in DOUBLED]


def test_a_message_is_not_added_again() -> None:
    asked = user("how many apples?")
    assert _doubled(asked, asked) == DOUBLED
    assert _doubled(user("how many apples?\n\nhow many apples?")) == DOUBLED
    assert _doubled(asked) == []
    assert _doubled(asked, user("(Reminder: the user asked how many apples?)")) == []


@pytest.mark.parametrize(("seeded", "found"), [(0, DOUBLED), (1, [])])
def test_a_past_may_end_with_the_same_question(seeded: int, found: list[str]) -> None:
    asked, settings = user("how many apples?"), {"seeded": seeded}
    seams = tuple(seam for seam in ALL_SEAMS if seam != "store")
    story = Story(stores=False, seams=seams, settings=settings).turn("how many apples?")
    story.reply("Seven.", messages=[asked, asked])
    assert [c for c in codes(inbound_exactly_once(story.final().end())) if c in DOUBLED] == found


@pytest.mark.parametrize(("has_ids", "found"), [(True, DOUBLED), (False, [])])
def test_without_ids_a_message_that_comes_again_is_a_new_one(
    has_ids: bool, found: list[str]
) -> None:
    asked = user("how many apples?")
    settings = {"profile": {"capabilities": {"outbox": has_ids}}}
    story = Story(stores=False, settings=settings).turn("how many apples?", "m1").fail(529)
    story.final("Sorry.", kind="error").turn("how many apples?", "m1")
    story.reply("Seven.", messages=[asked, asked])
    assert [c for c in codes(inbound_exactly_once(story.final().end())) if c in DOUBLED] == found


@pytest.mark.parametrize(("comes_again", "found"), [(False, DOUBLED), (True, [])])
def test_a_kill_lets_a_message_stand_there_as_often_as_it_came(
    comes_again: bool, found: list[str]
) -> None:
    story = Story().turn("how many apples?", "m1").killed()
    if comes_again:
        story.take("how many apples?", "m1")
    story.reply("Seven.", messages=[user("how many apples?"), user("how many apples?")])
    codes_found = codes(inbound_exactly_once(story.final().end()))
    assert [code for code in codes_found if code in DOUBLED] == found


def test_the_same_words_sent_twice_may_stand_there_twice() -> None:
    story = Story().turn("go").fail(529).final("Not now.", "failed").turn("go")
    story.reply("Gone.", messages=[user("go"), user("go")])
    found = codes(inbound_exactly_once(story.final().end()))
    assert DOUBLED[0] not in found


def test_a_call_that_began_twice_is_not_misread_with_either_input() -> None:
    """Anthropic's SDK reads two calls of one id where a block began twice, and its client one."""
    begun = use("write", {"path": "b"}, id="t2"), use("write", {}, id="t2")
    for sent, found in (({"path": "b"}, []), ({"path": "c"}, MISREAD)):
        story = Story().turn("go").reply(ONE, *begun).tool("written")
        held = assistant(ONE, use("write", sent, id="t2"))
        story.reply("done", messages=[user("go"), held])
        assert codes(calls_handled(story.final().end()))[:1] == found


def test_a_call_whose_block_began_twice_may_stand_there_without_its_input() -> None:
    for faults, found in ((("sse.block_start_twice",), []), ((), MISREAD)):
        story = Story().turn("go").reply(ONE, use("write", {"path": "b"}, id="t2"), faults=faults)
        held = assistant(ONE, use("write", {}, id="t2"))
        story = story.tool("written").reply("done", messages=[user("go"), held])
        assert codes(calls_handled(story.final().end()))[:1] == found


def test_words_of_the_stored_session_are_no_part_of_an_answer() -> None:
    """The answer is left out as a whole and asked for again; its words stood there before it."""
    said = assistant(Text("I will look for it at once."))
    story = Story()
    story.live += [user("Hello there, who are you?"), said]
    story.turn("go").reply("Hm.", messages=[*story.live[:2], user("go")])
    story.reply(*said.blocks, ONE, messages=[*story.live[:3], assistant("Hm."), user("Go on.")])
    story.reply("done", messages=[*story.live[:2], user("go")])
    assert codes(calls_handled(story.final().end())) == []
