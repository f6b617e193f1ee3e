"""mini-swe-agent: the messages that were sent, without the program's own."""

from __future__ import annotations

import json

import pytest

from harness.core.values.errors import InputError
from harness.recordings.recognition import format_named
from tests.recordings.documents import SAMPLES, openai_messages

MINI_SWE_AGENT = format_named("mini_swe_agent")


def test_the_messages_are_read_and_the_exit_is_left_out() -> None:
    (found,) = MINI_SWE_AGENT.read(SAMPLES["mini_swe_agent"][1]).transcripts
    assert [message.role for message in found.messages] == [m["role"] for m in openai_messages()]
    assert found.messages[2].tool_uses[0].name == "ls"


def test_the_model_stands_in_the_header() -> None:
    info = {"mini_version": "2", "config": {"model": {"model_name": "m"}}}
    data = json.dumps({"info": info, "messages": openai_messages()}).encode()
    assert MINI_SWE_AGENT.recognises(data)
    assert MINI_SWE_AGENT.read(data).transcripts[0].model == "m"


@pytest.mark.parametrize("data", [b"[]", b'{"messages": []}', b'{"messages": [{"role": "exit"}]}'])
def test_what_has_no_messages_is_refused(data: bytes) -> None:
    assert not MINI_SWE_AGENT.recognises(data)
    with pytest.raises(InputError, match="a list messages"):
        MINI_SWE_AGENT.read(data)
