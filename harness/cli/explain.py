"""`harness explain`: explains what a report or a file names, and each word that is printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

import click

from harness.catalogue import FIELD_PREFIX, ROWS, incident
from harness.cli.completion import completing, explained
from harness.cli.explanations import (
    CHECK,
    fault_line,
    field_names,
    field_text,
    glossary,
    key_names,
    key_texts,
    part_names,
    part_texts,
    printed_words,
    rule_names,
    rule_texts,
    seen_in_the_field,
    setting_names,
    setting_texts,
    settings_list,
    spaced,
)
from harness.cli.options import every_verb, named_plugins
from harness.core.values.errors import InputError
from harness.files.bundle import MARK, bundled, bundled_files, shown
from harness.parts.loading import Plugin, loaded, unknown_name

if TYPE_CHECKING:
    from pathlib import Path

    from harness.catalogue import Incident
    from harness.core.scenario.scenario import Scenario
    from harness.faults import Fault


@click.command("explain")
@click.argument("words", metavar="CODE", nargs=-1, required=True,
                shell_complete=completing(explained))  # fmt: skip
@named_plugins
@every_verb
def command(words: tuple[str, ...], as_json: bool) -> int:
    """Explain CODE: a finding's code, a part, a rule, a setting, a key, or incidents:N.

    field/NAME is a finding confirmed in a public agent; field/AGENT lists an agent's, field/ all.

    Examples: no_progress_stop.same_call, V11, http.status.retry_after, limits.real_s, T4.

    A printed word is explained too: unknown, not applicable, real wait, an exit status.

    A name with @ is bundled: the story of a scenario (@loops/circles), or a page.
    """
    from harness.cli import terminal
    from harness.redaction.encoder import json_line

    code = " ".join(words)
    text = explanation(code)
    terminal.out(json_line({"name": code, "text": text}) if as_json else text)
    return 0


def explanation(code: str) -> str:
    """Return the text for a code. Raises InputError, with the nearest name, for an unknown code."""

    if code.startswith(MARK):
        return bundle_text(code)
    if row := incident(code):
        return _incident(code, row)
    if code.startswith(FIELD_PREFIX):
        return field_text(code)
    if texts := [*_parts(code)]:
        return "\n\n".join([*texts, *seen_in_the_field(code)])
    if text := glossary().get(spaced(code)):
        return f"{spaced(code)}  (word of the pages)\n\n{text} More: docs/glossary.md."
    hint = unknown_name(code, names())
    raise InputError(f"no such code, part, rule, setting or key; {hint}", code)


def _parts(code: str) -> Iterator[str]:
    """Return the texts of all parts with this name; a check and a key may share one."""

    if word := printed_words().get(spaced(code)):
        yield f"{word.word}  ({word.what})\n\n{word.text} More: {word.see}."
    yield from map(_fault, _faults(loaded()).get(code, ()))
    yield from (rules := [*rule_texts(code)])
    others = [*setting_texts(code), *key_texts(_key(code))]
    yield from () if rules else _check(code, bool(others))
    yield from others
    yield from part_texts(code)


def _key(code: str) -> str:
    """Return the key that a code refers to, such as the limit of `limit.model_calls`."""
    head, dot, name = code.partition(".")
    return f"limits.{name}" if dot and head == "limit" else code


def _check(code: str, is_other: bool) -> Iterator[str]:
    """Return the text of a check or of its rule. Raises InputError for an unknown rule."""
    from harness.checks.judge import check_of, checks
    from harness.checks.judge.check_texts import explain

    name = check_of(code)
    if name not in checks() or (name == CHECK and code != CHECK):
        return
    try:
        yield explain(code)
    except InputError:
        if not is_other:
            raise


def names() -> set[str]:
    """Return every name that is explained, except incidents and pages."""
    from harness.checks.judge.check_texts import names as checks

    return {*_faults(loaded()), *checks(), *rule_names(), *setting_names(), *key_names(),
            *_codes(), *field_names(), *printed_words(), *part_names(), *glossary()}  # fmt: skip


def _codes() -> Iterator[str]:
    from harness.checks.judge import rules

    yield from (code for code in rules() if not code.endswith("*"))


def _incident(code: str, row: Incident) -> str:
    return "\n\n".join(
        [
            f"{code}  {row.where}",
            f"Seen: {row.symptom}.",
            f"Why, as reported: {row.cause}. On the wire: {row.trigger}.",
            f"Breaks: {', '.join(row.invariants)}.",
        ]
    )


@cache
def _faults(plugins: tuple[Plugin, ...]) -> dict[str, list[Fault]]:
    """Return the faults by kind, by bare name and by row; one row may have many faults."""
    from harness.faults import faults

    found: dict[str, list[Fault]] = {}
    for fault in faults().values():
        for key in (fault.kind, fault.kind.partition(".")[2], *fault.codes):
            found.setdefault(key, []).append(fault)
    return found


def _fault(fault: Fault) -> str:

    parts = [
        f"{fault.kind}  (fault, changes the {fault.stage})",
        fault.text,
        f"Strikes on: {', '.join(fault.seams)}.",
        *settings_list(fault),
        f"Example: faults: [{{{fault_line(fault)}}}]",
    ]
    if fault.wires:
        parts.append(f"Only on the wire: {', '.join(fault.wires)}.")
    for code in fault.codes:
        row = ROWS[code]
        seen = f" Seen: {row.seen}." if row.seen else ""
        parts.append(f"{code}: {row.fault}. A correct agent: {row.right}.{seen}")
    return "\n\n".join(parts)


def bundle_text(name: str) -> str:
    """Return the story of a scenario, the list of a folder, or a text, for a name after `@`.

    Raises InputError for an unknown name.
    """
    from harness.files.regular_file import text_of
    from harness.files.scenario_file import has_script, load_scenarios

    path = bundled(name)[0]
    if path.is_dir():
        return "\n".join(dict.fromkeys(map(shown, bundled_files([path]))))
    if path.suffix == ".yaml" and has_script(path):
        return "\n\n".join(_story(path, load_scenarios(path)))
    return text_of(path).rstrip("\n")


def _story(path: Path, runs: Sequence[Scenario]) -> Iterator[str]:
    from harness.runner.needs import needs_of
    from harness.verdicts.event_lines import counted

    name, first = shown(path), runs[0]
    yield f"{name}  {first.title}"
    if first.story:
        yield first.story.strip()
    seen = [text for source in first.source for text in _seen(source)]
    if seen:
        yield "\n".join(("Seen:", *seen))
    variants = ", ".join(dict.fromkeys(run.variant or "baseline" for run in runs))
    wires = ", ".join(dict.fromkeys(run.wire for run in runs))
    yield f"{counted(len(runs), 'run')}: {variants}; on {wires}"
    needs = dict.fromkeys(need for run in runs for need in needs_of(run))
    if needs:
        yield f"Its runs need: {', '.join(needs)} (harness explain @docs/profiles)"
    yield f"play it: harness run {name} --target SPEC\ncopy it: harness copy {name}"


def _seen(source: str) -> Iterator[str]:

    if row := incident(source):
        yield f"  {source}  {row.where}: {row.symptom}"
