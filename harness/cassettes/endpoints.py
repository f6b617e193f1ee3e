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

_ENDPOINTS = {
    "/v1/messages": "anthropic",
    "/chat/completions": "openai-chat",
    "/responses": "openai-responses",
}
"""The wire by the end of a path."""


def wire_of(method: str, path: str) -> Provider | None:
    """The wire that a request speaks; None for one that is no call to a model."""
    if method.upper() != "POST":
        return None
    name = next((wire for end, wire in _ENDPOINTS.items() if path.endswith(end)), None)
    return providers.by_name(name) if name else None
