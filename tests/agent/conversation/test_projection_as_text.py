from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.agent.context_overflow import Compacted, saves_enough
from harness.agent.conversation.content import text_of
from harness.agent.conversation.projection import project, project_as_text
from harness.agent.models import openai_chat_model, openai_responses_model
from harness.core.values.messages import (
    Json,
    Message,
    Opaque,
    Text,
    ToolResult,
    ToolUse,
    results,
    user,
)

PICTURE = Opaque("image", {"type": "image", "source": {"type": "base64", "data": "x" * 4000}})


RESULTS = st.builds(
    ToolResult,
    st.just("a"),
    st.one_of(st.text(), st.lists(st.sampled_from([Text("t"), PICTURE])).map(tuple)),
    st.booleans(),
)


def seen(result: ToolResult) -> list[Message]:
    return [user("look"), Message("assistant", (ToolUse("a", "shot", {}),)), results(result)]


def test_what_is_no_text_is_named() -> None:
    result = ToolResult("a", (Text("before"), PICTURE))
    assert text_of(result) == "before\n[image]"
    assert text_of(ToolResult("a", "said")) == "said"
    assert project_as_text(seen(result))[-1] == results(ToolResult("a", "before\n[image]"))


@given(RESULTS)
def test_what_is_sent_is_the_same(result: ToolResult) -> None:
    """The models name it themselves, so that they can be used without the projection."""
    rows = seen(result)

    def sent(messages: list[Message]) -> list[list[dict[str, Json]]]:
        return [
            [row for message in messages for row in write(message)]
            for write in (openai_chat_model.write_rows, openai_responses_model.write_items)
        ]

    assert sent(project_as_text(rows)) == sent(project(rows))


def test_pictures_that_are_not_sent_save_nothing() -> None:
    history = [*seen(ToolResult("a", (PICTURE,))), *seen(ToolResult("a", "nothing"))]
    shorter = Compacted(user("A summary of what was said before. " * 5), 2)
    assert saves_enough(shorter, history)
    assert not saves_enough(shorter, history, project_as_text)
