"""Each provider has its own words for each cause of an error that a fault can name."""

from __future__ import annotations

import pytest

from harness import providers
from harness.catalogue.fault_table import PRESETS
from harness.core.values.plans import ApiError
from harness.faults.shared.error_answers import TYPES
from harness.providers.anthropic.record import WORDS as ANTHROPIC
from harness.providers.gemini.record import WORDS as GEMINI
from harness.providers.openai_chat.record import WORDS as CHAT
from harness.providers.openai_responses.record import WORDS as RESPONSES
from tests.providers.anthropic.errors_table import ERRORS

TABLES = {
    "anthropic": ANTHROPIC,
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "gemini": GEMINI,
}
MODEL = {"anthropic": "V40", "openai-chat": "C37", "openai-responses": "R29", "gemini": "G33"}


def causes() -> set[str]:
    """The causes that faults name: by a status, by a preset, and in their code."""
    of_presets = (row.constants.get("type") for row in PRESETS.values())
    return {
        *TYPES.values(),
        "api_error",
        *("picture_refused", "spend_limit", "tools_refused"),
        *filter(None, map(str, filter(None, of_presets))),
    }


@pytest.mark.parametrize("wire", providers.names())
def test_a_provider_has_words_for_each_cause(wire: str) -> None:
    rows = TABLES[wire].rows
    assert rows.keys() == causes() | {"invalid_request_error"}
    for row in rows.values():
        assert row.text
        assert row.type
        assert row.known in set("RSDIK")
        assert row.source or row.known == "K"
        assert not row.never or row.status != row.asked


@pytest.mark.parametrize("wire", providers.names())
def test_a_cause_is_said_once(wire: str) -> None:
    """What the writer puts into the provider's words may be in them already."""
    own = TABLES[wire].own
    for cause, row in TABLES[wire].rows.items():
        said = own(ApiError(0, cause, ""))
        assert (said.status, said.type, said.code) == (row.status, row.type, row.code)
        assert own(said) == said


@pytest.mark.parametrize("wire", providers.names())
def test_a_stated_status_stays_unless_the_provider_never_sends_it(wire: str) -> None:
    never = {row.asked: row.status for row in TABLES[wire].rows.values() if row.never}
    assert (529 in never) is (wire != "anthropic")
    for status in (200, 402, 418, 500, 529):
        for kind in ("api_error", "my_own_error", "overloaded_error"):
            said = TABLES[wire].own(ApiError(status, kind, "No.", {"a": "b"}))
            assert said.status == never.get(status, status)
            assert (said.message, said.headers) == ("No.", {"a": "b"})


@pytest.mark.parametrize("wire", providers.names())
def test_a_model_that_is_gone_is_one_that_is_unknown(wire: str) -> None:
    row, rule = TABLES[wire].rows["not_found_error"], providers.rules(wire)[MODEL[wire]]
    assert (row.text, row.status, row.type, row.code) == (
        rule.text, rule.status, rule.type, rule.code)  # fmt: skip


def test_anthropics_words_are_those_of_its_sdk() -> None:
    known = {(row.status, row.type) for row in ERRORS if not row.code}
    untyped = {row.status for row in ERRORS if not row.type}
    for row in ANTHROPIC.rows.values():
        assert (row.status, row.type) in known or row.status in untyped


@pytest.mark.parametrize("wire", providers.names())
def test_too_many_bytes_are_recognised_by_the_providers_words(wire: str) -> None:
    words, refuses = TABLES[wire].rows, providers.by_name(wire).refuses_size
    said = words["request_too_large"].text
    assert all(refuses(ApiError(400, "", text)) for text in (said, said.replace("20971520", "9")))
    others = [row.text for cause, row in words.items() if cause != "request_too_large"]
    assert not any(refuses(ApiError(400, "", text)) for text in others)


@pytest.mark.parametrize("wire", providers.names())
def test_a_gateway_may_say_it_in_the_words_of_another_provider(wire: str) -> None:
    """An agent that reads them shortens the conversation, so no check may call that early."""
    refuses = providers.by_name(wire).refuses_size
    assert refuses(ApiError(400, "", "prompt is too long: 208380 tokens > 200000 maximum"))
    assert not refuses(ApiError(400, "", "The prompt is not valid."))
