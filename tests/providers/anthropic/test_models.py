"""What the name of a model tells, and that the client reads the description."""

from __future__ import annotations

import typing

import pytest
from anthropic.types import ModelInfo, ModelParam

from harness.core.values.calls import ProviderRequest
from harness.core.values.plans import Facts
from harness.providers.anthropic.models import info, model
from harness.providers.anthropic.provider import AnthropicProvider
from harness.providers.anthropic.record import RECORD
from tests.http_library import since_2

NAMES = typing.get_args(typing.get_args(ModelParam)[0])


@pytest.mark.parametrize(
    ("name", "line", "version"),
    [
        ("claude-opus-5-5", "opus", (5, 5)),
        ("claude-sonnet-5", "sonnet", (5, 0)),
        ("claude-opus-4-20250514", "opus", (4, 0)),
        ("claude-haiku-4-5-20251001", "haiku", (4, 5)),
        ("claude-3-5-sonnet-20241022", "sonnet", (3, 5)),
        ("claude-3-opus-20240229", "opus", (3, 0)),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "sonnet", (4, 5)),
        ("claude-opus-4.8", "opus", (4, 8)),
        ("claude-x", "", (0, 0)),
        ("gpt-5", "", (0, 0)),
    ],
)
def test_a_name_tells_line_and_version(name: str, line: str, version: tuple[int, int]) -> None:
    assert (model(name).line, model(name).version) == (line, version)


@since_2
def test_every_numbered_name_of_the_sdk_is_known() -> None:
    unknown = [name for name in NAMES if not model(name).known]
    assert unknown == ["claude-mythos-preview"]
    assert set(RECORD.models) <= set(NAMES)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("claude-sonnet-4-5", {"enabled", "disabled", "between_tools"}),
        ("claude-opus-4-6", {"enabled", "adaptive", "disabled", "between_tools"}),
        ("claude-opus-4-7", {"adaptive", "disabled", "between_tools"}),
        ("claude-fable-5-1", {"adaptive", "between_tools"}),
        ("mine", {"enabled", "adaptive", "disabled", "between_tools"}),
    ],
)
def test_thinking_goes_by_the_version(name: str, kinds: set[str]) -> None:
    every = ("enabled", "adaptive", "disabled", "between_tools")
    assert {kind for kind in every if model(name).thinks(kind)} == kinds


@pytest.mark.parametrize("name", [*NAMES, "mine"])
def test_the_client_reads_the_description(name: str) -> None:
    described = ModelInfo.model_validate(info(name, 1234), strict=False)
    assert (described.id, described.max_input_tokens) == (name, 1234)
    assert described.max_tokens == model(name).max_tokens
    assert described.capabilities is not None


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("claude-opus-5", 128_000),
        ("claude-sonnet-4-0", 64_000),
        ("claude-opus-4-0", 32_000),
        ("claude-3-haiku-20240307", 4_096),
        ("mine", 128_000),
    ],
)
def test_a_reply_is_capped_by_the_version(name: str, most: int) -> None:
    assert model(name).max_tokens == most


def test_a_list_is_one_page() -> None:
    provider = AnthropicProvider()
    _, facts = provider.facts(ProviderRequest("models"), b"", provider.reader(""), None)
    assert isinstance(facts, Facts)
    page = facts.body
    assert [row["id"] for row in page["data"]] == list(RECORD.models)
    assert (page["has_more"], page["first_id"], page["last_id"]) == (
        False,
        RECORD.models[0],
        RECORD.models[-1],
    )
