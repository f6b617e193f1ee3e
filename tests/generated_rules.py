"""What `docs/rules.md` has below its mark: the rules of every provider, as its table has them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness import providers
from harness.providers.anthropic import record as anthropic
from harness.providers.gemini import record as gemini
from harness.providers.openai_chat import record as openai_chat
from harness.providers.openai_responses import record as openai_responses
from harness.providers.shared.record import ProviderRecord
from harness.providers.shared.rules import Rule, table_rows
from tests.generated_pages import DOCS, write_page

_TABLES = (
    ("harness.providers.anthropic", "efforts.tsv", "Levels of effort, on `anthropic`"),
    ("harness.providers.shared", "openai_models.tsv", "Families of models, at OpenAI"),
    ("harness.providers.shared", "openai_parameters.tsv", "Parameters of models, at OpenAI"),
)


_ERRORS = {
    "anthropic": anthropic.WORDS,
    "openai-chat": openai_chat.WORDS,
    "openai-responses": openai_responses.WORDS,
    "gemini": gemini.WORDS,
}


def generated_rules() -> str:
    """A table for each provider, and the tables that some rules read."""
    return "\n".join([*_providers(), *_errors(), *_data()])


def _providers() -> Iterator[str]:
    for record in providers.records():
        yield f"## {record.name}\n"
        yield f"The default dialect is `{record.dialects.default}`.\n"
        yield "| rule | asks | status | answer | dialects | models | since | known | source |"
        yield "|---|---|---|---|---|---|---|---|---|"
        yield from (_row(rule, record) for rule in providers.rules(record.name).values())
        yield ""


def _row(rule: Rule, record: ProviderRecord) -> str:
    everywhere = rule.dialects == set(record.dialects.names)
    where = "all" if everywhere else ", ".join(sorted(rule.dialects))
    models = f"`{rule.models}`" if rule.models else "all"
    answer = f"`{_plain(rule.text)}`"
    cells = rule.id, rule.asks, rule.status, answer, where, models, rule.since, rule.known
    return f"| {' | '.join(map(str, cells))} | {_plain(rule.source)} |"


def _errors() -> Iterator[str]:
    yield "## Errors of the providers\n"
    yield "What each provider answers for the cause of an error that a fault names.\n"
    yield "| cause | provider | status | type | code | text | known | source |"
    yield "|---|---|---|---|---|---|---|---|"
    for cause in anthropic.WORDS.rows:
        for provider, errors in _ERRORS.items():
            row = errors.rows[cause]
            code = f"`{row.code}`" if row.code else ""
            cells = f"`{cause}`", provider, row.status, f"`{row.type}`", code, _plain(row.text)
            yield f"| {' | '.join(map(str, cells))} | {row.known} | {row.source} |"
    yield ""


def _data() -> Iterator[str]:
    for package, name, title in _TABLES:
        rows = table_rows(package, name)
        yield f"## {title}\n"
        yield f"| {' | '.join(rows[0])} |\n|{'---|' * len(rows[0])}"
        yield from (f"| {' | '.join(_cell(cell) for cell in row.values())} |" for row in rows)
        yield ""


def _cell(text: str) -> str:
    return _plain(text).replace("*", "\\*")


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'")


def main(docs: Path = DOCS) -> None:
    """Write the page."""
    write_page(docs / "rules.md", generated_rules())


if __name__ == "__main__":
    main()
