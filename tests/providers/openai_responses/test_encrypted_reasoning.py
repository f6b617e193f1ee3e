"""Reasoning that comes back encrypted: what this run gave out, or what was stored before it."""

from __future__ import annotations

from typing import Any

import pytest

from harness.core.history.history import History
from harness.core.transition.ports import IssuedThinking
from harness.core.values.messages import Thinking, assistant
from harness.providers.openai_responses.request import ResponsesReader
from tests.providers.openai_responses.world import body, reader

USER = {"role": "user", "content": "go"}
CALL = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
REASON = "could not be verified. Reason: Encrypted content could not be decrypted or parsed."


def expecting(*signatures: str, dialect: str = "") -> ResponsesReader:
    """A reader of a run in which reasoning of this content was stored."""
    expects = reader(dialect)
    stored = [assistant(Thinking("why", signature)) for signature in signatures]
    expects.expect(IssuedThinking(History(), stored))
    return expects


def loop(**fields: Any) -> list[dict[str, Any]]:
    """A tool loop that begins with reasoning."""
    return [USER, {"type": "reasoning", "summary": [], **fields}, CALL, OUTPUT]


def test_foreign_content_is_refused_unless_it_was_stored() -> None:
    asked = body(loop(id="rs_1", encrypted_content="gAAAAABoxC3j"))
    (found,) = expecting().read(asked).violations
    assert (found.error.status, found.error.code) == (400, "invalid_encrypted_content")
    assert found.error.message == f"The encrypted content for item rs_1 {REASON}"
    assert expecting("gAAAAABoxC3j").read(asked).violations == ()
    assert expecting(dialect="lenient").read(asked).violations == ()
    assert reader().read(asked).violations == ()


def test_without_an_id_the_content_is_named_in_short() -> None:
    (found,) = expecting().read(body(loop(encrypted_content="gAAAAABoxC3j"))).violations
    assert found.error.message == f"The encrypted content gAAA...xC3j {REASON}"


@pytest.mark.parametrize(("hidden", "rule"), [("", "R23"), (3, "R8"), (None, ""), ("aa", "")])
def test_content_is_text_that_is_not_empty(hidden: Any, rule: str) -> None:
    found = reader().read(body(loop(id="rs_1", encrypted_content=hidden))).violations
    assert [violation.rule for violation in found] == ([rule] if rule else [])


@pytest.mark.parametrize("store", [True, False])
def test_reasoning_by_its_id_alone_must_be_stored(store: bool) -> None:
    found = reader().read(body(loop(id="rs_1"), store=store)).violations
    assert [violation.error.status for violation in found] == ([] if store else [404])
    assert all("Items are not persisted" in violation.error.message for violation in found)
