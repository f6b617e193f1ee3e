"""Shell completion: `_HARNESS_COMPLETE=bash_source harness` prints the script for a shell.

click completes verbs, options and files. This file completes the harness's own names. Each function
imports what it needs when it is called, because the shell waits at each key press.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

NAMES_MOST = 400
"""The most names that are offered: more than a shell shows on a screen."""

_Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def complete(variable: str, instruction: str) -> int:
    """Print the script of a shell, or the completions of a line. Return the exit status.

    `variable` is the environment variable by which a shell asks, with `instruction` as its value.
    """
    from click.shell_completion import shell_complete

    from harness.cli.verbs import harness

    return shell_complete(harness, {}, "harness", variable, instruction)


def completing(names: Callable[[str], Iterable[str | tuple[str, str]]]) -> _Completer:
    """Return a completer that offers the names with the typed prefix; some have a line of help."""

    def found(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return items(names(incomplete), incomplete)

    return found


def items(names: Iterable[str | tuple[str, str]], incomplete: str) -> list[CompletionItem]:
    """Return the names that begin with `incomplete`."""
    from click.shell_completion import CompletionItem

    pairs = [(name, None) if isinstance(name, str) else name for name in names]
    fitting = [(name, told) for name, told in pairs if name.startswith(incomplete)]
    return [CompletionItem(name, help=told) for name, told in fitting[:NAMES_MOST]]


def catalogue_names(incomplete: str) -> Iterable[str]:
    """Return the names after `@`, a folder at a time."""
    from harness.core.values.errors import InputError
    from harness.files.bundle import bundle_names

    depth = incomplete.count("/")
    try:
        return sorted(name for name in bundle_names() if name.count("/") <= depth + 1)
    except InputError:  # the package has no bundle
        return ()


def codes(incomplete: str) -> Iterable[str]:
    """Return codes of findings, checks, faults and rules; after a dot also settings and keys."""
    from harness import providers
    from harness.catalogue.fault_table import PRESETS
    from harness.checks.judge import rules
    from harness.faults import faults

    found = {code for code in rules() if not code.endswith("*")}
    found |= {code.rpartition(".")[0] for code in found} | {*PRESETS, *faults()}
    if incomplete[:1].isupper() or incomplete.startswith("valid_request."):
        of_providers = [rule for name in providers.names() for rule in providers.rules(name)]
        found |= {*of_providers, *(f"valid_request.{rule}" for rule in of_providers)}
    part, dot, _ = incomplete.rpartition(".")
    if dot and part in found:
        from harness.cli.explanations import settings_of_part

        found |= {*settings_of_part(part)}
    elif dot and not any(name.startswith(incomplete) for name in found):
        from harness.cli.explanations import key_names

        found |= {*key_names()}
    return sorted(found)


def explained(incomplete: str) -> Iterable[str]:
    """Return the codes, the parts of other kinds, and the words that reports print."""
    from harness.cli.explanations import part_names, printed_words

    return [*codes(incomplete), *part_names(), *(row.word for row in printed_words().values())]


def check_names(_: str) -> Iterable[tuple[str, str]]:
    """Return the checks, each with its summary."""
    from harness.checks.judge.check_texts import names

    return names().items()


def files_with_schema(_: str) -> Iterable[str]:
    """Return the kinds of files that have a schema."""
    from harness.schema import FILES

    return FILES


def profiles(_: str) -> Iterable[str]:
    """Return the configured profiles, and files that may be a profile."""
    from pathlib import Path

    from harness.configuration import SUFFIXES, load_configuration
    from harness.core.values.errors import InputError

    try:
        named = [*load_configuration(Path.cwd()).profiles]
    except InputError:  # the command itself reports the error
        named = []
    return [*named, *sorted(name for name in os.listdir() if name.endswith(SUFFIXES))]


def targets(_: str) -> Iterable[str]:
    """Return the agents known by name, the prefixes of other targets, and this folder's modules."""
    from harness.targets.spec import known_names

    modules = sorted(name[:-3] + ":" for name in os.listdir() if name.endswith(".py"))
    return [*known_names(), "process:", "acp:", "http://", "https://", *modules]
