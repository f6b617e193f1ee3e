"""request_fits: what was too large comes back smaller.

What a compaction may leave out, and what it must keep.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.checks.prompt_size import compaction_preserves, request_fits
from harness.core.history.history import History
from harness.core.values.messages import Message, Text, ToolResult, assistant, results, user
from harness.core.values.plans import Wait
from tests.checks.histories import Story, codes, use
from tests.checks.twins_compactions import preserves

SHAPES: list[dict[str, Any]] = [
    {"status": 400, "error": "V23", "refused": ("V23",)},
    {"status": 400, "error": "V26", "refused": ("V26",)},
    {"status": 400, "too_large": True},
    {"status": 413},
    {"stop": "model_context_window_exceeded"},
    {"complete": False, "too_large": True, "outcome": "error"},
    {"usage": {"input_tokens": 0}, "too_large": True},
]


def refused(story: Story, tokens: int, shape: dict[str, Any]) -> Story:
    """A request of a given number of tokens, answered in this shape."""
    return story.reply("half", messages=[user(f"{tokens}")], tokens=tokens, **shape)


@pytest.mark.parametrize(
    ("faults", "found"), [(("sse.json_to_a_stream_request",), []), ((), ["request_fits.again"])]
)
def test_a_refusal_in_a_form_that_no_client_reads(
    faults: tuple[str, ...], found: list[str]
) -> None:
    """JSON to a request for a stream: SDKs find no event in it, and so none of its words."""
    shape = SHAPES[-2] | {"status": 200, "faults": faults}
    story = refused(Story().turn("go"), 1000, shape)
    story.reply("x", messages=[user("more words")], tokens=1000)
    assert codes(request_fits(story.end())) == found


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("then", "found"), [(900, []), (1000, ["request_fits.again"])])
def test_the_next_request_is_smaller(shape: dict[str, Any], then: int, found: list[str]) -> None:
    story = refused(Story().turn("go"), 1000, shape)
    story.reply("x", messages=[user("more words")], tokens=then)
    assert codes(request_fits(story.end())) == found


def test_a_refusal_that_had_not_arrived_asks_for_nothing() -> None:
    """The body of a 413 trickles for longer than the agent waits."""
    shape: dict[str, Any] = {"status": 413, "refused": ("V23",), "steps": (Wait(900_000),)}
    for waited, found in ((120_000, []), (900_000, ["request_fits.again"])):
        story = refused(Story().turn("go"), 1000, shape).wait(waited)
        story.reply("x", messages=[user("more words")], tokens=1000)
        assert codes(request_fits(story.end())) == found


@pytest.mark.parametrize(
    ("past", "found"),
    [(("They agreed.", "I see."), []), (("Where to?", "To Oslo."), ["request_fits.again"])],
)
def test_a_system_text_in_the_list_is_no_part_of_the_conversation(
    past: tuple[str, str], found: list[str]
) -> None:
    """The Chat API has it there. Two short messages may be as large as their summary."""
    rules = Message("system", (Text("You are careful. " * 9),))
    before = [rules, user("Where to?"), assistant("To Oslo."), user("word")]
    story = Story().turn("word").reply("x", messages=before, tokens=81, size_bytes=333, **SHAPES[3])
    after = [rules, user(past[0]), assistant(past[1]), user("word")]
    story.reply("x", messages=after, tokens=81, size_bytes=333)
    assert codes(request_fits(story.end())) == found


def test_each_refusal_asks_for_less_and_one_that_is_ignored_is_told_once() -> None:
    story = Story().turn("go")
    for tokens in (1000, 500, 500, 600):
        refused(story, tokens, SHAPES[0])
    assert codes(request_fits(story.end())) == ["request_fits.again"]


HUGE = "x" * 4_004


def _sent(story: Story, said: str, *, over: bool, text: str = "go") -> Story:
    """A turn whose request holds a result of these words."""
    call = use("list", id="t1")
    messages = [user("go"), assistant(call), results(ToolResult("t1", said)), user(text)]
    shape: dict[str, Any] = SHAPES[0] if over else {}
    return story.turn(text).reply("x", messages=messages, tokens=1_200, **shape).final()


def _session(*said: tuple[str, bool], window: int | None = 1_000) -> list[str]:
    story = Story(settings={"window_tokens": window})
    for number, (result, over) in enumerate(said):
        _sent(story, result, over=over, text=f"Message {number}")
    return codes(request_fits(story.end()))


def test_a_result_over_the_window_is_not_sent_in_a_second_turn() -> None:
    assert _session((HUGE, True), (HUGE, True), (HUGE, True)) == ["request_fits.result"]


def test_what_makes_a_result_fit_is_fine() -> None:
    assert _session((HUGE, True), (HUGE[:2_000], False), (HUGE[:2_000], False)) == []
    assert _session((HUGE, True), (HUGE[:4_000], True)) == []
    assert _session((HUGE, True)) == []
    assert _session((HUGE, False), (HUGE, False)) == []
    assert _session((HUGE, True), (HUGE, True), window=None) == []


def test_a_turn_that_cuts_the_result_after_a_refusal_is_not_lost() -> None:
    story = _sent(Story(settings={"window_tokens": 1_000}), HUGE, over=True).turn("And now?")
    sent = [user("go"), assistant(use("list", id="t1")), results(ToolResult("t1", HUGE))]
    story.reply("x", messages=sent, tokens=1_200, **SHAPES[0])
    story.reply("Cut.", messages=[user("go")], tokens=90).final()
    assert codes(request_fits(story.end())) == []


def test_another_failure_in_between_excuses_nothing() -> None:
    story = refused(Story().turn("go"), 1000, SHAPES[3])
    story.fail(529, messages=[user("less")], tokens=100)
    story.reply("x", messages=[user("all of it")], tokens=1000)
    assert codes(request_fits(story.end())) == ["request_fits.again"]


def test_a_conversation_may_grow_again_after_a_success() -> None:
    story = refused(Story().turn("go"), 1000, SHAPES[0])
    story.reply("x", messages=[user("less")], tokens=100)
    story.reply("x", messages=[user("and more, and more")], tokens=2000)
    assert codes(request_fits(story.end())) == []


def test_the_next_turn_may_try_and_so_may_a_retry_of_the_sdk() -> None:
    story = refused(Story().turn("go"), 1000, SHAPES[0])
    story.reply("x", messages=[user("1000")], tokens=1000, sdk_retry=1, status=413).final("no")
    refused(story.turn("on"), 1000, SHAPES[0])
    assert codes(request_fits(story.end())) == []


def test_a_summary_is_no_main_request() -> None:
    story = refused(Story().turn("go"), 1000, SHAPES[0])
    story.reply("sum", purpose="compact", messages=[user("tell all this")], tokens=1100)
    assert codes(request_fits(story.end())) == []


LONG = "Which of the two towns is larger, and by how much? " * 20


def _compacted(*after: Message, summary: str = "sum", before: str = "x") -> History:
    """A turn with one call and its result, compacted before the model sees the result."""
    story = Story().turn("hello").reply(before).final().turn("which town is larger?")
    story.reply(use("list")).tool("Oslo").reply(summary, purpose="compact", messages=[user("sum")])
    return story.reply("Oslo", messages=list(after) or None).final().end()


def _asked(text: str = "which town is larger?", id_: str = "t1") -> list[Message]:
    call = msgspec.structs.replace(use("list"), id=id_)
    return [user(f"sum {text}"), assistant(call), results(ToolResult(id_, "Oslo"))]


def test_a_summary_of_the_past_is_what_a_compaction_is_for() -> None:
    assert not list(compaction_preserves(_compacted(*_asked())))


def test_the_message_of_the_turn_stays() -> None:
    history = _compacted(*_asked("they asked for something"))
    (finding,) = compaction_preserves(history)
    assert finding.code == "compaction_preserves.last_message"
    assert len(finding.events) == 3


def test_a_half_of_a_character_may_have_a_mark_in_its_place() -> None:
    story = Story().turn("A \udcff file").reply("hm")
    story.reply("sum", purpose="compact", messages=[user("sum")])
    history = story.reply("x", messages=[user("sum A ? file")]).final().end()
    assert not list(compaction_preserves(history))


def test_a_long_message_may_be_cut_short_and_white_space_changed() -> None:
    story = Story().turn(LONG).reply("hm").reply("sum", purpose="compact", messages=[user("sum")])
    short = f"sum\n{LONG[:90]}  [...]"
    history = story.reply("x", messages=[user(short)]).final().end()
    assert not list(compaction_preserves(history))


def test_a_call_without_a_result_stays() -> None:
    history = _compacted(user("sum which town is larger?"))
    assert codes(compaction_preserves(history)) == ["compaction_preserves.open_call"]


def test_a_call_may_get_another_id() -> None:
    assert not list(compaction_preserves(_compacted(*_asked(id_="t1_2"))))


def test_an_older_call_with_the_same_id_keeps_no_call_open() -> None:
    """A kill lost the answer before it was stored, and a stored call has the id of its call."""
    old = [assistant(use("list", id="same")), results(ToolResult("same", "Oslo")), user("go")]
    story = Story().turn("go").reply(use("list", {"path": "a"}, id="same"), messages=old)
    story.reply("Oslo.", messages=old).reply("sum", purpose="compact", messages=[user("sum")])
    story.reply("x", messages=[user("sum go")])
    assert not list(compaction_preserves(story.final().end()))


def test_a_call_that_was_answered_before_may_go() -> None:
    story = Story().turn("go").reply(use("list")).tool("Oslo").reply(use("poll")).tool("Bergen")
    call = msgspec.structs.replace(use("poll"), id="t2")
    kept = [user("sum go"), assistant(call), results(ToolResult("t2", "Bergen"))]
    story.reply("sum", purpose="compact", messages=[user("sum")]).reply("x", messages=kept)
    assert not list(compaction_preserves(story.final().end()))


def test_a_failed_one_changes_nothing() -> None:
    assert not list(compaction_preserves(_compacted(summary=" ")))
    history = _compacted(*_asked(), summary=" ")
    assert codes(compaction_preserves(history)) == ["compaction_preserves.failed"]


def test_what_was_refused_must_become_smaller_somehow() -> None:
    story = Story().turn("one").reply("1").final().turn("two").fail(400, tokens=100)
    story.reply(" ", purpose="compact", messages=[user("sum")])
    history = story.reply("2", messages=[user("cut two")], tokens=10).final().end()
    assert not list(compaction_preserves(history))


@pytest.mark.parametrize(("tokens", "told"), [(101, True), (51, True), (50, False)])
def test_a_request_for_a_summary_is_much_smaller_where_it_does_not_fit(
    tokens: int, told: bool
) -> None:
    story = Story().turn("go").fail(400, refused=("V23",), tokens=100)
    story.fail(400, purpose="compact", refused=("V23",), tokens=tokens)
    history = story.reply("x", tokens=10).final().end()
    found = ["compaction_preserves.too_large"] if told else []
    assert codes(compaction_preserves(history)) == found


def test_in_a_recording_requests_are_inferred() -> None:
    story = Story(world="recording").turn("go").reply("sum", purpose="compact")
    assert not list(compaction_preserves(story.reply("x", messages=[user("sum")]).end()))


def _with_system(before: Message, *after: Message) -> History:
    story = Story().turn("one")
    story.live.insert(0, before)
    story.reply("1").reply("sum", purpose="compact", messages=[user("sum")])
    return story.reply("2", messages=[*after, user("one")]).final().end()


def test_the_rules_of_the_system_text_stay() -> None:
    rules = Message("system", (Text("Never delete a file. Always ask. It is 10:00."),))
    later = Message("system", (Text("Never delete a file. Always ask. It is 10:30."),))
    summed = Message("system", (Text("Never delete a file. Always ask. It is 10:30. So far: 1."),))
    assert not list(compaction_preserves(_with_system(rules, rules)))
    assert not list(compaction_preserves(_with_system(rules, later)))
    assert not list(compaction_preserves(_with_system(rules, summed)))
    assert codes(compaction_preserves(_with_system(rules))) == ["compaction_preserves.rules"]


CALLS = st.sampled_from(["list", "poll"])
STEPS = st.one_of(
    st.tuples(st.just("call"), CALLS),
    st.tuples(st.just("summary"), st.sampled_from(["sum", " ", "V23"]), st.integers(0, 4)),
    st.tuples(st.just("refused")),
    st.tuples(st.just("turn"), st.sampled_from(["one", "two"])),
)


def _play(steps: Any) -> History:
    story = Story().turn("go")
    for name, *rest in steps:
        match name:
            case "call":
                story.reply(use(rest[0])).tool("found")
            case "refused":
                story.fail(400, tokens=10)
            case "turn":
                story.reply("yes").final().turn(rest[0])
            case "summary":
                _compact(story, *rest)
    return story.end()


def _compact(story: Story, summary: str, keep: int) -> None:
    if summary == "V23":
        story.fail(400, purpose="compact", refused=("V23",))
    else:
        story.reply(summary, purpose="compact", messages=[user("sum")])
    story._join_results()
    kept = [Message("user", (Text("sum"), *story.live[-1].blocks))] if keep == 4 else story.live
    story.reply("on", messages=kept[-keep or None :])


@given(st.lists(STEPS, max_size=12))
def test_it_is_its_twin(steps: Any) -> None:
    history = _play(steps)
    found = {(f.code.split(".")[1], f.events[-1]) for f in compaction_preserves(history)}
    assert found == preserves(history)


def test_a_refusal_for_size_that_a_fault_hid_behind_a_passing_failure_is_not_known() -> None:
    def again(status: int) -> list[str]:
        story = Story().turn("go").fail(status, "V24", refused=("V24",), tokens=100)
        return codes(request_fits(story.reply("Good.", tokens=100).final().end()))

    assert again(400) == ["request_fits.again"]
    assert again(529) == []
