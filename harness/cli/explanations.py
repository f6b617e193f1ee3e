"""Texts of `harness explain`: settings, keys, rules of providers, parts, findings, printed words.

A rule is named `V11`, `valid_request.V11` or `gemini.G3`. A confirmed finding in a public agent is
found by its name, its agent, or its code. The printed words stand in `printed_words.tsv`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from harness import providers
from harness.catalogue import FIELD_PREFIX, field_findings
from harness.core.values.errors import InputError, nearest
from harness.core.values.table_file import table

if TYPE_CHECKING:
    from harness.catalogue import FieldFinding
    from harness.faults import Fault
    from harness.providers.shared.rules import Rule
    from harness.schema.json_schema import FileKey


def setting_names() -> Iterator[str]:
    """Return the settings of all faults and checks: `http.status.retry_after`, `backoff.cap_s`."""
    from harness.checks.judge import checks
    from harness.faults import faults

    for part in (*faults(), *checks()):
        yield from settings_of_part(part)


def settings_of_part(part: str) -> Iterator[str]:
    """Return the settings of a fault or a check; nothing for any other name."""
    from harness.checks.judge import checks, settings_of
    from harness.faults import faults

    if part in faults():
        yield from (f"{part}.{setting}" for setting in faults()[part].defaults)
    elif part in checks():
        yield from (f"{part}.{setting}" for setting in settings_of(checks()[part]))


def setting_texts(code: str) -> Iterator[str]:
    """Return the text of a setting of a fault or a check."""
    from harness.checks.judge import CHECKS, checks
    from harness.faults import FAULTS, faults
    from harness.schema.part_schema import settings_schema

    part, _, setting = code.rpartition(".")
    if part in faults() and setting in faults()[part].defaults:
        node, fault = settings_schema(FAULTS.part(part))[setting], faults()[part]
        yield _setting(code, f"setting of the fault {part}", node, _fault_example(fault, setting))
    if part in checks() and setting in (found := settings_schema(CHECKS.part(part))):
        value = json.dumps(found[setting].get("default"))
        example = f"checks: {{{part}: {{{setting}: {value}}}}}"
        yield _setting(code, f"setting of the check {part}", found[setting], example)


def _setting(code: str, what: str, node: Any, example: str) -> str:
    return "\n\n".join(
        [f"{code}  ({what})", f"{node['description']} {value_words(node)}", f"Example: {example}"]
    )


def settings_list(fault: Fault) -> Iterator[str]:
    """Return the settings of a fault, a line each."""
    from harness.faults import FAULTS
    from harness.schema.part_schema import settings_schema

    found = settings_schema(FAULTS.part(fault.kind))
    lines = [f"  {name}: {node['description']} {value_words(node)}" for name, node in found.items()]
    yield "\n".join(["Settings:", *lines]) if lines else "Settings: none."


def fault_line(fault: Fault) -> str:
    """Return a fault with its default settings, as a scenario writes it."""
    known = {k: v for k, v in fault.defaults.items() if v is not None and v != ""}
    said = (f"{name}: {json.dumps(value)}" for name, value in known.items())
    return ", ".join([f"kind: {fault.kind}", *said, "when: 1"])


def _fault_example(fault: Fault, setting: str) -> str:
    default = fault.defaults[setting]
    value = "…" if default is None or default == "" else json.dumps(default)
    return f"faults: [{{kind: {fault.kind}, {setting}: {value}}}]"


def value_words(node: Any) -> str:
    """Return the values that a schema allows: `(integer from 400 to 599; default 529)`."""
    default = f"; default {json.dumps(node['default'])}" if "default" in node else ""
    return f"({_type(node)}{default})"


def _type(node: Any) -> str:
    if "enum" in node:
        return "one of " + ", ".join(json.dumps(value) for value in node["enum"])
    if "anyOf" in node:
        return " or ".join(dict.fromkeys(_type(option) for option in node["anyOf"]))
    if "const" in node:
        return json.dumps(node["const"])
    kind = node.get("type", "mapping" if "$ref" in node else "any value")
    kind = " or ".join(kind) if isinstance(kind, list) else kind
    kind = {"object": "mapping", "array": "list"}.get(kind, kind)
    least = f" from {node['minimum']}" if "minimum" in node else ""
    above = f" above {node['exclusiveMinimum']}" if "exclusiveMinimum" in node else ""
    most = f" to {node['maximum']}" if "maximum" in node else ""
    return f"{kind}{least}{above}{most}"


def key_names() -> Iterator[str]:
    """Return the paths of all keys of files."""
    from harness.schema.json_schema import file_keys

    yield from file_keys()


def key_texts(code: str) -> Iterator[str]:
    """Return the text of a key, for each kind of file that has it."""
    from harness.schema.json_schema import file_keys

    yield from (_key(key) for key in file_keys().get(code, ()))


def _key(key: FileKey) -> str:
    words = key.node["description"]
    return f"{key.path}  (key of a {key.file} file)\n\n{words} {_values(key.node)}"


def _values(node: Any) -> str:
    """Return the allowed values, or "" for a long list of names, which other commands print."""
    shown = value_words(node)
    return shown if len(shown) < 300 else ""


CHECK = "valid_request"

KNOWN = {
    "R": "a recorded response of the provider",
    "S": "types of the official SDK",
    "D": "the provider's documentation",
    "I": "a public issue that quotes it word for word",
}

UNCONFIRMED = (
    "no recording, documentation, type or public issue here confirms it. Check a finding that "
    "rests on it alone against the real API."
)


def rule_names() -> Iterator[str]:
    """Return every name by which a rule is explained."""
    for name in providers.names():
        for rule in providers.rules(name):
            yield from (rule, f"{CHECK}.{rule}", f"{name}.{rule}")


def rule_texts(code: str) -> Iterator[str]:
    """Return the text of each rule of this name; several providers may have one."""
    where, _, rule = code.rpartition(".")
    for name in providers.names():
        if where in ("", CHECK, name) and rule in providers.rules(name):
            yield _rule_text(name, providers.rules(name)[rule])


def _rule_text(provider: str, rule: Rule) -> str:
    from harness.checks.judge import rule_of

    row = rule_of(f"{CHECK}.{rule.id}")
    everywhere = rule.dialects == set(providers.record(provider).dialects.names)
    where = "every dialect" if everywhere else f"the dialects {', '.join(sorted(rule.dialects))}"
    models = f" For the models {rule.models}." if rule.models else ""
    since = f" Since {rule.since}." if rule.since else ""
    kind = f" {rule.type}" if rule.type else ""
    parts = [
        f"{CHECK}.{rule.id}  (rule of {provider}, {row.class_})",
        f"Asked: {rule.asks}",
        f"Answer: {rule.status}{kind}: {rule.words}",
        _example(provider, rule.id),
        f"On in {where}.{models}{since} {_known(rule)}",
        f"{row.class_.capitalize()}: {row.reason} Source: {row.source}.",
        "What to do: look at the request by its event number (`harness show RUN`), and "
        "build requests for which the first sentence is true. If an agent resumes a stored "
        "session, the rule applies to the stored messages too.",
    ]
    return "\n\n".join(filter(None, parts))


def _known(rule: Rule) -> str:
    if rule.known not in KNOWN:
        note = f" ({rule.source})" if rule.source else ""
        return f"Only we know this rule{note}: {UNCONFIRMED}"
    return f"Known from {KNOWN[rule.known]}: {rule.source}."


def _example(provider: str, rule: str) -> str:
    request = providers.examples(provider).get(rule, "")
    return f"A request that breaks it:\n  {request}" if request else ""


USES = {"format": "judge FILE --format {}", "store": "run --store {}:PATH",
        "report": "run --report {}=FILE"}  # fmt: skip
"""How a command names a part of the kinds that have no code, and no settings in a file."""


def part_names() -> Iterator[str]:
    """Return the parts of these kinds."""
    from harness.plugins import kinds

    return (name for kind in USES for name in kinds()[kind].parts())


def part_texts(name: str) -> Iterator[str]:
    """Return the texts of such a part; several kinds may have one name."""
    from harness.plugins import kinds

    for kind, use in USES.items():
        if part := kinds()[kind].parts().get(name):
            yield f"{name}  ({kind})\n\n{part.text}\n\nExample: harness {use.format(name)}"


def field_names() -> set[str]:
    """Return the names of the findings, and of the targets that have findings."""
    found = field_findings()
    named = {*found, *(row.target for row in found.values())}
    return {f"{FIELD_PREFIX}{name}" for name in named}


def field_text(code: str) -> str:
    """Return the text of a finding, or the list of a target's findings; `field/` lists all.

    Raises InputError for an unknown name.
    """
    name, found = code.removeprefix(FIELD_PREFIX), field_findings()
    if name in found:
        return _finding_text(code, found[name])
    listed = {each: row for each, row in found.items() if name in ("", row.target)}
    if not listed:
        raise InputError(f"no such finding or target; {nearest(code, field_names())}", code)
    return "\n".join(_finding_lines(listed))


def seen_in_the_field(code: str) -> Iterator[str]:
    """Return the findings in public agents that have a code; nothing for most codes."""
    rule = f"{CHECK}.{code.rpartition('.')[2]}"
    listed = {n: row for n, row in field_findings().items() if row.shows(code) or row.shows(rule)}
    if listed:
        yield "\n".join(["Confirmed in agents that people run:", *_finding_lines(listed)])


def _finding_lines(found: Mapping[str, FieldFinding]) -> Iterator[str]:
    for name, row in found.items():
        yield f"  {FIELD_PREFIX}{name}  ({row.version}, {row.class_}): {row.title}"


def _finding_text(code: str, row: FieldFinding) -> str:
    gone = f", gone in {row.fixed_in}" if row.fixed_in else ""
    parts = [
        f"{code}  ({row.class_} of {row.target} {row.version}, {row.language}{gone})",
        f"{row.title}.",
        row.what.strip(),
        f"Expected: {row.expected.strip()}",
        f"Observed: {row.observed.strip()}",
        f"Repeat it without the harness: {row.repeat}",
        f"With the harness: {row.scenario}, which shows {', '.join(row.codes)}.",
        f"Why it is wrong: {row.reason}",
        f"Public report: {row.issue}" if row.issue else "No public report was found.",
    ]
    return "\n\n".join(parts)


class PrintedWord(msgspec.Struct, frozen=True):
    """A word that reports print: its kind, its meaning, and the page that says more."""

    word: str
    what: str
    text: str
    see: str


@cache
def printed_words() -> Mapping[str, PrintedWord]:
    """Return the words; JSON writes `not_applicable` where a person reads `not applicable`."""
    rows = table(__name__, "printed_words.tsv", PrintedWord)
    return {spaced(word): row for word, row in rows.items()}


@cache
def glossary() -> Mapping[str, str]:
    """Return the words of that page with what they mean; a package may lack the page."""
    from harness.files.bundle import bundled
    from harness.files.regular_file import text_of

    try:
        (page,) = bundled("@docs/glossary")
    except InputError:
        return {}
    found = re.findall(r"^(\S.*)\n: ((?:.+\n?)+)", text_of(page), re.MULTILINE)
    texts = (
        (words, _LINK.sub(r"\1", _SEE.sub("", " ".join(text.split())))) for words, text in found
    )
    return {word: text for words, text in texts for word in words.split(", ")}


_SEE = re.compile(r" See \[[^][]+\]\([^()]+\)\.")
_LINK = re.compile(r"\[([^][]+)\]\([^()]+\)")


def spaced(word: str) -> str:
    """Return a word with blanks in place of underscores."""
    return word.replace("_", " ")
