"""Too long: the eight branches, what detects it, and what does not."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.agent.compaction import compact
from harness.agent.failures import OVERFLOW_PHRASES, classify
from harness.agent.overflow import Escalation
from harness.agent.window import budget_tokens, estimate_tokens, length
from harness.core.brief import Tool
from harness.core.messages import Message, Text, ToolResult, assistant, results, user
from tests.agent.stand import Stand, error, error_body, sse, text, too_long, use
from tests.http_library import http

LONG = "all work and no play " * 100
PAST: list[Message] = [
    user("first " + LONG),
    assistant("one " + LONG),
    user("second " + LONG),
    assistant("two, the last answer"),
]


def stand(folder: Path, *replies: Any, past: list[Message] = PAST, summary: Any = None) -> Stand:
    """A stand with a past."""
    made = Stand(folder, replies, "and now?")
    made.store.seed("main", past)
    made.provider.compact_replies = [summary or text("They talked about work.")]
    return made


def said(request: dict[str, Any]) -> str:
    """All text of a request."""
    blocks = (block for message in request["messages"] for block in message["content"])
    return "\n".join(block.get("text", "") for block in blocks)


def test_1_normal_is_one_request(tmp_path: Path) -> None:
    ran = stand(tmp_path, text("fine")).run()
    assert ran.provider.purposes == ["main"]
    assert ran.ending == ("final", "ok", "fine")


def test_2_compacted_once_and_answered(tmp_path: Path) -> None:
    ran = stand(tmp_path, too_long(), text("fine")).run()
    assert ran.provider.purposes == ["main", "compact", "main"]
    sent = said(ran.provider.requests[2])
    assert "They talked about work." in sent
    assert "two, the last answer" in sent
    assert sent.endswith("and now?")
    assert "first" not in sent
    assert ran.ending == ("final", "ok", "fine")
    assert ran.rows() == [*PAST, user("and now?"), assistant("fine")]


def test_2_the_next_turn_goes_on_with_the_summary(tmp_path: Path) -> None:
    ran = stand(tmp_path, too_long(), text("fine"), text("still fine"))
    ran.messages.append(ran.messages[0].__class__("m2", text="and then?"))
    ran.run()
    assert ran.provider.purposes == ["main", "compact", "main", "main"]
    before, after = ran.provider.requests[2]["messages"], ran.provider.requests[3]["messages"]
    assert after[: len(before)] == before


@pytest.mark.parametrize(
    "summary",
    [
        text(),
        text("  \n"),
        text("cut off in the mid", stop="max_tokens"),
        text("no", stop="refusal"),
        use("look", {}, "t"),
        text(LONG * 9),
        error(500, "down", "api_error"),
        too_long(),
        http.Response(200, content=b"<html>"),
    ],
)
def test_3_a_failed_compaction_leads_to_the_store(tmp_path: Path, summary: Any) -> None:
    ran = stand(tmp_path, too_long(), text("fine"), summary=summary).run()
    assert ran.provider.purposes == ["main", "compact", "main"]
    sent = said(ran.provider.requests[2])
    assert "and now?" in sent
    assert "left out" in sent
    assert ran.ending == ("final", "ok", "fine")
    assert ran.store.load("main")[0].message == PAST[0]


def test_4_without_a_past_nothing_can_be_left_out(tmp_path: Path) -> None:
    ran = stand(tmp_path, too_long(), text("fine"), past=[]).run()
    assert ran.provider.purposes == ["main"]
    assert ran.ending[:2] == ("error", "failed")


def test_4_without_a_past_the_message_itself_is_shortened(tmp_path: Path) -> None:
    ran = Stand(tmp_path, [too_long(), text("fine")], LONG * 99).run()
    assert ran.provider.purposes == ["main", "main"]
    first, second = (said(request) for request in ran.provider.requests)
    assert len(second) < len(first)
    assert ran.ending == ("final", "ok", "fine")


def test_5_compacted_but_still_too_long_leads_to_the_store(tmp_path: Path) -> None:
    ran = stand(tmp_path, too_long(), too_long(), text("fine")).run()
    assert ran.provider.purposes == ["main", "compact", "main", "main"]
    assert "left out" in said(ran.provider.requests[3])
    assert ran.ending == ("final", "ok", "fine")


def test_6_all_three_fail_and_it_is_given_up_truthfully(tmp_path: Path) -> None:
    ran = stand(tmp_path, too_long()).run()
    assert ran.provider.purposes == ["main", "compact", "main", "main"]
    kind, status, told = ran.ending
    assert (kind, status) == ("error", "failed")
    assert told.startswith("The conversation is too long")
    assert "all_attempts_exhausted" in told
    assert ran.sides == "uauaua"


def test_7_another_error_is_surfaced_at_once(tmp_path: Path) -> None:
    ran = stand(tmp_path, error(401, "invalid key", "authentication_error")).run()
    assert ran.provider.purposes == ["main"]
    assert "invalid key" in ran.ending[2]


def test_7_another_error_after_compaction_stops_there(tmp_path: Path) -> None:
    ran = stand(tmp_path, too_long(), error(400, "odd")).run()
    assert ran.provider.purposes == ["main", "compact", "main"]
    assert ran.ending[:2] == ("error", "failed")


def test_8_the_same_content_is_no_compaction(tmp_path: Path) -> None:
    def echo(body: dict[str, Any]) -> Any:
        return text(body["messages"][0]["content"][0]["text"].split("\n\n", 1)[1])

    past = [user("a"), assistant("b")] * 40
    ran = stand(tmp_path, too_long(900_000, 800_000), text("fine"), past=past, summary=echo).run()
    assert ran.provider.purposes == ["main", "compact", "main"]
    assert "left out" in said(ran.provider.requests[2])
    assert ran.store.load("main")[0].message == past[0]


def test_every_shape_is_met_by_compaction(tmp_path: Path) -> None:
    body = error_body("prompt is too long: 9 tokens > 8 maximum")
    shapes: list[tuple[bool, Any]] = [
        (False, http.Response(413, text="Request Entity Too Large")),
        (True, sse({**body, "type": "error"})),
        (False, text("half", stop="model_context_window_exceeded")),
        (True, text("half", stop="model_context_window_exceeded")),
        (False, http.Response(200, json=body)),
    ]
    for number, (stream, shape) in enumerate(shapes):
        folder = tmp_path / str(number)
        folder.mkdir()
        ran = stand(folder, shape, text("fine"))
        ran.options["stream"] = stream
        assert ran.run().provider.purposes == ["main", "compact", "main"], number
        assert ran.ending == ("final", "ok", "fine")


def test_a_quoted_phrase_is_no_overflow(tmp_path: Path) -> None:
    answer = "It said: prompt is too long: 9 tokens > 8 maximum"
    ran = stand(tmp_path, use("look", {"a": 1}), text(answer))
    ran.tool("look", ValueError("prompt is too long"))
    ran.run()
    assert ran.provider.purposes == ["main", "main"]
    assert ran.ending == ("final", "ok", answer)


def test_tools_that_ran_are_not_run_again(tmp_path: Path) -> None:
    ran = stand(tmp_path, use("look", {"a": 1}), too_long(), too_long(), text("fine"))
    ran.tool("look", "seen " * 100)
    ran.run()
    assert len(ran.calls) == 1
    assert ran.ending == ("final", "ok", "fine")
    assert any(
        block["type"] == "tool_result" and "seen" in block["content"]
        for message in ran.provider.requests[-1]["messages"]
        for block in message["content"]
    )


def test_a_huge_message_is_shortened_to_fit_the_window(tmp_path: Path) -> None:
    def windowed(body: dict[str, Any]) -> Any:
        tokens = len(str(body["messages"])) // 4
        return too_long(tokens, 2_000) if tokens > 2_000 else text("fine")

    ran = Stand(tmp_path, [windowed], "x" * 100_000)
    ran.run()
    assert ran.ending == ("final", "ok", "fine")
    assert ran.rows()[0] == user("x" * 100_000)


def test_the_compact_request_fits_the_window(tmp_path: Path) -> None:
    past = [user("ask " + LONG), assistant("say " + LONG)] * 20

    def windowed(body: dict[str, Any]) -> Any:
        tokens = len(str(body["messages"])) // 4
        return too_long(tokens, 8_000) if tokens > 8_000 else text("short enough")

    ran = stand(tmp_path, windowed, past=past, summary=windowed).run()
    assert ran.provider.purposes == ["main", "compact", "main"]
    assert len(str(ran.provider.requests[1]["messages"])) // 4 <= 8_000


def test_stages_are_a_part(tmp_path: Path) -> None:
    ran = stand(tmp_path, too_long(), too_long(), text("fine"))
    ran.run(overflow=partial(Escalation, stages=("compact", "compact")))
    assert ran.provider.purposes == ["main", "compact", "main", "compact"]
    assert ran.ending[:2] == ("error", "failed")


def test_a_compaction_that_was_not_enough_is_not_tried_again_in_that_turn(tmp_path: Path) -> None:
    answers = [use("look", {"name": name}) for name in "abc"]
    ran = stand(tmp_path, too_long(), too_long(), *answers, too_long(), text("fine"))
    ran.tools.append(Tool("look", "", {"type": "object"}, lambda input, *, id: LONG * 5))
    ran.run()
    assert ran.provider.purposes.count("compact") == 1
    assert ran.ending == ("final", "ok", "fine")


@pytest.mark.parametrize(
    "refusal",
    [
        "prompt is too long: 400 tokens > 200 maximum",
        "This model's maximum context length is 200 tokens. However, your messages resulted in 400 "
        "tokens. Please reduce the length of the messages.",
        "This model's maximum context length is 200 tokens. However, you requested 400 tokens (300 "
        "in the messages, 100 in the completion).",
    ],
)
def test_a_refusal_that_names_the_window_corrects_the_budget(refusal: str) -> None:
    refused = [user("x" * 4_000)]
    assert budget_tokens(refused, refusal) == estimate_tokens(refused) // 4


def test_what_is_smaller_by_a_hair_is_not_sent_again() -> None:
    class Full:
        """A transcript of which `left` characters are left when it is rebuilt."""

        def __init__(self, left: int) -> None:
            self.messages, self.left = [user(LONG)], left

        def wire(self) -> list[Message]:
            return self.messages

        def rebuild(self, budget_tokens: int) -> None:
            self.messages = [user(LONG[: self.left])]

    def is_tried(left: int) -> bool:
        escalation = Escalation(compact, stages=("rebuild",))
        return escalation.shrink(Full(left), "too long", None)  # type: ignore[arg-type]

    assert not is_tried(len(LONG) - 30)
    assert is_tried(len(LONG) // 2)


def test_how_much_is_said_does_not_depend_on_the_blocks_that_it_stands_in() -> None:
    whole = results(ToolResult("t1", "one" + "two"))
    parts = results(ToolResult("t1", (Text("one"), Text("two"))))
    assert abs(length([whole]) - length([parts])) <= 1
    assert estimate_tokens([parts]) > estimate_tokens([whole])


class _StatusError(Exception):
    def __init__(self, status: int, text: str, type: str = "") -> None:
        super().__init__(text)
        self.status_code, self.type = status, type


@pytest.mark.parametrize("phrase", OVERFLOW_PHRASES)
def test_the_phrases_in_any_case_and_inside_a_sentence(phrase: str) -> None:
    for words in (phrase, phrase.upper(), f"Sorry, {phrase.title()}: 3 > 2"):
        assert classify(_StatusError(400, words)) == "overflow"
        assert classify(RuntimeError(words)) == "overflow"


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (_StatusError(401, "prompt is too long"), "permanent"),
        (_StatusError(429, "input tokens exceed your rate"), "transient"),
        (_StatusError(400, "max_tokens_exceeded"), "permanent"),
        (_StatusError(400, "your prompt was long"), "permanent"),
        (_StatusError(413, ""), "overflow"),
        (_StatusError(529, "Overloaded"), "transient"),
        (_StatusError(200, "Overloaded", "overloaded_error"), "broken_stream"),
        (_StatusError(200, "bad", "invalid_request_error"), "permanent"),
        (http.ReadError("reset"), "broken_stream"),
        (http.ReadTimeout("stalled"), "broken_stream"),
        (AssertionError(), "broken_stream"),
        (IndexError(), "broken_stream"),
        (UnicodeEncodeError("utf-8", "\ud83d", 0, 1, "surrogates"), "permanent"),
        (AttributeError("a mistake of ours"), None),
        (KeyError("a mistake of ours"), None),
    ],
    ids=repr,
)
def test_other_failures_are_told_apart(failure: Exception, kind: str | None) -> None:
    assert classify(failure) == kind


def test_the_phrase_is_found_down_the_chain_and_cycles_end() -> None:
    root = ValueError("Prompt is too long")
    by_cause, by_context = KeyError("a"), KeyError("b")
    by_cause.__cause__, by_context.__context__ = root, by_cause
    top = RuntimeError("stream failed")
    top.__cause__, top.__context__ = OSError("elsewhere"), by_context
    assert classify(top) == "overflow"
    first, second = KeyError("a"), KeyError("b")
    first.__cause__, second.__cause__ = second, first
    assert classify(first) is None
