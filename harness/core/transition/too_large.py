"""Recognises a refusal for size by a status or by the provider's words, also in an error event.

It also reads a wrapper's own assistant message, which counts no token. A stop reason for size needs
no words.
"""

from __future__ import annotations

from string import Formatter

from harness.core.history.exchanges import HTTP_TOO_LARGE, SIZE_RULES
from harness.core.transition import answer_bytes
from harness.core.transition.ports import Provider
from harness.core.values.messages import Text
from harness.core.values.plans import ApiError, Plan, Recorded, Reply

_CODES = frozenset({"context_length_exceeded", "request_too_large"})
_WORDS_LEAST = 12
_SPOKEN = ("prompt is too long", "input is too long")


class TooLarge:
    """Distinguishes a refusal for size from other answers, for one wire."""

    def __init__(self, wire: Provider) -> None:
        self._wire = wire
        self._words: frozenset[str] | None = None

    def is_said(
        self,
        said: Reply | ApiError | Recorded | None,
        plan: Plan,
        *,
        bent: bool,
        cut: bool = False,
    ) -> bool:
        """Whether the answer refuses the request for its size. The bytes are read only if faults
        have changed them (`bent`). A message that is `cut` off does not count."""
        if isinstance(said, ApiError):
            return self._is_about_size(said)
        if isinstance(said, Reply) and not cut and said.usage and not any(said.usage.values()):
            text = "".join(b.text for b in said.blocks if isinstance(b, Text))
            return text.lower().startswith(_SPOKEN)
        return bent and self._is_in_the_bytes(plan)

    def _is_about_size(self, error: ApiError) -> bool:
        if error.status == HTTP_TOO_LARGE or _CODES & {error.code, error.type}:
            return True
        return any(words in error.message for words in self._rules_words())

    def _is_in_the_bytes(self, plan: Plan) -> bool:
        answer = answer_bytes.read(self._wire, plan)
        if answer is None:
            return False
        head, told = answer
        is_about_size = told.error is not None and self._is_about_size(told.error)
        return head.status == HTTP_TOO_LARGE or is_about_size

    def _rules_words(self) -> frozenset[str]:
        if self._words is None:
            said = [e.message for rule, e in self._wire.refusals().items() if rule in SIZE_RULES]
            self._words = frozenset(map(_words_of, said))
        return self._words


def _words_of(template: str) -> str:
    """The first literal text of a template that is long enough, without the path of a field."""
    parts = (part.partition(". ")[0].strip(" :") for part, *_ in Formatter().parse(template))
    said = next(part for part in parts if len(part) >= _WORDS_LEAST)
    return said.partition(": ")[2] if said.startswith(".") else said
