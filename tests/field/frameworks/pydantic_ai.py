"""pydantic-ai with its defaults."""

from __future__ import annotations

from pydantic import BaseModel
from pydantic_ai import Agent

from harness.adapters import pydantic_ai


class Answer(BaseModel):
    """A structured output."""

    city: str


agent = Agent()
structured = pydantic_ai(Agent(output_type=Answer))
