"""Completion in the shell: `_HARNESS_COMPLETE=bash_source harness` prints what a shell runs.

click completes verbs, options and files. Names of ours are completed here; each function imports
what it asks only when it is asked, since a shell waits for it at each press of the key.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from harness.cli import COMPLETE

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

NAMES_MOST = 400
"""More than a shell shows on a screen; what is typed narrows them."""

_Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def complete(instruction: str) -> int:
    """Print the script of a shell, or the words that complete a line; the exit status."""
    from click.shell_completion import shell_complete

    from harness.cli.verbs import harness

    return shell_complete(harness, {}, "harness", COMPLETE, instruction)


def completing(names: Callable[[str], Iterable[str | tuple[str, str]]]) -> _Completer:
    """A completer of the names, some with a line of help, that begin with what is typed."""

    def found(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return items(names(incomplete), incomplete)

    return found


def items(names: Iterable[str | tuple[str, str]], incomplete: str) -> list[CompletionItem]:
    """The names that begin with what is typed."""
    from click.shell_completion import CompletionItem

    pairs = [(name, None) if isinstance(name, str) else name for name in names]
    fitting = [(name, told) for name, told in pairs if name.startswith(incomplete)]
    return [CompletionItem(name, help=told) for name, told in fitting[:NAMES_MOST]]


def catalogue_names(incomplete: str) -> Iterable[str]:
    """The names after `@`, a folder at a time."""
    from harness.core.values.errors import InputError
    from harness.files.bundle import bundle_names

    depth = incomplete.count("/")
    try:
        return sorted(name for name in bundle_names() if name.count("/") <= depth + 1)
    except InputError:  # nothing came along
        return ()


def codes(incomplete: str) -> Iterable[str]:
    """Codes of findings, checks, kinds of faults and rules; behind a dot also settings and keys."""
    from harness import providers
    from harness.catalogue.presets import PRESETS
    from harness.checks.rule_classes import RULE_CLASSES
    from harness.faults import faults

    found = {code for code in RULE_CLASSES if not code.endswith("*")}
    found |= {code.rpartition(".")[0] for code in found} | {*PRESETS, *faults()}
    if incomplete[:1].isupper() or incomplete.startswith("valid_request."):
        rules = [rule for name in providers.names() for rule in providers.rules(name)]
        found |= {*rules, *(f"valid_request.{rule}" for rule in rules)}
    part, dot, _ = incomplete.rpartition(".")
    if dot and part in found:
        from harness.cli.setting_explanation import settings_of_part

        found |= {*settings_of_part(part)}
    elif dot and not any(name.startswith(incomplete) for name in found):
        from harness.cli.setting_explanation import key_names

        found |= {*key_names()}
    return sorted(found)


def check_names(_: str) -> Iterable[tuple[str, str]]:
    """The checks, with what each asks."""
    from harness.checks.judge import names

    return names().items()


def listed(_: str) -> Iterable[str]:
    """What can be listed."""
    from harness.cli.list import KINDS

    return KINDS


def files_with_schema(_: str) -> Iterable[str]:
    """The kinds of files that have a schema."""
    from harness.schema import FILES

    return FILES


def profiles(_: str) -> Iterable[str]:
    """The configured profiles, and files that may be one."""
    from pathlib import Path

    from harness.configuration import SUFFIXES, load_configuration
    from harness.core.values.errors import InputError

    try:
        named = [*load_configuration(Path.cwd()).profiles]
    except InputError:  # the command itself says what is wrong
        named = []
    return [*named, *sorted(name for name in os.listdir() if name.endswith(SUFFIXES))]


def targets(_: str) -> Iterable[str]:
    """The agents that are known by name, how other targets begin, the modules of this folder."""
    from harness.targets.spec import known_names

    modules = sorted(name[:-3] + ":" for name in os.listdir() if name.endswith(".py"))
    return [*known_names(), "process:", "http://", "https://", *modules]
