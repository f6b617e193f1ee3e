"""The checks by name: our own families, and those that the loaded plug-ins bring.

A check is a public function whose first parameter is `history`. Its keyword-only parameters are its
settings. A check of a plug-in is named `PREFIX.name`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any

from harness.checks import (
    budgets,
    conversation,
    durability,
    expectations,
    false_stops,
    loops,
    message_delivery,
    prompt_size,
    recovery,
    request_form,
    retries,
    run_integrity,
    stored_session,
    stream_errors,
    tool_execution,
    tool_pairing,
    truthfulness,
    wait_limits,
)
from harness.checks.declarations import declared
from harness.core.transition.ports import CheckFunction
from harness.core.values.errors import InputError
from harness.core.values.loaded_plugins import Plugin, loaded, unknown_name

MODULES: tuple[ModuleType, ...] = (
    run_integrity,
    request_form,
    conversation,
    tool_pairing,
    prompt_size,
    retries,
    loops,
    false_stops,
    budgets,
    wait_limits,
    tool_execution,
    truthfulness,
    stream_errors,
    stored_session,
    durability,
    recovery,
    message_delivery,
    expectations,
)
"""The families of invariants."""

ORDER = (
    *("target", "run", "limit", "script", "cassette"),
    *("valid_request", "append_only_prefix", "role_alternation", "tool_pairing", "unique_tool_ids"),
    *("nonblank_content", "wellformed_text", "ends_with_user", "history_faithful"),
    *("bounded_turn", "no_blind_resend", "compaction_progress", "request_fits"),
    *("retry_budget", "backoff", "no_progress_stop", "no_false_stop", "compaction_preserves"),
    *("budget_ceiling", "bounded_spawn", "bounded_wait"),
    *("args_complete", "effect_once", "error_visible", "stream_error_handled"),
    *("reload_equivalence", "durable_first", "no_silent_loss", "resume_bounded"),
    *("inbound_exactly_once", "outbound_once", "turn_serial", "cancel_honoured"),
    *("truthful_outcome", "session_heals", "expect"),
)
"""The order in which the checks are applied and reported: how the run itself went comes first, for
much else may follow from it."""


def parts_of(plugin: Plugin) -> Mapping[str, CheckFunction]:
    """The checks of a plug-in, by name without its prefix."""
    return {
        name: function
        for name, function in plugin.functions.items()
        if _parameters(function)[:1] == ("history",)
    }


def own_checks() -> Mapping[str, CheckFunction]:
    """Our own checks by name."""
    return _all(())


def checks() -> Mapping[str, CheckFunction]:
    """The checks by name, those of the loaded plug-ins after our own."""
    return _all(loaded())


@cache
def _all(plugins: tuple[Plugin, ...]) -> Mapping[str, CheckFunction]:
    own: dict[str, CheckFunction] = {}
    for module in MODULES:
        own |= parts_of(Plugin("", module))
    found = {name: own[name] for name in (*ORDER, *own)}
    for plugin in plugins:
        found |= {f"{plugin.prefix}.{name}": check for name, check in parts_of(plugin).items()}
    return MappingProxyType(found)


def _undecorated(check: CheckFunction) -> FunctionType:
    while (inner := getattr(check, "__wrapped__", None)) is not None:
        check = inner
    assert isinstance(check, FunctionType)
    return check


def _parameters(check: CheckFunction) -> tuple[str, ...]:
    code = _undecorated(check).__code__
    return code.co_varnames[: code.co_argcount]


def settings_of(check: CheckFunction) -> Mapping[str, Any]:
    """The settings of a check with their defaults."""
    return _undecorated(check).__kwdefaults__ or {}


def names() -> dict[str, str]:
    """What `harness list checks` shows: each check's name and what it asks."""
    return {name: docstring_of(check).partition("\n")[0] for name, check in checks().items()}


def check_of(code: str) -> str:
    """The check of a code: all before its last dot, or the code itself if it names a check."""
    return code if code in checks() else code.rpartition(".")[0] or code


def explain(code: str) -> str:
    """What a check asks, its rules, its source, and what it declares.

    `code` is a check or `check.rule`. Raises InputError for a name that no check has.
    """
    found, name = checks(), check_of(code)
    if name not in found:
        raise InputError(f"there is no check {name!r}; {unknown_name(name, found)}", code)
    told = "\n".join(declarations()[name])
    return "\n\n".join(filter(None, [docstring_of(found[name]), told]))


def declarations() -> dict[str, tuple[str, ...]]:
    """What each check declares, in words: the seams it needs, its sources, its excuses."""
    return {name: (*_seams(check), *declared(check)) for name, check in checks().items()}


def _seams(check: CheckFunction) -> Iterator[str]:
    if seams := getattr(check, "needs", ()):
        yield f"Needs the seams {', '.join(seams)}."


def docstring_of(check: CheckFunction) -> str:
    """What a check asks: a sentence, its rules, its source."""
    lines = (check.__doc__ or "").strip().splitlines()
    return "\n".join(line.strip() for line in lines)
