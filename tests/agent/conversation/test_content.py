"""Pictures that are too large are replaced by a note; all others stay as they are.

What the provider could not read is left out of each later request; all else is sent.
"""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent import agent, build
from harness.agent.conversation.content import (
    EDGE_MAX_PIXELS,
    LEFT_OUT,
    SIZE_MAX_BYTES,
    holds_pictures,
    is_note,
    note_of,
    picture_url,
    sendable_picture,
    without_refused,
)
from harness.agent.conversation.projection import damage_in, project
from harness.agent.models.openai_chat_model import write_rows
from harness.agent.models.openai_responses_model import write_items
from harness.core.history.events import Called
from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.core.values.calls import ModelRequest
from harness.core.values.messages import (
    Block,
    Message,
    Opaque,
    Text,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.runner import run
from tests.core.picture_heads import HEADS, Head


def picture(data: str) -> Opaque:
    source: Any = {"type": "base64", "media_type": "image/png", "data": data}
    return Opaque("image", {"type": "image", "source": source})


def coded(head: bytes) -> str:
    return base64.b64encode(head + b"\0" * 30).decode()


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.__name__)
@given(st.integers(1, 9000), st.integers(1, 9000))
def test_an_edge_decides(head: Head, width: int, height: int) -> None:
    block = picture(coded(head(width, height)))
    fits = max(width, height) <= EDGE_MAX_PIXELS
    assert (sendable_picture(block) is block) == fits


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.__name__)
def test_a_tool_may_return_a_picture_of_any_format_that_is_too_large(head: Head) -> None:
    source: Any = {"type": "base64", "media_type": "image/png", "data": coded(head(9_000, 16))}
    scenario = Scenario(
        name="large-picture",
        tools={"look": ToolScript(script=(ToolTurn(ok=({"type": "image", "source": source},)),))},
        inbox=(InboxItem(text="What is on the picture?"),),
        script=(Turn(use="look", input={}), Turn(say="It is too large for me.")),
    )
    verdict = run(scenario, agent).verdict
    assert ([f.code for f in verdict.findings], verdict.verdict) == ([], "pass")


def test_bytes_decide_as_they_are_sent() -> None:
    fits = picture("A" * SIZE_MAX_BYTES)
    assert sendable_picture(fits) is fits
    note = sendable_picture(picture("A" * (SIZE_MAX_BYTES + 4)))
    assert isinstance(note, Text)
    assert str(SIZE_MAX_BYTES + 4) in note.text


@given(st.binary(max_size=60))
def test_what_cannot_be_read_is_sent(data: bytes) -> None:
    block = picture(base64.b64encode(b"BM" + data).decode())
    assert sendable_picture(block) is block


@pytest.mark.parametrize("data", ["", "!", "iVBORw0KGgo=", "R0lGODlh", "/9j/", "A=A="])
def test_a_head_that_is_cut_off_is_sent(data: str) -> None:
    assert sendable_picture(picture(data)) == picture(data)


def test_other_blocks_and_pictures_by_address_stay() -> None:
    source: Any = {"type": "url", "url": "https://example.org/map.png"}
    for block in (Opaque("image", {"type": "image", "source": source}), Opaque("audio", {})):
        assert sendable_picture(block) is block


URL = "https://example.invalid/cat.png"
LINKED = Opaque("image", {"type": "image", "source": {"type": "url", "url": URL}})


@pytest.mark.parametrize(
    ("block", "url"),
    [
        (picture("eA=="), "data:image/png;base64,eA=="),
        (LINKED, URL),
        (Opaque("image", {"type": "image", "source": {"type": "file", "file_id": "f"}}), ""),
        (Opaque("document", LINKED.value), ""),
        (Text("a"), ""),
    ],
)
def test_a_picture_of_a_user_is_a_url_on_the_openai_wires(block: Block, url: str) -> None:
    assert picture_url(block) == url
    chat: list[Any] = [{"type": "image_url", "image_url": {"url": url}}]
    responses: list[Any] = [{"type": "input_image", "image_url": url}]
    if url:
        alone = Message("user", (block,))
        assert list(write_rows(alone)) == [{"role": "user", "content": chat}]
        assert list(write_items(alone)) == [{"role": "user", "content": responses}]


def test_a_picture_stands_where_the_user_put_it() -> None:
    rows = list(write_rows(Message("user", (Text("This"), LINKED, Text("or that?")))))
    text = [{"type": "text", "text": said} for said in ("This", "or that?")]
    shown = {"type": "image_url", "image_url": {"url": URL}}
    assert rows == [{"role": "user", "content": [text[0], shown, text[1]]}]


SOURCE = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAK"}
PICTURE = Opaque("image", {"type": "image", "source": SOURCE})
SHOWN = Message("user", (Text("Look."), PICTURE))
CALL = assistant(ToolUse("t1", "shot", {}))
RESULT = results(ToolResult("t1", (Text("here"), PICTURE)))
NOTE = note_of([SHOWN])
ROWS = st.lists(st.sampled_from([SHOWN, CALL, RESULT, user("Well?"), assistant("Yes."), NOTE]))


@given(ROWS)
def test_pictures_before_the_last_note_are_texts_and_later_ones_stay(rows: list[Message]) -> None:
    last = max((n for n, row in enumerate(rows) if is_note(row)), default=0)
    sent = without_refused(rows)
    assert not holds_pictures(sent[:last])
    assert list(sent[last:]) == rows[last:]
    assert [row.role for row in sent] == [row.role for row in rows]


@given(ROWS)
def test_the_note_itself_is_never_sent_and_is_no_damage(rows: list[Message]) -> None:
    bare = [row for row in rows if not is_note(row)]
    assert damage_in(rows) == damage_in(bare)
    sent = project(rows)
    assert [(m.role, len(m.blocks)) for m in sent] == [
        (m.role, len(m.blocks)) for m in project(bare)
    ]
    assert all(m.role in ("user", "assistant") for m in sent)


def test_a_text_stands_in_place_of_each_picture() -> None:
    sent = project([SHOWN, CALL, RESULT, NOTE, assistant("I see nothing."), SHOWN])
    assert sent[0].blocks == (Text("Look."), Text(LEFT_OUT))
    assert sent[2].blocks == (ToolResult("t1", (Text("here"), Text(LEFT_OUT))),)
    assert sent[-1] == SHOWN


def test_a_second_picture_costs_one_more_refusal() -> None:
    shot = ToolScript(script=(ToolTurn(ok=[PICTURE.value], times="forever"),))
    scenario = Scenario(
        name="shots",
        tools={"shot": shot},
        inbox=tuple(InboxItem(id=f"m{n}", text=f"Message {n}") for n in range(4)),
        script=(
            *(Turn(use="shot"), Turn(say="I cannot see it.")),
            *(Turn(use="shot"), Turn(say="Nor this one.")),
            Turn(say="You are welcome.", times="forever"),
        ),
        faults=(FaultSpec(kind="http.picture_refused", often="forever"),),
    )
    played = run(scenario, lambda brief: build(brief).run())
    assert played.verdict.findings == ()
    asked = [e for e in played.history.events if isinstance(e, Called)]
    assert sum(isinstance(e.request, ModelRequest) for e in asked) == 8
