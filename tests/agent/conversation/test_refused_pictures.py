"""What the provider could not read is left out of each later request; all else is sent."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.agent import build
from harness.agent.conversation.projection import damage_in, project
from harness.agent.conversation.refused_pictures import (
    LEFT_OUT,
    holds_pictures,
    is_note,
    note_of,
    without_refused,
)
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
