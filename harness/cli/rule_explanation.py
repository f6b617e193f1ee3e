"""Texts of `harness explain` for a provider's rule: `V11`, `valid_request.V11`, `gemini.G3`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness import providers

if TYPE_CHECKING:
    from harness.providers.shared.rules import Rule

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
            yield _text(name, providers.rules(name)[rule])


def _text(provider: str, rule: Rule) -> str:
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
