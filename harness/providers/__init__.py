"""The providers: one folder for each model API. A folder with a record is a provider.

Transports do all IO. A stream is one send per event, so that a fault can hit exactly one; the head
goes with the first. Errors inside streams are a fault's work: a provider's error is a status and an
envelope. Recordings may be cut or bent, so parsers never raise; `complete` tells what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from types import ModuleType
from typing import Protocol

from harness.core.scenario.scenario import DEFAULT_WIRE
from harness.core.transition.ports import Provider
from harness.core.values.errors import InputError, nearest
from harness.parts.loading import LAST, folders_of, import_module
from harness.providers.shared.json_fields import RecordedApi
from harness.providers.shared.record import ProviderRecord, shape
from harness.providers.shared.rules import Rule, rule_examples, rule_rows


class KnownProvider(Provider, Protocol):
    """A provider of ours: it has a record, and reads what recordings hold of its API."""

    record: ProviderRecord
    recorded: RecordedApi


DEFAULT = DEFAULT_WIRE
"""The provider of a scenario that names none."""


@cache
def _records() -> Mapping[str, ProviderRecord]:
    """The records of the folders here, but of `shared`, by the names of their providers."""
    homes = sorted(map(import_module, folders_of(__name__)), key=_place)
    found = (import_module(f"{home.__name__}.record").RECORD for home in homes)
    return {record.name: record for record in found}


def _place(home: ModuleType) -> tuple[int, str]:
    return getattr(home, "PLACE", LAST), home.__name__


def names() -> tuple[str, ...]:
    """The names of the providers."""
    return tuple(_records())


def records() -> tuple[ProviderRecord, ...]:
    """The records of all providers."""
    return tuple(_records().values())


def recorded_apis() -> tuple[RecordedApi, ...]:
    """The providers' APIs, as recordings hold them."""
    return tuple(by_name(name).recorded for name in names())


def record(name: str) -> ProviderRecord:
    """The record of a provider; InputError, with the nearest name, for an unknown name."""
    if name not in _records():
        raise InputError(f"no wire is named {name!r}; {nearest(name, _records())}", "wire")
    return _records()[name]


@lru_cache(maxsize=256)
def at_path(path: str) -> KnownProvider | None:
    """The provider that answers live calls to a model at a path."""
    for known in records():
        if any(shape(live).fullmatch(path) for live in known.live_paths):
            return by_name(known.name)
    return None


def step_from(path: str, wire: str) -> str:
    """What an agent that asked at another path changes: often its client adds no `/v1`, or two."""
    own = record(wire).path if wire in names() else wire
    other = next((r.name for r in records() if r.name != wire and r.is_spoken_at(path)), "")
    if own.endswith(path):
        return f"add {own.removesuffix(path)} to the base URL that the agent gives its client"
    if path.endswith(own):
        return f"leave {path.removesuffix(own)} out of the base URL that the agent gives its client"
    play = f"an agent that speaks {other} is played with --wire {other}, in pytest with "
    return f"{play}--harness-wire {other}" if other else ""


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
    home = import_module(f"{_package(name)}.provider")
    made = (one for one in vars(home).values() if getattr(one, "__module__", "") == home.__name__)
    provider: type[KnownProvider] = next(one for one in made if hasattr(one, "recorded"))
    return provider()
