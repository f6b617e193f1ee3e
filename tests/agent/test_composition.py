"""The standard parts of the agent: the model is the one that speaks the brief's wire."""

from __future__ import annotations

from typing import Any

import pytest

from harness import providers
from harness.agent.composition import standard_model
from harness.agent.models.anthropic_model import AnthropicModel
from harness.agent.models.openai_chat_model import OpenAIChatModel
from harness.core.values.errors import InputError


class Brief:
    """A brief that names a wire."""

    def __init__(self, wire: str) -> None:
        self.wire, self.options = wire, {"model": "m"}
        self.transport, self.base_url, self.api_key = object(), "http://fake.invalid", "key"

    def anthropic(self) -> str:
        """A client."""
        return "anthropic"

    def openai(self) -> str:
        """A client."""
        return "openai"


def test_the_model_is_the_one_of_the_briefs_wire() -> None:
    made: dict[str, Any] = {wire: standard_model(Brief(wire)) for wire in providers.names()}  # type: ignore[arg-type]
    assert isinstance(made["anthropic"], AnthropicModel)
    assert isinstance(made["openai-chat"], OpenAIChatModel)
    with pytest.raises(InputError, match="does not support the wire 'morse'; known: anthropic"):
        standard_model(Brief("morse"))  # type: ignore[arg-type]
