from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.messages import Message, Opaque, Text, Thinking, ToolResult, ToolUse
from harness.recordings.transcripts import encodable

_TEXTS = st.sampled_from(["", "a", "ä", "\ud83d", "a\udc00b"])
_BLOCKS = st.one_of(
    st.builds(Text, _TEXTS, st.dictionaries(st.just("x"), _TEXTS, max_size=1)),
    st.builds(Thinking, _TEXTS, _TEXTS),
    st.builds(ToolUse, _TEXTS, _TEXTS, st.dictionaries(_TEXTS, _TEXTS, max_size=1)),
    st.builds(ToolResult, _TEXTS, _TEXTS),
    st.builds(ToolResult, _TEXTS, st.lists(st.builds(Text, _TEXTS), max_size=2).map(tuple)),
    st.builds(lambda text: Opaque("image", {"text": text}), _TEXTS),
)
_MESSAGES = st.builds(Message, _TEXTS, st.lists(_BLOCKS, max_size=2).map(tuple))


def _is_sayable(message: Message) -> bool:
    try:
        msgspec.json.encode(message)
    except UnicodeEncodeError:
        return False
    return True


@given(_MESSAGES)
def test_only_what_json_cannot_say_is_changed(message: Message) -> None:
    said = encodable(message)
    assert _is_sayable(said)
    assert (said is message) == _is_sayable(message)
