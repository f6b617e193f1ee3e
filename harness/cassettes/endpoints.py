"""Which recorded requests are calls to a model that a door can answer.

The host is not looked at, nor is what stands before the endpoint: a live call always comes to a
door of ours, so its address says nothing of the provider, and gateways put anything in front of a
path (`/openai/deployments/NAME/chat/completions`). What is compared is the API that is spoken. An
API whose requests name their model in the address (Bedrock, Vertex, Gemini) has no door, and so
nothing to play.
"""

from __future__ import annotations

from harness import providers
from harness.core.transition.ports import Provider


def wire_of(method: str, path: str) -> Provider | None:
    """The wire that a request speaks; None for one that is no call to a model."""
    if method.upper() != "POST":
        return None
    found = (record.name for record in providers.records() if path.endswith(record.path_end))
    return next(map(providers.by_name, found), None)
