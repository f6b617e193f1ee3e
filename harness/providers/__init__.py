"""The providers: one folder for each model API, and their registry.

Transports do all IO. A stream is one send per event, so that a fault can hit exactly one; the head
goes with the first. Errors inside streams are a fault's work: a provider's error is a status and an
envelope. Recordings may be cut or bent, so parsers never raise; `complete` tells what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Protocol

from harness.core.scenario.scenario import DEFAULT_WIRE
from harness.core.transition.ports import Provider
from harness.core.values.errors import InputError, nearest
from harness.providers.anthropic.record import RECORD as ANTHROPIC
from harness.providers.gemini.record import RECORD as GEMINI
from harness.providers.openai_chat.record import RECORD as OPENAI_CHAT
from harness.providers.openai_responses.record import RECORD as OPENAI_RESPONSES
from harness.providers.shared.json_fields import RecordedApi
from harness.providers.shared.record import ProviderRecord
from harness.providers.shared.rules import Rule, rule_examples, rule_rows


class KnownProvider(Provider, Protocol):
    """A provider of ours: it has a record, and reads what recordings hold of its API."""

    record: ProviderRecord
    recorded: RecordedApi


_RECORDS = {record.name: record for record in (ANTHROPIC, OPENAI_CHAT, OPENAI_RESPONSES, GEMINI)}

DEFAULT = DEFAULT_WIRE
"""The provider of a scenario that names none."""


def names() -> tuple[str, ...]:
    """The names of the providers."""
    return tuple(_RECORDS)


def records() -> tuple[ProviderRecord, ...]:
    """The records of all providers."""
    return tuple(_RECORDS.values())


def recorded_apis() -> tuple[RecordedApi, ...]:
    """The providers' APIs, as recordings hold them."""
    return tuple(by_name(name).recorded for name in names())


def record(name: str) -> ProviderRecord:
    """The record of a provider; InputError, with the nearest name, for an unknown name."""
    try:
        return _RECORDS[name]
    except KeyError:
        raise InputError(f"no wire is named {name!r}; {nearest(name, _RECORDS)}", "wire") from None


@cache
def rules(name: str) -> Mapping[str, Rule]:
    """The rules of a provider by id; InputError, with the nearest name, for an unknown name."""
    return rule_rows(_package(name))


@cache
def examples(name: str) -> Mapping[str, str]:
    """A request that breaks a rule, by the rule's id; a rule without a small one has none."""
    return rule_examples(_package(name))


def _package(name: str) -> str:
    return f"{__name__}.{record(name).name.replace('-', '_')}"


@cache
def by_name(name: str) -> KnownProvider:
    """The provider of that name, imported when it is asked for: a run speaks one of them.

    Raises InputError, with the nearest name, for an unknown name.
    """
    found = record(name)
    if found is ANTHROPIC:
        from harness.providers.anthropic.provider import AnthropicProvider

        return AnthropicProvider()
    if found is OPENAI_CHAT:
        from harness.providers.openai_chat.provider import OpenAIChatProvider

        return OpenAIChatProvider()
    if found is GEMINI:
        from harness.providers.gemini.provider import GeminiProvider

        return GeminiProvider()
    from harness.providers.openai_responses.provider import OpenAIResponsesProvider

    return OpenAIResponsesProvider()
