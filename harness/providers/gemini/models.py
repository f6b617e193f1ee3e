"""What the rules need to know of the models: the version in a name.

An unknown name triggers no rule that needs a model.
"""

from __future__ import annotations

import re
from functools import cache

from harness.core.values.messages import Json
from harness.providers.gemini.record import RECORD

Version = tuple[int, int]

_NAME = re.compile(r"gemini-(\d+)(?:\.(\d+))?(?![\d.])")
_TERM = re.compile(r"(>=|<)(\d+)(?:\.(\d+))?")

SIGNS_CALLS: Version = (3, 0)
"""From here on a model signs its calls, and wants the signatures back."""


@cache
def version_of(model: str) -> Version | None:
    """The version of a model by its name, None where the name does not tell."""
    found = _NAME.search(model)
    return (int(found[1]), int(found[2] or 0)) if found else None


def signs_calls(model: str) -> bool:
    """Whether a model signs its calls."""
    version = version_of(model)
    return version is not None and version >= SIGNS_CALLS


def fits(models: str, name: str) -> bool:
    """Whether a model is one of `models`, terms as in `>=3 <2.6`; an unknown model is not."""
    version = version_of(name)
    return version is not None and any(_is(term, version) for term in models.split())


def _is(term: str, version: Version) -> bool:
    found = _TERM.fullmatch(term)
    assert found is not None, term
    return (version >= (int(found[2]), int(found[3] or 0))) is (found[1] == ">=")


def info(name: str, window_tokens: int | None) -> dict[str, Json]:
    """A model as the API describes it; its window is the scenario's."""
    return {
        "name": f"models/{name}",
        "version": "001",
        "displayName": name.replace("-", " ").title(),
        "inputTokenLimit": window_tokens or 1_048_576,
        "outputTokenLimit": 65_536,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    }


def listed(window_tokens: int | None) -> dict[str, Json]:
    """The list of models, as one page."""
    return {"models": [info(name, window_tokens) for name in RECORD.models]}
