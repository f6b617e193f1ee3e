"""Where a history keeps its events, and the values they name, while a run goes on.

A history needs little of it: append, look at an event by its place, walk on or back, and know which
values stand already. Here it is lists and dicts; a log that keeps the older part of a long run on
disk is another room's affair (`harness.runner.spool`), and looks the same from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeVar, overload

from harness.core.events import AnyEvent
from harness.core.messages import Json, Message

_Value = TypeVar("_Value")


class Events(Protocol):
    """Events in their order; a list is one."""

    def append(self, event: AnyEvent, /) -> None:
        """Add an event at the end."""
        ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[AnyEvent]: ...

    def __reversed__(self) -> Iterator[AnyEvent]: ...

    @overload
    def __getitem__(self, index: int, /) -> AnyEvent: ...

    @overload
    def __getitem__(self, index: slice, /) -> list[AnyEvent]: ...


class Named(Protocol[_Value]):
    """Values by their digest; a dict is one."""

    def __contains__(self, digest: object, /) -> bool: ...

    def __getitem__(self, digest: str, /) -> _Value: ...

    def __setitem__(self, digest: str, value: _Value, /) -> None: ...

    @overload
    def get(self, digest: str, /) -> _Value | None: ...

    @overload
    def get(self, digest: str, default: _Value, /) -> _Value: ...


class EventLog(Protocol):
    """The events of one run and the values they name."""

    @property
    def events(self) -> Events:
        """All events, in order."""
        ...

    @property
    def messages(self) -> Named[Message]:
        """The messages by digest."""
        ...

    @property
    def values(self) -> Named[Json]:
        """The other values by digest."""
        ...


class InMemory:
    """A log that keeps everything at hand."""

    def __init__(self) -> None:
        self.events: list[AnyEvent] = []
        self.messages: dict[str, Message] = {}
        self.values: dict[str, Json] = {}
