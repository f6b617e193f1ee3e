"""Too long: the eight branches, and what does not lead into them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.agent.context_overflow import Escalation
from harness.core.values.brief import Tool
from harness.core.values.messages import assistant, user
from tests.agent.long_past import LONG, PAST, said, stand
from tests.agent.replies import error, error_body, sse, text, too_long, use
from tests.agent.stand import Stand
from tests.http_library import http


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
