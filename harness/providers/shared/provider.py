"""What all providers have in common: they answer by their record and by their rules.

A provider has no state; its readers have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from harness.core.transition.ports import Endpoint, ProviderTraits
from harness.core.values.plans import WINDOW_FULL, ApiError
from harness.providers.shared import hosts
from harness.providers.shared.record import ProviderRecord
from harness.providers.shared.rules import RuleTable


def traits_of(
    record: ProviderRecord, own: Callable[[ApiError], ApiError], **more: Any
) -> ProviderTraits:
    """What faults ask about a provider: what its record tells, and `more`."""
    traits = ProviderTraits(
        endpoint=record.path.rpartition("/")[2],
        keep_alive=record.keep_alive,
        requests_left=record.headers.requests_left,
        hollow=record.hollow_answer,
        own_error=own,
        window_full=record.read_stop(record.written_stop(WINDOW_FULL)),
    )
    return msgspec.structs.replace(traits, **more)


class ApiProvider:
    """The part of a provider that follows from its record, its rules and its `kinds` of bytes."""

    record: ProviderRecord
    rules: RuleTable
    kinds: ProviderTraits

    def __init__(self) -> None:
        self.name, self.headers = self.record.name, self.record.headers

    def paths(self) -> tuple[str, ...]:
        """The endpoint paths that the provider answers."""
        return self.record.live_paths

    def complete_body(self, path: str, query: str, body: bytes) -> bytes:
        """A request's body, completed with the fields that its address says."""
        return self.record.complete_body(path, query, body)

    def endpoint(self, path: str) -> Endpoint | None:
        """The endpoint of another host at a path; None for an address of the provider's own."""
        return hosts.endpoint(self.record, self.rules, path)

    def refusals(self) -> Mapping[str, ApiError]:
        """Each rule's answer by the rule's id, with a template as text."""
        return self.rules.refusals()

    def refuses_size(self, error: ApiError) -> bool:
        """Whether an error refuses a request for its size, by its code or its words. A gateway may
        say it in the words of another provider."""
        return self.rules.refuses_size(error) or self.says_size(error.message)

    def says_size(self, text: str) -> bool:
        """Whether a message, written in place of an answer, says that the request is too large."""
        return text.lower().startswith(self.record.size_messages)

    def traits(self) -> ProviderTraits:
        """What faults ask about the provider."""
        return self.kinds
