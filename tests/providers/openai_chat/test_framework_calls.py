"""Results as frameworks keep them: what says that a call has failed."""

from __future__ import annotations

from typing import Any

import pytest

from harness.providers.openai_chat.framework_calls import result_from_part


@pytest.mark.parametrize(
    ("said", "failed"),
    [
        ({"is_error": True}, True),
        ({"isError": True}, True),
        ({"is_error": False, "isError": False}, False),
        ({}, False),
    ],
)
def test_either_spelling_says_that_a_call_has_failed(said: dict[str, Any], failed: bool) -> None:
    result = result_from_part({"toolCallId": "a", "result": "no such file", **said})
    assert (result.text, result.is_error) == ("no such file", failed)
